//! State shared by all flows and ports: the calendar, the packets in lines, side pools and recordings.

use super::access_queue::AccessQueues;
use super::acks::Acks;
use super::agenda::Agenda;
use super::cells::Cells;
use super::clock::Clock;
use super::domain_boundary::DomainBoundary;
use super::event_order::{Event, EventOrder};
use super::hosts::Hosts;
use super::messages::Messages;
use super::outcomes::Outcomes;
use super::packets::Packets;
use super::path::{Feeder, Path};
use super::port::{Port, QueuedUnit};
use super::receivers::Receivers;
use super::wire::AccessRates;
use super::wiring::reach;
use crate::network::Network;
use crate::primitives::packet::Packet;
use crate::primitives::pooled_queue::{Pool, PooledQueue};
use crate::primitives::units::Bytes;
use serde::{Deserialize, Serialize};

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
    pub(crate) outcomes: Outcomes,
    /// Present if the run is parallel.
    #[serde(skip)]
    pub(crate) boundary: Option<Box<DomainBoundary>>,
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
            outcomes: Outcomes::new(network),
            boundary: None,
        }
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
