//! Illinois: losses determine whether the window grows or shrinks, and the average queueing delay determines by how much: ten segments more
//! per RTT and an eighth less at a loss without a queue, 0.3 and one half with a full one (Liu, Basar and Srikant, TCP-Illinois: A Loss-
//! and Delay-Based Congestion Control Algorithm for High-Speed Networks, Performance Evaluation 65(6-7), 2008).
//!
//! Differs: a loss reduces the part of the window that was in flight.

mod linux;

use super::support::editions::{Edition, Editions};
use super::support::reno_like::{Avoidance, RenoLike};
use super::support::round::Round;
use super::support::{Abilities, Ack, Congestion, RoundTrip, Start};
use crate::primitives::units::{Cwnd, Time, TimeDelta};
use crate::settings::{Kind, PlainWords, SettingConflict, Settings, conflicts, member};
use serde::{Deserialize, Serialize};

const INCREASE: Kind = Kind::Segments { min: 0.0, max: 1e3 };

// All numbers and names are from the paper.
member! {
    /// The average queueing delay determines the window increase and the reduction after a loss.
    Illinois = "illinois", "Liu, Basar and Srikant, Performance Evaluation 65(6-7), 2008";

    pub struct IllinoisSpec {
        /// Window increase per RTT at the maximum delay, in segments.
        alpha_min: f64 = 0.3 => INCREASE,
        /// Window increase per RTT without queueing delay, in segments.
        alpha_max: f64 = 10.0 => INCREASE,
        /// Fraction of the window removed by a loss at low delay.
        beta_min: f64 = 0.125 => Kind::Probability,
        /// Fraction of the window removed by a loss at high delay.
        beta_max: f64 = 0.5 => Kind::Probability,
        /// Fraction of the maximum queueing delay up to which the increase is `alpha_max`.
        eta_1: f64 = 0.01 => Kind::Probability,
        /// Fraction of the maximum queueing delay up to which a loss removes `beta_min`.
        eta_2: f64 = 0.1 => Kind::Probability,
        /// Fraction of the maximum queueing delay from which a loss removes `beta_max`.
        eta_3: f64 = 0.8 => Kind::Probability,
        /// Window below which the flow behaves as Reno.
        w_thresh: f64 = 10.0 => Kind::Segments { min: 0.0, max: 1e9 },
        /// Number of RTTs with low delay before the increase returns to `alpha_max`.
        theta: u32 = 5 => Kind::Integer { min: 1, max: 1000 },
        /// Rules of the window: the paper's, or Linux's, in whole numbers.
        edition: Edition = Edition::Document => Kind::Words(&Edition::WORDS),
    }
}

impl Settings for IllinoisSpec {
    fn check(&self) -> Vec<SettingConflict> {
        let IllinoisSpec { alpha_min, alpha_max, beta_min, beta_max, eta_1, eta_2, eta_3, .. } = *self;
        conflicts! {
            error if alpha_min <= 0.0 => ["alpha_min"], "`alpha_min` of 0 never opens the window", "above 0";
            error if alpha_max < alpha_min => ["alpha_max"], "`alpha_max` is below `alpha_min`", format!("at least {alpha_min}");
            error if beta_min <= 0.0 || beta_min > beta_max || beta_max >= 1.0 => ["beta_min", "beta_max"],
                "`beta_min` and `beta_max` are out of order", "0 < `beta_min` <= `beta_max` < 1";
            error if eta_1 > eta_2 || eta_2 >= eta_3 => ["eta_2", "eta_1", "eta_3"],
                "`eta_1`, `eta_2` and `eta_3` are out of order", "`eta_1` <= `eta_2` < `eta_3`";
        }
    }

    fn samples() -> Vec<IllinoisSpec> {
        let usual = IllinoisSpec::default();
        let other = IllinoisSpec { alpha_min: 1.0, alpha_max: 50.0, beta_min: 0.3, w_thresh: 2.0, theta: 1, ..usual };
        let even = IllinoisSpec { alpha_max: 0.3, beta_max: 0.125, ..usual };
        vec![usual, other, even, IllinoisSpec { edition: Edition::Linux, ..usual }]
    }
}

