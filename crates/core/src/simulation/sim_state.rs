//! State shared by all flows and ports: the calendar, the packets in lines, side pools and recordings.

use super::access_queue::AccessQueues;
use super::acks::Acks;
use super::adaptation::Channel;
use super::agenda::Agenda;
use super::clock::Clock;
use super::datagrams::Fate;
use super::domain_boundary::DomainBoundary;
use super::edge::{Edge, edge_of};
use super::event_order::{Event, EventOrder};
use super::hosts::Hosts;
use super::messages::Messages;
use super::packets::Packets;
use super::path::{Feeder, Path};
use super::port::{Port, QueuedUnit};
use super::receivers::Receivers;
use super::routes::RouteEntry;
use super::wire::AccessRates;
use super::wiring::{has_channels, reach};
use crate::network::{Flow, Network};
use crate::primitives::ids::FlowId;
use crate::primitives::packet::Packet;
use crate::primitives::pooled_queue::{Pool, PooledQueue};
use crate::primitives::units::{Bytes, Time};
use crate::record::recorder::Recorder;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// State shared by all flows and ports.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SimState {
    pub(crate) clock: Clock,
    pub(crate) agenda: Agenda,
    pub(crate) rates: AccessRates,
    /// Size of an acknowledgement as the ports see it, if it is the same for all groups.
    pub(crate) ack_unit: Option<Bytes>,
    pub(crate) hosts: Vec<Hosts>,
    /// By flow; empty if none can be full.
    pub(crate) access_queues: Vec<AccessQueues>,
    pub(crate) packets: Packets,
    /// Packets in the buffers of ports that compute departures ahead.
    pub(crate) waiting: Pool<QueuedUnit>,
    pub(crate) acks: Acks,
    pub(crate) receivers: Receivers,
    /// By flow; empty if no packet travels in cells.
    pub(crate) channels: Vec<Channel>,
    /// By flow, for flows with the available bit rate service; empty if there are none.
    pub(crate) edges: Vec<Option<Box<Edge>>>,
    pub(crate) messages: Messages,
    pub(crate) recorder: Option<Box<Recorder>>,
    /// Fates of datagrams of external flows, in the order in which they became known.
    pub(crate) fates: Vec<Fate>,
    /// Copies of packets made by links, by flow.
    pub(crate) copies: BTreeMap<FlowId, DuplicateCounts>,
    /// Acknowledgements discarded within the measurement interval, by flow. The last cell of one in cells decides.
    pub(crate) dropped_acks: BTreeMap<FlowId, u64>,
    /// Discards that were computed ahead: time and flow. Entries in the past are removed from time to time.
    pub(crate) to_be_discarded: VecDeque<(Time, FlowId)>,
    /// Present if the run is parallel.
    #[serde(skip)]
    pub(crate) boundary: Option<Box<DomainBoundary>>,
}

/// Number of copies that links have made of a flow's packets, over the whole run and beyond.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct DuplicateCounts {
    pub(crate) data: u64,
    pub(crate) acks: u64,
    /// Copies of data packets that were sent within the measurement interval.
    pub(crate) measured: u64,
}

impl SimState {
    /// `signalled`: number of flows whose controllers request signals.
    pub(crate) fn new(network: &Network, order: EventOrder, signalled: usize) -> SimState {
        let pending = 2 * (network.flows.len() + network.ports.len());
        let reach = reach(network);
        SimState {
            clock: Clock::new(network, reach),
            agenda: Agenda::new(order, pending, reach),
            rates: AccessRates::of(&network.flows),
            ack_unit: None,
            hosts: Hosts::of(network),
            access_queues: AccessQueues::of(network),
            packets: Packets::default(),
            waiting: Pool::default(),
            acks: Acks::default(),
            receivers: Receivers::new(network, signalled),
            channels: if has_channels(network) { vec![Channel::default(); network.flows.len()] } else { Vec::new() },
            edges: if network.has_edges() { edges_of(network) } else { Vec::new() },
            messages: Messages::new(network),
            recorder: Recorder::new(network).map(Box::new),
            fates: Vec::new(),
            copies: BTreeMap::new(),
            dropped_acks: BTreeMap::new(),
            to_be_discarded: VecDeque::new(),
            boundary: None,
        }
    }

    /// A backward RM cell is on its last hop, to the edge of its flow.
    #[cold]
    pub(crate) fn return_rm(&mut self, cell: Packet) {
        let side = &mut self.channels[cell.flow].acks;
        side.note_received(cell.time);
        let edge = edge_of(&mut self.edges, cell.flow);
        if edge.returning.is_empty() {
            self.agenda.at(Event::Rm(cell.flow), cell.time);
        }
        self.packets.push(&mut edge.returning, cell);
    }

    /// Send a packet to another domain if its next hop, given by `entry`, is there.
    #[inline(never)]
    pub(crate) fn leaves(&mut self, entry: RouteEntry, feeder: Feeder, packet: Packet, paths: &[Path]) -> bool {
        let Some(boundary) = &mut self.boundary else { return false };
        let owner = boundary.owners.of_next_place(&packet, entry);
        if owner == boundary.own {
            return false;
        }
        let batch = &mut boundary.outboxes[usize::from(owner)];
        // The last cell owns the report of an acknowledgement.
        if packet.is_ack() && packet.has_report() && packet.is_last() {
            batch.reports.push(self.packets.take_report(&packet));
        } else if packet.has_price() {
            batch.prices.push(self.packets.remove_price(&packet));
        }
        // The flow's memory is read for few packets only.
        if packet.time < batch.first {
            let delay = paths[packet.flow].wire.delay_behind(entry, &packet);
            batch.first = batch.first.min(packet.time + delay);
        }
        batch.packets.push((feeder, packet));
        true
    }

    /// Like `leaves`, for a packet whose arrival at the next hop or end is an event.
    pub(crate) fn leaves_for_event(&mut self, entry: RouteEntry, feeder: Feeder, packet: Packet, paths: &[Path]) -> bool {
        let leaves = self.leaves(entry, feeder, packet, paths);
        if leaves && let Some(boundary) = &mut self.boundary {
            let owner = boundary.owners.of_next_place(&packet, entry);
            let first = &mut boundary.outboxes[usize::from(owner)].first;
            *first = packet.time.min(*first);
        }
        leaves
    }

    /// Take the head of a line and schedule the next packet's event.
    #[inline(always)]
    pub(crate) fn take_head(&mut self, line: &mut PooledQueue, event: Event) -> Option<Packet> {
        self.packets.take_head(line, event, &mut self.agenda)
    }

    #[inline(always)]
    pub(crate) fn enqueue(&mut self, feeder: Feeder, packet: Packet, paths: &mut [Path], ports: &mut [Port]) {
        let line = match feeder {
            Feeder::Send => &mut paths[packet.flow].send,
            Feeder::Back => &mut paths[packet.flow].back,
            Feeder::Port(port) => &mut ports[port].line,
        };
        self.packets.enqueue(line, packet, feeder.event(packet.flow), &mut self.agenda);
    }
}

fn edges_of(network: &Network) -> Vec<Option<Box<Edge>>> {
    let of_flow = |flow: &Flow| network.groups[flow.group].abr.map(|abr| Box::new(Edge::new(abr)));
    network.flows.iter().map(of_flow).collect()
}
