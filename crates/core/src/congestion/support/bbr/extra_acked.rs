//! Aggregation of acknowledgements (5.5.9): segments delivered in excess of the estimated bandwidth, for which the window has to allow.

use crate::congestion::support::windowed_max::WindowedMax;
use crate::primitives::units::{Segments, Time};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ExtraAcked {
    interval_start: Time,
    delivered: f64,
    /// By rounds.
    pub filter: WindowedMax<f64>,
}

impl ExtraAcked {
    /// Segments delivered since the start of the interval in excess of this bandwidth. An interval without excess ends.
    #[inline]
    pub fn excess(&mut self, now: Time, Segments(newly_acked): Segments, bw: f64) -> f64 {
        let mut expected = bw * now.since(self.interval_start).seconds();
        if self.delivered <= expected {
            (self.delivered, self.interval_start, expected) = (0.0, now, 0.0);
        }
        self.delivered += f64::from(newly_acked);
        self.delivered - expected
    }

    /// The next acknowledgement begins an interval (5.4.1).
    #[inline]
    pub fn restart(&mut self) {
        self.delivered = 0.0;
    }

    #[inline]
    pub fn max(&self) -> f64 {
        self.filter.greatest().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::units::TimeDelta;

    #[test]
    fn an_excess_accumulates_until_the_bandwidth_catches_up() {
        let mut extra = ExtraAcked::default();
        // Ten segments per acknowledgement, at one segment per millisecond.
        let mut at = |milliseconds| {
            let now = Time(TimeDelta::from_millis(milliseconds).0);
            extra.excess(now, Segments(10), 1000.0)
        };
        assert_eq!([at(100), at(100), at(105), at(130)], [10.0, 20.0, 25.0, 10.0]);
    }
}
