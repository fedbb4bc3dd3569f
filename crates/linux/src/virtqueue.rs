//! Split virtqueues (Virtual I/O Device 1.2, section 2.7), as the device sees them.

use crate::fault::{Fault, fault};
use crate::guest_memory::GuestMemory;
use std::sync::atomic::Ordering::{Acquire, Release};

/// Flags of a descriptor: another one follows; the device writes to this buffer.
const NEXT: u16 = 1;
const WRITE: u16 = 2;
/// Flag of the available ring: the driver wants no interrupts; of the used ring: the device wants no notifications.
const NO_INTERRUPT: u16 = 1;
const NO_NOTIFY: u16 = 1;

/// A queue. All addresses are guest addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Queue {
    /// Number of descriptors: a power of 2.
    pub(crate) size: u16,
    pub(crate) descriptors: u64,
    pub(crate) available: u64,
    pub(crate) used: u64,
    /// Positions of the next entries of both rings.
    pub(crate) next_available: u16,
    next_used: u16,
}

/// The first descriptor of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head(u16);

impl Queue {
    /// The next chain that the driver has made available.
    pub(crate) fn take(&mut self, memory: &GuestMemory) -> Result<Option<Head>, Fault> {
        if self.size == 0 {
            return Ok(None);
        }
        if memory.u16(self.available + 2)?.load(Acquire) == self.next_available {
            return Ok(None);
        }
        let place = u64::from(self.next_available % self.size);
        let head = memory.u16(self.available + 4 + 2 * place)?.load(Acquire);
        self.next_available = self.next_available.wrapping_add(1);
        Ok(Some(Head(head)))
    }

    /// Appends the contents of a chain.
    pub(crate) fn read(&self, memory: &GuestMemory, head: Head, into: &mut Vec<u8>) -> Result<(), Fault> {
        self.for_each(memory, head, |address, length, flags| {
            if flags & WRITE != 0 {
                return fault("a buffer of a packet is for the device to write");
            }
            let start = into.len();
            if start + length > LONGEST {
                return fault(format!("a packet has more than {LONGEST} bytes"));
            }
            into.resize(start + length, 0);
            memory.read(address, &mut into[start..])?;
            Ok(true)
        })
    }

    /// Writes bytes to a chain.
    pub(crate) fn write(&self, memory: &GuestMemory, head: Head, bytes: &[u8]) -> Result<(), Fault> {
        let mut left = bytes;
        self.for_each(memory, head, |address, length, flags| {
            if flags & WRITE == 0 {
                return fault("a receive buffer is not for the device to write");
            }
            let (part, rest) = left.split_at(length.min(left.len()));
            memory.write(address, part)?;
            left = rest;
            Ok(!left.is_empty())
        })?;
        if left.is_empty() { Ok(()) } else { fault(format!("a receive buffer has less than {} bytes", bytes.len())) }
    }

    /// Applies a function to address, length and flags of each descriptor until it returns false.
    fn for_each(
        &self,
        memory: &GuestMemory,
        Head(head): Head,
        mut apply: impl FnMut(u64, usize, u16) -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        let mut index = head;
        for _ in 0..self.size {
            if index >= self.size {
                return fault(format!("a descriptor {index} of a queue with {}", self.size));
            }
            let mut raw = [0; 16];
            memory.read(self.descriptors + 16 * u64::from(index), &mut raw)?;
            let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = raw;
            let address = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
            let length = u32::from_le_bytes([i, j, k, l]);
            let (flags, next) = (u16::from_le_bytes([m, n]), u16::from_le_bytes([o, p]));
            if !apply(address, length as usize, flags)? || flags & NEXT == 0 {
                return Ok(());
            }
            index = next;
        }
        fault("a chain of descriptors without an end")
    }

    /// Returns a chain to the driver, with the number of bytes written.
    pub(crate) fn complete(&mut self, memory: &GuestMemory, Head(head): Head, written: u32) -> Result<(), Fault> {
        let place = self.used + 4 + 8 * u64::from(self.next_used % self.size.max(1));
        let mut entry = [0; 8];
        entry[..4].copy_from_slice(&u32::from(head).to_le_bytes());
        entry[4..].copy_from_slice(&written.to_le_bytes());
        memory.write(place, &entry)?;
        self.next_used = self.next_used.wrapping_add(1);
        memory.u16(self.used + 2)?.store(self.next_used, Release);
        Ok(())
    }

    /// Whether the driver wants an interrupt for completed chains.
    pub(crate) fn wants_interrupt(&self, memory: &GuestMemory) -> Result<bool, Fault> {
        Ok(memory.u16(self.available)?.load(Acquire) & NO_INTERRUPT == 0)
    }

