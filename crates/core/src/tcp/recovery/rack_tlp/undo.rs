//! Undo of spurious reductions: if an echo is older than the first retransmission (Eifel detection, RFC 3522), if all retransmissions are
//! reported as duplicates (RFC 3708), or if after a timeout a segment arrives that was sent once (F-RTO, RFC 5682 section 3).

use crate::primitives::units::{Segments, Time};
use crate::tcp::recovery::outcome::{Report, SavedState, SenderView};
use crate::tcp::sequence::Phase;
use serde::{Deserialize, Serialize};

/// Information required to undo a reduction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Undo {
    saved: SavedState,
    /// Segments from here on were retransmitted.
    snd_una: u32,
    first_retransmission: Option<Time>,
    /// Number of retransmissions minus the ones reported as duplicates.
    unreported: u32,
}

/// The steps of RFC 5682 section 3.1, with SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum FRto {
    Off,
    /// Step 2: only the oldest segment was retransmitted.
    Retransmitted,
    /// Step 3: new data is sent instead of possibly lost segments.
    NewData,
}

impl Undo {
    /// `retransmitted`: the segments that were retransmitted before and have not arrived.
    pub(super) fn new(saved: SavedState, snd_una: u32, Segments(retransmitted): Segments) -> Undo {
        Undo { saved, snd_una, first_retransmission: None, unreported: retransmitted }
    }

    pub(super) fn on_retransmission(&mut self, now: Time) {
        self.first_retransmission.get_or_insert(now);
        self.unreported += 1;
    }
}

/// The state to restore if the reduction proves to be spurious. `f_rto` takes its next step.
pub(super) fn take_if_spurious(
    undo: &mut Option<Undo>,
    f_rto: &mut FRto,
    known: &SenderView,
    report: &Report,
) -> Option<SavedState> {
    let Report { incoming, delivered, advanced } = report;
    let recovery_point = known.sequence.recovery_point;
    let step = std::mem::replace(f_rto, FRto::Off);
    let of = undo.as_mut()?;
    if delivered.is_dsack && incoming.blocks.first().is_some_and(|block| block.0 >= of.snd_una) {
        of.unreported = of.unreported.saturating_sub(1);
    }
    let first = of.first_retransmission?;
    let is_repairing = matches!(known.phase(), Phase::Recovery | Phase::Timeout);
    let by_echo = known.spec.timestamps && is_repairing && *advanced > Segments(0) && incoming.echo < first;
    // An acknowledgement of all data is inconclusive: it may be that of the retransmission (step 2a).
    let may_report = step == FRto::NewData || (step == FRto::Retransmitted && incoming.ack < recovery_point);
    let by_original = may_report && delivered.original.is_some_and(|segment| segment < recovery_point);
    if by_echo || by_original || of.unreported == 0 {
        return undo.take().map(|undo| undo.saved);
    }
    let has_more = known.sequence.snd_max < known.sendable();
    match step {
        FRto::Retransmitted if *advanced == Segments(0) => *f_rto = step,
        FRto::Retransmitted if incoming.ack < recovery_point && has_more => *f_rto = FRto::NewData,
        _ => {}
    }
    None
}
