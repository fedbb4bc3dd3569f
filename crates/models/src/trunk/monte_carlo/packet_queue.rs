//! The virtual FIFO: waiting packets, some of which are still arriving.

/// Waiting packets in order of arrival. Each carries a `T`, the data that its variant stores per packet.
///
/// Packets are numbered in order of arrival modulo 2^32 and stored in a ring whose size is a power of two: packet n is in slot n
/// modulo that size.
#[derive(Debug)]
pub struct PacketQueue<T> {
    ring: Vec<QueuedPacket<T>>,
    /// Number of the packet that leaves next.
    first: u32,
    /// Number of the packet that arrives next.
    next: u32,
    /// Numbers of the packets that are still arriving, unordered.
    arriving: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct QueuedPacket<T> {
    carried: T,
    /// Its index in `arriving`, or `ARRIVED`.
    place: u32,
}

const ARRIVED: u32 = u32::MAX;
const FIRST_SLOTS: usize = 16;

impl<T: Copy + Default> PacketQueue<T> {
    pub fn new() -> PacketQueue<T> {
        PacketQueue { ring: vec![QueuedPacket::default(); FIRST_SLOTS], first: 0, next: 0, arriving: Vec::new() }
    }

    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.next.wrapping_sub(self.first)
    }

    #[inline(always)]
    pub fn arriving(&self) -> u32 {
        self.arriving.len() as u32
    }

    /// Adds a packet that has begun to arrive.
    #[inline(always)]
    pub fn join(&mut self, carried: T) {
        let place = self.arriving();
        self.arriving.push(self.next);
        self.push(QueuedPacket { carried, place });
    }

    /// Adds a packet that has arrived completely.
    pub fn join_arrived(&mut self, carried: T) {
        self.push(QueuedPacket { carried, place: ARRIVED });
    }

    /// The packet at index `place` of `arriving` has arrived; `change` updates its data.
    #[inline(always)]
    pub fn arrived(&mut self, place: u32, change: impl FnOnce(T) -> T) {
        let number = self.no_longer_arriving(place);
        let slot = self.slot(number);
        self.ring[slot] = QueuedPacket { carried: change(self.ring[slot].carried), place: ARRIVED };
    }

    /// Removes the first packet. Returns its data, and whether it is still arriving.
    #[inline(always)]
    pub fn leave(&mut self) -> Option<(T, bool)> {
        if self.first == self.next {
            return None;
        }
        let QueuedPacket { carried, place } = self.ring[self.slot(self.first)];
        self.first = self.first.wrapping_add(1);
        let arriving = place != ARRIVED;
        if arriving {
            self.no_longer_arriving(place);
        }
        Some((carried, arriving))
    }

    /// Changes the data of packets that are still arriving.
    pub fn change_arriving(&mut self, change: impl Fn(T) -> T) {
        for place in 0..self.arriving.len() {
            let slot = self.slot(self.arriving[place]);
            self.ring[slot].carried = change(self.ring[slot].carried);
        }
    }

    #[inline(always)]
    fn slot(&self, number: u32) -> usize {
        number as usize & (self.ring.len() - 1)
    }

    #[inline(always)]
    fn push(&mut self, packet: QueuedPacket<T>) {
        if self.len() as usize == self.ring.len() {
            self.grow();
        }
        let slot = self.slot(self.next);
        self.ring[slot] = packet;
        self.next = self.next.wrapping_add(1);
    }

    #[cold]
    fn grow(&mut self) {
        let grown = vec![QueuedPacket::default(); 2 * self.ring.len()];
        let old = std::mem::replace(&mut self.ring, grown);
        self.copy_ring(&old);
    }

    /// Takes the packets of this queue from another ring.
    fn copy_ring(&mut self, from: &[QueuedPacket<T>]) {
        for offset in 0..self.len() {
            let number = self.first.wrapping_add(offset);
            let slot = self.slot(number);
            self.ring[slot] = from[number as usize & (from.len() - 1)];
        }
    }

    /// Returns the packet's number. The last packet of `arriving` moves to the free index.
    #[inline(always)]
    fn no_longer_arriving(&mut self, place: u32) -> u32 {
        let number = self.arriving.swap_remove(place as usize);
        if let Some(&moved) = self.arriving.get(place as usize) {
            let slot = self.slot(moved);
            self.ring[slot].place = place;
        }
        number
    }
}

impl<T: Copy + Default> Clone for PacketQueue<T> {
    fn clone(&self) -> PacketQueue<T> {
        let mut queue = PacketQueue::new();
        queue.clone_from(self);
        queue
    }

    /// Copies only waiting packets, mostly without a new allocation, because splitting copies often.
    fn clone_from(&mut self, source: &PacketQueue<T>) {
        (self.first, self.next) = (source.first, source.next);
        let slots = (self.len() as usize).next_power_of_two();
        if self.ring.len() < slots {
            self.ring = vec![QueuedPacket::default(); slots];
        }
        self.copy_ring(&source.ring);
        self.arriving.clone_from(&source.arriving);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_leave_in_order_with_their_arrival_status() {
        let mut queue = PacketQueue::new();
        for name in ["a", "b", "c", "d"] {
            queue.join(name);
        }
        // `arriving` is a, b, c, d. "b" has arrived, and "d" takes its index: a, d, c.
        queue.arrived(1, |name| if name == "b" { "B" } else { "another" });
        assert_eq!(queue.leave(), Some(("a", true)));
        // Now c, d: index 1 is "d".
        queue.arrived(1, |name| if name == "d" { "D" } else { "another" });
        assert_eq!((queue.len(), queue.arriving()), (3, 1));
        assert_eq!(queue.leave(), Some(("B", false)));
        assert_eq!(queue.leave(), Some(("c", true)));
        assert_eq!(queue.leave(), Some(("D", false)));
        assert_eq!(queue.leave(), None);
    }

    #[test]
    fn a_copy_into_a_used_line_equals_the_original() {
        let mut queue = PacketQueue::new();
        queue.join(1);
        queue.join(2);
        let _ = queue.leave();
        queue.join_arrived(3);
        let mut copy = PacketQueue::new();
        copy.join(7);
        copy.clone_from(&queue);
        assert_eq!([copy.leave(), copy.leave(), copy.leave()], [Some((2, true)), Some((3, false)), None]);
    }

    #[test]
    fn a_line_that_outgrows_its_ring_keeps_order() {
        let mut queue = PacketQueue::new();
        (0..10).for_each(|number| queue.join(number));
        (0..10).for_each(|number| assert_eq!(queue.leave(), Some((number, true))));
        (10..110).for_each(|number| queue.join(number));
        queue.arrived(3, |number| number);
        (10..110).for_each(|number| assert_eq!(queue.leave(), Some((number, number != 13))));
    }
}
