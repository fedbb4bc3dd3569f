//! Packets in flight. A line is a FIFO queue of packets. All lines share one pool of chunks, so that an idle line costs 12 bytes and a
//! packet in flight 32 bytes, whatever the number of lines. Entries of buffers computed ahead are in a pool of their own.

use super::prefetch::prefetch;
use serde::{Deserialize, Serialize};

/// Places per chunk.
pub const CHUNK: u32 = 8;
const NONE: u32 = u32::MAX;

/// One line. Its contents are stored in a [`Pool`].
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct PooledQueue {
    /// Place of the first packet.
    head: u32,
    /// Place after the last packet. A multiple of the chunk size means that its chunk is full.
    tail: u32,
    len: u32,
}

impl PooledQueue {
    #[inline]
    pub fn len(&self) -> u32 {
        self.len
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// The contents of all lines of one kind, in chunks of eight places.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pool<T> {
    places: Vec<T>,
    /// The chunk after each chunk, in its line or in the free list.
    next: Vec<u32>,
    free: u32,
}

impl<T> Default for Pool<T> {
    fn default() -> Pool<T> {
        Pool { places: Vec::new(), next: Vec::new(), free: NONE }
    }
}

impl<T: Copy> Pool<T> {
    /// Maximum number of places in use at the same time.
    #[cfg(test)]
    pub(crate) fn places(&self) -> usize {
        self.places.len()
    }

    #[inline(always)]
    pub fn push(&mut self, line: &mut PooledQueue, packet: T) {
        if line.tail.is_multiple_of(CHUNK) || line.len == 0 {
            self.extend(line, packet);
        }
        self.places[line.tail as usize] = packet;
        line.tail += 1;
        line.len += 1;
    }

    #[inline]
    pub fn front(&self, line: &PooledQueue) -> Option<&T> {
        if line.len == 0 { None } else { Some(&self.places[line.head as usize]) }
    }

    #[inline]
    pub fn front_mut(&mut self, line: &PooledQueue) -> Option<&mut T> {
        if line.len == 0 { None } else { Some(&mut self.places[line.head as usize]) }
    }

    /// The last packet pushed.
    #[inline]
    pub fn back(&self, line: &PooledQueue) -> Option<&T> {
        if line.len == 0 { None } else { Some(&self.places[line.tail as usize - 1]) }
    }

    #[inline(always)]
    pub fn pop(&mut self, line: &mut PooledQueue) -> Option<T> {
        if line.len == 0 {
            return None;
        }
        let first = line.head as usize;
        line.head += 1;
        line.len -= 1;
        if line.len == 0 || line.head.is_multiple_of(CHUNK) {
            self.release_first(line);
        }
        // A released place keeps its contents. Read last, so that the packet is copied once.
        Some(self.places[first])
    }

    /// Prefetch the first packet of a line. Returns its place, if there is one.
    #[inline]
    pub fn prefetch_front(&self, line: &PooledQueue) -> Option<u32> {
        if line.len == 0 {
            return None;
        }
        prefetch(&self.places[line.head as usize]);
        prefetch(&self.next[(line.head / CHUNK) as usize]);
        if let Some(second) = self.places.get(line.head as usize + 1) {
            prefetch(second);
        }
        Some(line.head)
    }

    /// The contents of a place, which may have been released.
    #[inline]
    pub fn at(&self, place: u32) -> &T {
        &self.places[place as usize]
    }

    /// Prefetch the place of the next packet of a line.
    #[inline]
    pub fn prefetch_back(&self, line: &PooledQueue) {
        if let Some(place) = self.places.get(line.tail as usize) {
            prefetch(place);
        }
    }

    /// The packets of a line, first to last.
    pub fn iter<'a>(&'a self, line: &PooledQueue) -> impl Iterator<Item = &'a T> + 'a {
        let (mut at, len) = (line.head, line.len);
        (0..len).map(move |index| {
            let here = at;
            at += 1;
            if at.is_multiple_of(CHUNK) && index + 1 < len {
                at = self.next[(here / CHUNK) as usize] * CHUNK;
            }
            &self.places[here as usize]
        })
    }

    /// Append a chunk to a line; its places are filled with `filler`.
    #[inline(never)]
    fn extend(&mut self, line: &mut PooledQueue, filler: T) {
        let chunk = if self.free == NONE {
            self.places.extend([filler; CHUNK as usize]);
            self.next.push(NONE);
            self.next.len() as u32 - 1
        } else {
            let chunk = self.free;
            self.free = self.next[chunk as usize];
            chunk
        };
        if line.len == 0 {
            line.head = chunk * CHUNK;
        } else {
            self.next[((line.tail - 1) / CHUNK) as usize] = chunk;
        }
        line.tail = chunk * CHUNK;
    }

    /// Release the first chunk of a line.
    fn release_first(&mut self, line: &mut PooledQueue) {
        let chunk = (line.head - 1) / CHUNK;
        line.head = self.next[chunk as usize].wrapping_mul(CHUNK);
        self.next[chunk as usize] = self.free;
        self.free = chunk;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::packet::{OutgoingPacket, Packet};
    use crate::primitives::segment_number::SegmentNumber;
    use crate::primitives::units::Time;

    fn packet(segment: u32) -> Packet {
        Packet::data(Time(0), Time(0), &OutgoingPacket { segment: SegmentNumber(segment), ..OutgoingPacket::default() }, 0)
    }

    #[test]
    fn two_lines_share_a_pool_and_keep_their_order() {
        let (mut pool, mut a, mut b) = (Pool::default(), PooledQueue::default(), PooledQueue::default());
        for i in 0..100 {
            pool.push(&mut a, packet(i));
            pool.push(&mut b, packet(1000 + i));
            if i % 3 == 0 {
                assert_eq!(pool.pop(&mut b).map(|p| p.segment().0), Some(1000 + i / 3));
            }
        }
        assert_eq!(pool.iter(&a).map(|p| p.segment().0).collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
        assert_eq!(pool.back(&b).map(|p| p.segment().0), Some(1099));
        for i in 0..100 {
            assert_eq!(pool.front(&a).map(|p| p.segment().0), Some(i));
            assert_eq!(pool.pop(&mut a).map(|p| p.segment().0), Some(i));
        }
        assert!(pool.pop(&mut a).is_none() && pool.iter(&b).count() == b.len() as usize);
    }

    #[test]
    fn empty_chunks_are_reused() {
        let (mut pool, mut line) = (Pool::default(), PooledQueue::default());
        for i in 0..10_000 {
            pool.push(&mut line, packet(i));
            pool.pop(&mut line);
        }
        assert_eq!(pool.next.len(), 1);
    }
}
