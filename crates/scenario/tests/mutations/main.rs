//! Damaged examples, by their text and by their structure: each is either refused with a place, or can be normalised and starts to run.
//! `TAILBACK_SOAK=1000000` sets the number of scenarios of each test.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod structure;
mod text;
mod unfinished;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use tailback_core::Engine;
use tailback_core::network::Network;
use tailback_core::primitives::random::{Entity, Purpose, Stream};
use tailback_core::primitives::units::{Time, TimeDelta};
use tailback_scenario::{Errors, Scenario};

#[test]
fn a_damaged_text_is_refused_with_a_place_or_begins_to_run() {
    let examples = scenarios("examples");
    let built = count_built(5_000, |number, chance| {
        let mut text = examples[number as usize % examples.len()].clone().into_bytes();
        for _ in 0..=chance.below(3) {
            text = text::damage(text, chance);
        }
        text
    });
    // Damage to a comment or a number is often harmless. The test is useless if almost nothing or almost everything is built.
    assert!((0.1..0.75).contains(&built), "{built} of all were built");
}

#[test]
fn a_scenario_with_other_values_is_refused_with_a_place_or_begins_to_run() {
    let mutator = structure::Mutator::new(&scenarios("examples"), &scenarios("tests/bad_input/meaning"));
    let built = count_built(1_000, |_, chance| mutator.scenario(chance).into_bytes());
    assert!((0.1..0.75).contains(&built), "{built} of all were built");
}

/// Later steps of the check meet what earlier ones could not build: nodes, links, groups and flows that are missing.
#[test]
fn an_unfinished_scenario_with_events_of_its_parts_is_refused_with_a_place_or_begins_to_run() {
    let mutator = structure::Mutator::new(&scenarios("examples"), &scenarios("tests/bad_input/meaning"));
    let examples = unfinished::examples(&scenarios("examples"));
    let built = count_built(1_500, |_, chance| unfinished::scenario(&mutator, &examples, chance).into_bytes());
    assert!((0.02..0.5).contains(&built), "{built} of all were built");
}

fn scenarios(folder: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = files.filter(|path| path.extension().is_some_and(|extension| extension == "toml")).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
}

/// Share of the scenarios that were built. Fails with the text of each scenario that panics.
fn count_built(usual: u64, scenario: impl Fn(u64, &mut Chance) -> Vec<u8>) -> f64 {
    let count = std::env::var("TAILBACK_SOAK").ok().and_then(|count| count.parse().ok()).unwrap_or(usual);
    let (mut built, mut failed) = (0, Vec::new());
    for number in 0..count {
        let mut chance =
            Chance { stream: Stream::new(Entity { seed: 1, name: "mutations", index: number }, Purpose::Policy), draws: 0 };
        let text = scenario(number, &mut chance);
        match catch_unwind(AssertUnwindSafe(|| is_built(&text))) {
            Ok(is_built) => built += u64::from(is_built),
            Err(_) => {
                failed.push(format!("scenario {number}:\n{}", String::from_utf8_lossy(&text)));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    built as f64 / count as f64
}

fn is_built(text: &[u8]) -> bool {
    const LARGEST: u64 = 64 << 20;
    let scenario = match Scenario::from_toml_bytes(text, "damaged.toml") {
        Ok(scenario) => scenario,
        Err(errors) => {
            has_places(&errors);
            return false;
        }
    };
    let json = scenario.to_json();
    assert_eq!(Scenario::from_json(&json, "").unwrap().to_json(), json);
    if scenario.min_bytes() > LARGEST {
        return false;
    }
    scenario.notes();
    match scenario.build_with_warnings() {
        Err(errors) => {
            has_places(&errors);
            false
        }
        Ok((network, warnings)) => {
            assert!(warnings.list.iter().all(|warning| !warning.at.is_empty()));
            scenario.is_random();
            if tailback_core::memory_estimate(&network).total() < LARGEST {
                begin(network);
            }
            true
        }
    }
}

/// Simulates the first steps of a run.
fn begin(network: Network) {
    const STEPS: usize = 2000;
    let end = Time::ZERO + network.duration;
    let mut engine = Engine::new(network);
    for _ in 0..STEPS {
        let next = engine.next_event_time().unwrap_or(end).min(end);
        // A run stops before the events of the instant that it is given.
        engine.run_until(next + TimeDelta(1));
    }
    engine.results().unwrap();
}

/// Every error has a path in the scenario, a line of the file or, for bytes that are not text, the file itself.
fn has_places(errors: &Errors) {
    assert!(!errors.list.is_empty());
    for problem in &errors.list {
        let placed = !problem.at.is_empty() || problem.line().is_some() || problem.message == "the file is not text";
        assert!(placed && errors.file == "damaged.toml", "{problem:?}");
    }
}

/// Draws of one stream in turn.
struct Chance {
    stream: Stream,
    draws: u64,
}

impl Chance {
    /// Uniform from 0 to below `limit`.
    fn below(&mut self, limit: usize) -> usize {
        self.draws += 1;
        (self.stream.uniform(self.draws) * limit as f64) as usize
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        let position = self.below(of.len());
        of.get(position)
    }
}
