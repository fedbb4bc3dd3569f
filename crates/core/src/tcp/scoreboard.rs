//! The segments reported by SACK (RFC 2018), with the counts derived from them by RFC 6675 kept up to date, so that no acknowledgement
//! walks the window.

use super::steps::count_step;
use crate::primitives::segment_number::{SackBlock, SegmentNumber};
use crate::primitives::units::Segments;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::Range;

/// SACKed segments above the cumulative acknowledgement.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Scoreboard {
    /// Disjoint, not touching, ascending half-open ranges.
    ranges: VecDeque<SackBlock>,
    /// Segments in all ranges.
    sacked: Segments,
    /// Every segment below this that is not SACKed has been retransmitted in this recovery (HighRxt + 1).
    high_rxt_end: SegmentNumber,
    /// SACKed segments below `high_rxt_end`.
    sacked_below: Segments,
    /// Pipe as counted in bpd-2001 section 6.1.
    pub(crate) counted_pipe: i64,
    /// Duplicates that have reported new segments since new data was acknowledged.
    pub(crate) duplicates: u32,
    /// The single rescue retransmission of RFC 6675 NextSeg rule 4 has been made for data below this.
    pub(crate) rescue_rxt_end: SegmentNumber,
    /// The blocks of the latest acknowledgement that had any. Most blocks are reported several times.
    latest: [SackBlock; 4],
}

/// A walk over the unreported parts of a range.
pub(crate) struct MissingParts {
    start: SegmentNumber,
    end: SegmentNumber,
    /// Index of the first range that ends at `start` or above it, and of the next one.
    first: usize,
    index: usize,
    from: SegmentNumber,
}

impl Scoreboard {
    /// Adds a reported range. Returns the number of newly SACKed segments.
    pub(crate) fn add(&mut self, reported: Range<SegmentNumber>) -> Segments {
        self.add_from(self.first_reaching(reported.start), reported)
    }

    /// Adds the range whose unreported parts this walk has shown.
    #[inline]
    pub(crate) fn add_missing(&mut self, parts: &MissingParts) {
        self.add_from(parts.first, parts.start..parts.end);
    }

    /// `first`: index of the first range that ends at the reported one or above it.
    fn add_from(&mut self, first: usize, reported: Range<SegmentNumber>) -> Segments {
        let mut last = first;
        let Range { start: mut low, end: mut high } = reported;
        let (mut known, mut known_below) = (Segments(0), Segments(0));
        while let Some(&(start, end)) = self.ranges.get(last).filter(|range| range.0 <= reported.end) {
            low = low.min(start);
            high = high.max(end);
            known += end - start;
            known_below += self.below(start..end);
            last += 1;
        }
        let new = high - low - known;
        if new == Segments(0) {
            return new;
        }
        self.sacked += new;
        self.sacked_below += self.below(low..high) - known_below;
        if last == first {
            self.ranges.insert(first, (low, high));
        } else {
            self.ranges[first] = (low, high);
            self.ranges.drain(first + 1..last);
        }
        new
    }

    /// Adds the blocks of an acknowledgement. Returns the number of newly SACKed segments.
    pub(crate) fn report(&mut self, snd_una: SegmentNumber, blocks: &[SackBlock]) -> Segments {
        blocks.iter().filter(|block| block.1 > snd_una).map(|&(start, end)| self.add(start.max(snd_una)..end)).sum()
    }

    /// Whether the latest acknowledgement reported this block, so that none of its segments is missing.
    #[inline]
    pub(crate) fn is_in_latest(&self, block: SackBlock) -> bool {
        let [first, second, third, fourth] = self.latest;
        block == first || block == second || block == third || block == fourth
    }

    /// These blocks have been added.
    #[inline]
    pub(crate) fn note_latest(&mut self, blocks: &[SackBlock]) {
        self.latest = std::array::from_fn(|place| blocks.get(place).copied().unwrap_or_default());
    }

    /// Calls `act` for the unreported segments of a range.
    #[inline]
    pub(crate) fn for_each_missing(&self, range: Range<SegmentNumber>, mut act: impl FnMut(SegmentNumber)) {
        let mut parts = self.missing_parts(range);
        while let Some(part) = self.next_missing(&mut parts) {
            SegmentNumber::range(part).for_each(&mut act);
        }
    }

    /// A walk over the unreported parts of a range, for [`Scoreboard::next_missing`].
    #[inline]
    pub(crate) fn missing_parts(&self, range: Range<SegmentNumber>) -> MissingParts {
        let first = self.first_reaching(range.start);
        MissingParts { start: range.start, end: range.end, first, index: first, from: range.start }
    }

