//! Random delays per packet.

use crate::primitives::math;
use crate::primitives::random::Draws;
use crate::primitives::units::TimeDelta;
use serde::{Deserialize, Serialize};

/// A random or fixed delay per packet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Delay {
    Fixed(TimeDelta),
    Uniform(TimeDelta, TimeDelta),
    /// Mean.
    Exponential(TimeDelta),
    /// Mean and standard deviation of the normal distribution; negative values are drawn again.
    Normal(TimeDelta, TimeDelta),
}

impl Delay {
    /// Whether the delay is random.
    pub fn is_random(self) -> bool {
        !matches!(self, Delay::Fixed(_))
    }

    /// The delay of the next packet.
    pub(crate) fn draw(self, draws: &mut Draws) -> TimeDelta {
        match self {
            Delay::Fixed(span) => span,
            Delay::Uniform(low, high) => low + TimeDelta((draws.uniform() * (high - low).0 as f64) as u64),
            Delay::Exponential(mean) => TimeDelta::from_seconds(draws.exponential() * mean.seconds()),
            Delay::Normal(mean, deviation) => loop {
                // The mean is not negative, so that at least half of the draws are accepted.
                let seconds = mean.seconds() + deviation.seconds() * standard_normal(draws);
                if seconds >= 0.0 {
                    return TimeDelta::from_seconds(seconds);
                }
            },
        }
    }
}

/// Box and Muller, Annals of Mathematical Statistics 29(2), 1958.
fn standard_normal(draws: &mut Draws) -> f64 {
    let radius = (2.0 * draws.exponential()).sqrt();
    radius * math::cos(std::f64::consts::TAU * draws.uniform())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::random::{Entity, Purpose, Stream};

    fn seconds(delay: Delay) -> Vec<f64> {
        let mut draws = Draws::new(Stream::new(Entity { seed: 5, name: "link", index: 0 }, Purpose::LinkJitter));
        (0..100_000).map(|_| delay.draw(&mut draws).seconds()).collect()
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    /// Five standard errors of a hundred thousand draws.
    #[test]
    fn draws_have_the_means_of_their_distributions() {
        let error = |deviation: f64| 5.0 * deviation / 100_000_f64.sqrt();
        let uniform = seconds(Delay::Uniform(TimeDelta::from_millis(1000), TimeDelta::from_millis(3000)));
        assert!((mean(&uniform) - 2.0).abs() < error(2.0 / 12_f64.sqrt()));
        assert!((mean(&seconds(Delay::Exponential(TimeDelta::from_millis(1000)))) - 1.0).abs() < error(1.0));
        // With a mean of five deviations, truncation is negligible. With mean zero, half of the distribution is cut off, and the mean is
        // that of a half-normal distribution, sqrt(2 / pi).
        assert!(
            (mean(&seconds(Delay::Normal(TimeDelta::from_millis(5000), TimeDelta::from_millis(1000)))) - 5.0).abs() < error(1.0)
        );
        let half = seconds(Delay::Normal(TimeDelta::ZERO, TimeDelta::from_millis(1000)));
        assert!((mean(&half) - (2.0 / std::f64::consts::PI).sqrt()).abs() < error(0.603));
        assert!(half.iter().all(|&value| value >= 0.0));
    }

    #[test]
    fn a_third_of_normal_draws_are_beyond_one_deviation() {
        let normal = seconds(Delay::Normal(TimeDelta::from_millis(5000), TimeDelta::from_millis(1000)));
        let beyond = normal.iter().filter(|&&value| (value - 5.0).abs() > 1.0).count() as f64 / 100_000.0;
        // 1 - erf(1 / sqrt 2) = 0.317311.
        assert!((beyond - 0.317_311).abs() < 5.0 * 0.466 / 100_000_f64.sqrt());
    }
}
