//! What was sent and is not acknowledged, segment by segment, and the round trips that acknowledgements of it show.

use super::sequence::{Position, Stretch};
use crate::time::Timestamp;
use std::collections::VecDeque;
use std::time::Duration;

/// Segments in the order of their data, of which no two overlap.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outstanding(VecDeque<Sent>);

#[derive(Clone, Copy, Debug)]
struct Sent {
    data: Stretch,
    first_at: Timestamp,
    last_at: Timestamp,
    is_ambiguous: bool,
}

/// Far more than any window. Only where acknowledgements are not seen would there be more, and then they serve nothing.
const MOST: usize = 1 << 20;

impl Outstanding {
    #[inline]
    pub(crate) fn segments(&self) -> usize {
        self.0.len()
    }

    /// Data above all others are sent. Returns segments that are given up to bound memory.
    #[inline]
    pub(crate) fn send(&mut self, data: Stretch, at: Timestamp) -> u64 {
        self.0.push_back(Sent { data, first_at: at, last_at: at, is_ambiguous: false });
        if self.0.len() <= MOST { 0 } else { self.0.pop_front().map_or(0, |_| 1) }
    }

    /// Data that later ones have overtaken are seen for the first time, at least in part.
    pub(crate) fn insert_missing(&mut self, data: Stretch, at: Timestamp) {
        let mut start = data.start;
        let mut place = self.0.partition_point(|sent| sent.data.end <= data.start);
        while start < data.end {
            let there = self.0.get(place).map(|sent| sent.data);
            if let Some(there) = there.filter(|there| there.start <= start) {
                start = there.end;
            } else {
                let end = there.map_or(data.end, |there| there.start.min(data.end));
                self.0.insert(place, Sent { data: Stretch { start, end }, first_at: at, last_at: at, is_ambiguous: false });
                start = end;
            }
            place += 1;
        }
    }

    /// Data are sent again: which transmission will be acknowledged cannot be told any more (Karn's rule, RFC 6298 section 3). Returns when
    /// the first segment of them was last sent, if it is outstanding.
    pub(crate) fn resend(&mut self, data: Stretch, at: Timestamp) -> Option<Timestamp> {
        let first = self.0.partition_point(|sent| sent.data.end <= data.start);
        let before = self.0.get(first).filter(|sent| sent.data.start < data.end).map(|sent| sent.last_at);
        for sent in self.0.iter_mut().skip(first).take_while(|sent| sent.data.start < data.end) {
            sent.is_ambiguous = true;
            sent.last_at = at;
        }
        before
    }

    /// Everything below `next` has arrived. Returns the round trip that this shows: of the segment that ends there, if it was sent once and
    /// no segment before it was sent later, for which the acknowledgement might have waited.
    #[inline]
    pub(crate) fn acknowledge(&mut self, next: Position, at: Timestamp) -> Option<Duration> {
        let mut latest = Timestamp(i64::MIN);
        let mut last = None;
        while let Some(sent) = self.0.front().filter(|sent| sent.data.end <= next) {
            latest = latest.max(sent.last_at);
            last = Some(*sent);
            self.0.pop_front();
        }
        let shows = |sent: &Sent| sent.data.end == next && !sent.is_ambiguous && sent.first_at >= latest && at >= sent.first_at;
        last.filter(shows).map(|sent| at.since(sent.first_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three segments of ten bytes, sent a nanosecond after one another.
    fn three() -> Outstanding {
        let mut outstanding = Outstanding::default();
        for n in 0..3 {
            outstanding.send(Stretch { start: 10 * n, end: 10 * n + 10 }, Timestamp(n as i64));
        }
        outstanding
    }

    const NANOSECOND: Duration = Duration::from_nanos(1);

    #[test]
    fn the_segment_that_ends_where_the_acknowledgement_does_shows_the_round_trip() {
        let mut outstanding = three();
        assert_eq!(outstanding.acknowledge(20, Timestamp(9)), Some(8 * NANOSECOND));
        assert_eq!(outstanding.acknowledge(25, Timestamp(10)), None);
        assert_eq!(outstanding.acknowledge(20, Timestamp(10)), None);
        assert_eq!(outstanding.segments(), 1);
        assert_eq!(outstanding.acknowledge(30, Timestamp(11)), Some(9 * NANOSECOND));
    }

    #[test]
    fn a_segment_that_was_sent_twice_shows_nothing() {
        let mut outstanding = three();
        assert_eq!(outstanding.resend(Stretch { start: 0, end: 10 }, Timestamp(5)), Some(Timestamp(0)));
        assert_eq!(outstanding.acknowledge(10, Timestamp(9)), None);
        assert_eq!(outstanding.acknowledge(20, Timestamp(9)), Some(8 * NANOSECOND));
    }

    #[test]
    fn nor_does_one_whose_acknowledgement_waited_for_an_earlier_segment() {
        let mut outstanding = three();
        outstanding.resend(Stretch { start: 0, end: 10 }, Timestamp(5));
        assert_eq!(outstanding.acknowledge(30, Timestamp(9)), None);
        // The same where the first transmission of the earlier one was not seen.
        let mut outstanding = Outstanding::default();
        outstanding.send(Stretch { start: 10, end: 20 }, Timestamp(0));
        outstanding.insert_missing(Stretch { start: 0, end: 15 }, Timestamp(5));
        assert_eq!(outstanding.segments(), 2);
        assert_eq!(outstanding.acknowledge(20, Timestamp(9)), None);
    }

    #[test]
    fn time_that_runs_backwards_shows_nothing() {
        assert_eq!(three().acknowledge(30, Timestamp(1)), None);
    }
}
