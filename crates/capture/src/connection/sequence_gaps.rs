//! Gaps in the data: ranges that have not been seen although later data have.

use super::sequence::{SequenceRange, StreamOffset};
use crate::time::Timestamp;
use std::collections::VecDeque;

/// Holes in ascending order, never adjacent.
#[derive(Clone, Debug, Default)]
pub(crate) struct SequenceGaps(VecDeque<SequenceGap>);

#[derive(Clone, Copy, Debug)]
struct SequenceGap {
    missing: SequenceRange,
    opened_by: GapOpener,
}

/// The packet that arrived before data it should have followed: the first such packet with later data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GapOpener {
    /// Its index among the packets with data, by arrival.
    pub(crate) arrival: u64,
    pub(crate) at: Timestamp,
    /// Its TSval.
    pub(crate) timestamp: Option<u32>,
}

/// The part of a packet that had not been seen before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilledGap {
    pub(crate) bytes: u64,
    /// Opener of the first hole that it filled.
    pub(crate) opened_by: GapOpener,
}

/// With more holes than this the lowest is dropped: its data count as not seen. This happens only if no acknowledgements are
/// captured.
const MAX: usize = 4096;

impl SequenceGaps {
    #[inline]
    pub(crate) fn are_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a hole above all others. Returns the bytes of a hole dropped to bound memory.
    pub(crate) fn open(&mut self, missing: SequenceRange, opened_by: GapOpener) -> u64 {
        self.0.push_back(SequenceGap { missing, opened_by });
        if self.0.len() <= MAX {
            return 0;
        }
        self.0.pop_front().map_or(0, |hole| hole.missing.bytes())
    }

    /// Marks these data as seen. Returns the part that was missing; `None` if nothing was.
    pub(crate) fn fill(&mut self, seen: SequenceRange) -> Option<FilledGap> {
        let mut filled: Option<FilledGap> = None;
        let mut place = self.0.partition_point(|hole| hole.missing.end <= seen.start);
        while let Some(&SequenceGap { missing, opened_by }) = self.0.get(place) {
            let Some(found) = missing.overlap(seen) else { break };
            filled.get_or_insert(FilledGap { bytes: 0, opened_by }).bytes += found.bytes();
            let below = SequenceRange { start: missing.start, end: found.start };
            let above = SequenceRange { start: found.end, end: missing.end };
            match (below.bytes() > 0, above.bytes() > 0) {
                (false, false) => {
                    self.0.remove(place);
                    continue;
                }
                (true, false) => self.0[place].missing = below,
                (false, true) => self.0[place].missing = above,
                (true, true) => {
                    self.0[place].missing = below;
                    self.0.insert(place + 1, SequenceGap { missing: above, opened_by });
                }
            }
            place += 1;
        }
        filled
    }

    /// The receiver has acknowledged everything below this. Returns the bytes below it that were never seen here.
    pub(crate) fn close_below(&mut self, acknowledged: StreamOffset) -> u64 {
        let mut unseen = 0;
        while let Some(hole) = self.0.front_mut().filter(|hole| hole.missing.start < acknowledged) {
            if hole.missing.end > acknowledged {
                unseen += acknowledged - hole.missing.start;
                hole.missing.start = acknowledged;
                break;
            }
            unseen += hole.missing.bytes();
            self.0.pop_front();
        }
        unseen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holes(of: &[(u64, u64)]) -> SequenceGaps {
        let mut holes = SequenceGaps::default();
        for (arrival, &(start, end)) in (0..).zip(of) {
            holes.open(SequenceRange { start, end }, GapOpener { arrival, at: Timestamp(0), timestamp: None });
        }
        holes
    }

    fn left(holes: &SequenceGaps) -> Vec<(u64, u64)> {
        holes.0.iter().map(|hole| (hole.missing.start, hole.missing.end)).collect()
    }

    #[test]
    fn a_packet_fills_only_the_range_that_it_covers() {
        let mut some = holes(&[(10, 20), (30, 40), (50, 60)]);
        let filled = some.fill(SequenceRange { start: 35, end: 55 }).unwrap();
        assert_eq!((filled.bytes, filled.opened_by.arrival), (10, 1));
        assert_eq!(left(&some), [(10, 20), (30, 35), (55, 60)]);
        assert_eq!(some.fill(SequenceRange { start: 12, end: 14 }).unwrap().bytes, 2);
        assert_eq!(left(&some), [(10, 12), (14, 20), (30, 35), (55, 60)]);
        assert!(some.fill(SequenceRange { start: 20, end: 30 }).is_none());
        assert_eq!(some.fill(SequenceRange { start: 0, end: 100 }).unwrap().bytes, 18);
        assert!(some.are_none());
    }

    #[test]
    fn acknowledged_data_that_were_not_seen_are_counted() {
        let mut some = holes(&[(10, 20), (30, 40)]);
        assert_eq!(some.close_below(35), 15);
        assert_eq!(left(&some), [(35, 40)]);
        assert_eq!(some.close_below(5), 0);
    }

    #[test]
    fn holes_do_not_grow_without_bound() {
        let mut many = SequenceGaps::default();
        let opener = GapOpener { arrival: 0, at: Timestamp(0), timestamp: None };
        let given_up: u64 = (0..10_000).map(|n| many.open(SequenceRange { start: 2 * n, end: 2 * n + 1 }, opener)).sum();
        assert_eq!(given_up, 10_000 - MAX as u64);
    }
}
