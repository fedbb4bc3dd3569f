//! Windowed maximum filter over rounds, cycles or time. Values superseded by a later and larger one are removed, so each value takes
//! constant time, and at most one value per clock reading is stored.

use crate::primitives::units::{Time, TimeDelta};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Resolution of a time window, in parts.
const PARTS: u64 = 16;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WindowedMax<V> {
    /// Each value exceeds all later ones.
    kept: VecDeque<Observation<V>>,
}

/// A value, and the time on the caller's clock, which does not run backwards.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Observation<V> {
    pub at: u64,
    pub value: V,
}

impl<V> Default for WindowedMax<V> {
    fn default() -> WindowedMax<V> {
        WindowedMax { kept: VecDeque::new() }
    }
}

impl<V: Copy + PartialOrd> WindowedMax<V> {
    /// Adds a value. Values older than `oldest` expire.
    #[inline]
    pub fn take(&mut self, new: Observation<V>, oldest: u64) {
        while self.kept.back().is_some_and(|known| known.value <= new.value) {
            self.kept.pop_back();
        }
        // A smaller value of the same time expires no later than the one before it.
        if self.kept.back().is_none_or(|known| known.at < new.at) {
            self.kept.push_back(new);
        }
        while self.kept.front().is_some_and(|known| known.at < oldest) {
            self.kept.pop_front();
        }
    }

    /// Adds a value at this time with a lifetime of `window`, to a sixteenth of it.
    #[inline]
    pub fn take_for(&mut self, window: TimeDelta, now: Time, value: V) {
        let part = (window.0 / PARTS).max(1);
        self.take(Observation { at: now.0 - now.0 % part, value }, now.before(window).0);
    }

    #[inline]
    pub fn greatest(&self) -> Option<V> {
        self.kept.front().map(|known| known.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Reverse;

    #[test]
    fn the_maximum_lasts_until_it_expires_and_then_the_next_one_applies() {
        let mut lately = WindowedMax::default();
        let greatest = [(1, 5.0), (2, 9.0), (3, 4.0), (3, 6.0), (4, 2.0), (5, 3.0), (6, 1.0)].map(|(at, value): (u64, f64)| {
            lately.take(Observation { at, value }, at - 1);
            lately.greatest()
        });
        assert_eq!(greatest, [5.0, 9.0, 9.0, 9.0, 6.0, 3.0, 3.0].map(Some));
    }

    #[test]
    fn in_a_time_window_values_expire_at_most_one_part_too_early() {
        let window = TimeDelta::from_millis(16);
        let mut lately = WindowedMax::default();
        let mut at = |milliseconds: u64, value: u32| {
            lately.take_for(window, Time(TimeDelta::from_millis(milliseconds).0), value);
            (lately.greatest(), lately.kept.len())
        };
        assert_eq!((at(100, 9), at(110, 7), at(116, 5)), ((Some(9), 1), (Some(9), 2), (Some(9), 3)));
        assert_eq!((at(117, 4), at(127, 1)), ((Some(7), 3), (Some(5), 3)));
    }

    #[test]
    fn for_reversed_values_it_is_the_minimum_and_each_time_is_stored_once() {
        let mut lately = WindowedMax::default();
        [7, 8, 6, 9].into_iter().for_each(|value| lately.take(Observation { at: 1, value: Reverse(value) }, 0));
        assert_eq!((lately.greatest(), lately.kept.len()), (Some(Reverse(6)), 1));
    }
}
