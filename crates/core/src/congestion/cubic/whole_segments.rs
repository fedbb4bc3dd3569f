//! Growth of CUBIC's window by whole segments: sections 3 and 4 of the paper, with its names, and with the numbers of Linux 6.18 as its
//! parameters give them (`beta` 717 of 1024, `bic_scale` 41, `tcp_friendliness`, 250 ticks per second) and as its windows show them: over
//! 10 Mbit/s with 40 ms and 3 % of random losses a kernel has 1.39 Mbit/s, this growth 1.43 ± 0.02 (standard error of six seeds), and a real
//! window with a real W_est 1.57.

use crate::congestion::support::segment_count::SegmentCount;
use crate::primitives::units::{Cwnd, Time, TimeDelta};
use serde::{Deserialize, Serialize};

/// Fraction of the window that a loss leaves. The paper has 0.8.
pub(super) const BETA: f64 = 717.0 / 1024.0;

/// Acknowledged windows per increase of W_est: 8/3 (1 + beta) / (1 - beta) in whole eighths, the AIMD that is as fast as Reno.
const WINDOWS_PER_INCREASE: f64 = 15.0 / 8.0;

/// cnt is computed again after this time in ticks of the clock, or when the window has changed.
const UPDATE_INTERVAL: TimeDelta = TimeDelta::from_micros(31_250);

/// Windows to wait if the target is not above the window (section 4).
const CNT_AT_TARGET: f64 = 100.0;

/// Bounds of cnt: at most one segment is added for every two acknowledged (RFC 9438 section 4.4); while the capacity of the path is unknown,
/// at least 5 % of the window per RTT. After HyStart has ended slow start, the queue of a 20 Mbit/s link grows by 83 packets per second.
const MIN_CNT: f64 = 2.0;
pub(super) const MAX_CNT_WITHOUT_W_MAX: f64 = 20.0;

/// Counters of acknowledged segments in a stage.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Growth {
    /// cnt and cwnd_cnt. cnt is that of this window, computed at this time.
    segments: SegmentCount,
    computed: Option<(Cwnd, Time)>,
    /// Segments acknowledged since W_est last grew.
    ack_cnt: f64,
}

/// What an acknowledgement changes, after it was counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Counted {
    /// Nothing: cnt is recent, and the window has not changed.
    Kept,
    /// W_est by this increase, which may lower cnt; the curve follows at the next tick of the clock.
    Estimate(f64),
    /// W_est by this increase, and cnt, which is computed again.
    Target(f64),
}

impl Growth {
    /// Counts acknowledged segments for W_est.
    pub(super) fn count(&mut self, counted: f64, window: Cwnd, now: Time, jiffy: TimeDelta) -> Counted {
        self.ack_cnt += counted;
        let ticks = |time| time / jiffy.0.max(1);
        let elapsed = self.computed.map(|(at, since)| (at, ticks(now.0) - ticks(since.0)));
        if elapsed.is_some_and(|(at, elapsed)| at == window && elapsed <= ticks(UPDATE_INTERVAL.0)) {
            return Counted::Kept;
        }
        let is_of_this_tick = elapsed.is_some_and(|(_, elapsed)| elapsed == 0);
        let per_increase = (window.0 * WINDOWS_PER_INCREASE).floor();
        // Every increase requires one segment more than this.
        let increase = ((self.ack_cnt - 1.0) / per_increase).floor().max(0.0);
        self.ack_cnt -= increase * per_increase;
        if is_of_this_tick {
            return Counted::Estimate(increase);
        }
        self.computed = Some((window, now));
        Counted::Target(increase)
    }

    /// W_est may lower cnt.
    pub(super) fn follow(&mut self, Cwnd(window): Cwnd, Cwnd(w_est): Cwnd) {
        if w_est > window {
            let cnt = (window / (w_est - window)).floor();
            self.segments.per_segment = self.segments.per_segment.min(cnt).max(MIN_CNT);
        }
    }

    /// Computes cnt from the larger of the curve and W_est.
    pub(super) fn aim(&mut self, Cwnd(window): Cwnd, Cwnd(target): Cwnd, max: f64) {
        let cnt = if target > window { (window / (target - window)).floor() } else { CNT_AT_TARGET * window };
        self.segments.per_segment = cnt.min(max).max(MIN_CNT);
    }

