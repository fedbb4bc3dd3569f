//! The order of simultaneous events, and the assignment of calendar slots. Events are ordered by kind: a departure frees its place before
//! an arrival needs it, and an event that can cause another without delay precedes it.

use crate::primitives::calendar::{Ranks, Slot};
use crate::primitives::ids::{FlowId, PortId};
use serde::{Deserialize, Serialize};

/// The subject of an event. The payload is the index of a flow, a port or a transmitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The next change of the timeline.
    Change,
    /// A transmitter finished.
    Departure(u32),
    /// The periodic update of a policy. The payload is its index among the policies with a period.
    Period(u32),
    /// The head of a port's delay line reaches the next port, or the end of its route.
    Port(PortId),
    /// The first acknowledgement gathered at a port has arrived.
    Gathered(PortId),
    /// A data packet reached its receiver.
    Deliver(FlowId),
    /// A delayed acknowledgement is due.
    DelayedAck(FlowId),
    /// An acknowledgement reached its sender.
    AckArrival(FlowId),
    /// A retransmission timer may have expired.
    Timer(FlowId),
    /// An application hands data to its sender.
    AppWrite(FlowId),
    /// A flow starts, a paced sender may send, or a source sends its next datagram.
    SendTimer(FlowId),
    /// The head of a flow's access line reaches the first port.
    Send(FlowId),
    /// The head of a receiver's access line reaches the first port of the reverse path.
    Back(FlowId),
    /// A backward RM cell has reached the edge of its flow.
    Rm(FlowId),
    /// A packet has reached the edge of its flow.
    AtEdge(FlowId),
    /// The edge of a flow may send its next cell.
    Cell(FlowId),
}

/// The layout of slots: the timeline, transmitters, policies with a period, flows (all kinds of one flow adjacent), ports, gathering ports,
/// edges (all kinds of one flow adjacent).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct EventOrder {
    first_period: u32,
    first_flow: u32,
    first_port: u32,
    ports: u32,
    first_edge: u32,
    edges: u32,
}

/// Numbers of the entities that have slots.
pub(crate) struct EntityCounts {
    pub(crate) transmitters: u32,
    /// Policies with a period.
    pub(crate) periodic: u32,
    pub(crate) flows: u32,
    pub(crate) ports: u32,
    /// The number of flows, or 0.
    pub(crate) edges: u32,
}

/// Slots per edge: also a power of two.
const PER_EDGE: u32 = 4;

/// Slots per flow: a power of two, so that a slot can be decoded by shifts.
const PER_FLOW: u32 = 8;

impl EventOrder {
    pub(crate) fn new(of: &EntityCounts) -> EventOrder {
        let &EntityCounts { transmitters, periodic, flows, ports, edges } = of;
        let first_period = 1 + transmitters;
        let first_flow = first_period + periodic;
        let first_port = first_flow + PER_FLOW * flows;
        let first_edge = first_port + 2 * ports;
        EventOrder { first_period, first_flow, first_port, ports, first_edge, edges }
    }

    /// All events, in the order of their slots.
    pub(crate) fn events(self) -> impl Iterator<Item = Event> {
        // An edge has a slot without an event.
        let is_used = move |slot: &Slot| *slot < self.first_edge || (slot - self.first_edge) % PER_EDGE < PER_EDGE - 1;
        (0..self.total() as Slot).filter(is_used).map(move |slot| self.event(slot))
    }

    pub(crate) fn total(&self) -> usize {
        (self.first_edge + PER_EDGE * self.edges) as usize
    }

    #[inline(always)]
    pub(crate) fn slot(&self, event: Event) -> Slot {
        let of_flow = |kind: u32, flow: FlowId| self.first_flow + PER_FLOW * flow.0 + kind;
        let of_edge = |kind: u32, flow: FlowId| self.first_edge + PER_EDGE * flow.0 + kind;
        match event {
            Event::Change => 0,
            Event::Departure(transmitter) => 1 + transmitter,
            Event::Period(place) => self.first_period + place,
            Event::Port(port) => self.first_port + port.0,
            Event::Gathered(port) => self.first_port + self.ports + port.0,
            Event::Deliver(flow) => of_flow(0, flow),
            Event::DelayedAck(flow) => of_flow(1, flow),
            Event::AckArrival(flow) => of_flow(2, flow),
            Event::Timer(flow) => of_flow(3, flow),
            Event::AppWrite(flow) => of_flow(4, flow),
            Event::SendTimer(flow) => of_flow(5, flow),
            Event::Send(flow) => of_flow(6, flow),
            Event::Back(flow) => of_flow(7, flow),
            Event::Rm(flow) => of_edge(0, flow),
            Event::AtEdge(flow) => of_edge(1, flow),
            Event::Cell(flow) => of_edge(2, flow),
        }
    }

