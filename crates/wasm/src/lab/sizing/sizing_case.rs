//! A case of the page, in the words of a scenario.

use super::super::fault::Fault;
use serde_json::Value;
use tailback_scenario::{BufferQuestion, Distribution, Duration};
use tailback_sizing::{RoundTrips, SizingCase};

/// From this number of flows, evenly spaced round trips are treated as uniform.
const MANY: u64 = 1000;

pub(super) fn read(asked: &Value) -> Result<SizingCase, Fault> {
    let case = BufferQuestion::from_json(&with_values(asked).to_string(), "")?;
    let flows = case.flows.0;
    Ok(SizingCase {
        rate_bps: case.rate.rate().0 as f64,
        packet_bytes: case.packet_size.bytes() as f64,
        transmitters: case.transmitters.0,
        flows,
        base_rtt: round_trips(&case.base_rtt, flows).ok_or_else(without_length)?,
        target: case.target.0,
        inputs: case.inputs.map(|inputs| inputs.0),
        access_rate_bps: case.access_rate.map(|rate| rate.rate().0 as f64),
        paced: case.paced,
        window: case.window.map(|window| window.0),
    })
}

/// `None` if a round trip has no length.
fn round_trips(given: &Distribution<Duration>, flows: u64) -> Option<RoundTrips> {
    let seconds = |span: &Duration| span.time_delta().0 as f64 / 1e12;
    let found = match given {
        Distribution::Fixed(rtt) => listed(&[seconds(rtt)]),
        Distribution::List(rtts) => listed(&rtts.iter().map(seconds).collect::<Vec<f64>>()),
        Distribution::Uniform(low, high) => uniform(seconds(low), seconds(high)),
        Distribution::Evenly(low, high) if flows <= MANY => {
            let (low, high) = (seconds(low), seconds(high));
            let step = |flow: u64| low + (high - low) * (flow as f64 + 0.5) / flows as f64;
            listed(&(0..flows).map(step).collect::<Vec<f64>>())
        }
        Distribution::Evenly(low, high) => uniform(seconds(low), seconds(high)),
        Distribution::Pareto { mean, shape } => {
            // With the lowest value l = mean (a - 1) / a the mean of 1 / x is a / ((a + 1) l).
            let (mean_s, lowest) = (seconds(mean), seconds(mean) * (shape - 1.0) / shape);
            RoundTrips { harmonic_s: lowest * (shape + 1.0) / shape, mean_s, max_s: f64::INFINITY }
        }
        Distribution::Lognormal { median, sigma } => {
            let spread = (sigma * sigma / 2.0).exp();
            RoundTrips { harmonic_s: seconds(median) / spread, mean_s: seconds(median) * spread, max_s: f64::INFINITY }
        }
        // A case with one of these is refused during parsing.
        Distribution::Exponential(_) | Distribution::BoundedPareto { .. } | Distribution::Cdf(_) | Distribution::Workload(_) => {
            return None;
        }
    };
    (found.harmonic_s > 0.0 && found.mean_s.is_finite()).then_some(found)
}

fn listed(rtts: &[f64]) -> RoundTrips {
    let (least, most) = rtts.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), &rtt| (rtt.min(least), rtt.max(most)));
    if least == most {
        return RoundTrips { harmonic_s: least, mean_s: least, max_s: least };
    }
    let (count, inverse) = (rtts.len() as f64, sum(rtts.iter().map(|rtt| 1.0 / rtt)));
    RoundTrips { harmonic_s: count / inverse, mean_s: sum(rtts.iter().copied()) / count, max_s: most }
}

fn uniform(low: f64, high: f64) -> RoundTrips {
    let ratio = (high / low).ln();
    let harmonic_s = if ratio > 0.0 { (high - low) / ratio } else { low };
    RoundTrips { harmonic_s, mean_s: (low + high) / 2.0, max_s: high }
}

fn without_length() -> Fault {
    let mut fault = Fault::whole("a round trip is zero", None, Some("times above 0, such as `100 ms`".into()));
    for problem in &mut fault.problems {
        problem.at = "base_rtt".into();
    }
    fault
}

/// Compensated summation (Neumaier 1974): numbers in texts equal those of the package to the last digit.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    sum + lost
}

/// Parses round trips given as a list or a table in the scenario's syntax.
fn with_values(asked: &Value) -> Value {
    let mut asked = asked.clone();
    let text = asked["base_rtt"].as_str().unwrap_or_default().trim_start();
    if text.starts_with(['{', '[']) {
        let read = toml::from_str::<toml::Table>(&format!("value = {text}")).ok();
        if let Some(value) = read.and_then(|table| serde_json::to_value(table.get("value")?).ok()) {
            asked["base_rtt"] = value;
        }
    }
    asked
}
