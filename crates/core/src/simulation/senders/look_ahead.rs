//! Prefetching for coming events. In a large run nearly all time is spent waiting for memory.

use super::{End, Senders};
use crate::primitives::calendar::Slot;
use crate::primitives::prefetch::prefetch;
use crate::simulation::event_order::Event;
use crate::simulation::fabric::Fabric;

/// The latest of the coming events, and the pool places of their packets.
#[derive(Clone, Debug, Default)]
pub(super) struct Foreseen {
    slots: [Slot; Foreseen::EVENTS],
    packets: [Option<u32>; Foreseen::EVENTS],
    last: usize,
}

impl Foreseen {
    const EVENTS: usize = 16;
}

impl Senders {
    /// Forget the foreseen events, after memory has moved.
    pub(crate) fn forget_foreseen(&mut self) {
        self.foreseen = Foreseen::default();
    }

    /// Prefetch the memory of coming events.
    #[inline]
    pub(crate) fn look_ahead(&mut self) {
        for slot in self.fabric.common.calendar.foresee().into_iter().flatten() {
            self.ask_ahead(slot);
        }
    }

    /// Prefetch for a newly seen event, and the next step of each event seen before: the packet, its route, the port or end that it leads
    /// to, and the queue there.
    #[inline(always)]
    fn ask_ahead(&mut self, slot: Slot) {
        let Senders { fabric, ends, foreseen: Foreseen { slots, packets, last }, .. } = self;
        match fabric.common.order.event(slot) {
            Event::Port(port) => prefetch(&fabric.ports[port as usize].line),
            Event::Home(flow) | Event::Wake(flow) => ask_for(flow, fabric, ends),
            Event::Send(flow) | Event::Back(flow) | Event::Deliver(flow) => prefetch(&fabric.paths[flow as usize]),
            _ => {}
        }
        *last = (*last + 1) % Foreseen::EVENTS;
        slots[*last] = slot;
        let before = |steps: usize| (*last + Foreseen::EVENTS - steps) % Foreseen::EVENTS;
        if let Event::Home(flow) | Event::Wake(flow) = fabric.common.order.event(slots[before(4)]) {
            fabric.common.pool.prefetch_back(&fabric.paths[flow as usize].send);
        }
        packets[before(2)] = fabric.prefetch_head_of(slots[before(2)]);
        let seen = |steps: usize| packets[before(steps)].map(|place| fabric.common.pool.at(place));
        if let Some(packet) = seen(4) {
            prefetch(&fabric.routes[packet.place()]);
        }
        if let Some(packet) = seen(6) {
            fabric.prefetch_next_place(packet);
            if fabric.is_at_last_port(packet) {
                // From there the packet continues through both ends, or those in this domain.
                match fabric.common.border {
                    None => ask_for(packet.flow, fabric, ends),
                    Some(_) => prefetch(&fabric.paths[packet.flow as usize]),
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

    /// Prefetch for acknowledgements that are known to arrive.
    #[inline]
    pub(crate) fn look_ahead_at_home(&self) {
        let known = &self.fabric.common.come_home;
        if let Some(later) = known.get(8) {
            ask_for(later.flow, &self.fabric, &self.ends);
        }
        if let Some(soon) = known.get(4) {
            self.fabric.common.pool.prefetch_back(&self.fabric.paths[soon.flow as usize].send);
        }
    }
}

/// Prefetch the memory of a flow's ends.
#[inline]
fn ask_for(flow: u32, fabric: &Fabric, ends: &[End]) {
    prefetch(&fabric.paths[flow as usize]);
    prefetch(&ends[flow as usize]);
}
