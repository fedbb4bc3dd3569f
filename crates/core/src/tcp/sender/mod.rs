//! A TCP sender. It owns the sequence state, and its parts own theirs: the timer, the pacer, loss recovery and the controller. The parts
//! read the sequence state and return outcomes, which the sender applies. Loss recovery detects losses and selects retransmissions
//! (`recovery/`), and the controller determines the window (`congestion/`).
//!
//! The unit is the segment. A sender is driven by calls: acknowledgements and timeouts, then [`Tcp::next_segment`] until there is nothing
//! more to send.

mod acknowledgements;
mod deliveries;
mod episodes;
mod opening;
mod transmission;

use super::observed::Observed;
use super::pacer::{Pace, Pacer};
use super::recovery::Recoveries;
use super::recovery::outcome::{LossRecovery, SenderView, TimeRecovery};
use super::scoreboard::Scoreboard;
use super::sequence::{IncomingAck, Sequence};
use super::signal_reader::{AckExtras, SignalReader};
use super::slow_start::SlowStartState;
use super::spec::{TcpSpec, WindowValidation};
use super::timer::{Clock, Timer};
use super::validation::change::Limit;
use super::validation::{self, HostQueue, Usage};
use crate::congestion::{Controller, Controllers};
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Cwnd, Segments, Time, TimeDelta};
use serde::{Deserialize, Serialize};

/// The state of one sender.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Sender {
    pub(crate) sequence: Sequence,
    pub(crate) timer: Timer,
    pub(crate) pacer: Pacer,
    pub(crate) recovery: Recoveries,
    pub(crate) controller: Controllers,
}

/// A sender together with the state that it works on.
pub(crate) struct Tcp<'a> {
    pub(crate) sender: &'a mut Sender,
    pub(crate) spec: &'a TcpSpec,
    /// Early end of slow start; processes acknowledgements only if signalled.
    pub(crate) slow_start_state: Option<&'a mut SlowStartState>,
    /// Use of the window by the application, for flows with one and settings that require it; only if signalled.
    pub(crate) usage: Option<&'a mut Usage>,
    /// Present if it has to be notified of transmissions; only if signalled.
    pub(crate) reader: Option<&'a mut SignalReader>,
    pub(crate) now: Time,
    /// Start of the measurement.
    pub(crate) warmup: Time,
    /// Phase of the host's clock, for the BSD timer.
    pub(crate) clock_phase: TimeDelta,
    pub(crate) host_queue: HostQueue,
}

impl Sender {
    pub(crate) fn new(controller: Controllers, spec: &TcpSpec, end: SegmentNumber) -> Sender {
        Sender {
            sequence: Sequence::new(end),
            timer: Timer::new(),
            pacer: Pacer::new(spec, &controller),
            recovery: Recoveries::new(spec.recovery),
            controller,
        }
    }

    /// The usable window.
    #[inline(always)]
    pub(crate) fn window(&self, spec: &TcpSpec) -> Segments {
        spec.usable(self.controller.window())
    }

    /// Whether the only pending action of its own is a timeout.
    pub(crate) fn awaits_timeout(&self) -> bool {
        self.timer.deadline != Time::NEVER && self.recovery.by_time().is_none_or(TimeRecovery::awaits_timeout)
    }

    /// Outstanding segments according to the states of recovery, if it has any.
    pub(crate) fn accounted_for(&self) -> Option<Segments> {
        self.recovery.by_time()?.accounted_for()
    }

    /// Tail loss probes within the measured part of the run.
    pub(crate) fn probes(&self) -> u32 {
        self.recovery.by_time().map_or(0, TimeRecovery::probes)
    }

    /// The SACKed segments, if recovery stores any.
    #[inline]
    pub(crate) fn scoreboard(&self) -> Option<&Scoreboard> {
        self.recovery.scoreboard()
    }

