//! The pending events of a run. Every event has at most one time.

use super::event_order::{Event, EventOrder};
use crate::primitives::calendar::{Calendar, CalendarConfig, Slot};
use crate::primitives::units::{Time, TimeDelta};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Agenda {
    order: EventOrder,
    calendar: Calendar<EventOrder>,
}

impl Agenda {
    /// `pending`: expected number of pending events. `reach`: typical range of their times.
    pub(crate) fn new(order: EventOrder, pending: usize, reach: TimeDelta) -> Agenda {
        Agenda { order, calendar: Calendar::new(order, &CalendarConfig { entities: order.total(), pending, reach }) }
    }

    #[inline]
    pub(crate) fn order(&self) -> &EventOrder {
        &self.order
    }

    #[inline]
    pub(crate) fn slot(&self, event: Event) -> Slot {
        self.order.slot(event)
    }

    #[inline]
    pub(crate) fn event(&self, slot: Slot) -> Event {
        self.order.event(slot)
    }

    /// Schedule an event that is not pending. At [`Time::NEVER`] it stays so.
    #[inline]
    pub(crate) fn at(&mut self, event: Event, time: Time) {
        self.calendar.schedule(self.order.slot(event), time);
    }

    /// Schedule an event, or move it from a later time to this one.
    #[inline(always)]
    pub(crate) fn at_latest(&mut self, event: Event, time: Time) {
        if time < self.time_of(event) {
            self.move_to(event, time);
        }
    }

    /// Schedule an event, or move it to this time.
    #[inline]
    pub(crate) fn move_to(&mut self, event: Event, time: Time) {
        let (slot, pending) = (self.order.slot(event), self.time_of(event));
        if time == pending {
            return;
        }
        if pending != Time::NEVER {
            self.calendar.cancel(slot);
        }
        self.calendar.schedule(slot, time);
    }

    /// Cancel an event, if it is pending.
    #[inline]
    pub(crate) fn cancel(&mut self, event: Event) {
        self.calendar.cancel(self.order.slot(event));
    }

    /// Time of an event; [`Time::NEVER`] if it is not pending.
    #[inline]
    pub(crate) fn time_of(&self, event: Event) -> Time {
        self.calendar.time_of(self.order.slot(event))
    }

    #[inline]
    pub(crate) fn is_pending(&self, event: Event) -> bool {
        self.time_of(event) != Time::NEVER
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.calendar.is_empty()
    }

    /// Time of the first pending event.
    pub(crate) fn first(&mut self) -> Option<Time> {
        self.calendar.peek()
    }

    /// Whether the first event precedes the event of this slot at `time`, or is that event.
    pub(crate) fn is_due(&mut self, time: Time, slot: Slot) -> bool {
        self.calendar.is_due(time, slot)
    }

    /// Take the first event before `end`.
    #[inline]
    pub(crate) fn pop_before(&mut self, end: Time) -> Option<(Time, Slot)> {
        self.calendar.pop_before(end)
    }

    /// Slots of events that are likely to be next but a few.
    #[inline]
    pub(crate) fn predict(&mut self) -> impl Iterator<Item = Slot> + use<> {
        self.calendar.predict().into_iter().flatten()
    }

    #[inline]
    pub(crate) fn prefetch(&self, event: Event) {
        self.calendar.prefetch(self.order.slot(event));
    }
}
