//! Memory limits: a scenario that does not fit is refused with an estimate, instead of being killed halfway.

use std::num::NonZeroUsize;
use tailback_core::network::Network;
use tailback_core::{HeldIn, MemoryEstimate, fullest_port, memory_estimate};
use tailback_scenario::{Errors, Problem};

/// Refuses a run that needs more memory than is available. If the available memory is unknown, every run is accepted.
pub fn fits(network: &Network, file: &str) -> Result<(), Errors> {
    let needed = memory_estimate(network);
    match available(needed.total(), file)? {
        Some(available) if needed.total() > available => Err(too_large(network, needed, available, file)),
        _ => Ok(()),
    }
}

/// The number of threads, at most the requested one, for which the available memory is sufficient, and the reason if there are fewer.
/// The run fits on one thread.
pub fn threads_that_fit(
    needed: MemoryEstimate,
    threads: NonZeroUsize,
    file: &str,
) -> Result<(NonZeroUsize, Option<String>), Errors> {
    let total = |threads: usize| needed.shared_by(threads).total();
    let Some(available) = available(total(threads.get()), file)? else { return Ok((threads, None)) };
    let fit = (2..=threads.get()).rev().find(|&count| total(count) <= available).and_then(NonZeroUsize::new);
    let fit = fit.unwrap_or(NonZeroUsize::MIN);
    let why = format!(
        "on {fit} of {threads} threads: all of them may need {}, and {} are available; {OVERRIDE}",
        shown(total(threads.get())),
        shown(available)
    );
    Ok((fit, (fit < threads).then_some(why)))
}

/// Refuses a network that is too large to be built.
pub fn fits_when_made(min_bytes: u64, file: &str) -> Result<(), Errors> {
    let Some(available) = available(min_bytes, file)?.filter(|&available| min_bytes > available) else { return Ok(()) };
    let mut problem =
        Problem::new("topology", TOO_LARGE).expecting(format!("at most the {} that are available", shown(available)));
    problem.given(format!("at least {} for its links", shown(min_bytes))).hint("fewer nodes and links");
    Err(Errors::one(file, problem))
}

const TOO_LARGE: &str = "the scenario needs more memory than is available";

/// GiB that a run may use, regardless of the machine. Estimates are upper bounds: greedy flows rarely fill all pipes at once.
const VARIABLE: &str = "TAILBACK_MEMORY";
const OVERRIDE: &str = "or set TAILBACK_MEMORY to the GiB that a run may take, as the estimate is an upper bound";

/// The error's place is the largest contribution, and the text names its cause.
fn too_large(network: &Network, needed: MemoryEstimate, available: u64, file: &str) -> Errors {
    let MemoryEstimate { flows, packets, traces, .. } = needed;
    let cause = match flows.max(packets).max(traces) {
        largest if largest == packets => fullest(network),
        largest if largest == flows => format!("; there are {} flows", network.flows.len()),
        _ => String::new(),
    };
    let parts = [
        (flows, "flows", "fewer flows"),
        (packets, "links", "smaller buffers, shorter delays or lower rates"),
        (traces, "record.traces", "fewer traces, of fewer flows and queues, or a shorter duration"),
    ];
    let (at, hint) = parts.into_iter().max().map_or(("", ""), |(_, at, hint)| (at, hint));
    let [flows, packets, traces] = [flows, packets, traces].map(shown);
    let total = shown(needed.total());
    let mut problem = Problem::new(at, TOO_LARGE).expecting(format!("at most the {} that are available", shown(available)));
    problem.given(format!(
        "up to {total}: {flows} for flows and ports, {packets} for packets in flight, {traces} for traces{cause}"
    ));
    problem.hint(format!("{hint}; {OVERRIDE}"));
    Errors::one(file, problem)
}

/// Names the port that may hold the most packets.
fn fullest(network: &Network) -> String {
    let Some(most) = fullest_port(network) else { return String::new() };
    let place = match most.held_in {
        HeldIn::Link => "on the link of",
        HeldIn::Buffer => "in the buffer of",
        HeldIn::UnlimitedBuffer => "in the unlimited buffer of",
    };
    format!("; up to {} packets or cells {place} `{}`", most.packets, network.ports[most.port].name)
}

/// In MiB if small, otherwise in GiB.
fn shown(bytes: u64) -> String {
    let (unit, of_one) = if bytes < 1 << 29 { ("MiB", 1 << 20) } else { ("GiB", 1 << 30) };
    format!("{:.1} {unit}", bytes as f64 / f64::from(of_one))
}

/// Runs of at most this size are accepted without reading the free memory, which takes longer than a short run.
const SMALL: u64 = 64 << 20;

/// Bytes that a run that needs this number of bytes may use: the user's setting, or the memory that Linux can provide without swapping;
/// `None` elsewhere, and for a small run.
fn available(needed: u64, file: &str) -> Result<Option<u64>, Errors> {
    match std::env::var_os(VARIABLE) {
        Some(given) => configured(&given.to_string_lossy(), file).map(Some),
        None if needed <= SMALL => Ok(None),
        None => Ok(free()),
    }
}

/// The user's setting.
fn configured(given: &str, file: &str) -> Result<u64, Errors> {
    let gibibytes = given.trim().parse().ok().filter(|&number: &f64| number > 0.0 && number.is_finite());
    let bytes = gibibytes.map(|number| (number * f64::from(1 << 30)) as u64);
    bytes.ok_or_else(|| {
        let message = format!("`{VARIABLE}` is not a number of GiB");
        let mut problem = Problem::new(VARIABLE, message).expecting("a number above 0, such as 20");
        problem.given(format!("`{given}` in the environment"));
        Errors::one(file, problem)
    })
}

fn free() -> Option<u64> {
    let table = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = table.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}