    /// Whether the congestion window, or otherwise the pacer, limits the available data. In slow start the receiver may limit it to half of
    /// the window.
    #[inline(never)]
    fn is_full(&self, spec: &TcpSpec) -> bool {
        let (in_flight, window) = (self.sequence.in_flight(), self.controller.window());
        let waits_for_pacer = || self.pacer.paces(self.pace(spec)) && self.sequence.snd_nxt < self.sequence.limit;
        let starts = || window < self.controller.ssthresh() && window.0 < 2.0 * f64::from(in_flight.0);
        in_flight >= window.whole() || (in_flight >= spec.receiver_window && starts()) || waits_for_pacer()
    }

    /// Whether the window was in use when the last data was sent, by the rule of [`WindowValidation::Linux`], which nothing changes
    /// afterwards. A sender with all of its data available fills its window until then, unless the initial window holds all data.
    #[inline(never)]
    fn was_full(&self, spec: &TcpSpec) -> bool {
        let Sender { sequence, controller, .. } = self;
        let data = f64::from((sequence.limit - spec.first_data().min(sequence.limit)).0);
        let starts = controller.window() < controller.ssthresh();
        sequence.snd_max >= sequence.limit && (data >= spec.initial_window || (starts && controller.window().0 < 2.0 * data))
    }

    fn pace<'a>(&'a self, spec: &'a TcpSpec) -> Pace<'a> {
        Pace { spec, controller: &self.controller, estimator: &self.timer.estimator }
    }

    /// The application hands over the data before `end`. Unused capacity is evaluated before any of it is sent.
    pub(crate) fn offer(&mut self, end: SegmentNumber, usage: Option<&mut Usage>, now: Time, spec: &TcpSpec) {
        let timeout = self.timer.estimator.timeout(&spec.timer);
        let idle_for = now.since(self.sequence.last_active);
        // Nothing outstanding, and nothing held back by the pacer.
        let had_nothing_to_do = self.sequence.has_sent() && self.sequence.snd_una == self.sequence.limit;
        if had_nothing_to_do {
            self.controller.on_idle(idle_for);
        }
        if had_nothing_to_do && idle_for > timeout {
            let limit = validation::after_idle(self.controller.window(), idle_for.0 / timeout.0.max(1), spec);
            self.limit_unused(limit);
        }
        if let Some(usage) = usage {
            self.end_unvalidated_periods(usage, now, spec);
        }
        self.sequence.limit = end;
    }

    /// The flow is stopped: no new data is sent. It ends when all data is acknowledged.
    pub(crate) fn stop(&mut self) {
        self.sequence.limit = self.sequence.limit.min(self.sequence.snd_max);
    }

    /// An acknowledgement of outstanding data of a stopped flow has arrived. The flow ends with the last of them.
    pub(crate) fn note_end(&mut self, now: Time) {
        if self.sequence.is_done() {
            self.sequence.last_active = now;
        }
    }

    /// This time of waiting for a timeout began after the receiver had all data, which another domain has found.
    pub(crate) fn discount_wait(&mut self, idle: TimeDelta) {
        let counts = &mut self.sequence.counts;
        counts.idle = counts.idle - idle;
    }

    /// A window that was not in use is reduced.
    fn limit_unused(&mut self, limit: Option<Limit>) {
        let Some(Limit { threshold, window }) = limit else { return };
        if let Some(threshold) = threshold {
            self.controller.raise_threshold(threshold);
        }
        self.controller.limit_window(window);
    }

    fn end_unvalidated_periods(&mut self, usage: &mut Usage, now: Time, spec: &TcpSpec) {
        for _ in 0..usage.ended_periods(self.controller.window(), now) {
            self.limit_unused(Some(validation::after_period(self.controller.window(), spec)));
        }
    }
}

