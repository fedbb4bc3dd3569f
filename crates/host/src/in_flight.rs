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
    places: VecDeque<Option<Vec<u8>>>,
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
        row.places.push_back(Some(packet));
    }

    #[inline]
    pub(crate) fn take(&mut self, key: PacketKey) -> Option<Vec<u8>> {
        let row = self.flows.get_mut(key.flow.index())?;
        let packet = row.places.get_mut(key.number.wrapping_sub(row.first) as usize)?.take();
        while row.places.pop_front_if(|place| place.is_none()).is_some() {
            row.first = row.first.wrapping_add(1);
        }
        packet
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
}
