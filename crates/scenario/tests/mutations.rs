//! Ten thousand damaged examples: each is either refused with a place, or can be normalised and starts to run.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use tailback_core::Engine;
use tailback_core::network::Network;
use tailback_core::primitives::random::{Entity, Purpose, Stream};
use tailback_core::primitives::units::{Time, TimeDelta};
use tailback_scenario::{Errors, Scenario};

#[test]
fn a_damaged_scenario_is_refused_with_a_place_or_begins_to_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let examples: Vec<String> = paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let mut built = 0;
    for number in 0..10_000 {
        let mut chance =
            Chance { stream: Stream::new(Entity { seed: 1, name: "mutations", index: number }, Purpose::Policy), draws: 0 };
        let mut text = examples[number as usize % examples.len()].clone().into_bytes();
        for _ in 0..=chance.below(3) {
            text = damage(text, &mut chance);
        }
        match Scenario::from_toml_bytes(&text, "damaged.toml") {
            Err(errors) => has_places(&errors),
            Ok(scenario) => {
                let json = scenario.to_json();
                assert_eq!(Scenario::from_json(&json, "").unwrap().to_json(), json);
                match scenario.build() {
                    Err(errors) => has_places(&errors),
                    Ok(network) => {
                        begin(network);
                        built += 1;
                    }
                }
            }
        }
    }
    // Damage to a comment or a number is often harmless. The test is useless if almost nothing or almost everything is built.
    assert!((1_000..7_500).contains(&built), "{built} of 10000 were built");
}

/// Simulates the first steps of a run that fits into memory.
fn begin(network: Network) {
    const ROOM: u64 = 64 << 20;
    const STEPS: usize = 2000;
    if tailback_core::memory_estimate(&network).total() < ROOM {
        let end = Time::ZERO + network.duration;
        let mut engine = Engine::new(network);
        for _ in 0..STEPS {
            let next = engine.next_event_time().unwrap_or(end).min(end);
            // A run stops before the events of the instant that it is given.
            engine.run_until(next + TimeDelta(1));
        }
        engine.results().unwrap();
    }
}

/// Every error has a path in the scenario, a line of the file or, for bytes that are not text, the file itself.
fn has_places(errors: &Errors) {
    assert!(!errors.list.is_empty());
    for problem in &errors.list {
        let placed = !problem.at.is_empty() || problem.line().is_some() || problem.message == "the file is not text";
        assert!(placed && errors.file == "damaged.toml", "{problem:?}");
    }
}

fn damage(text: Vec<u8>, chance: &mut Chance) -> Vec<u8> {
    const VALUES: &[&str] = &[
        "nan",
        "inf",
        "-1",
        "0",
        "1e308",
        "\"1e308 s\"",
        "\"-1 ms\"",
        "\"0 s\"",
        "\"nan Mbps\"",
        "true",
        "[]",
        "{}",
        "\"\"",
        "4000001",
        "18446744073709551616",
        "\"1 bps\"",
        "\"1000 Tbps\"",
        "\"4800 h\"",
        "\"0 %\"",
        "\"unlimited\"",
        "2001-01-01",
        "[[[]]]",
        "\"left\"",
    ];
    const UNITS: &[&str] = &["ms", "s", "us", "h", "Mbps", "Gbps", "bps", "kB", "KB", "B", "packets", "%", ""];
    let position = chance.below(text.len().max(1));
    let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
    let line = chance.below(lines.len());
    let words = |chance: &mut Chance, list: &[&str]| list[chance.below(list.len())].as_bytes().to_vec();
    match chance.below(8) {
        0 => {
            let mut text = text.clone();
            if let Some(byte) = text.get_mut(position) {
                *byte ^= 1 << chance.below(8);
            }
            text
        }
        1 => [&text[..position], &text[(position + chance.below(20)).min(text.len())..]].concat(),
        2 => [&text[..position], &words(chance, VALUES), &text[position..]].concat(),
        // Removes a line, doubles it, or swaps it with another one.
        3 => joined(lines.iter().enumerate().filter(|(index, _)| *index != line).map(|(_, line)| *line)),
        4 => {
            joined(lines.iter().enumerate().flat_map(|(index, text)| std::iter::repeat_n(*text, 1 + usize::from(index == line))))
        }
        5 => {
            let other = chance.below(lines.len());
            let mut lines = lines.clone();
            lines.swap(line, other);
            joined(lines.into_iter())
        }
        // Another value, or another unit.
        6 => {
            let value = words(chance, VALUES);
            replaced(&lines, line, |text| {
                Some([&text[..=text.iter().position(|&byte| byte == b'=')?], b" ", &value[..]].concat())
            })
        }
        _ => {
            let unit = words(chance, UNITS);
            replaced(&lines, line, |text| {
                let end = text.iter().rposition(|&byte| byte == b'"')?;
                let start = text[..end].iter().rposition(|byte| !byte.is_ascii_alphabetic() && *byte != b'%')? + 1;
                Some([&text[..start], &unit, &text[end..]].concat())
            })
        }
    }
}

fn joined<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    lines.collect::<Vec<_>>().join(&b'\n')
}

fn replaced(lines: &[&[u8]], line: usize, change: impl Fn(&[u8]) -> Option<Vec<u8>>) -> Vec<u8> {
    let changed = change(lines[line]).unwrap_or_default();
    joined(lines.iter().enumerate().map(|(index, text)| if index == line { &changed[..] } else { text }))
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
}
