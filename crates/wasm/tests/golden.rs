//! Golden hashes of the native build: every example must produce the hashes in `tests/golden/hashes.json`.
//! `tests/golden/golden.mjs` compares the same core, compiled to WebAssembly, with the same file.
//!
//! To accept a deliberate change of results: `TAILBACK_BLESS=1 cargo test -p tailback-wasm`.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use tailback_wasm::{Hashes, hashes};

const SEEDS: [u32; 2] = [1, 2];

/// Example file, seed, table, hash.
type Golden = BTreeMap<String, BTreeMap<String, Hashes>>;

#[test]
fn every_example_gives_its_golden_bytes() {
    let found = run_all();
    let file = root().join("tests/golden/hashes.json");
    if std::env::var_os("TAILBACK_BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&file, serde_json::to_string_pretty(&found).unwrap() + "\n").unwrap();
        return;
    }
    let golden: Golden = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let differences = differences(&golden, &found);
    assert!(
        differences.is_empty(),
        "results differ from tests/golden/hashes.json:\n  {}\nIf the change is deliberate, accept it and give the reason in the commit:\n  \
         TAILBACK_BLESS=1 cargo test -p tailback-wasm",
        differences.join("\n  ")
    );
}

fn run_all() -> Golden {
    let mut examples: Vec<PathBuf> =
        std::fs::read_dir(root().join("examples")).unwrap().map(|entry| entry.unwrap().path()).collect();
    examples.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    let run = |path: PathBuf| {
        let (text, name) = (std::fs::read(&path).unwrap(), path.file_name().unwrap().to_string_lossy().into_owned());
        let run = |seed| hashes(&text, seed).unwrap_or_else(|message| panic!("{name}, seed {seed}: {message}"));
        let runs = SEEDS.map(|seed| (seed.to_string(), run(seed))).into_iter().collect();
        (name, runs)
    };
    examples.into_iter().map(run).collect()
}

/// One line per run that differs, with the tables that differ; `results` covers all of them.
fn differences(golden: &Golden, found: &Golden) -> Vec<String> {
    let files: BTreeSet<&String> = golden.keys().chain(found.keys()).collect();
    let mut lines = Vec::new();
    for (file, seed) in files.into_iter().flat_map(|file| SEEDS.map(|seed| (file, seed.to_string()))) {
        let run = |all: &Golden| all.get(file).and_then(|runs| runs.get(&seed)).cloned().unwrap_or_default();
        let (before, now) = (run(golden), run(found));
        let tables: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        let changed: Vec<&str> =
            tables.into_iter().filter(|&table| before.get(table) != now.get(table)).map(String::as_str).collect();
        if !changed.is_empty() {
            lines.push(format!("{file}, seed {seed}: {}", changed.join(", ")));
        }
    }
    lines
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
