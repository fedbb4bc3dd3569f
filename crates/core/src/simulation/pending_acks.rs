//! Acknowledgements that are known to arrive at their senders, in a queue that is usually empty or has one entry.

use crate::primitives::packet::Packet;

/// A queue, first in, first out. Its memory is reused whenever it becomes empty.
#[derive(Clone, Debug, Default)]
pub(crate) struct PendingAcks {
    acks: Vec<Packet>,
    /// Number of entries of `acks` that were taken.
    taken: usize,
}

impl PendingAcks {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.acks.is_empty()
    }

    #[inline]
    pub(crate) fn push(&mut self, ack: Packet) {
        if self.acks.len() == self.acks.capacity() {
            self.make_room();
        }
        self.acks.push(ack);
    }

    /// Reuses the places of entries that were taken, if these are at least half of all.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        if 2 * self.taken >= self.acks.len() {
            self.acks.drain(..self.taken);
            self.taken = 0;
        }
        self.acks.reserve(1);
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Packet> {
        let ack = *self.acks.get(self.taken)?;
        self.taken += 1;
        if self.taken == self.acks.len() {
            self.acks.clear();
            self.taken = 0;
        }
        Some(ack)
    }

    /// The acknowledgement after this many others.
    #[inline]
    pub(crate) fn get(&self, place: usize) -> Option<&Packet> {
        self.acks.get(self.taken + place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::ids::FlowId;
    use crate::primitives::packet::OutgoingPacket;
    use crate::primitives::segment_number::SegmentNumber;
    use crate::primitives::units::{Bytes, Time};

    fn packet(number: u32) -> Packet {
        let of = OutgoingPacket {
            flow: FlowId(0),
            segment: SegmentNumber(number),
            transmission: 1,
            bytes: Bytes(1500),
            pushed: false,
        };
        Packet::data(Time::ZERO, Time::ZERO, &of, 0)
    }

    #[test]
    fn a_queue_that_never_becomes_empty_keeps_its_order_and_does_not_grow() {
        let mut pending = PendingAcks::default();
        (0..3).for_each(|number| pending.push(packet(number)));
        for number in 3..1000 {
            assert_eq!(pending.get(2).map(|ack| ack.segment().0), Some(number - 1));
            assert_eq!(pending.pop().map(|ack| ack.segment().0), Some(number - 3));
            pending.push(packet(number));
        }
        assert!(pending.acks.capacity() <= 16, "{}", pending.acks.capacity());
        let rest: Vec<u32> = std::iter::from_fn(|| pending.pop()).map(|ack| ack.segment().0).collect();
        assert_eq!((rest, pending.is_empty()), (vec![997, 998, 999], true));
    }
}
