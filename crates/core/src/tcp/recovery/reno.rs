//! Reno fast recovery (RFC 5681 section 3.2; bpd-2001 section 2.1): the window is inflated by the segments that duplicates report to have
//! left the network; the first acknowledgement of new data ends it, even a partial one.

use super::outcome::{AckRecovery, DuplicateOutcome, LossRecovery, NewAck, NewAckOutcome, SenderView};
use crate::primitives::segment_number::{SackBlock, SegmentNumber};
use crate::primitives::units::Segments;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Reno {
    pub(super) duplicates: u32,
}

impl LossRecovery for Reno {
    fn pipe(&self, known: &SenderView) -> Segments {
        known.pipe_without(self.duplicates)
    }

    fn on_timeout(&mut self, _known: &SenderView) -> Vec<SegmentNumber> {
        self.duplicates = 0;
        Vec::new()
    }
}

impl AckRecovery for Reno {
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
        let recovery_point = if known.spec.avoid_multiple_fast_retransmits {
            known.sequence.recovery_point
        } else {
            // The next hole may start its own fast retransmit, which only a timeout forbids.
            SegmentNumber::FIRST
        };
        NewAckOutcome::Ends { recovery_point, limit: None }
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
}

#[cfg(test)]
mod tests {
    use crate::congestion::Start;
    use crate::tcp::bench::{SenderHarness, plain};
    use crate::tcp::spec::{Recovery, TcpSpec};

    #[test]
    fn a_second_hole_starts_another_fast_retransmit_unless_those_are_avoided() {
        for (avoids, retransmits) in [(false, vec![3]), (true, vec![])] {
            let spec = TcpSpec { recovery: Recovery::Reno, avoid_multiple_fast_retransmits: avoids, ..plain() };
            let mut bench = SenderHarness::new(spec, Start { window: 10.0, ..Start::default() }, 10);
            bench.send();
            // Segments 1 and 3 of ten are lost.
            let mut process = |ack: u32| bench.process_ack(ack, &[]);
            process(1);
            assert_eq!([process(1), process(1), process(1)].concat(), [1]);
            // The repair uncovers the second hole, and more duplicates follow.
            assert_eq!([process(3), process(3), process(3), process(3)].concat(), retransmits);
        }
    }
}
