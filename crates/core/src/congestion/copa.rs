//! Copa: the window moves towards the rate 1/(delta dq), where dq is the queueing delay, so that a flow keeps about 1/delta packets queued
//! and empties the queue every few RTTs (Arun and Balakrishnan, Copa: Practical Delay-Based Congestion Control for the Internet, NSDI 2018,
//! whose names and section numbers are used here).
//!
//! Differs: the time windows of the minimum and maximum RTT may omit their oldest sixteenth. At a velocity of one, lambda is that of the
//! packet whose RTT was measured: the data in flight when it was sent, per RTTstanding. Of a single flow this is the rate of the link, as
//! section 3 assumes. The present window is already smaller when the queue shrinks, so that a flow whose bandwidth-delay product is W
//! packets would turn with (sqrt(W^2 + 4/delta^2) - W)/2 packets in the queue, never empty it, and mistake itself for a competitor. The
//! five RTTs of 2.2, those of section 3's cycle at a velocity of one, are not counted while a flow reduces its window faster, as it does
//! after slow start. A queue is nearly empty (2.2) also while its delay is less than a packet of the flow takes, half of its share at
//! equilibrium, or the packets that are acknowledged at once. A velocity above one ends as soon as a step goes in the other direction, and
//! not only at the end of the window, as in mvfst. It is limited to a doubling of the window per RTT, and the window is at least two
//! segments. In the paper no loss reduces the window; but in a buffer too short for a noticeable delay, the target is infinite whatever is
//! lost, and flows have sent thirteen packets for each that arrived. Therefore an RTT with a loss rate above a tenth sets the window to the
//! segments delivered in it. The paper does not specify timeouts: after one the flow restarts from two segments, in slow start up to half
//! of its window. A mark counts as a loss.
//!
//! Where its queue, 2.5/delta packets of all flows, barely fits into the buffer, losses occur in bursts, in competitive mode or not, and
//! recovery by SACK alone (RFC 6675) waits for a timeout whenever a retransmission is lost: a flow with a buffer of five packets (20
//! Mbit/s, 40 ms) used 0.26 of the link, with RACK-TLP 0.99.
//!
//! Flows whose shares of the bandwidth-delay product are below about four packets often mistake one another for competitors, because their
//! windows, of at least two segments, do not empty the queue: ten flows over 10 Mbit/s with 40 ms queued 62 packets, with
//! `competitive_mode = false` 21. A single flow queued 2 to 5 packets over each of 176 paths of 0.5 to 100 Mbit/s and 1 to 300 ms.

use super::support::heap_state::HeapState;
use super::support::windowed_max::WindowedMax;
use super::support::{Abilities, Ack, Cause, Congestion, Controller, Lost, RoundTrip, Start, Subscriptions};
use crate::primitives::units::{Bytes, Cwnd, Rate, Time, TimeDelta};
use crate::settings::{ABOVE_ZERO, Kind, Settings, member};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

member! {
    /// Keeps about 1/delta packets queued, and empties the queue every few RTTs. Works best with
    /// RACK-TLP if buffers are short.
    Copa = "copa", "Arun and Balakrishnan, NSDI 2018";

    pub struct CopaSpec {
        /// Weight of delay against throughput; about 1/delta packets are kept queued.
        delta: f64 = 0.5 => Kind::Number { min: 1e-3, max: 1e3 },
        /// Competitive mode: lower delta while buffer-filling flows share the queue, by additive increase and multiplicative decrease of
        /// 1/delta.
        competitive_mode: bool = true => Kind::Boolean,
        /// Lifetime of the minimum RTT (RTTmin).
        min_rtt_filter_len: TimeDelta = TimeDelta::from_millis(10_000) => ABOVE_ZERO,
    }
}

impl Settings for CopaSpec {
    fn samples() -> Vec<CopaSpec> {
        let usual = CopaSpec::default();
        let eager = CopaSpec { delta: 0.04, competitive_mode: false, ..usual };
        vec![usual, eager, CopaSpec { delta: 10.0, min_rtt_filter_len: TimeDelta::from_millis(1), ..usual }]
    }
}

