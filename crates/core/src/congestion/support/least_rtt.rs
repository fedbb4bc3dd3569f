//! Minimum RTT of a period and of the flow, in whole microseconds plus one, as Linux's delay-based modules have them.

use super::events::RoundTrip;
use crate::primitives::units::TimeDelta;
use serde::{Deserialize, Serialize};

/// Zero stands for no sample.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct LeastRtt {
    /// Of the flow.
    pub base: u64,
    /// Since the period began, and the number of its samples.
    pub least: u64,
    pub samples: u32,
}

impl LeastRtt {
    /// A duplicate, which has no average, is no sample.
    pub fn measure(&mut self, measured: &RoundTrip) {
        if measured.smoothed.is_none() {
            return;
        }
        let sample = measured.sample.0 / TimeDelta::from_micros(1).0 + 1;
        let min = |before: u64| if before == 0 { sample } else { before.min(sample) };
        (self.base, self.least) = (min(self.base), min(self.least));
        self.samples = self.samples.saturating_add(1);
    }

    /// Begins a period. Returns the minimum and the number of samples of the last one.
    pub fn begin(&mut self) -> (u64, u32) {
        (std::mem::take(&mut self.least), std::mem::take(&mut self.samples))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_has_its_own_minimum() {
        let mut rtts = LeastRtt::default();
        let measure = |rtts: &mut LeastRtt, microseconds, smoothed| {
            rtts.measure(&RoundTrip { sample: TimeDelta::from_micros(microseconds), smoothed });
        };
        let average = Some(TimeDelta::from_millis(1));
        measure(&mut rtts, 40, average);
        assert_eq!(rtts.begin(), (41, 1));
        measure(&mut rtts, 60, average);
        measure(&mut rtts, 50, average);
        measure(&mut rtts, 10, None);
        assert_eq!((rtts.base, rtts.begin(), rtts.begin()), (41, (51, 2), (0, 0)));
    }
}
