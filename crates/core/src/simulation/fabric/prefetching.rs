//! Prefetching of the memory that a packet needs next.

use super::Fabric;
use crate::primitives::calendar::Slot;
use crate::primitives::packet::Packet;
use crate::primitives::prefetch::prefetch;
use crate::simulation::domain_boundary::SortedArrivals;
use crate::simulation::event_order::Event;

impl Fabric {
    /// Prefetch the packet of an event, if the event is about a line. Returns the packet's place in the pool.
    #[inline]
    pub(crate) fn prefetch_head_of(&self, slot: Slot) -> Option<u32> {
        let line = match self.agenda.event(slot) {
            Event::Port(port) => &self.ports[port].line,
            Event::AckArrival(flow) => &self.paths[flow].ack_line,
            Event::Send(flow) => &self.paths[flow].send,
            Event::Back(flow) => &self.paths[flow].back,
            Event::Deliver(flow) => &self.paths[flow].deliver,
            _ => return None,
        };
        self.packets.prefetch_front(line)
    }

    /// Prefetch the packet's entry in the flat list of routes.
    #[inline]
    pub(crate) fn prefetch_route(&self, packet: &Packet) {
        prefetch(&self.routes[packet.place()]);
    }

    /// Prefetch the port or end that is the packet's next hop.
    #[inline]
    pub(crate) fn prefetch_next_place(&self, packet: &Packet) {
        let entry = self.routes[packet.place()];
        if let Some(port) = entry.local_port() {
            prefetch(&self.ports[port]);
        } else if entry.is_end() && entry.domain_of_end().is_none() {
            prefetch(&self.paths[packet.flow]);
        }
    }

    /// Prefetch the memory that a packet needs in its next port.
    #[inline]
    pub(crate) fn prefetch_within_next_place(&self, packet: &Packet) {
        if let Some(next) = self.routes[packet.place()].local_port() {
            let port = &self.ports[next];
            self.agenda.prefetch(Event::Port(next));
            self.packets.prefetch_back(&port.line);
            if let Some(waiting) = port.waiting() {
                self.waiting.prefetch_front(&waiting);
                self.waiting.prefetch_back(&waiting);
            }
        }
    }

    /// Prefetch the first port of the answer's path: an acknowledgement for a data packet, new data for an acknowledgement.
    #[inline]
    pub(crate) fn prefetch_way_on(&self, packet: &Packet) {
        let path = &self.paths[packet.flow];
        let start = if packet.is_ack() { path.wire.forward } else { path.wire.backward };
        if let Some(first) = self.routes[start as usize].local_port() {
            prefetch(&self.ports[first]);
        }
        self.packets.prefetch_back(if packet.is_ack() { &path.send } else { &path.back });
    }

    /// Whether the packet's next port is the last of its route.
    #[inline]
    pub(crate) fn is_at_last_port(&self, packet: &Packet) -> bool {
        let place = packet.place();
        self.routes[place].local_port().is_some() && self.routes[place + 1].local_port().is_none()
    }

    /// Prefetch memory for packets from other domains whose turn comes soon.
    #[inline]
    pub(crate) fn prefetch_arrivals(&self, arrivals: &SortedArrivals) {
        if let Some(packet) = arrivals.after(12) {
            self.prefetch_route(packet);
        }
        if let Some(packet) = arrivals.after(8) {
            self.prefetch_next_place(packet);
        }
        if let Some(packet) = arrivals.after(4) {
            self.prefetch_within_next_place(packet);
        }
    }
}
