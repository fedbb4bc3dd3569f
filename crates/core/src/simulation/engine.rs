//! The engine: the event loop and the timeline. It is handed a network and times to run to; it reads no clock and does no I/O.
//!
//! What ends do is in `senders/` and `receivers.rs`, what happens to a packet between them in `fabric/`, and what follows from the network
//! before anything moves in `wiring/`.

use super::common::Fate;
use super::event_order::{Event, EventOrder};
use super::fabric::Fabric;
use super::senders::Senders;
use super::signals::make_readers;
use super::wiring::route_starts;
use super::workshop::{Code, NoCode, Workshop};
use crate::network::{ChangeKind, Network};
use crate::primitives::calendar::Slot;
use crate::primitives::packet::Ecn;
use crate::primitives::units::{Bytes, Time};
use crate::user_code::{Alarm, Failure};
use serde::{Deserialize, Serialize};

/// A run of one network. `Clone` is a snapshot; the clone continues to the same bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
// Parts of one run lie side by side, and what one thread counts is not to be in a cache line of another's (two at a time are fetched).
#[repr(align(128))]
pub struct Engine {
    pub(crate) senders: Senders,
    pub(super) events: u64,
    next_change: usize,
    /// Of an engine with user code.
    #[serde(skip)]
    watch: Option<Watch>,
}

/// Whether some user code has failed: its failures are told by an [`Alarm`].
#[derive(Clone, Debug)]
struct Watch {
    alarm: Alarm,
    /// How often it had been raised when none of this engine's code had failed.
    heard: u64,
}

/// How much to handle at once.
#[derive(Clone, Copy)]
struct Limits {
    events: u64,
    /// What is taken from the calendar, be it an event or not.
    taken: u64,
}

impl Engine {
    /// Set up a run. The network must be one that the scenario crate would build: indices in range, flows grouped, every path
    /// non-empty, times below the duration's range. With user code see [`Engine::with_code`].
    pub fn new(network: Network) -> Engine {
        Engine::with_code(network, &NoCode)
    }

    /// The same with the user code that the network names, of which `code` makes an object for each flow or port. Where that fails,
    /// [`Engine::failure`] tells, and nothing runs.
    pub fn with_code(network: Network, code: &dyn Code) -> Engine {
        let workshop = Workshop { code, alarm: Alarm::default() };
        let watch = network.user_code().next().map(|_| Watch { alarm: workshop.alarm.clone(), heard: 0 });
        let (readers, signalled) = make_readers(&network, code);
        // Objects of user code are made in this order: of ports, then of ends.
        let fabric = Fabric::new(&network, readers.len(), &signalled, &workshop);
        let senders = Senders::new(network, fabric, readers, &workshop);
        let mut engine = Engine { senders, events: 0, next_change: 0, watch };
        engine.schedule_change();
        engine
    }

    /// Simulated time reached.
    pub fn now(&self) -> Time {
        self.senders.fabric.common.now
    }

    /// Events handled so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Time of the next event, if there is one before the end.
    pub fn next_event_time(&mut self) -> Option<Time> {
        let common = &mut self.senders.fabric.common;
        common.calendar.peek().filter(|&time| time < common.window.end)
    }

    /// Handle all events before `time`, or before the end of the run if that comes first. How a run is cut into steps changes no byte.
    pub fn run_until(&mut self, time: Time) {
        self.run_for(time, u64::MAX);
    }

    /// The same, but no more than `events` of them: any number may lie in one instant. True once all before `time` are handled, or
    /// user code has failed: then nothing is handled any more.
    pub fn run_for(&mut self, time: Time, events: u64) -> bool {
        if self.watch.is_some() { self.advance_watched(time, events) } else { self.advance(time, events) }
    }

    /// Whether some of what runs is code of a user, which is no data.
    pub fn has_user_code(&self) -> bool {
        self.watch.is_some()
    }

    /// What became of user code, if it failed.
    pub fn failure(&self) -> Option<Failure> {
        let watch = self.watch.as_ref()?;
        if watch.alarm.raised() == watch.heard {
            return None;
        }
        // In the order in which objects are made: after one that cannot be, none is.
        let of_ports = self.senders.fabric.ports.iter().filter_map(|port| port.failure(self.now()));
        of_ports.chain(self.senders.ends.iter().filter_map(|end| end.failure(self.now()))).next()
    }

    /// One event at a time, so that the run stops behind the one in which user code failed.
    fn advance_watched(&mut self, time: Time, events: u64) -> bool {
        for _ in 0..events {
            let raised = self.watch.as_ref().map(|watch| watch.alarm.raised());
            if self.watch.as_ref().map(|watch| watch.heard) != raised {
                if self.failure().is_some() {
                    return true;
                }
                // It was a copy of this engine.
                self.watch = self.watch.take().zip(raised).map(|(watch, heard)| Watch { heard, ..watch });
            }
            if self.advance(time, 1) {
                return true;
            }
        }
        false
    }

