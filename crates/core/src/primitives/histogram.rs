//! Percentiles of durations in fixed space: 128 buckets per power of two. A percentile is the mean of the samples in its bucket, so that it is
//! within 0.8 % of the sample's, exact if the samples are equal, and never below the smallest.

use super::units::TimeDelta;
use serde::{Deserialize, Serialize};

const BITS: u32 = 7;

/// Counts of durations.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Histogram {
    counts: Vec<u64>,
    /// Sum of the samples of each bucket, in picoseconds.
    sums: Vec<u128>,
    total: u64,
}

impl Histogram {
    #[inline]
    pub fn add(&mut self, span: TimeDelta) {
        let bucket = bucket_of(span.0);
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
            self.sums.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.sums[bucket] += u128::from(span.0);
        self.total += 1;
    }

    /// Add the samples of another histogram.
    pub fn add_all(&mut self, other: &Histogram) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
            self.sums.resize(other.sums.len(), 0);
        }
        for (count, other) in self.counts.iter_mut().zip(&other.counts) {
            *count += other;
        }
        for (sum, other) in self.sums.iter_mut().zip(&other.sums) {
            *sum += other;
        }
        self.total += other.total;
    }

    /// The smallest duration that at least `share` of the samples do not exceed, in seconds (the mean of its bucket); NaN without samples.
    pub fn percentile(&self, share: f64) -> f64 {
        let wanted = (share * self.total as f64).max(1.0);
        let mut seen = 0;
        for (&count, &sum) in self.counts.iter().zip(&self.sums) {
            seen += count;
            if count > 0 && seen as f64 >= wanted {
                return TimeDelta((sum / u128::from(count)) as u64).seconds();
            }
        }
        f64::NAN
    }
}

fn bucket_of(value: u64) -> usize {
    let shift = (64 - value.leading_zeros()).saturating_sub(BITS + 1);
    ((shift as usize) << BITS) + (value >> shift) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_one_bucket_differ_by_less_than_0_8_percent() {
        let mut value = 1u64;
        while value < 1 << 62 {
            assert!(bucket_of(value) < bucket_of(value + 1 + value / 127), "{value}");
            value += 1 + value / 7;
        }
    }

    #[test]
    fn percentiles_of_equal_samples_are_exact() {
        let mut histogram = Histogram::default();
        (0..1000).for_each(|_| histogram.add(TimeDelta::from_micros(20_800)));
        assert_eq!([0.5, 0.99].map(|share| histogram.percentile(share)), [0.0208; 2]);
        // The bucket of the median has 20.75 ms, too: the mean lies between them.
        (0..1000).for_each(|_| histogram.add(TimeDelta::from_micros(20_750)));
        assert_eq!(histogram.percentile(0.5), 0.020_775);
    }

    #[test]
    fn percentiles_of_a_thousand_steps() {
        let mut histogram = Histogram::default();
        (1..=1000).for_each(|ms| histogram.add(TimeDelta::from_millis(ms)));
        for (share, expected) in [(0.5, 0.5), (0.95, 0.95), (0.99, 0.99)] {
            assert!((histogram.percentile(share) / expected - 1.0).abs() < 0.005);
        }
        assert!(Histogram::default().percentile(0.5).is_nan());
    }
}
