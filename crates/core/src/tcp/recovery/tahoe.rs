//! Tahoe: the third duplicate acknowledgement is treated as an early timeout: a window of one, go-back-N, slow start (spd-1998 section
//! 4.1.2; Jacobson, "Congestion avoidance and control", 1988).

use super::outcome::{AckRecovery, DuplicateOutcome, LossRecovery, SenderView};
use crate::primitives::segment_number::{SackBlock, SegmentNumber};
use crate::primitives::units::Segments;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Tahoe {
    duplicates: u32,
}

impl LossRecovery for Tahoe {
    fn pipe(&self, known: &SenderView) -> Segments {
        known.pipe_without(self.duplicates)
    }

    fn on_timeout(&mut self, _known: &SenderView) -> Vec<SegmentNumber> {
        self.duplicates = 0;
        Vec::new()
    }
}

impl AckRecovery for Tahoe {
    #[inline(always)]
    fn on_plain_ack(&mut self) -> bool {
        self.duplicates = 0;
        true
    }

    fn on_duplicate(&mut self, known: &SenderView, _blocks: &[SackBlock]) -> DuplicateOutcome {
        self.duplicates += 1;
        match () {
            () if !known.may_enter_without_sack() => DuplicateOutcome::Nothing,
            () if known.threshold_reached(self.duplicates) => DuplicateOutcome::Restarts,
            () => known.limited_transmit(self.duplicates),
        }
    }
}
