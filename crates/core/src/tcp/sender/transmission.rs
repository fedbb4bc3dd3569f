//! The segments to send, one by one.

use super::Tcp;
use crate::congestion::Controller;
use crate::primitives::packet::Ecn;
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Segments, Time};
use crate::tcp::observed::Observed;
use crate::tcp::recovery::outcome::{AckRecovery, LossRecovery, NextSegment, TimeRecovery};
use crate::tcp::validation::Departure;

/// Number of segments of data before the first gap of a paced Linux sender.
const UNPACED: Segments = Segments(10);

/// A segment to send now, already counted as sent.
#[derive(Clone, Copy)]
pub(crate) struct Transmission {
    pub(crate) segment: SegmentNumber,
    /// 1 for new data and 2 for retransmissions.
    pub(crate) number: u32,
    /// It fills the window, so no further segment need be requested.
    pub(crate) fills_window: bool,
}

/// The next segment, before it is sent.
struct SelectedSegment {
    segment: SegmentNumber,
    fills_window: bool,
}

impl SelectedSegment {
    /// Sent whatever the window.
    fn alone(segment: SegmentNumber) -> SelectedSegment {
        SelectedSegment { segment, fills_window: false }
    }
}

impl Tcp<'_> {
    #[inline(always)]
    pub(crate) fn next_segment<O: Observed>(&mut self) -> Option<Transmission> {
        if self.sender.pacer.is_held_back(self.now) {
            return None;
        }
        let opens = O::SIGNALLED && self.is_opening();
        let is_by_time = O::SIGNALLED && !opens && self.sender.recovery.is_by_time();
        let SelectedSegment { segment, fills_window } = match () {
            () if opens => SelectedSegment::alone(self.next_of_handshake()?),
            () if is_by_time => self.next_by_time()?,
            () if self.sender.sequence.repairs => {
                self.sender.sequence.repairs = false;
                SelectedSegment::alone(self.sender.sequence.snd_una)
            }
            () if self.sender.sequence.phase.is_recovery() => self.reborrow().next_in_recovery()?,
            () => self.next_in_window()?,
        };
        let sequence = &mut self.sender.sequence;
        let is_new = segment >= sequence.snd_max;
        if is_new {
            sequence.snd_max = segment.next();
        }
        if !self.spec.timestamps {
            let estimator = &mut self.sender.timer.estimator;
            if is_new { estimator.on_new(segment, self.now) } else { estimator.on_resent(segment) }
        }
        self.pace();
        let sequence = &mut self.sender.sequence;
        sequence.last_active = self.now;
        sequence.counts.sent_in_all += 1;
        if self.now >= self.warmup {
            sequence.counts.sent += 1;
            sequence.counts.retransmitted += u32::from(!is_new);
        }
        if is_by_time {
            let deadline = self.sender.timer.deadline;
            let (recovery, known) = self.recovery();
            recovery.expect_by_time().on_sent(&known, segment, deadline);
        } else if self.sender.timer.deadline == Time::NEVER {
            self.start_timer();
        }
        if O::SIGNALLED
            && !opens
            && let Some(usage) = &mut self.usage
        {
            let window = self.sender.controller.window().whole();
            usage.on_sent(&self.sender.sequence, window, &Departure { segment, is_new });
        }
        Some(Transmission { segment, number: if is_new { 1 } else { 2 }, fills_window })
    }

    #[inline(always)]
    fn pace(&mut self) {
        let sender = &mut *self.sender;
        let is_early = self.spec.pacing_credit && sender.sequence.snd_max < self.spec.first_data() + UNPACED;
        if !is_early {
            let pace = super::Pace { spec: self.spec, controller: &sender.controller, estimator: &sender.timer.estimator };
            sender.pacer.on_sent(self.now, pace);
        }
    }

    /// Sliding window: the next segment in order, either new or, after a timeout, sent before. SACKed segments are skipped.
    #[inline(always)]
    fn next_in_window(&mut self) -> Option<SelectedSegment> {
        let super::Sender { sequence, recovery, controller, .. } = &mut *self.sender;
        if sequence.snd_nxt < sequence.snd_max
            && let Some(board) = recovery.scoreboard()
        {
            sequence.snd_nxt = board.skip_sacked(sequence.snd_nxt);
        }
        let window = Segments((controller.window().0 + f64::from(sequence.extra)) as u32);
        let usable = window.min(self.spec.receiver_window).max(Segments(1));
        let end = sequence.snd_una.saturating_add(usable).min(sequence.limit);
        let segment = sequence.snd_nxt;
        if segment >= end {
            return None;
        }
        sequence.snd_nxt = segment.next();
        Some(SelectedSegment { segment, fills_window: sequence.snd_nxt >= end })
    }

    #[inline(never)]
    fn next_in_recovery(&mut self) -> Option<SelectedSegment> {
        let (recovery, known) = self.recovery();
        match recovery.expect_by_acks().next_in_recovery(&known) {
            NextSegment::InWindow => self.next_in_window(),
            next => self.chosen(next),
        }
    }

    #[inline]
    fn next_by_time(&mut self) -> Option<SelectedSegment> {
        let (recovery, known) = self.recovery();
        let next = recovery.expect_by_time().next_segment(&known);
        self.sender.sequence.repairs = false;
        self.chosen(next)
    }

    #[inline]
    fn chosen(&mut self, next: NextSegment) -> Option<SelectedSegment> {
        let segment = match next {
            NextSegment::InWindow | NextSegment::Nothing => return None,
            NextSegment::New | NextSegment::LastNew => {
                let sequence = &mut self.sender.sequence;
                sequence.snd_nxt = sequence.snd_max.next();
                let fills_window = matches!(next, NextSegment::LastNew);
                return Some(SelectedSegment { segment: sequence.snd_max, fills_window });
            }
            NextSegment::Again(segment) => segment,
            NextSegment::Lost(segment) => {
                self.lose(segment);
                segment
            }
        };
        Some(SelectedSegment::alone(segment))
    }

    /// ECN field of an acknowledgement without data.
    pub(crate) fn ecn_of_bare_ack(&self) -> Ecn {
        if self.sender.sequence.is_without_ecn() { Ecn::NOT_ECT } else { self.spec.ecn_of_others() }
    }

    /// ECN flags of a data segment. Only new data reports a reduction of the window (RFC 3168 section 6.1.2).
    #[inline(always)]
    pub(crate) fn announce(&mut self, transmission: &Transmission) -> Ecn {
        match () {
            () if !self.spec.ecn || self.sender.sequence.is_without_ecn() => Ecn::NOT_ECT,
            () if transmission.number > 1 => self.spec.ecn_of_others(),
            () if self.sender.sequence.reports_reduction() => Ecn::CWR,
            () => Ecn::ECT,
        }
    }
}
