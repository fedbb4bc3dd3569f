//! Hashes of the results of a run, for comparing platforms.

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;
use tailback_core::Engine;
use tailback_core::primitives::units::Time;
use tailback_scenario::{Integer, Scenario};

/// Hashes of one run. `results` is the SHA-256, in hexadecimal, of all bytes of the results. Every table also has the first 16
/// digits of its own hash, which show where a difference is.
pub type Hashes = BTreeMap<String, String>;

/// Runs a scenario in TOML to its end, with `seed` instead of its own.
///
/// # Errors
/// An error message: all problems of the scenario, user code, which is not supported here, or a violation of packet conservation
/// (a bug).
pub fn hashes(toml: &[u8], seed: u32) -> Result<Hashes, String> {
    let mut scenario = Scenario::from_toml_bytes(toml, "").map_err(|errors| errors.to_string())?;
    scenario.description.seed = Integer(seed.into());
    let network = scenario.build().map_err(|errors| errors.to_string())?;
    let end = Time::ZERO + network.duration;
    let mut engine = Engine::new(network);
    engine.run_until(end);
    if let Some(failure) = engine.failure() {
        return Err(failure.to_string());
    }
    let results = engine.results().map_err(|error| format!("{error}, scenario {}, seed {seed}", scenario.content_hash("")))?;
    let mut hashes: Hashes =
        results.tables().map(|table| (table.name.clone(), digest(&table.bytes())[..16].to_owned())).collect();
    hashes.insert("results".into(), digest(&results.bytes()));
    Ok(hashes)
}

/// SHA-256 in hexadecimal.
pub(crate) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const POISSON: &str = r#"
duration = "1 s"
seed = 7
[topology]
dumbbell = {rate = "10 Mbps", delay = "1 ms", queue = {buffer = "4 packets"}}
[flows.poisson]
from = "left"
to = "right"
source = {kind = "poisson", rate = "8 Mbps", packet_size = "1000 B"}
"#;

    #[test]
    fn a_given_seed_replaces_that_of_the_scenario() {
        let other = POISSON.replace("seed = 7", "seed = 8");
        assert_eq!(hashes(POISSON.as_bytes(), 1), hashes(other.as_bytes(), 1));
        assert_ne!(hashes(POISSON.as_bytes(), 1), hashes(POISSON.as_bytes(), 2));
    }

    #[test]
    fn hashes_cover_all_results_and_each_table() {
        let hashes = hashes(POISSON.as_bytes(), 1).unwrap_or_default();
        let lengths: Vec<_> = hashes.iter().map(|(name, hash)| (name.as_str(), hash.len())).collect();
        assert_eq!(lengths, [("flows", 16), ("groups", 16), ("queues", 16), ("results", 64)]);
        // FIPS 180-2, appendix B.1.
        assert_eq!(digest(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn user_code_is_refused_with_a_hint() {
        let brought =
            POISSON.replace(r#"{kind = "poisson", rate = "8 Mbps", packet_size = "1000 B"}"#, r#"{kind = "user:mine"}"#);
        let refused = hashes(brought.as_bytes(), 1);
        assert!(refused.is_err_and(|message| {
            message.starts_with("flows.poisson.source: `user:mine` failed")
                && message.contains("tailback run FILE --code CODE.py")
        }));
    }

    #[test]
    fn an_invalid_scenario_is_refused_with_the_place_of_the_error() {
        let refused = hashes(POISSON.replace("\"1 s\"", "1").as_bytes(), 1);
        assert!(refused.is_err_and(|message| message.contains(":2:") && message.contains("at       duration")));
    }
}
