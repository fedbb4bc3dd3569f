//! Whether a scenario fits into this machine: refused with the estimate, not killed half-way.

use tailback_core::MemoryEstimate;
use tailback_scenario::{Errors, Problem};

/// Refuses what needs more than is available. Where that cannot be known, everything fits.
pub fn fits(needed: MemoryEstimate, file: &str) -> Result<(), Errors> {
    match available(file)? {
        Some(available) if needed.total() > available => Err(too_large(needed, available, file)),
        _ => Ok(()),
    }
}

/// The same for a run that several threads share.
pub fn fits_shared(needed: MemoryEstimate, threads: usize, file: &str) -> Result<(), Errors> {
    let needed = needed.shared_by(threads);
    let Some(available) = available(file)?.filter(|&available| needed.total() > available) else { return Ok(()) };
    let mut errors = too_large(needed, available, file);
    for problem in &mut errors.list {
        problem.message = format!("{TOO_LARGE}, shared by {threads} threads");
        problem.hint = Some(format!("fewer threads; {OVERRIDE}"));
    }
    Err(errors)
}

/// Refuses a network that could not even be made.
pub fn fits_when_made(least_bytes: u64, file: &str) -> Result<(), Errors> {
    let Some(available) = available(file)?.filter(|&available| least_bytes > available) else { return Ok(()) };
    let problem = Problem {
        at: "topology".into(),
        line: None,
        message: TOO_LARGE.into(),
        given: Some(format!("at least {} for its links", shown(least_bytes))),
        expected: Some(format!("at most the {} that are available", shown(available))),
        hint: Some("fewer nodes and links".into()),
    };
    Err(Errors { file: file.into(), list: vec![problem], more: 0 })
}

const TOO_LARGE: &str = "the scenario needs more memory than is available";

/// Gibibytes that a run may take, whatever the machine has. Estimates are upper ones: greedy flows rarely fill all pipes at once.
const VARIABLE: &str = "TAILBACK_MEMORY";
const OVERRIDE: &str = "or set TAILBACK_MEMORY to the GiB that it may take, for the estimate is an upper one";

/// The place is what asks for most of it.
fn too_large(needed: MemoryEstimate, available: u64, file: &str) -> Errors {
    let MemoryEstimate { flows, packets, traces, .. } = needed;
    let parts = [
        (flows, "flows", "fewer flows"),
        (packets, "links", "smaller buffers, shorter delays or lower rates"),
        (traces, "record.traces", "fewer traces, of fewer flows and queues, or a shorter duration"),
    ];
    let (at, hint) = parts.into_iter().max().map_or(("", ""), |(_, at, hint)| (at, hint));
    let [flows, packets, traces] = [flows, packets, traces].map(shown);
    let problem = Problem {
        at: at.into(),
        line: None,
        message: TOO_LARGE.into(),
        given: Some(format!(
            "up to {}: {flows} for flows and ports, {packets} for packets under way, {traces} for traces",
            shown(needed.total())
        )),
        expected: Some(format!("at most the {} that are available", shown(available))),
        hint: Some(format!("{hint}; {OVERRIDE}")),
    };
    Errors { file: file.into(), list: vec![problem], more: 0 }
}

/// In MiB where there are few.
fn shown(bytes: u64) -> String {
    let (unit, of_one) = if bytes < 1 << 29 { ("MiB", 1 << 20) } else { ("GiB", 1 << 30) };
    format!("{:.1} {unit}", bytes as f64 / f64::from(of_one))
}

/// Bytes that a run may take: what the user says, or what Linux can give without swapping; `None` elsewhere.
fn available(file: &str) -> Result<Option<u64>, Errors> {
    match std::env::var_os(VARIABLE) {
        Some(given) => said(&given.to_string_lossy(), file).map(Some),
        None => Ok(free()),
    }
}

/// What the user says.
fn said(given: &str, file: &str) -> Result<u64, Errors> {
    let gibibytes = given.trim().parse().ok().filter(|&number: &f64| number > 0.0 && number.is_finite());
    let bytes = gibibytes.map(|number| (number * f64::from(1 << 30)) as u64);
    bytes.ok_or_else(|| {
        let problem = Problem {
            at: VARIABLE.into(),
            line: None,
            message: "not a number of GiB".into(),
            given: Some(format!("`{given}` in the environment")),
            expected: Some("a number above 0, such as 20".into()),
            hint: None,
        };
        Errors { file: file.into(), list: vec![problem], more: 0 }
    })
}

fn free() -> Option<u64> {
    let table = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = table.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}