/// Minimum window in segments. With one segment the flow would wait for the delayed acknowledgement.
const MIN: f64 = 2.0;
/// A queue is nearly empty if its delay is below this fraction of the RTT's range (2.2), or that of one packet.
const NEARLY_EMPTY: f64 = 0.1;
/// RTTs covered by RTTmax (2.2).
const SWING_ROUNDS: u64 = 4;
/// RTTs without a nearly empty queue after which other flows must be filling it (2.2).
const FULL_ROUNDS: u64 = 5;
/// Loss rate in a window above which the window is reduced to the delivered segments.
const TOO_MANY_LOST: f64 = 0.1;
/// RTTs in one direction before the velocity doubles; without competing flows the direction changes every two and a half RTTs (2.1, 3).
const STEADY_ROUNDS: u32 = 3;

pub type Copa = HeapState<CopaMemory>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Direction {
    Up,
    Down,
}

/// v of 2.1: a window changes by v/delta segments per RTT.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Velocity {
    v: f64,
    direction: Option<Direction>,
    /// RTTs in that direction.
    rounds: u32,
}

/// How the other flows are classified (2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Mode {
    Default,
    Competitive,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CopaMemory {
    spec: CopaSpec,
    packet: Bytes,
    starts_slowly: bool,
    /// Limit of slow start after a timeout.
    ssthresh: f64,
    /// 1/delta, in segments.
    inverse_delta: f64,
    mode: Mode,
    velocity: Velocity,
    /// Start time of the present window, and its size.
    began: (Time, f64),
    srtt: TimeDelta,
    rtt_min: WindowedMax<Reverse<TimeDelta>>,
    rtt_standing: WindowedMax<Reverse<TimeDelta>>,
    rtt_max: WindowedMax<TimeDelta>,
    /// Time at which the queue was last nearly empty.
    emptied: Time,
    /// Segments delivered and lost, and their numbers at the start of the window.
    delivered: u64,
    lost: u64,
    before: (u64, u64),
}

impl Copa {
    pub(super) fn new(spec: &CopaSpec, start: Start) -> Copa {
        let memory = CopaMemory {
            spec: *spec,
            packet: start.packet,
            starts_slowly: true,
            ssthresh: f64::INFINITY,
            inverse_delta: 1.0 / spec.delta,
            mode: Mode::Default,
            velocity: Velocity::REST,
            began: (Time::ZERO, start.window),
            srtt: TimeDelta::ZERO,
            rtt_min: WindowedMax::default(),
            rtt_standing: WindowedMax::default(),
            rtt_max: WindowedMax::default(),
            emptied: Time::ZERO,
            delivered: 0,
            lost: 0,
            before: (0, 0),
        };
        HeapState::with(start, memory)
    }

    /// The steps of 2.1. `opens`: the number of segments for which the acknowledgement may open the window.
    fn process_ack(&mut self, ack: &Ack, opens: f64) {
        self.memory.delivered = match ack.signal.delivered_rate {
            Some(sample) => sample.delivered.max(self.memory.delivered),
            None => self.memory.delivered + u64::from(ack.acked.0),
        };
        if let Some(rtt) = ack.rtt {
            self.memory.measure(ack.now, rtt);
            self.memory.judge_mode(ack, Cwnd(self.window));
            if ack.now.since(self.memory.began.0) >= rtt {
                self.end_round(ack.now);
            }
        }
        let is_below = self.memory.is_below_target(self.window_behind(ack));
        self.memory.velocity.head(if is_below { Direction::Up } else { Direction::Down });
        self.memory.starts_slowly &= is_below && self.window < self.memory.ssthresh;
        let step = self.memory.velocity.v * self.memory.inverse_delta / self.window * opens;
        match is_below {
            true if !self.is_used(ack) => {}
            true if self.memory.starts_slowly => self.window += f64::from(ack.acked.0),
            true => self.window += step,
            false => self.window = (self.window - step).max(MIN),
        }
    }

    /// cwnd of lambda = cwnd/RTTstanding. In the steady state, at a velocity of one, the data in flight when the acknowledged packet was
    /// sent, which caused its RTT.
    fn window_behind(&self, ack: &Ack) -> Cwnd {
        let is_steady = !self.memory.starts_slowly && self.memory.velocity.v <= 1.0;
        match ack.signal.delivered_rate {
            Some(sample) if is_steady => Cwnd(f64::from(sample.in_flight.0)),
            _ => Cwnd(self.window),
        }
    }

    /// Whether the window is used. An unused window does not show the effect of a larger one.
    fn is_used(&self, ack: &Ack) -> bool {
        ack.window_validated || ack.signal.pipe.is_some_and(|pipe| f64::from(pipe.0) + 1.0 >= self.window.floor())
    }

