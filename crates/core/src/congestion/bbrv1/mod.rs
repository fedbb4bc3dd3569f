//! BBR, version 1. The flow sends at most at the delivery rate, and has at most twice the product of that rate and the minimum RTT in
//! flight (Cardwell, Cheng, Hassas Yeganeh and Jacobson, draft-cardwell-iccrg-bbr-congestion-control-00, whose names and section numbers
//! are used here).
//!
//! Differs: in `draft_00` the first RTT of data provides the initial rate (4.2.1), not that of a handshake, and a phase of faster pacing ends
//! early in an episode of loss recovery, not after each loss (4.3.4.3). As in Linux, a recovery that begins at the acknowledgement that ends
//! another does not lower the window again.
//!
//! Many flows in a short buffer lose much, because each keeps at least four segments in flight except in the first round of a recovery: 30
//! flows over 20 Mbit/s, with 36 to 44 ms, starts within 2 s and 7 packets, lose 23 % with the settings of `linux/bbr` (a kernel's 24 %),
//! 100 flows 41 %, with 10.4 timeouts per flow in 15 s (a kernel's 38 % and 11.0; less in emulations whose clock slips).

mod long_term;
mod model;
mod state;
mod window;

use super::support::bbr::{ExtraAcked, FullPipe, MinRtt, PacingRate, ProbeRtt, Recovery, Repair, Rounds};
use super::support::heap_state::HeapState;
use super::support::windowed_max::WindowedMax;
use super::support::{Abilities, Ack, Congestion, Controller, Lost, RoundTrip, Start, Subscriptions};
use crate::primitives::random::Draws;
use crate::primitives::units::{Bytes, Cwnd, Rate, Segments, Time, TimeDelta};
use crate::settings::{ABOVE_ZERO, Kind, PlainWords, SettingConflict, Settings, conflicts, member, words};
use long_term::LongTerm;
use serde::{Deserialize, Serialize};
use state::{HIGH_GAIN, State};

member! {
    /// Paces at the estimated bottleneck bandwidth, with at most two bandwidth-delay products in flight (BBR version 1).
    Bbr1 = "bbrv1", "Cardwell, Cheng, Hassas Yeganeh and Jacobson, draft-cardwell-iccrg-bbr-congestion-control-00, 2017";

    pub struct Bbr1Spec {
        /// Maximum data in flight while bandwidth is probed, in bandwidth-delay products (cwnd_gain).
        cwnd_gain: f64 = 2.0 => Kind::Number { min: 1.0, max: 100.0 },
        /// Length of the maximum filter of the delivery rate, in RTTs (BtlBwFilterLen).
        btlbw_filter_len: u32 = 10 => Kind::Integer { min: 1, max: 1000 },
        /// Time after which the minimum RTT expires and is measured again (RTpropFilterLen).
        rtprop_filter_len: TimeDelta = TimeDelta::from_millis(10_000) => ABOVE_ZERO,
        /// Duration of ProbeRTT, during which almost nothing is in flight (ProbeRTTDuration).
        probe_rtt_duration: TimeDelta = TimeDelta::from_millis(200) => ABOVE_ZERO,
        /// Fraction by which the pacing rate stays below the estimated bandwidth. The draft has no margin; Linux uses 1 %.
        pacing_margin: f64 = 0.0 => Kind::Probability,
        /// Detect policers, as Linux does (lt_bw): after two consecutive intervals of at least four RTTs with at least 20 % of losses and
        /// delivery rates within an eighth, send at their mean for 48 RTTs.
        policer_detection: bool = false => Kind::Boolean,
        /// Widen the window by the greatest recent aggregation of acknowledgements (extra_acked of Linux and of
        /// draft-cardwell-iccrg-bbr-congestion-control-02).
        ack_aggregation: bool = false => Kind::Boolean,
        /// Rules in which Linux differs from the draft.
        edition: Bbr1Edition = Bbr1Edition::Draft00 => Kind::Words(&Bbr1Edition::WORDS),
    }
}

