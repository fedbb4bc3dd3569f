//! Memory that is asked for before the events come that need it: in a large run nearly all time is waiting for it.

use super::{End, Senders};
use crate::primitives::calendar::Slot;
use crate::primitives::prefetch::prefetch;
use crate::simulation::event_order::Event;
use crate::simulation::fabric::Fabric;

/// Events that come soon, the last ones seen, and the places of the packets that they are about.
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
    /// What was foreseen lies elsewhere now.
    pub(crate) fn forget_foreseen(&mut self) {
        self.foreseen = Foreseen::default();
    }

    /// Ask for the memory that coming events need.
    #[inline]
    pub(crate) fn look_ahead(&mut self) {
        for slot in self.fabric.common.calendar.foresee().into_iter().flatten() {
            self.ask_ahead(slot);
        }
    }

    /// An event is seen. Ask for what it is about, and a step more of those that were seen before it: the packet, its route, the port or the end to
    /// which that leads, and what waits there.
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
                // From there it walks on through both ends, or those that are here.
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

    /// The same of acknowledgements that are known to come.
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

/// Ask for the memory of a flow's ends.
#[inline]
fn ask_for(flow: u32, fabric: &Fabric, ends: &[End]) {
    prefetch(&fabric.paths[flow as usize]);
    prefetch(&ends[flow as usize]);
}
