//! Drops that the scenario lists: packets and cells to discard on arrival.

use crate::network::{ListedDrop, Network};
use crate::primitives::ids::FlowId;
use crate::primitives::packet::Packet;
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::Time;
use crate::simulation::packets::Packets;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Packets and cells to discard on arrival.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct ListedLosses {
    /// Sorted. Those of external flows are added when their datagrams are injected.
    drops: Vec<ListedDrop>,
    /// The scenario lists some.
    is_used: bool,
    /// For each flow, the packet that is arriving and the number of its cells that have arrived.
    passing: BTreeMap<FlowId, (SegmentNumber, Time, u32)>,
}

impl ListedLosses {
    pub(super) fn new(listed: &[ListedDrop], of: &Network) -> ListedLosses {
        let mut drops: Vec<ListedDrop> = listed.iter().filter(|drop| !of.is_external(drop.flow)).copied().collect();
        drops.sort_unstable();
        ListedLosses { drops, is_used: !listed.is_empty(), passing: BTreeMap::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.is_used
    }

    /// A datagram of an external flow is to be discarded.
    pub(super) fn add(&mut self, datagram: ListedDrop) {
        let place = self.drops.partition_point(|other| *other < datagram);
        self.drops.insert(place, datagram);
    }

    /// Whether this packet or cell is to be discarded.
    pub(super) fn discards(&mut self, packet: &Packet, packets: &Packets) -> bool {
        if packet.is_ack() || self.drops.is_empty() || packet.is_rm() {
            return false;
        }
        let segment = packets.segment(packet);
        let whole = ListedDrop { flow: packet.flow, segment, transmission: packet.transmission(), cell: None };
        let cell = packet.is_cell().then(|| self.cell_of(packet));
        let listed = |drop: &ListedDrop| self.drops.binary_search(drop).is_ok();
        listed(&whole) || (cell.is_some() && listed(&ListedDrop { cell, ..whole }))
    }

    /// Index of this cell among the cells of its packet that reach this port.
    fn cell_of(&mut self, cell: &Packet) -> u32 {
        let passing = self.passing.entry(cell.flow).or_insert((cell.segment(), cell.sent, 0));
        if (passing.0, passing.1) != (cell.segment(), cell.sent) {
            *passing = (cell.segment(), cell.sent, 0);
        }
        passing.2 += 1;
        passing.2 - 1
    }
}