words! {
    /// Edition of BBR's rules. `linux` is observed in Linux 6.18, and most of it is in draft-cardwell-iccrg-bbr-congestion-control-02.
    pub enum Bbr1Edition ("edition") {
        /// draft-cardwell-iccrg-bbr-congestion-control-00.
        Draft00 = "draft_00",
        /// The RTT of the handshake is the first minimum and gives the initial rate; only a lower RTT, of the last delivered segment, renews
        /// it, in whole milliseconds if that is a retransmission; gains of Startup and Drain are in parts of 256; limits on data in flight are even numbers of segments, and greater by two in the
        /// phase of faster pacing, which ends at any loss once it has lasted an RTT; losses that a timer finds do not reduce the window, and
        /// a timeout leaves one segment more than is in flight.
        Linux = "linux",
    }
}

impl Settings for Bbr1Spec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if self.pacing_margin == 1.0 => ["pacing_margin"], "`pacing_margin` of 1 stops all sending", "less than 1";
        }
    }

    fn samples() -> Vec<Bbr1Spec> {
        let usual = Bbr1Spec::default();
        let hasty =
            Bbr1Spec { rtprop_filter_len: TimeDelta::from_millis(50), probe_rtt_duration: TimeDelta::from_millis(1), ..usual };
        vec![
            usual,
            hasty,
            Bbr1Spec { cwnd_gain: 1.0, btlbw_filter_len: 1, pacing_margin: 0.01, policer_detection: true, ..usual },
            Bbr1Spec { ack_aggregation: true, edition: Bbr1Edition::Linux, ..usual },
        ]
    }
}

pub type Bbr1 = HeapState<Bbr1Memory>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bbr1Memory {
    spec: Bbr1Spec,
    packet: Bytes,
    initial_window: f64,
    draws: Draws,
    state: State,
    pacing: PacingRate,
    /// Delivery rates in segments per second, by rounds.
    btlbw_filter: WindowedMax<f64>,
    rounds: Rounds,
    full_pipe: FullPipe,
    rtprop: MinRtt,
    /// The RTT of the handshake.
    handshake: Option<TimeDelta>,
    recovery: Recovery,
    /// Fast recovery has begun since the last acknowledgement.
    enters_recovery: bool,
    /// Time of the last timeout.
    timed_out_at: Time,
    is_idle_restart: bool,
    long_term: LongTerm,
    extra_acked: ExtraAcked,
}

impl Bbr1 {
    pub(super) fn new(spec: &Bbr1Spec, start: Start) -> Bbr1 {
        let memory = Bbr1Memory {
            spec: *spec,
            packet: start.packet,
            initial_window: start.window,
            draws: start.draws,
            state: State::Startup,
            pacing: PacingRate::initial(Cwnd(HIGH_GAIN * start.window), None, start.packet),
            btlbw_filter: WindowedMax::default(),
            rounds: Rounds::default(),
            full_pipe: FullPipe::default(),
            rtprop: MinRtt::default(),
            handshake: None,
            recovery: Recovery::default(),
            enters_recovery: false,
            timed_out_at: Time::NEVER,
            is_idle_restart: false,
            long_term: LongTerm::new(start.packet),
            extra_acked: ExtraAcked::default(),
        };
        HeapState::with(start, memory)
    }

    /// BBRUpdateOnACK (4.1.1), for any acknowledgement.
    fn update(&mut self, ack: &Ack) {
        let memory = &mut *self.memory;
        let prior = ack.signal.pipe.unwrap_or(ack.in_flight);
        let delivered = memory.rounds.deliver(ack);
        let newly_lost = memory.long_term.lost_at(ack.now);
        let in_flight = Segments(prior.0.saturating_sub(delivered as u32 + newly_lost));
        memory.update_model(ack.now, ack.signal.delivered_rate.as_ref());
        let enters_recovery = memory.begin_conservation();
        if memory.spec.edition == Bbr1Edition::Linux {
            self.window = match enters_recovery {
                true => f64::from(in_flight.0) + delivered as f64,
                false => (self.window - f64::from(newly_lost)).max(1.0),
            };
        }
        if memory.spec.ack_aggregation && ack.signal.delivered_rate.is_some() {
            memory.update_ack_aggregation(ack.now, Segments(delivered as u32), Cwnd(self.window));
        }
        memory.advance_cycle(ack, Segments(newly_lost));
        memory.check_full_pipe(ack.signal.delivered_rate.as_ref());
        memory.check_drain(ack.now, in_flight);
        if memory.measure(ack) && !memory.is_idle_restart && !memory.probes_rtt() {
            memory.recovery.save(Cwnd(self.window));
            memory.state = State::ProbeRtt(ProbeRtt::default());
        }
        memory.is_idle_restart = false;
        self.check_probe_rtt(ack.now, in_flight);
        self.memory.set_pacing_rate();
        self.set_window(in_flight, delivered as f64);
    }
}

