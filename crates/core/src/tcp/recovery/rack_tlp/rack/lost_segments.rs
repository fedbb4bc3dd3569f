//! Lost segments that wait for their retransmission. They are found lost in about ascending order, and the lowest is retransmitted first.

use crate::primitives::segment_number::SegmentNumber;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct LostSegments {
    /// In ascending order. The first one is lost; others may have arrived, or were retransmitted, since they were added.
    segments: VecDeque<SegmentNumber>,
    /// Number of those that are lost.
    count: u32,
}

impl LostSegments {
    /// The lowest one.
    #[inline]
    pub(super) fn first(&self) -> Option<SegmentNumber> {
        self.segments.front().copied()
    }

    pub(super) fn count(&self) -> usize {
        self.count as usize
    }

    /// Whether a segment is lost or was.
    pub(super) fn contains(&self, segment: SegmentNumber) -> bool {
        self.segments.binary_search(&segment).is_ok()
    }

    /// A segment that was not lost is lost.
    #[inline]
    pub(super) fn add(&mut self, segment: SegmentNumber) {
        self.count += 1;
        if self.segments.back().is_none_or(|&last| last < segment) {
            self.segments.push_back(segment);
        } else if let Err(place) = self.segments.binary_search(&segment) {
            self.segments.insert(place, segment);
        }
    }

    /// One of them is not lost any more. [`LostSegments::drop_front_unless`] follows.
    #[inline]
    pub(super) fn remove_one(&mut self) {
        self.count -= 1;
    }

    /// Drops segments that are not lost, up to the lowest one that is.
    #[inline]
    pub(super) fn drop_front_unless(&mut self, is_lost: impl Fn(SegmentNumber) -> bool) {
        while self.segments.front().is_some_and(|&segment| !is_lost(segment)) {
            self.segments.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::segment_number::plain::n;

    #[test]
    fn the_lowest_lost_segment_is_first_and_one_that_was_lost_before_is_listed_once() {
        let mut lost = LostSegments::default();
        [3, 7, 5, 9].into_iter().for_each(|segment| lost.add(n(segment)));
        // 5 arrives, and 3 is retransmitted.
        (0..2).for_each(|_| lost.remove_one());
        lost.drop_front_unless(|segment| [7, 9].map(n).contains(&segment));
        assert_eq!((lost.first(), lost.count()), (Some(n(7)), 2));
        // 7 is retransmitted ahead of its turn, is lost again, and then 3.
        lost.remove_one();
        [7, 3].into_iter().for_each(|segment| lost.add(n(segment)));
        assert_eq!((lost.segments.iter().map(|lost| lost.0).collect::<Vec<_>>(), lost.count()), (vec![3, 7, 9], 3));
    }
}
