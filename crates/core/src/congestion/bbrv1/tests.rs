//! The phases and the window of BBR on a path with a known rate.

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
