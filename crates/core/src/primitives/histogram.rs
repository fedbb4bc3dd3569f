//! Percentiles of durations in fixed space: 128 buckets per power of two, so that a percentile is within 0.4 % of the sample's.

use super::units::TimeDelta;
use serde::{Deserialize, Serialize};

const BITS: u32 = 7;

/// Counts of durations.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

impl Histogram {
    #[inline]
    pub fn add(&mut self, span: TimeDelta) {
        let bucket = bucket_of(span.0);
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.total += 1;
    }

    /// Add the samples of another histogram.
    pub fn add_all(&mut self, other: &Histogram) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (count, other) in self.counts.iter_mut().zip(&other.counts) {
            *count += other;
        }
        self.total += other.total;
    }

    /// The smallest duration that at least `share` of the samples do not exceed, in seconds (the middle of its bucket); NaN without
    /// samples.
    pub fn percentile(&self, share: f64) -> f64 {
        let wanted = (share * self.total as f64).max(1.0);
        let mut seen = 0;
        for (bucket, &count) in self.counts.iter().enumerate() {
            seen += count;
            if count > 0 && seen as f64 >= wanted {
                return middle(bucket).seconds();
            }
        }
        f64::NAN
    }
}

fn bucket_of(value: u64) -> usize {
    let shift = (64 - value.leading_zeros()).saturating_sub(BITS + 1);
    ((shift as usize) << BITS) + (value >> shift) as usize
}

fn middle(bucket: usize) -> TimeDelta {
    let shift = (bucket >> BITS).saturating_sub(1);
    let low = ((bucket - (shift << BITS)) as u64) << shift;
    TimeDelta(low + ((1u64 << shift) - 1) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_within_half_a_percent_of_the_middle_of_its_bucket() {
        let mut value = 1u64;
        while value < 1 << 62 {
            let found = middle(bucket_of(value)).0 as f64;
            assert!((found - value as f64).abs() <= 0.004 * value as f64, "{value} -> {found}");
            value += 1 + value / 7;
        }
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