    /// Once per window: all data sent since its start is acknowledged.
    fn end_round(&mut self, now: Time) {
        let memory = &mut *self.memory;
        let (_, before) = memory.began;
        let (delivered, lost) = ((memory.delivered - memory.before.0) as f64, (memory.lost - memory.before.1) as f64);
        memory.before = (memory.delivered, memory.lost);
        if lost > TOO_MANY_LOST * (delivered + lost) {
            self.window = self.window.min(delivered).max(MIN);
            (memory.starts_slowly, memory.velocity) = (false, Velocity::REST);
        }
        memory.began = (now, self.window);
        if memory.starts_slowly {
            return;
        }
        memory.velocity.turn(before, Cwnd(self.window));
        memory.velocity.v = memory.velocity.v.min((self.window / memory.inverse_delta).max(1.0));
        if memory.mode == Mode::Competitive {
            let delta = if lost > 0.0 { memory.inverse_delta / 2.0 } else { memory.inverse_delta + 1.0 };
            memory.inverse_delta = delta.max(1.0 / memory.spec.delta);
        }
    }
}

impl Velocity {
    const REST: Velocity = Velocity { v: 1.0, direction: None, rounds: 0 };

    /// Sets the direction of the next step. A high velocity in the other direction is reset immediately.
    fn head(&mut self, direction: Direction) {
        if self.v > 1.0 && self.direction != Some(direction) {
            *self = Velocity { direction: Some(direction), ..Velocity::REST };
        }
    }

    /// Updates the velocity from one window to the next.
    fn turn(&mut self, before: f64, Cwnd(window): Cwnd) {
        let direction = if window > before { Direction::Up } else { Direction::Down };
        if self.direction != Some(direction) {
            *self = Velocity { direction: Some(direction), rounds: 1, ..Velocity::REST };
            return;
        }
        self.rounds += 1;
        self.v = if self.rounds > STEADY_ROUNDS { 2.0 * self.v } else { 1.0 };
    }
}

impl CopaMemory {
    fn measure(&mut self, now: Time, rtt: TimeDelta) {
        self.rtt_min.take_for(self.spec.min_rtt_filter_len, now, Reverse(rtt));
        self.rtt_standing.take_for(TimeDelta(self.srtt.0 / 2), now, Reverse(rtt));
        self.rtt_max.take_for(TimeDelta(self.srtt.0.saturating_mul(SWING_ROUNDS)), now, rtt);
    }

    /// RTTstanding and RTTmin. The smoothed RTT replaces RTTstanding if none was measured recently, as during loss recovery without
    /// timestamps.
    fn round_trips(&self) -> Option<(TimeDelta, TimeDelta)> {
        let Reverse(min) = self.rtt_min.greatest()?;
        let Reverse(standing) = self.rtt_standing.greatest().unwrap_or(Reverse(self.srtt));
        Some((standing, min.min(standing)))
    }

    /// lambda <= lambda_t: cwnd/RTTstanding <= 1/(delta dq).
    fn is_below_target(&self, Cwnd(window): Cwnd) -> bool {
        let Some((standing, min)) = self.round_trips() else { return true };
        window * (standing - min).seconds() <= self.inverse_delta * standing.seconds()
    }

    /// Whether the flow empties a queue by itself, after slow start for instance: only at a velocity of one does it do so every five RTTs.
    fn is_draining(&self) -> bool {
        self.mode == Mode::Default && self.velocity.v > 1.0 && self.velocity.direction == Some(Direction::Down)
    }

    /// Mode selection of 2.2.
    fn judge_mode(&mut self, ack: &Ack, Cwnd(window): Cwnd) {
        let (Some((standing, min)), Some(longest)) = (self.round_trips(), self.rtt_max.greatest()) else { return };
        let swing = (longest - min).seconds();
        // The packets of an acknowledgement take this long, so that less is no queue: those sent because of the last one were a burst, too. Where
        // 1/delta packets are the whole swing, a tenth of it is less.
        let burst = f64::from(ack.acked.0.max(1)) * standing.seconds() / window;
        if (standing - min).seconds() <= burst.max(NEARLY_EMPTY * swing) || self.starts_slowly || self.is_draining() {
            self.emptied = ack.now;
        }
        let is_filled = ack.now.since(self.emptied).0 > self.srtt.0.saturating_mul(FULL_ROUNDS);
        self.mode = if self.spec.competitive_mode && is_filled { Mode::Competitive } else { Mode::Default };
        if self.mode == Mode::Default {
            self.inverse_delta = 1.0 / self.spec.delta;
        }
    }
}

