//! The engine: the event loop and the timeline. Its input is a network and the times to run to. It reads no clock and does no I/O.
//!
//! `state.rs` defines its state. `senders/` and `receivers.rs` implement the end hosts, `fabric/` the hops between them, and `wiring/` everything that is derived from
//! the network before the run starts.

use super::datagrams::{DatagramContents, Fate};
use super::endpoints::Endpoints;
use super::event_order::Event;
use super::fabric::Fabric;
use super::prefetch::UpcomingEvents;
use super::signals::make_readers;
use super::state::{Engine, FailureMonitor};
use super::user_code_factory::{Code, NoUserCode, UserCodeFactory};
use crate::network::Network;
use crate::primitives::calendar::Slot;
use crate::primitives::ids::FlowId;
use crate::primitives::packet::Ecn;
use crate::primitives::random::{Draws, Entity, Purpose, Stream};
use crate::primitives::units::{Bytes, Time};
use crate::user_code::{Failure, FailureSignal};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How much to handle in one call.
#[derive(Clone, Copy)]
struct StepLimits {
    events: u64,
    /// Entries taken from the calendar, whether or not they count as events.
    taken: u64,
}

impl Engine {
    /// Set up a run. The network must satisfy the checks of the scenario crate: indices in range, flows sorted by group, every path
    /// non-empty, times below the range of the duration. Networks with user code need [`Engine::with_code`].
    pub fn new(network: Network) -> Engine {
        Engine::with_code(network, &NoUserCode)
    }

    /// Set up a run with the user code that the network names. `code` creates one object per flow or port. If that fails,
    /// [`Engine::failure`] returns the reason and nothing runs.
    pub fn with_code(network: Network, code: &dyn Code) -> Engine {
        let factory = UserCodeFactory { code, alarm: FailureSignal::default() };
        let monitor = network.user_code().next().map(|_| FailureMonitor { alarm: factory.alarm.clone(), handled_alarms: 0 });
        let (readers, signalled) = make_readers(&network, code);
        // User-code objects are created in this order: ports, ends, applications.
        let mut fabric = Fabric::new(&network, readers.len(), &signalled, &factory);
        let mut endpoints = Endpoints::new(&network, readers, &factory);
        attach_applications(&network, &mut fabric, &factory);
        if fabric.distinguishes_transmissions() {
            endpoints.count_transmissions();
        }
        let network = Arc::new(Network { flows: Vec::new(), messages: BTreeMap::new(), ..network });
        let upcoming = UpcomingEvents::default();
        let mut engine = Engine { network, fabric, endpoints, events: 0, next_change: 0, upcoming, monitor };
        engine.schedule_starts();
        engine.schedule_change();
        engine
    }

    /// Simulated time reached.
    pub fn now(&self) -> Time {
        self.fabric.clock.now()
    }

    /// Number of events handled.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Time of the next event, if there is one before the end. In a domain of a parallel run, it may be an earlier time.
    pub fn next_event_time(&mut self) -> Option<Time> {
        let fabric = &mut self.fabric;
        let arrival = fabric.boundary.as_ref().and_then(|boundary| boundary.no_arrival_before());
        let event = fabric.agenda.first();
        event.into_iter().chain(arrival).min().filter(|&time| time < fabric.clock.end())
    }

    /// Handle all events before `time`, or before the end of the run if that is earlier. The result does not depend on how a run is divided
    /// into calls.
    pub fn run_until(&mut self, time: Time) {
        if self.fabric.boundary.is_some() {
            self.advance_with_arrivals(time);
        } else {
            self.run_for(time, u64::MAX);
        }
    }

    /// Like [`Engine::run_until`], but handles at most `events` events; one instant may have any number of them. Returns true once all
    /// events before `time` are handled, or when user code has failed, after which no more events are handled.
    pub fn run_for(&mut self, time: Time, events: u64) -> bool {
        if self.monitor.is_some() {
            return self.advance_watched(time, events);
        }
        if self.fabric.is_idle() {
            let clock = &mut self.fabric.clock;
            clock.advance(time.min(clock.end()));
            return true;
        }
        self.advance(time, events)
    }

    /// Whether the run includes user code, which cannot be serialised.
    pub fn has_user_code(&self) -> bool {
        self.monitor.is_some()
    }

    /// The failure of user code, if any.
    #[inline]
    pub fn failure(&self) -> Option<Failure> {
        self.monitor.as_ref().and_then(|monitor| self.failure_since(monitor))
    }

    /// The failure since an earlier one.
    fn failure_since(&self, monitor: &FailureMonitor) -> Option<Failure> {
        if monitor.alarm.raised() == monitor.handled_alarms {
            return None;
        }
        // In order of creation: after the first object that cannot be created, no others are.
        let of_ports = self.fabric.ports().iter().filter_map(|port| port.failure(self.now()));
        let of_ends = self.endpoints.ends().iter().filter_map(|end| end.failure(self.now()));
        let messages = self.fabric.messages.iter();
        of_ports.chain(of_ends).chain(messages.filter_map(|messages| messages.failure(self.now()))).next()
    }

    /// Run one event at a time, so that the run stops after the event in which user code failed.
    fn advance_watched(&mut self, time: Time, events: u64) -> bool {
        for _ in 0..events {
            let raised = self.monitor.as_ref().map(|monitor| monitor.alarm.raised());
            if self.monitor.as_ref().map(|monitor| monitor.handled_alarms) != raised {
                if self.failure().is_some() {
                    return true;
                }
                // The failure was in a copy of this engine.
                self.monitor =
                    self.monitor.take().zip(raised).map(|(monitor, handled_alarms)| FailureMonitor { handled_alarms, ..monitor });
            }
            if self.advance(time, 1) {
                return true;
            }
        }
        false
    }

