//! The segments that a receiver holds above a gap, and the order in which SACK blocks report them.

use crate::primitives::segment_number::{SackBlock, SegmentNumber};
use crate::primitives::units::Time;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Segments received above a gap.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct OutOfOrder {
    /// Disjoint, not touching, ascending half-open ranges.
    pub(super) ranges: VecDeque<SackBlock>,
    /// The ranges of the latest arrivals, newest first, which are the ones to report. Places are empty, or below the gap.
    pub(super) recent: [SackBlock; 4],
    /// Number of arrivals since the gap began or moved.
    pub(super) arrived: u32,
    /// Number of changes from one range to another since an acknowledgement began to wait.
    pub(super) changed: u32,
    /// Transmission time that the delayed acknowledgement echoes.
    pub(super) echo: Time,
}

impl OutOfOrder {
    /// Adds a segment. Returns false if it was present.
    pub(super) fn add(&mut self, segment: SegmentNumber) -> bool {
        // Usually it is the next one of the last range.
        if let Some(last) = self.ranges.back_mut().filter(|last| last.1 == segment) {
            last.1 = segment.next();
            let last = *last;
            if self.recent[0].0 == last.0 {
                self.recent[0] = last;
            } else {
                self.note(last);
            }
            return true;
        }
        let index = self.first_reaching(segment);
        let is_new = match self.ranges.get(index).copied() {
            Some((start, end)) if start <= segment && segment < end => false,
            Some((start, end)) if end == segment => {
                match self.ranges.get(index + 1).copied() {
                    Some((next_start, next_end)) if next_start == segment.next() => {
                        self.ranges[index] = (start, next_end);
                        self.ranges.remove(index + 1);
                    }
                    _ => self.ranges[index] = (start, segment.next()),
                }
                true
            }
            Some((start, end)) if start == segment.next() => {
                self.ranges[index] = (segment, end);
                true
            }
            _ => {
                self.ranges.insert(index, (segment, segment.next()));
                true
            }
        };
        self.note(self.ranges[index]);
        is_new
    }

    /// Records an arrival in this range and drops the entry that it replaces: an earlier one of the same range, or the oldest. The arrival
    /// may have joined two ranges; the place of the older one stays empty.
    #[inline]
    fn note(&mut self, range: SackBlock) {
        let is_part = |other: &SackBlock| range.0 <= other.0 && other.0 < range.1;
        let same = self.recent.iter().position(is_part).unwrap_or(3);
        self.changed += u32::from(same > 0);
        for place in (0..same).rev() {
            self.recent[place + 1] = self.recent[place];
        }
        self.recent[0] = range;
        for other in self.recent[1..].iter_mut().filter(|other| is_part(other)) {
            *other = SackBlock::default();
        }
    }

    pub(super) fn range_of(&self, segment: SegmentNumber) -> Option<SackBlock> {
        let index = self.first_reaching(segment.next());
        self.ranges.get(index).copied().filter(|range| range.0 <= segment)
    }

    /// Index of the first range that ends at this segment or above it. It is usually the last one.
    fn first_reaching(&self, segment: SegmentNumber) -> usize {
        match self.ranges.back() {
            Some(&(start, end)) if start <= segment => self.ranges.len() - usize::from(end >= segment),
            _ => self.ranges.partition_point(|&(_, end)| end < segment),
        }
    }
}
