//! CUBIC: after a reduction the window follows a cubic function of time back to its previous size, stays there for a while and then probes
//! beyond (RFC 9438). With whole segments it is the algorithm of Ha, Rhee and Xu, "CUBIC: a new TCP-friendly high-speed TCP variant",
//! Operating Systems Review 42(5), 2008, as in Linux ([`whole_segments`]).
//!
//! Differs: slow start is that of the flow (section 4.10 recommends HyStart++); a spurious reduction is undone only where the recovery
//! detects it (section 4.9; `rack_tlp`); in the Reno-friendly region an acknowledgement raises the window to the estimate and never lowers
//! it to it. With whole segments, time stops while the window is not in use (section 5.8), which the paper does not consider.

mod whole_segments;

use super::support::reno_like::{Avoidance, RenoLike};
use super::support::window::Window;
use super::support::{Abilities, Ack, Congestion, RoundTrip, Start};
use crate::primitives::math::cbrt;
use crate::primitives::units::{Cwnd, Time, TimeDelta};
use crate::settings::{Kind, PlainWords, Settings, member, words};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use whole_segments::{Counted, Growth, MAX_CNT_WITHOUT_W_MAX};

/// C of section 4.1.1 in segments per cubed second, beta, and the alpha of figure 4 that makes AIMD with that beta as fast as Reno.
const C: f64 = 0.4;
const BETA: f64 = 0.7;
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

member! {
    /// The window follows a cubic function of the time since the last loss.
    Cubic = "cubic", "RFC 9438";

    pub struct CubicSpec {
        /// Fast convergence: a flow that loses again before it has regained its previous maximum window releases bandwidth to others
        /// (section 4.7).
        fast_convergence: bool = true => Kind::Boolean,
        /// Granularity of the window: real numbers, as in RFC 9438, or whole segments, as in Linux.
        steps: Steps = Steps::Fractions => Kind::Words(&Steps::WORDS),
    }
}

words! {
    /// Granularity in which CUBIC's window grows.
    pub enum Steps ("window growth") {
        /// The window is a real number, as in RFC 9438.
        Fractions = "fractions",
        /// The window and the estimate of AIMD are whole numbers, and the distance to the curve is computed at most 32 times per second
        /// while the window is constant, as in Linux (Ha, Rhee and Xu 2008).
        WholeSegments = "whole_segments",
    }
}

impl Settings for CubicSpec {
    fn samples() -> Vec<CubicSpec> {
        let with = |steps| [true, false].map(|fast_convergence| CubicSpec { fast_convergence, steps });
        Steps::ALL.iter().flat_map(|&steps| with(steps)).collect()
    }
}

pub type Cubic = RenoLike<CubicLaw>;

/// Windows in segments, with the names of the RFC.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CubicLaw {
    spec: CubicSpec,
    /// The window just before the last reduction.
    cwnd_prior: f64,
    /// W_max: the plateau of the curve, in general the window before the last reduction.
    w_max: f64,
    /// K: seconds from the beginning of the stage to `w_max`.
    k: f64,
    /// W_est: the window of AIMD.
    w_est: f64,
    stage: Stage,
    /// The stage began at W_max, because the capacity of the path is unknown.
    w_max_is_unknown: bool,
    /// RTT by which the target is ahead: the average of the retransmission timer, or with whole segments the minimum (dMin of the paper).
    ahead: TimeDelta,
    /// Tick of the clock, with whole segments.
    jiffy: TimeDelta,
    growth: Growth,
}

/// The present stage of congestion avoidance. Its time advances only while the window is in use (sections 4.2 and 5.8).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Stage {
    /// Will begin at W_max: the capacity is unknown, or a timeout has invalidated it (sections 4.8 and 4.10).
    DueAtWMax,
    /// Will begin below W_max: the window has been reduced.
    DueBelowWMax,
    /// `epoch_start`: the time at which it would have begun without pauses.
    Active { epoch_start: Time },
    /// Since this time after `epoch_start`.
    Paused(TimeDelta),
}

