//! BBR, version 3. A model of the path (its bandwidth, its minimum RTT, and the data in flight that it tolerates without loss) determines
//! the sending rate and the data in flight. Four states probe for more in turn, and losses lower bounds that hold until the next probe
//! (Cardwell, Swift and Beshay, draft-ietf-ccwg-bbr-06, whose names and section numbers are used here).
//!
//! Differs: no handshake provides an RTT for the initial rate (5.6.2), so the first RTT of data does. Packets are paced individually; the
//! send quantum only adds to the window (5.6.3, 5.5.8). The draft does not specify the effect of a mark (3.7): here it counts as a loss of
//! its round, but not in the loss rate. Spurious losses are reported for an episode that began with fast recovery or a timeout (5.5.11), as
//! time-based recovery detects them. Whether a flow that was idle in ProbeRTT continues is decided at the first acknowledgement, not before
//! it (5.4.1).
//!
//! A flow does not recover when its link becomes much slower: ProbeRTT, due every 5 s, interrupts each probe for bandwidth, after which the
//! maximum filter would advance (5.5.6). From 10 to 1 Mbit/s its RTT rises from 40 ms to 6 s (docs/evidence/senders.md).

mod bounds;
mod cycle;
mod growth;
mod loss;
mod loss_round;
mod model;
mod probe;
mod probe_rtt;
mod sample;
mod startup;
mod undo;

use self::bounds::{Bounds, MIN_PIPE_CWND};
use self::growth::Growth;
use self::loss_round::LossRound;
use self::probe::{BandwidthProbe, Phase};
use self::sample::Sample;
use self::undo::Undo;
use super::support::bbr::{ExtraAcked, FullPipe, MinRtt, PacingRate, ProbeRtt, Recovery, Repair, Rounds};
use super::support::heap_state::HeapState;
use super::support::windowed_max::WindowedMax;
use super::support::{Abilities, Ack, Cause, Congestion, Controller, Lost, Start, Subscriptions};
use crate::primitives::random::Draws;
use crate::primitives::units::{Bytes, Cwnd, Rate, Time, TimeDelta};
use crate::settings::{ABOVE_ZERO, Kind, SettingConflict, Settings, conflicts, member};
use serde::{Deserialize, Serialize};

member! {
    /// Paces at the estimated bottleneck bandwidth, probes for more in cycles and limits losses to about 2 % (BBR version 3).
    Bbr3 = "bbrv3", "Cardwell, Swift and Beshay, draft-ietf-ccwg-bbr-06, 2026";

    pub struct Bbr3Spec {
        /// Maximum data in flight outside bandwidth probing and ProbeRTT, in bandwidth-delay products (DefaultCwndGain).
        cwnd_gain: f64 = 2.0 => Kind::Number { min: 1.0, max: 100.0 },
        /// Maximum tolerated fraction of lost segments per RTT while bandwidth is probed (LossThresh).
        loss_threshold: f64 = 0.02 => Kind::Probability,
        /// Minimum fraction of the short-term bounds that remains after an RTT with losses (Beta).
        beta: f64 = 0.7 => Kind::Probability,
        /// Fraction of the long-term bound left unused for other flows (Headroom).
        headroom: f64 = 0.15 => Kind::Probability,
        /// Lifetime of the minimum RTT (MinRTTFilterLen).
        min_rtt_filter_len: TimeDelta = TimeDelta::from_millis(10_000) => ABOVE_ZERO,
        /// Time without a shorter RTT after which ProbeRTT limits the data in flight to half a bandwidth-delay product (ProbeRTTInterval).
        probe_rtt_interval: TimeDelta = TimeDelta::from_millis(5_000) => ABOVE_ZERO,
        /// Duration of ProbeRTT (ProbeRTTDuration).
        probe_rtt_duration: TimeDelta = TimeDelta::from_millis(200) => ABOVE_ZERO,
        /// Fraction by which the pacing rate stays below the estimated bandwidth (PacingMarginPercent).
        pacing_margin: f64 = 0.01 => Kind::Probability,
    }
}

impl Settings for Bbr3Spec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if self.pacing_margin == 1.0 => ["pacing_margin"], "`pacing_margin` of 1 stops all sending", "less than 1";
            error if self.loss_threshold == 1.0 => ["loss_threshold"], "`loss_threshold` of 1 tolerates any loss", "less than 1";
        }
    }

    fn samples() -> Vec<Bbr3Spec> {
        let usual = Bbr3Spec::default();
        let hasty = Bbr3Spec {
            min_rtt_filter_len: TimeDelta::from_millis(100),
            probe_rtt_interval: TimeDelta::from_millis(50),
            probe_rtt_duration: TimeDelta::from_millis(1),
            ..usual
        };
        let strict = Bbr3Spec { loss_threshold: 0.0, beta: 0.0, headroom: 1.0, pacing_margin: 0.0, ..usual };
        vec![usual, hasty, strict, Bbr3Spec { cwnd_gain: 1.0, beta: 1.0, ..usual }]
    }
}

