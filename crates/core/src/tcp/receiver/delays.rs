//! How long acknowledgements may be delayed.

use crate::primitives::ids::FlowId;
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Time, TimeDelta};
use crate::tcp::spec::DelayedAck;
use serde::{Deserialize, Serialize};

/// Delayed acknowledgement settings, and the number of SACK blocks.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Delays {
    pub(crate) rule: DelayedAck,
    pub(crate) sack_blocks: u32,
    /// The longest RTT of a handshake of these flows through the empty network; [`TimeDelta`]'s maximum without a handshake.
    pub(crate) handshake: TimeDelta,
}

/// Delayed acknowledgement settings for a segment that arrives.
#[derive(Clone, Copy)]
pub(crate) struct DelaysAfter<'a> {
    delays: &'a Delays,
    arrival: Arrival,
}

/// The arrival of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) flow: FlowId,
    pub(crate) sent: Time,
    pub(crate) time: Time,
    pub(crate) pushed: Pushed,
}

/// Whether a segment has the flag PSH: it is the last one of a transfer or a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    Yes,
    No,
}

/// 2^32 over the golden ratio: its multiples are evenly spread (Knuth, The Art of Computer Programming, section 6.4).
const GOLDEN: u32 = 2_654_435_769;

impl Delays {
    #[inline]
    pub(crate) fn after(&self, arrival: Arrival) -> DelaysAfter<'_> {
        DelaysAfter { delays: self, arrival }
    }
}

impl DelaysAfter<'_> {
    #[inline]
    pub(super) fn rule(&self) -> &DelayedAck {
        &self.delays.rule
    }

    pub(super) fn sack_blocks(&self) -> u32 {
        self.delays.sack_blocks
    }

    #[inline]
    pub(super) fn is_pushed(&self) -> bool {
        self.arrival.pushed == Pushed::Yes
    }

    /// Maximum time for which an acknowledgement of segments above a gap is delayed. The round trip is about two one-way delays, and the one of
    /// the handshake if that is shorter, because a receiver that sends no data has no other.
    pub(super) fn sack_compression(&self) -> TimeDelta {
        let rule = &self.delays.rule;
        let way = self.arrival.time.since(self.arrival.sent);
        let rtt = way.0.saturating_mul(2).min(self.delays.handshake.0);
        rule.sack_compression.min(TimeDelta(rtt / 100 * u64::from(rule.sack_compression_percent)))
    }

    /// Time until the application reads next; `None` if it reads at once. The reads of flows are evenly spread over the interval.
    #[inline]
    pub(super) fn until_read(&self) -> Option<TimeDelta> {
        let interval = self.delays.rule.read_interval;
        (interval > TimeDelta::ZERO).then(|| {
            // The interval times a share of 2^32.
            let phase = (u128::from(interval.0) * u128::from(self.arrival.flow.0.wrapping_mul(GOLDEN))) >> 32;
            TimeDelta(interval.0 - (self.arrival.time.0 + phase as u64) % interval.0)
        })
    }

    /// Whether this segment is among the first ones, which are acknowledged one by one.
    pub(super) fn is_early(&self, segment: SegmentNumber) -> bool {
        segment.0 < self.delays.rule.quickack_segments.0
    }
}