    /// Asks the driver not to notify the device of available chains.
    pub(crate) fn suppress_notifications(&self, memory: &GuestMemory) -> Result<(), Fault> {
        memory.u16(self.used)?.store(NO_NOTIFY, Release);
        Ok(())
    }
}

/// Bytes of the longest packet: that of IPv4, with the header of the device and that of Ethernet.
const LONGEST: usize = 65_535 + 12 + 14;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::tests::memory;

    const START: u64 = 0x10000;
    const BUFFERS: u64 = START + 0x1000;

    /// A queue of 4 descriptors, and its memory.
    fn queue() -> (Queue, GuestMemory) {
        let (descriptors, available, used) = (START, START + 0x100, START + 0x200);
        let queue = Queue { size: 4, descriptors, available, used, ..Queue::default() };
        (queue, GuestMemory::new(vec![(START, memory(8192))]))
    }

    fn describe(memory: &GuestMemory, index: u16, (at, length): (u64, u32), flags: u16, next: u16) {
        let mut raw = Vec::new();
        raw.extend((BUFFERS + at).to_le_bytes());
        raw.extend(length.to_le_bytes());
        raw.extend(flags.to_le_bytes());
        raw.extend(next.to_le_bytes());
        memory.write(START + 16 * u64::from(index), &raw).unwrap();
    }

    fn offer(memory: &GuestMemory, position: u16, head: u16) {
        memory.u16(START + 0x104 + 2 * u64::from(position % 4)).unwrap().store(head, Release);
        memory.u16(START + 0x102).unwrap().store(position.wrapping_add(1), Release);
    }

    #[test]
    fn chains_are_read_and_completed_in_order_across_the_end_of_the_ring() {
        let (mut queue, memory) = queue();
        memory.write(BUFFERS, b"abcdef").unwrap();
        describe(&memory, 2, (0, 2), NEXT, 0);
        describe(&memory, 0, (3, 3), 0, 0);
        assert_eq!(queue.take(&memory).unwrap(), None);
        for position in 0..6 {
            offer(&memory, position, 2);
            let head = queue.take(&memory).unwrap().unwrap();
            assert_eq!(queue.take(&memory).unwrap(), None);
            let mut packet = Vec::new();
            queue.read(&memory, head, &mut packet).unwrap();
            assert_eq!(packet, b"abdef");
            queue.complete(&memory, head, 0).unwrap();
            assert_eq!(memory.u16(START + 0x202).unwrap().load(Acquire), position + 1);
        }
    }

    #[test]
    fn a_packet_fills_the_buffers_of_a_chain() {
        let (queue, memory) = queue();
        describe(&memory, 1, (0, 3), NEXT | WRITE, 3);
        describe(&memory, 3, (100, 9), WRITE, 0);
        queue.write(&memory, Head(1), b"packet").unwrap();
        let mut read = [0; 3];
        memory.read(BUFFERS, &mut read).unwrap();
        assert_eq!(&read, b"pac");
        memory.read(BUFFERS + 100, &mut read).unwrap();
        assert_eq!(&read, b"ket");
        let text = queue.write(&memory, Head(1), &[0; 13]).unwrap_err().0;
        assert_eq!(text, "a receive buffer has less than 13 bytes");
    }

    #[test]
    fn damaged_rings_are_faults() {
        let (mut queue, memory) = queue();
        describe(&memory, 0, (0, 1), NEXT, 1);
        describe(&memory, 1, (0, 1), NEXT, 0);
        let mut packet = Vec::new();
        assert_eq!(queue.read(&memory, Head(0), &mut packet).unwrap_err().0, "a chain of descriptors without an end");
        assert_eq!(queue.read(&memory, Head(4), &mut packet).unwrap_err().0, "a descriptor 4 of a queue with 4");
        describe(&memory, 1, (0, 1 << 30), 0, 0);
        assert_eq!(queue.read(&memory, Head(1), &mut packet).unwrap_err().0, "a packet has more than 65561 bytes");
        describe(&memory, 1, (0, 1), WRITE, 0);
        assert!(queue.read(&memory, Head(1), &mut packet).is_err());
        queue.available = 0;
        assert_eq!(queue.take(&memory).unwrap_err().0, "the address 0x2 is not in its memory");
        assert_eq!(Queue::default().take(&memory), Ok(None));
    }

    #[test]
    fn flags_of_the_rings_suppress_interrupts_and_notifications() {
        let (queue, memory) = queue();
        assert!(queue.wants_interrupt(&memory).unwrap());
        memory.u16(START + 0x100).unwrap().store(1, Release);
        assert!(!queue.wants_interrupt(&memory).unwrap());
        queue.suppress_notifications(&memory).unwrap();
        assert_eq!(memory.u16(START + 0x200).unwrap().load(Acquire), 1);
    }
}
