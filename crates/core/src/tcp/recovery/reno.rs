//! Reno fast recovery (RFC 5681 section 3.2; bpd-2001 section 2.1): the window is inflated by the segments that duplicates report to have
//! left the network; the first acknowledgement of new data ends it, even a partial one.

use super::outcome::{DuplicateOutcome, LossRecovery, NewAck, NewAckOutcome, SenderView};
use crate::primitives::segment_number::{SackBlock, SegmentNumber};
use crate::primitives::units::Segments;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Reno {
    pub(super) duplicates: u32,
}

impl LossRecovery for Reno {
    #[inline(always)]
    fn on_plain_ack(&mut self) -> bool {
        self.duplicates = 0;
        true
    }

    fn on_new_ack(&mut self, known: &SenderView, _ack: &NewAck) -> NewAckOutcome {
        self.duplicates = 0;
        if !known.phase().is_recovery() {
            return NewAckOutcome::Opens;
        }
        // The next hole may start its own fast retransmit, which only a timeout forbids.
        NewAckOutcome::Ends { recovery_point: SegmentNumber::FIRST, limit: None }
    }

    fn on_duplicate(&mut self, known: &SenderView, _blocks: &[SackBlock]) -> DuplicateOutcome {
        self.duplicates += 1;
        match () {
            () if known.phase().is_recovery() => DuplicateOutcome::Inflates(known.sequence.extra + 1),
            () if !known.may_enter_without_sack() => DuplicateOutcome::Nothing,
            () if known.threshold_reached(self.duplicates) => known.enter(self.duplicates as i32),
            () => known.limited_transmit(self.duplicates),
        }
    }

    fn pipe(&self, known: &SenderView) -> Segments {
        known.pipe_without(self.duplicates)
    }

    fn on_timeout(&mut self, _known: &SenderView) -> Vec<SegmentNumber> {
        self.duplicates = 0;
        Vec::new()
    }
}
