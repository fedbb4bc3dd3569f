//! A queue of plain records in a ring, which is read by position. Records are added at the end and dropped at the front, several at once.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Positions count from the front.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Vec<T>", into = "Vec<T>", bound(serialize = "T: Copy + Serialize", deserialize = "T: Copy + Deserialize<'de>"))]
pub(crate) struct Ring<T> {
    /// The number of places is zero or a power of two.
    places: Vec<T>,
    front: usize,
    len: usize,
}

impl<T> Default for Ring<T> {
    fn default() -> Ring<T> {
        Ring { places: Vec::new(), front: 0, len: 0 }
    }
}

impl<T: Copy> Ring<T> {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn place(&self, position: usize) -> usize {
        (self.front + position) & self.places.len().wrapping_sub(1)
    }

    #[inline]
    pub(crate) fn get(&self, position: usize) -> Option<&T> {
        if position < self.len { self.places.get(self.place(position)) } else { None }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, position: usize) -> Option<&mut T> {
        let place = self.place(position);
        if position < self.len { self.places.get_mut(place) } else { None }
    }

    #[inline]
    pub(crate) fn push(&mut self, record: T) {
        if self.len == self.places.len() {
            self.grow(record);
        }
        let place = self.place(self.len);
        self.places[place] = record;
        self.len += 1;
    }

    /// Twice as many places, each with some record.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, filler: T) {
        let mut places: Vec<T> = self.iter().copied().collect();
        places.resize((2 * self.len).max(4), filler);
        (self.places, self.front) = (places, 0);
    }

    /// Drops at most this many records.
    #[inline]
    pub(crate) fn drop_front(&mut self, count: usize) {
        let count = count.min(self.len);
        self.front = self.place(count);
        self.len -= count;
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + Clone {
        let Range { start, end } = self.front..self.front + self.len;
        let (wrapped, rest) = (end.saturating_sub(self.places.len()), end.min(self.places.len()));
        self.places[start..rest].iter().chain(&self.places[..wrapped])
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        let (end, all) = (self.front + self.len, self.places.len());
        let (before, after) = self.places.split_at_mut(self.front);
        let (wrapped, rest) = (end.saturating_sub(all), self.len.min(after.len()));
        after[..rest].iter_mut().chain(&mut before[..wrapped])
    }
}

impl<T: Copy> From<Ring<T>> for Vec<T> {
    fn from(ring: Ring<T>) -> Vec<T> {
        ring.iter().copied().collect()
    }
}

impl<T: Copy> From<Vec<T>> for Ring<T> {
    fn from(records: Vec<T>) -> Ring<T> {
        let mut ring = Ring::default();
        records.into_iter().for_each(|record| ring.push(record));
        ring
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::random::{Entity, Purpose, Stream};
    use std::collections::VecDeque;

    #[test]
    fn a_ring_is_a_double_ended_queue() {
        let stream = Stream::new(Entity { seed: 0, name: "ring", index: 0 }, Purpose::Policy);
        let (mut ring, mut queue) = (Ring::default(), VecDeque::new());
        for step in 0..5000 {
            let bits = stream.bits(step);
            match bits % 4 {
                0 => {
                    let count = (bits >> 8) as usize % 4;
                    ring.drop_front(count);
                    queue.drain(..count.min(queue.len()));
                }
                1 => {
                    let position = (bits >> 8) as usize % 40;
                    if let Some(record) = ring.get_mut(position) {
                        *record += 1;
                    }
                    if let Some(record) = queue.get_mut(position) {
                        *record += 1;
                    }
                }
                _ => {
                    ring.push(step);
                    queue.push_back(step);
                }
            }
            assert!(ring.iter().eq(&queue) && ring.iter_mut().map(|record| *record).eq(queue.iter().copied()));
            assert_eq!((ring.len(), ring.get(0), ring.get(7)), (queue.len(), queue.front(), queue.get(7)));
        }
        let copy: Ring<u64> = Vec::from(ring.clone()).into();
        assert!(copy.iter().eq(&queue) && queue.len() > 100);
    }
}