pub type Illinois = RenoLike<Editions<IllinoisLaw, linux::Linux>>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct IllinoisLaw {
    spec: IllinoisSpec,
    alpha: f64,
    beta: f64,
    /// Minimum and maximum of all RTTs, in seconds.
    base: f64,
    longest: f64,
    round: Round,
    /// Sum of this RTT's samples, in seconds.
    sum: f64,
    samples: u32,
    /// Number of consecutive RTTs with low delay.
    rtt_low: u32,
}

impl Illinois {
    pub(super) fn new(spec: &IllinoisSpec, start: Start) -> Illinois {
        let law = IllinoisLaw {
            spec: *spec,
            alpha: spec.alpha_max,
            beta: spec.beta_min,
            base: f64::INFINITY,
            longest: 0.0,
            round: Round::default(),
            sum: 0.0,
            samples: 0,
            rtt_low: 0,
        };
        let rules = match spec.edition {
            Edition::Document => Editions::Document(law),
            Edition::Linux => Editions::Linux(linux::Linux::new(spec)),
        };
        RenoLike::of(rules, start)
    }
}

impl IllinoisSpec {
    /// f_1, with kappa_1 and kappa_2 such that it falls from alpha_max at d_1 to alpha_min at d_m. `delay` is a fraction of d_m.
    fn increase(&self, delay: f64) -> f64 {
        let IllinoisSpec { alpha_min, alpha_max, eta_1, .. } = *self;
        if delay <= eta_1 || alpha_max <= alpha_min {
            return alpha_max;
        }
        let kappa_1 = (1.0 - eta_1) * alpha_min * alpha_max / (alpha_max - alpha_min);
        let kappa_2 = (1.0 - eta_1) * alpha_min / (alpha_max - alpha_min) - eta_1;
        kappa_1 / (kappa_2 + delay)
    }

    /// f_2: from beta_min up to d_2 to beta_max from d_3 on. `delay` is a fraction of d_m.
    fn decrease(&self, delay: f64) -> f64 {
        let IllinoisSpec { beta_min, beta_max, eta_2, eta_3, .. } = *self;
        match delay {
            _ if delay <= eta_2 => beta_min,
            _ if delay >= eta_3 => beta_max,
            _ => beta_min + (beta_max - beta_min) * (delay - eta_2) / (eta_3 - eta_2),
        }
    }
}

impl IllinoisLaw {
    /// Once per RTT, from d_a over d_m.
    fn judge(&mut self) {
        let largest = self.longest - self.base;
        let average = self.sum / f64::from(self.samples) - self.base;
        let delay = if largest > 0.0 { (average / largest).clamp(0.0, 1.0) } else { 0.0 };
        self.beta = self.spec.decrease(delay);
        if delay > self.spec.eta_1 {
            self.rtt_low = 0;
            self.alpha = self.spec.increase(delay);
        } else if self.alpha < self.spec.alpha_max {
            // A short period of low delay may be one in which other flows have backed off too.
            self.rtt_low += 1;
            if self.rtt_low >= self.spec.theta {
                self.alpha = self.spec.alpha_max;
            }
        }
        (self.sum, self.samples) = (0.0, 0);
    }
}

impl Avoidance for IllinoisLaw {
    const ABILITIES: Abilities = Abilities { quantities: &["alpha_packets", "beta"], ..Abilities::NONE };

    fn quantity(&self, index: usize) -> f64 {
        if index == 0 { self.alpha } else { self.beta }
    }

    fn measure(&mut self, measured: &RoundTrip) {
        let sample = measured.sample.seconds();
        (self.base, self.longest) = (self.base.min(sample), self.longest.max(sample));
        self.sum += sample;
        self.samples += 1;
    }

    fn observe(&mut self, ack: &Ack) {
        if self.round.ends_with(ack) && self.samples > 0 {
            self.judge();
        }
    }

    fn increase(&mut self, _: &Ack, Cwnd(window): Cwnd) -> f64 {
        if window < self.spec.w_thresh { 1.0 } else { self.alpha }
    }

