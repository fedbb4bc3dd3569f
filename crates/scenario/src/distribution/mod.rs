//! Distributions of a quantity over the flows of a group.

pub(crate) mod csv_column;
pub(crate) mod csv_rows;
mod reading;
mod transfer;
mod varied;
mod workload;

use crate::quantity::Quantity;
use serde::Serialize;
use std::cell::LazyCell;
use std::ops::RangeInclusive;
use tailback_core::primitives::math;
use tailback_core::primitives::random::Stream;
pub use transfer::Transfer;
pub use workload::Workload;

/// One value per flow. Random values are drawn from a stream per flow, so that an additional flow does not change other draws.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Distribution<Q> {
    /// Uniform between two bounds.
    Uniform(Q, Q),
    /// Spread evenly between two bounds without chance: flow `i` of `n` gets `low + (high - low) (i + 1/2) / n`.
    Evenly(Q, Q),
    /// With this mean.
    Exponential(Q),
    Pareto {
        mean: Q,
        /// Above 1, so that the mean exists.
        shape: f64,
    },
    Lognormal {
        median: Q,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// Truncated Pareto distribution between two bounds.
    BoundedPareto { lowest: Q, highest: Q, shape: f64 },
    /// Points of a cumulative distribution, with linear interpolation. The first value has the probability of its share.
    Cdf(Vec<(Q, f64)>),
    /// A published distribution of sizes.
    #[serde(serialize_with = "by_name")]
    Workload(&'static Workload),
    /// The same for all.
    #[serde(untagged)]
    Fixed(Q),
    /// One for each flow in turn.
    #[serde(untagged)]
    List(Vec<Q>),
}

fn by_name<S: serde::Serializer>(workload: &&'static Workload, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(workload.name)
}

/// Index of a flow in its group.
#[derive(Clone, Copy)]
pub(crate) struct Nth {
    pub index: u64,
    pub count: u64,
}

impl<Q> Distribution<Q> {
    /// Number of values of a list.
    pub(crate) fn list_length(&self) -> Option<usize> {
        match self {
            Distribution::List(values) => Some(values.len()),
            _ => None,
        }
    }

    /// The value of a flow, in the smallest unit.
    pub(crate) fn draw(&self, flow: Nth, stream: impl FnOnce() -> Stream) -> u64
    where
        Q: Quantity,
    {
        self.draw_within(0..=u64::MAX, flow, stream)
    }

    /// The same for a distribution with bounds within the range, or without bounds and with a median within the range. Draws outside the range
    /// are repeated.
    pub(crate) fn draw_within(&self, range: RangeInclusive<u64>, flow: Nth, stream: impl FnOnce() -> Stream) -> u64
    where
        Q: Quantity,
    {
        // Nearly half of the draws are within the range, or more.
        const ATTEMPTS: u64 = 64;
        let stream = LazyCell::new(stream);
        let mut attempts = (0..ATTEMPTS).map(|attempt| self.value(flow, |number| stream.uniform(2 * attempt + number)));
        attempts.find(|value| range.contains(value) || self.has_bounds()).unwrap_or_else(|| self.median())
    }

    /// The smallest and the largest value of any flow with any seed, in the smallest unit.
    pub(crate) fn bounds(&self) -> [u64; 2]
    where
        Q: Quantity,
    {
        const HIGHEST: f64 = 1.0 - f64::EPSILON / 2.0;
        let ends = |values: &[u64]| [values.iter().min(), values.iter().max()].map(|end| end.copied().unwrap_or_default());
        match self {
            Distribution::List(values) => ends(&values.iter().map(|value| value.base()).collect::<Vec<_>>()),
            Distribution::Evenly(low, high) => [low.base(), high.base()],
            // Values rise with the first draw; those of Box and Muller lie farthest out for an angle of 0 or half a turn.
            _ => {
                let draws = [[0.0, 0.0], [HIGHEST, 0.0], [HIGHEST, 0.5]];
                ends(&draws.map(|draws| self.value(Nth { index: 0, count: 1 }, |number| draws[number as usize])))
            }
        }
    }

    /// Whether all values are within bounds that the distribution states.
    pub(crate) fn has_bounds(&self) -> bool {
        !matches!(self, Distribution::Exponential(_) | Distribution::Pareto { .. } | Distribution::Lognormal { .. })
    }

    /// Half of the draws are at most this value, in the smallest unit.
    pub(crate) fn median(&self) -> u64
    where
        Q: Quantity,
    {
        match self {
            Distribution::Lognormal { median, .. } => median.base(),
            _ => self.value(Nth { index: 0, count: 1 }, |_| 0.5),
        }
    }

    /// The value of a flow with these uniform draws.
    fn value(&self, flow: Nth, uniform: impl Fn(u64) -> f64) -> u64
    where
        Q: Quantity,
    {
        let between = |low: Q, high: Q, share: f64| low.base() + ((high.base() - low.base()) as f64 * share) as u64;
        match *self {
            Distribution::Fixed(value) => value.base(),
            Distribution::List(ref values) => values.get(flow.index as usize).map_or(0, |value| value.base()),
            Distribution::Evenly(low, high) => between(low, high, (flow.index as f64 + 0.5) / flow.count as f64),
            Distribution::Uniform(low, high) => between(low, high, uniform(0)),
            Distribution::Exponential(mean) => (mean.base() as f64 * -math::ln(1.0 - uniform(0))) as u64,
            Distribution::Pareto { mean, shape } => {
                // By inversion: lowest * (1 - u)^(-1/shape), with the lowest value that gives the mean.
                let lowest = mean.base() as f64 * (shape - 1.0) / shape;
                (lowest * math::exp(-math::ln(1.0 - uniform(0)) / shape)) as u64
            }
            Distribution::Lognormal { median, sigma } => {
                // Box and Muller, Annals of Mathematical Statistics 29(2), 1958.
                let radius = (-2.0 * math::ln(1.0 - uniform(0))).sqrt();
                let normal = radius * math::cos(std::f64::consts::TAU * uniform(1));
                (median.base() as f64 * math::exp(sigma * normal)) as u64
            }
            Distribution::BoundedPareto { lowest, highest, shape } => {
                let (lowest, highest) = (lowest.base() as f64, highest.base() as f64);
                let above = 1.0 - uniform(0) * (1.0 - math::pow(lowest / highest, shape));
                (lowest * math::pow(above, -1.0 / shape)) as u64
            }
            Distribution::Cdf(ref points) => inverse(points.iter().map(|&(value, share)| (value.base(), share)), uniform(0)),
            Distribution::Workload(workload) => workload.quantile(uniform(0)),
        }
    }

    /// Mean of the distribution or list, in the smallest unit.
    pub(crate) fn mean(&self) -> f64
    where
        Q: Quantity,
    {
        let mean = |values: &[Q]| values.iter().map(|value| value.base() as f64).sum::<f64>() / values.len() as f64;
        match *self {
            Distribution::Fixed(value) | Distribution::Exponential(value) | Distribution::Pareto { mean: value, .. } => {
                value.base() as f64
            }
            Distribution::List(ref values) => mean(values),
            Distribution::Evenly(low, high) | Distribution::Uniform(low, high) => mean(&[low, high]),
            Distribution::Lognormal { median, sigma } => median.base() as f64 * math::exp(sigma * sigma / 2.0),
            Distribution::BoundedPareto { lowest, highest, shape } => {
                let (lowest, ratio) = (lowest.base() as f64, lowest.base() as f64 / highest.base() as f64);
                let whole = 1.0 - math::pow(ratio, shape);
                let part = match shape - 1.0 {
                    0.0 => -math::ln(ratio),
                    beyond => (1.0 - math::pow(ratio, beyond)) / beyond,
                };
                if whole == 0.0 { lowest } else { shape * lowest * part / whole }
            }
            Distribution::Cdf(ref points) => mean_of(points.iter().map(|&(value, share)| (value.base(), share))),
            Distribution::Workload(workload) => workload.mean(),
        }
    }
}

/// Inverse of a cumulative distribution with linear interpolation.
fn inverse(points: impl Iterator<Item = (u64, f64)>, share: f64) -> u64 {
    let mut before: Option<(u64, f64)> = None;
    for (value, up_to) in points {
        if share < up_to {
            return before.map_or(value, |(low, from)| low + ((value - low) as f64 * (share - from) / (up_to - from)) as u64);
        }
        before = Some((value, up_to));
    }
    before.map_or(0, |(value, _)| value)
}

/// Mean of a cumulative distribution with linear interpolation.
fn mean_of(points: impl Iterator<Item = (u64, f64)>) -> f64 {
    let (mut sum, mut before) = (0.0, None);
    for (value, share) in points {
        let (low, from) = before.unwrap_or((value, 0.0));
        sum += (share - from) * (low as f64 + value as f64) / 2.0;
        before = Some((value, share));
    }
    sum
}

impl<Q: Default> Default for Distribution<Q> {
    fn default() -> Distribution<Q> {
        Distribution::Fixed(Q::default())
    }
}

#[cfg(test)]
mod tests {
    use super::workload::WORKLOADS;
    use super::*;
    use crate::quantity::Size;
    use tailback_core::primitives::random::{Entity, Purpose};

    const FLOWS: u64 = 100_000;

    fn draws(distribution: &Distribution<Size>) -> Vec<f64> {
        let draw = |index| {
            distribution.draw(Nth { index, count: FLOWS }, || Stream::new(Entity { seed: 1, name: "web", index }, Purpose::Size))
                as f64
        };
        (0..FLOWS).map(draw).collect()
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn evenly_spread_values_are_the_middles_of_equal_parts() {
        let evenly = Distribution::Evenly(Size::new(100), Size::new(200));
        let values: Vec<u64> = (0..4).map(|index| evenly.draw(Nth { index, count: 4 }, || unreachable!())).collect();
        assert_eq!(values, [112, 137, 162, 187]);
    }

    /// Every kind of distribution, with the bounds of its values.
    fn bounded() -> Vec<(Distribution<Size>, [u64; 2])> {
        let size = Size::new;
        let points = vec![(size(100), 0.0), (size(200), 0.0), (size(300), 0.5), (size(400), 1.0), (size(500), 1.0)];
        // 53 bits: the largest draw is below 1 by 2^-53, whose logarithm is -36.74.
        let tail = 2.0_f64.powi(53);
        vec![
            (Distribution::Fixed(size(7)), [7, 7]),
            (Distribution::List(vec![size(9), size(3), size(4)]), [3, 9]),
            (Distribution::Uniform(size(1000), size(3000)), [1000, 2999]),
            (Distribution::Evenly(size(1000), size(3000)), [1000, 3000]),
            (Distribution::Exponential(size(1_000_000)), [0, (1e6 * tail.ln()) as u64]),
            (Distribution::Pareto { mean: size(3000), shape: 3.0 }, [2000, (2000.0 * tail.powf(1.0 / 3.0)) as u64]),
            (Distribution::Lognormal { median: size(1_000_000), sigma: 0.5 }, {
                let farthest = (2.0 * tail.ln()).sqrt() / 2.0;
                [(1e6 * (-farthest).exp()) as u64, (1e6 * farthest.exp()) as u64]
            }),
            (Distribution::BoundedPareto { lowest: size(1000), highest: size(9000), shape: 1.2 }, [1000, 8999]),
            (Distribution::Cdf(points), [200, 399]),
        ]
    }

    #[test]
    fn bounds_are_those_of_all_draws() {
        for (distribution, expected) in bounded() {
            let [lowest, highest] = distribution.bounds();
            let is_near =
                |found: u64, expected: u64| (found as f64 / expected.max(1) as f64 - 1.0).abs() < 1e-3 || found == expected;
            assert!(is_near(lowest, expected[0]) && is_near(highest, expected[1]), "{distribution:?}: {lowest} to {highest}");
            if !matches!(distribution, Distribution::List(_)) {
                let values = draws(&distribution);
                assert!(values.iter().all(|value| (lowest as f64..=highest as f64).contains(value)), "{distribution:?}");
            }
        }
        for workload in WORKLOADS {
            let distribution = Distribution::Workload(workload);
            let [lowest, highest] = distribution.bounds().map(|bound| bound as f64);
            assert!(draws(&distribution).iter().all(|value| (lowest..=highest).contains(value)), "{}", workload.name);
        }
    }

    #[test]
    fn draws_outside_a_range_are_repeated() {
        let exponential = Distribution::Exponential(Size::new(1_000_000));
        let drawn = |range: RangeInclusive<u64>| -> Vec<f64> {
            let one = |index| {
                let stream = || Stream::new(Entity { seed: 1, name: "web", index }, Purpose::Size);
                exponential.draw_within(range.clone(), Nth { index, count: FLOWS }, stream) as f64
            };
            (0..FLOWS).map(one).collect()
        };
        let all = draws(&exponential);
        let (below, above) = (drawn(0..=1_000_000), drawn(500_000..=u64::MAX));
        assert!(below.iter().all(|&value| value <= 1e6) && above.iter().all(|&value| value >= 5e5));
        assert!(all.iter().zip(&below).all(|(free, limited)| *free > 1e6 || free == limited));
        // The mean of an exponential distribution that is cut off at its mean m: m (1 - 1 / (e - 1)), with a deviation below 0.3 m. From
        // half of m on, the distribution begins again.
        let error = |deviation: f64| 5.0 * deviation / (FLOWS as f64).sqrt();
        assert!((mean(&below) - 1e6 * (1.0 - 1.0 / (std::f64::consts::E - 1.0))).abs() < error(3e5));
        assert!((mean(&above) - 1.5e6).abs() < error(1e6));
    }

    /// Within five standard errors of the formulas.
    #[test]
    fn random_draws_have_their_means() {
        let error = |deviation: f64| 5.0 * deviation / (FLOWS as f64).sqrt();
        let uniform = draws(&Distribution::Uniform(Size::new(1_000_000), Size::new(3_000_000)));
        assert!((mean(&uniform) - 2e6).abs() < error(2e6 / 12_f64.sqrt()));
        let exponential = draws(&Distribution::Exponential(Size::new(1_000_000)));
        assert!((mean(&exponential) - 1e6).abs() < error(1e6));
        // Variance of a Pareto distribution with mean m and shape a: m^2 / (a (a - 2)).
        let pareto = draws(&Distribution::Pareto { mean: Size::new(1_000_000), shape: 3.0 });
        assert!((mean(&pareto) - 1e6).abs() < error(1e6 / 3_f64.sqrt()));
        assert!(pareto.iter().all(|&value| value >= 666_666.0));
    }

    #[test]
    fn half_of_the_lognormal_draws_lie_below_the_median() {
        let lognormal = draws(&Distribution::Lognormal { median: Size::new(1_000_000), sigma: 1.0 });
        let below = lognormal.iter().filter(|&&value| value < 1e6).count() as f64;
        assert!((below / FLOWS as f64 - 0.5).abs() < 5.0 * 0.5 / (FLOWS as f64).sqrt());
        // 15.9 % are above e times the median.
        let above = lognormal.iter().filter(|&&value| value > 1e6 * std::f64::consts::E).count() as f64;
        assert!((above / FLOWS as f64 - 0.158_655).abs() < 5.0 * 0.365 / (FLOWS as f64).sqrt());
    }

    /// Within five standard errors of the mean, which is that of the formula; a tail this heavy has a large one.
    #[test]
    fn bounded_draws_stay_within_their_bounds_and_have_their_mean() {
        let bounded = Distribution::BoundedPareto { lowest: Size::new(1_000), highest: Size::new(1_000_000), shape: 1.2 };
        let values = draws(&bounded);
        assert!(values.iter().all(|value| (1_000.0..=1_000_000.0).contains(value)));
        // k = 1000 bytes, s = 1.2: 6 k (1 - 1000^-0.2) / (1 - 1000^-1.2).
        let wanted = 6_000.0 * (1.0 - 1000_f64.powf(-0.2)) / (1.0 - 1000_f64.powf(-1.2));
        assert!((bounded.mean() / wanted - 1.0).abs() < 1e-12);
        let deviation = (values.iter().map(|value| (value - wanted).powi(2)).sum::<f64>() / FLOWS as f64).sqrt();
        assert!((mean(&values) - wanted).abs() < 5.0 * deviation / (FLOWS as f64).sqrt() + 1.0);
        // With shape 1 the mean is k ln(H/k) / (1 - k/H).
        let even = Distribution::BoundedPareto { lowest: Size::new(1_000), highest: Size::new(10_000), shape: 1.0 };
        assert!((even.mean() - 1_000.0 * 10_f64.ln() / 0.9).abs() < 1e-9);
    }

    #[test]
    fn a_share_of_a_cumulative_distribution_is_drawn_as_often() {
        let points = vec![(Size::new(100), 0.25), (Size::new(200), 0.5), (Size::new(200), 0.75), (Size::new(1_000), 1.0)];
        let cdf = Distribution::Cdf(points);
        let values = draws(&cdf);
        let share = |fits: &dyn Fn(f64) -> bool| values.iter().filter(|&&value| fits(value)).count() as f64 / FLOWS as f64;
        let error = 5.0 * 0.5 / (FLOWS as f64).sqrt();
        assert!((share(&|value| value == 100.0) - 0.25).abs() < error);
        assert!((share(&|value| value == 200.0) - 0.25).abs() < error);
        assert!((share(&|value| value < 150.0) - 0.375).abs() < error);
        assert!((share(&|value| value <= 600.0) - 0.875).abs() < error);
        // 0.25 x 100 + 0.25 x 150 + 0.25 x 200 + 0.25 x 600.
        assert_eq!(cdf.mean(), 262.5);
    }

    #[test]
    fn draws_of_a_workload_have_its_shares() {
        let share = |name: &str, fits: &dyn Fn(f64) -> bool| {
            let workload = WORKLOADS.iter().find(|workload| workload.name == name).unwrap();
            let drawn = draws(&Distribution::Workload(workload));
            drawn.iter().filter(|&&value| fits(value)).count() as f64 / FLOWS as f64
        };
        let error = 5.0 * 0.5 / (FLOWS as f64).sqrt();
        assert!((share("data_mining", &|value| value == 1460.0) - 0.5).abs() < error);
        assert!((share("facebook_hadoop", &|value| value == 600.0) - (0.4591 - 0.2639)).abs() < error);
    }
}
