//! The calendar of pending events: a timing wheel over integer time, so that the cost of an event does not depend on the number of flows.
//!
//! Every entity that can have an event pending (a line's head, a flow's timer, ...) owns one slot. Events are taken in the order of time
//! and, at the same instant, of the rank that [`Ranks`] gives their slots, never of insertion. A bucket is sorted only when it is served.
//! The bucket width adapts to the load; it affects the cost, but not the order.

mod prefetcher;
mod wheel;

pub use self::wheel::Slot;

use self::prefetcher::Prefetcher;
use self::wheel::{Due, Head, NONE, Wheel};
use super::units::{Time, TimeDelta};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// The order of simultaneous events.
pub trait Ranks {
    fn rank(&self, slot: Slot) -> u64;
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Calendar<R> {
    ranks: R,
    wheel: Wheel,
    /// Buckets are 2^shift picoseconds wide.
    shift: u32,
    /// Absolute number of the bucket being served.
    cursor: u64,
    /// The wheel holds buckets below this value, a multiple of a quarter of the wheel.
    limit: u64,
    /// First slot of each quarter of the wheel beyond the limit.
    far: BTreeMap<u64, u32>,
    /// Events of the bucket being served, the next one last. If `late` or `current` has any event, the next one is the last entry here.
    current: Vec<Due>,
    /// Events scheduled into the bucket while it is served, if their position was not near the end of `current`, with their ranks.
    late: BinaryHeap<Reverse<(Time, u64, Slot)>>,
    /// Cancelled events in `current` and `late`, which remain there until their turn comes.
    cancelled: u32,
    load: Load,
    #[serde(skip)]
    prefetcher: Prefetcher,
    /// Number of events until the next adaptation.
    adapt_after: u32,
}

/// Expected load, for which the calendar is dimensioned. More pending events, or events further ahead, are possible at a higher cost.
pub struct CalendarConfig {
    /// Number of entities that can have an event pending.
    pub entities: usize,
    /// Approximate number of events pending at a time.
    pub pending: usize,
    /// Most events are scheduled less far ahead than this.
    pub reach: TimeDelta,
}

/// Load since the last adaptation of the bucket width.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Load {
    buckets: u32,
    events: u32,
    far: u32,
}

/// Minimum number of events between adaptations. The number is at least half of the slots, so that all entities contribute.
const ADAPT_AFTER: u32 = 4096;

/// Maximum number of events moved for one insertion into the bucket being served.
const NEAR_THE_END: usize = 16;

impl<R: Ranks> Calendar<R> {
    pub fn new(ranks: R, expected: &CalendarConfig) -> Calendar<R> {
        let &CalendarConfig { entities, pending, reach } = expected;
        let buckets = (2 * pending).next_power_of_two().clamp(1 << 14, 1 << 20);
        let shift = (reach.0 / buckets as u64 * 2).max(1).ilog2().clamp(4, 40);
        let mut calendar = Calendar {
            ranks,
            wheel: Wheel::new(entities, ..buckets),
            shift,
            cursor: 0,
            limit: 0,
            far: BTreeMap::new(),
            current: Vec::new(),
            late: BinaryHeap::new(),
            cancelled: 0,
            load: Load::default(),
            prefetcher: Prefetcher::default(),
            adapt_after: ADAPT_AFTER.max(entities as u32 / 2),
        };
        calendar.limit = calendar.limit_at(0);
        calendar
    }

    /// The pending time of a slot, [`Time::NEVER`] if it has none.
    #[inline]
    pub fn time_of(&self, slot: Slot) -> Time {
        self.wheel.time_of(slot)
    }

    /// Schedule the slot's event. It must have none pending, and `time` must not be earlier than the last event taken.
    #[inline(always)]
    pub fn schedule(&mut self, slot: Slot, time: Time) {
        debug_assert_eq!(self.wheel.time_of(slot), Time::NEVER);
        if time == Time::NEVER {
            return;
        }
        self.wheel.set_time(slot, time);
        let bucket = time.0 >> self.shift;
        if bucket <= self.cursor {
            self.insert_current(time, slot);
        } else if bucket < self.limit {
            self.wheel.insert(bucket, slot);
        } else {
            self.insert_far(bucket, slot);
        }
    }