    fn event_of_edge(&self, slot: Slot) -> Event {
        let place = slot - self.first_edge;
        let flow = FlowId(place / PER_EDGE);
        match place % PER_EDGE {
            0 => Event::Rm(flow),
            1 => Event::AtEdge(flow),
            _ => Event::Cell(flow),
        }
    }

    #[inline]
    pub(crate) fn event(&self, slot: Slot) -> Event {
        if slot >= self.first_port {
            let port = slot - self.first_port;
            if slot >= self.first_edge {
                return self.event_of_edge(slot);
            }
            return if port < self.ports { Event::Port(PortId(port)) } else { Event::Gathered(PortId(port - self.ports)) };
        }
        if slot < self.first_flow {
            return match slot {
                0 => Event::Change,
                _ if slot < self.first_period => Event::Departure(slot - 1),
                _ => Event::Period(slot - self.first_period),
            };
        }
        let place = slot - self.first_flow;
        let flow = FlowId(place / PER_FLOW);
        match place % PER_FLOW {
            0 => Event::Deliver(flow),
            1 => Event::DelayedAck(flow),
            2 => Event::AckArrival(flow),
            3 => Event::Timer(flow),
            4 => Event::AppWrite(flow),
            5 => Event::SendTimer(flow),
            6 => Event::Send(flow),
            _ => Event::Back(flow),
        }
    }
}

impl Ranks for EventOrder {
    /// By kind, then by entity. A policy's periodic update follows the departures and precedes the arrivals of its instant. A packet at the
    /// end of a route may reach a flow's end at the same instant, and an action of a flow's end may reach a port or the flow's edge at the
    /// same instant; a port takes time.
    fn rank(&self, slot: Slot) -> u64 {
        let kind = if slot < self.first_flow {
            0
        } else if slot >= self.first_edge {
            2 + PER_FLOW + (slot - self.first_edge) % PER_EDGE
        } else if slot >= self.first_port {
            1
        } else {
            2 + (slot - self.first_flow) % PER_FLOW
        };
        u64::from(kind) << 32 | u64::from(slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_is_the_slot_of_its_event() {
        let order = EventOrder::new(&EntityCounts { transmitters: 4, periodic: 2, flows: 3, ports: 2, edges: 3 });
        assert_eq!(order.total(), 1 + 4 + 2 + 24 + 2 + 2 + 12);
        let slots: Vec<Slot> = order.events().map(|event| order.slot(event)).collect();
        assert_eq!(slots.len(), order.total() - 3);
        assert!(slots.is_sorted_by(|one, next| one < next));
        assert!(order.events().all(|event| order.event(order.slot(event)) == event));
    }

    #[test]
    fn simultaneous_events_are_ordered_by_kind_before_entity() {
        let order = EventOrder::new(&EntityCounts { transmitters: 4, periodic: 2, flows: 3, ports: 2, edges: 3 });
        let sorted = [
            Event::Change,
            Event::Departure(1),
            Event::Period(0),
            Event::Port(PortId(0)),
            Event::Deliver(FlowId(2)),
            Event::AckArrival(FlowId(0)),
            Event::AckArrival(FlowId(2)),
            Event::Timer(FlowId(1)),
            Event::AppWrite(FlowId(0)),
            Event::SendTimer(FlowId(0)),
            Event::Send(FlowId(0)),
            Event::Back(FlowId(0)),
            Event::Rm(FlowId(2)),
            Event::AtEdge(FlowId(1)),
            Event::Cell(FlowId(0)),
        ];
        assert!(sorted.is_sorted_by_key(|&event| order.rank(order.slot(event))));
    }
}
