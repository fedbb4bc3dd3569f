//! The bottleneck and its flows in numbers.

use crate::number_text::{digits, rate, thousands, time};
use crate::round_trips::RoundTrips;
use std::fmt;
use tailback_models::limits::is_slow;

/// The case: all quantities on which rules depend.
#[derive(Clone, Debug)]
pub struct SizingCase {
    /// Rate of one transmitter.
    pub rate_bps: f64,
    pub packet_bytes: f64,
    pub transmitters: u64,
    pub flows: u64,
    pub base_rtt: RoundTrips,
    /// Target utilisation, above 0 and at most 1.
    pub target: f64,
    /// `None` if the number of inputs is unlimited.
    pub inputs: Option<u64>,
    /// Rate of the senders' access links, if known.
    pub access_rate_bps: Option<f64>,
    /// Whether senders pace their packets, if known.
    pub paced: Option<bool>,
    /// Largest window of a flow in packets, if limited.
    pub window: Option<u64>,
    /// Controllers of the flows whose windows do not halve: others than Reno.
    pub other_controllers: Vec<String>,
}

impl SizingCase {
    pub fn capacity_bps(&self) -> f64 {
        self.rate_bps * self.transmitters as f64
    }

    /// Packets in flight per flow if the bottleneck is full and its queue empty.
    pub(crate) fn share(&self) -> f64 {
        self.capacity_bps() * self.base_rtt.harmonic_s / (8.0 * self.packet_bytes * self.flows as f64)
    }

    /// Load of the bottleneck if every flow runs at its largest window.
    pub(crate) fn over_provision(&self) -> Option<f64> {
        let bits = |window| self.flows as f64 * window as f64 * 8.0 * self.packet_bytes;
        self.window.map(|window| bits(window) / (self.capacity_bps() * self.base_rtt.mean_s))
    }

    /// Load of the bottleneck if every sender's access link is full, if these are known.
    pub(crate) fn access_limit(&self) -> Option<f64> {
        self.access_rate_bps.map(|access| self.flows as f64 * access / self.capacity_bps())
    }

    /// Whether packets arrive smoothly: paced, or over slow access links. `None`: unknown.
    pub(crate) fn smooth(&self) -> Option<bool> {
        let slow = self.access_rate_bps.map(|access| is_slow(access, self.rate_bps, self.transmitters as f64));
        if self.paced == Some(true) || slow == Some(true) {
            return Some(true);
        }
        self.paced.and(slow)
    }

    /// Whether the names of all controllers start with this one.
    pub(crate) fn has_only(&self, family: &str) -> bool {
        !self.other_controllers.is_empty() && self.other_controllers.iter().all(|one| one.starts_with(family))
    }

    /// One transmitter with an unlimited number of inputs.
    pub(crate) fn is_plain_link(&self) -> bool {
        self.inputs.is_none() && self.transmitters == 1
    }
}

impl fmt::Display for SizingCase {
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
        write!(out, ", packets of {} B: {share} packets in flight per flow", digits(self.packet_bytes, 6))
    }
}
