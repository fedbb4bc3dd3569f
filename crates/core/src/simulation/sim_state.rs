//! State shared by all flows and ports: the calendar, the packets in lines, side pools and recordings.

use super::access_queue::AccessQueues;
use super::acks::Acks;
use super::agenda::Agenda;
use super::cells::Cells;
use super::clock::Clock;
use super::datagrams::Fate;
use super::domain_boundary::DomainBoundary;
use super::event_order::{Event, EventOrder};
use super::hosts::Hosts;
use super::messages::Messages;
use super::packets::Packets;
use super::path::{Feeder, Path};
use super::port::{Port, QueuedUnit};
use super::receivers::Receivers;
use super::routes::RouteEntry;
use super::wire::AccessRates;
use super::wiring::reach;
use crate::network::Network;
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
    pub(crate) cells: Option<Box<Cells>>,
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
            cells: Cells::new(network),
            messages: Messages::new(network),
            recorder: Recorder::new(network).map(Box::new),
            fates: Vec::new(),
            copies: BTreeMap::new(),
            dropped_acks: BTreeMap::new(),
            to_be_discarded: VecDeque::new(),
            boundary: None,
        }
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