/// 4 ln 2, the smallest gain that doubles the rate in each round (2.5).
const STARTUP_PACING_GAIN: f64 = 2.77;
/// BBR.DrainPacingGain.
const DRAIN_PACING_GAIN: f64 = 0.5;
/// Window gain in ProbeBW_UP (5.6.1).
const PROBE_UP_WINDOW_GAIN: f64 = 2.25;
/// BBR.ProbeRTTCwndGain.
const PROBE_RTT_WINDOW_GAIN: f64 = 0.5;
pub type Bbr3 = HeapState<Bbr3Memory>;

/// BBR.state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum State {
    Startup,
    Drain { start_round: u64 },
    ProbeBw(Phase),
    ProbeRtt(ProbeRtt),
}

/// State of BBRv3, in segments and seconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bbr3Memory {
    spec: Bbr3Spec,
    packet: Bytes,
    initial_cwnd: f64,
    draws: Draws,
    state: State,
    pacing: PacingRate,
    rounds: Rounds,
    max_bw_filter: WindowedMax<f64>,
    cycle_count: u64,
    bw: f64,
    min_rtt: MinRtt,
    probe_rtt_min: MinRtt,
    extra_acked: ExtraAcked,
    full_pipe: FullPipe,
    probe: BandwidthProbe,
    growth: Growth,
    latest: LossRound,
    bounds: Bounds,
    recovery: Recovery,
    undo: Undo,
    /// Segments found lost in total (C.lost).
    lost: u64,
    /// Time of the last detected loss, and the number of losses detected at that instant.
    newly_lost: (Time, u32),
    /// Whether the window was full in this round, and in the previous one.
    cwnd_limited: [bool; 2],
    has_selective_acks: bool,
    probe_rtt_expired: bool,
    idle_restart: bool,
}

impl Bbr3 {
    /// OnInit of 5.2.1.
    pub(super) fn new(spec: &Bbr3Spec, start: Start) -> Bbr3 {
        let memory = Bbr3Memory {
            spec: *spec,
            packet: start.packet,
            initial_cwnd: start.window,
            draws: start.draws,
            state: State::Startup,
            pacing: PacingRate::initial(Cwnd(STARTUP_PACING_GAIN * start.window), None, start.packet),
            rounds: Rounds::default(),
            max_bw_filter: WindowedMax::default(),
            cycle_count: 0,
            bw: 0.0,
            min_rtt: MinRtt::default(),
            probe_rtt_min: MinRtt::default(),
            extra_acked: ExtraAcked::default(),
            full_pipe: FullPipe::default(),
            probe: BandwidthProbe::default(),
            growth: Growth::default(),
            latest: LossRound::default(),
            bounds: Bounds::default(),
            recovery: Recovery::default(),
            undo: Undo::default(),
            lost: 0,
            newly_lost: (Time::ZERO, 0),
            cwnd_limited: [false; 2],
            has_selective_acks: start.has_selective_acks,
            probe_rtt_expired: false,
            idle_restart: false,
        };
        HeapState::with(start, memory)
    }

    /// UpdateOnACK of 5.2.3, for any acknowledgement.
    fn update(&mut self, ack: &Ack) {
        let rs = self.sample(ack);
        self.memory.latest.update(&rs, self.memory.rounds.delivered);
        self.update_congestion_signals(&rs);
        self.update_ack_aggregation(&rs);
        self.memory.check_full_bw_reached(&rs);
        self.memory.check_startup_done(&rs);
        self.check_drain_done(&rs);
        self.update_probe_bw_cycle_phase(&rs);
        self.memory.update_min_rtt(&rs);
        self.check_probe_rtt(&rs);
        self.memory.latest.advance(&rs);
        self.memory.bw = self.memory.max_bw().min(self.memory.bounds.bw_shortterm);
        self.memory.set_pacing_rate(self.memory.pacing_gain());
        self.set_cwnd(&rs);
    }

