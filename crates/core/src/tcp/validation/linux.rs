//! Window validation as observed with Linux: in slow start windows open up to twice the data in flight, later only if they were full; when
//! idle, they are halved for every timeout, as in RFC 2861, but not below the initial window.
//!
//! Differs from RFC 2861: a window that is used, but never filled, stays unchanged.

use super::change::Limit;
use crate::congestion::{Controller, Controllers};
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Cwnd, Segments};
use crate::tcp::sequence::Sequence;
use crate::tcp::spec::TcpSpec;
use serde::{Deserialize, Serialize};

/// Maximum data in flight in the last window of data, which begins again whenever it is full, or whenever the maximum grows before it has been
/// full: an increase so counts for a whole round trip.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Linux {
    max_packets_out: Segments,
    was_full: bool,
    /// Once this segment is acknowledged, data sent before it belongs to an earlier window.
    cwnd_usage_seq: SegmentNumber,
}

impl Linux {
    pub(super) fn on_sent(&mut self, sequence: &Sequence, window: Segments) {
        let in_flight = sequence.in_flight();
        let is_full = in_flight >= window;
        let grows = !self.was_full && in_flight > self.max_packets_out;
        if is_full || grows || sequence.snd_una >= self.cwnd_usage_seq {
            *self = Linux { max_packets_out: in_flight, was_full: is_full, cwnd_usage_seq: sequence.snd_max };
        }
    }

    pub(super) fn may_open(&self, law: &Controllers) -> bool {
        let starts = law.window() < law.ssthresh();
        self.was_full || (starts && law.window().0 < 2.0 * f64::from(self.max_packets_out.0))
    }
}

/// Nothing has been sent for this many timeouts.
pub(super) fn decay(Cwnd(window): Cwnd, timeouts: u64, spec: &TcpSpec) -> Limit {
    let halved = (0..timeouts.min(64)).fold(window, |window, _| window / 2.0);
    Limit { threshold: Some(Cwnd(0.75 * window)), window: Cwnd(halved.floor().max(spec.initial_window)) }
}
