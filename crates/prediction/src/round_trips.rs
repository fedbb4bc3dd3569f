//! Means of the round trips of many flows.

use crate::traffic::sum;
use tailback_models::ParameterError;
use tailback_models::parameter::Positive;

/// Means of all round trips without queueing, and the longest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundTrips {
    /// The common round trip with which flows that follow the square-root law would have the same total rate.
    pub harmonic_s: f64,
    pub mean_s: f64,
    /// Infinite for an unbounded distribution.
    pub max_s: f64,
}

impl RoundTrips {
    /// Of a list with at least one element.
    pub fn listed(rtts_s: &[f64]) -> RoundTrips {
        let (min, max) = rtts_s.iter().fold((f64::INFINITY, 0.0_f64), |(min, max), &rtt| (rtt.min(min), rtt.max(max)));
        if min == max {
            return RoundTrips { harmonic_s: min, mean_s: min, max_s: min };
        }
        let (count, inverse) = (rtts_s.len() as f64, sum(rtts_s.iter().map(|rtt| 1.0 / rtt)));
        RoundTrips { harmonic_s: count / inverse, mean_s: sum(rtts_s.iter().copied()) / count, max_s: max }
    }

    /// cui-thesis, section 3.3.2: (b - a) / ln(b / a).
    pub fn uniform(low_s: f64, high_s: f64) -> RoundTrips {
        let ratio = libm::log(high_s / low_s);
        let harmonic_s = if ratio > 0.0 { (high_s - low_s) / ratio } else { low_s };
        RoundTrips { harmonic_s, mean_s: (low_s + high_s) / 2.0, max_s: high_s }
    }

    /// With the lowest value l = mean (a - 1) / a the mean of 1 / x is a / ((a + 1) l).
    pub fn pareto(mean_s: f64, shape: f64) -> RoundTrips {
        let lowest = mean_s * (shape - 1.0) / shape;
        RoundTrips { harmonic_s: lowest * (shape + 1.0) / shape, mean_s, max_s: f64::INFINITY }
    }

    pub fn lognormal(median_s: f64, sigma: f64) -> RoundTrips {
        let spread = libm::exp(sigma * sigma / 2.0);
        RoundTrips { harmonic_s: median_s / spread, mean_s: median_s * spread, max_s: f64::INFINITY }
    }

    /// The harmonic and the arithmetic mean as parameters of models.
    pub(crate) fn parameters(&self) -> Result<(Positive, Positive), ParameterError> {
        Ok((Positive::new("harmonic_rtt_s", self.harmonic_s)?, Positive::new("mean_rtt_s", self.mean_s)?))
    }
}
