//! Every file of `tests/bad_input` is refused with the text in its `.expected` file. `TAILBACK_ACCEPT=1` rewrites these files for review.
//!
//! `text/` cannot be parsed, `schema/` has errors that the JSON Schema also refuses, and `meaning/` has errors that only building finds.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use tailback_scenario::{Errors, Scenario};

fn corpus() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/bad_input");
    let folders = ["text", "schema", "meaning"].map(|folder| root.join(folder));
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path());
    let mut tomls: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|extension| extension == "toml")).collect();
    tomls.sort();
    tomls
}

fn faults(path: &Path) -> Option<Errors> {
    let name = path.file_name().unwrap().to_str().unwrap();
    match Scenario::from_toml_bytes(&std::fs::read(path).unwrap(), name) {
        Ok(scenario) => scenario.build().err(),
        Err(errors) => Some(errors),
    }
}

#[test]
fn every_bad_file_is_refused_with_the_expected_text() {
    let files = corpus();
    assert!(files.len() >= 100, "only {} files", files.len());
    let mut wrong = Vec::new();
    for path in files {
        let text = faults(&path).map_or("accepted".into(), |errors| errors.to_string()) + "\n";
        let expected = path.with_extension("expected");
        if std::env::var_os("TAILBACK_ACCEPT").is_some() {
            std::fs::write(&expected, &text).unwrap();
        }
        let wanted = std::fs::read_to_string(&expected).unwrap_or_default();
        if text != wanted {
            wrong.push(format!("{}\n--- wanted\n{wanted}--- got\n{text}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn ten_megabytes_of_noise_are_refused() {
    // A linear congruential generator (Knuth, The Art of Computer Programming 2, section 3.3.4) over printable bytes and breaks.
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u8
    };
    let printable: Vec<u8> = (0..10 << 20).map(|_| b"\n[]{}=\"',.#- abcdefghij0123456789"[usize::from(next()) % 33]).collect();
    let any: Vec<u8> = (0..10 << 20).map(|_| next()).collect();
    for noise in [printable, any] {
        let errors = Scenario::from_toml_bytes(&noise, "noise.toml").unwrap_err();
        assert!(!errors.list.is_empty() && errors.to_string().len() < 10_000);
    }
}

#[test]
fn four_billion_flows_are_counted_not_built() {
    let text = r#"{"duration": "1 s", "topology": {"dumbbell": {"rate": "1 Mbps", "delay": "1 ms", "queue": {"buffer": "1 packet"}}},
        "flows": {"web": {"count": 4000000000, "from": "left", "to": "right", "tcp": {"preset": "reno"}}}}"#;
    let errors = Scenario::from_json(text, "").unwrap_err();
    assert_eq!(errors.list[0].at, "flows.web.count");
}
