//! Packets in flight. A line is a first-in first-out of packets; all lines share one pool of chunks, so that an idle line costs
//! 16 bytes and a packet in flight 32, however many lines there are.

use super::packet::Packet;
use serde::{Deserialize, Serialize};

const CHUNK: usize = 8;
const NONE: u32 = u32::MAX;

/// One line. Its packets lie in a [`Pool`].
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Line {
    head: u32,
    tail: u32,
    len: u32,
    head_at: u8,
    tail_at: u8,
}

impl Default for Line {
    fn default() -> Line {
        Line { head: NONE, tail: NONE, len: 0, head_at: 0, tail_at: 0 }
    }
}

impl Line {
    #[inline]
    pub fn len(&self) -> u32 {
        self.len
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Chunk {
    packets: [Packet; CHUNK],
    next: u32,
}

/// Chunks of all lines.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pool {
    chunks: Vec<Chunk>,
    free: u32,
}

impl Default for Pool {
    fn default() -> Pool {
        Pool { chunks: Vec::new(), free: NONE }
    }
}

impl Pool {
    #[inline]
    pub fn push(&mut self, line: &mut Line, packet: Packet) {
        if line.len == 0 {
            let chunk = self.take();
            *line = Line { head: chunk, tail: chunk, len: 0, head_at: 0, tail_at: 0 };
        } else if line.tail_at as usize == CHUNK {
            let chunk = self.take();
            self.chunks[line.tail as usize].next = chunk;
            line.tail = chunk;
            line.tail_at = 0;
        }
        self.chunks[line.tail as usize].packets[line.tail_at as usize] = packet;
        line.tail_at += 1;
        line.len += 1;
    }

    #[inline]
    pub fn front(&self, line: &Line) -> Option<&Packet> {
        if line.len == 0 {
            return None;
        }
        Some(&self.chunks[line.head as usize].packets[line.head_at as usize])
    }

    /// Time of the last packet pushed, while the line is not empty.
    #[inline]
    pub fn back(&self, line: &Line) -> Option<&Packet> {
        if line.len == 0 {
            return None;
        }
        Some(&self.chunks[line.tail as usize].packets[line.tail_at as usize - 1])
    }

    #[inline]
    pub fn pop(&mut self, line: &mut Line) -> Option<Packet> {
        if line.len == 0 {
            return None;
        }
        let chunk = line.head;
        let packet = self.chunks[chunk as usize].packets[line.head_at as usize];
        line.head_at += 1;
        line.len -= 1;
        if line.len == 0 || line.head_at as usize == CHUNK {
            line.head = self.chunks[chunk as usize].next;
            line.head_at = 0;
            self.chunks[chunk as usize].next = self.free;
            self.free = chunk;
        }
        Some(packet)
    }

    /// The packets of a line, first to last.
    pub fn iter<'a>(&'a self, line: &Line) -> impl Iterator<Item = &'a Packet> + 'a {
        let (mut chunk, mut at, len) = (line.head, line.head_at as usize, line.len);
        (0..len).map(move |_| {
            if at == CHUNK {
                chunk = self.chunks[chunk as usize].next;
                at = 0;
            }
            at += 1;
            &self.chunks[chunk as usize].packets[at - 1]
        })
    }

    /// Bytes of all chunks, used or free.
    pub fn bytes(&self) -> usize {
        self.chunks.len() * std::mem::size_of::<Chunk>()
    }

    #[inline]
    fn take(&mut self) -> u32 {
        if self.free == NONE {
            let empty = Packet::data(Default::default(), Default::default(), 0, 0, 0, 0, 0);
            self.chunks.push(Chunk { packets: [empty; CHUNK], next: NONE });
            return (self.chunks.len() - 1) as u32;
        }
        let chunk = self.free;
        self.free = self.chunks[chunk as usize].next;
        self.chunks[chunk as usize].next = NONE;
        chunk
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::Time;

    fn packet(segment: u32) -> Packet {
        Packet::data(Time(0), Time(0), 0, segment, 1, 1, 0)
    }

    #[test]
    fn two_lines_share_a_pool_and_keep_their_order() {
        let (mut pool, mut a, mut b) = (Pool::default(), Line::default(), Line::default());
        for i in 0..100 {
            pool.push(&mut a, packet(i));
            pool.push(&mut b, packet(1000 + i));
            if i % 3 == 0 {
                assert_eq!(pool.pop(&mut b).map(|p| p.segment), Some(1000 + i / 3));
            }
        }
        assert_eq!(pool.iter(&a).map(|p| p.segment).collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
        assert_eq!(pool.back(&b).map(|p| p.segment), Some(1099));
        for i in 0..100 {
            assert_eq!(pool.front(&a).map(|p| p.segment), Some(i));
            assert_eq!(pool.pop(&mut a).map(|p| p.segment), Some(i));
        }
        assert!(pool.pop(&mut a).is_none() && pool.iter(&b).count() == b.len() as usize);
    }

    #[test]
    fn emptied_chunks_are_used_again() {
        let (mut pool, mut line) = (Pool::default(), Line::default());
        for i in 0..10_000 {
            pool.push(&mut line, packet(i));
            pool.pop(&mut line);
        }
        assert_eq!(pool.chunks.len(), 1);
    }
}