    /// The next unreported part.
    #[inline]
    pub(crate) fn next_missing(&self, parts: &mut MissingParts) -> Option<Range<SegmentNumber>> {
        while parts.from < parts.end {
            let from = parts.from;
            let Some(&(start, end)) = self.ranges.get(parts.index).filter(|known| known.0 < parts.end) else {
                parts.from = parts.end;
                return Some(from..parts.end);
            };
            (parts.index, parts.from) = (parts.index + 1, end);
            if from < start {
                return Some(from..start);
            }
        }
        None
    }

    /// Index of the first range that ends at this segment or above it. It is usually the last one.
    fn first_reaching(&self, segment: SegmentNumber) -> usize {
        match self.ranges.back() {
            Some(&(start, end)) if start <= segment => self.ranges.len() - usize::from(end >= segment),
            _ => self.ranges.partition_point(|&(_, end)| end < segment),
        }
    }

    /// Removes segments covered by the cumulative acknowledgement.
    pub(crate) fn acknowledge(&mut self, snd_una: SegmentNumber) {
        while let Some(&(start, end)) = self.ranges.front().filter(|range| range.0 < snd_una) {
            let cut = end.min(snd_una);
            self.sacked -= cut - start;
            self.sacked_below -= self.below(start..cut);
            self.ranges.pop_front();
            if end > snd_una {
                self.ranges.push_front((snd_una, end));
            }
        }
    }