impl Cubic {
    pub(super) fn new(spec: &CubicSpec, start: Start) -> Cubic {
        let law = CubicLaw {
            spec: *spec,
            cwnd_prior: 0.0,
            w_max: 0.0,
            k: 0.0,
            w_est: 0.0,
            stage: Stage::DueAtWMax,
            w_max_is_unknown: true,
            ahead: TimeDelta::ZERO,
            jiffy: start.jiffy,
            growth: Growth::default(),
        };
        let window = law.rounded(Cwnd(start.window));
        RenoLike::of(law, Start { window, ..start })
    }
}

impl Avoidance for CubicLaw {
    const ABILITIES: Abilities =
        Abilities { quantities: &["W_max_packets", "K_s", "W_est_packets", "cwnd_prior_packets"], ..Abilities::NONE };

    fn quantity(&self, index: usize) -> f64 {
        [self.w_max, self.k, self.w_est, self.cwnd_prior].get(index).copied().unwrap_or(f64::NAN)
    }

    fn measure(&mut self, measured: &RoundTrip) {
        self.ahead = match self.spec.steps {
            Steps::Fractions => measured.smoothed.unwrap_or(self.ahead),
            Steps::WholeSegments if self.ahead == TimeDelta::ZERO => measured.sample,
            Steps::WholeSegments => self.ahead.min(measured.sample),
        };
    }

    fn adjust(&mut self, ack: &Ack, _: &mut Window<'_>) -> ControlFlow<()> {
        if !ack.window_validated
            && let Stage::Active { epoch_start } = self.stage
        {
            self.stage = Stage::Paused(ack.now.since(epoch_start));
        }
        ControlFlow::Continue(())
    }

    /// Sections 4.2 to 4.5.
    fn grow(&mut self, ack: &Ack, window: Cwnd, counted: f64) -> f64 {
        let time = self.time_in_stage(ack.now, window);
        match self.spec.steps {
            Steps::Fractions => self.grow_by_fractions(time, window, counted),
            Steps::WholeSegments => self.grow_by_segments(ack.now, time, window, counted),
        }
    }

    /// Sections 4.6 and 4.7. The paper reduces the window, whatever part of it is in flight.
    fn respond(&mut self, seen: &Congestion, window: &mut Window<'_>) {
        let before = *window.cwnd;
        let (beta, reduced) = match self.spec.steps {
            Steps::Fractions => (BETA, f64::from(seen.in_flight.0) * BETA),
            Steps::WholeSegments => (whole_segments::BETA, (before * whole_segments::BETA).floor()),
        };
        let gives_way = self.spec.fast_convergence && before < self.w_max;
        let w_max = if gives_way { before * (1.0 + beta) / 2.0 } else { before };
        self.w_max = self.rounded(Cwnd(w_max));
        self.cwnd_prior = before;
        window.reduce_to(Cwnd(reduced), seen.min_window);
        self.stage = Stage::DueBelowWMax;
    }

    /// Section 4.9. Linux restores the window and the threshold only: the stage begins again, at the restored window.
    fn undo(&mut self, before: CubicLaw) {
        if self.spec.steps == Steps::Fractions {
            *self = before;
        }
    }

    /// Section 4.8.
    fn restart(&mut self, _: Time) {
        self.stage = Stage::DueAtWMax;
    }

    /// Section 5.8.
    fn pause(&mut self, idle: TimeDelta) {
        if let Stage::Active { epoch_start } = &mut self.stage {
            *epoch_start += idle;
        }
    }

    /// The same limit applies to AIMD.
    fn limit(&mut self, max: Cwnd) -> Cwnd {
        let max = self.rounded(max);
        self.w_est = self.w_est.min(max);
        Cwnd(max)
    }
}

impl CubicLaw {
    fn grow_by_fractions(&mut self, Seconds(time): Seconds, Cwnd(window): Cwnd, counted: f64) -> f64 {
        self.w_est += self.alpha() * counted / window;
        if self.w_cubic(time) < self.w_est {
            return window.max(self.w_est);
        }
        let target = self.w_cubic(time + self.ahead.seconds()).clamp(window, 1.5 * window);
        window + ((target - window) * counted / window).min(target - window)
    }

