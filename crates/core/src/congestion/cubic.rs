//! CUBIC: after a reduction the window returns along a cubic curve of time to where it was, stays there a while and then probes beyond
//! (RFC 9438).
//!
//! Differs: slow start is that of RFC 5681, not HyStart++ (section 4.10 recommends it); a reduction that turns out to be needless is not
//! taken back (section 4.9); in the Reno-friendly region an acknowledgement raises the window to the estimate and never lowers it to it.

use super::support::beside::Beside;
use super::{Ack, Congestion, Controller, RoundTrip, Start};
use crate::primitives::math::cbrt;
use crate::primitives::units::{Cwnd, Segments, Span, Time};
use crate::settings::{Kind, Settings, member};
use serde::{Deserialize, Serialize};

/// C of section 4.1.1 in segments per cubed second, beta, and the alpha of figure 4 that lets AIMD with that beta keep pace with Reno.
const C: f64 = 0.4;
const BETA: f64 = 0.7;
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

member! {
    /// A cubic curve of time.
    Cubic = "cubic", "RFC 9438";

    pub struct CubicSpec {
        /// A flow that loses again before it has regained its window gives way to others (section 4.7).
        fast_convergence: bool = true => Kind::Truth,
    }
}

impl Settings for CubicSpec {
    fn samples() -> Vec<CubicSpec> {
        [true, false].map(|fast_convergence| CubicSpec { fast_convergence }).into()
    }
}

pub type Cubic = Beside<CubicMemory>;

/// Windows in segments.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CubicMemory {
    fast_convergence: bool,
    ssthresh: f64,
    /// cwnd_prior: the window just before the last reduction.
    prior: f64,
    /// W_max: where the curve is flat.
    plateau: f64,
    /// K: seconds from the begin of the stage to the plateau.
    to_plateau: f64,
    /// W_est: what AIMD would have.
    estimate: f64,
    stage: Stage,
    /// The round trip, as the retransmission timer averages it.
    smoothed: Span,
}

/// The present stage of congestion avoidance. Its time counts only while the window is in use (sections 4.2 and 5.8).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Stage {
    /// It will begin at its plateau: nothing is known of the path, or a timeout has made it void (sections 4.8 and 4.10).
    DueAtPlateau,
    /// It will begin below it: the window has been reduced.
    DueBelow,
    /// It would have begun then, had it never paused.
    Since(Time),
    Paused(Span),
}

impl Cubic {
    pub(super) fn new(spec: &CubicSpec, start: Start) -> Cubic {
        let memory = CubicMemory {
            fast_convergence: spec.fast_convergence,
            ssthresh: start.ssthresh,
            prior: 0.0,
            plateau: 0.0,
            to_plateau: 0.0,
            estimate: 0.0,
            stage: Stage::DueAtPlateau,
            smoothed: Span::ZERO,
        };
        Beside::with(start, memory)
    }

    fn follow_the_curve(&mut self, now: Time, counted: f64) {
        let memory = &mut *self.memory;
        let time = memory.time_in_stage(now, Cwnd(self.window));
        memory.estimate += memory.alpha() * counted / self.window;
        if memory.curve(time) < memory.estimate {
            self.window = self.window.max(memory.estimate);
        } else {
            let target = memory.curve(time + memory.smoothed.seconds()).clamp(self.window, 1.5 * self.window);
            self.window += ((target - self.window) * counted / self.window).min(target - self.window);
        }
    }
}

impl Controller for Cubic {
    const BYTES_BESIDE: usize = Self::BYTES;

    #[inline]
    fn window(&self) -> f64 {
        self.window
    }

    fn ssthresh(&self) -> f64 {
        self.memory.ssthresh
    }

    /// Slow start as in RFC 5681; sections 4.2 to 4.5 above the threshold.
    fn on_ack(&mut self, ack: &Ack) {
        if !ack.window_limited {
            self.memory.pause(ack.now);
        } else if self.window < self.memory.ssthresh {
            let (opens, left) = ack.slow_start(self);
            self.window += opens;
            if left > 0.0 {
                self.follow_the_curve(ack.now, left);
            }
        } else {
            self.follow_the_curve(ack.now, f64::from(ack.counted.0));
        }
    }

    fn on_round_trip(&mut self, measured: &RoundTrip) {
        self.memory.smoothed = measured.smoothed.unwrap_or(self.memory.smoothed);
    }

    fn on_congestion(&mut self, seen: &Congestion) {
        self.memory.reduce(Cwnd(self.window), seen.in_flight);
        self.memory.stage = Stage::DueBelow;
        self.window = self.memory.ssthresh;
    }

    /// Section 4.8.
    fn on_timeout(&mut self, seen: &Congestion) {
        if !seen.repeated {
            self.memory.reduce(Cwnd(self.window), seen.in_flight);
        }
        self.memory.stage = Stage::DueAtPlateau;
        self.window = 1.0;
    }

    /// AIMD would be limited likewise.
    fn limit_window(&mut self, most: Cwnd) {
        self.window = self.window.min(most.0);
        self.memory.estimate = self.memory.estimate.min(most.0);
    }
}

impl CubicMemory {
    /// W_cubic(t), figure 1.
    fn curve(&self, time: f64) -> f64 {
        let from_plateau = time - self.to_plateau;
        C * from_plateau * from_plateau * from_plateau + self.plateau
    }

