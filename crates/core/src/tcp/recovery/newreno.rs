//! NewReno (RFC 6582): Reno's fast recovery, in which partial acknowledgements retransmit one hole each without ending it.
//!
//! Differs: the bound on the window after recovery is the RFC's first option, `min(ssthresh, max(FlightSize, 1) + 1)`.

use super::outcome::{Advance, AtRepair, Duplicate, Known, LossRecovery, NewAck};
use super::reno::Reno;
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
    #[inline(always)]
    fn on_plain_ack(&mut self) -> bool {
        self.reno.on_plain_ack()
    }

    fn on_new_ack(&mut self, known: &Known, ack: &NewAck) -> Advance {
        self.reno.duplicates = 0;
        let sequence = known.sequence;
        if !sequence.phase.is_recovery() {
            return Advance::Opens;
        }
        if sequence.snd_una >= sequence.recovery_point {
            let limit = Some(Cwnd(f64::from(sequence.in_flight().0.max(1) + 1)));
            return Advance::Ends { recovery_point: sequence.recovery_point, limit };
        }
        // The first variant of section 4 restarts the timer only for the first partial acknowledgement.
        let runs =
            std::mem::replace(&mut self.partial_seen, true) && known.spec.timer.newreno_variant == NewRenoVariant::Impatient;
        let timer = if runs { AtRepair::Runs } else { AtRepair::Restarts };
        // Section 3.2 step 5: deflate by the acknowledged data, add back one segment.
        Advance::Repairs { inflation: 1 - ack.acked.0 as i32, timer }
    }

    fn on_duplicate(&mut self, known: &Known, blocks: &[(u32, u32)]) -> Duplicate {
        let outcome = self.reno.on_duplicate(known, blocks);
        self.partial_seen &= !matches!(outcome, Duplicate::Enters(_));
        outcome
    }

    fn pipe(&self, known: &Known) -> Segments {
        self.reno.pipe(known)
    }

    fn on_timeout(&mut self, known: &Known) -> Vec<u32> {
        self.reno.on_timeout(known)
    }
}
