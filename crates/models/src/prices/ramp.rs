//! ADPM with a price that rises with every packet.

use super::{Bits, PriceChange, integral};
use crate::model::{answers, models};
use crate::parameter::ParameterError;

answers! {
    /// Underestimation of a rising price.
    pub struct AdpmRampError {
        /// Mean error after a packet has been processed: sqrt(pi drift / 2) - 5/6 drift, and terms of higher order.
        mean: f64,
        /// Mean square of that error.
        mean_square: f64,
        /// Mean error before a packet is processed, when the price has risen by `drift`.
        mean_before: f64,
        /// Mean square of that error: 2 drift, the document's value.
        mean_square_before: f64,
        /// The document's bound on the mean, sqrt(2 drift).
        bound: f64,
    }
}

answers! {
    /// Underestimation of a rising price with a finite number of thresholds.
    pub struct AdpmCoarseRampError {
        /// Mean error.
        mean: f64,
        /// Mean square error.
        mean_square: f64,
    }
}

/// Slower ramps need too many terms.
const SLOWEST: f64 = 1e-10;

/// With faster ramps the price would leave 0 to 1 before the estimate has forgotten its start.
const FASTEST: f64 = 0.02;

models! {
    /// Long-run error of the ADPM estimate of a price that rises by `drift` with every packet, with random probes.
    ///
    /// The estimate is at most y if no threshold fell between y and the price at the time of its probe. The error after a packet
    /// therefore exceeds x with probability (1 - x) G(x). G(x), the distribution of the error X before the packet, is the product
    /// of 1 - (x - drift), 1 - (x - 2 drift) and so on, as long as these factors are at most 1. Integration gives E X^2 = 2
    /// drift, the document's value. For slow ramps errors have a Rayleigh distribution, exp(-x^2 / (2 drift)), with mean sqrt(pi
    /// drift / 2), 0.886 of the document's bound. Falling prices are overestimated by the same amount.
    pub fn adpm_ramp_error(
        /// delta, price increase per packet.
        drift: PriceChange,
    ) -> Result<AdpmRampError, ParameterError> {
        let drift = drift.get();
        if !(SLOWEST..=FASTEST).contains(&drift) {
            return Err(ParameterError::new("drift", drift, "1e-10 to 0.02"));
        }
        let mean_before = mean_before(drift);
        let mean_square_before = 2.0 * drift;
        Ok(AdpmRampError {
            mean: mean_before - drift,
            mean_square: mean_square_before - 2.0 * drift * mean_before + drift * drift,
            mean_before,
            mean_square_before,
            bound: mean_square_before.sqrt(),
        })
    }
    quantity: "error of the ADPM estimate of a rising price";
    equation: "P(X > x + drift) = (1 - x) P(X > x); E X^2 = 2 drift; E X = sqrt(pi drift / 2) + drift / 6 + ...";
    source: "cui-thesis, section 5.2.2, for the mean square; the distribution is derived in docs/evidence/theory.md";
    assumes: ["independent thresholds uniform in 0 to 1", "far from 0 and 1, and long after the ramp began", "no packet is lost"];
    refuses: "ramps slower than 1e-10 or faster than 0.02";
    example: ">>> error = tb.models.adpm_ramp_error(1e-6)\n>>> round(error.mean, 6), round(error.bound, 6)\n(0.001252, 0.001414)";

    /// Error of the ADPM estimate of a rising price after a packet has been processed, with thresholds of finite resolution. The
    /// error is larger where the price takes many packets from one threshold to the next.
    ///
    /// Consider a price at a fraction u between two thresholds that rises continuously: the estimate is at least n thresholds
    /// below the lower one with probability exp(-(n (n-1) / 2 + n u) / s), where s = drift 4^bits. The increase from packet to
    /// packet is included to first order.
    pub fn adpm_coarse_ramp_error(
        /// delta, price increase per packet.
        drift: PriceChange,
        bits: Bits = 16,
    ) -> Result<AdpmCoarseRampError, ParameterError> {
        let (drift, thresholds) = (drift.get(), bits.thresholds() as f64);
        if drift > FASTEST {
            return Err(ParameterError::new("drift", drift, "at most 0.02"));
        }
        let scale = drift * thresholds * thresholds;
        let (mut mean, mut mean_square) = (1.0 / 2.0, 1.0 / 3.0);
        for by in (1..bits.thresholds()).map(|by| by as f64) {
            let (at_threshold, rate) = (libm::exp(-by * (by - 1.0) / (2.0 * scale)), by / scale);
            if at_threshold < 1e-30 {
                break;
            }
            // Integrals of exp(-rate u) and of 2 u exp(-rate u) over u from 0 to 1.
            let over_share = -libm::expm1(-rate) / rate;
            let first_moment = match rate {
                ..=1.0 => integral(|u| 2.0 * u * libm::exp(-rate * u), 0.0, 1.0),
                ..=700.0 => 2.0 / (rate * rate) * (1.0 - libm::exp(-rate) * (1.0 + rate)),
                _ => 2.0 / (rate * rate),
            };
            mean += at_threshold * over_share;
            mean_square += at_threshold * ((2.0 * by - 1.0) * over_share + first_moment);
        }
        let (mean, mean_square) = (mean / thresholds, mean_square / (thresholds * thresholds));
        // Correction by the difference between `adpm_ramp_error` and the Rayleigh distribution.
        Ok(AdpmCoarseRampError { mean: mean - drift * 5.0 / 6.0, mean_square: mean_square - 2.0 * drift * mean })
    }
    equation: "mean error in thresholds: 1/2 + sum over n of s/n exp(-n (n-1) / (2s)) (1 - exp(-n/s)), s = drift 4^bits, \
        less 5/6 drift";
    source: "docs/evidence/theory.md";
    assumes: ["independent thresholds, uniformly distributed", "far from 0 and 1, and long after the ramp began", "no packet is lost"];
    refuses: "ramps faster than 0.02";
}

