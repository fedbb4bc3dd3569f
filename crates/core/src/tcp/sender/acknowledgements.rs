//! Cumulative acknowledgements and their duplicates.

use super::{Pace, Sender, Tcp};
use crate::congestion::{Ack, Controller, RoundTrip};
use crate::primitives::segment_number::{SackBlock, SegmentNumber};
use crate::primitives::signal::Signal;
use crate::primitives::units::{Segments, TimeDelta};
use crate::tcp::observed::Observed;
use crate::tcp::recovery::outcome::{AckRecovery, DuplicateOutcome, NewAck, NewAckOutcome, TimerAtRepair};
use crate::tcp::sequence::{IncomingAck, Phase};
use crate::tcp::signal_reader::AckExtras;
use crate::tcp::slow_start::decision::{AckSample, Decision, Stage};
use crate::tcp::spec::{AckCounting, TcpSpec};
use crate::tcp::timer::Progress;
use crate::tcp::validation::change::Moment;

impl Sender {
    /// The number of these segments for which the window opens.
    #[inline(never)]
    fn counted_of_several(&self, acked: Segments, spec: &TcpSpec) -> Segments {
        let law = &self.controller;
        let limit = spec.abc_limit;
        match spec.ack_counting {
            AckCounting::Acknowledgements => Segments(1),
            AckCounting::Bytes if limit == Segments::UNLIMITED || law.window() >= law.ssthresh() => acked,
            AckCounting::Bytes if self.sequence.phase == Phase::Timeout => Segments(1),
            AckCounting::Bytes => acked.min(limit),
        }
    }
}

/// RTT samples of an acknowledgement.
#[derive(Clone, Copy)]
pub(super) struct RttSamples {
    /// For the timer: of the oldest acknowledged segment with timestamps, otherwise of the timed one. Includes the delay of the acknowledgement
    /// (RFC 7323 section 4.3).
    oldest: Option<TimeDelta>,
    /// For the controller: the same, or if requested that of the newest acknowledged segment, or the shorter of both. That of a segment that
    /// waited above a gap is longer.
    pub(super) newest: Option<TimeDelta>,
}

impl RttSamples {
    #[inline(always)]
    pub(super) fn of<O: Observed>(oldest: Option<TimeDelta>, extras: &AckExtras) -> RttSamples {
        let newest = if O::SIGNALLED { extras.newest_rtt } else { None };
        if O::SIGNALLED && extras.exact_rtt {
            return RttSamples { oldest, newest };
        }
        RttSamples { oldest, newest: newest.map_or(oldest, |newest| Some(oldest.map_or(newest, |oldest| newest.min(oldest)))) }
    }

    /// Of an acknowledgement of a single segment.
    pub(super) fn of_one(rtt: Option<TimeDelta>) -> RttSamples {
        RttSamples { oldest: rtt, newest: rtt }
    }
}

