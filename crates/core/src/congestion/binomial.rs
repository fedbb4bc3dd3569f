//! Binomial algorithms: the window grows by `alpha / w^k` segments per RTT and is reduced by `beta * w^l` at a loss (Bansal and
//! Balakrishnan, Binomial Congestion Control Algorithms, INFOCOM 2001). IIAD is k = 1, l = 0; SQRT k = l = 1/2; AIMD k = 0, l = 1; and k =
//! -1, l = 1 is MIMD.
//!
//! Differs: a loss reduces the part of the window that was in flight.

use super::support::reno_like::{Avoidance, RenoLike};
use super::support::{Ack, Congestion};
use crate::primitives::math::pow;
use crate::primitives::units::Cwnd;
use crate::settings::{Kind, SettingConflict, Settings, conflicts, member};

/// Range of alpha and beta.
const FACTOR: Kind = Kind::Number { min: 0.0, max: 1e6 };

// If k + l = 1 the mean window is sqrt(alpha / beta / p): with alpha / beta = 3/2, that of Reno.
member! {
    /// The increase is divided by a power of the window, and the reduction grows with another power. TCP-friendly if the powers add up to
    /// 1.
    Binomial = "binomial", "Bansal and Balakrishnan, INFOCOM 2001";

    pub struct BinomialSpec {
        /// Power of the window that divides the increase.
        k: f64 = 0.5 => Kind::Number { min: -1.0, max: 4.0 },
        /// Power of the window in the reduction.
        l: f64 = 0.5 => Kind::Number { min: 0.0, max: 1.0 },
        /// Factor of the increase.
        alpha: f64 = 1.0 => FACTOR,
        /// Factor of the reduction.
        beta: f64 = 2.0 / 3.0 => FACTOR,
    }
}

impl Settings for BinomialSpec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if self.alpha <= 0.0 => ["alpha"], "`alpha` of 0 never opens the window", "above 0";
            error if self.beta <= 0.0 => ["beta"], "`beta` of 0 ignores losses", "above 0";
            error if self.l == 1.0 && self.beta >= 1.0 => ["beta", "l"],
                "`beta` of 1 removes the whole window where `l` is 1", "below 1 where `l` is 1";
        }
    }

    fn samples() -> Vec<BinomialSpec> {
        let usual = BinomialSpec::default();
        let inverse = BinomialSpec { k: 1.0, l: 0.0, ..usual };
        let steep = BinomialSpec { k: 0.3, l: 0.9, alpha: 100.0, beta: 50.0 };
        vec![usual, inverse, steep, BinomialSpec { k: -1.0, l: 1.0, alpha: 0.01, beta: 0.125 }]
    }
}

pub type Binomial = RenoLike<BinomialSpec>;

impl Avoidance for BinomialSpec {
    fn increase(&mut self, _: &Ack, Cwnd(window): Cwnd) -> f64 {
        self.alpha / power(Cwnd(window), self.k)
    }

    fn reduce(&mut self, _: &Congestion, Cwnd(window): Cwnd) -> f64 {
        window - self.beta * power(Cwnd(window), self.l)
    }
}

/// Computes powers; common exponents avoid a logarithm per acknowledgement.
fn power(Cwnd(window): Cwnd, exponent: f64) -> f64 {
    match exponent {
        0.0 => 1.0,
        0.5 => window.sqrt(),
        1.0 => window,
        -1.0 => 1.0 / window,
        _ => pow(window, exponent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Start;
    use crate::congestion::support::model_sender::ModelSender;

    fn sender(k: f64, l: f64) -> ModelSender<Binomial> {
        let spec = BinomialSpec { k, l, alpha: 2.0, beta: 0.5 };
        ModelSender::new(Binomial::new(&spec, Start { window: 64.0, ssthresh: 2.0, ..Start::default() }))
    }

    #[test]
    fn the_increase_of_an_acknowledgement_is_alpha_over_the_window_to_k_plus_1() {
        // 64, 64 * 8, 64 * 64, 64 * 4 and 1.
        let found = [0.0, 0.5, 1.0, 1.0 / 3.0, -1.0].map(|k| sender(k, 0.5).ack(1) - 64.0);
        let expected = [64.0, 512.0, 4096.0, 256.0, 2.0].map(|divisor| 2.0 / divisor);
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
        }
    }

    #[test]
    fn the_reduction_is_beta_times_the_window_to_l() {
        assert_eq!([0.0, 0.5, 1.0].map(|l| sender(0.0, l).lose(64)), [63.5, 60.0, 32.0]);
        assert!((sender(0.0, 1.0 / 3.0).lose(64) - 62.0).abs() < 1e-12);
    }
}