    /// Also updates the delivered data, and whether the window was full.
    fn sample(&mut self, ack: &Ack) -> Sample {
        let memory = &mut *self.memory;
        let sample = ack.signal.delivered_rate;
        let newly_acked = memory.rounds.deliver(ack) as f64;
        let prior = f64::from(ack.signal.pipe.unwrap_or(ack.in_flight).0);
        let newly_lost = if memory.newly_lost.0 == ack.now { memory.newly_lost.1 } else { 0 };
        memory.cwnd_limited[0] |= prior >= self.window.floor();
        Sample {
            now: ack.now,
            rtt: ack.rtt,
            delivery_rate: sample.map_or(0.0, |sample| sample.rate),
            is_app_limited: sample.is_some_and(|sample| memory.rounds.is_app_limited(&sample)),
            delivered: sample.map_or(0.0, |sample| memory.rounds.delivered.saturating_sub(sample.prior_delivered) as f64),
            prior_delivered: sample.map(|sample| sample.prior_delivered),
            newly_acked,
            lost: sample.map_or(0.0, |sample| memory.lost.saturating_sub(sample.prior_lost) as f64),
            tx_in_flight: sample.map_or(0.0, |sample| f64::from(sample.in_flight.0)),
            inflight: (prior - newly_acked - f64::from(newly_lost)).max(0.0),
        }
    }

    /// SetCwnd of 5.6.4.6, with BoundCwndForProbeRTT and BoundCwndForModel.
    fn set_cwnd(&mut self, rs: &Sample) {
        let memory = &*self.memory;
        let max_inflight = memory.max_inflight();
        if memory.full_pipe.reached {
            self.window = (self.window + rs.newly_acked).min(max_inflight);
        } else if self.window < max_inflight || (memory.rounds.delivered as f64) < memory.initial_cwnd {
            self.window += rs.newly_acked;
        }
        self.window = self.window.max(MIN_PIPE_CWND);
        if memory.probes_rtt() {
            self.window = self.window.min(memory.probe_rtt_cwnd());
        }
        let cap = match memory.state {
            State::ProbeBw(Phase::Cruise) | State::ProbeRtt(_) => memory.bounds.with_headroom(memory.spec.headroom),
            State::ProbeBw(_) => memory.bounds.inflight_longterm,
            State::Startup | State::Drain { .. } => f64::INFINITY,
        };
        self.window = self.window.min(cap.min(memory.bounds.inflight_shortterm).max(MIN_PIPE_CWND));
    }

    /// SaveCwnd of 5.6.4.4.
    fn save_cwnd(&mut self) {
        let window = Cwnd(self.window);
        if self.memory.probes_rtt() { self.memory.recovery.save_reduced(window) } else { self.memory.recovery.save(window) }
    }

    fn restore_cwnd(&mut self) {
        self.window = self.memory.recovery.restore(Cwnd(self.window)).0;
    }
}

impl Bbr3Memory {
    fn probes_rtt(&self) -> bool {
        matches!(self.state, State::ProbeRtt(_))
    }

    /// The columns of the table in 5.6.1.
    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => STARTUP_PACING_GAIN,
            State::Drain { .. } => DRAIN_PACING_GAIN,
            State::ProbeBw(Phase::Down) => 0.9,
            State::ProbeBw(Phase::Up) => 1.25,
            State::ProbeBw(Phase::Cruise | Phase::Refill) | State::ProbeRtt(_) => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::ProbeBw(Phase::Up) => self.spec.cwnd_gain + PROBE_UP_WINDOW_GAIN - 2.0,
            State::ProbeRtt(_) => PROBE_RTT_WINDOW_GAIN,
            _ => self.spec.cwnd_gain,
        }
    }

    /// SetPacingRateWithGain of 5.6.2.
    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bw * (1.0 - self.spec.pacing_margin);
        self.pacing.update(rate, &self.full_pipe);
    }
}

impl Controller for Bbr3 {
    const ABILITIES: Abilities = Abilities {
        heap_bytes: Self::BYTES,
        uses_start_details: true,
        ignores_losses: true,
        controls_recovery: true,
        undoes_reductions: true,
        quantities: &[
            "max_bw_bps",
            "bw_bps",
            "min_rtt_s",
            "pacing_gain",
            "state",
            "inflight_longterm_packets",
            "inflight_shortterm_packets",
            "extra_acked_packets",
        ],
        may_pace: true,
        subscriptions: Subscriptions { delivered_rate: true, losses: true, ..Subscriptions::NONE },
        ..Abilities::NONE
    };

    #[inline]
    fn window(&self) -> Cwnd {
        Cwnd(self.window)
    }

    #[inline]
    fn pacing(&self) -> Option<Rate> {
        Some(self.memory.pacing.on_wire())
    }

