//! Outstanding segments, and the round trips measured when they are acknowledged.

use super::sequence::{SequenceRange, StreamOffset};
use crate::time::Timestamp;
use std::collections::VecDeque;
use std::time::Duration;

/// Non-overlapping segments in the order of their data.
#[derive(Clone, Debug, Default)]
pub(crate) struct OutstandingSegments(VecDeque<SentSegment>);

#[derive(Clone, Copy, Debug)]
struct SentSegment {
    data: SequenceRange,
    first_at: Timestamp,
    last_at: Timestamp,
    is_ambiguous: bool,
}

/// Far more than any window. Only a capture without acknowledgements would need more, and then it would serve no purpose.
const MAX: usize = 1 << 20;

impl OutstandingSegments {
    #[inline]
    pub(crate) fn segments(&self) -> usize {
        self.0.len()
    }

    /// The latest transmission of the first outstanding segment.
    pub(crate) fn head_sent(&self) -> Option<Timestamp> {
        self.0.front().map(|sent| sent.last_at)
    }

    /// New data above all others are sent. Returns the number of segments dropped to bound memory.
    #[inline]
    pub(crate) fn send(&mut self, data: SequenceRange, at: Timestamp) -> u64 {
        self.0.push_back(SentSegment { data, first_at: at, last_at: at, is_ambiguous: false });
        if self.0.len() <= MAX { 0 } else { self.0.pop_front().map_or(0, |_| 1) }
    }

    /// Reordered data are seen for the first time, at least in part.
    pub(crate) fn insert_missing(&mut self, data: SequenceRange, at: Timestamp) {
        let mut start = data.start;
        let mut place = self.0.partition_point(|sent| sent.data.end <= data.start);
        while start < data.end {
            let there = self.0.get(place).map(|sent| sent.data);
            if let Some(there) = there.filter(|there| there.start <= start) {
                start = there.end;
            } else {
                let end = there.map_or(data.end, |there| there.start.min(data.end));
                self.0.insert(
                    place,
                    SentSegment { data: SequenceRange { start, end }, first_at: at, last_at: at, is_ambiguous: false },
                );
                start = end;
            }
            place += 1;
        }
    }

    /// Data are retransmitted, so that the acknowledged transmission is ambiguous (Karn's rule, RFC 6298 section 3). Returns the
    /// time at which their first segment was last sent, if it is outstanding.
    pub(crate) fn resend(&mut self, data: SequenceRange, at: Timestamp) -> Option<Timestamp> {
        let first = self.0.partition_point(|sent| sent.data.end <= data.start);
        let before = self.0.get(first).filter(|sent| sent.data.start < data.end).map(|sent| sent.last_at);
        for sent in self.0.iter_mut().skip(first).take_while(|sent| sent.data.start < data.end) {
            sent.is_ambiguous = true;
            sent.last_at = at;
        }
        before
    }

    /// Everything below `next` was acknowledged. Returns the round trip of the segment that ends there, if it was sent once and
    /// no earlier segment was sent after it, which the acknowledgement could have waited for.
    #[inline]
    pub(crate) fn acknowledge(&mut self, next: StreamOffset, at: Timestamp) -> Option<Duration> {
        let mut latest = Timestamp(i64::MIN);
        let mut last = None;
        while let Some(sent) = self.0.front().filter(|sent| sent.data.end <= next) {
            latest = latest.max(sent.last_at);
            last = Some(*sent);
            self.0.pop_front();
        }
        let shows =
            |sent: &SentSegment| sent.data.end == next && !sent.is_ambiguous && sent.first_at >= latest && at >= sent.first_at;
        last.filter(shows).map(|sent| at.since(sent.first_at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three segments of ten bytes, sent one nanosecond apart.
    fn three() -> OutstandingSegments {
        let mut outstanding = OutstandingSegments::default();
        for n in 0..3 {
            outstanding.send(SequenceRange { start: 10 * n, end: 10 * n + 10 }, Timestamp(n as i64));
        }
        outstanding
    }

    const NANOSECOND: Duration = Duration::from_nanos(1);

    #[test]
    fn the_segment_that_ends_at_the_acknowledgement_gives_the_round_trip() {
        let mut outstanding = three();
        assert_eq!(outstanding.acknowledge(20, Timestamp(9)), Some(8 * NANOSECOND));
        assert_eq!(outstanding.acknowledge(25, Timestamp(10)), None);
        assert_eq!(outstanding.acknowledge(20, Timestamp(10)), None);
        assert_eq!(outstanding.segments(), 1);
        assert_eq!(outstanding.acknowledge(30, Timestamp(11)), Some(9 * NANOSECOND));
    }

    #[test]
    fn a_retransmitted_segment_gives_no_sample() {
        let mut outstanding = three();
        assert_eq!(outstanding.resend(SequenceRange { start: 0, end: 10 }, Timestamp(5)), Some(Timestamp(0)));
        assert_eq!(outstanding.acknowledge(10, Timestamp(9)), None);
        assert_eq!(outstanding.acknowledge(20, Timestamp(9)), Some(8 * NANOSECOND));
    }

    #[test]
    fn a_segment_acknowledged_after_an_earlier_one_arrived_gives_no_sample() {
        let mut outstanding = three();
        outstanding.resend(SequenceRange { start: 0, end: 10 }, Timestamp(5));
        assert_eq!(outstanding.acknowledge(30, Timestamp(9)), None);
        // The same if the first transmission of the earlier segment was not captured.
        let mut outstanding = OutstandingSegments::default();
        outstanding.send(SequenceRange { start: 10, end: 20 }, Timestamp(0));
        outstanding.insert_missing(SequenceRange { start: 0, end: 15 }, Timestamp(5));
        assert_eq!(outstanding.segments(), 2);
        assert_eq!(outstanding.acknowledge(20, Timestamp(9)), None);
    }

    #[test]
    fn time_that_runs_backwards_gives_no_sample() {
        assert_eq!(three().acknowledge(30, Timestamp(1)), None);
    }
}