impl Controller for Copa {
    const ABILITIES: Abilities = Abilities {
        heap_bytes: Self::BYTES,
        ignores_losses: true,
        controls_recovery: true,
        quantities: &["queueing_delay_s", "min_rtt_s", "delta", "velocity"],
        may_pace: true,
        subscriptions: Subscriptions { losses: true, newest_rtt: true, other_acks: true, ..Subscriptions::NONE },
        ..Abilities::NONE
    };

    #[inline]
    fn window(&self) -> Cwnd {
        Cwnd(self.window)
    }

    /// 2 cwnd/RTTstanding, so that it bounds bursts and not the rate (2.1).
    fn pacing(&self) -> Option<Rate> {
        let (standing, _) = self.memory.round_trips()?;
        let bits = 2.0 * self.window * 8.0 * self.memory.packet.0 as f64 / standing.seconds().max(1e-12);
        Some(Rate((bits as u64).max(1)))
    }

    fn quantity(&self, index: usize, _: Time) -> f64 {
        let memory = &self.memory;
        match (index, memory.round_trips()) {
            (0, Some((standing, min))) => (standing - min).seconds(),
            (1, Some((_, min))) => min.seconds(),
            (2, _) => 1.0 / memory.inverse_delta,
            (3, _) => memory.velocity.v,
            _ => f64::NAN,
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.process_ack(ack, f64::from(ack.acked.0));
    }

    /// During loss recovery each acknowledgement counts as one segment.
    fn on_other_ack(&mut self, ack: &Ack) {
        self.process_ack(ack, 1.0);
    }

    fn on_round_trip(&mut self, measured: &RoundTrip) {
        self.memory.srtt = measured.smoothed.unwrap_or(self.memory.srtt);
    }

    /// Losses take effect at the end of the window.
    fn on_lost(&mut self, _: &Lost) {
        self.memory.lost += 1;
    }

    /// Individual losses are counted by `on_lost`; a mark counts as one more.
    fn on_congestion(&mut self, seen: &Congestion) {
        self.memory.lost += u64::from(seen.cause == Cause::Mark);
    }

    fn on_timeout(&mut self, seen: &Congestion) {
        if !seen.repeated {
            self.memory.ssthresh = (self.window / 2.0).max(MIN);
        }
        self.window = MIN;
        self.memory.starts_slowly = true;
        self.memory.velocity = Velocity::REST;
        self.memory.began = (seen.now, MIN);
    }

    /// Pacing prevents bursts.
    fn limit_window(&mut self, _: Cwnd) {}

    fn reduce_initial_window(&mut self, Cwnd(window): Cwnd) {
        self.window = window;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::support::model_sender::ModelSender;
    use crate::primitives::signal::RateSample;
    use crate::primitives::units::Segments;

    /// After slow start, on a path of 100 ms.
    fn sender(window: f64, spec: CopaSpec) -> ModelSender<Copa> {
        let start = Start { window, packet: Bytes(1250), ..Start::default() };
        let mut sender = ModelSender::new(Copa::new(&spec, start)).with_round_trip(100);
        sender.law.memory.starts_slowly = false;
        sender.law.memory.measure(Time::ZERO, TimeDelta::from_millis(100));
        sender
    }

    /// An acknowledgement after this many milliseconds, which is also its RTT. Returns the window.
    fn round(sender: &mut ModelSender<Copa>, milliseconds: u64) -> f64 {
        sender.round_trip = Some(TimeDelta::from_millis(milliseconds));
        sender.ack_after(milliseconds)
    }

    fn near(value: f64, wanted: f64) -> bool {
        (value / wanted - 1.0).abs() < 1e-9
    }

    #[test]
    fn the_window_moves_by_one_over_delta_windows_towards_one_over_delta_dq() {
        // 110 ms over 100: dq is 10 ms, the target 1 / (0.5 * 10 ms) = 200 per second. 20 / 110 ms = 181.8 is below it: 1 / (0.5 * 20)
        // more.
        assert!(near(round(&mut sender(20.0, CopaSpec::default()), 110), 20.1));
        // 25 / 110 ms = 227.3 is above it.
        assert!(near(round(&mut sender(25.0, CopaSpec::default()), 110), 24.92));
        // Delta 0.25: 400 per second, and steps twice as large.
        assert!(near(round(&mut sender(25.0, CopaSpec { delta: 0.25, ..CopaSpec::default() }), 110), 25.16));
    }

    #[test]
    fn at_a_velocity_of_one_lambda_is_of_the_packet_whose_rtt_was_measured() {
        // 110 ms over 100, so that the target is 22 segments per RTT: the window is below it, the data in flight with the packet above.
        let after = |velocity: f64| {
            let mut sender = sender(20.0, CopaSpec::default());
            sender.law.memory.velocity = Velocity { v: velocity, direction: Some(Direction::Up), rounds: 4 };
            let (rtt, now) = (TimeDelta::from_millis(110), Time(TimeDelta::from_millis(100).0));
            sender.law.memory.measure(now, rtt);
            let mut ack = Ack { rtt: Some(rtt), ..Ack::of_one(now) };
            ack.signal.delivered_rate = Some(RateSample {
                rate: 0.0,
                app_limited: false,
                delivered: 30,
                prior_delivered: 5,
                prior_lost: 0,
                in_flight: Segments(25),
                rtt: None,
            });
            sender.law.on_ack(&ack);
            sender.law.window
        };
        assert!(near(after(1.0), 19.9) && near(after(2.0), 20.2), "{} {}", after(1.0), after(2.0));
    }

    #[test]
    fn a_flow_that_drains_its_own_queue_is_not_taken_for_a_competitor() {
        let mut sender = sender(100.0, CopaSpec::default());
        let modes = [150; 12].map(|milliseconds| {
            round(&mut sender, milliseconds);
            (sender.law.memory.velocity.v > 1.0, sender.law.memory.mode)
        });
        // The velocity doubles after three RTTs, before the fifth without an empty queue.
        assert!(modes[4..].iter().all(|&mode| mode == (true, Mode::Default)), "{modes:?}");
    }

    #[test]
    fn without_a_queue_the_target_is_infinite() {
        assert!(near(round(&mut sender(1e6, CopaSpec::default()), 100), 1e6 + 2e-6));
    }

    #[test]
    fn the_standing_rtt_is_the_minimum_over_half_an_rtt() {
        let mut sender = sender(25.0, CopaSpec::default());
        let standing = |sender: &ModelSender<Copa>| sender.law.memory.round_trips().unwrap().0;
        round(&mut sender, 110);
        sender.round_trip = Some(TimeDelta::from_millis(130));
        // The model's smoothed RTT is the sample: half of it is 65 ms, with a resolution of 4.
        sender.ack_after(40);
        assert_eq!(standing(&sender), TimeDelta::from_millis(110));
        sender.ack_after(30);
        assert_eq!(standing(&sender), TimeDelta::from_millis(130));
    }

    #[test]
    fn it_paces_at_two_windows_per_standing_rtt() {
        let mut sender = sender(20.0, CopaSpec::default());
        round(&mut sender, 110);
        // 2 * 20.1 * 10,000 bits in 110 ms.
        assert_eq!(sender.law.pacing(), Some(Rate(3_654_545)));
    }

    #[test]
    fn slow_start_doubles_until_the_rate_is_above_the_target() {
        let mut sender = sender(10.0, CopaSpec::default());
        sender.law.memory.starts_slowly = true;
        sender.round_trip = Some(TimeDelta::from_millis(100));
        assert_eq!((0..10).map(|_| sender.ack_after(1)).last(), Some(20.0));
        // 150 ms: the target is 40 per second, the rate 133.
        sender.wait(100);
        sender.round_trip = Some(TimeDelta::from_millis(150));
        assert!(near(sender.ack(1), 20.0 - 0.1));
        assert!(!sender.law.memory.starts_slowly);
    }

    #[test]
    fn the_velocity_doubles_from_the_fourth_rtt_in_one_direction_and_a_turn_resets_it() {
        let mut velocity = Velocity::REST;
        let mut turns = |pairs: &[(f64, f64)]| -> Vec<f64> {
            let mut turn = |&(before, after): &(f64, f64)| {
                velocity.turn(before, Cwnd(after));
                velocity.v
            };
            pairs.iter().map(&mut turn).collect()
        };
        assert_eq!(turns(&[(1.0, 2.0); 6]), [1.0, 1.0, 1.0, 2.0, 4.0, 8.0]);
        assert_eq!(turns(&[(2.0, 1.0); 4]), [1.0, 1.0, 1.0, 2.0]);
    }

    #[test]
    fn a_velocity_at_most_doubles_the_window_per_rtt() {
        let mut sender = sender(20.0, CopaSpec::default());
        for _ in 0..40 {
            round(&mut sender, 100);
        }
        let velocity = sender.law.memory.velocity.v;
        assert!(velocity > 10.0 && velocity <= sender.law.window().0 / 2.0, "{velocity}");
    }

    #[test]
    fn five_rtts_without_a_nearly_empty_queue_lower_delta_and_a_loss_raises_it() {
        let mut sender = sender(6.0, CopaSpec::default());
        // RTTs from 150 to 200 ms: the delay is never below a tenth of the range of 100 ms, nor the 33 ms of a packet.
        for milliseconds in [150, 200, 150, 200, 150, 200] {
            round(&mut sender, milliseconds);
        }
        assert_eq!(sender.law.memory.mode, Mode::Competitive);
        // One more per RTT, starting with the RTT in which the mode changed.
        let before = sender.law.memory.inverse_delta;
        round(&mut sender, 150);
        assert_eq!(sender.law.memory.inverse_delta, before + 1.0);
        let mut after = |inverse_delta: f64, lost: u64| {
            sender.law.memory.inverse_delta = inverse_delta;
            // Out of a hundred, so that the loss rate is at most a tenth.
            sender.law.memory.delivered += 100;
            sender.law.memory.lost += lost;
            round(&mut sender, 150);
            sender.law.memory.inverse_delta
        };
        assert_eq!([after(10.0, 2), after(3.0, 1), after(10.0, 0)], [5.0, 2.0, 11.0]);
        // The queue is empty once: delta returns to its default.
        sender.law.memory.inverse_delta = 10.0;
        round(&mut sender, 100);
        assert_eq!((sender.law.memory.mode, sender.law.memory.inverse_delta), (Mode::Default, 2.0));
    }

    #[test]
    fn a_delay_of_less_than_a_packet_of_the_flow_is_no_queue() {
        // RTTs from 108 to 150 ms: the least delay, 8 ms, is more than a tenth of the range. A packet of 10 per RTT takes 10.8 ms.
        let mode = |window: f64| {
            let mut sender = sender(window, CopaSpec::default());
            for milliseconds in [108, 150, 108, 150, 108, 150, 108, 150] {
                (sender.law.window, sender.law.memory.velocity) = (window, Velocity::REST);
                round(&mut sender, milliseconds);
            }
            sender.law.memory.mode
        };
        assert_eq!((mode(10.0), mode(20.0)), (Mode::Default, Mode::Competitive));
    }

    #[test]
    fn a_loss_rate_above_a_tenth_sets_the_window_to_the_delivered_segments() {
        let after = |delivered: u64, lost: u64| {
            let mut sender = sender(100.0, CopaSpec::default());
            (sender.law.memory.delivered, sender.law.memory.lost, sender.law.memory.starts_slowly) = (delivered - 1, lost, true);
            // Without a queue, a step up.
            (round(&mut sender, 100), sender.law.memory.starts_slowly)
        };
        assert_eq!(after(90, 10), (101.0, true));
        assert_eq!(after(80, 20), (80.0 + 2.0 / 80.0, false));
    }

    #[test]
    fn competitive_mode_can_be_disabled() {
        let mut sender = sender(100.0, CopaSpec { competitive_mode: false, ..CopaSpec::default() });
        for _ in 0..20 {
            round(&mut sender, 150);
        }
        assert_eq!((sender.law.memory.mode, sender.law.memory.inverse_delta), (Mode::Default, 2.0));
    }

    #[test]
    fn a_loss_keeps_the_window_and_a_timeout_restarts_slow_start() {
        let mut sender = sender(20.0, CopaSpec::default());
        assert_eq!((sender.lose(20), sender.time_out(20)), (20.0, 2.0));
        // In slow start up to ten.
        sender.round_trip = Some(TimeDelta::from_millis(100));
        let windows = [1; 9].map(|milliseconds| sender.ack_after(milliseconds));
        assert_eq!(windows[..8], [3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]);
        assert!(near(windows[8], 10.2));
    }
}
