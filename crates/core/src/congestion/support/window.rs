//! Congestion window with a slow-start threshold (RFC 5681 section 3.1).

use crate::primitives::units::{Cwnd, Segments};

/// The window and the threshold of a controller, in segments.
#[derive(Debug)]
pub struct Window<'a> {
    pub cwnd: &'a mut f64,
    pub ssthresh: &'a mut f64,
}

impl Window<'_> {
    /// Slow start: the window opens by one segment per counted segment, up to the threshold. Returns the number of segments left for
    /// congestion avoidance.
    #[inline(always)]
    pub fn slow_start(&mut self, Segments(counted): Segments) -> f64 {
        let counted = f64::from(counted);
        // Whole segments: the first may pass a threshold between two of them.
        let opens = counted.min((*self.ssthresh - *self.cwnd).ceil()).max(0.0);
        *self.cwnd += opens;
        counted - opens
    }

    /// Reduces both after congestion. With fewer than two segments, losses are detected only by the timer.
    #[inline]
    pub fn reduce_to(&mut self, Cwnd(left): Cwnd, Segments(min): Segments) {
        *self.ssthresh = left.max(2.0);
        *self.cwnd = left.max(f64::from(min));
    }

    /// Lowers the window without congestion, and the threshold with it.
    #[inline]
    pub fn decrease(&mut self, Cwnd(lower): Cwnd) {
        *self.cwnd = self.cwnd.min(lower.max(2.0));
        *self.ssthresh = self.ssthresh.min(self.cwnd.max(2.0));
    }

    #[inline]
    pub fn limit(&mut self, Cwnd(max): Cwnd) {
        *self.cwnd = self.cwnd.min(max);
    }

    #[inline]
    pub fn raise_threshold(&mut self, Cwnd(min): Cwnd) {
        *self.ssthresh = self.ssthresh.max(min);
    }

    #[inline]
    pub fn end_slow_start(&mut self) {
        *self.ssthresh = *self.cwnd;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result for a window and a threshold, and both afterwards.
    fn after<R>(mut pair: (f64, f64), change: impl FnOnce(&mut Window<'_>) -> R) -> (R, (f64, f64)) {
        let result = change(&mut Window { cwnd: &mut pair.0, ssthresh: &mut pair.1 });
        (result, pair)
    }

    #[test]
    fn slow_start_opens_by_whole_segments_up_to_the_threshold() {
        let started = |pair, counted| after(pair, |window| window.slow_start(Segments(counted)));
        assert_eq!(started((4.0, 8.0), 3), (0.0, (7.0, 8.0)));
        assert_eq!(started((7.0, 8.0), 3), (2.0, (8.0, 8.0)));
        assert_eq!(started((7.0, 7.5), 3), (2.0, (8.0, 7.5)));
        assert_eq!(started((9.0, 8.0), 3), (3.0, (9.0, 8.0)));
    }

    #[test]
    fn a_reduction_keeps_the_threshold_at_two_and_the_window_at_its_own_minimum() {
        let reduced = |left| after((9.0, 20.0), |window| window.reduce_to(Cwnd(left), Segments(1))).1;
        assert_eq!([reduced(4.5), reduced(1.5), reduced(0.5)], [(4.5, 4.5), (1.5, 2.0), (1.0, 2.0)]);
    }

    #[test]
    fn a_decrease_never_raises_the_window_or_the_threshold() {
        let decreased = |pair, lower| after(pair, |window| window.decrease(Cwnd(lower))).1;
        assert_eq!(decreased((9.0, 20.0), 4.0), (4.0, 4.0));
        assert_eq!((decreased((9.0, 3.0), 4.0), decreased((3.0, 9.0), 4.0)), ((4.0, 3.0), (3.0, 3.0)));
        assert_eq!((decreased((9.0, 9.0), 1.0), decreased((1.0, 9.0), 1.0)), ((2.0, 2.0), (1.0, 2.0)));
    }

    #[test]
    fn a_limit_lowers_the_window_a_raise_the_threshold_and_slow_start_ends_at_the_window() {
        assert_eq!(after((9.0, 20.0), |window| window.limit(Cwnd(5.0))).1, (5.0, 20.0));
        assert_eq!(after((9.0, 4.0), |window| window.raise_threshold(Cwnd(6.0))).1, (9.0, 6.0));
        assert_eq!(after((9.0, 20.0), |window| window.end_slow_start()).1, (9.0, 9.0));
    }
}
