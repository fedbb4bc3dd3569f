//! Growth of a window of whole segments by counting acknowledged ones.

use crate::primitives::units::Cwnd;
use serde::{Deserialize, Serialize};

/// Counts the segments acknowledged since the window last grew.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct SegmentCount {
    /// Acknowledged segments for which the window opens by one, at least 1.
    pub per_segment: f64,
    pub acked: f64,
}

impl SegmentCount {
    /// The window after this many acknowledged segments. Segments counted for a larger `per_segment` open it by at most one. It grows by at
    /// most the acknowledged segments, or doubles.
    pub fn grow(&mut self, Cwnd(mut window): Cwnd, counted: f64) -> f64 {
        let max = window + window.max(counted);
        let per_segment = self.per_segment.max(1.0);
        if self.acked >= per_segment {
            self.acked = 0.0;
            window += 1.0;
        }
        self.acked += counted;
        let added = (self.acked / per_segment).floor();
        self.acked -= added * per_segment;
        (window + added).min(max)
    }

    /// Starts again, after a reduction.
    pub fn clear(&mut self) {
        self.acked = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_grows_by_one_when_that_many_segments_are_acknowledged() {
        let mut count = SegmentCount { per_segment: 3.0, acked: 0.0 };
        assert_eq!([2.0, 1.0, 7.0].map(|counted| count.grow(Cwnd(8.0), counted)), [8.0, 9.0, 10.0]);
        // One of three is counted.
        count.clear();
        assert_eq!(count.grow(Cwnd(8.0), 2.0), 8.0);
    }

    #[test]
    fn segments_counted_for_a_slower_growth_add_one() {
        let mut count = SegmentCount { per_segment: 100.0, acked: 0.0 };
        assert_eq!(count.grow(Cwnd(8.0), 99.0), 8.0);
        count.per_segment = 9.0;
        assert_eq!([count.grow(Cwnd(8.0), 1.0), count.grow(Cwnd(9.0), 8.0)], [9.0, 10.0]);
    }
}
