//! Packets in cells. A packet is segmented where it leaves its end, or at the edge there, one cell at a time.

use super::Fabric;
use crate::primitives::ids::FlowId;
use crate::primitives::packet::Packet;
use crate::primitives::units::{Time, Units};
use crate::simulation::cells::Cells;
use crate::simulation::path::Feeder;
use crate::simulation::wire::Direction;

fn expect(cells: &mut Option<Box<Cells>>) -> &mut Cells {
    match cells {
        Some(cells) => cells,
        None => unreachable!("a cell in a run of whole packets"),
    }
}

impl Fabric {
    /// A packet leaves its end at `packet.time` in cells. If it has to queue for the first port, it does so as one packet and is segmented
    /// when its turn comes.
    pub(super) fn walk_in_cells(&mut self, direction: Direction, mut packet: Packet) {
        let path = &mut self.paths[packet.flow];
        let profile = &self.profiles[path.wire.group];
        let cells = profile.cells(&packet);
        let cut = packet.time + profile.segmentation();
        packet.time = path.wire.up_in_cells(direction, cut, cells, &mut self.rates);
        packet.become_cell(Units(cells.0 - 1));
        expect(&mut self.cells).count_sent(packet.flow, direction, cells);
        let feeder = match direction {
            Direction::Forward => Feeder::Send,
            Direction::Reverse => Feeder::Back,
        };
        if packet.is_last() {
            return self.walk(Some(feeder), packet);
        }
        let spacing = path.wire.cell_spacing(direction, &mut self.rates);
        let Some(first) = self.routes[packet.place()].local_port() else {
            unreachable!("the first port of flow {} is in another domain", packet.flow)
        };
        let entry = &self.ports[first].entry;
        if entry.needs_event() {
            if entry.is_of_heads() {
                packet.time = packet.time.before(spacing);
            }
            return self.enqueue(feeder, packet);
        }
        for following in (0..cells.0).rev() {
            packet.become_cell(Units(following));
            self.walk(Some(feeder), packet);
            packet.time += spacing;
        }
    }

    /// The next cell of the packet at the head of a line to a first port, whose turn has come.
    pub(super) fn next_cell(&mut self, flow: FlowId, direction: Direction) -> Option<Packet> {
        let Fabric { paths, profiles, agenda, rates, packets, cells, .. } = self;
        let path = &mut paths[flow];
        let spacing = path.wire.cell_spacing(direction, rates);
        let profile = &profiles[path.wire.group];
        expect(cells).next_cell(path, direction, spacing, profile, packets, agenda)
    }

    /// A packet leaves its sender and goes to the edge of its flow.
    pub(super) fn send_to_edge(&mut self, mut packet: Packet) {
        let Fabric { paths, profiles, agenda, packets, cells, .. } = self;
        packet.time += profiles[paths[packet.flow].wire.group].segmentation();
        expect(cells).send_to_edge(packet, packets, agenda);
    }

    /// A packet arrives at the edge of its flow.
    pub(crate) fn on_edge(&mut self, now: Time, flow: FlowId) {
        let Fabric { paths, profiles, clock, agenda, packets, cells, .. } = self;
        let path = &mut paths[flow];
        let profile = &profiles[path.wire.group];
        let interval = clock.interval();
        let cells = expect(cells);
        if let Some(discarded) = cells.on_edge(now, flow, profile, interval, packets, agenda) {
            path.counts.discarded += u32::from(interval.measures_all([discarded.sent, now]));
        }
    }

    /// An edge sends its next cell.
    pub(crate) fn on_cell(&mut self, now: Time, flow: FlowId) {
        let Fabric { paths, profiles, clock, agenda, rates, packets, cells, .. } = self;
        let path = &mut paths[flow];
        let profile = &profiles[path.wire.group];
        let interval = clock.interval();
        let mut cell = expect(cells).on_cell(now, flow, profile, interval, packets, agenda);
        cell.time = path.wire.up_in_cells(Direction::Forward, now, Units(1), rates);
        self.walk(Some(Feeder::Send), cell);
    }

    /// A backward RM cell arrives at its edge.
    pub(crate) fn on_rm(&mut self, now: Time, flow: FlowId) {
        expect(&mut self.cells).on_rm(now, flow, self.clock.interval(), &mut self.packets, &mut self.agenda);
    }

    /// Whether the edge of a flow may hold acknowledgements.
    pub(crate) fn holds_acks(&self, flow: FlowId) -> bool {
        self.cells.as_ref().is_some_and(|cells| cells.holds_acks(flow))
    }

    /// Hold an acknowledgement at the edge.
    pub(crate) fn hold(&mut self, ack: Packet, now: Time) {
        expect(&mut self.cells).hold(ack, now, &mut self.packets);
    }

    /// Take the first held acknowledgement at the edge of a flow, if it may continue now.
    pub(crate) fn release_ack(&mut self, flow: FlowId, now: Time) -> Option<Packet> {
        expect(&mut self.cells).release_ack(flow, now, self.clock.interval(), &mut self.packets)
    }
}
