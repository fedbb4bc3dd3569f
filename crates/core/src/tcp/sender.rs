//! A TCP sender: sequence state, the limits of the window and the timer. Loss recovery detects losses and selects retransmissions
//! (`recovery/`), and the controller determines the window (`congestion/`).
//!
//! The unit is the segment. A sender is driven by calls: acknowledgements and timeouts, then [`Tcp::next_segment`] until there is nothing
//! more to send.

use super::pacer::Pacer;
use super::recovery::rack_tlp::RackTlp;
use super::recovery::{self, rack_tlp};
use super::reduction::Repeated;
use super::scoreboard::Scoreboard;
use super::signal_reader::{AckExtras, SignalReader};
use super::slow_start::{self, SlowStartState};
use super::spec::{AckCounting, NewRenoVariant, Recovery, TcpSpec, WindowValidation};
use super::timer::Estimator;
use super::validation::{self, Departure, Usage};
use crate::congestion::{Ack, Cause, Controller, Controllers, RoundTrip};
use crate::primitives::packet::{Ecn, Slab};
use crate::primitives::signal::Signal;
use crate::primitives::units::{Cwnd, Segments, Time, TimeDelta};
use serde::{Deserialize, Serialize};

pub(crate) const NONE: u32 = u32::MAX;

/// State of loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Phase {
    Open,
    /// Fast recovery, and whether it has seen its first partial acknowledgement.
    Recovery {
        partial_seen: bool,
    },
    /// The retransmissions after a timeout are not all acknowledged.
    Timeout,
    /// The window is being reduced for a mark; only for recoveries that spread a reduction over an RTT.
    Reducing,
}

impl Phase {
    pub(crate) fn is_recovery(self) -> bool {
        matches!(self, Phase::Recovery { .. })
    }

    /// Whether the window is being reduced, and acknowledgements do not open it.
    pub(crate) fn is_reduction(self) -> bool {
        matches!(self, Phase::Recovery { .. } | Phase::Reducing)
    }
}

/// The state of one sender.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Sender {
    /// Oldest unacknowledged segment.
    pub(crate) snd_una: u32,
    /// Next segment to send in order; falls back to `snd_una` on a timeout.
    pub(crate) snd_nxt: u32,
    /// One past the highest segment ever sent.
    pub(crate) snd_max: u32,
    /// Total number of segments to send; for an application, the segments handed over.
    pub(crate) limit: u32,
    /// `snd_max` when the present or the last episode began.
    pub(crate) recovery_point: u32,
    pub(crate) duplicates: u32,
    /// Segments by which fast recovery and limited transmit inflate the window.
    pub(crate) extra: i32,
    /// A segment to send now, whatever the window.
    pub(crate) resend: u32,
    /// Index of the scoreboard, while there is one; for time-based recovery, of its state.
    pub(crate) board: u32,
    /// The segment being timed.
    pub(in crate::tcp) timed: u32,
    /// `snd_max` when the window was last reduced: segments below it were sent with a larger window.
    pub(in crate::tcp) reduced_at: u32,
    pub(crate) phase: Phase,
    pub(in crate::tcp) pacer: Pacer,
    /// Nothing has been acknowledged since the last timeout.
    pub(crate) timed_out: bool,
    /// The window has been reduced and no new segment has reported it (CWR).
    pub(in crate::tcp) is_reduced: bool,
    timed_at: Time,
    /// Expiry of the timer; [`Time::NEVER`] while it is off.
    pub(crate) deadline: Time,
    /// Time of the last transmission or timeout.
    pub(crate) last_active: Time,
    /// Earliest next transmission of a paced sender, while that is in the future; otherwise [`Time::ZERO`].
    pub(in crate::tcp) paced_until: Time,
    estimator: Estimator,
    pub(crate) controller: Controllers,
    pub(crate) counts: SenderCounts,
}