    pub(super) fn advance(&mut self, time: Time, events: u64) -> bool {
        self.advance_within(time, Limits { events, taken: u64::MAX })
    }

    /// Handle the next in the calendar if it is before `time`, and no more.
    pub(super) fn step(&mut self, time: Time) {
        self.advance_within(time, Limits { events: u64::MAX, taken: 1 });
    }

    /// Handle what is before `time`, and no more than `limits` allow. True if there is nothing more, or as much was taken as allowed.
    fn advance_within(&mut self, time: Time, limits: Limits) -> bool {
        let end = time.min(self.senders.fabric.common.window.end);
        let Limits { events, mut taken } = limits;
        let mut left = events;
        while left > 0 {
            if let Some(flow) = self.senders.fabric.common.known_at_home.pop() {
                left -= u64::from(self.senders.hear_ahead(flow));
                continue;
            }
            if let Some(ack) = self.senders.fabric.common.come_home.pop_front() {
                if self.senders.fabric.is_large {
                    self.senders.look_ahead_at_home();
                }
                left -= u64::from(self.senders.hear_known(&ack));
                continue;
            }
            let Some((now, slot)) = self.senders.fabric.common.calendar.pop_before(end) else {
                self.senders.fabric.common.now = self.now().max(end);
                break;
            };
            left -= u64::from(self.handle(now, slot));
            taken -= 1;
            if taken == 0 {
                break;
            }
        }
        self.senders.fabric.let_wait_at_home();
        self.events += events - left;
        left > 0
    }

    /// Handle what has been taken from the calendar. False if it only looks whether it is time yet, which is no event: how often that is
    /// depends on how far ahead others are.
    #[inline(always)]
    fn handle(&mut self, now: Time, slot: Slot) -> bool {
        self.senders.fabric.common.now = now;
        if self.senders.fabric.is_large {
            self.senders.look_ahead();
        }
        let senders = &mut self.senders;
        match senders.fabric.common.order.event(slot) {
            Event::Home(flow) => senders.on_home(flow, now),
            Event::Send(flow) => senders.fabric.on_send(flow),
            Event::Back(flow) => senders.fabric.on_back(flow),
            Event::Port(port) => senders.fabric.on_port(port),
            Event::Gathered(port) => {
                senders.fabric.on_gathered(now, port);
                return false;
            }
            Event::Departure(transmitter) => senders.fabric.on_departure(now, transmitter),
            Event::Period(place) => senders.fabric.on_period(now, place),
            Event::Deliver(flow) => senders.fabric.on_deliver(flow),
            Event::DelayedAck(flow) => senders.fabric.on_delayed_ack(now, flow),
            Event::Timer(flow) => return senders.on_timer(flow),
            Event::Offer(flow) => senders.on_offer(flow),
            Event::Rm(flow) => senders.fabric.on_rm(now, flow),
            Event::AtEdge(flow) => senders.on_edge(now, flow),
            Event::Cell(flow) => senders.on_cell(now, flow),
            Event::Wake(flow) => return senders.on_wake(flow),
            Event::Change => {
                self.on_change();
                // It is the same event in all domains.
                return self.senders.fabric.common.border.as_ref().is_none_or(|border| border.own == 0);
            }
        }
        true
    }

    /// Send a datagram with this payload on an external flow, now. Returns its number; `None` if the flow is not external or
    /// the datagram is empty or too large.
    pub fn inject(&mut self, flow: u32, payload: Bytes, ecn: Ecn) -> Option<u32> {
        self.senders.inject(flow, payload, ecn)
    }

    /// Add what has become known of the datagrams of external flows, except in cells, to `fates`: each once, in no order. It may lie
    /// ahead of now, and is certain even so.
    pub fn take_fates(&mut self, fates: &mut Vec<Fate>) {
        fates.append(&mut self.senders.fabric.common.fates);
    }

    fn schedule_change(&mut self) {
        if let Some(next) = self.senders.network.changes.get(self.next_change) {
            self.senders.fabric.common.calendar.schedule(EventOrder::CHANGE, next.at);
        }
    }

    fn on_change(&mut self) {
        let Senders { network, fabric, .. } = &mut self.senders;
        let Some(change) = network.changes.get(self.next_change) else { return };
        match change.what {
            ChangeKind::Rate(port, rate) => fabric.ports[port as usize].equipment.set_rate(rate),
            ChangeKind::Delay(port, delay) => fabric.ports[port as usize].equipment.set_delay(delay),
            ChangeKind::RandomLoss(port, loss) => fabric.ports[port as usize].equipment.set_loss(loss),
            ChangeKind::Buffer(port, buffer) => fabric.ports[port as usize].equipment.set_buffer(buffer),
            ChangeKind::Route(flow, forward, backward) => {
                let starts = route_starts(network);
                let wire = &mut fabric.paths[flow as usize].wire;
                wire.forward = starts[forward as usize];
                wire.backward = starts[backward as usize];
            }
        }
        self.next_change += 1;
        self.schedule_change();
    }
}
