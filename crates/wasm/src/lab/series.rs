//! A curve of bounded size: for each of several thousand time bins the first, smallest, max and last value.

use serde_json::{Value, json};

/// Bins of a whole run.
const BINS: f64 = 4096.0;

/// A quantity over time. The page has all bins but the last.
#[derive(Clone, Debug)]
pub(super) struct Series {
    /// Bins per second.
    per_s: f64,
    /// Points of completed bins that the page does not have yet.
    points: Vec<(f64, f64)>,
    open: Option<Bin>,
    /// End of the open bin; before the first value minus infinity.
    end_s: f64,
    /// Number of points of the open bin that the page has.
    shown: usize,
}

#[derive(Clone, Copy, Debug)]
struct Bin {
    first: (f64, f64),
    min: (f64, f64),
    max: (f64, f64),
    last: (f64, f64),
}

impl Series {
    pub(super) fn new(duration_s: f64) -> Series {
        Series { per_s: BINS / duration_s, points: Vec::new(), open: None, end_s: f64::NEG_INFINITY, shown: 0 }
    }

    /// Records a value from this time on; times never decrease.
    #[inline]
    pub(super) fn note(&mut self, time_s: f64, value: f64) {
        let point = (time_s, value);
        match &mut self.open {
            Some(bin) if time_s < self.end_s => {
                if value < bin.min.1 {
                    bin.min = point;
                } else if value > bin.max.1 {
                    bin.max = point;
                }
                bin.last = point;
            }
            _ => self.begin(point),
        }
    }

    #[inline(never)]
    fn begin(&mut self, point: (f64, f64)) {
        if let Some(bin) = self.open.replace(Bin { first: point, min: point, max: point, last: point }) {
            self.points.extend(bin.points());
        }
        self.end_s = ((point.0 * self.per_s).floor() + 1.0) / self.per_s;
    }

    /// The last value recorded.
    pub(super) fn last(&self) -> Option<f64> {
        self.open.map(|bin| bin.last.1)
    }

    /// New points: the number of points at the end that are replaced, and the number of new points, whose times and values are
    /// appended to `numbers`.
    pub(super) fn read(&mut self, numbers: &mut Vec<f64>) -> Option<Value> {
        let open: Vec<(f64, f64)> = self.open.iter().flat_map(|bin| bin.points()).collect();
        let new = self.points.len() + open.len();
        if new == 0 {
            return None;
        }
        let answer = json!({"replace": self.shown, "at": numbers.len(), "points": new});
        let points = || self.points.iter().chain(&open);
        numbers.extend(points().map(|point| point.0));
        numbers.extend(points().map(|point| point.1));
        self.points.clear();
        self.shown = open.len();
        Some(answer)
    }
}

impl Bin {
    /// Each point once, in order of time.
    fn points(&self) -> impl Iterator<Item = (f64, f64)> + use<> {
        let mut points = vec![self.first, self.min, self.max, self.last];
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        points.dedup();
        points.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_keeps_its_extremes_however_many_values_it_has() {
        let mut series = Series::new(4096.0);
        for (time, value) in [(0.0, 5.0), (0.1, 9.0), (0.2, 6.0), (0.3, 1.0), (0.4, 4.0), (1.0, 7.0)] {
            series.note(time, value);
        }
        let mut numbers = vec![-1.0];
        let read = series.read(&mut numbers).unwrap_or_default();
        // The first bin is complete; the page has one point of the second, which may be replaced.
        assert_eq!(read, json!({"replace": 0, "at": 1, "points": 5}));
        assert_eq!(numbers, [-1.0, 0.0, 0.1, 0.3, 0.4, 1.0, 5.0, 9.0, 1.0, 4.0, 7.0]);
        series.note(1.5, 8.0);
        let read = series.read(&mut numbers).unwrap_or_default();
        assert_eq!(read, json!({"replace": 1, "at": 11, "points": 2}));
        assert_eq!(numbers[11..], [1.0, 1.5, 7.0, 8.0]);
    }
}
