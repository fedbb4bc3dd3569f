//! Drops that the scenario lists: packets and cells to discard on arrival.

use crate::network::ListedDrop;
use crate::primitives::ids::FlowId;
use crate::primitives::packet::{Packet, Prices};
use crate::primitives::units::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Packets and cells to discard on arrival.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ListedLosses {
    /// Sorted.
    drops: Vec<ListedDrop>,
    /// For each flow, the packet that is arriving and the number of its cells that have arrived.
    passing: BTreeMap<FlowId, (u32, Time, u32)>,
}

impl ListedLosses {
    pub(super) fn new(drops: &[ListedDrop]) -> ListedLosses {
        let mut drops = drops.to_vec();
        drops.sort_unstable();
        ListedLosses { drops, passing: BTreeMap::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.drops.is_empty()
    }

    /// Whether this packet or cell is to be discarded.
    pub(super) fn discards(&mut self, packet: &Packet, prices: &Prices) -> bool {
        if packet.is_ack() || self.drops.is_empty() || packet.is_rm() {
            return false;
        }
        let segment = packet.number(prices);
        let whole = ListedDrop { flow: packet.flow, segment, transmission: packet.transmission(), cell: None };
        let cell = packet.is_cell().then(|| self.cell_of(packet));
        let listed = |drop: &ListedDrop| self.drops.binary_search(drop).is_ok();
        listed(&whole) || (cell.is_some() && listed(&ListedDrop { cell, ..whole }))
    }

    /// Index of this cell among the cells of its packet that reach this port.
    fn cell_of(&mut self, cell: &Packet) -> u32 {
        let passing = self.passing.entry(cell.flow).or_insert((cell.segment, cell.sent, 0));
        if (passing.0, passing.1) != (cell.segment, cell.sent) {
            *passing = (cell.segment, cell.sent, 0);
        }
        passing.2 += 1;
        passing.2 - 1
    }
}
