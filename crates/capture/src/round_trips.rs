//! Round-trip times of one direction: number, distribution, and the resulting retransmission timeout.

use std::time::Duration;
use tailback_core::primitives::histogram::Histogram;
use tailback_core::primitives::units::TimeDelta;

/// Samples of the round-trip time.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoundTrips {
    pub(crate) samples: u64,
    sum: u128,
    min: u64,
    max: u64,
    /// The first samples, stored individually: most connections have few.
    few: Vec<u64>,
    /// Histogram of all samples, once there are many.
    many: Option<Box<Histogram>>,
    smoothed: Smoothed,
}

/// SRTT and RTTVAR of RFC 6298 section 2.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Smoothed {
    mean: u64,
    deviation: u64,
    has_any: bool,
}

const FEW: usize = 64;

impl RoundTrips {
    pub(crate) fn add(&mut self, sample: Duration) {
        let sample = nanoseconds(sample);
        self.min = if self.samples == 0 { sample } else { self.min.min(sample) };
        self.max = self.max.max(sample);
        self.sum += u128::from(sample);
        self.samples += 1;
        self.smoothed.add(Duration::from_nanos(sample));
        if let Some(many) = &mut self.many {
            many.add(span(sample));
        } else if self.few.len() < FEW {
            self.few.push(sample);
        } else {
            let mut many = Box::<Histogram>::default();
            self.few.drain(..).chain([sample]).for_each(|sample| many.add(span(sample)));
            self.few = Vec::new();
            self.many = Some(many);
        }
    }

    /// Adds a round trip that is no sample of the data, such as the handshake's: it affects only the timeout.
    pub(crate) fn add_to_timeout(&mut self, sample: Duration) {
        self.smoothed.add(sample);
    }

    pub(crate) fn min(&self) -> Option<Duration> {
        (self.samples > 0).then_some(Duration::from_nanos(self.min))
    }

    pub(crate) fn mean_s(&self) -> f64 {
        // NaN without samples.
        self.sum as f64 / self.samples as f64 / 1e9
    }

    pub(crate) fn max(&self) -> Option<Duration> {
        (self.samples > 0).then_some(Duration::from_nanos(self.max))
    }

    /// The smallest sample that at least the fraction `share` of samples does not exceed, within 0.4 % if there are many; NaN
    /// without samples.
    pub(crate) fn percentile_s(&self, share: f64) -> f64 {
        if let Some(many) = &self.many {
            return many.percentile(share);
        }
        let mut sorted = self.few.clone();
        sorted.sort_unstable();
        let place = ((share * sorted.len() as f64).ceil() as usize).saturating_sub(1);
        sorted.get(place).map_or(f64::NAN, |&sample| Duration::from_nanos(sample).as_secs_f64())
    }

    /// SRTT and RTTVAR of a sender with these samples (RFC 6298 section 2); `None` without samples.
    pub(crate) fn mean_and_deviation(&self) -> Option<(Duration, Duration)> {
        self.smoothed.mean_and_deviation()
    }
}

impl Smoothed {
    pub(crate) fn mean_and_deviation(self) -> Option<(Duration, Duration)> {
        self.has_any.then(|| (Duration::from_nanos(self.mean), Duration::from_nanos(self.deviation)))
    }

    pub(crate) fn add(&mut self, sample: Duration) {
        let sample = nanoseconds(sample);
        if self.has_any {
            // Gains of one eighth and one quarter, applied to differences so that no sum overflows.
            self.deviation = self.deviation - self.deviation / 4 + self.mean.abs_diff(sample) / 4;
            self.mean = self.mean - self.mean / 8 + sample / 8;
        } else {
            *self = Smoothed { mean: sample, deviation: sample / 2, has_any: true };
        }
    }
}

fn nanoseconds(sample: Duration) -> u64 {
    u64::try_from(sample.as_nanos()).unwrap_or(u64::MAX)
}

/// The unit of the histogram.
fn span(sample: u64) -> TimeDelta {
    TimeDelta(sample.saturating_mul(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_milliseconds(samples: impl Iterator<Item = u64>) -> RoundTrips {
        let mut trips = RoundTrips::default();
        samples.for_each(|sample| trips.add(Duration::from_millis(sample)));
        trips
    }

    #[test]
    fn few_samples_are_exact_and_many_within_half_a_percent() {
        let few = of_milliseconds(1..=20);
        assert_eq!((few.percentile_s(0.5), few.percentile_s(0.95), few.mean_s()), (0.010, 0.019, 0.0105));
        let many = of_milliseconds((1..=1000).rev());
        assert!((many.percentile_s(0.99) / 0.990 - 1.0).abs() < 0.005);
        assert_eq!((many.min(), many.max()), (Some(Duration::from_millis(1)), Some(Duration::from_secs(1))));
    }

    #[test]
    fn without_samples_statistics_are_missing() {
        let none = RoundTrips::default();
        assert!(none.mean_s().is_nan() && none.percentile_s(0.5).is_nan() && none.min().is_none());
        assert_eq!(none.mean_and_deviation(), None);
    }

    #[test]
    fn mean_and_deviation_are_smoothed() {
        let smoothed = |samples: &[u64]| of_milliseconds(samples.iter().copied()).mean_and_deviation();
        assert_eq!(smoothed(&[100]), Some((Duration::from_millis(100), Duration::from_millis(50))));
        // Then 180 ms: mean (7 x 100 + 180) / 8, deviation (3 x 50 + 80) / 4.
        assert_eq!(smoothed(&[100, 180]), Some((Duration::from_millis(110), Duration::from_micros(57_500))));
    }
}
