//! The bottleneck and its flows in numbers.

use super::super::fault::Fault;
use super::limits::is_slow;
use super::words::{digits, rate, thousands, time};
use serde_json::Value;
use std::fmt;
use tailback_scenario::{BufferQuestion, Distribution, Duration};

/// Flows from which round trips that are spread evenly are as good as uniform.
const MANY: u64 = 1000;

/// What is asked, with all that the rules go by.
pub(super) struct Question {
    /// Of one transmitter.
    pub(super) rate_bps: f64,
    pub(super) packet_bytes: f64,
    pub(super) transmitters: u64,
    pub(super) flows: u64,
    pub(super) base_rtt: RoundTrips,
    pub(super) target: f64,
    /// `None` if so many that they do not matter.
    pub(super) inputs: Option<u64>,
    /// Of the senders' own links, if known.
    pub(super) access_rate_bps: Option<f64>,
    /// Whether senders spread their packets, if known.
    pub(super) paced: Option<bool>,
    /// The largest of a flow, in packets, if there is one.
    pub(super) window: Option<u64>,
}

/// Means of all round trips without queueing, and the longest.
pub(super) struct RoundTrips {
    pub(super) harmonic_s: f64,
    pub(super) mean_s: f64,
    pub(super) max_s: f64,
}

impl Question {
    pub(super) fn read(asked: &Value) -> Result<Question, Fault> {
        let question = BufferQuestion::from_json(&with_values(asked).to_string(), "")?;
        let flows = question.flows.0;
        Ok(Question {
            rate_bps: question.rate.rate().0 as f64,
            packet_bytes: question.packet.bytes() as f64,
            transmitters: question.transmitters.0,
            flows,
            base_rtt: RoundTrips::of(&question.base_rtt, flows).ok_or_else(without_length)?,
            target: question.target.0,
            inputs: question.inputs.map(|inputs| inputs.0),
            access_rate_bps: question.access_rate.map(|rate| rate.rate().0 as f64),
            paced: question.paced,
            window: question.window.map(|window| window.0),
        })
    }

    pub(super) fn capacity_bps(&self) -> f64 {
        self.rate_bps * self.transmitters as f64
    }

    /// Packets that a flow has under way if the bottleneck is full and its queue empty.
    pub(super) fn share(&self) -> f64 {
        self.capacity_bps() * self.base_rtt.harmonic_s / (8.0 * self.packet_bytes * self.flows as f64)
    }

    /// Load of the bottleneck if every flow ran at its largest window.
    pub(super) fn over_provision(&self) -> Option<f64> {
        let bits = |window| self.flows as f64 * window as f64 * 8.0 * self.packet_bytes;
        self.window.map(|window| bits(window) / (self.capacity_bps() * self.base_rtt.mean_s))
    }

    /// Whether packets come smoothly: paced, or over slow links of their own. `None`: not known.
    pub(super) fn smooth(&self) -> Option<bool> {
        let slow = self.access_rate_bps.map(|access| is_slow(access, self.rate_bps, self.transmitters));
        if self.paced == Some(true) || slow == Some(true) {
            return Some(true);
        }
        self.paced.and(slow)
    }

    /// One transmitter, and so many inputs that they do not matter.
    pub(super) fn is_plain_link(&self) -> bool {
        self.inputs.is_none() && self.transmitters == 1
    }
}

impl fmt::Display for Question {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} % of ", digits(100.0 * self.target, 6))?;
        if self.transmitters > 1 {
            write!(out, "{} x ", self.transmitters)?;
        }
        write!(out, "{}", rate(self.rate_bps))?;
        if let Some(inputs) = self.inputs {
            write!(out, " from {inputs} inputs")?;
        }
        let RoundTrips { harmonic_s, mean_s, .. } = self.base_rtt;
        let plural = if self.flows > 1 { "s" } else { "" };
        write!(out, ", {} flow{plural} over {}", thousands(self.flows), time(mean_s))?;
        if (mean_s - harmonic_s).abs() > 1e-9 * mean_s {
            write!(out, " (mean; harmonic {})", time(harmonic_s))?;
        }
        let share = digits(self.share(), 3);
        write!(out, ", packets of {} B: {share} packets under way for each flow", digits(self.packet_bytes, 6))
    }
}

impl RoundTrips {
    /// `None` where one has no length.
    fn of(given: &Distribution<Duration>, flows: u64) -> Option<RoundTrips> {
        let seconds = |span: &Duration| span.span().0 as f64 / 1e12;
        let found = match given {
            Distribution::Fixed(rtt) => RoundTrips::listed(&[seconds(rtt)]),
            Distribution::List(rtts) => RoundTrips::listed(&rtts.iter().map(seconds).collect::<Vec<f64>>()),
            Distribution::Uniform(low, high) => RoundTrips::uniform(seconds(low), seconds(high)),
            Distribution::Evenly(low, high) if flows <= MANY => {
                let (low, high) = (seconds(low), seconds(high));
                let step = |flow: u64| low + (high - low) * (flow as f64 + 0.5) / flows as f64;
                RoundTrips::listed(&(0..flows).map(step).collect::<Vec<f64>>())
            }
            Distribution::Evenly(low, high) => RoundTrips::uniform(seconds(low), seconds(high)),
            Distribution::Pareto { mean, shape } => {
                // With the lowest value l = mean (a - 1) / a the mean of 1 / x is a / ((a + 1) l).
                let (mean_s, lowest) = (seconds(mean), seconds(mean) * (shape - 1.0) / shape);
                RoundTrips { harmonic_s: lowest * (shape + 1.0) / shape, mean_s, max_s: f64::INFINITY }
            }
            Distribution::Lognormal { median, sigma } => {
                let spread = (sigma * sigma / 2.0).exp();
                RoundTrips { harmonic_s: seconds(median) / spread, mean_s: seconds(median) * spread, max_s: f64::INFINITY }
            }
            // A question that has one of these is refused where it is read.
            Distribution::Exponential(_)
            | Distribution::BoundedPareto { .. }
            | Distribution::Cdf(_)
            | Distribution::Workload(_) => {
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
}

fn without_length() -> Fault {
    let mut fault = Fault::whole("a round trip of no length", None, Some("times above 0, such as `100 ms`".into()));
    for problem in &mut fault.problems {
        problem.at = "base_rtt".into();
    }
    fault
}

/// With what rounding takes away put back (Neumaier 1974): numbers that stand in sentences are those of the package, to the last digit.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    sum + lost
}

/// Round trips are a list or a table where the text writes one as a scenario does.
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
