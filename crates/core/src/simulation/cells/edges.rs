//! Edges of virtual channels with the available bit rate service: packets arrive, cells leave one at a time, RM cells return.

use super::{Cells, Edge};
use crate::primitives::ids::FlowId;
use crate::primitives::packet::Packet;
use crate::primitives::units::{Time, Units};
use crate::simulation::agenda::Agenda;
use crate::simulation::event_order::Event;
use crate::simulation::group_profile::GroupProfile;
use crate::simulation::measurement_interval::MeasurementInterval;
use crate::simulation::packets::Packets;

/// The edge of a flow that has one.
fn edge_of(edges: &mut [Option<Box<Edge>>], flow: FlowId) -> &mut Edge {
    match edges.get_mut(flow.index()) {
        Some(Some(edge)) => edge,
        _ => unreachable!("an event of an edge for flow {flow}, which has none"),
    }
}

impl Cells {
    /// A packet leaves its sender and reaches the edge at `packet.time`.
    pub(crate) fn send_to_edge(&mut self, packet: Packet, packets: &mut Packets, agenda: &mut Agenda) {
        let edge = edge_of(&mut self.edges, packet.flow);
        packets.enqueue(&mut edge.coming, packet, Event::AtEdge(packet.flow), agenda);
    }

    /// A packet arrives at its edge. Returns the packet if the edge discards it.
    pub(crate) fn on_edge(
        &mut self,
        now: Time,
        flow: FlowId,
        profile: &GroupProfile,
        interval: &MeasurementInterval,
        packets: &mut Packets,
        agenda: &mut Agenda,
    ) -> Option<Packet> {
        let edge = edge_of(&mut self.edges, flow);
        let Some(packet) = packets.take_head(&mut edge.coming, Event::AtEdge(flow), agenda) else {
            unreachable!("no packet is on its way to the edge")
        };
        let is_accepted = edge.arrive(now, packet.bytes(), profile.cells(&packet), interval);
        if is_accepted {
            packets.push(&mut edge.queue, packet);
        }
        self.await_cell(now, flow, agenda);
        (!is_accepted).then_some(packet)
    }

    /// Schedule the next cell of an edge, if it has any. The rate may have changed.
    fn await_cell(&mut self, now: Time, flow: FlowId, agenda: &mut Agenda) {
        let edge = edge_of(&mut self.edges, flow);
        if !edge.queue.is_empty() {
            agenda.move_to(Event::Cell(flow), edge.due(now));
        }
    }

    /// An edge sends its next cell.
    pub(crate) fn on_cell(
        &mut self,
        now: Time,
        flow: FlowId,
        profile: &GroupProfile,
        interval: &MeasurementInterval,
        packets: &mut Packets,
        agenda: &mut Agenda,
    ) -> Packet {
        let edge = edge_of(&mut self.edges, flow);
        let Some(&packet) = packets.front(&edge.queue) else { unreachable!("an empty edge sends a cell") };
        let source = edge.spec.source;
        let cell = if edge.source.owes_rm(&source, now) {
            edge.keep_time(now, interval);
            let fields = edge.source.on_forward_rm(&source, now);
            edge.send_rm(now, interval);
            packet.forward_rm(now, &fields)
        } else {
            let following = edge.send_cell(now, packet.bytes(), profile.cells(&packet), interval);
            let mut cell = packet;
            cell.become_cell(following);
            cell.enable_efci();
            if following == Units(0) {
                packets.pop(&mut edge.queue);
            }
            cell
        };
        self.channels[flow].data.sent_in_all += 1;
        self.await_cell(now, flow, agenda);
        cell
    }

    /// A backward RM cell is on its last hop, to the edge of its flow.
    #[cold]
    pub(super) fn return_rm(&mut self, cell: Packet, packets: &mut Packets, agenda: &mut Agenda) {
        self.channels[cell.flow].acks.note_received(cell.time);
        let edge = edge_of(&mut self.edges, cell.flow);
        packets.enqueue(&mut edge.returning, cell, Event::Rm(cell.flow), agenda);
    }

    /// A backward RM cell arrives at its edge.
    pub(crate) fn on_rm(
        &mut self,
        now: Time,
        flow: FlowId,
        interval: &MeasurementInterval,
        packets: &mut Packets,
        agenda: &mut Agenda,
    ) {
        let edge = edge_of(&mut self.edges, flow);
        let Some(cell) = packets.take_head(&mut edge.returning, Event::Rm(flow), agenda) else {
            unreachable!("no RM cell is on its way to the edge")
        };
        let rm = cell.rm();
        let measured = u64::from(interval.measures(now));
        edge.keep_time(now, interval);
        edge.counts.backward_rm += measured;
        edge.counts.congested_rm += if rm.ci { measured } else { 0 };
        let source = edge.spec.source;
        edge.source.on_backward_rm(&source, &rm);
        self.await_cell(now, flow, agenda);
    }

    /// Whether the edge of a flow may hold acknowledgements.
    pub(crate) fn holds_acks(&self, flow: FlowId) -> bool {
        self.edge(flow).is_some_and(|edge| edge.spec.holds_acks_from.is_some())
    }

    /// Hold an acknowledgement at the edge.
    pub(crate) fn hold(&mut self, mut ack: Packet, now: Time, packets: &mut Packets) {
        ack.time = now;
        packets.push(&mut edge_of(&mut self.edges, ack.flow).held, ack);
    }

    /// Take the first held acknowledgement at the edge of a flow, if it may continue now.
    pub(crate) fn release_ack(
        &mut self,
        flow: FlowId,
        now: Time,
        interval: &MeasurementInterval,
        packets: &mut Packets,
    ) -> Option<Packet> {
        let edge = edge_of(&mut self.edges, flow);
        if !edge.can_release() {
            return None;
        }
        let ack = packets.pop(&mut edge.held)?;
        if ack.time < now {
            edge.counts.held_acks += u64::from(interval.measures(now));
            edge.counts.held_for += u128::from(interval.overlap(ack.time, now).0);
        }
        Some(ack)
    }
}