    /// The estimate's increase in a round trip: Reno's own once it is back where it was (section 4.3).
    fn alpha(&self) -> f64 {
        if self.estimate >= self.prior { 1.0 } else { ALPHA }
    }

    /// Sections 4.6 and 4.7.
    fn reduce(&mut self, Cwnd(window): Cwnd, in_flight: Segments) {
        let gives_way = self.fast_convergence && window < self.plateau;
        self.plateau = if gives_way { window * (1.0 + BETA) / 2.0 } else { window };
        self.prior = window;
        self.ssthresh = (f64::from(in_flight.0) * BETA).max(2.0);
    }

    /// t in seconds. A stage that is due begins now.
    fn time_in_stage(&mut self, now: Time, window: Cwnd) -> f64 {
        let since = match self.stage {
            Stage::Since(since) => since,
            Stage::Paused(time) => Time(now.since(Time(time.0)).0),
            Stage::DueAtPlateau | Stage::DueBelow => {
                self.begin(window);
                now
            }
        };
        self.stage = Stage::Since(since);
        now.since(since).seconds()
    }

    /// Figure 2. A window that is already at the plateau or above has none before it.
    fn begin(&mut self, Cwnd(window): Cwnd) {
        if matches!(self.stage, Stage::DueAtPlateau) {
            self.plateau = window;
        }
        self.plateau = self.plateau.max(window);
        self.prior = self.prior.max(window);
        self.to_plateau = cbrt((self.plateau - window) / C);
        self.estimate = window;
    }

    fn pause(&mut self, now: Time) {
        if let Stage::Since(since) = self.stage {
            self.stage = Stage::Paused(now.since(since));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::support::model_sender::ModelSender;

    fn at(seconds: f64) -> Time {
        Time(Span::from_seconds(seconds).0)
    }

    fn sender(window: f64, fast_convergence: bool) -> ModelSender<Cubic> {
        ModelSender::new(Cubic::new(&CubicSpec { fast_convergence }, Start { window, ssthresh: window })).with_round_trip(100)
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
    fn a_flow_reduced_at_288_segments_is_back_after_6_seconds() {
        // 0.3 * 288 / 0.4 = 216 = 6^3
        let law = reduced_from(288.0).law;
        near(law.memory.to_plateau, 6.0);
        near(law.memory.curve(0.0), 201.6);
        near(law.memory.curve(4.0), 284.8);
        near(law.memory.curve(6.0), 288.0);
        near(law.memory.curve(9.0), 298.8);
    }

    #[test]
    fn an_acknowledgement_brings_the_window_a_windowth_of_the_way_to_the_curve_a_round_trip_ahead() {
        let mut sender = reduced_from(288.0);
        let before = sender.law.window();
        near(sender.ack_after(3900), before + (284.8 - before) / before);
    }

    #[test]
    fn the_target_is_at_most_half_a_window_away() {
        // W_cubic(26) = 288 + 0.4 * 20^3 = 3488
        let mut sender = reduced_from(288.0);
        let before = sender.law.window();
        near(sender.ack_after(25_900), before + 0.5);
    }

    #[test]
    fn where_the_curve_is_slower_than_reno_the_window_follows_reno() {
        // 36 -> 25.2; alpha = 0.9 / 1.7
        let mut sender = reduced_from(36.0);
        let first = 25.2 + 0.9 / 1.7 / 25.2;
        near(sender.law.window(), first);
        near(sender.ack(2), first + 2.0 * 0.9 / 1.7 / first);
        sender.law.memory.estimate = 36.0;
        sender.ack(1);
        near(sender.law.memory.estimate, 36.0 + 1.0 / (first + 2.0 * 0.9 / 1.7 / first));
    }

    #[test]
    fn a_second_reduction_below_the_plateau_lowers_it_to_85_percent_of_the_window() {
        let sender_of = |fast_convergence| {
            let mut sender = sender(100.0, fast_convergence);
            sender.lose(100);
            sender.law.window = 80.0;
            (sender.lose(80), sender.law.memory.plateau)
        };
        let (window, plateau) = sender_of(true);
        near(window, 56.0);
        near(plateau, 68.0);
        near(sender_of(false).1, 80.0);
    }

    #[test]
    fn after_a_timeout_the_curve_begins_at_its_plateau() {
        let mut sender = reduced_from(100.0);
        assert_eq!((sender.time_out(10), sender.law.ssthresh()), (1.0, 7.0));
        sender.wait(2000);
        (0..6).for_each(|_| {
            sender.ack(1);
        });
        sender.ack_after(1000);
        assert_eq!((sender.law.memory.plateau, sender.law.memory.to_plateau), (7.0, 0.0));
        near(sender.law.memory.curve(1.0), 7.4);
        sender.time_out_again(1);
        assert_eq!(sender.law.ssthresh(), 7.0);
    }

    #[test]
    fn time_stands_still_while_the_application_has_nothing_to_send() {
        let mut sender = reduced_from(288.0);
        sender.window_limited = false;
        sender.ack_after(1000);
        sender.ack_after(49_000);
        sender.window_limited = true;
        let before = sender.law.window();
        let after = sender.ack_after(50_000);
        assert_eq!(sender.law.memory.time_in_stage(at(102.9), Cwnd(0.0)), 3.9);
        // t = 1 + 0.1: 288 - 0.4 * 4.9^3
        near(after, before + (240.9404 - before) / before);
    }
}
