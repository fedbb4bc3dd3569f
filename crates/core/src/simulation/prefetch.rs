//! Prefetching for coming events. In a large run nearly all time is spent waiting for memory.

use super::endpoints::End;
use super::event_order::Event;
use super::fabric::Fabric;
use crate::primitives::calendar::Slot;
use crate::primitives::ids::FlowId;
use crate::primitives::prefetch::prefetch;

/// The latest of the coming events, and the pool places of their packets.
#[derive(Clone, Debug, Default)]
pub(super) struct UpcomingEvents {
    slots: [Slot; UpcomingEvents::EVENTS],
    packets: [Option<u32>; UpcomingEvents::EVENTS],
    last: usize,
}

impl UpcomingEvents {
    const EVENTS: usize = 16;

    /// Prefetch the memory of coming events.
    #[inline]
    pub(super) fn prefetch(&mut self, fabric: &mut Fabric, ends: &[End]) {
        for slot in fabric.agenda.predict() {
            self.prefetch_stages(slot, fabric, ends);
        }
    }

    /// Prefetch for a newly seen event, and the next step of each event seen before: the packet, its route, the port or end that it leads
    /// to, and the queue there.
    #[inline(always)]
    fn prefetch_stages(&mut self, slot: Slot, fabric: &Fabric, ends: &[End]) {
        let UpcomingEvents { slots, packets, last } = self;
        match fabric.agenda.event(slot) {
            Event::Port(port) => prefetch(&fabric.port(port).line),
            Event::AckArrival(flow) | Event::SendTimer(flow) => prefetch_ends(flow, fabric, ends),
            Event::Send(flow) | Event::Back(flow) | Event::Deliver(flow) => prefetch(fabric.path(flow)),
            _ => {}
        }
        *last = (*last + 1) % UpcomingEvents::EVENTS;
        slots[*last] = slot;
        let before = |steps: usize| (*last + UpcomingEvents::EVENTS - steps) % UpcomingEvents::EVENTS;
        if let Event::AckArrival(flow) | Event::SendTimer(flow) = fabric.agenda.event(slots[before(4)]) {
            fabric.packets.prefetch_back(&fabric.path(flow).send);
        }
        packets[before(2)] = fabric.prefetch_head_of(slots[before(2)]);
        let seen = |steps: usize| packets[before(steps)].map(|place| fabric.packets.at(place));
        if let Some(packet) = seen(4) {
            fabric.prefetch_route(packet);
        }
        if let Some(packet) = seen(6) {
            fabric.prefetch_next_place(packet);
            if fabric.is_at_last_port(packet) {
                // From there the packet continues through both ends, or those in this domain.
                match fabric.boundary {
                    None => prefetch_ends(packet.flow, fabric, ends),
                    Some(_) => prefetch(fabric.path(packet.flow)),
                }
            }
        }
        if let Some(packet) = seen(8) {
            fabric.prefetch_within_next_place(packet);
            if fabric.is_at_last_port(packet) {
                fabric.prefetch_way_on(packet);
            }
        }
    }
}

/// Prefetch for acknowledgements that are known to arrive.
#[inline]
pub(super) fn prefetch_pending_acks(fabric: &Fabric, ends: &[End]) {
    let known = &fabric.acks;
    if let Some(later) = known.get(8) {
        prefetch_ends(later.flow, fabric, ends);
    }
    if let Some(soon) = known.get(4) {
        fabric.packets.prefetch_back(&fabric.path(soon.flow).send);
    }
}

/// Prefetch the memory of a flow's ends.
#[inline]
fn prefetch_ends(flow: FlowId, fabric: &Fabric, ends: &[End]) {
    prefetch(fabric.path(flow));
    prefetch(&ends[flow]);
}