    fn grow_by_segments(&mut self, now: Time, Seconds(time): Seconds, window: Cwnd, counted: f64) -> f64 {
        match self.growth.count(counted, window, now, self.jiffy) {
            Counted::Kept => {}
            Counted::Estimate(increase) => {
                self.w_est += increase;
                self.growth.follow(window, Cwnd(self.w_est));
            }
            Counted::Target(increase) => {
                self.w_est += increase;
                // Whole segments from W_max, as observed: otherwise the window is back a tenth of a second later, at one BDP.
                let on_the_curve = self.w_max + (self.w_cubic(time + self.ahead.seconds()) - self.w_max).trunc();
                let max = if self.w_max_is_unknown { MAX_CNT_WITHOUT_W_MAX } else { f64::INFINITY };
                self.growth.aim(window, Cwnd(on_the_curve.max(self.w_est)), max);
            }
        }
        self.growth.grow(window, counted)
    }

    /// W_cubic(t), figure 1.
    fn w_cubic(&self, t: f64) -> f64 {
        let from_w_max = t - self.k;
        C * from_w_max * from_w_max * from_w_max + self.w_max
    }

    /// The estimate's increase per RTT: that of Reno once the previous window is reached (section 4.3).
    fn alpha(&self) -> f64 {
        if self.w_est >= self.cwnd_prior { 1.0 } else { ALPHA }
    }

    /// Rounds the window to the granularity of the setting.
    fn rounded(&self, Cwnd(window): Cwnd) -> f64 {
        match self.spec.steps {
            Steps::Fractions => window,
            Steps::WholeSegments => window.floor().max(1.0),
        }
    }

    /// t. A due stage begins now.
    fn time_in_stage(&mut self, now: Time, window: Cwnd) -> Seconds {
        let epoch_start = match self.stage {
            Stage::Active { epoch_start } => epoch_start,
            Stage::Paused(t) => Time(now.since(Time(t.0)).0),
            Stage::DueAtWMax | Stage::DueBelowWMax => {
                self.begin(window);
                now
            }
        };
        self.stage = Stage::Active { epoch_start };
        Seconds(now.since(epoch_start).seconds())
    }

    /// Figure 2. A window at or above W_max starts without a concave part.
    fn begin(&mut self, Cwnd(window): Cwnd) {
        self.w_max_is_unknown = matches!(self.stage, Stage::DueAtWMax);
        if self.w_max_is_unknown {
            self.w_max = window;
        }
        self.w_max = self.w_max.max(window);
        self.cwnd_prior = self.cwnd_prior.max(window);
        self.k = cbrt((self.w_max - window) / C);
        self.w_est = window;
        self.growth = Growth::default();
    }
}

