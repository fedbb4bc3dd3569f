//! Buffer sizing: the answers of all rules, and the recommended one.

use pyo3::prelude::*;
use tailback_models::limits;
use tailback_sizing::{RoundTrips, SizingCase, SizingResult, answers};

/// A question in numbers, from `tailback.prediction`.
#[derive(FromPyObject)]
pub struct SizingInput {
    rate_bps: f64,
    packet_bytes: f64,
    transmitters: u64,
    flows: u64,
    base_rtt: RoundTripMeans,
    target: f64,
    inputs: Option<u64>,
    access_rate_bps: Option<f64>,
    paced: Option<bool>,
    window: Option<u64>,
}

/// `tailback.models.RoundTrips`.
#[derive(FromPyObject)]
struct RoundTripMeans {
    harmonic_s: f64,
    mean_s: f64,
    max_s: f64,
}

impl SizingInput {
    fn question(&self) -> SizingCase {
        let RoundTripMeans { harmonic_s, mean_s, max_s } = self.base_rtt;
        SizingCase {
            rate_bps: self.rate_bps,
            packet_bytes: self.packet_bytes,
            transmitters: self.transmitters,
            flows: self.flows,
            base_rtt: RoundTrips { harmonic_s, mean_s, max_s },
            target: self.target,
            inputs: self.inputs,
            access_rate_bps: self.access_rate_bps,
            paced: self.paced,
            window: self.window,
        }
    }
}

/// Name of the rule, packets, upper end of a range, whether it applies, and the reason.
type RuleFields = (&'static str, Option<u64>, Option<u64>, bool, String);

/// The question in one line; the answers of all rules; the recommended rule, if one reaches the target; and the reason.
#[pyfunction]
pub fn buffer_answers(py: Python<'_>, question: SizingInput) -> (String, Vec<RuleFields>, Option<&'static str>, String) {
    let question = question.question();
    let found = py.detach(|| answers(&question));
    let judged = found
        .rules
        .into_iter()
        .map(|SizingResult { rule, packets, max_packets, applies, why, .. }| (rule, packets, max_packets, applies, why));
    (question.to_string(), judged.collect(), found.recommended, found.advice)
}

/// Whether a sender's access link spaces packets as pacing does; `None` means no access link.
#[pyfunction]
pub fn is_slow(access_rate_bps: Option<f64>, rate_bps: f64, transmitters: u32) -> bool {
    access_rate_bps.is_some_and(|access| limits::is_slow(access, rate_bps, transmitters.into()))
}