    /// Cancel the slot's event, if it has one.
    pub fn cancel(&mut self, slot: Slot) {
        let time = self.wheel.take_time(slot);
        if time == Time::NEVER {
            return;
        }
        let bucket = time.0 >> self.shift;
        if bucket <= self.cursor {
            self.cancelled += 1;
            self.settle();
        } else if bucket < self.limit {
            self.wheel.remove(bucket, slot);
        } else {
            let quarter = bucket >> self.quarter_shift();
            let Some(&head) = self.far.get(&quarter) else { unreachable!("slot {slot} is pending in no quarter") };
            match self.wheel.unlink(Head(head), slot) {
                Head(NONE) => self.far.remove(&quarter),
                Head(head) => self.far.insert(quarter, head),
            };
        }
    }

    /// Whether no event is pending.
    pub fn is_empty(&self) -> bool {
        self.current.is_empty() && self.wheel.is_empty() && self.far.is_empty()
    }

    /// Time of the next event.
    pub fn peek(&mut self) -> Option<Time> {
        if self.current.is_empty() && (self.is_empty() || !self.advance()) {
            return None;
        }
        self.current.last().map(|next| next.time)
    }

    /// Whether the next event precedes an event of this slot at `time`, or is that event.
    pub fn is_due(&mut self, time: Time, slot: Slot) -> bool {
        self.peek() == Some(time) && self.current.last().is_some_and(|next| self.ranks.rank(next.slot) <= self.ranks.rank(slot))
    }

    /// Take the next event if it is before `end`.
    #[inline]
    pub fn pop_before(&mut self, end: Time) -> Option<(Time, Slot)> {
        if self.current.is_empty() {
            return self.pop_from_wheel(end);
        }
        let &Due { time, slot } = self.current.last()?;
        if time >= end {
            return None;
        }
        self.current.pop();
        self.wheel.set_time(slot, Time::NEVER);
        if self.late.len() + self.cancelled as usize > 0 {
            self.settle();
        }
        Some((time, slot))
    }

    #[inline]
    fn pop_from_wheel(&mut self, end: Time) -> Option<(Time, Slot)> {
        if self.load.events >= self.adapt_after {
            self.adapt();
            return self.pop_before(end);
        }
        let bucket = self.find_bucket()?;
        let slot = self.wheel.first(bucket);
        let time = self.wheel.time_of(slot);
        if self.wheel.after(slot) != NONE || time >= end {
            self.serve(bucket);
            return self.pop_before(end);
        }
        // A bucket with one event needs no sorting and no list.
        self.load.buckets += 1;
        self.load.events += 1;
        self.wheel.take(bucket);
        self.wheel.set_time(slot, Time::NEVER);
        Some((time, slot))
    }

    /// Called after each event taken. Returns slots of later events, each about once. They are guesses for prefetching.
    #[inline]
    pub fn predict(&mut self) -> [Option<Slot>; 2] {
        self.prefetcher.predict(self.cursor, &self.current, &self.wheel)
    }

    /// Prefetch the entry of a slot.
    #[inline]
    pub fn prefetch(&self, slot: Slot) {
        self.wheel.prefetch(slot);
    }

    /// Number of buckets in a quarter of the wheel, as a power of two.
    #[inline]
    fn quarter_shift(&self) -> u32 {
        self.wheel.size().trailing_zeros() - 2
    }

    /// The wheel reaches at least three quarters ahead of the cursor and never laps it.
    fn limit_at(&self, cursor: u64) -> u64 {
        ((cursor >> self.quarter_shift()) + 4) << self.quarter_shift()
    }

    #[cold]
    #[inline(never)]
    fn insert_far(&mut self, bucket: u64, slot: Slot) {
        self.load.far += 1;
        let quarter = bucket >> self.quarter_shift();
        let head = self.far.insert(quarter, slot).unwrap_or(NONE);
        self.wheel.link(Head(head), slot);
    }