/// Time in a stage.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Seconds(f64);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Controller;
    use crate::congestion::support::model_sender::ModelSender;
    use crate::primitives::random::{Entity, Purpose, Stream};

    fn at(seconds: f64) -> Time {
        Time(TimeDelta::from_seconds(seconds).0)
    }

    fn sender(window: f64, fast_convergence: bool) -> ModelSender<Cubic> {
        ModelSender::new(Cubic::new(
            &CubicSpec { fast_convergence, ..CubicSpec::default() },
            Start { window, ssthresh: window, ..Start::default() },
        ))
        .with_round_trip(100)
    }

    /// In congestion avoidance since time 0, reduced from `window`.
    fn reduced_from(window: f64) -> ModelSender<Cubic> {
        let mut sender = sender(window, true);
        sender.lose(window as u32);
        sender.ack(1);
        sender
    }

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
    }

    #[test]
    fn a_flow_reduced_at_288_segments_recovers_in_6_seconds() {
        // 0.3 * 288 / 0.4 = 216 = 6^3
        let law = reduced_from(288.0).law;
        near(law.memory.avoidance.k, 6.0);
        near(law.memory.avoidance.w_cubic(0.0), 201.6);
        near(law.memory.avoidance.w_cubic(4.0), 284.8);
        near(law.memory.avoidance.w_cubic(6.0), 288.0);
        near(law.memory.avoidance.w_cubic(9.0), 298.8);
    }

    #[test]
    fn an_acknowledgement_covers_one_windowth_of_the_distance_to_the_curve_one_rtt_ahead() {
        let mut sender = reduced_from(288.0);
        let before = sender.law.window().0;
        near(sender.ack_after(3900), before + (284.8 - before) / before);
    }

    #[test]
    fn the_target_is_at_most_half_a_window_away() {
        // W_cubic(26) = 288 + 0.4 * 20^3 = 3488
        let mut sender = reduced_from(288.0);
        let before = sender.law.window().0;
        near(sender.ack_after(25_900), before + 0.5);
    }

    #[test]
    fn where_the_curve_is_slower_than_reno_the_window_follows_reno() {
        // 36 -> 25.2; alpha = 0.9 / 1.7
        let mut sender = reduced_from(36.0);
        let first = 25.2 + 0.9 / 1.7 / 25.2;
        near(sender.law.window().0, first);
        near(sender.ack(2), first + 2.0 * 0.9 / 1.7 / first);
        sender.law.memory.avoidance.w_est = 36.0;
        sender.ack(1);
        near(sender.law.memory.avoidance.w_est, 36.0 + 1.0 / (first + 2.0 * 0.9 / 1.7 / first));
    }

    #[test]
    fn a_second_reduction_below_w_max_lowers_it_to_85_percent_of_the_window() {
        let sender_of = |fast_convergence| {
            let mut sender = sender(100.0, fast_convergence);
            sender.lose(100);
            sender.law.window = 80.0;
            (sender.lose(80), sender.law.memory.avoidance.w_max)
        };
        let (window, w_max) = sender_of(true);
        near(window, 56.0);
        near(w_max, 68.0);
        near(sender_of(false).1, 80.0);
    }

    #[test]
    fn after_a_timeout_the_curve_begins_at_w_max() {
        let mut sender = reduced_from(100.0);
        assert_eq!((sender.time_out(10), sender.law.ssthresh().0), (1.0, 7.0));
        sender.wait(2000);
        (0..6).for_each(|_| {
            sender.ack(1);
        });
        sender.ack_after(1000);
        assert_eq!((sender.law.memory.avoidance.w_max, sender.law.memory.avoidance.k), (7.0, 0.0));
        near(sender.law.memory.avoidance.w_cubic(1.0), 7.4);
        sender.time_out_again(1);
        assert_eq!(sender.law.ssthresh().0, 7.0);
    }

    #[test]
    fn time_stops_while_the_application_has_nothing_to_send() {
        let mut sender = reduced_from(288.0);
        sender.window_validated = false;
        sender.ack_after(1000);
        sender.ack_after(49_000);
        sender.window_validated = true;
        let before = sender.law.window().0;
        let after = sender.ack_after(50_000);
        assert_eq!(sender.law.memory.avoidance.time_in_stage(at(102.9), Cwnd(0.0)), Seconds(3.9));
        // t = 1 + 0.1: 288 - 0.4 * 4.9^3
        near(after, before + (240.9404 - before) / before);
    }

    /// With whole segments: in congestion avoidance since time 0, reduced from `window`, with a first segment acknowledged.
    fn reduced_in_whole_segments_from(window: f64) -> ModelSender<Cubic> {
        let spec = CubicSpec { steps: Steps::WholeSegments, ..CubicSpec::default() };
        let mut sender =
            ModelSender::new(Cubic::new(&spec, Start { window, ssthresh: window, ..Start::default() })).with_round_trip(100);
        sender.lose(1);
        sender.ack(1);
        sender
    }

    /// Number of segments that have to be acknowledged individually now until the window grows by one.
    fn acked_until_growth(sender: &mut ModelSender<Cubic>) -> u32 {
        let before = sender.law.window().0;
        let acked = (1..1000).find(|_| sender.ack(1) > before).unwrap_or_default();
        assert_eq!(sender.law.window().0, before + 1.0);
        acked
    }

    #[test]
    fn in_whole_segments_the_window_grows_when_a_window_over_the_distance_is_acknowledged() {
        // 166 -> 116; (166 - 116) / 0.4 = 5^3
        let mut sender = reduced_in_whole_segments_from(166.0);
        assert_eq!((sender.law.window().0, sender.law.memory.avoidance.k), (116.0, 5.0));
        // W_cubic(0.1) = 166 - 0.4 * 4.9^3 = 118.94, 47 whole segments from 166; 116 / 3 = 38.67, of them one already acknowledged.
        assert_eq!(acked_until_growth(&mut sender), 37);
        // W_cubic(3) = 162.8, three whole ones from 166; 117 / 46 = 2.54
        sender.wait(2900);
        assert_eq!(acked_until_growth(&mut sender), 2);
        // W_cubic(9) = 191.6; 118 / 73 = 1.6, but one for every two is the maximum.
        sender.wait(6000);
        assert_eq!((acked_until_growth(&mut sender), sender.ack(7)), (2, 122.0));
    }

    #[test]
    fn in_whole_segments_an_unknown_path_is_probed_by_one_segment_per_twenty() {
        let spec = CubicSpec { steps: Steps::WholeSegments, ..CubicSpec::default() };
        let start = Start { window: 100.0, ssthresh: 100.0, ..Start::default() };
        let mut sender = ModelSender::new(Cubic::new(&spec, start)).with_round_trip(100);
        assert_eq!([19, 1, 20, 20].map(|acked| sender.ack(acked)), [100.0, 101.0, 102.0, 103.0]);
        // After a loss the curve is followed: 103 -> 72, K = cbrt(31 / 0.4) = 4.26 s, W_cubic(0.1) 28.8 from 103; 72 / 3 = 24.
        sender.lose(103);
        assert_eq!([23, 1].map(|acked| sender.ack(acked)), [72.0, 73.0]);
    }

    #[test]
    fn an_undone_reduction_continues_the_stage_and_in_whole_segments_begins_a_new_one_at_the_window() {
        let after_undo = |mut sender: ModelSender<Cubic>| {
            sender.wait(2000);
            let before = sender.law.clone();
            sender.lose(before.window().0 as u32);
            sender.law.undo_reduction(before.clone());
            assert_eq!((sender.law.window(), sender.law.ssthresh()), (before.window(), before.ssthresh()));
            sender.ack(1);
            let CubicLaw { k, w_max, stage, .. } = sender.law.memory.avoidance;
            let Stage::Active { epoch_start } = stage else { return (k, w_max, Time::NEVER) };
            (k, w_max, epoch_start)
        };
        assert_eq!(after_undo(reduced_from(288.0)), (6.0, 288.0, at(0.0)));
        assert_eq!(after_undo(reduced_in_whole_segments_from(166.0)), (0.0, 116.0, at(2.0)));
    }

    #[test]
    fn in_whole_segments_the_target_is_ahead_by_the_minimum_rtt() {
        let mut sender = reduced_in_whole_segments_from(166.0);
        sender.measure(900);
        assert_eq!(sender.law.memory.avoidance.ahead, TimeDelta::from_millis(100));
        sender.measure(50);
        // The target is computed again after a 32nd of a second: 0.4 * 4.918^3 = 47.6; 116 / (119 - 116) = 38
        sender.wait(32);
        assert_eq!(acked_until_growth(&mut sender), 37);
    }

    #[test]
    fn in_whole_segments_aimd_never_becomes_as_fast_as_reno() {
        // 10 -> 7: 14 acknowledged segments, of them one before, are more than 7 * 15 / 8 = 13.1, at whatever W_est.
        let mut sender = reduced_in_whole_segments_from(10.0);
        sender.law.memory.avoidance.w_est = 20.0;
        sender.wait(32);
        // One for every two acknowledged is the maximum.
        assert_eq!((sender.ack(13), sender.law.memory.avoidance.w_est), (14.0, 21.0));
    }

    #[test]
    fn in_whole_segments_thresholds_are_whole_and_derived_from_the_window() {
        let mut sender = reduced_in_whole_segments_from(9.5);
        assert_eq!((sender.law.window().0, sender.law.ssthresh().0), (6.0, 6.0));
        assert_eq!((sender.time_out(1), sender.law.ssthresh().0), (1.0, 4.0));
        sender.law.window = 2.0;
        assert_eq!(sender.lose(1), 2.0);
        sender.law.limit_window(Cwnd(1.9));
        assert_eq!(sender.law.window().0, 1.0);
    }

    /// Sections 4.1 to 4.8 literally, with their names, in seconds and segments.
    struct Literal {
        cwnd: f64,
        ssthresh: f64,
        w_max: f64,
        cwnd_prior: f64,
        w_est: f64,
        k: f64,
        epoch_start: Option<f64>,
        after_timeout: bool,
    }

    impl Literal {
        fn ack(&mut self, now: f64, segments_acked: f64, rtt: f64) {
            if self.cwnd < self.ssthresh {
                self.cwnd += segments_acked;
                return;
            }
            let epoch_start = *self.epoch_start.get_or_insert_with(|| {
                if self.after_timeout || self.cwnd > self.w_max {
                    self.w_max = self.cwnd;
                }
                self.after_timeout = false;
                self.cwnd_prior = self.cwnd_prior.max(self.cwnd);
                self.k = ((self.w_max - self.cwnd) / 0.4).powf(1.0 / 3.0);
                self.w_est = self.cwnd;
                now
            });
            let w_cubic = |t: f64| 0.4 * (t - self.k).powi(3) + self.w_max;
            let t = now - epoch_start;
            let alpha = if self.w_est >= self.cwnd_prior { 1.0 } else { 3.0 * 0.3 / 1.7 };
            self.w_est += alpha * segments_acked / self.cwnd;
            if w_cubic(t) < self.w_est {
                self.cwnd = self.cwnd.max(self.w_est);
            } else {
                let target = w_cubic(t + rtt).clamp(self.cwnd, 1.5 * self.cwnd);
                self.cwnd += ((target - self.cwnd) / self.cwnd * segments_acked).min(target - self.cwnd);
            }
        }

        fn reduce(&mut self, flight_size: f64) {
            self.cwnd_prior = self.cwnd;
            self.w_max = if self.cwnd < self.w_max { self.cwnd * 1.7 / 2.0 } else { self.cwnd };
            self.ssthresh = (flight_size * 0.7).max(2.0);
            self.epoch_start = None;
        }
    }

    #[test]
    fn on_random_losses_and_marks_the_window_matches_the_rfc() {
        for seed in 0..50 {
            let stream = Stream::new(Entity { seed, name: "cubic", index: 0 }, Purpose::Policy);
            let mut real = sender(20.0, true);
            let mut literal = Literal {
                cwnd: 20.0,
                ssthresh: 20.0,
                w_max: 0.0,
                cwnd_prior: 0.0,
                w_est: 0.0,
                k: 0.0,
                epoch_start: None,
                after_timeout: true,
            };
            for step in 0..4000 {
                let draw = stream.bits(step);
                let flight = literal.cwnd as u32;
                match draw % 500 {
                    0 => {
                        real.time_out(flight);
                        literal.reduce(f64::from(flight));
                        (literal.cwnd, literal.after_timeout) = (1.0, true);
                    }
                    1..4 => {
                        real.lose(flight);
                        literal.reduce(f64::from(flight));
                        (literal.cwnd, literal.after_timeout) = (literal.ssthresh, false);
                    }
                    4..8 => {
                        // Figure 5: for ECE the window may go down to one segment, the threshold may not.
                        real.mark(flight);
                        literal.reduce(f64::from(flight));
                        (literal.cwnd, literal.after_timeout) = ((f64::from(flight) * 0.7).max(1.0), false);
                    }
                    _ => {
                        // One at a time in slow start: this section does not define how several pass the threshold.
                        let acked = if literal.cwnd < literal.ssthresh { 1 } else { 1 + (draw >> 20) as u32 % 2 };
                        real.wait(1 + (draw >> 32) % 20);
                        real.ack(acked);
                        literal.ack(real.now.since(Time::ZERO).seconds(), acked.into(), 0.1);
                    }
                }
                let (found, expected) = (real.law.window().0, literal.cwnd);
                assert!((found - expected).abs() < 1e-6 * expected, "seed {seed}, step {step}: {found}, not {expected}");
            }
        }
    }
}
