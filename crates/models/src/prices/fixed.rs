//! ADPM with a constant price, and with a price that changed once.

use super::thresholds::Intervals;
use super::{Bits, Price, PriceChange, ProbeOrder, integral, none_of};
use crate::model::{answers, arguments, models};
use crate::parameter::Integer;

arguments! {
    /// The probes received of a constant price.
    pub struct Probes {
        /// k, packets received.
        probes: Integer,
        /// Order of their thresholds.
        order: ProbeOrder = "random",
        bits: Bits = 16,
        /// Fraction of the errors that `percentile` bounds.
        quantile: Price = 0.99,
    }
}

answers! {
    /// Underestimation by ADPM, averaged over all prices.
    pub struct AdpmError {
        /// Mean error.
        mean: f64,
        /// Mean of its square.
        mean_square: f64,
        /// The largest possible error: 1 with randomly drawn thresholds.
        largest: f64,
        /// The `quantile` of the error.
        percentile: f64,
        /// The document's value: 1/k, the mean of random probes (5.2); for pure BRC the bound (5.3); for random BRC the bound
        /// 2/K.
        document: Option<f64>,
    }
}

answers! {
    /// Error of an ADPM estimate after a price change.
    pub struct AdpmStepError {
        /// Mean error.
        mean: f64,
        /// Mean of its square.
        mean_square: f64,
        /// The document's approximation, min(step, 1/k).
        approximation: f64,
    }
}

models! {
    /// Error of the ADPM estimate of a constant price, averaged over all prices: after `probes` packets, from an estimate of 0.
    ///
    /// With random probes, price and thresholds are k + 1 uniform points. The error is the gap below one of them, which exceeds x
    /// with probability (1 - x)^(k+1). Its mean is therefore 1/(k+2) exactly and its mean square 2/((k+2)(k+3)), apart from the
    /// finite number of thresholds, which is taken into account: between the values of two thresholds the probability is
    /// interpolated linearly. An estimate that starts at 1 is too high by the same amount.
    pub fn adpm_error(probes: Probes) -> AdpmError {
        let Probes { probes, order, bits, quantile } = probes;
        let (count, quantile) = (probes.get(), quantile.get());
        let of = |intervals: Intervals, document| AdpmError {
            mean: intervals.mean(),
            mean_square: intervals.mean_square(),
            largest: intervals.largest(),
            percentile: intervals.quantile(quantile),
            document,
        };
        match order {
            ProbeOrder::Random => random(count as f64, bits.thresholds(), quantile),
            ProbeOrder::PureBrc => {
                let bound = (count > 0).then(|| 1.0 / power_of_two(count));
                of(Intervals::of_pure_brc(count, bits), bound)
            }
            ProbeOrder::RandomBrc => {
                let bound = (2.0 / power_of_two(count + 1)).min(1.0);
                of(Intervals::of_random_brc(count, bits), Some(bound))
            }
        }
    }
    quantity: "error of the ADPM estimate of a constant price";
    equation: "random: 1/(k+2), square 2/((k+2)(k+3)); pure BRC: 1/(2K) (1 - Delta/(2K)), largest 1/K, with K = 2^floor(log2(k+1)), \
        Delta = k + 1 - K; random BRC: all starts";
    source: "cui-thesis, sections 5.2.2 and 5.4, equations (5.1) to (5.3); the mean of pure BRC is printed with a sum instead of the product";
    assumes: ["prices uniform in 0 to 1", "an initial estimate of 0", "no packet is lost"];
    example: ">>> round(tb.models.adpm_error(probes=98).mean, 6)\n0.01\n\
        >>> tb.models.adpm_error(probes=7, order=\"pure_brc\").mean\n0.0625";

    /// Error of the ADPM estimate after the price has changed once by `step`, from a correct estimate; with random probes, and
    /// thresholds of unlimited resolution.
    ///
    /// The error exceeds x, where x < step, if none of the thresholds fell within a distance of x from the price.
    pub fn adpm_step_error(
        /// Size of the price change.
        step: PriceChange,
        /// k, packets received since the change.
        probes: Integer,
    ) -> AdpmStepError {
        let (step, count) = (step.get(), probes.get() as f64);
        let mean = if step * (count + 1.0) < 1.0 {
            integral(|x| none_of(x, count), 0.0, step)
        } else {
            (1.0 - none_of(step, count + 1.0)) / (count + 1.0)
        };
        // The closed form is a small difference of large numbers where few packets are expected to hit the step.
        let mean_square = if step * (count + 2.0) < 1.0 {
            integral(|x| 2.0 * x * none_of(x, count), 0.0, step)
        } else {
            let tail = step * none_of(step, count + 1.0);
            2.0 / (count + 1.0) * ((1.0 - none_of(step, count + 2.0)) / (count + 2.0) - tail)
        };
        AdpmStepError { mean, mean_square, approximation: step.min(1.0 / count) }
    }
    equation: "(1 - (1 - a)^(k+1)) / (k+1); the document has about min(a, 1/k)";
    source: "cui-thesis, section 5.2.2";
    assumes: ["independent thresholds uniform in 0 to 1", "a correct estimate before the step", "no packet is lost"];
}

