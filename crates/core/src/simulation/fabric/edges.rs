//! Edges of virtual channels with the available bit rate service: packets arrive, cells leave one at a time, RM cells return.

use super::Fabric;
use crate::primitives::ids::FlowId;
use crate::primitives::packet::Packet;
use crate::primitives::units::{Time, Units};
use crate::simulation::edge::{Edge, edge_of};
use crate::simulation::event_order::Event;
use crate::simulation::path::Feeder;
use crate::simulation::wire::Direction;

impl Fabric {
    pub(crate) fn edge(&self, flow: FlowId) -> Option<&Edge> {
        self.sim.edges.get(flow.index())?.as_deref()
    }

    /// A packet leaves its sender and reaches the edge at `packet.time`.
    pub(super) fn send_to_edge(&mut self, mut packet: Packet) {
        let profile = &self.profiles[self.paths[packet.flow].wire.group];
        packet.time += profile.segmentation();
        let edge = edge_of(&mut self.sim.edges, packet.flow);
        if edge.coming.is_empty() {
            self.sim.agenda.at(Event::AtEdge(packet.flow), packet.time);
        }
        self.sim.packets.push(&mut edge.coming, packet);
    }

    /// A packet arrives at its edge.
    pub(crate) fn on_edge(&mut self, now: Time, flow: FlowId) {
        let path = &mut self.paths[flow];
        let profile = &self.profiles[path.wire.group];
        let sim = &mut self.sim;
        let edge = edge_of(&mut sim.edges, flow);
        let Some(packet) = sim.packets.pop(&mut edge.coming) else { unreachable!("no packet is on its way to the edge") };
        if let Some(next) = sim.packets.front(&edge.coming) {
            sim.agenda.at(Event::AtEdge(flow), next.time);
        }
        if edge.arrive(now, packet.bytes(), profile.cells(&packet), sim.clock.interval()) {
            sim.packets.push(&mut edge.queue, packet);
        } else {
            path.counts.discarded += u32::from(sim.clock.measures_all([packet.sent, now]));
        }
        self.await_cell(now, flow);
    }

    /// Schedule the next cell of an edge, if it has any. The rate may have changed.
    fn await_cell(&mut self, now: Time, flow: FlowId) {
        let edge = edge_of(&mut self.sim.edges, flow);
        if !edge.queue.is_empty() {
            self.sim.agenda.move_to(Event::Cell(flow), edge.due(now));
        }
    }

    /// An edge sends its next cell.
    pub(crate) fn on_cell(&mut self, now: Time, flow: FlowId) {
        let path = &mut self.paths[flow];
        let profile = &self.profiles[path.wire.group];
        let sim = &mut self.sim;
        let edge = edge_of(&mut sim.edges, flow);
        let Some(&packet) = sim.packets.front(&edge.queue) else { unreachable!("an empty edge sends a cell") };
        let source = edge.spec.source;
        let mut cell = if edge.source.owes_rm(&source, now) {
            edge.keep_time(now, sim.clock.interval());
            let fields = edge.source.on_forward_rm(&source, now);
            edge.send_rm(now, sim.clock.interval());
            packet.forward_rm(now, &fields)
        } else {
            let following = edge.send_cell(now, packet.bytes(), profile.cells(&packet), sim.clock.interval());
            let mut cell = packet;
            cell.become_cell(following);
            cell.enable_efci();
            if following == Units(0) {
                sim.packets.pop(&mut edge.queue);
            }
            cell
        };
        cell.time = path.wire.up_in_cells(Direction::Forward, now, Units(1), &mut sim.rates);
        sim.channels[flow].data.sent_in_all += 1;
        self.await_cell(now, flow);
        self.walk(Some(Feeder::Send), cell);
    }

    /// A backward RM cell arrives at its edge.
    pub(crate) fn on_rm(&mut self, now: Time, flow: FlowId) {
        let sim = &mut self.sim;
        let edge = edge_of(&mut sim.edges, flow);
        let Some(cell) = sim.packets.pop(&mut edge.returning) else { unreachable!("no RM cell is on its way to the edge") };
        if let Some(next) = sim.packets.front(&edge.returning) {
            sim.agenda.at(Event::Rm(flow), next.time);
        }
        let rm = cell.rm();
        let measured = u64::from(sim.clock.measures(now));
        edge.keep_time(now, sim.clock.interval());
        edge.counts.backward_rm += measured;
        edge.counts.congested_rm += if rm.ci { measured } else { 0 };
        let source = edge.spec.source;
        edge.source.on_backward_rm(&source, &rm);
        self.await_cell(now, flow);
    }

    /// Whether the edge of a flow may hold acknowledgements.
    pub(crate) fn holds_acks(&self, flow: FlowId) -> bool {
        self.edge(flow).is_some_and(|edge| edge.spec.holds_acks_from.is_some())
    }

    /// Hold an acknowledgement at the edge.
    pub(crate) fn hold(&mut self, mut ack: Packet, now: Time) {
        ack.time = now;
        let edge = edge_of(&mut self.sim.edges, ack.flow);
        self.sim.packets.push(&mut edge.held, ack);
    }

    /// Take the first held acknowledgement at the edge of a flow, if it may continue now.
    pub(crate) fn release_ack(&mut self, flow: FlowId, now: Time) -> Option<Packet> {
        let sim = &mut self.sim;
        let edge = edge_of(&mut sim.edges, flow);
        if !edge.can_release() {
            return None;
        }
        let ack = sim.packets.pop(&mut edge.held)?;
        if ack.time < now {
            edge.counts.held_acks += u64::from(sim.clock.measures(now));
            edge.counts.held_for += u128::from(sim.clock.interval().overlap(ack.time, now).0);
        }
        Some(ack)
    }
}
