//! Packets in cells: the virtual channels of all flows. Packets enter where they leave an end, in cells, and leave where the cells have
//! reached the other end and are reassembled.

mod adaptation;
mod edge;
mod edges;

pub(crate) use adaptation::Channel;
pub(crate) use edge::{Edge, EdgeCounts};

use super::agenda::Agenda;
use super::group_profile::GroupProfile;
use super::measurement_interval::MeasurementInterval;
use super::packets::Packets;
use super::path::{Feeder, Path};
use super::wire::Direction;
use crate::network::{Flow, Network};
use crate::primitives::ids::FlowId;
use crate::primitives::packet::Packet;
use crate::primitives::pooled_queue::PooledQueue;
use crate::primitives::units::{TimeDelta, Units};
use adaptation::ReassemblyState;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Cells {
    /// By flow.
    channels: Vec<Channel>,
    /// By flow, for flows with the available bit rate service; empty if there are none.
    edges: Vec<Option<Box<Edge>>>,
}

impl Cells {
    /// `None` if no packet travels in cells.
    pub(crate) fn new(network: &Network) -> Option<Box<Cells>> {
        let edge_of = |flow: &Flow| network.groups[flow.group].abr.map(|abr| Box::new(Edge::new(abr)));
        let edges = if network.has_edges() { network.flows.iter().map(edge_of).collect() } else { Vec::new() };
        Cells::are_used(network).then(|| Box::new(Cells { channels: vec![Channel::default(); network.flows.len()], edges }))
    }

    /// Whether any packets travel in cells.
    pub(crate) fn are_used(network: &Network) -> bool {
        network.groups.iter().any(|group| group.framing.is_some())
    }

    pub(crate) fn channel(&self, flow: FlowId) -> &Channel {
        &self.channels[flow]
    }

    /// By flow.
    pub(crate) fn channels(&self) -> impl Iterator<Item = &Channel> {
        self.channels.iter()
    }

    /// The edges of the flows that have one.
    pub(crate) fn edges(&self) -> impl Iterator<Item = (FlowId, &Edge)> {
        FlowId::enumerate(&self.edges).filter_map(|(flow, edge)| Some((flow, edge.as_deref()?)))
    }

    /// The edge of a flow, if it has one.
    pub(crate) fn edge(&self, flow: FlowId) -> Option<&Edge> {
        self.edges.get(flow.index())?.as_deref()
    }

    /// Count the cells of a packet that leaves its end.
    pub(crate) fn count_sent(&mut self, flow: FlowId, direction: Direction, cells: Units) {
        self.channels[flow].side(direction).sent_in_all += cells.0;
    }

    /// A cell is discarded in the network.
    pub(crate) fn count_discarded(&mut self, cell: &Packet) {
        let direction = if cell.is_ack() { Direction::Reverse } else { Direction::Forward };
        self.channels[cell.flow].side(direction).discarded_in_all += 1;
    }

    /// The next cell of the packet at the head of a line to a first port, whose turn has come. `spacing`: time between cells.
    pub(crate) fn next_cell(
        &mut self,
        path: &mut Path,
        direction: Direction,
        spacing: TimeDelta,
        profile: &GroupProfile,
        packets: &mut Packets,
        agenda: &mut Agenda,
    ) -> Option<Packet> {
        let (line, feeder) = match direction {
            Direction::Forward => (&mut path.send, Feeder::Send),
            Direction::Reverse => (&mut path.back, Feeder::Back),
        };
        let packet = packets.front_mut(line)?;
        let flow = packet.flow;
        let cell = self.channels[flow].side(direction).next_cell(packet, profile.cells(packet));
        if cell.is_last() {
            packets.take_head(line, feeder.event(flow), agenda);
        } else {
            packet.time += spacing;
            agenda.at(feeder.event(flow), packet.time);
        }
        Some(cell)
    }

    /// A cell of an acknowledgement, or a backward RM cell, has reached the sender's end. Returns true if it completes an acknowledgement, which then
    /// takes its place.
    pub(crate) fn collect_ack(
        &mut self,
        cell: &mut Packet,
        profile: &GroupProfile,
        packets: &mut Packets,
        agenda: &mut Agenda,
    ) -> bool {
        if profile.has_edge && cell.is_rm() {
            self.return_rm(*cell, packets, agenda);
            return false;
        }
        if self.channels[cell.flow].acks.collect(cell, || profile.ack_cells) != ReassemblyState::Whole {
            packets.release(cell);
            return false;
        }
        cell.time += profile.reassembly();
        true
    }

    /// A data cell or a forward RM cell has reached the receiver's end. Returns true if it completes a packet, which then takes its place, or if
    /// the receiver has to turn it around.
    pub(crate) fn collect_data(
        &mut self,
        cell: &mut Packet,
        path: &mut Path,
        profile: &GroupProfile,
        interval: &MeasurementInterval,
    ) -> bool {
        let channel = &mut self.channels[cell.flow];
        if profile.has_edge && cell.is_rm() {
            channel.take_forward_rm(cell);
        } else {
            if profile.has_edge {
                channel.efci = cell.is_marked();
                cell.clear_efci();
            }
            let collected = channel.data.collect(cell, || profile.cells(cell));
            if cell.is_last() && interval.measures(cell.time) {
                channel.count(collected, profile.cells(cell));
                let is_lost = collected != ReassemblyState::Whole && interval.measures(cell.sent);
                path.counts.discarded += u32::from(is_lost);
            }
            if collected != ReassemblyState::Whole {
                return false;
            }
        }
        // An RM cell stays behind the packet before it.
        cell.time += profile.reassembly();
        true
    }
}

/// Domains of a parallel run.
impl Cells {
    /// Copy the state of a flow's sender.
    pub(crate) fn take_sender(&mut self, flow: FlowId, from: &Cells) {
        self.channels[flow].take_sender(&from.channels[flow]);
        if let (Some(own), Some(other)) = (self.edges.get_mut(flow.index()), from.edges.get(flow.index())) {
            own.clone_from(other);
        }
    }

    /// Copy the state of a flow's receiver.
    pub(crate) fn take_receiver(&mut self, flow: FlowId, from: &Cells) {
        self.channels[flow].take_receiver(&from.channels[flow]);
    }

    /// Reset the counters.
    pub(crate) fn forget_counts(&mut self) {
        self.channels.iter_mut().for_each(Channel::forget_discarded);
    }

    /// Add the counters of another domain.
    pub(crate) fn add_counts(&mut self, other: &Cells) {
        for (channel, other) in self.channels.iter_mut().zip(&other.channels) {
            channel.add_discarded(other);
        }
    }

    /// Replace the lines of all edges. `rebuilt` returns the new line, given the flow of an edge and the function that selects the line.
    pub(crate) fn rebuild_lines(&mut self, mut rebuilt: impl FnMut(FlowId, fn(&Edge) -> &PooledQueue) -> PooledQueue) {
        for (flow, edge) in FlowId::all(self.edges.len()).zip(&mut self.edges) {
            if let Some(edge) = edge {
                edge.coming = rebuilt(flow, |edge| &edge.coming);
                edge.queue = rebuilt(flow, |edge| &edge.queue);
                edge.held = rebuilt(flow, |edge| &edge.held);
                edge.returning = rebuilt(flow, |edge| &edge.returning);
            }
        }
    }
}
