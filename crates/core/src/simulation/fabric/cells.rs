//! Packets in cells. A packet is segmented where it leaves its end, one cell at a time.

use super::Fabric;
use crate::primitives::ids::FlowId;
use crate::primitives::packet::Packet;
use crate::primitives::units::Units;
use crate::simulation::path::Feeder;
use crate::simulation::wire::Direction;

impl Fabric {
    /// A packet leaves its end at `packet.time` in cells. If it has to queue for the first port, it does so as one packet and is segmented
    /// when its turn comes.
    pub(super) fn walk_in_cells(&mut self, direction: Direction, mut packet: Packet) {
        let path = &mut self.paths[packet.flow];
        let profile = &self.profiles[path.wire.group];
        let cells = profile.cells(&packet);
        let cut = packet.time + profile.segmentation();
        packet.time = path.wire.up_in_cells(direction, cut, cells, &mut self.sim.rates);
        packet.become_cell(Units(cells.0 - 1));
        let channel = &mut self.sim.channels[packet.flow];
        let (feeder, side) = match direction {
            Direction::Forward => (Feeder::Send, &mut channel.data),
            Direction::Reverse => (Feeder::Back, &mut channel.acks),
        };
        side.sent_in_all += cells.0;
        if packet.is_last() {
            return self.walk(Some(feeder), packet);
        }
        let spacing = path.wire.cell_spacing(direction, &mut self.sim.rates);
        let Some(first) = self.routes[packet.place()].local_port() else {
            unreachable!("the first port of flow {} is in another domain", packet.flow)
        };
        let entry = &self.ports[first].entry;
        if entry.needs_event() {
            if entry.is_of_heads() {
                packet.time = packet.time.before(spacing);
            }
            return self.sim.enqueue(feeder, packet, &mut self.paths, &mut self.ports);
        }
        for following in (0..cells.0).rev() {
            packet.become_cell(Units(following));
            self.walk(Some(feeder), packet);
            packet.time += spacing;
        }
    }

    /// The next cell of the packet at the head of a line to a first port, whose turn has come.
    pub(super) fn next_cell(&mut self, flow: FlowId, direction: Direction) -> Option<Packet> {
        let path = &mut self.paths[flow];
        let channel = &mut self.sim.channels[flow];
        let (line, side, feeder) = match direction {
            Direction::Forward => (&mut path.send, &mut channel.data, Feeder::Send),
            Direction::Reverse => (&mut path.back, &mut channel.acks, Feeder::Back),
        };
        let event = feeder.event(flow);
        let packet = *self.sim.packets.front(line)?;
        let cell = side.next_cell(&packet, self.profiles[path.wire.group].cells(&packet));
        if cell.is_last() {
            self.sim.take_head(line, event);
        } else {
            let next = packet.time + path.wire.cell_spacing(direction, &mut self.sim.rates);
            self.sim.packets.front_mut(line)?.time = next;
            self.sim.agenda.at(event, next);
        }
        Some(cell)
    }
}
