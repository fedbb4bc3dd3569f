//! The slots with their pending times, and the wheel: a ring of buckets of slots. Buckets are doubly linked lists.

use crate::primitives::bit_set::BitSet;
use crate::primitives::prefetch::prefetch;
use crate::primitives::units::Time;
use serde::{Deserialize, Serialize};
use std::ops::RangeTo;

/// Index of an entity's pending event in the calendar.
pub type Slot = u32;

/// The first slot of a list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Head(pub Slot);

pub(super) const NONE: Slot = Slot::MAX;

/// A slot with the time of its event.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Due {
    pub(super) time: Time,
    pub(super) slot: Slot,
}

/// A slot's event.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Pending {
    /// [`Time::NEVER`] if no event is pending.
    time: Time,
    /// Next slot in the same bucket.
    next: Slot,
    /// The previous slot in the bucket, unless this is the first.
    previous: Slot,
}

const NOTHING: Pending = Pending { time: Time::NEVER, next: NONE, previous: NONE };

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Wheel {
    pending: Vec<Pending>,
    /// First slot of each bucket.
    heads: Vec<Slot>,
    /// Indices of the buckets with slots.
    occupied: BitSet,
}

impl Wheel {
    /// The number of buckets is a power of two.
    pub fn new(slots: usize, buckets: RangeTo<usize>) -> Wheel {
        Wheel { pending: vec![NOTHING; slots], heads: vec![NONE; buckets.end], occupied: BitSet::new(buckets) }
    }

    /// Number of slots.
    pub fn slots(&self) -> u32 {
        self.pending.len() as u32
    }

    /// Number of buckets.
    #[inline(always)]
    pub fn size(&self) -> u64 {
        self.heads.len() as u64
    }

    #[inline(always)]
    pub fn time_of(&self, slot: Slot) -> Time {
        self.pending[slot as usize].time
    }

    #[inline(always)]
    pub fn set_time(&mut self, slot: Slot, time: Time) {
        self.pending[slot as usize].time = time;
    }

    /// The pending time of a slot, which has none afterwards.
    #[inline(always)]
    pub fn take_time(&mut self, slot: Slot) -> Time {
        std::mem::replace(&mut self.pending[slot as usize].time, Time::NEVER)
    }

    /// The slot after this one in its list, or [`NONE`].
    #[inline(always)]
    pub fn after(&self, slot: Slot) -> Slot {
        self.pending.get(slot as usize).map_or(NONE, |slot| slot.next)
    }

    /// Put a slot before a list.
    #[inline(always)]
    pub fn link(&mut self, Head(head): Head, slot: Slot) {
        self.pending[slot as usize].next = head;
        if head != NONE {
            self.pending[head as usize].previous = slot;
        }
    }

    /// Remove a slot from a list. Returns the first slot of the list.
    pub fn unlink(&mut self, Head(head): Head, slot: Slot) -> Head {
        let Pending { next, previous, .. } = self.pending[slot as usize];
        if head == slot {
            return Head(next);
        }
        self.pending[previous as usize].next = next;
        if next != NONE {
            self.pending[next as usize].previous = previous;
        }
        Head(head)
    }

    #[inline(always)]
    fn index(&self, bucket: u64) -> usize {
        bucket as usize & (self.heads.len() - 1)
    }

    /// The first slot of a bucket, or [`NONE`].
    #[inline(always)]
    pub fn first(&self, bucket: u64) -> Slot {
        self.heads[self.index(bucket)]
    }

    #[inline(always)]
    pub fn insert(&mut self, bucket: u64, slot: Slot) {
        let index = self.index(bucket);
        let head = std::mem::replace(&mut self.heads[index], slot);
        if head == NONE {
            self.occupied.insert(index);
        }
        self.link(Head(head), slot);
    }

    pub fn remove(&mut self, bucket: u64, slot: Slot) {
        let index = self.index(bucket);
        let Head(head) = self.unlink(Head(self.heads[index]), slot);
        self.heads[index] = head;
        if head == NONE {
            self.occupied.remove(index);
        }
    }

    /// Empty a bucket. Returns its first slot.
    #[inline(always)]
    pub fn take(&mut self, bucket: u64) -> Slot {
        let index = self.index(bucket);
        self.occupied.remove(index);
        std::mem::replace(&mut self.heads[index], NONE)
    }

    /// Empty all buckets.
    pub fn clear(&mut self) {
        self.heads.fill(NONE);
        self.occupied.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.occupied.is_empty()
    }

    /// The first occupied bucket after this one. The wheel has none at or before it.
    #[inline]
    pub fn next_occupied(&self, bucket: u64) -> Option<u64> {
        let (start, all) = (self.index(bucket), self.heads.len());
        let index = self.occupied.first_in(start..all).or_else(|| self.occupied.first_in(0..all))?;
        Some(bucket + ((index as u64).wrapping_sub(start as u64) & (self.size() - 1)))
    }

    /// The first occupied bucket from this one on, if it is covered by the same word of the summary.
    #[inline]
    pub fn occupied_near(&self, bucket: u64) -> Option<u64> {
        let start = self.index(bucket);
        let index = self.occupied.first_in(start..start + 1)?;
        Some(bucket + (index - start) as u64)
    }

    /// Prefetch the entry of a slot.
    #[inline]
    pub fn prefetch(&self, slot: Slot) {
        prefetch(&self.pending[slot as usize]);
    }
}