/// Counters of a sender. They cover the measured part of the run unless stated otherwise.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SenderCounts {
    /// Over the whole run, for the conservation check.
    pub(crate) sent_in_all: u32,
    pub(crate) sent: u32,
    pub(crate) retransmitted: u32,
    pub(crate) fast_retransmits: u32,
    pub(crate) timeouts: u32,
    pub(crate) rtt_samples: u32,
    pub(crate) rtt_sum: TimeDelta,
    /// Time spent waiting for timeouts: from the last transmission to the expiry, if that was before the receiver had all data.
    pub(crate) idle: TimeDelta,
}

/// A sender together with the state that it works on.
pub(crate) struct Tcp<'a> {
    pub(crate) sender: &'a mut Sender,
    pub(crate) spec: &'a TcpSpec,
    pub(crate) boards: &'a mut Slab<Scoreboard>,
    pub(crate) racks: &'a mut Slab<RackTlp>,
    /// Early end of slow start; processes acknowledgements only with `SIGNALLED`.
    pub(crate) slow_start_state: Option<&'a mut SlowStartState>,
    /// Use of the window by the application, for flows with one and settings that require it; only with `SIGNALLED`.
    pub(crate) usage: Option<&'a mut Usage>,
    /// Present if it has to be notified of transmissions; only with `SIGNALLED`.
    pub(crate) reader: Option<&'a mut SignalReader>,
    pub(crate) now: Time,
    /// Start of the measurement.
    pub(crate) warmup: Time,
    /// Phase of the host's clock, for the BSD timer.
    pub(crate) clock_phase: TimeDelta,
    /// The last segment returned fills the window, so no further one need be requested.
    pub(crate) window_is_used: bool,
}

/// An acknowledgement as the sender sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IncomingAck<'a> {
    /// Next segment expected by the receiver.
    pub(crate) ack: u32,
    pub(crate) blocks: &'a [(u32, u32)],
    /// Transmission time of the segment that caused it.
    pub(crate) echo: Time,
}

impl Sender {
    pub(crate) fn new(controller: Controllers, spec: &TcpSpec, limit: Segments) -> Sender {
        Sender {
            snd_una: 0,
            snd_nxt: 0,
            snd_max: 0,
            limit: limit.0,
            recovery_point: 0,
            duplicates: 0,
            extra: 0,
            resend: NONE,
            board: NONE,
            timed: NONE,
            reduced_at: 0,
            phase: Phase::Open,
            pacer: Pacer::new(spec, &controller),
            timed_out: false,
            is_reduced: false,
            timed_at: Time::ZERO,
            deadline: Time::NEVER,
            last_active: Time::ZERO,
            paced_until: Time::ZERO,
            estimator: Estimator::new(),
            controller,
            counts: SenderCounts::default(),
        }
    }

    pub(crate) fn has_sent(&self) -> bool {
        self.snd_max > 0
    }

    /// Segments sent in order and not acknowledged.
    #[inline]
    pub(crate) fn in_flight(&self) -> Segments {
        Segments(self.snd_nxt - self.snd_una)
    }

    /// The current retransmission timeout.
    pub(in crate::tcp) fn timeout(&self, spec: &TcpSpec) -> TimeDelta {
        self.estimator.timeout(&spec.timer)
    }

    /// The averaged RTT, if there is one.
    pub(in crate::tcp) fn round_trip(&self, spec: &TcpSpec) -> Option<TimeDelta> {
        self.estimator.round_trip(&spec.timer)
    }

    pub(in crate::tcp) fn reduced_at(&self) -> u32 {
        self.reduced_at
    }

    /// The last reduction is undone, and the receiver is not notified of it: the response to a mark that it seemed to be is still due.
    pub(in crate::tcp) fn withdraw_reduction(&mut self, reduced_at: u32) {
        self.reduced_at = reduced_at;
        self.is_reduced = false;
    }

    /// Whether all requested data is delivered.
    pub(crate) fn is_done(&self) -> bool {
        self.snd_una >= self.limit
    }

    /// `floor(min(cwnd, receiver window))`, at least one segment.
    #[inline(always)]
    pub(crate) fn window(&self, spec: &TcpSpec) -> Segments {
        Segments((self.controller.window().0.min(f64::from(spec.receiver_window.0)) as u32).max(1))
    }
}