    /// Near the end of the list, an event is inserted in place. Elsewhere, that would move the list once per event of a large bucket.
    #[inline(never)]
    fn insert_current(&mut self, time: Time, slot: Slot) {
        let mut at = self.current.len();
        let nearest = at.saturating_sub(NEAR_THE_END);
        while at > nearest && self.is_before(self.current[at - 1], Due { time, slot }) {
            at -= 1;
        }
        if at == nearest && at > 0 {
            self.late.push(Reverse((time, self.ranks.rank(slot), slot)));
        } else {
            self.current.insert(at, Due { time, slot });
        }
    }

    /// Restore the invariant that the next event is the last of `current`: remove cancelled events, and take the next one from `late` if it
    /// is there.
    ///
    /// A slot that was cancelled and rescheduled for the same instant has two equal entries here. Taking the first clears the slot; the
    /// other is then next, and is removed before anything can be scheduled.
    #[cold]
    #[inline(never)]
    fn settle(&mut self) {
        while let Some(&Due { time, slot }) = self.current.last()
            && self.wheel.time_of(slot) != time
        {
            self.current.pop();
            self.cancelled -= 1;
        }
        while let Some(&Reverse((time, _, slot))) = self.late.peek() {
            if self.wheel.time_of(slot) != time {
                self.late.pop();
                self.cancelled -= 1;
                continue;
            }
            if self.current.last().is_none_or(|&last| self.is_before(Due { time, slot }, last)) {
                self.late.pop();
                self.current.push(Due { time, slot });
            }
            break;
        }
    }

    #[inline]
    fn is_before(&self, a: Due, b: Due) -> bool {
        a.time < b.time || (a.time == b.time && self.ranks.rank(a.slot) < self.ranks.rank(b.slot))
    }

    /// Serve the next bucket. Returns false if there are no events.
    fn advance(&mut self) -> bool {
        if let Some(bucket) = self.find_bucket() {
            self.serve(bucket);
        }
        !self.current.is_empty()
    }

    /// Move to the next bucket with events and return its number.
    #[inline]
    fn find_bucket(&mut self) -> Option<u64> {
        loop {
            let to = match self.wheel.next_occupied(self.cursor) {
                Some(bucket) => bucket,
                None => self.far.first_key_value()?.0 << self.quarter_shift(),
            };
            self.cursor = to;
            // The limit is unchanged as long as the wheel reaches more than three quarters ahead.
            if to + self.wheel.size() / 4 * 3 >= self.limit {
                self.pull_far(self.limit_at(to));
            }
            if self.wheel.first(to) != NONE {
                return Some(to);
            }
        }
    }

    /// Move the quarters that the wheel now reaches into it.
    #[cold]
    #[inline(never)]
    fn pull_far(&mut self, limit: u64) {
        self.limit = limit;
        while let Some((&quarter, &head)) = self.far.first_key_value() {
            if quarter << self.quarter_shift() >= limit {
                break;
            }
            self.far.pop_first();
            let mut slot = head;
            while slot != NONE {
                let after = self.wheel.after(slot);
                self.wheel.insert(self.wheel.time_of(slot).0 >> self.shift, slot);
                slot = after;
            }
        }
    }

    /// Make the events of a bucket the current ones.
    #[inline(never)]
    fn serve(&mut self, bucket: u64) {
        let mut slot = self.wheel.take(bucket);
        while slot != NONE {
            self.current.push(Due { time: self.wheel.time_of(slot), slot });
            slot = self.wheel.after(slot);
        }
        let ranks = &self.ranks;
        self.current.sort_unstable_by(|a, b| b.time.cmp(&a.time).then_with(|| ranks.rank(b.slot).cmp(&ranks.rank(a.slot))));
        self.load.buckets += 1;
        self.load.events += self.current.len() as u32;
    }

    /// Narrow the buckets if they have several events each; widen them if many events are beyond the wheel.
    #[cold]
    #[inline(never)]
    fn adapt(&mut self) {
        let Load { buckets, events, far } = std::mem::take(&mut self.load);
        let crowd = events / buckets.max(1);
        let overflow = far <= events / 16;
        if crowd >= 4 || (overflow && 2 * events > 3 * buckets) {
            let narrower = self.shift.saturating_sub(crowd.max(2).ilog2()).max(4);
            if narrower < self.shift {
                self.rebuild(narrower);
            }
        } else if far > events / 4 && crowd < 2 && self.shift < 40 {
            self.rebuild(self.shift + 1);
        }
    }