/// 2^floor(log2(count)).
fn power_of_two(count: u64) -> f64 {
    (1u64 << count.ilog2()) as f64
}

/// Random probes: (1 - m/T)^(k+1) is the probability that the estimate is at least m thresholds below the threshold next to the
/// price. The price itself is up to one threshold above that.
fn random(count: f64, thresholds: usize, quantile: f64) -> AdpmError {
    let unit = 1.0 / thresholds as f64;
    let below = |by: usize| none_of(by as f64 * unit, count + 1.0);
    let (mut mean, mut mean_square) = (1.0 / 2.0, 1.0 / 3.0);
    for (by, probability) in (1..thresholds).map(|by| (by, below(by))).take_while(|(_, probability)| *probability > 1e-30) {
        mean += probability;
        mean_square += 2.0 * by as f64 * probability;
    }
    let beyond = 1.0 - quantile;
    let percentile = if beyond > 0.0 {
        let smooth = -libm::expm1(libm::log(beyond) / (count + 1.0));
        let mut by = ((smooth * thresholds as f64) as usize).min(thresholds - 1);
        while by > 0 && below(by) < beyond {
            by -= 1;
        }
        (by as f64 + (below(by) - beyond) / (below(by) - below(by + 1))) * unit
    } else {
        1.0
    };
    let document = (count > 0.0).then(|| 1.0 / count);
    AdpmError { mean: mean * unit, mean_square: mean_square * unit * unit, largest: 1.0, percentile, document }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::ParameterError;

    fn error(probes: u64, order: ProbeOrder, bits: u64, quantile: f64) -> Result<AdpmError, ParameterError> {
        let (bits, quantile) = (Bits::new("bits", bits)?, Price::new("quantile", quantile)?);
        Ok(adpm_error(Probes { probes: Integer::new(probes), order, bits, quantile }))
    }

    #[test]
    fn random_probes_have_a_mean_error_of_one_over_k_plus_two() -> Result<(), ParameterError> {
        // The trapezoid rule for x^(k+1) and for 2 x (1-x)^(k+1) in 2^16 steps: its error is (k+1)/12 and below 2/12 of a squared
        // step.
        for count in [1u64, 2, 10, 100] {
            let (k, found) = (count as f64, error(count, ProbeOrder::Random, 16, 0.99)?);
            let unit = 1.0 / 65536.0;
            let mean = 1.0 / (k + 2.0) + (k + 1.0) / 12.0 * unit * unit;
            assert!((found.mean - mean).abs() < 1e-14, "{count}: {}", found.mean);
            assert!((found.mean_square - 2.0 / ((k + 2.0) * (k + 3.0)) - unit * unit / 6.0).abs() < 1e-14, "{count}");
            let percentile = 1.0 - 0.01f64.powf(1.0 / (k + 1.0));
            assert!((found.percentile - percentile).abs() < unit * unit * (k + 1.0) * (k + 1.0), "{count}: {}", found.percentile);
        }
        Ok(())
    }

    /// All draws of `probes` thresholds of `bits`, over all prices of each interval.
    fn by_enumeration(probes: u32, bits: u64) -> [f64; 2] {
        let thresholds = 1u32 << bits;
        let (mut mean, mut mean_square) = (0.0, 0.0);
        let draws = thresholds.pow(probes);
        for draw in 0..draws {
            let seen: Vec<u32> = (0..probes).map(|probe| draw / thresholds.pow(probe) % thresholds).collect();
            for at in 0..thresholds {
                let estimate = seen.iter().copied().filter(|&threshold| threshold <= at).max().unwrap_or(0);
                let (low, high) = (f64::from(at - estimate), f64::from(at + 1 - estimate));
                mean += (high * high - low * low) / 2.0;
                mean_square += (high * high * high - low * low * low) / 3.0;
            }
        }
        let (each, all) = (f64::from(thresholds), f64::from(draws));
        [mean / all / each / each, mean_square / all / each / each / each]
    }

    #[test]
    fn an_enumeration_of_all_draws_of_few_thresholds_gives_the_sums() -> Result<(), ParameterError> {
        for (probes, bits) in [(0, 1), (1, 1), (3, 1), (1, 3), (4, 3), (3, 4)] {
            let found = error(u64::from(probes), ProbeOrder::Random, bits, 0.5)?;
            let expected = by_enumeration(probes, bits);
            for (found, expected) in [found.mean, found.mean_square].into_iter().zip(expected) {
                assert!((found - expected).abs() < 1e-13, "{probes}, {bits}: {found} for {expected}");
            }
        }
        Ok(())
    }

    #[test]
    fn pure_brc_by_hand() -> Result<(), ParameterError> {
        // Five packets, 1/2, 1/4, 3/4, 1/8 and 5/8, leave four intervals of 1/8 and two of 1/4: (4/64 + 2/16) / 2, (4/512 + 2/64) / 3.
        let found = error(5, ProbeOrder::PureBrc, 16, 0.9)?;
        assert_eq!((found.mean, found.largest, found.document), (3.0 / 32.0, 0.25, Some(0.25)));
        assert!((found.mean_square - 5.0 / 384.0).abs() < 1e-17);
        // Only the two wide intervals exceed 1/8: 2 (1/4 - x) = 1/10.
        assert!((found.percentile - 0.2).abs() < 1e-15);
        // Once every threshold has been seen, half of the smallest interval remains.
        assert_eq!(error(1 << 20, ProbeOrder::PureBrc, 16, 0.9)?.mean, 0.5 / 65536.0);
        Ok(())
    }

    #[test]
    fn the_documents_formula_for_pure_brc_holds_with_a_product() -> Result<(), ParameterError> {
        for count in 0..3000u64 {
            let cut = power_of_two(count + 1);
            let delta = (count + 1) as f64 - cut;
            let found = error(count, ProbeOrder::PureBrc, 16, 0.5)?;
            assert!((found.mean - (1.0 - delta / (2.0 * cut)) / (2.0 * cut)).abs() < 1e-15, "{count}");
            assert_eq!(found.largest, 1.0 / cut);
        }
        Ok(())
    }

    #[test]
    fn random_brc_is_between_pure_brc_and_random_probes() -> Result<(), ParameterError> {
        // One packet from a random counter is a random probe.
        for count in [2, 3, 10, 100, 1000] {
            let of = |order| error(count, order, 12, 0.99).map(|error| error.mean);
            assert!(
                of(ProbeOrder::PureBrc)? < of(ProbeOrder::RandomBrc)? && of(ProbeOrder::RandomBrc)? < of(ProbeOrder::Random)?
            );
        }
        Ok(())
    }

    #[test]
    fn after_many_packets_the_error_is_half_the_width_of_a_threshold() -> Result<(), ParameterError> {
        for order in [ProbeOrder::Random, ProbeOrder::PureBrc, ProbeOrder::RandomBrc] {
            let found = error(1_000_000_000, order, 16, 0.99)?;
            assert!((found.mean * 131_072.0 - 1.0).abs() < 1e-6 && (found.percentile * 65536.0 - 0.99).abs() < 1e-6, "{order:?}");
        }
        Ok(())
    }

    #[test]
    fn a_step_by_hand_and_where_the_closed_form_cancels() -> Result<(), ParameterError> {
        let step = |step, probes| {
            Ok::<AdpmStepError, ParameterError>(adpm_step_error(PriceChange::new("step", step)?, Integer::new(probes)))
        };
        // One packet detects a step of 1/2 with probability 1/2, and is then off by 1/4 on average: 1/4 + 1/8; 1/8 + 1/2 * 1/12.
        let found = step(0.5, 1)?;
        assert!((found.mean - 3.0 / 8.0).abs() < 1e-15 && (found.mean_square - 1.0 / 6.0).abs() < 1e-15, "{found:?}");
        assert_eq!(step(0.25, 0)?.mean, 0.25);
        // The two branches meet where one packet is expected to hit.
        let (below, above) = (step(0.999_999 / 102.0, 100)?, step(1.000_001 / 102.0, 100)?);
        assert!((above.mean_square / below.mean_square - 1.0).abs() < 3e-6 && above.mean_square > below.mean_square);
        assert!((step(1e-9, 100)?.mean_square / 1e-18 - 1.0).abs() < 1e-6);
        Ok(())
    }
}