    /// The window after this many acknowledged segments. Segments counted at a larger cnt add one segment at most.
    pub(super) fn grow(&mut self, window: Cwnd, counted: f64) -> f64 {
        self.segments.grow(window, counted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Cwnd = Cwnd(8.0);

    fn at(microseconds: u64) -> Time {
        Time(TimeDelta::from_micros(microseconds).0)
    }

    const EXACT: TimeDelta = TimeDelta::ZERO;

    #[test]
    fn the_estimate_grows_by_one_for_each_fifteen_eighths_of_a_window() {
        let mut growth = Growth::default();
        // 8 * 15 / 8 = 15 segments, and one more.
        assert_eq!(growth.count(15.0, WINDOW, at(0), EXACT), Counted::Target(0.0));
        assert_eq!(growth.count(1.0, Cwnd(9.0), at(1), EXACT), Counted::Target(0.0));
        let next = [1.0, 30.0].map(|counted| growth.count(counted, WINDOW, at(2), EXACT));
        assert_eq!(next, [Counted::Target(1.0), Counted::Kept]);
        assert_eq!(growth.count(0.0, WINDOW, at(40_000), EXACT), Counted::Target(2.0));
    }

    #[test]
    fn the_target_is_computed_again_after_a_32nd_of_a_second_or_for_another_window() {
        let mut growth = Growth::default();
        let mut is_due = |window, microseconds| growth.count(1.0, Cwnd(window), at(microseconds), EXACT) != Counted::Kept;
        assert_eq!([is_due(8.0, 0), is_due(8.0, 31_250), is_due(8.0, 31_251), is_due(9.0, 31_252)], [true, false, true, true]);
    }

    /// 3.84 Mbit/s and 4 ms behind a buffer of 3 packets: one flow of Linux 6.12.117 retransmits 433 segments in 30 s, this growth 433, and 330
    /// without the rules of the tick.
    #[test]
    fn within_a_tick_the_curve_is_not_computed_again_and_ticks_elapse() {
        let mut growth = Growth::default();
        let jiffy = TimeDelta::from_millis(1);
        let mut count = |window, microseconds| growth.count(10.0, Cwnd(window), at(microseconds), jiffy);
        assert_eq!([count(8.0, 900), count(9.0, 950)], [Counted::Target(0.0), Counted::Estimate(1.0)]);
        assert_eq!(count(9.0, 1_000), Counted::Target(0.0));
        // 31 ticks later, and 32.
        assert_eq!([count(9.0, 32_900), count(9.0, 33_000)], [Counted::Kept, Counted::Target(2.0)]);
    }

    #[test]
    fn the_estimate_alone_lowers_cnt_but_does_not_raise_it() {
        let mut growth = Growth::default();
        growth.aim(WINDOW, Cwnd(10.0), f64::INFINITY);
        let mut after = |w_est| {
            growth.follow(WINDOW, Cwnd(w_est));
            growth.segments.per_segment
        };
        assert_eq!([after(8.0), after(9.0), after(11.0), after(30.0)], [4.0, 4.0, 2.0, MIN_CNT]);
    }

    #[test]
    fn the_window_grows_once_per_window_over_the_distance_to_the_target() {
        let mut growth = Growth::default();
        growth.aim(WINDOW, Cwnd(11.0), f64::INFINITY);
        // 8 / 3 = 2
        assert_eq!([growth.grow(WINDOW, 1.0), growth.grow(WINDOW, 1.0), growth.grow(WINDOW, 5.0)], [8.0, 9.0, 10.0]);
        growth.aim(WINDOW, Cwnd(80.0), f64::INFINITY);
        assert_eq!(growth.segments.per_segment, MIN_CNT);
        growth.aim(WINDOW, Cwnd(8.5), MAX_CNT_WITHOUT_W_MAX);
        assert_eq!(growth.segments.per_segment, 16.0);
        growth.aim(WINDOW, Cwnd(7.0), MAX_CNT_WITHOUT_W_MAX);
        assert_eq!(growth.segments.per_segment, 20.0);
    }

    #[test]
    fn segments_counted_while_the_target_was_reached_add_one_segment() {
        let mut growth = Growth::default();
        growth.aim(WINDOW, WINDOW, f64::INFINITY);
        assert_eq!(growth.grow(WINDOW, 100.0), 8.0);
        growth.aim(WINDOW, Cwnd(9.0), f64::INFINITY);
        assert_eq!([growth.grow(WINDOW, 1.0), growth.grow(WINDOW, 7.0)], [9.0, 9.0]);
        assert_eq!(growth.segments.acked, 0.0);
    }
}
