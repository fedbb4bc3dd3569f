//! How long acknowledgements may be delayed.

use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::TimeDelta;
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

/// Delayed acknowledgement settings for a segment with this one-way delay.
#[derive(Clone, Copy)]
pub(crate) struct DelaysAfter<'a> {
    delays: &'a Delays,
    way: TimeDelta,
    pushed: Pushed,
}

/// Whether a segment has the flag PSH: it is the last one of a transfer or a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    Yes,
    No,
}

impl Delays {
    #[inline]
    pub(crate) fn after(&self, way: TimeDelta, pushed: Pushed) -> DelaysAfter<'_> {
        DelaysAfter { delays: self, way, pushed }
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
        self.pushed == Pushed::Yes
    }

    /// Maximum time for which an acknowledgement of segments above a gap is delayed. The round trip is about two one-way delays, and the one of
    /// the handshake if that is shorter, because a receiver that sends no data has no other.
    pub(super) fn sack_compression(&self) -> TimeDelta {
        let rule = &self.delays.rule;
        let rtt = self.way.0.saturating_mul(2).min(self.delays.handshake.0);
        rule.sack_compression.min(TimeDelta(rtt / 100 * u64::from(rule.sack_compression_percent)))
    }

    /// Whether this segment is among the first ones, which are acknowledged one by one.
    pub(super) fn is_early(&self, segment: SegmentNumber) -> bool {
        segment.0 < self.delays.rule.quickack_segments.0
    }
}