impl Tcp<'_> {
    /// An acknowledgement arrived. `SIGNALLED`: it carries additional information, the controller requested signals, or slow start is
    /// monitored. Returns its RTT sample, if any.
    #[inline(always)]
    pub(crate) fn on_ack<const SIGNALLED: bool>(&mut self, incoming: &IncomingAck, extras: &AckExtras) -> Option<TimeDelta> {
        if SIGNALLED && self.sender.is_opening(self.spec) {
            return self.on_syn_ack(incoming);
        }
        let echoes = SIGNALLED && extras.echoes_mark;
        let max = if echoes { self.on_echo(incoming.ack) } else { Cwnd(f64::INFINITY) };
        let rtt = self.take_in::<SIGNALLED>(incoming, extras);
        if echoes {
            self.sender.controller.limit_window(max);
        }
        if SIGNALLED && self.usage.is_some() {
            validation::after_ack(self);
        }
        rtt
    }

    #[inline(always)]
    fn take_in<const SIGNALLED: bool>(&mut self, incoming: &IncomingAck, extras: &AckExtras) -> Option<TimeDelta> {
        if SIGNALLED && self.spec.recovery == Recovery::RackTlp {
            return rack_tlp::on_ack(self, incoming, extras);
        }
        if incoming.ack > self.sender.snd_una {
            return self.on_new_ack::<SIGNALLED>(incoming, extras);
        }
        if incoming.ack == self.sender.snd_una && self.sender.snd_max > self.sender.snd_una {
            let sample = self.spec.timestamps.then(|| self.now.since(incoming.echo));
            if let Some(sample) = sample {
                self.sender.controller.on_round_trip(&RoundTrip { sample, smoothed: None });
            }
            if SIGNALLED && extras.signal.is_some() {
                let ack = Ack { window_validated: false, ..self.ack::<SIGNALLED>(Segments(0), sample, extras) };
                self.sender.controller.on_other_ack(&ack);
            }
            recovery::on_duplicate(self, incoming.blocks);
        }
        None
    }

    /// The controller's view of an acknowledgement, with the window before it.
    #[inline(always)]
    pub(in crate::tcp) fn ack<const SIGNALLED: bool>(&self, acked: Segments, rtt: Option<TimeDelta>, extras: &AckExtras) -> Ack {
        let sender = &*self.sender;
        let in_flight = sender.in_flight();
        let signal = match extras.signal {
            Some(signal) if SIGNALLED && self.reader.as_ref().is_some_and(|reader| reader.samples_rate()) => {
                self.with_pipe(signal, acked)
            }
            Some(signal) if SIGNALLED => signal,
            _ => Signal::default(),
        };
        let has_room = sender.controller.window().0 < f64::from(self.spec.receiver_window.0);
        let window_validated = has_room
            && match self.spec.window_validation {
                _ if SIGNALLED && self.usage.is_some() => validation::may_open(self),
                WindowValidation::Linux => (SIGNALLED && extras.held_back) || self.is_full(),
                // A flow that always has data to send is validated.
                WindowValidation::None | WindowValidation::Rfc5681 | WindowValidation::Rfc7661 => true,
            };
        Ack { now: self.now, acked, counted: self.counted(acked), rtt, in_flight, window_validated, signal }
    }

    /// Adds the data in the network, for controllers that request delivery rate samples or losses.
    #[inline(never)]
    fn with_pipe(&self, signal: Signal, acked: Segments) -> Signal {
        // Time-based recovery has already processed the deliveries.
        let taken_in = if self.spec.recovery == Recovery::RackTlp { acked.0 } else { 0 };
        Signal { pipe: Some(Segments(self.pipe().0 + taken_in)), ..signal }
    }

    /// Estimated number of segments in the network.
    pub(crate) fn pipe(&self) -> Segments {
        let Sender { snd_una, snd_max, board, duplicates, .. } = *self.sender;
        let in_flight = self.sender.in_flight();
        let dup_thresh = Segments(self.spec.fast_retransmit.unwrap_or(3));
        match self.spec.recovery {
            Recovery::RackTlp if board != NONE => self.racks.at(board).in_flight(),
            Recovery::Sack | Recovery::BpdSack if board != NONE => self.boards.at(board).pipe(snd_una..snd_max, dup_thresh),
            _ => Segments(in_flight.0.saturating_sub(duplicates)),
        }
    }

    /// Whether the window, or otherwise the pacer, limits the available data.
    #[inline(never)]
    fn is_full(&self) -> bool {
        let sender = &*self.sender;
        sender.in_flight() >= sender.window(self.spec) || (sender.paces(self.spec) && sender.snd_nxt < sender.limit)
    }

    /// The number of these segments for which the window opens.
    #[inline(always)]
    fn counted(&self, acked: Segments) -> Segments {
        if acked <= Segments(1) { acked } else { self.counted_of_several(acked) }
    }

    #[inline(never)]
    fn counted_of_several(&self, acked: Segments) -> Segments {
        let law = &self.sender.controller;
        let limit = self.spec.abc_limit;
        match self.spec.ack_counting {
            AckCounting::Acknowledgements => Segments(1),
            AckCounting::Bytes if limit == Segments::UNLIMITED || law.window() >= law.ssthresh() => acked,
            AckCounting::Bytes if self.sender.phase == Phase::Timeout => Segments(1),
            AckCounting::Bytes => acked.min(limit),
        }
    }

    #[inline(always)]
    fn on_new_ack<const SIGNALLED: bool>(&mut self, incoming: &IncomingAck, extras: &AckExtras) -> Option<TimeDelta> {
        let rtt = self.round_trip_sample(incoming);
        if SIGNALLED && self.usage.is_some() {
            validation::on_new_ack(self, incoming.ack);
        }
        let ack = self.ack::<SIGNALLED>(Segments(incoming.ack - self.sender.snd_una), rtt, extras);
        let sender = &mut *self.sender;
        sender.snd_una = incoming.ack;
        sender.snd_nxt = sender.snd_nxt.max(incoming.ack);
        if sender.resend < incoming.ack {
            // The pacer held it back until it was no longer needed.
            sender.resend = NONE;
        }
        let counted =
            if SIGNALLED && self.slow_start_state.is_some() { slow_start::on_new_ack(self, &{ ack }) } else { ack.counted };
        let ack = Ack { counted, ..ack };
        let sender = &mut *self.sender;
        let starts_recovery_over = sender.phase == Phase::Recovery { partial_seen: true }
            && self.spec.timer.newreno_variant == NewRenoVariant::Impatient;
        if SIGNALLED && extras.signal.is_some() && sender.phase.is_recovery() {
            sender.controller.on_other_ack(&ack);
        }
        recovery::on_new_ack(self, &ack, incoming.blocks);
        if self.sender.snd_max == self.sender.snd_una {
            self.sender.deadline = Time::NEVER;
        } else if !(starts_recovery_over && self.sender.phase.is_recovery()) {
            // RFC 6298 rule 5.3; the first variant of RFC 6582 section 4 restarts it only for the first partial acknowledgement.
            self.start_timer();
        }
        rtt
    }

    #[inline(always)]
    pub(in crate::tcp) fn round_trip_sample(&mut self, incoming: &IncomingAck) -> Option<TimeDelta> {
        let sender = &mut *self.sender;
        let rtt = if self.spec.timestamps {
            self.now.since(incoming.echo)
        } else if sender.timed < incoming.ack {
            sender.timed = NONE;
            self.now.since(sender.timed_at)
        } else {
            return None;
        };
        sender.estimator.sample(rtt, &self.spec.timer);
        let smoothed = sender.estimator.round_trip(&self.spec.timer);
        sender.controller.on_round_trip(&RoundTrip { sample: rtt, smoothed });
        if self.now >= self.warmup {
            self.sender.counts.rtt_samples += 1;
            self.sender.counts.rtt_sum = self.sender.counts.rtt_sum + rtt;
        }
        Some(rtt)
    }

    /// An RTT measured by the recovery: for new data a sample for the timer and the controller, for a duplicate only for the controller.
    pub(in crate::tcp) fn measure(&mut self, rtt: TimeDelta, advanced: Segments) {
        let sender = &mut *self.sender;
        let mut smoothed = None;
        if advanced > Segments(0) {
            sender.estimator.sample(rtt, &self.spec.timer);
            smoothed = sender.estimator.round_trip(&self.spec.timer);
            if self.now >= self.warmup {
                sender.counts.rtt_samples += 1;
                sender.counts.rtt_sum = sender.counts.rtt_sum + rtt;
            }
        }
        sender.controller.on_round_trip(&RoundTrip { sample: rtt, smoothed });
    }

    /// Expiry of a timeout that begins now.
    pub(in crate::tcp) fn timeout_from_now(&self) -> Time {
        self.sender.estimator.deadline(self.now, &self.spec.timer, self.clock_phase)
    }

    /// The timer expired with data outstanding. `completed`: the time at which the receiver had all data, even if the sender has not been
    /// notified. Returns whether it was a retransmission timeout.
    pub(crate) fn on_timer(&mut self, completed: Time) -> bool {
        if self.sender.is_opening(self.spec) {
            self.on_timeout_of_syn();
            return true;
        }
        let is_timeout = self.spec.recovery != Recovery::RackTlp || rack_tlp::on_deadline(self);
        if is_timeout {
            self.on_timeout(completed);
        }
        is_timeout
    }

    fn on_timeout(&mut self, completed: Time) {
        let is_repeated = self.repeated();
        if self.now >= self.warmup {
            self.sender.counts.timeouts += 1;
            if self.now < completed {
                let waiting_since = self.sender.last_active.max(self.warmup);
                self.sender.counts.idle = self.sender.counts.idle + self.now.since(waiting_since);
            }
        }
        self.sender.last_active = self.now;
        if self.spec.recovery == Recovery::RackTlp && is_repeated == Repeated::No {
            rack_tlp::remember(self);
        }
        self.note_reduction();
        if self.spec.recovery != Recovery::RackTlp {
            self.lose_all();
        }
        self.restart(is_repeated);
        self.sender.timed_out = true;
        self.sender.recovery_point = self.sender.snd_max;
        self.sender.estimator.back_off(&self.spec.timer);
        if self.spec.recovery == Recovery::RackTlp {
            return rack_tlp::on_timeout(self);
        }
        self.release_board();
        let sender = &mut *self.sender;
        sender.snd_nxt = sender.snd_una;
        sender.phase = Phase::Timeout;
        sender.duplicates = 0;
        sender.extra = 0;
        sender.resend = NONE;
        sender.timed = NONE;
        self.start_timer();
    }

    /// A segment is considered lost. Notifies the controller if it requests losses; further calls before its retransmission have no effect.
    #[inline]
    pub(in crate::tcp) fn lose(&mut self, segment: u32) {
        if self.reader.is_some() {
            self.report_loss(segment);
        }
    }

    #[cold]
    fn report_loss(&mut self, segment: u32) {
        let now = self.now;
        if let Some(lost) = self.reader.as_mut().and_then(|reader| reader.on_lost(segment, now)) {
            self.sender.controller.on_lost(&lost);
        }
    }

    /// Whether the controller requests losses.
    pub(crate) fn counts_losses(&self) -> bool {
        self.reader.as_ref().is_some_and(|reader| reader.counts_losses())
    }

    /// All outstanding segments that have not arrived are lost.
    fn lose_all(&mut self) {
        if self.counts_losses() {
            (self.sender.snd_una..self.sender.snd_max).for_each(|segment| self.lose(segment));
        }
    }

    /// The fast retransmit threshold is reached: enters fast recovery and retransmits the first hole.
    pub(crate) fn enter_recovery(&mut self) {
        self.lose(self.sender.snd_una);
        self.reduce(self.sender.in_flight(), Cause::Loss);
        self.note_reduction();
        let sender = &mut *self.sender;
        sender.phase = Phase::Recovery { partial_seen: false };
        sender.recovery_point = sender.snd_max;
        sender.resend = sender.snd_una;
        self.begin_episode();
    }

    /// A fast retransmit is made: times no segment whose RTT would include the retransmission, and gives the oldest segment, which is
    /// retransmitted, a full timeout (as in BSD, NS and Linux; RFC 6298 does not specify it).
    pub(crate) fn begin_episode(&mut self) {
        self.sender.timed = NONE;
        self.start_timer();
        self.count_fast_retransmit();
    }

    pub(in crate::tcp) fn count_fast_retransmit(&mut self) {
        if self.now >= self.warmup {
            self.sender.counts.fast_retransmits += 1;
        }
    }

    /// Doubles the timeout.
    pub(in crate::tcp) fn back_off(&mut self) {
        self.sender.estimator.back_off(&self.spec.timer);
        self.start_timer();
    }

    #[inline(always)]
    fn start_timer(&mut self) {
        self.sender.deadline = self.sender.estimator.deadline(self.now, &self.spec.timer, self.clock_phase);
    }

    /// The segment to send now, already counted as sent, or `None`. The number of its transmission is 1 for new data and 2 for
    /// retransmissions.
    #[inline(always)]
    pub(crate) fn next_segment<const SIGNALLED: bool>(&mut self) -> Option<(u32, u32)> {
        if self.sender.is_held_back(self.now) {
            return None;
        }
        let opens = SIGNALLED && self.sender.is_opening(self.spec);
        let is_by_time = SIGNALLED && !opens && self.spec.recovery == Recovery::RackTlp;
        let segment = match () {
            () if opens => self.next_of_handshake()?,
            () if is_by_time => rack_tlp::next_segment(self)?,
            () => recovery::next_segment(self)?,
        };
        let sender = &mut *self.sender;
        let is_new = segment >= sender.snd_max;
        if is_new {
            sender.snd_max = segment + 1;
            if sender.timed == NONE {
                sender.timed = segment;
                sender.timed_at = self.now;
            }
        } else if segment == sender.timed {
            sender.timed = NONE;
        }
        sender.pace(self.spec, self.now);
        sender.last_active = self.now;
        self.sender.counts.sent_in_all += 1;
        if self.now >= self.warmup {
            self.sender.counts.sent += 1;
            self.sender.counts.retransmitted += u32::from(!is_new);
        }
        if is_by_time {
            rack_tlp::on_sent(self, segment);
        } else if self.sender.deadline == Time::NEVER {
            self.start_timer();
        }
        if SIGNALLED && !opens && self.usage.is_some() {
            validation::on_sent(self, &Departure { segment, is_new });
        }
        Some((segment, if is_new { 1 } else { 2 }))
    }

    /// ECN flags of a segment: only new data, in its first transmission, is capable (RFC 3168 section 6.1.5).
    #[inline(always)]
    pub(crate) fn announce(&mut self, transmission: u32) -> Ecn {
        match () {
            () if !self.spec.ecn || transmission > 1 => Ecn::NOT_ECT,
            () if std::mem::take(&mut self.sender.is_reduced) => Ecn::CWR,
            () => Ecn::ECT,
        }
    }

    pub(crate) fn board(&mut self) -> &mut Scoreboard {
        if self.sender.board == NONE {
            self.sender.board = self.boards.put(Scoreboard::default());
        }
        self.boards.at_mut(self.sender.board)
    }

    pub(crate) fn release_board(&mut self) {
        let board = std::mem::replace(&mut self.sender.board, NONE);
        if board != NONE {
            self.boards.release(board);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Start;
    use crate::tcp::SsthreshFrom;
    use crate::tcp::bench::{SenderHarness, plain};

    #[test]
    fn a_sender_fits_in_three_cache_lines() {
        assert!(std::mem::size_of::<Sender>() <= 192, "{}", std::mem::size_of::<Sender>());
    }

    #[test]
    fn a_retransmission_held_back_by_the_pacer_is_dropped_once_acknowledged() {
        let mut bench =
            SenderHarness::new(TcpSpec { pacing: true, ..plain() }, Start { window: 4.0, ssthresh: 4.0, ..Start::default() }, 4);
        (bench.sender.snd_nxt, bench.sender.snd_max, bench.sender.resend) = (4, 4, 1);
        assert_eq!(bench.at(100).process_ack(4, &[]), []);
        assert_eq!(bench.sender.deadline, Time::NEVER);
    }

    /// An ECN-capable Reno sender with this window, all of it in flight, receives acknowledgements, (number, echo), one by one. Returns its
    /// window, the position of its last reduction, and the segments sent after each acknowledgement.
    fn process_ack(window: f64, acks: &[(u32, bool)]) -> (f64, u32, Vec<Vec<(u32, Ecn)>>) {
        let mut bench =
            SenderHarness::new(TcpSpec { ecn: true, ..plain() }, Start { window, ssthresh: 8.0, ..Start::default() }, 1000);
        let send = |bench: &mut SenderHarness| {
            bench.with(|tcp| {
                let announced = |tcp: &mut Tcp| {
                    let (segment, transmission) = tcp.next_segment::<false>()?;
                    Some((segment, tcp.announce(transmission)))
                };
                std::iter::from_fn(|| announced(tcp)).collect::<Vec<_>>()
            })
        };
        assert_eq!(send(bench.at(100)), (0..window as u32).map(|segment| (segment, Ecn::ECT)).collect::<Vec<_>>());
        let process_ack = |&(ack, marked): &(u32, bool)| {
            let extras = AckExtras { echoes_mark: marked, ..AckExtras::default() };
            bench.with(|tcp| tcp.on_ack::<true>(&IncomingAck { ack, blocks: &[], echo: Time::ZERO }, &extras));
            send(&mut bench)
        };
        let sent = acks.iter().map(process_ack).collect();
        (bench.window(), bench.sender.reduced_at, sent)
    }

    #[test]
    fn a_window_is_halved_once_however_many_of_its_acknowledgements_echo() {
        // Eight in flight: the first echo halves the window to four. Nothing is sent until fewer than four are in flight; then the first
        // new segment reports the reduction. The echoes of the other seven belong to the same window.
        let echoes: Vec<(u32, bool)> = (1..=8).map(|ack| (ack, true)).collect();
        let (window, at, sent) = process_ack(8.0, &echoes);
        assert_eq!((window, at), (4.0, 8));
        assert!(sent[..4].iter().all(Vec::is_empty));
        assert_eq!(sent[4..6], [[(8, Ecn::CWR)], [(9, Ecn::ECT)]]);
        // Segments 8 to 11 are in flight. The echo of 8 belongs to the new window, and halves it again.
        let (window, at, sent) = process_ack(8.0, &[&echoes[..], &[(9, true)]].concat());
        assert_eq!((window, at, sent[8].len()), (2.0, 12, 0));
    }

    #[test]
    fn a_window_halved_by_a_loss_is_not_halved_again_for_a_mark_of_the_same_window() {
        // Segment 1 is lost. The third duplicate halves eight to four, and the retransmission is not capable; echoes of that window have no
        // effect. The fifth duplicate inflates the window to nine, and releases the first new segment.
        let (window, at, sent) = process_ack(8.0, &[(1, false), (1, false), (1, false), (1, false), (1, true), (1, true)]);
        assert_eq!((window, at), (4.0, 9));
        assert_eq!(sent[3..], [vec![(1, Ecn::NOT_ECT)], vec![], vec![(9, Ecn::CWR)]]);
    }

    #[test]
    fn a_mark_reduces_to_one_segment_and_a_loss_to_two() {
        assert_eq!(process_ack(2.0, &[(1, true)]).0, 1.0);
        // If half of the window is used instead of half of the flight size, as in kernels, marks have the same bound as losses.
        let mut bench = SenderHarness::new(
            TcpSpec { ecn: true, ssthresh_from: SsthreshFrom::Window, ..plain() },
            Start { window: 2.0, ssthresh: 2.0, ..Start::default() },
            100,
        );
        bench.send();
        bench.at(100).process_marked_ack(1);
        assert_eq!(bench.window(), 2.0);
    }

    #[test]
    fn a_mark_does_not_enlarge_a_window_of_one() {
        assert_eq!(process_ack(1.0, &[(1, true)]).0, 1.0);
    }
}
