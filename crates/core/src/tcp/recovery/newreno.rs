//! NewReno (RFC 6582): Reno's fast recovery, in which partial acknowledgements retransmit one hole each without ending it.
//!
//! Differs: the bound on the window after recovery is the RFC's first option, `min(ssthresh, max(FlightSize, 1) + 1)`.

use super::outcome::{AckRecovery, DuplicateOutcome, LossRecovery, NewAck, NewAckOutcome, SenderView, TimerAtRepair};
use super::reno::Reno;
use crate::primitives::segment_number::{SackBlock, SegmentNumber};
use crate::primitives::units::{Cwnd, Segments};
use crate::tcp::spec::NewRenoVariant;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct NewReno {
    reno: Reno,
    /// Fast recovery has seen its first partial acknowledgement.
    partial_seen: bool,
}

impl LossRecovery for NewReno {
    fn pipe(&self, known: &SenderView) -> Segments {
        self.reno.pipe(known)
    }

    fn on_timeout(&mut self, known: &SenderView) -> Vec<SegmentNumber> {
        self.reno.on_timeout(known)
    }
}

impl AckRecovery for NewReno {
    #[inline(always)]
    fn on_plain_ack(&mut self) -> bool {
        self.reno.on_plain_ack()
    }

    fn on_new_ack(&mut self, known: &SenderView, ack: &NewAck) -> NewAckOutcome {
        self.reno.duplicates = 0;
        let sequence = known.sequence;
        if !sequence.phase.is_recovery() {
            return NewAckOutcome::Opens;
        }
        if sequence.snd_una >= sequence.recovery_point {
            let limit = Some(Cwnd(f64::from(sequence.in_flight().0.max(1) + 1)));
            return NewAckOutcome::Ends { recovery_point: sequence.recovery_point, limit };
        }
        // The first variant of section 4 restarts the timer only for the first partial acknowledgement.
        let runs =
            std::mem::replace(&mut self.partial_seen, true) && known.spec.timer.newreno_variant == NewRenoVariant::Impatient;
        let timer = if runs { TimerAtRepair::Runs } else { TimerAtRepair::Restarts };
        // Section 3.2 step 5: deflate by the acknowledged data, add back one segment.
        NewAckOutcome::Repairs { inflation: 1 - ack.acked.0 as i32, timer }
    }

    fn on_duplicate(&mut self, known: &SenderView, blocks: &[SackBlock]) -> DuplicateOutcome {
        let outcome = self.reno.on_duplicate(known, blocks);
        self.partial_seen &= !matches!(outcome, DuplicateOutcome::Enters(_));
        outcome
    }
}
