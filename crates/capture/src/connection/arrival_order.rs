//! Whether data that arrive behind later data were reordered on the way to the point of capture, or lost before it and
//! retransmitted.
//!
//! Data sent before the packet that opened the hole have an earlier timestamp (RFC 7323), retransmissions a later one. Equal
//! timestamps belong to the first transmission if the sender's clock ticks more often than it can react. Otherwise time decides: a
//! sender reacts to a hole no earlier than one round trip after it was observed, from the point of capture to the receiver and
//! from there to the sender and back to the point of capture.

use super::sequence::SequenceRange;
use super::sequence_gaps::GapOpener;
use crate::time::Timestamp;
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::time::Duration;

#[derive(Clone, Debug, Default)]
pub(crate) struct ArrivalOrder {
    clock: TimestampClock,
    /// Recent holes that a retransmission filled: the first transmission may still arrive.
    repaired: VecDeque<RepairedHole>,
}

/// A hole that a retransmission filled.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RepairedHole {
    pub(crate) data: SequenceRange,
    pub(crate) opened_by: GapOpener,
    pub(crate) at: Timestamp,
    /// The loss inferred from the retransmission.
    pub(crate) loss: Option<u32>,
}

/// The sender's clock: its first and latest timestamp.
#[derive(Clone, Copy, Debug, Default)]
struct TimestampClock(Option<[(u32, Timestamp); 2]>);

/// A packet behind later data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LatePacket {
    pub(crate) at: Timestamp,
    pub(crate) timestamp: Option<u32>,
    /// Shortest time after which a retransmission can arrive.
    pub(crate) reaction: Duration,
}

/// Number of filled holes that are remembered.
const REMEMBERED: usize = 512;

/// Ticks after which the length of a tick is known.
const TICKS: u32 = 8;

impl ArrivalOrder {
    /// A data packet arrives.
    #[inline]
    pub(crate) fn on_timestamp(&mut self, timestamp: u32, at: Timestamp) {
        match &mut self.clock.0 {
            None => self.clock.0 = Some([(timestamp, at); 2]),
            Some([_, latest]) if (timestamp.wrapping_sub(latest.0) as i32) > 0 => *latest = (timestamp, at),
            Some(_) => {}
        }
    }

    /// Whether a packet that fills a hole is the first transmission of its data.
    pub(crate) fn is_first_transmission(&self, late: &LatePacket, opened_by: &GapOpener) -> bool {
        self.is_before(late, opened_by, opened_by.at)
    }

    /// A retransmission filled a hole.
    pub(crate) fn on_repair(&mut self, hole: RepairedHole) {
        if self.repaired.len() == REMEMBERED {
            self.repaired.pop_front();
        }
        self.repaired.push_back(hole);
    }

    /// The hole that a packet with data seen before should have filled, if it is their first transmission and arrives after their
    /// retransmission.
    pub(crate) fn take_overtaken(&mut self, late: &LatePacket, data: SequenceRange) -> Option<RepairedHole> {
        let place = self.repaired.iter().rposition(|hole| hole.data.overlap(data).is_some())?;
        let hole = self.repaired[place];
        self.is_before(late, &hole.opened_by, hole.at).then(|| self.repaired.remove(place)).flatten()
    }

    fn is_before(&self, late: &LatePacket, opened_by: &GapOpener, since: Timestamp) -> bool {
        let order = late.timestamp.zip(opened_by.timestamp).map(|(own, other)| (own.wrapping_sub(other) as i32).cmp(&0));
        match order {
            Some(Ordering::Less) => true,
            Some(Ordering::Greater) => false,
            Some(Ordering::Equal) if self.clock.tick().is_some_and(|tick| tick < late.reaction) => true,
            Some(Ordering::Equal) | None => late.at.since(since) < late.reaction,
        }
    }
}

impl TimestampClock {
    /// Mean length of a tick as observed; `None` until several have passed.
    fn tick(self) -> Option<Duration> {
        let [(first, began), (latest, at)] = self.0?;
        let ticks = latest.wrapping_sub(first);
        (ticks >= TICKS).then(|| at.since(began) / ticks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: i64 = 1_000_000;

    /// A sender whose clock ticks every `tick` milliseconds, for a second.
    fn clocked(tick: u32) -> ArrivalOrder {
        let mut order = ArrivalOrder::default();
        for n in 0..1000 / tick {
            order.on_timestamp((u32::MAX - 3).wrapping_add(n), Timestamp(i64::from(n * tick) * MILLISECOND));
        }
        order
    }

    fn late(milliseconds: i64, timestamp: Option<u32>) -> LatePacket {
        LatePacket { at: Timestamp(milliseconds * MILLISECOND), timestamp, reaction: Duration::from_millis(40) }
    }

    fn opener(timestamp: Option<u32>) -> GapOpener {
        GapOpener { arrival: 0, at: Timestamp(0), timestamp }
    }

    #[test]
    fn timestamps_decide_unless_they_are_equal() {
        let order = clocked(1);
        assert!(order.is_first_transmission(&late(500, Some(6)), &opener(Some(7))));
        assert!(order.is_first_transmission(&late(500, Some(u32::MAX)), &opener(Some(1))));
        assert!(!order.is_first_transmission(&late(1, Some(8)), &opener(Some(7))));
    }

    #[test]
    fn equal_timestamps_are_of_first_transmissions_if_the_clock_is_fine_enough() {
        assert!(clocked(1).is_first_transmission(&late(60, Some(7)), &opener(Some(7))));
        // A clock of 100 ms: a retransmission may have the same timestamp.
        assert!(!clocked(100).is_first_transmission(&late(60, Some(7)), &opener(Some(7))));
        assert!(clocked(100).is_first_transmission(&late(39, Some(7)), &opener(Some(7))));
        assert!(!ArrivalOrder::default().is_first_transmission(&late(60, Some(7)), &opener(Some(7))));
    }

    #[test]
    fn without_timestamps_a_retransmission_takes_a_round_trip() {
        assert!(clocked(1).is_first_transmission(&late(39, None), &opener(Some(7))));
        assert!(!clocked(1).is_first_transmission(&late(40, None), &opener(None)));
    }

    #[test]
    fn a_first_transmission_may_arrive_after_its_retransmission() {
        let range = |start, end| SequenceRange { start, end };
        let mut order = clocked(1);
        let hole =
            RepairedHole { data: range(10, 20), opened_by: opener(Some(7)), at: Timestamp(50 * MILLISECOND), loss: Some(3) };
        order.on_repair(hole);
        assert!(order.take_overtaken(&late(60, Some(5)), range(20, 30)).is_none());
        assert!(order.take_overtaken(&late(60, Some(60)), range(10, 20)).is_none());
        assert_eq!(order.take_overtaken(&late(60, Some(5)), range(10, 20)).and_then(|hole| hole.loss), Some(3));
        assert!(order.take_overtaken(&late(60, Some(5)), range(10, 20)).is_none());
    }
}
