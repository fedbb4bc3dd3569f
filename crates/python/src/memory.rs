//! Whether a scenario fits into this machine: refused with the estimate, not killed half-way.

use tailback_scenario::{Errors, Problem};

/// Refuses what needs more than is available. Where that cannot be known, everything fits.
pub fn fits(needed: u64, file: &str) -> Result<(), Errors> {
    match available() {
        Some(available) if needed > available => Err(too_large(needed, available, file)),
        _ => Ok(()),
    }
}

fn too_large(needed: u64, available: u64, file: &str) -> Errors {
    let problem = Problem {
        at: "flows".into(),
        line: None,
        message: "the scenario needs more memory than there is".into(),
        given: Some(format!("about {}", gibibytes(needed))),
        expected: Some(format!("at most the {} that are available", gibibytes(available))),
        hint: Some("fewer flows, fewer traces or smaller buffers".into()),
    };
    Errors { file: file.into(), list: vec![problem], more: 0 }
}

fn gibibytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

/// Bytes that Linux can give without swapping; `None` elsewhere.
fn available() -> Option<u64> {
    let table = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = table.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}