    fn quantity(&self, index: usize, _: Time) -> f64 {
        let memory = &self.memory;
        let bits = 8.0 * memory.packet.0 as f64;
        match index {
            0 => memory.max_bw() * bits,
            1 => memory.bw * bits,
            2 => memory.min_rtt.value.map_or(f64::NAN, TimeDelta::seconds),
            3 => memory.pacing_gain(),
            4 => match memory.state {
                State::Startup => 0.0,
                State::Drain { .. } => 1.0,
                State::ProbeBw(phase) => 2.0 + f64::from(phase as u8),
                State::ProbeRtt(_) => 6.0,
            },
            5 if memory.bounds.inflight_longterm.is_finite() => memory.bounds.inflight_longterm,
            6 if memory.bounds.inflight_shortterm.is_finite() => memory.bounds.inflight_shortterm,
            7 => memory.extra_acked.max(),
            _ => f64::NAN,
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.window = self.memory.recovery.on_ack(ack.acked, Cwnd(self.window)).0;
        self.update(ack);
    }

    fn on_other_ack(&mut self, ack: &Ack) {
        self.update(ack);
    }

    fn on_lost(&mut self, lost: &Lost) {
        self.handle_lost_packet(lost);
    }

    /// OnEnterFastRecovery of 5.6.4.4.
    fn on_congestion(&mut self, seen: &Congestion) {
        self.note_loss();
        if seen.cause == Cause::Loss {
            self.save_state_upon_loss();
            self.memory.recovery.repair = Repair::Fast { start_round: self.memory.rounds.count };
        }
    }

    /// OnEnterRTO of 5.6.4.4: all data in flight is considered lost.
    fn on_timeout(&mut self, seen: &Congestion) {
        self.save_state_upon_loss();
        self.window = 1.0;
        self.memory.recovery.repair = Repair::Restarted { outstanding: seen.in_flight.0 };
    }

    fn on_spurious_loss(&mut self) {
        self.handle_spurious_loss_detection();
    }

    /// Pacing prevents bursts, and the window limits unacknowledged data, whether or not it is used.
    fn limit_window(&mut self, _: Cwnd) {}

    fn reduce_initial_window(&mut self, Cwnd(window): Cwnd) {
        self.window = window;
    }

    /// HandleRestartFromIdle of 5.4.1.
    fn on_idle(&mut self, _: TimeDelta) {
        self.memory.idle_restart = true;
        self.memory.extra_acked.restart();
        if matches!(self.memory.state, State::ProbeBw(_)) {
            self.memory.set_pacing_rate(1.0);
        }
    }
}

/// A controller for the tests of this folder, on a path with an RTT of 100 ms, and its inputs.
#[cfg(test)]
mod bench {
    use super::*;
    use crate::primitives::signal::{RateSample, Signal};
    use crate::primitives::units::Segments;

    pub struct TestSender {
        pub law: Bbr3,
        pub now: Time,
        pub delivered: u64,
        pub lost: u64,
        /// C.lost and the data in flight when the next acknowledged segment was sent.
        pub prior_lost: u64,
        pub tx_in_flight: u32,
        pub app_limited: bool,
        pub rtt: TimeDelta,
    }

    impl TestSender {
        pub fn new(spec: Bbr3Spec) -> TestSender {
            TestSender::of(spec, Start::default())
        }

        pub fn of(spec: Bbr3Spec, start: Start) -> TestSender {
            TestSender {
                law: Bbr3::new(&spec, Start { window: 10.0, packet: Bytes(1250), ..start }),
                now: Time::ZERO,
                delivered: 0,
                lost: 0,
                prior_lost: 0,
                tx_in_flight: 100,
                app_limited: false,
                rtt: TimeDelta::from_millis(100),
            }
        }

        /// An acknowledgement one RTT later, of ten segments sent after all earlier ones had been delivered, with their rate in segments
        /// per second and the data in flight after it.
        pub fn round(&mut self, rate: f64, in_flight: u32) {
            self.process_ack(100, rate, in_flight, self.delivered);
        }

        /// An acknowledgement of ten segments within a round, this much later.
        pub fn within(&mut self, milliseconds: u64, rate: f64, in_flight: u32) {
            self.process_ack(milliseconds, rate, in_flight, 0);
        }

        /// As `round`, this much later, at 1000 segments per second.
        pub fn process_round(&mut self, milliseconds: u64, in_flight: u32) {
            self.process_ack(milliseconds, 1000.0, in_flight, self.delivered);
        }

