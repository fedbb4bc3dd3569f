//! Which calendar slot belongs to whom. The order of the kinds is the order of events at one instant: a departure frees its place
//! before an arrival asks for it, and whatever can cause something else without delay comes before it.

use crate::base::calendar::Slot;
use serde::{Deserialize, Serialize};

/// What an event is about. The payload is the entity: a flow, a port or a transmitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The next change of the timeline.
    Change,
    /// A transmitter finished.
    Departure(u32),
    /// An acknowledgement reached its sender.
    Home(u32),
    /// A data packet reached its receiver.
    Deliver(u32),
    /// A delayed acknowledgement is due.
    DelayedAck(u32),
    /// A retransmission timer may have expired.
    Timer(u32),
    /// A flow starts, a paced sender may send, or a source sends its next datagram.
    Wake(u32),
    /// The head of a flow's access line reaches the first port.
    Send(u32),
    /// The head of a receiver's access line reaches the first port of the way back.
    Back(u32),
    /// The head of a port's delay line reaches the next port, or the end of its route.
    Port(u32),
}

/// Where each kind begins.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Slots {
    flows: u32,
    first_flow_kind: u32,
    ports: u32,
    total: u32,
}

/// Kinds with one slot per flow, in order.
#[derive(Clone, Copy)]
pub(crate) enum FlowKind {
    Home,
    Deliver,
    DelayedAck,
    Timer,
    Wake,
    Send,
    Back,
}

const FLOW_KINDS: u32 = 7;

impl Slots {
    pub(crate) fn new(flows: u32, ports: u32, transmitters: u32) -> Slots {
        let first_flow_kind = 1 + transmitters;
        let first_port = first_flow_kind + FLOW_KINDS * flows;
        Slots { flows, first_flow_kind, ports: first_port, total: first_port + ports }
    }

    pub(crate) fn total(&self) -> usize {
        self.total as usize
    }

    pub(crate) const CHANGE: Slot = 0;

    #[inline]
    pub(crate) fn departure(&self, transmitter: u32) -> Slot {
        1 + transmitter
    }

    #[inline]
    pub(crate) fn flow(&self, kind: FlowKind, flow: u32) -> Slot {
        self.first_flow_kind + kind as u32 * self.flows + flow
    }

    #[inline]
    pub(crate) fn port(&self, port: u32) -> Slot {
        self.ports + port
    }

    #[inline]
    pub(crate) fn event(&self, slot: Slot) -> Event {
        if slot >= self.ports {
            return Event::Port(slot - self.ports);
        }
        if slot < self.first_flow_kind {
            return if slot == 0 { Event::Change } else { Event::Departure(slot - 1) };
        }
        let mut flow = slot - self.first_flow_kind;
        let mut kind = 0;
        while flow >= self.flows {
            flow -= self.flows;
            kind += 1;
        }
        match kind {
            0 => Event::Home(flow),
            1 => Event::Deliver(flow),
            2 => Event::DelayedAck(flow),
            3 => Event::Timer(flow),
            4 => Event::Wake(flow),
            5 => Event::Send(flow),
            _ => Event::Back(flow),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_is_the_slot_of_its_event() {
        let slots = Slots::new(3, 2, 4);
        let seen: Vec<Event> = (0..slots.total() as u32).map(|slot| slots.event(slot)).collect();
        assert_eq!(seen.len(), 1 + 4 + 21 + 2);
        assert_eq!(slots.event(slots.flow(FlowKind::Timer, 2)), Event::Timer(2));
        assert_eq!(slots.event(slots.departure(3)), Event::Departure(3));
        assert_eq!(slots.event(slots.port(1)), Event::Port(1));
        assert_eq!(seen[0], Event::Change);
    }
}