    /// SACKed segments above the cumulative acknowledgement.
    pub(crate) fn sacked(&self) -> Segments {
        self.sacked
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Starts a recovery: nothing has been retransmitted at or above `snd_una`.
    pub(crate) fn begin_recovery(&mut self, snd_una: SegmentNumber) {
        self.high_rxt_end = snd_una;
        self.sacked_below = Segments(0);
        self.rescue_rxt_end = snd_una;
    }

    /// `segment`, the lowest hole not retransmitted, is retransmitted.
    pub(crate) fn resend(&mut self, segment: SegmentNumber) {
        let from = self.high_rxt_end.max(segment);
        self.sacked_below += self.sacked_between(self.high_rxt_end..segment);
        self.high_rxt_end = from.max(segment.next());
    }

    /// The lowest segment at or above `snd_una` that is neither SACKed nor retransmitted in this recovery, if it is below the highest SACKed
    /// one.
    pub(crate) fn next_hole(&self, snd_una: SegmentNumber) -> Option<SegmentNumber> {
        let hole = self.skip_sacked(self.high_rxt_end.max(snd_una));
        (hole < self.highest()?).then_some(hole)
    }

    /// The first segment at or above `segment` that is not SACKed.
    #[inline]
    pub(crate) fn skip_sacked(&self, segment: SegmentNumber) -> SegmentNumber {
        let index = self.ranges.partition_point(|&(_, end)| end <= segment);
        match self.ranges.get(index) {
            Some(&(start, end)) if start <= segment => end,
            _ => segment,
        }
    }

    /// The highest outstanding segment that is not SACKed.
    pub(crate) fn last_missing(&self, outstanding: Range<SegmentNumber>) -> Option<SegmentNumber> {
        // Ranges do not touch, so the segment just below one is missing.
        let end = self.ranges.back().filter(|range| range.1 == outstanding.end).map_or(outstanding.end, |range| range.0);
        (end > outstanding.start).then(|| end.previous())
    }

    /// RFC 6675 IsLost: at least `dup_thresh` segments above this outstanding one are SACKed.
    pub(crate) fn is_lost(&self, segment: SegmentNumber, dup_thresh: Segments) -> bool {
        self.lost_below(dup_thresh).is_some_and(|end| segment < end)
    }

    /// RFC 6675 SetPipe: estimated number of outstanding segments in the network.
    pub(crate) fn pipe(&self, outstanding: Range<SegmentNumber>, dup_thresh: Segments) -> Segments {
        let Range { start: snd_una, end: high } = outstanding;
        let (not_lost_from, sacked_from) = match self.lost_below(dup_thresh) {
            Some(end) => (end, dup_thresh),
            None => (snd_una, self.sacked),
        };
        let not_lost = high - not_lost_from - sacked_from;
        let resent = self.high_rxt_end.max(snd_una) - snd_una - self.sacked_below;
        // A retransmitted segment at or above `not_lost_from` is already included once in the first count, for its first transmission: RFC
        // 6675 counts both transmissions, and so does this sum.
        not_lost + resent
    }

    fn highest(&self) -> Option<SegmentNumber> {
        self.ranges.back().map(|&(_, end)| end)
    }

    /// Segments below this that are not SACKed are lost (RFC 6675 IsLost): the position of the `dup_thresh`-th SACKed segment from above.
    /// `None` while fewer are SACKed.
    pub(crate) fn lost_below(&self, dup_thresh: Segments) -> Option<SegmentNumber> {
        let mut wanted = dup_thresh;
        for &(start, end) in self.ranges.iter().rev() {
            count_step();
            if end - start >= wanted {
                return Some(SegmentNumber(end.0 - wanted.0));
            }
            wanted -= end - start;
        }
        None
    }

    /// Length of the part of a range below `high_rxt_end`.
    fn below(&self, range: Range<SegmentNumber>) -> Segments {
        range.end.min(self.high_rxt_end).max(range.start) - range.start
    }

    fn sacked_between(&self, range: Range<SegmentNumber>) -> Segments {
        let first = self.ranges.partition_point(|&(_, end)| end <= range.start);
        let inside = self.ranges.range(first..).take_while(|known| known.0 < range.end);
        inside.map(|&(start, end)| end.min(range.end) - start.max(range.start)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::random::{Entity, Purpose, Stream};
    use crate::primitives::segment_number::plain::{n, range};

    const DUP_THRESH: Segments = Segments(3);

    #[test]
    fn the_pipe_of_one_loss_in_ten_by_hand() {
        // 0..10 outstanding, 0 lost, 1, 2, 3 SACKed: 0 is lost, 4..10 are in the network.
        let mut board = Scoreboard::default();
        board.begin_recovery(n(0));
        assert_eq!(board.add(range(1..4)), Segments(3));
        assert!(board.is_lost(n(0), DUP_THRESH) && !board.is_lost(n(4), DUP_THRESH));
        assert_eq!(board.pipe(range(0..10), DUP_THRESH), Segments(6));
        board.resend(n(0));
        assert_eq!(board.pipe(range(0..10), DUP_THRESH), Segments(7));
        assert_eq!(board.next_hole(n(0)), None);
        assert_eq!(board.add(range(5..6)), Segments(1));
        assert_eq!(board.next_hole(n(0)), Some(n(4)));
        assert!(!board.is_lost(n(4), DUP_THRESH));
    }

    /// Compares all results of the scoreboard with a plain array of flags.
    #[test]
    fn counts_agree_with_a_walk_over_all_segments() {
        for seed in 0..200 {
            let stream = Stream::new(Entity { seed, name: "scoreboard", index: 0 }, Purpose::Policy);
            let (mut board, mut sacked, mut snd_una, high) = (Scoreboard::default(), [false; 64], 0u32, 64u32);
            let mut resent = [false; 64];
            board.begin_recovery(n(0));
            for step in 0..60 {
                let bits = stream.bits(step);
                match bits % 4 {
                    0 | 1 => {
                        let start = snd_una + 1 + (bits >> 8) as u32 % 60;
                        let end = (start + 1 + (bits >> 40) as u32 % 4).min(high);
                        if start < end {
                            let new = (start..end).filter(|&s| !sacked[s as usize]).count();
                            let mut missing = Vec::new();
                            board.for_each_missing(range(start..end), |segment| missing.push(segment.0));
                            assert!(missing.into_iter().eq((start..end).filter(|&s| !sacked[s as usize])));
                            if bits % 8 < 4 {
                                let parts = board.missing_parts(range(start..end));
                                board.add_missing(&parts);
                            } else {
                                assert_eq!(board.add(range(start..end)).0 as usize, new);
                            }
                            (start..end).for_each(|s| sacked[s as usize] = true);
                        }
                    }
                    2 => {
                        let below_highest = |s: &u32| sacked[*s as usize..].iter().any(|&x| x);
                        let hole = (snd_una..high).filter(|&s| !sacked[s as usize] && !resent[s as usize]).find(|_| true);
                        assert_eq!(board.next_hole(n(snd_una)), hole.filter(below_highest).map(n));
                        if let Some(hole) = board.next_hole(n(snd_una)) {
                            board.resend(hole);
                            resent[hole.0 as usize] = true;
                        }
                    }
                    _ => {
                        snd_una = (snd_una + (bits >> 20) as u32 % 3).min(60);
                        snd_una = board.skip_sacked(n(snd_una)).0;
                        (0..snd_una).for_each(|s| resent[s as usize] = true);
                        board.acknowledge(n(snd_una));
                    }
                }
                assert_eq!(board.last_missing(range(snd_una..high)), (snd_una..high).rev().find(|&s| !sacked[s as usize]).map(n));
                let above = |s: u32| (s..high).filter(|&x| sacked[x as usize]).count() >= 3;
                let pipe: u32 = (snd_una..high)
                    .filter(|&s| !sacked[s as usize])
                    .map(|s| u32::from(!above(s)) + u32::from(resent[s as usize]))
                    .sum();
                assert_eq!(board.pipe(range(snd_una..high), DUP_THRESH).0, pipe, "seed {seed} step {step}");
                (snd_una..high).for_each(|s| {
                    assert_eq!(!sacked[s as usize] && above(s), board.is_lost(n(s), DUP_THRESH) && !sacked[s as usize])
                });
            }
        }
    }
}
