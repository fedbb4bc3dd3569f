//! Losses, marks and timeouts: the reduction of the window, of which each is passed to the controller once, and the start of an episode.

use super::Tcp;
use crate::congestion::{Cause, Congestion, Controller};
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Cwnd, Segments, Time};
use crate::tcp::recovery::outcome::{AckRecovery, LossRecovery, Losses, RecoveryEntry, Reduction, TimeRecovery};
use crate::tcp::sequence::{Phase, Sequence};
use crate::tcp::spec::SsthreshFrom;

/// Whether a segment has timed out before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repeated {
    Yes,
    No,
}

impl Tcp<'_> {
    /// A segment is considered lost. Notifies the controller if it requests losses; further calls before its retransmission have no effect.
    #[inline]
    pub(super) fn lose(&mut self, segment: SegmentNumber) {
        if self.reader.is_some() {
            self.report_loss(segment);
        }
    }

    #[cold]
    fn report_loss(&mut self, segment: SegmentNumber) {
        let now = self.now;
        if let Some(lost) = self.reader.as_mut().and_then(|reader| reader.on_lost(segment, now)) {
            self.sender.controller.on_lost(&lost);
        }
    }

    /// Whether the controller requests losses.
    pub(crate) fn counts_losses(&self) -> bool {
        self.reader.as_ref().is_some_and(|reader| reader.counts_losses())
    }

    pub(super) fn losses(&self) -> Losses {
        if self.counts_losses() { Losses::Listed } else { Losses::Counted }
    }

    /// Notifies the controller, if it requests each loss, of the losses that the scoreboard shows.
    #[inline]
    pub(super) fn report_losses(&mut self) {
        if self.counts_losses() {
            self.report_new_losses();
        }
    }

    #[cold]
    fn report_new_losses(&mut self) {
        let (recovery, known) = self.recovery();
        let Some(end) = recovery.expect_by_acks().lost_below(&known) else { return };
        let snd_una = self.sender.sequence.snd_una;
        let new = self.reader.as_mut().map_or(snd_una..snd_una, |reader| reader.newly_lost(snd_una..end));
        SegmentNumber::range(new).for_each(|segment| self.lose(segment));
    }

    /// All outstanding segments that have not arrived are lost.
    fn lose_all(&mut self) {
        if self.counts_losses() {
            let Sequence { snd_una, snd_max, .. } = self.sender.sequence;
            SegmentNumber::range(snd_una..snd_max).for_each(|segment| self.lose(segment));
        }
    }

    /// Fast recovery begins, and with it a reduction unless one is in progress, which a controller of its own recovery judges. Times no segment whose RTT would include a retransmission,
    /// and gives the segment that is retransmitted a full timeout (as in BSD, NS and Linux; RFC 6298 does not specify it).
    pub(super) fn enter_recovery(&mut self, entry: RecoveryEntry) {
        let RecoveryEntry { repairs, inflation, recover_fs } = entry;
        let reduces = self.sender.sequence.phase != Phase::Reducing || self.sender.controller.controls_recovery();
        let reduced = reduces.then(|| {
            let (saved, before) = (self.saved(), self.sender.window(self.spec));
            self.reduce(self.sender.sequence.in_flight(), Cause::Loss);
            self.sender.sequence.note_reduction();
            Reduction { before, after: self.sender.window(self.spec), recover_fs, saved }
        });
        let sequence = &mut self.sender.sequence;
        (sequence.phase, sequence.recovery_point) = (Phase::Recovery, sequence.snd_max);
        (sequence.repairs, sequence.extra) = (repairs, inflation);
        self.begin_repair();
        let (recovery, known) = self.recovery();
        recovery.on_entered(&known, reduced);
    }

    /// A duplicate acknowledgement is treated like a timeout.
    pub(super) fn restart_early(&mut self) {
        self.lose(self.sender.sequence.snd_una);
        self.restart(Repeated::No);
        self.sender.sequence.note_reduction();
        let sequence = &mut self.sender.sequence;
        (sequence.phase, sequence.recovery_point) = (Phase::Timeout, sequence.snd_max);
        (sequence.snd_nxt, sequence.extra) = (sequence.snd_una, 0);
        self.begin_repair();
    }

    fn begin_repair(&mut self) {
        self.discard_timing();
        self.start_timer();
        if self.now >= self.warmup {
            self.sender.sequence.counts.fast_retransmits += 1;
        }
    }

    /// The timer expired with data outstanding. `completed`: the time at which the receiver had all data, even if the sender has not been
    /// notified. Returns whether it was a retransmission timeout.
    pub(crate) fn on_timer(&mut self, completed: Time) -> bool {
        if self.is_opening() {
            self.on_timeout_of_syn();
            return true;
        }
        let losses = self.losses();
        let (recovery, known) = self.recovery();
        match recovery.by_time_mut().and_then(|recovery| recovery.on_deadline(&known, losses)) {
            Some(mut found) => {
                if found.probes && self.now >= self.warmup {
                    self.sender.recovery.expect_by_time().count_probe();
                }
                self.apply(&mut found);
                self.arm(found.next);
                false
            }
            None => {
                self.on_timeout(completed);
                true
            }
        }
    }

    fn on_timeout(&mut self, completed: Time) {
        let is_repeated = self.repeated();
        self.count_timeout(completed);
        if is_repeated == Repeated::No {
            let saved = self.saved();
            let (recovery, known) = self.recovery();
            if let Some(recovery) = recovery.by_time_mut() {
                recovery.remember(&known, saved);
            }
        }
        self.sender.sequence.note_reduction();
        let is_by_time = self.sender.recovery.is_by_time();
        if !is_by_time {
            self.lose_all();
        }
        self.restart(is_repeated);
        self.sender.sequence.recovery_point = self.sender.sequence.snd_max;
        self.sender.timer.estimator.back_off(&self.spec.timer);
        self.discard_timing();
        let (recovery, known) = self.recovery();
        let lost = recovery.on_timeout(&known);
        lost.into_iter().for_each(|segment| self.lose(segment));
        let sequence = &mut self.sender.sequence;
        sequence.timed_out = true;
        sequence.phase = Phase::Timeout;
        if is_by_time {
            // The oldest segment is sent immediately, and the others that are lost as the window permits.
            sequence.repairs = true;
            self.arm(None);
        } else {
            sequence.snd_nxt = sequence.snd_una;
            (sequence.extra, sequence.repairs) = (0, false);
            self.start_timer();
        }
    }

    /// A timeout after which the receiver still lacks data ends a time of waiting.
    pub(super) fn count_timeout(&mut self, completed: Time) {
        let sequence = &mut self.sender.sequence;
        if self.now >= self.warmup {
            sequence.counts.timeouts += 1;
            if self.now < completed {
                let waiting_since = sequence.last_active.max(self.warmup);
                sequence.counts.idle = sequence.counts.idle + self.now.since(waiting_since);
            }
        }
        sequence.last_active = self.now;
    }

    /// An acknowledgement up to `ack` that is about to be processed echoes a mark: congestion as if a segment were lost, but once per
    /// window of data. Data sent before the last reduction, for whatever reason, is covered by it. Returns the window that must not be
    /// exceeded afterwards (RFC 3168 section 6.1.2).
    ///
    /// Differs: with a window of one the RFC spaces segments by the timer; here, as in Linux, the window stays at one.
    #[cold]
    #[inline(never)]
    pub(super) fn on_echo(&mut self, ack: SegmentNumber) -> Cwnd {
        let window = self.sender.controller.window();
        if ack <= self.sender.sequence.reduced_at() || self.covers_mark(ack) {
            return window;
        }
        self.reduce(self.sender.sequence.in_flight(), Cause::Mark);
        self.sender.sequence.note_reduction();
        let usable = self.sender.window(self.spec);
        let (recovery, known) = self.recovery();
        if recovery.by_time_mut().is_some_and(|recovery| recovery.on_mark(&known, usable)) {
            let sequence = &mut self.sender.sequence;
            (sequence.phase, sequence.recovery_point) = (Phase::Reducing, sequence.snd_max);
        }
        Cwnd(window.0.min(self.sender.controller.window().0))
    }

    /// Whether the response to an earlier event covers a mark echoed by this acknowledgement.
    fn covers_mark(&self, ack: SegmentNumber) -> bool {
        self.sender.recovery.by_time().is_some_and(|recovery| recovery.covers_mark(&self.sender.sequence, ack))
    }

    /// Notifies the controller of congestion other than a timeout. If the window was not in use, the part in use is reduced. `in_flight`:
    /// the outstanding data when the congestion occurred.
    pub(super) fn reduce(&mut self, in_flight: Segments, cause: Cause) {
        let in_use = self.limit_to_use(in_flight);
        let seen = Congestion { min_window: self.min_window(cause), cause, ..self.congestion(in_use.unwrap_or(in_flight)) };
        self.sender.controller.on_congestion(&seen);
        if let Some(usage) = &mut self.usage {
            usage.on_reduced(in_use, self.sender.controller.window());
        }
    }

    /// If the window is not validated, it is limited to the amount in use, which is returned.
    fn limit_to_use(&mut self, in_flight: Segments) -> Option<Segments> {
        let window = self.sender.controller.window();
        let in_use = self.usage.as_ref()?.in_use(window, self.now)?.max(in_flight);
        self.sender.controller.limit_window(Cwnd(f64::from(in_use.0.max(1))));
        Some(in_use)
    }

    /// Lower bound of a reduction: one segment for a mark (RFC 3168 section 6.1.2, RFC 9438 section 4.6) if the threshold is that of RFC
    /// 5681, whose bound is two.
    fn min_window(&self, cause: Cause) -> Segments {
        let is_to_one = cause == Cause::Mark && self.spec.ssthresh_from == SsthreshFrom::FlightSize;
        Segments(if is_to_one { 1 } else { 2 })
    }

    /// The congestion event of a loss with this many segments outstanding.
    fn congestion(&self, in_flight: Segments) -> Congestion {
        let window = self.sender.window(self.spec);
        let in_flight = match self.spec.ssthresh_from {
            SsthreshFrom::Window => window,
            // Segments sent beyond the window by limited transmit or fast recovery do not count (RFC 5681 section 3.2 step 2): equation 4
            // is an upper bound, and a timeout must not raise a value lowered by the recovery before it.
            SsthreshFrom::FlightSize => in_flight.min(window).max(Segments(1)),
        };
        Congestion { pipe: self.pipe(), ..Congestion::of(self.now, in_flight) }
    }

    /// Notifies the controller of a timeout, or of an event treated like one. It reduces the outstanding data (RFC 5681 equation 4) or the
    /// window, in either case no more than the part in use.
    fn restart(&mut self, is_repeated: Repeated) {
        let in_flight = self.sender.sequence.in_flight();
        self.limit_to_use(in_flight);
        let seen = Congestion { repeated: is_repeated == Repeated::Yes, ..self.congestion(in_flight) };
        self.sender.controller.on_timeout(&seen);
        if let Some(usage) = &mut self.usage {
            usage.on_restarted();
        }
    }

    /// Whether a segment has timed out before, or a reduction is not over, and the timeout leaves the threshold unchanged.
    fn repeated(&self) -> Repeated {
        let Sequence { phase, snd_una, recovery_point, timed_out, .. } = self.sender.sequence;
        let keeps_threshold = self.spec.ssthresh_from == SsthreshFrom::FlightSize || self.sender.recovery.is_by_time();
        let is_reducing = matches!(phase, Phase::Recovery | Phase::Reducing) && snd_una < recovery_point;
        let is_repeated = timed_out && keeps_threshold || is_reducing && self.spec.timeout_keeps_reduction;
        if is_repeated { Repeated::Yes } else { Repeated::No }
    }
}
