//! AIMD(a, b): the window grows by `a` segments per RTT and is reduced by the fraction `b` at a loss (Chiu and Jain, Computer Networks and
//! ISDN Systems 17(1), 1989; Floyd, Handley and Padhye, A Comparison of Equation-Based and AIMD Congestion Control, 2000; Yang and Lam,
//! General AIMD Congestion Control, ICNP 2000). Reno is AIMD(1, 1/2).
//!
//! Differs: a loss reduces the part of the window that was in flight. Yang and Lam use `b` for the remaining fraction.

use super::support::reno_like::{Avoidance, RenoLike};
use super::support::{Ack, Congestion};
use crate::primitives::units::Cwnd;
use crate::settings::{Kind, SettingConflict, Settings, conflicts, member};

// AIMD(1/5, 1/8) is the variant studied by Floyd, Handley and Padhye.
member! {
    /// Additive increase, multiplicative decrease (AIMD) with configurable parameters. TCP-friendly if `a` is 3 b / (2 - b).
    Aimd = "aimd", "Floyd, Handley and Padhye, 2000; Yang and Lam, ICNP 2000";

    pub struct AimdSpec {
        /// Window increase per RTT, in segments.
        a: f64 = 0.2 => Kind::Segments { min: 0.0, max: 1e6 },
        /// Fraction of the window removed by a loss.
        b: f64 = 0.125 => Kind::Probability,
    }
}

impl Settings for AimdSpec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if self.a <= 0.0 => ["a"], "`a` of 0 never opens the window", "above 0";
            error if self.b <= 0.0 || self.b >= 1.0 => ["b"], "`b` is out of range", "above 0, below 1";
        }
    }

    fn samples() -> Vec<AimdSpec> {
        vec![AimdSpec::default(), AimdSpec { a: 1.0, b: 0.5 }, AimdSpec { a: 50.0, b: 0.9 }]
    }
}

pub type Aimd = RenoLike<AimdSpec>;

impl Avoidance for AimdSpec {
    fn increase(&mut self, _: &Ack, _: Cwnd) -> f64 {
        self.a
    }

    fn reduce(&mut self, _: &Congestion, Cwnd(window): Cwnd) -> f64 {
        (1.0 - self.b) * window
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Start;
    use crate::congestion::support::model_sender::ModelSender;

    fn sender(a: f64, b: f64) -> ModelSender<Aimd> {
        ModelSender::new(Aimd::new(&AimdSpec { a, b }, Start { window: 16.0, ssthresh: 2.0, ..Start::default() }))
    }

    #[test]
    fn a_window_adds_a_segments_and_a_loss_removes_the_fraction_b() {
        let mut gentle = sender(0.25, 0.125);
        assert_eq!((gentle.ack(1), gentle.ack(0), gentle.lose(16)), (16.015625, 16.015625, 0.875 * 16.015625));
        let mut like_reno = sender(1.0, 0.5);
        assert_eq!((like_reno.lose(16), like_reno.ack(2)), (8.0, 8.25));
    }

    #[test]
    fn no_settings_open_the_window_faster_than_slow_start() {
        assert_eq!(sender(1000.0, 0.5).ack(2), 18.0);
    }
}