    fn reduce(&mut self, seen: &Congestion, Cwnd(window): Cwnd) -> f64 {
        self.round.begin(seen.now);
        (self.sum, self.samples) = (0.0, 0);
        (1.0 - if window < self.spec.w_thresh { 0.5 } else { self.beta }) * window
    }

    /// Behaves as Reno until delays are known again.
    fn restart(&mut self, now: Time) {
        (self.alpha, self.beta) = (1.0, 0.5);
        (self.sum, self.samples, self.rtt_low) = (0.0, 0, 0);
        self.round.begin(now);
    }

    fn pause(&mut self, _: TimeDelta) {
        (self.sum, self.samples) = (0.0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::support::model_sender::ModelSender;

    fn sender() -> ModelSender<Illinois> {
        let law = Illinois::new(&IllinoisSpec::default(), Start { window: 100.0, ssthresh: 2.0, ..Start::default() });
        let mut sender = ModelSender::new(law).with_round_trip(100);
        let rules = sender.law.memory.avoidance.document();
        (rules.sum, rules.samples) = (0.0, 0);
        sender
    }

    /// An acknowledgement with this RTT, which is the average of its round, one second later.
    fn round(sender: &mut ModelSender<Illinois>, milliseconds: u64) -> (f64, f64) {
        sender.round_trip = Some(TimeDelta::from_millis(milliseconds));
        sender.wait(1000);
        sender.ack(1);
        let law = sender.law.memory.avoidance.document();
        (law.alpha, law.beta)
    }

    #[track_caller]
    fn near(found: (f64, f64), expected: (f64, f64)) {
        assert!((found.0 - expected.0).abs() < 1e-9 && (found.1 - expected.1).abs() < 1e-9, "{found:?}, not {expected:?}");
    }

    #[test]
    fn without_delay_a_window_adds_ten_segments_and_a_loss_removes_an_eighth() {
        let mut sender = sender();
        assert_eq!((sender.ack(1), sender.lose(100)), (100.1, 0.875 * 100.1));
    }

    #[test]
    fn the_curves_go_through_the_points_that_define_them() {
        let spec = IllinoisSpec::default();
        near((spec.increase(0.01), spec.decrease(0.1)), (10.0, 0.125));
        near((spec.increase(0.010000001), spec.decrease(0.8)), (spec.increase(0.010000001), 0.5));
        assert!((spec.increase(0.010000001) - 10.0).abs() < 1e-5);
        near((spec.increase(1.0), spec.decrease(0.45)), (0.3, 0.3125));
    }

    #[test]
    fn the_average_delay_of_an_rtt_determines_both() {
        let mut sender = sender();
        // The maximum delay is 100 ms from here on.
        round(&mut sender, 200);
        // kappa_1 = 0.99 * 3 / 9.7, kappa_2 = 0.99 * 0.3 / 9.7 - 0.01; 45 ms are 0.45.
        let (kappa_1, kappa_2) = (0.99 * 3.0 / 9.7, 0.99 * 0.3 / 9.7 - 0.01);
        near(round(&mut sender, 145), (kappa_1 / (kappa_2 + 0.45), 0.3125));
        near(round(&mut sender, 200), (0.3, 0.5));
    }

    #[test]
    fn only_after_five_rtts_with_low_delay_the_increase_returns_to_the_maximum() {
        let mut sender = sender();
        round(&mut sender, 200);
        let rtt_low: Vec<f64> = (0..5).map(|_| round(&mut sender, 100).0).collect();
        assert!(rtt_low[..4].iter().all(|alpha| (alpha - 0.3).abs() < 1e-9), "{rtt_low:?}");
        assert_eq!(rtt_low[4], 10.0);
        assert_eq!(round(&mut sender, 100), (10.0, 0.125));
    }

    #[test]
    fn below_ten_segments_it_is_reno() {
        let mut sender = sender();
        sender.law.window = 8.0;
        assert_eq!((sender.ack(1), sender.lose(8)), (8.125, 4.0625));
    }
}
