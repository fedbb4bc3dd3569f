//! The transmitters of a port, with a bit set of the idle ones: an arrival at a trunk of a hundred channels does not search them all.

use crate::primitives::packet::Packet;
use serde::{Deserialize, Serialize};

const BITS: usize = u64::BITS as usize;

/// A packet in service.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct PacketInService {
    pub(crate) packet: Packet,
    /// The queue in which it waited, or would have waited.
    pub(super) queue: u32,
    /// The next port is a cut-through port and the head has gone ahead; only the rest of the packet is left.
    pub(crate) head_has_left: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Transmitters {
    sending: Vec<Option<PacketInService>>,
    /// One bit per idle transmitter, 64 in a word.
    idle: Vec<u64>,
}

impl Transmitters {
    pub(super) fn new(count: usize) -> Transmitters {
        let mut idle = vec![u64::MAX; count.div_ceil(BITS)];
        if let Some(last) = idle.last_mut() {
            *last >>= (BITS - count % BITS) % BITS;
        }
        Transmitters { sending: vec![None; count], idle }
    }

    #[inline]
    pub(super) fn count(&self) -> usize {
        self.sending.len()
    }

    /// The first idle transmitter.
    #[inline]
    pub(super) fn first_idle(&self) -> Option<u32> {
        let word = self.idle.iter().position(|word| *word != 0)?;
        Some((word * BITS) as u32 + self.idle[word].trailing_zeros())
    }

    #[inline]
    pub(super) fn start(&mut self, number: u32, sending: PacketInService) {
        self.sending[number as usize] = Some(sending);
        self.idle[number as usize / BITS] &= !(1 << (number as usize % BITS));
    }

    /// A transmitter has finished.
    #[inline]
    pub(crate) fn finish(&mut self, number: u32) -> PacketInService {
        self.idle[number as usize / BITS] |= 1 << (number as usize % BITS);
        match self.sending[number as usize].take() {
            Some(sent) => sent,
            None => unreachable!("an idle transmitter finishes"),
        }
    }

    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&PacketInService> {
        self.sending[number as usize].as_ref()
    }

    #[inline]
    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut PacketInService> {
        self.sending[number as usize].as_mut()
    }

    /// Transmitters whose packet is not kept become idle.
    pub(crate) fn retain(&mut self, mut keeps: impl FnMut(&mut PacketInService) -> bool) {
        for number in 0..self.count() as u32 {
            if self.get_mut(number).is_some_and(|sending| !keeps(sending)) {
                self.finish(number);
            }
        }
    }

    /// The packets in service.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &PacketInService> {
        self.sending.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::ids::FlowId;
    use crate::primitives::packet::OutgoingPacket;
    use crate::primitives::segment_number::SegmentNumber;
    use crate::primitives::units::{Bytes, Time};

    fn sending() -> PacketInService {
        let outgoing =
            OutgoingPacket { flow: FlowId(0), segment: SegmentNumber::FIRST, transmission: 1, bytes: Bytes(1000), pushed: false };
        PacketInService { packet: Packet::data(Time::ZERO, Time::ZERO, &outgoing, 0), queue: 0, head_has_left: false }
    }

    #[test]
    fn the_first_idle_one_is_found_across_words() {
        for count in [2, 63, 64, 65, 130] {
            let mut transmitters = Transmitters::new(count);
            for number in 0..count as u32 {
                assert_eq!(transmitters.first_idle(), Some(number), "{count}");
                transmitters.start(number, sending());
            }
            assert_eq!((transmitters.first_idle(), transmitters.iter().count()), (None, count));
            for number in [count as u32 - 1, 0] {
                transmitters.finish(number);
                assert_eq!(transmitters.first_idle(), Some(number), "{count}");
            }
        }
    }
}