        fn process_ack(&mut self, milliseconds: u64, rate: f64, in_flight: u32, prior_delivered: u64) {
            self.now += TimeDelta::from_millis(milliseconds);
            self.delivered += 10;
            let sample = RateSample {
                rate,
                app_limited: self.app_limited,
                delivered: self.delivered,
                prior_delivered,
                prior_lost: self.prior_lost,
                in_flight: Segments(self.tx_in_flight),
                rtt: Some(TimeDelta::from_millis(100)),
            };
            let ack = Ack {
                acked: Segments(10),
                counted: Segments(10),
                rtt: Some(self.rtt),
                in_flight: Segments(in_flight + 10),
                signal: Signal { delivered_rate: Some(sample), ..Signal::default() },
                ..Ack::of_one(self.now)
            };
            match self.law.memory.recovery.repair {
                Repair::Fast { .. } => self.law.on_other_ack(&ack),
                _ => self.law.on_ack(&ack),
            }
        }

        /// This many segments are lost, each next to one that arrived.
        pub fn lose(&mut self, count: u32) {
            for _ in 0..count {
                self.lost += 1;
                self.law.on_lost(&Lost {
                    now: self.now,
                    lost: self.lost,
                    prior_lost: self.prior_lost,
                    in_flight: Segments(self.tx_in_flight),
                    app_limited: self.app_limited,
                    begins_range: true,
                });
            }
        }

        /// As `lose`, and fast recovery begins.
        pub fn recover(&mut self, count: u32) {
            self.lose(count);
            self.law.on_congestion(&Congestion::of(self.now, Segments(self.tx_in_flight)));
        }

        /// Segments per second.
        pub fn pacing(&self) -> f64 {
            self.law.pacing().map_or(0.0, |rate| rate.0 as f64 / 1e4)
        }

        pub fn phase(&self) -> Option<Phase> {
            if let State::ProbeBw(phase) = self.law.memory.state { Some(phase) } else { None }
        }

        /// In ProbeBW_CRUISE at 1000 segments per second, with a bandwidth-delay product of 100.
        pub fn cruising() -> TestSender {
            let mut sender = TestSender::new(Bbr3Spec::default());
            [400.0, 1000.0, 1000.0, 1000.0, 1000.0].into_iter().for_each(|rate| sender.round(rate, 150));
            assert!(matches!(sender.law.memory.state, State::Drain { .. }), "{:?}", sender.law.memory.state);
            sender.within(10, 1000.0, 100);
            assert_eq!(sender.phase(), Some(Phase::Cruise));
            // Until the window has grown to two products.
            (0..30).for_each(|_| sender.within(10, 1000.0, 100));
            sender
        }

        /// In ProbeBW_UP, one RTT after the refill.
        pub fn probing() -> TestSender {
            let mut sender = TestSender::cruising();
            sender.within(3000, 1000.0, 100);
            assert_eq!(sender.phase(), Some(Phase::Refill));
            sender.round(1000.0, 100);
            assert_eq!(sender.phase(), Some(Phase::Up));
            sender
        }
    }

    pub fn near(value: f64, wanted: f64) -> bool {
        (value / wanted - 1.0).abs() < 1e-3
    }
}

#[cfg(test)]
mod tests {
    use super::bench::{TestSender, near};
    use super::*;
    use crate::primitives::units::Segments;

    #[test]
    fn the_first_rtt_of_data_sets_the_initial_rate() {
        let mut sender = TestSender::new(Bbr3Spec::default());
        assert!(near(sender.pacing(), 2.77 * 10.0 / 1e-3));
        sender.app_limited = true;
        sender.round(1.0, 10);
        assert!(near(sender.pacing(), 2.77 * 10.0 / 0.1));
    }

    #[test]
    fn the_window_is_two_products_and_the_aggregation_of_acknowledgements() {
        let sender = TestSender::cruising();
        // Ten segments per acknowledgement.
        assert!(near(sender.law.window().0, 200.0 + 10.0), "{}", sender.law.window().0);
        assert!(near(sender.pacing(), 990.0));
    }

    #[test]
    fn fast_recovery_keeps_the_window_and_a_timeout_sets_it_to_one_until_the_next_acknowledgement() {
        let mut sender = TestSender::cruising();
        let window = sender.law.window().0;
        sender.recover(1);
        assert_eq!(sender.law.window().0, window);
        sender.within(1, 1000.0, 100);
        sender.law.on_timeout(&Congestion::of(sender.now, Segments(25)));
        assert_eq!(sender.law.window().0, 1.0);
        // Eleven, twenty-one; the third acknowledges the last of the twenty-five.
        let windows = [0; 3].map(|_| {
            sender.within(1, 1000.0, 10);
            sender.law.window().0
        });
        assert_eq!(windows[..2], [11.0, 21.0]);
        assert!(windows[2] >= window, "{windows:?} {window}");
    }
}