impl Tcp<'_> {
    /// New data is acknowledged.
    #[inline(always)]
    pub(super) fn on_new_ack<O: Observed>(&mut self, incoming: &IncomingAck, extras: &AckExtras) -> Option<TimeDelta> {
        let rtt = self.round_trip_sample(incoming);
        let samples = RttSamples::of::<O>(rtt, extras);
        self.measure(samples, incoming.ack);
        if O::SIGNALLED && self.usage.is_some() {
            self.validate(incoming.ack);
        }
        let mut ack = self.ack::<O>(incoming.ack - self.sender.sequence.snd_una, samples.newest, extras);
        let sequence = &mut self.sender.sequence;
        sequence.snd_una = incoming.ack;
        sequence.snd_nxt = sequence.snd_nxt.max(incoming.ack);
        // The pacer may have held a retransmission back until it was no longer needed.
        sequence.repairs = false;
        if O::SIGNALLED && self.slow_start_state.is_some() {
            ack.counted = self.monitor_slow_start(&{ ack });
        }
        if O::SIGNALLED && extras.signal.is_some() && self.sender.sequence.phase.is_recovery() {
            self.sender.controller.on_other_ack(&ack);
        }
        self.sender.sequence.end_timeout();
        let sender = &mut *self.sender;
        let is_plain = !sender.sequence.phase.is_recovery() && incoming.blocks.is_empty();
        let timer = if is_plain && sender.recovery.expect_by_acks().on_plain_ack() {
            sender.sequence.extra = 0;
            sender.controller.on_ack(&ack);
            TimerAtRepair::Restarts
        } else {
            // A copy, so that the acknowledgement of a flow without losses need not be stored in memory.
            self.reborrow().on_ack_in_episode(&{ ack }, incoming)
        };
        if self.sender.sequence.snd_max == self.sender.sequence.snd_una {
            self.sender.timer.stop();
        } else if timer == TimerAtRepair::Restarts {
            // RFC 6298 rule 5.3.
            self.start_timer();
        }
        rtt
    }

    /// New data is acknowledged during fast recovery, or while segments are SACKed. Returns whether the timer restarts.
    #[inline(never)]
    fn on_ack_in_episode(&mut self, ack: &Ack, incoming: &IncomingAck) -> TimerAtRepair {
        let (recovery, known) = self.recovery();
        let outcome = recovery.expect_by_acks().on_new_ack(&known, &NewAck { acked: ack.acked, blocks: incoming.blocks });
        self.report_losses();
        let sequence = &mut self.sender.sequence;
        match outcome {
            NewAckOutcome::Opens => {
                sequence.extra = 0;
                self.sender.controller.on_ack(ack);
            }
            NewAckOutcome::Continues => {}
            NewAckOutcome::Repairs { inflation, timer } => {
                sequence.extra += inflation;
                sequence.repairs = true;
                self.lose(self.sender.sequence.snd_una);
                return timer;
            }
            NewAckOutcome::Ends { recovery_point, limit } => {
                (sequence.phase, sequence.extra, sequence.recovery_point) = (Phase::Open, 0, recovery_point);
                if let Some(limit) = limit {
                    self.sender.controller.limit_window(limit);
                }
            }
        }
        TimerAtRepair::Restarts
    }

    /// A duplicate acknowledgement, or one older than the last.
    #[inline(always)]
    pub(super) fn on_other_ack<O: Observed>(&mut self, incoming: &IncomingAck, extras: &AckExtras) {
        let sequence = &self.sender.sequence;
        if incoming.ack != sequence.snd_una || sequence.snd_max == sequence.snd_una {
            return;
        }
        let sample = self.spec.timestamps.then(|| self.now.since(incoming.echo));
        if let Some(sample) = sample {
            self.sender.controller.on_round_trip(&RoundTrip { sample, smoothed: None });
        }
        if O::SIGNALLED && extras.signal.is_some() {
            let ack = Ack { window_validated: false, ..self.ack::<O>(Segments(0), sample, extras) };
            self.sender.controller.on_other_ack(&ack);
        }
        self.reborrow().on_duplicate(incoming.blocks);
    }

    #[inline(never)]
    fn on_duplicate(&mut self, blocks: &[SackBlock]) {
        let (recovery, known) = self.recovery();
        let outcome = recovery.expect_by_acks().on_duplicate(&known, blocks);
        self.report_losses();
        match outcome {
            DuplicateOutcome::Nothing => {}
            DuplicateOutcome::Inflates(segments) => self.sender.sequence.extra = segments,
            DuplicateOutcome::Enters(entry) => {
                self.lose(self.sender.sequence.snd_una);
                self.enter_recovery(entry);
                self.slow_down();
            }
            DuplicateOutcome::Restarts => self.restart_early(),
        }
    }

    /// The pacer follows the reduced window at once. In Linux, the time of the next segment is set when the last one leaves.
    fn slow_down(&mut self) {
        let Sender { sequence, pacer, timer, controller, .. } = &mut *self.sender;
        pacer.slow_down([sequence.last_active, self.now], Pace { spec: self.spec, controller, estimator: &timer.estimator });
    }

    /// The controller's view of an acknowledgement, with the window before it.
    #[inline(always)]
    pub(super) fn ack<O: Observed>(&self, acked: Segments, rtt: Option<TimeDelta>, extras: &AckExtras) -> Ack {
        let in_flight = self.sender.sequence.in_flight();
        let signal = match extras.signal {
            Some(signal) if O::SIGNALLED && self.reader.as_ref().is_some_and(|reader| reader.samples_rate()) => {
                Signal { pipe: Some(self.pipe_before(acked)), ..signal }
            }
            Some(signal) if O::SIGNALLED => signal,
            _ => Signal::default(),
        };
        let window_validated = self.window_validated::<O>(extras);
        Ack { now: self.now, acked, counted: self.counted(acked), rtt, in_flight, window_validated, signal }
    }

    /// Data in the network before an acknowledgement of these segments, for controllers that request delivery rate samples or losses.
    #[inline(never)]
    fn pipe_before(&self, acked: Segments) -> Segments {
        // Time-based recovery has already processed the deliveries.
        let taken_in = if self.sender.recovery.is_by_time() { acked.0 } else { 0 };
        Segments(self.pipe().0 + taken_in)
    }

    /// The number of these segments for which the window opens.
    #[inline(always)]
    fn counted(&self, acked: Segments) -> Segments {
        if acked <= Segments(1) { acked } else { self.sender.counted_of_several(acked, self.spec) }
    }

    #[inline(always)]
    pub(super) fn round_trip_sample(&mut self, incoming: &IncomingAck) -> Option<TimeDelta> {
        match self.spec.timestamps {
            true => Some(self.now.since(incoming.echo)),
            false => self.sender.timer.estimator.timed_round_trip(incoming.ack, self.now),
        }
    }

    /// An RTT of a segment in flight would not be valid (Karn).
    pub(super) fn discard_timing(&mut self) {
        if !self.spec.timestamps {
            self.sender.timer.estimator.discard_timing();
        }
    }

    /// An acknowledgement, not processed yet, has measured RTTs: of new data for the timer and the controller, a duplicate only for the
    /// controller.
    #[inline(always)]
    pub(super) fn measure(&mut self, samples: RttSamples, ack: SegmentNumber) {
        let Sender { sequence, timer, .. } = &mut *self.sender;
        let is_new = ack > sequence.snd_una;
        let mut smoothed = None;
        if is_new {
            if let Some(oldest) = samples.oldest {
                let progress = Progress { snd_una: ack, snd_nxt: sequence.snd_nxt };
                timer.estimator.sample(oldest, progress, &self.spec.timer);
            }
            smoothed = timer.estimator.round_trip(&self.spec.timer);
        }
        if let Some(sample) = samples.newest {
            self.sender.controller.on_round_trip(&RoundTrip { sample, smoothed });
        }
        if let Some(oldest) = samples.oldest.filter(|_| is_new && self.now >= self.warmup) {
            let counts = &mut self.sender.sequence.counts;
            counts.rtt_samples += 1;
            counts.rtt_sum = counts.rtt_sum + oldest;
        }
    }

    /// An acknowledgement of new data, up to `ack`, is about to be processed.
    pub(super) fn validate(&mut self, ack: SegmentNumber) {
        let Some(usage) = self.usage.as_deref_mut() else { return };
        let window = self.sender.controller.window();
        let rtt = self.sender.timer.estimator.round_trip(&self.spec.timer);
        usage.on_new_ack(&self.sender.sequence, ack, &Moment { now: self.now, window, rtt });
        self.sender.end_unvalidated_periods(usage, self.now, self.spec);
    }

    /// Slow start monitoring processes an acknowledgement of new data before the controller does. Returns the number of segments for which
    /// it opens the window.
    #[cold]
    #[inline(never)]
    pub(in crate::tcp) fn monitor_slow_start(&mut self, ack: &Ack) -> Segments {
        let Some(slow_start_state) = self.slow_start_state.as_deref_mut() else { return ack.counted };
        let (sequence, law) = (&self.sender.sequence, &self.sender.controller);
        let stage = match () {
            () if sequence.phase != Phase::Open || law.window() >= law.ssthresh() => Stage::Outside,
            () if law.ssthresh().0 == self.spec.initial_ssthresh => Stage::First,
            () => Stage::Later,
        };
        let (snd_una, snd_nxt, window) = (sequence.snd_una, sequence.snd_nxt, law.window());
        let sample = AckSample {
            now: ack.now,
            snd_una,
            snd_nxt,
            rtt: ack.rtt,
            window,
            counted: ack.counted,
            srtt: self.sender.timer.estimator.round_trip(&self.spec.timer),
            mss: self.spec.mss,
            is_paced: self.spec.pacing,
        };
        match slow_start_state.process_ack(stage, &sample) {
            Decision::Grow(counted) => counted,
            Decision::Exit => {
                self.sender.controller.end_slow_start();
                ack.counted
            }
        }
    }
}