    pub(super) fn advance(&mut self, time: Time, events: u64) -> bool {
        self.advance_within(time, StepLimits { events, taken: u64::MAX })
    }

    /// Handle only the next entry of the calendar, if it is before `time`.
    pub(super) fn step(&mut self, time: Time) {
        self.advance_within(time, StepLimits { events: u64::MAX, taken: 1 });
    }

    /// Handle events before `time` within `limits`. Returns true if no events remain or `limits.taken` is reached.
    fn advance_within(&mut self, time: Time, limits: StepLimits) -> bool {
        let end = time.min(self.fabric.clock.end());
        let StepLimits { events, mut taken } = limits;
        let mut left = events;
        while left > 0 {
            if let Some(flow) = self.fabric.acks.pop_expected() {
                left -= self.process_ack_early(flow, left);
                continue;
            }
            if let Some(ack) = self.fabric.acks.pop() {
                if self.fabric.is_large() {
                    self.prefetch_pending_acks();
                }
                left -= self.process_known_ack(&ack, left);
                continue;
            }
            let Some((now, slot)) = self.fabric.agenda.pop_before(end) else {
                self.fabric.clock.advance(end);
                break;
            };
            left -= u64::from(self.handle(now, slot));
            taken -= 1;
            if taken == 0 {
                break;
            }
        }
        if self.fabric.boundary.is_none() {
            self.fabric.compute_deferred();
        }
        self.fabric.store_pending_acks();
        self.events += events - left;
        left > 0
    }

    /// Handle an entry taken from the calendar. Returns false if the entry only checked whether its time has come. Such entries do not
    /// count as events, because their number depends on how far other senders have run ahead.
    #[inline(always)]
    fn handle(&mut self, now: Time, slot: Slot) -> bool {
        self.fabric.clock.set(now);
        if self.fabric.is_large() {
            self.prefetch_upcoming();
        }
        match self.fabric.agenda.event(slot) {
            Event::AckArrival(flow) => self.on_ack_arrival(flow, now),
            Event::Send(flow) => self.fabric.on_send(flow),
            Event::Back(flow) => self.fabric.on_back(flow),
            Event::Port(port) => self.fabric.on_port(port),
            Event::Gathered(port) => {
                self.fabric.on_gathered(now, port);
                return false;
            }
            Event::Departure(transmitter) => return self.fabric.on_departure(now, transmitter),
            Event::Period(place) => self.fabric.on_period(now, place),
            Event::Deliver(flow) => return self.fabric.on_deliver(flow),
            Event::DelayedAck(flow) => self.fabric.on_delayed_ack(now, flow),
            Event::Timer(flow) => return self.on_timer(flow),
            Event::AppWrite(flow) => self.on_app_write(flow),
            Event::Rm(flow) => self.fabric.on_rm(now, flow),
            Event::AtEdge(flow) => self.on_edge(now, flow),
            Event::Cell(flow) => self.on_cell(now, flow),
            Event::SendTimer(flow) => return self.on_send_timer(flow),
            Event::Change => {
                self.on_change();
                // Every domain has this event; only the first counts it.
                return self.fabric.boundary.as_ref().is_none_or(|boundary| boundary.is_first());
            }
        }
        true
    }

    /// Send a datagram with this payload on an external flow, now. Returns its number, or `None` if the flow is not external or the
    /// datagram is empty or too large.
    pub fn inject(&mut self, flow: FlowId, payload: Bytes, ecn: Ecn) -> Option<u32> {
        self.inject_as(flow, payload, ecn, DatagramContents::Opaque)
    }

    /// Like [`Engine::inject`], for a datagram whose contents decide which listed drops apply to it.
    pub fn inject_as(&mut self, flow: FlowId, payload: Bytes, ecn: Ecn, contents: DatagramContents) -> Option<u32> {
        self.send_datagram(flow, payload, ecn, contents)
    }

    /// The new fates of datagrams of external flows, except for flows in cells. Each fate is reported once, in no particular order. Its
    /// time may be later than now; it is final even then.
    pub fn take_fates(&mut self) -> impl Iterator<Item = Fate> {
        self.fabric.outcomes.take_fates()
    }

    fn schedule_change(&mut self) {
        if let Some(next) = self.network.changes.get(self.next_change) {
            self.fabric.agenda.at(Event::Change, next.at);
        }
    }

    fn on_change(&mut self) {
        let Some(change) = self.network.changes.get(self.next_change) else { unreachable!("all changes have taken place") };
        self.fabric.change(&change.what, &self.network);
        self.next_change += 1;
        self.schedule_change();
    }
}

/// Creates the user code of applications.
fn attach_applications(network: &Network, fabric: &mut Fabric, factory: &UserCodeFactory) {
    let mut in_group = vec![0_u64; network.groups.len()];
    for (id, flow) in FlowId::enumerate(&network.flows) {
        let of = Entity { seed: network.seed, name: &network.groups[flow.group].name, index: in_group[flow.group.index()] };
        in_group[flow.group.index()] += 1;
        if let Some(messages) = fabric.messages.get_mut(id) {
            let draws = Draws::new(Stream::new(of, Purpose::Request));
            messages.attach(|code| factory.make(code, |extras| extras.application(code, draws)));
        }
    }
}
