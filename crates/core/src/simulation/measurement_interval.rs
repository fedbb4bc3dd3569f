//! The measurement interval of a run. Hops are computed ahead, so a packet may be processed beyond the end. Every count is assigned to the
//! phase in which it takes place.

use crate::primitives::units::{Time, TimeDelta};
use serde::{Deserialize, Serialize};

/// The phases of a run: warm-up, measurement interval, and beyond the end.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct MeasurementInterval {
    pub(crate) warmup: Time,
    pub(crate) end: Time,
}

/// A count per phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PhaseCounts(pub(crate) [u64; 3]);

impl MeasurementInterval {
    #[inline]
    pub(crate) fn part(&self, time: Time) -> usize {
        usize::from(time >= self.warmup) + usize::from(time >= self.end)
    }

    #[inline]
    pub(crate) fn measures(&self, time: Time) -> bool {
        time >= self.warmup && time < self.end
    }

    #[inline]
    pub(crate) fn measures_all(&self, times: [Time; 2]) -> bool {
        times.iter().all(|&time| self.measures(time))
    }

    /// The part of `from..to` within the measurement interval.
    #[inline]
    pub(crate) fn overlap(&self, from: Time, to: Time) -> TimeDelta {
        to.min(self.end).since(from.max(self.warmup))
    }
}

impl PhaseCounts {
    #[inline]
    pub(crate) fn add(&mut self, part: usize, n: u64) {
        self.0[part] += n;
    }

    pub(crate) fn measured(&self) -> u64 {
        self.0[1]
    }

    pub(crate) fn all(&self) -> u64 {
        self.0.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_is_cut_at_both_ends() {
        let interval = MeasurementInterval { warmup: Time(10), end: Time(20) };
        assert_eq!(interval.overlap(Time(5), Time(12)), TimeDelta(2));
        assert_eq!(interval.overlap(Time(18), Time(30)), TimeDelta(2));
        assert_eq!(interval.overlap(Time(5), Time(30)), TimeDelta(10));
        assert_eq!(interval.overlap(Time(1), Time(9)), TimeDelta(0));
        assert_eq!([9, 10, 19, 20].map(|t| interval.part(Time(t))), [0, 1, 1, 2]);
    }
}