impl Controller for Bbr1 {
    const ABILITIES: Abilities = Abilities {
        heap_bytes: Self::BYTES,
        uses_start_details: true,
        ignores_losses: true,
        undoes_reductions: true,
        controls_recovery: true,
        quantities: &["bottleneck_bandwidth_bps", "rtprop_s", "pacing_gain", "state"],
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
        match index {
            0 => memory.bandwidth() * 8.0 * memory.packet.0 as f64,
            1 => memory.rtprop.value.map_or(f64::NAN, TimeDelta::seconds),
            2 => memory.pacing_gain(),
            3 => match memory.state {
                State::Startup => 0.0,
                State::Drain => 1.0,
                State::ProbeBw { .. } => 2.0,
                State::ProbeRtt(_) => 3.0,
            },
            _ => f64::NAN,
        }
    }

    /// The first RTT is that of the handshake, if there is one.
    #[inline]
    fn on_round_trip(&mut self, measured: &RoundTrip) {
        if self.memory.handshake.is_none() {
            self.memory.handshake = Some(measured.sample);
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.window = self.memory.recovery.on_ack(ack.acked, Cwnd(self.window)).0;
        self.update(ack);
    }

    fn on_other_ack(&mut self, ack: &Ack) {
        self.update(ack);
    }

    /// BBRModulateCwndForRecovery (4.2.3.4). The first losses of a recovery are no longer in the pipe to which it reduces the window. In Linux
    /// only losses that an acknowledgement reveals reduce the window, with it, and those of a timeout.
    fn on_lost(&mut self, lost: &Lost) {
        let memory = &mut *self.memory;
        memory.long_term.on_lost(lost);
        let is_at_once = match memory.spec.edition {
            Bbr1Edition::Draft00 => memory.recovery.repair != Repair::Over,
            Bbr1Edition::Linux => memory.timed_out_at == lost.now,
        };
        if is_at_once {
            self.window = (self.window - 1.0).max(1.0);
        }
    }

    fn on_congestion(&mut self, context: &Congestion) {
        self.save_window();
        if matches!(self.memory.recovery.repair, Repair::Fast { .. }) {
            return;
        }
        // In Linux the next acknowledgement sets the window, after a detection by the timer, too.
        if self.memory.spec.edition == Bbr1Edition::Draft00 {
            self.window = f64::from(context.pipe.0) + 1.0;
        }
        self.memory.enters_recovery = true;
        self.memory.recovery.repair = Repair::Fast { start_round: self.memory.rounds.count };
    }

    fn on_timeout(&mut self, context: &Congestion) {
        self.save_window();
        self.window = match self.memory.spec.edition {
            Bbr1Edition::Draft00 => 1.0,
            // The losses are still in the pipe.
            Bbr1Edition::Linux => f64::from(context.pipe.0) + 1.0,
        };
        self.memory.timed_out_at = context.now;
        self.memory.recovery.repair = Repair::Restarted { outstanding: context.in_flight.0 };
        let progress = self.memory.long_term.on_timeout(context.now, &self.memory.rounds);
        self.memory.update_long_term(&progress);
    }

    /// The window is restored; the model of the path stays.
    fn on_spurious_loss(&mut self) {
        self.memory.recovery.repair = Repair::Over;
        self.window = self.memory.recovery.restore(Cwnd(self.window)).0;
    }

    /// Pacing prevents bursts, and the window limits unacknowledged data, whether or not it is used.
    fn limit_window(&mut self, _: Cwnd) {}

    fn reduce_initial_window(&mut self, Cwnd(window): Cwnd) {
        self.window = window;
    }

    /// BBRHandleRestartFromIdle (4.3.4.4).
    fn on_idle(&mut self, _: TimeDelta) {
        self.memory.is_idle_restart = true;
        if matches!(self.memory.state, State::ProbeBw { .. }) {
            let rate = self.memory.bandwidth() * (1.0 - self.memory.spec.pacing_margin);
            self.memory.pacing.set(rate);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::window::MIN;
    use super::*;
    use crate::congestion::AckCounting;
    use crate::primitives::signal::{RateSample, Signal};

    /// A controller on a path with an RTT of 100 ms, and its inputs.
    struct TestSender {
        law: Bbr1,
        now: Time,
        delivered: u64,
    }

    impl TestSender {
        fn new(spec: Bbr1Spec) -> TestSender {
            let start = Start { window: 10.0, packet: Bytes(1250), ack_counting: AckCounting::Bytes, ..Start::default() };
            TestSender { law: Bbr1::new(&spec, start), now: Time::ZERO, delivered: 0 }
        }

        /// An acknowledgement one RTT later, of the last of ten segments that were delivered at this rate, in segments per second.
        fn round(&mut self, rate: f64, in_flight: u32) {
            self.after(100, rate, in_flight, self.delivered);
        }

        fn after(&mut self, milliseconds: u64, rate: f64, in_flight: u32, prior_delivered: u64) {
            self.now += TimeDelta::from_millis(milliseconds);
            self.delivered += 10;
            let sample = RateSample {
                rate,
                app_limited: false,
                delivered: self.delivered,
                prior_delivered,
                prior_lost: 0,
                in_flight: Segments(in_flight),
                rtt: Some(TimeDelta::from_millis(100)),
            };
            self.law.on_ack(&Ack {
                now: self.now,
                acked: Segments(10),
                counted: Segments(10),
                rtt: Some(TimeDelta::from_millis(100)),
                in_flight: Segments(in_flight + 10),
                window_validated: true,
                signal: Signal { delivered_rate: Some(sample), ..Signal::default() },
            });
        }

        /// In recovery, the only segment in flight is delivered. It was sent after this many deliveries. Returns the window.
        fn deliver_last(&mut self, prior_delivered: u64) -> f64 {
            self.now += TimeDelta::from_millis(1);
            self.delivered += 1;
            let sample = RateSample {
                rate: 1000.0,
                app_limited: false,
                delivered: self.delivered,
                prior_delivered,
                prior_lost: 0,
                in_flight: Segments(1),
                rtt: None,
            };
            let signal = Signal { delivered_rate: Some(sample), ..Signal::default() };
            self.law.on_other_ack(&Ack { in_flight: Segments(1), signal, ..Ack::of_one(self.now) });
            self.law.window().0
        }

        fn loses(&self, in_flight: u32) -> Congestion {
            Congestion::of(self.now, Segments(in_flight))
        }

        fn lost(&self, lost: u64) -> Lost {
            let (in_flight, app_limited) = (Segments(150), false);
            Lost { now: self.now, lost, prior_lost: 0, in_flight, app_limited, begins_range: true }
        }

        /// Segments per second.
        fn pacing(&self) -> f64 {
            self.law.pacing().unwrap().0 as f64 / 1e4
        }

        /// In ProbeBW at 1000 segments per second.
        fn probing() -> TestSender {
            TestSender::probing_with(Bbr1Spec::default())
        }

        fn probing_in_linux() -> TestSender {
            TestSender::probing_with(Bbr1Spec { edition: Bbr1Edition::Linux, ..Bbr1Spec::default() })
        }

        fn probing_with(spec: Bbr1Spec) -> TestSender {
            let mut sender = TestSender::new(spec);
            [400.0, 1000.0, 1000.0, 1000.0, 1000.0].into_iter().for_each(|rate| sender.round(rate, 100));
            assert!(matches!(sender.law.memory.state, State::ProbeBw { .. }), "{:?}", sender.law.memory.state);
            sender
        }

        fn set_phase(&mut self, phase: u8) {
            self.law.memory.state = State::ProbeBw { phase, since: self.now };
        }

        fn phase(&self) -> u8 {
            let State::ProbeBw { phase, .. } = self.law.memory.state else { panic!("{:?}", self.law.memory.state) };
            phase
        }
    }

    fn near(value: f64, wanted: f64) -> bool {
        (value / wanted - 1.0).abs() < 1e-3
    }

    #[test]
    fn rounds_are_counted_by_samples_even_if_more_segments_are_acknowledged() {
        let mut sender = TestSender::new(Bbr1Spec::default());
        sender.round(100.0, 10);
        // With 15 acknowledgements without a sample, 25 segments are acknowledged; the next sample counts 20.
        let now = sender.now;
        (0..15).for_each(|_| sender.law.on_ack(&Ack::of_one(now)));
        sender.after(100, 100.0, 10, 10);
        let count = sender.law.memory.rounds.count;
        sender.after(100, 100.0, 10, 20);
        assert_eq!(sender.law.memory.rounds.count, count + 1);
    }

    #[test]
    fn the_first_rtt_of_data_sets_the_initial_rate() {
        let mut sender = TestSender::new(Bbr1Spec::default());
        assert!(near(sender.pacing(), HIGH_GAIN * 10.0 / 1e-3));
        sender.round(50.0, 10);
        assert!(near(sender.pacing(), HIGH_GAIN * 10.0 / 0.1));
    }

    #[test]
    fn startup_ends_after_three_rounds_without_a_growth_of_a_quarter() {
        let mut sender = TestSender::new(Bbr1Spec::default());
        for rate in [400.0, 800.0, 1000.0, 1100.0, 1200.0] {
            sender.round(rate, 1000);
            assert_eq!(sender.law.memory.state, State::Startup);
            assert!(near(sender.pacing(), HIGH_GAIN * rate.max(100.0)));
        }
        // For the third time the growth is below a quarter: 1249 after 1000.
        sender.round(1249.0, 1000);
        assert_eq!(sender.law.memory.state, State::Drain);
        assert!(near(sender.pacing(), 1249.0 / HIGH_GAIN));
        // The bandwidth-delay product is 124.9 segments, plus three quanta of two segments at 4.3 Mbit/s.
        sender.round(1249.0, 131);
        assert_eq!(sender.law.memory.state, State::Drain);
        sender.round(1249.0, 130);
        assert_ne!(sender.phase(), 1);
    }

    #[test]
    fn the_window_is_two_products_and_an_allowance_for_aggregation() {
        let mut sender = TestSender::probing();
        sender.set_phase(2);
        (0..40).for_each(|_| sender.after(1, 1000.0, 100, 0));
        // 10 Mbit/s: quanta of two segments.
        assert_eq!(sender.law.window().0, 2.0 * 100.0 + 3.0 * 2.0);
    }

    #[test]
    fn a_phase_lasts_an_rtt_and_the_phase_of_faster_pacing_until_more_is_in_flight() {
        let mut sender = TestSender::probing();
        sender.set_phase(0);
        sender.after(101, 1000.0, 120, 0);
        assert_eq!((sender.phase(), sender.pacing().round()), (0, 1250.0));
        // 125 and three quanta, before the acknowledgement.
        sender.after(1, 1000.0, 121, 0);
        assert_eq!((sender.phase(), sender.pacing().round()), (1, 750.0));
        // The phase ends immediately if no more than one product is left, otherwise after an RTT.
        sender.after(1, 1000.0, 96, 0);
        assert_eq!((sender.phase(), sender.pacing().round()), (2, 1000.0));
        sender.after(100, 1000.0, 96, 0);
        assert_eq!(sender.phase(), 2);
        sender.after(1, 1000.0, 96, 0);
        assert_eq!(sender.phase(), 3);
    }

    #[test]
    fn a_rate_sample_lasts_for_ten_rounds() {
        let mut sender = TestSender::probing();
        (0..10).for_each(|_| sender.round(500.0, 100));
        assert_eq!(sender.law.memory.bandwidth(), 1000.0);
        sender.round(500.0, 100);
        assert_eq!(sender.law.memory.bandwidth(), 500.0);
    }

    #[test]
    fn a_minimum_rtt_not_confirmed_for_ten_seconds_is_measured_with_four_segments() {
        let mut sender = TestSender::probing();
        let before = sender.law.window().0;
        sender.law.memory.rtprop.set(TimeDelta::from_millis(90), sender.now);
        sender.after(10_000, 1000.0, 100, 0);
        assert!(sender.law.window().0 > MIN);
        sender.after(1, 1000.0, 100, 0);
        assert_eq!((sender.law.window().0, sender.law.memory.rtprop.value), (MIN, Some(TimeDelta::from_millis(100))));
        sender.after(50, 1000.0, 4, 0);
        // For 200 ms and one RTT from now on.
        let began = sender.delivered;
        sender.after(150, 40.0, 4, began);
        sender.after(50, 40.0, 4, began);
        assert_eq!(sender.law.window().0, MIN);
        sender.after(1, 40.0, 4, began);
        assert!(sender.law.window().0 >= before, "{} {before}", sender.law.window().0);
        // Data sent with four segments does not measure the path's bandwidth.
        assert_eq!(sender.law.memory.bandwidth(), 1000.0);
    }

    #[test]
    fn a_loss_holds_the_window_for_its_repair_and_a_timeout_until_all_is_acknowledged() {
        let mut sender = TestSender::probing();
        sender.set_phase(2);
        (0..40).for_each(|_| sender.after(1, 1000.0, 100, 0));
        let window = sender.law.window().0;
        sender.law.on_congestion(&sender.loses(150));
        assert_eq!(sender.law.window().0, 151.0);
        // In the first round the losses leave the pipe, and so the window: 150 of 151 in flight, of them five lost.
        sender.now += TimeDelta::from_millis(1);
        (1..=5).for_each(|lost| sender.law.on_lost(&sender.lost(lost)));
        assert_eq!(sender.law.window().0, 146.0);
        sender.law.on_other_ack(&Ack { in_flight: Segments(150), ..Ack::of_one(sender.now) });
        assert_eq!(sender.law.window().0, 146.0);
        // Another recovery begins before new data is acknowledged outside the first.
        sender.law.on_congestion(&sender.loses(20));
        assert_eq!(sender.law.window().0, 146.0);
        sender.after(1, 1000.0, 140, 0);
        assert_eq!(sender.law.window().0, window);
        sender.law.on_congestion(&sender.loses(20));
        assert_eq!(sender.law.window().0, 21.0);
        sender.after(1, 1000.0, 140, 0);
        sender.law.on_timeout(&sender.loses(25));
        assert_eq!(sender.law.window().0, 1.0);
        let windows = [0; 3].map(|_| {
            sender.after(1, 1000.0, 10, 0);
            sender.law.window().0
        });
        assert_eq!(windows, [11.0, 21.0, window]);
    }

    #[test]
    fn the_first_round_of_recovery_begins_after_its_first_acknowledgement_and_has_no_minimum_window() {
        let mut sender = TestSender::probing();
        sender.set_phase(2);
        (0..40).for_each(|_| sender.after(1, 1000.0, 100, 0));
        // One segment is left in flight. It was sent after the last acknowledgement, and so its own ends the round before.
        let before = sender.delivered;
        sender.law.on_congestion(&Congestion { pipe: Segments(1), ..sender.loses(2) });
        assert_eq!([sender.deliver_last(before), sender.deliver_last(before)], [2.0, 2.0]);
        // In the next round the window is at least four.
        assert_eq!(sender.deliver_last(before + 1), 4.0);
    }

    #[test]
    fn the_window_allows_for_aggregated_acknowledgements_of_the_last_rounds() {
        let mut sender = TestSender::probing_with(Bbr1Spec { ack_aggregation: true, ..Bbr1Spec::default() });
        sender.set_phase(2);
        let window = |sender: &mut TestSender| {
            (0..40).for_each(|_| sender.after(0, 1000.0, 100, 0));
            sender.law.window().0
        };
        // Forty acknowledgements of ten segments at one instant are an excess of at most the window, and count as at most 100 ms of the
        // bandwidth.
        assert_eq!(window(&mut sender), 2.0 * 100.0 + 3.0 * 2.0 + 100.0);
        // Ten segments per RTT of 100 ms: after ten rounds, an acknowledgement of ten segments is the greatest excess.
        (0..11).for_each(|_| sender.round(1000.0, 100));
        assert_eq!(sender.law.window().0, 2.0 * 100.0 + 3.0 * 2.0 + 10.0);
    }

    #[test]
    fn in_linux_limits_on_data_in_flight_are_even_and_greater_by_two_while_probing() {
        let mut sender = TestSender::probing_in_linux();
        sender.set_phase(2);
        // 100.5 segments and three quanta of two are 107 at least.
        sender.law.memory.rtprop.set(TimeDelta::from_micros(100_500), sender.now);
        assert_eq!(sender.law.memory.inflight(1.0), 108.0);
        sender.set_phase(0);
        assert_eq!(sender.law.memory.inflight(1.0), 110.0);
    }

    #[test]
    fn in_linux_the_phase_of_faster_pacing_ends_at_a_loss_after_an_rtt() {
        let mut sender = TestSender::probing_in_linux();
        sender.set_phase(0);
        sender.law.on_congestion(&sender.loses(110));
        sender.after(50, 1000.0, 110, 0);
        sender.law.on_lost(&sender.lost(1));
        sender.after(0, 1000.0, 110, 0);
        // In recovery, but without a new loss.
        sender.after(51, 1000.0, 110, 0);
        assert_eq!(sender.phase(), 0);
        sender.law.on_lost(&sender.lost(2));
        sender.after(0, 1000.0, 110, 0);
        assert_eq!(sender.phase(), 1);
        // 125 segments, three quanta of two, and two: 134. One quantum is about to leave.
        sender.set_phase(0);
        sender.after(101, 1000.0, 121, 0);
        assert_eq!(sender.phase(), 0);
        sender.after(1, 1000.0, 122, 0);
        assert_eq!(sender.phase(), 1);
    }

    #[test]
    fn in_linux_only_a_lower_rtt_of_the_last_segment_renews_the_minimum() {
        let mut sender = TestSender::probing_in_linux();
        let stamp = sender.law.memory.rtprop.stamp;
        sender.after(5_000, 1000.0, 100, 0);
        assert_eq!(sender.law.memory.rtprop.stamp, stamp);
        // The timestamp of a delayed acknowledgement is older than the last segment.
        let delivered = sender.delivered + 2;
        let sample = RateSample {
            rate: 1000.0,
            app_limited: false,
            delivered,
            prior_delivered: 0,
            prior_lost: 0,
            in_flight: Segments(100),
            rtt: Some(TimeDelta::from_millis(99)),
        };
        let signal = Signal { delivered_rate: Some(sample), ..Signal::default() };
        sender.law.on_ack(&Ack { rtt: Some(TimeDelta::from_millis(105)), signal, ..Ack::of_one(sender.now) });
        assert_eq!(sender.law.memory.rtprop.value, Some(TimeDelta::from_millis(99)));
    }

    #[test]
    fn in_linux_a_timeout_leaves_one_segment_more_than_is_in_flight() {
        let mut sender = TestSender::probing_in_linux();
        sender.law.on_timeout(&sender.loses(25));
        // 22 of them are lost.
        (1..=22).for_each(|lost| sender.law.on_lost(&sender.lost(lost)));
        assert_eq!(sender.law.window().0, 4.0);
    }

    #[test]
    fn a_spurious_loss_restores_the_window_and_keeps_the_model() {
        let mut sender = TestSender::probing();
        let window = sender.law.window().0;
        sender.law.on_timeout(&sender.loses(25));
        sender.after(1, 1200.0, 20, 0);
        sender.law.on_spurious_loss();
        assert_eq!((sender.law.window().0, sender.law.memory.bandwidth()), (window, 1200.0));
    }
}