impl Tcp<'_> {
    /// The same for a call that is not inlined, so that this structure need not be stored in memory.
    #[inline(always)]
    pub(crate) fn reborrow(&mut self) -> Tcp<'_> {
        Tcp {
            sender: self.sender,
            spec: self.spec,
            slow_start_state: self.slow_start_state.as_deref_mut(),
            usage: self.usage.as_deref_mut(),
            reader: self.reader.as_deref_mut(),
            now: self.now,
            warmup: self.warmup,
            clock_phase: self.clock_phase,
            host_queue: self.host_queue,
        }
    }

    /// An acknowledgement arrived. Returns its RTT sample, if any.
    #[inline(always)]
    pub(crate) fn on_ack<O: Observed>(&mut self, incoming: &IncomingAck, extras: &AckExtras) -> Option<TimeDelta> {
        if O::SIGNALLED && self.is_opening() {
            return self.on_syn_ack(incoming);
        }
        let echoes = O::SIGNALLED && extras.echoes_mark;
        let max = if echoes { self.on_echo(incoming.ack) } else { Cwnd(f64::INFINITY) };
        let rtt = match () {
            () if O::SIGNALLED && self.sender.recovery.is_by_time() => self.reborrow().on_deliveries(incoming, extras),
            () if incoming.ack > self.sender.sequence.snd_una => self.on_new_ack::<O>(incoming, extras),
            () => {
                self.on_other_ack::<O>(incoming, extras);
                None
            }
        };
        if echoes {
            self.sender.controller.limit_window(max);
        }
        if O::SIGNALLED && self.usage.is_some() {
            self.end_validation_of_recovery();
        }
        rtt
    }

    /// The recovery, and the state that it may read.
    #[inline(always)]
    fn recovery(&mut self) -> (&mut Recoveries, SenderView<'_>) {
        let Sender { sequence, timer, pacer, recovery, controller } = &mut *self.sender;
        let (now, clock_phase) = (self.now, self.clock_phase);
        (recovery, SenderView { sequence, spec: self.spec, estimator: &timer.estimator, pacer, controller, now, clock_phase })
    }

    /// The retransmission timeout with its backoff.
    pub(crate) fn rto(&self) -> TimeDelta {
        self.sender.timer.estimator.timeout(&self.spec.timer)
    }

    /// Estimated number of segments in the network.
    #[inline]
    pub(crate) fn pipe(&self) -> Segments {
        let Sender { sequence, timer, pacer, recovery, controller } = &*self.sender;
        let (now, clock_phase) = (self.now, self.clock_phase);
        recovery.pipe(&SenderView { sequence, spec: self.spec, estimator: &timer.estimator, pacer, controller, now, clock_phase })
    }

    #[inline(always)]
    fn start_timer(&mut self) {
        let clock = Clock { now: self.now, spec: &self.spec.timer, phase: self.clock_phase };
        self.sender.timer.start(clock);
    }

    /// Whether the acknowledgement that is about to be processed may open the window.
    #[inline(always)]
    fn window_validated<O: Observed>(&self, extras: &AckExtras) -> bool {
        let fits_receiver = || self.sender.controller.window().0 < f64::from(self.spec.receiver_window.0);
        match (&self.usage, self.spec.window_validation) {
            (_, WindowValidation::Linux) if self.host_queue == HostQueue::Long => false,
            (Some(usage), rule) if O::SIGNALLED => {
                (rule == WindowValidation::Linux || fits_receiver()) && usage.may_open(&self.sender.controller, self.now)
            }
            (_, WindowValidation::Linux) => {
                (O::SIGNALLED && extras.held_back) || self.sender.is_full(self.spec) || self.sender.was_full(self.spec)
            }
            // A flow that always has data to send is validated.
            (_, WindowValidation::None | WindowValidation::Rfc5681 | WindowValidation::Rfc7661) => fits_receiver(),
        }
    }

    /// An acknowledgement has been processed, and recovery may have ended.
    fn end_validation_of_recovery(&mut self) {
        let law = &mut self.sender.controller;
        if !self.sender.sequence.phase.is_reduction()
            && let Some(limit) = self.usage.as_mut().and_then(|usage| usage.end_recovery())
        {
            law.limit_window(limit);
            law.end_slow_start();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Start;
    use crate::primitives::packet::Ecn;
    use crate::primitives::segment_number::plain::n;
    use crate::tcp::SsthreshFrom;
    use crate::tcp::bench::{SenderHarness, plain};
    use crate::tcp::observed::{Plain, Signalled};
    use crate::tcp::spec::EcnCapable;

    #[test]
    fn a_sender_takes_at_most_168_bytes() {
        assert!(std::mem::size_of::<Sender>() <= 168, "{}", std::mem::size_of::<Sender>());
    }

    #[test]
    fn a_retransmission_held_back_by_the_pacer_is_dropped_once_acknowledged() {
        let mut bench =
            SenderHarness::new(TcpSpec { pacing: true, ..plain() }, Start { window: 4.0, ssthresh: 4.0, ..Start::default() }, 4);
        (bench.sender.sequence.snd_nxt, bench.sender.sequence.snd_max, bench.sender.sequence.repairs) = (n(4), n(4), true);
        assert_eq!(bench.at(100).process_ack(4, &[]), []);
        assert_eq!(bench.sender.timer.deadline, Time::NEVER);
    }

    #[test]
    fn a_fast_retransmission_is_paced_at_the_reduced_window() {
        // A window of eight in 80 ms: a segment every 10 ms, the last at 70 ms. The third duplicate halves the window to four, so that the
        // retransmission follows 20 ms after that segment. At the old rate it could leave at once.
        let spec = TcpSpec { pacing: true, ..plain() };
        let mut bench = SenderHarness::new(spec, Start { window: 8.0, ssthresh: 8.0, ..Start::default() }, 100);
        let spec = bench.spec.clone();
        bench.sender.adopt_handshake(TimeDelta::from_millis(80), &spec);
        let sent: Vec<_> = (0..8).flat_map(|number| bench.at(10 * number).send()).collect();
        assert_eq!(sent, [0, 1, 2, 3, 4, 5, 6, 7]);
        let duplicates = [81, 82, 83].map(|ms| bench.at(ms).process_ack(0, &[]));
        assert_eq!((duplicates, bench.window()), ([vec![], vec![], vec![]], 4.0));
        assert_eq!(bench.sender.pacer.wakes_at(), Some(Time(TimeDelta::from_millis(90).0)));
        assert_eq!([89, 90].map(|ms| bench.at(ms).send()), [vec![], vec![0]]);
    }

    /// An ECN-capable Reno sender with this window, all of it in flight, receives acknowledgements, (number, echo), one by one. Returns its
    /// window, the position of its last reduction, and the segments sent after each acknowledgement.
    fn process_ack(window: f64, acks: &[(u32, bool)]) -> (f64, u32, Vec<Vec<(u32, Ecn)>>) {
        let mut bench =
            SenderHarness::new(TcpSpec { ecn: true, ..plain() }, Start { window, ssthresh: 8.0, ..Start::default() }, 1000);
        let send = |bench: &mut SenderHarness| {
            bench.with(|tcp| {
                let announced = |tcp: &mut Tcp| {
                    let sent = tcp.next_segment::<Plain>()?;
                    Some((sent.segment.0, tcp.announce(&sent)))
                };
                std::iter::from_fn(|| announced(tcp)).collect::<Vec<_>>()
            })
        };
        assert_eq!(send(bench.at(100)), (0..window as u32).map(|segment| (segment, Ecn::ECT)).collect::<Vec<_>>());
        let process_ack = |&(ack, marked): &(u32, bool)| {
            let extras = AckExtras { echoes_mark: marked, ..AckExtras::default() };
            bench.with(|tcp| tcp.on_ack::<Signalled>(&IncomingAck { ack: n(ack), blocks: &[], echo: Time::ZERO }, &extras));
            send(&mut bench)
        };
        let sent = acks.iter().map(process_ack).collect();
        (bench.window(), bench.sender.sequence.reduced_at().0, sent)
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

    /// All packets of Linux with DCTCP are ECN-capable.
    #[test]
    fn acknowledgements_without_data_are_capable_if_all_packets_are() {
        let bare_ack = |ecn, ecn_capable| {
            let start = Start { window: 8.0, ssthresh: 8.0, ..Start::default() };
            SenderHarness::new(TcpSpec { ecn, ecn_capable, ..plain() }, start, 8).with(|tcp| tcp.ecn_of_bare_ack())
        };
        let fields = [bare_ack(true, EcnCapable::All), bare_ack(true, EcnCapable::NewData), bare_ack(false, EcnCapable::All)];
        assert_eq!(fields, [Ecn::ECT, Ecn::NOT_ECT, Ecn::NOT_ECT]);
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
