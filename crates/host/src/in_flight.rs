//! The packets in the network, by flow and number. The numbers of a flow count up, and most packets leave in order.

use std::collections::VecDeque;
use tailback_core::network::FlowId;

#[derive(Default)]
pub(crate) struct InFlight {
    flows: Vec<FlowPackets>,
    /// Buffers of packets that have left, for reuse.
    spare: Vec<Vec<u8>>,
}

#[derive(Default)]
struct FlowPackets {
    /// Number of the packet at index 0.
    first: u32,
    places: VecDeque<Option<Held>>,
}

struct Held {
    packet: Vec<u8>,
    /// Copies of it that links have made, and that are still in the network.
    copies: u32,
}

/// A packet, by its flow and its number in the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PacketKey {
    pub(crate) flow: FlowId,
    pub(crate) number: u32,
}

impl InFlight {
    pub(crate) fn new(flows: usize) -> InFlight {
        InFlight { flows: (0..flows).map(|_| FlowPackets::default()).collect(), spare: Vec::new() }
    }

    /// The numbers of a flow arrive in order without gaps.
    pub(crate) fn put(&mut self, key: PacketKey, packet: Vec<u8>) {
        let row = &mut self.flows[key.flow];
        debug_assert_eq!(row.first.wrapping_add(row.places.len() as u32), key.number);
        row.places.push_back(Some(Held { packet, copies: 0 }));
    }

    /// A link has copied the packet.
    pub(crate) fn copy(&mut self, key: PacketKey) {
        if let Some(held) = self.place(key).and_then(Option::as_mut) {
            held.copies += 1;
        }
    }

    /// Whether a copy of the packet is in the network, too.
    pub(crate) fn has_copies(&mut self, key: PacketKey) -> bool {
        self.place(key).is_some_and(|place| place.as_ref().is_some_and(|held| held.copies > 0))
    }

    /// The packet, or one of its copies.
    #[inline]
    pub(crate) fn take(&mut self, key: PacketKey) -> Option<Vec<u8>> {
        if let Some(held) = self.place(key)?.as_mut().filter(|held| held.copies > 0) {
            held.copies -= 1;
            return Some(held.packet.clone());
        }
        let row = &mut self.flows[key.flow];
        let packet = row.places[key.number.wrapping_sub(row.first) as usize].take();
        while row.places.pop_front_if(|place| place.is_none()).is_some() {
            row.first = row.first.wrapping_add(1);
        }
        packet.map(|held| held.packet)
    }

    #[inline]
    fn place(&mut self, key: PacketKey) -> Option<&mut Option<Held>> {
        let row = self.flows.get_mut(key.flow.index())?;
        row.places.get_mut(key.number.wrapping_sub(row.first) as usize)
    }

    /// The buffer of a packet that has left, or a new one.
    pub(crate) fn spare(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    pub(crate) fn put_back(&mut self, bytes: Vec<u8>) {
        self.spare.push(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_leave_in_any_order_and_once() {
        let mut in_flight = InFlight::new(2);
        for number in 0..4 {
            in_flight.put(PacketKey { flow: FlowId(1), number }, vec![number as u8]);
        }
        let taken = [2, 0, 1, 1, 3, 4].map(|number| in_flight.take(PacketKey { flow: FlowId(1), number }));
        assert_eq!(taken, [Some(vec![2]), Some(vec![0]), Some(vec![1]), None, Some(vec![3]), None]);
        assert!(in_flight.flows[1].places.is_empty());
        assert_eq!(in_flight.take(PacketKey { flow: FlowId(7), number: 0 }), None);
    }

    #[test]
    fn a_copied_packet_leaves_once_more() {
        let (mut in_flight, key) = (InFlight::new(1), PacketKey { flow: FlowId(0), number: 0 });
        in_flight.put(key, vec![9]);
        in_flight.copy(key);
        assert!(in_flight.has_copies(key));
        assert_eq!([(); 3].map(|()| in_flight.take(key)), [Some(vec![9]), Some(vec![9]), None]);
        assert!(!in_flight.has_copies(key));
    }
}