/// Integral of G. Over each interval of length `drift` it is the integral of a polynomial.
fn mean_before(drift: f64) -> f64 {
    let products = |part: f64| {
        let (mut sum, mut product, mut at) = (0.0, 1.0, part);
        while product > 1e-20 {
            sum += product;
            product *= 1.0 - at;
            at += drift;
        }
        sum
    };
    integral(products, 0.0, drift)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(drift: f64) -> Result<AdpmRampError, ParameterError> {
        adpm_ramp_error(PriceChange::new("drift", drift)?)
    }

    fn coarse(drift: f64, bits: u64) -> Result<AdpmCoarseRampError, ParameterError> {
        adpm_coarse_ramp_error(PriceChange::new("drift", drift)?, Bits::new("bits", bits)?)
    }

    /// Numbers in 0 to 1, always the same sequence (SplitMix64).
    struct Stream(u64);

    impl Stream {
        fn draw(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            (mixed ^ (mixed >> 31)) as f64 / 2f64.powi(64)
        }
    }

    /// Means over 40 batches of a run of the receiver's own rule, and their half-widths at 99.9 % (Student, 39 degrees of
    /// freedom). Thresholds are multiples of 2^-bits if `bits` is given. To stay within 0 to 1 the price is set back, with its
    /// error unchanged.
    fn simulated(drift: f64, packets: usize, bits: Option<u32>) -> [(f64, f64); 3] {
        let mut stream = Stream(5);
        let unit = bits.map(|bits| 2f64.powi(-(bits as i32)));
        let (mut price, mut estimate) = (0.5, 0.5);
        let mut parts = Vec::new();
        for part in 0..41 {
            let mut sums = [0.0; 3];
            for _ in 0..packets / 40 {
                price += drift;
                if price > 0.75 {
                    // By a whole number of thresholds.
                    (price, estimate) = (price - 0.25, estimate - 0.25);
                }
                let drawn = stream.draw();
                let threshold = unit.map_or(drawn, |unit| (drawn / unit).floor() * unit);
                let before = price - estimate;
                let marked = price > threshold;
                if marked && threshold > estimate || !marked && threshold < estimate {
                    estimate = threshold;
                }
                let after = price - estimate;
                for (sum, value) in sums.iter_mut().zip([after, after * after, before * before]) {
                    *sum += value * 40.0 / packets as f64;
                }
            }
            // The first batch still depends on the start.
            if part > 0 {
                parts.push(sums);
            }
        }
        [0, 1, 2].map(|of| {
            let values = parts.iter().map(|sums| sums[of]);
            let mean = values.clone().sum::<f64>() / 40.0;
            let variance = values.map(|value| (value - mean) * (value - mean)).sum::<f64>() / 39.0;
            (mean, 3.558 * (variance / 40.0).sqrt())
        })
    }

    fn inside((mean, half): (f64, f64), expected: f64, what: &str) {
        assert!((mean - expected).abs() < half && half < 0.02 * expected, "{what}: {expected} and {mean} +- {half}");
    }

    #[test]
    fn a_run_of_the_receivers_rule_agrees() -> Result<(), ParameterError> {
        for drift in [1e-2, 1e-4] {
            let found = ramp(drift)?;
            let [mean, square, before] = simulated(drift, 10_000_000, None);
            inside(mean, found.mean, "mean");
            inside(square, found.mean_square, "mean square");
            inside(before, found.mean_square_before, "mean square before a packet");
        }
        Ok(())
    }

    #[test]
    fn a_run_with_few_thresholds_agrees_for_slow_ramps() -> Result<(), ParameterError> {
        // An error spans seven thresholds, and a third of one.
        for (drift, bits) in [(3e-5, 10), (1e-5, 7)] {
            let found = coarse(drift, bits)?;
            let [mean, square, _] = simulated(drift, 20_000_000, Some(bits as u32));
            inside(mean, found.mean, "mean");
            inside(square, found.mean_square, "mean square");
        }
        Ok(())
    }

    #[test]
    fn the_square_integrates_to_two_drifts() -> Result<(), ParameterError> {
        // G is 1 over the first 1/100, then 1 - r, (1 - r)(99/100 - r) and so on, r from 0 to 1/100: by Simpson's rule.
        let drift = 0.01;
        let g = |stretch: i32, r: f64| (0..stretch).map(|at| 1.0 - r - f64::from(at) * drift).product::<f64>();
        let integrated = |of: &dyn Fn(f64) -> f64| -> f64 {
            let value = |stretch: i32, r: f64| of(f64::from(stretch) * drift + r) * g(stretch, r);
            (0..100)
                .flat_map(|stretch| (0..10).map(move |part| (stretch, f64::from(part) * drift / 10.0)))
                .map(|(stretch, r)| {
                    let (middle, end) = (r + drift / 20.0, r + drift / 10.0);
                    (value(stretch, r) + 4.0 * value(stretch, middle) + value(stretch, end)) * drift / 60.0
                })
                .sum()
        };
        assert!((integrated(&|x| 2.0 * x) - ramp(drift)?.mean_square_before).abs() < 1e-10);
        assert!((integrated(&|_| 1.0) - ramp(drift)?.mean_before).abs() < 1e-10);
        Ok(())
    }

    #[test]
    fn slow_ramps_have_the_mean_of_rayleighs_distribution() -> Result<(), ParameterError> {
        for drift in [1e-4, 1e-6, 1e-8] {
            let expected = (std::f64::consts::PI * drift / 2.0).sqrt() + drift / 6.0;
            let found = ramp(drift)?;
            assert!((found.mean_before / expected - 1.0).abs() < drift, "{drift}: {}", found.mean_before);
            assert!(found.mean < found.bound && found.mean > 0.88 * found.bound);
        }
        assert!(ramp(1e-11).is_err() && ramp(0.021).is_err() && coarse(0.021, 16).is_err());
        Ok(())
    }

    #[test]
    fn many_thresholds_approach_the_continuous_limit() -> Result<(), ParameterError> {
        for drift in [1e-3, 1e-5] {
            let (fine, coarse) = (ramp(drift)?, coarse(drift, 16)?);
            assert!((coarse.mean / fine.mean - 1.0).abs() < 3.0 * drift, "{coarse:?} for {fine:?}");
            assert!((coarse.mean_square / fine.mean_square - 1.0).abs() < 3.0 * drift, "{coarse:?} for {fine:?}");
        }
        // For a nearly constant price the width of a threshold remains.
        for drift in [1e-20, 5e-324] {
            let slow = coarse(drift, 16)?;
            assert!(
                (slow.mean * 131_072.0 - 1.0).abs() < 1e-9 && (slow.mean_square * 3.0 * 65536.0 * 65536.0 - 1.0).abs() < 1e-9
            );
        }
        Ok(())
    }
}
