//! The state of a time-based recovery, and the purposes of its timer.

use super::probe::{Probe, probe_delay};
use super::prr::Prr;
use super::rack::{Detected, DetectionContext, Rack};
use super::undo::{FRto, Undo};
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Segments, Time, TimeDelta};
use crate::tcp::recovery::outcome::{LossDetection, Losses, RecoveryEntry, SavedState, SenderView};
use crate::tcp::sequence::Phase;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) rack: Rack,
    pub(super) prr: Prr,
    pub(super) probe: Probe,
    /// Purpose of the sender's deadline.
    pub(super) purpose: Purpose,
    /// Something has changed on which the deadline depends; it is determined once all segments were sent that may be sent now.
    pub(super) is_stale: bool,
    /// Time of the retransmission timeout; [`Time::NEVER`] while nothing is outstanding.
    pub(super) rto: Time,
    /// State before the last reduction, unless it was undone or cannot be.
    pub(super) undo: Option<Undo>,
    pub(super) f_rto: FRto,
    /// The segment that begins an episode, to be sent whatever the window.
    pub(super) resend: SegmentNumber,
    /// Retransmissions minus DSACKs, of the whole connection.
    pub(super) unreported: i32,
    /// Probes within the measured part of the run.
    pub(super) probes: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Purpose {
    Retransmission,
    Reordering,
    Probe,
}

impl State {
    /// State of a sender before its first data.
    pub(super) fn new(known: &SenderView) -> State {
        let handshake = known.srtt().filter(|_| known.spec.retransmissions_by_min_rtt);
        State {
            rack: Rack::new(known.sequence.snd_una).with_min_rtt(handshake),
            prr: Prr::default(),
            probe: Probe::None,
            purpose: Purpose::Retransmission,
            is_stale: false,
            rto: Time::NEVER,
            undo: None,
            f_rto: FRto::Off,
            resend: SegmentNumber::NONE,
            unreported: 0,
            probes: 0,
        }
    }

    /// Detects nothing if all repair is left to the timer.
    pub(super) fn scan(&mut self, known: &SenderView, phase: Phase, losses: Losses) -> LossDetection {
        if known.spec.fast_retransmit.is_none() {
            return LossDetection::default();
        }
        let mut lost = Vec::new();
        let list = |segment| lost.extend((losses == Losses::Listed).then_some(segment));
        let Detected { newly_lost, has_lost_retransmission, next } = self.rack.detect_each_loss(&detection(known, phase), list);
        LossDetection { newly_lost, has_lost_retransmission, next, lost, ..LossDetection::default() }
    }

    /// Fast recovery would begin after these segments were delivered.
    pub(super) fn entry(&mut self, known: &SenderView, Segments(delivered): Segments) -> RecoveryEntry {
        self.resend = self.rack.first_lost().unwrap_or(SegmentNumber::NONE);
        let outstanding = known.sequence.outstanding().0;
        let recover_fs = Segments(outstanding - self.rack.segs_sacked().0 + delivered);
        RecoveryEntry { repairs: self.resend != SegmentNumber::NONE, inflation: 0, recover_fs }
    }

    pub(super) fn remember(&mut self, known: &SenderView, saved: Option<SavedState>) {
        let retransmitted = self.rack.retransmitted();
        self.undo = saved.map(|saved| Undo::new(saved, known.sequence.snd_una, retransmitted));
    }

    /// Whether the acknowledgement of the oldest segments has no effect here but to let the window advance.
    #[inline]
    pub(super) fn is_undisturbed(&self) -> bool {
        let may_undo = self.f_rto != FRto::Off || self.undo.as_ref().is_some_and(Undo::awaits_echo);
        self.rack.is_in_order() && self.probe == Probe::None && !may_undo
    }

    /// Sets the timer for the end of a segment's reordering window, `next`, or leaves it to [`State::rearm`].
    #[inline]
    pub(super) fn arm(&mut self, known: &SenderView, next: Option<Time>) -> Option<Time> {
        self.is_stale = false;
        if known.sequence.snd_una == known.sequence.snd_max {
            self.rto = Time::NEVER;
            return Some(Time::NEVER);
        }
        let spec = &known.spec.timer;
        let at = next.map(|at| spec.on_tick(known.now, at.since(known.now) + spec.probe_margin)).filter(|&at| at < self.rto);
        self.is_stale = at.is_none();
        self.purpose = if self.is_stale { Purpose::Retransmission } else { Purpose::Reordering };
        at
    }

    /// No probe is due in recovery, or with SACKed segments.
    #[inline]
    pub(super) fn may_probe(&self, known: &SenderView) -> bool {
        may_enter(known.phase()) && known.spec.fast_retransmit.is_some() && self.rack.segs_sacked() == Segments(0)
    }

    /// Sets the timer for a probe or a retransmission timeout.
    #[inline]
    pub(super) fn rearm(&mut self, known: &SenderView) -> Time {
        self.is_stale = false;
        let may_probe = self.probe == Probe::None && self.may_probe(known);
        self.purpose = if may_probe { Purpose::Probe } else { Purpose::Retransmission };
        let probe = if may_probe { probe_delay(known) } else { TimeDelta(u64::MAX) };
        known.spec.timer.on_tick(known.now, probe.min(self.rto.since(known.now)))
    }
}

pub(super) fn detection(known: &SenderView, phase: Phase) -> DetectionContext {
    let is_recovering = is_recovering(phase);
    DetectionContext { now: known.now, is_recovering, srtt: known.srtt(), dup_thresh: known.dup_thresh() }
}

/// In fast recovery, or in recovery from a timeout.
pub(super) fn is_recovering(phase: Phase) -> bool {
    matches!(phase, Phase::Recovery | Phase::Timeout)
}

pub(super) fn may_enter(phase: Phase) -> bool {
    !is_recovering(phase)
}

/// Whether losses may turn the recovery from a timeout into a fast recovery.
pub(super) fn may_enter_after_timeout(known: &SenderView, phase: Phase) -> bool {
    phase == Phase::Timeout && known.spec.fast_recovery_after_timeout
}