    fn rebuild(&mut self, shift: u32) {
        let start = self.cursor << self.shift;
        self.wheel.clear();
        self.far.clear();
        self.current.clear();
        self.late.clear();
        self.cancelled = 0;
        self.shift = shift;
        self.cursor = start >> shift;
        self.limit = self.limit_at(self.cursor);
        for slot in 0..self.wheel.slots() {
            let time = self.wheel.take_time(slot);
            if time != Time::NEVER {
                self.schedule(slot, time);
            }
        }
        self.load = Load::default();
        self.prefetcher = Prefetcher::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::random::{Entity, Purpose, Stream};
    use std::collections::BTreeSet;

    /// Slots are ranked by number.
    struct Numbers;

    impl Ranks for Numbers {
        fn rank(&self, slot: Slot) -> u64 {
            slot.into()
        }
    }

    /// Random schedules, cancellations and pops against a sorted set.
    fn agrees_with_a_sorted_set(slots: u32, spread: u64, reach: u64, seed: u64) {
        let stream = Stream::new(Entity { seed, name: "calendar", index: 0 }, Purpose::Policy);
        let mut calendar = Calendar::new(
            Numbers,
            &CalendarConfig { entities: slots as usize, pending: slots as usize / 3, reach: TimeDelta(reach) },
        );
        let mut model = BTreeSet::new();
        let mut pending = vec![None; slots as usize];
        let mut now = Time(0);
        for step in 0..60_000 {
            let bits = stream.bits(step);
            let slot = (bits >> 32) as u32 % slots;
            match pending[slot as usize] {
                None => {
                    // Coarse times make ties common. Occasionally an event is far ahead.
                    let ahead = stream.bits(step + (1 << 40)) % spread / 8 * 8 * if bits.is_multiple_of(97) { 1000 } else { 1 };
                    let time = Time(now.0 + ahead);
                    calendar.schedule(slot, time);
                    model.insert((time, slot));
                    pending[slot as usize] = Some(time);
                }
                Some(time) if bits.is_multiple_of(5) => {
                    calendar.cancel(slot);
                    model.remove(&(time, slot));
                    pending[slot as usize] = None;
                }
                Some(_) => {
                    assert!(!calendar.is_empty());
                    assert_eq!(calendar.peek(), model.first().map(|&(time, _)| time));
                    let popped = calendar.pop_before(Time::NEVER);
                    assert_eq!(popped, model.pop_first());
                    calendar.predict();
                    if let Some((time, slot)) = popped {
                        pending[slot as usize] = None;
                        now = time;
                    }
                }
            }
        }
        while let Some(expected) = model.pop_first() {
            assert_eq!(calendar.pop_before(Time::NEVER), Some(expected));
        }
        assert_eq!((calendar.pop_before(Time::NEVER), calendar.is_empty()), (None, true));
    }

    #[test]
    fn events_are_ordered_by_time_and_then_by_slot() {
        agrees_with_a_sorted_set(50, 1 << 12, 1 << 12, 1);
        agrees_with_a_sorted_set(3000, 1 << 30, 1 << 30, 2);
        agrees_with_a_sorted_set(3000, 1 << 40, 1 << 20, 3);
        agrees_with_a_sorted_set(3000, 1 << 16, 1 << 40, 4);
        agrees_with_a_sorted_set(2, 1 << 34, 1 << 20, 5);
    }

    #[test]
    fn a_large_bucket_at_one_instant_is_ordered_too() {
        agrees_with_a_sorted_set(3000, 8, 1 << 12, 6);
        agrees_with_a_sorted_set(3000, 16, 1 << 12, 7);
        agrees_with_a_sorted_set(3000, 1 << 12, 1 << 40, 8);
    }

    /// Ranks by number that count their calls.
    struct Counted(std::cell::Cell<u64>);

    impl Ranks for Counted {
        fn rank(&self, slot: Slot) -> u64 {
            self.0.set(self.0.get() + 1);
            slot.into()
        }
    }

    #[test]
    fn the_cost_per_event_is_logarithmic_in_the_size_of_the_bucket() {
        let crowd = 1 << 13;
        let mut calendar = Calendar::new(
            Counted(0.into()),
            &CalendarConfig { entities: crowd as usize, pending: crowd as usize, reach: TimeDelta(1000) },
        );
        (0..crowd).for_each(|slot| calendar.schedule(slot, Time(0)));
        // Half of them are cancelled and rescheduled for the next instant; those taken are rescheduled as well.
        (0..crowd).step_by(2).for_each(|slot| calendar.cancel(slot));
        (0..crowd).step_by(2).for_each(|slot| calendar.schedule(slot, Time(1)));
        let first: Vec<Slot> = (0..crowd / 2).filter_map(|_| calendar.pop_before(Time(1))).map(|(_, slot)| slot).collect();
        assert!(first.iter().copied().eq((0..crowd).skip(1).step_by(2)));
        first.iter().for_each(|&slot| calendar.schedule(slot, Time(1)));
        let second: Vec<Slot> = (0..crowd).filter_map(|_| calendar.pop_before(Time(2))).map(|(_, slot)| slot).collect();
        assert!(second.iter().copied().eq(0..crowd));
        // Two insertions and two removals per event, log2(8192) = 13 comparisons each, two ranks per comparison.
        let asked = calendar.ranks.0.get() / u64::from(crowd);
        assert!(asked < 4 * 2 * 13, "{asked} rank calls per slot");
    }

    #[test]
    fn an_event_cancelled_and_rescheduled_for_the_same_instant_is_taken_once() {
        let mut calendar = Calendar::new(Numbers, &CalendarConfig { entities: 3, pending: 3, reach: TimeDelta(1000) });
        (0..3).for_each(|slot| calendar.schedule(slot, Time(0)));
        for _ in 0..2 {
            calendar.cancel(2);
            calendar.schedule(2, Time(0));
        }
        let taken: Vec<_> = std::iter::from_fn(|| calendar.pop_before(Time::NEVER)).collect();
        assert_eq!(taken, [(Time(0), 0), (Time(0), 1), (Time(0), 2)]);
        assert_eq!((calendar.cancelled, calendar.peek()), (0, None));
    }

    /// A thousand entities with one event after another, each `gap` later: percentage of events that were foreseen at least eight events
    /// before.
    fn foreseen(gap: impl Fn(u64) -> u64) -> u64 {
        let mut calendar = Calendar::new(Numbers, &CalendarConfig { entities: 1000, pending: 1000, reach: TimeDelta(1 << 20) });
        (0..1000).for_each(|slot| calendar.schedule(slot, Time(gap(slot.into()))));
        let (mut reported, mut in_time) = ([None; 1000], 0);
        for step in 1000..51_000 {
            let (now, slot) = calendar.pop_before(Time::NEVER).unwrap();
            in_time += u64::from(reported[slot as usize].take().is_some_and(|at| step - at >= 8));
            calendar.schedule(slot, Time(now.0 + gap(step)));
            for slot in calendar.predict().into_iter().flatten() {
                reported[slot as usize].get_or_insert(step);
            }
        }
        in_time / 500
    }

    #[test]
    fn most_events_are_foreseen_in_small_and_large_buckets() {
        let stream = Stream::new(Entity { seed: 9, name: "calendar", index: 0 }, Purpose::Policy);
        let spread = |step: u64| (1 << 19) + stream.bits(step) % (1 << 19);
        let (alone, crowds) = (foreseen(spread), foreseen(|step| spread(step) >> 14 << 14));
        assert!(alone > 90 && crowds > 70, "{alone} %, {crowds} %");
    }

    #[test]
    fn nothing_at_or_after_the_end_is_taken() {
        let mut calendar = Calendar::new(Numbers, &CalendarConfig { entities: 2, pending: 2, reach: TimeDelta(1000) });
        calendar.schedule(0, Time(10));
        calendar.schedule(1, Time(20));
        assert_eq!(calendar.pop_before(Time(10)), None);
        assert_eq!(calendar.pop_before(Time(11)), Some((Time(10), 0)));
        assert_eq!(calendar.pop_before(Time(20)), None);
        assert_eq!(calendar.peek(), Some(Time(20)));
    }
}
