//! Positions in the data of a flow.

use super::units::Segments;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, Range, Sub};

/// The number of a segment of a flow in the order of its data, or of a datagram, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[repr(transparent)]
pub struct SegmentNumber(pub u32);

impl SegmentNumber {
    pub const FIRST: SegmentNumber = SegmentNumber(0);
    /// No segment; also the end of data without an end.
    pub const NONE: SegmentNumber = SegmentNumber(u32::MAX);

    #[inline]
    pub fn next(self) -> SegmentNumber {
        SegmentNumber(self.0 + 1)
    }

    #[inline]
    pub fn previous(self) -> SegmentNumber {
        SegmentNumber(self.0 - 1)
    }

    #[inline]
    pub fn saturating_add(self, Segments(count): Segments) -> SegmentNumber {
        SegmentNumber(self.0.saturating_add(count))
    }

    /// Position in a list of segments that begins with `first`; `None` if it is before.
    #[inline]
    pub fn position_from(self, first: SegmentNumber) -> Option<usize> {
        self.0.checked_sub(first.0).map(|position| position as usize)
    }

    #[inline]
    pub fn range(numbers: Range<SegmentNumber>) -> impl DoubleEndedIterator<Item = SegmentNumber> {
        (numbers.start.0..numbers.end.0).map(SegmentNumber)
    }
}

impl Add<Segments> for SegmentNumber {
    type Output = SegmentNumber;

    #[inline]
    fn add(self, Segments(count): Segments) -> SegmentNumber {
        SegmentNumber(self.0 + count)
    }
}

/// The number of segments from one, included, to a later one, excluded.
impl Sub for SegmentNumber {
    type Output = Segments;

    #[inline]
    fn sub(self, first: SegmentNumber) -> Segments {
        Segments(self.0 - first.0)
    }
}

impl fmt::Display for SegmentNumber {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(to)
    }
}

/// Segments reported by SACK (RFC 2018): the first, and one past the last.
pub type SackBlock = (SegmentNumber, SegmentNumber);

/// Tests write segment numbers as plain integers.
#[cfg(test)]
pub(crate) mod plain {
    use super::*;

    pub(crate) fn n(number: u32) -> SegmentNumber {
        SegmentNumber(number)
    }

    pub(crate) fn range(numbers: Range<u32>) -> Range<SegmentNumber> {
        n(numbers.start)..n(numbers.end)
    }

    pub(crate) fn blocks(ranges: &[(u32, u32)]) -> Vec<SackBlock> {
        ranges.iter().map(|&(start, end)| (n(start), n(end))).collect()
    }
}
