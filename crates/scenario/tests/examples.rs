//! Every example runs, has a comment, and can be normalised.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use tailback_core::Engine;
use tailback_core::primitives::units::Time;
use tailback_scenario::Scenario;

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
}

fn read(path: &Path) -> Scenario {
    let text = std::fs::read(path).unwrap();
    Scenario::from_toml_bytes(&text, path.to_str().unwrap()).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn every_example_runs_and_conserves_its_packets() {
    let examples = examples();
    assert!(examples.len() >= 12);
    for path in examples {
        let network = read(&path).build().unwrap_or_else(|errors| panic!("{errors}"));
        let end = Time::ZERO + network.duration;
        let mut engine = Engine::new(network);
        engine.run_until(end);
        let results = engine.results().unwrap_or_else(|error| panic!("{}: {error:?}", path.display()));
        assert!(results.complete);
        let sent: f64 = results.flows.floats("sent_packets").unwrap().iter().sum();
        assert!((10.0..300_000.0).contains(&sent), "{}: {sent} packets", path.display());
    }
}

#[test]
fn every_example_has_a_comment_about_its_results() {
    for path in examples() {
        let text = std::fs::read_to_string(&path).unwrap();
        let comment: Vec<&str> = text.lines().take_while(|line| line.starts_with('#')).collect();
        // A summary, then a paragraph about the results.
        let paragraphs = comment.split(|line| *line == "#").filter(|lines| !lines.is_empty()).count();
        assert!(paragraphs >= 2, "{}", path.display());
    }
}

#[test]
fn the_normalised_form_means_the_same() {
    for path in examples() {
        let scenario = read(&path);
        let json = scenario.to_json();
        let again = Scenario::from_json(&json, "").unwrap_or_else(|errors| panic!("{}: {errors}", path.display()));
        assert_eq!(again.to_json(), json, "{}", path.display());
        assert_eq!(again.content_hash(""), scenario.content_hash(""), "{}", path.display());
        assert_eq!(again.build().unwrap(), scenario.build().unwrap(), "{}", path.display());
    }
}
