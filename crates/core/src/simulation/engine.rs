//! The engine: the event loop and the timeline. It is handed a network and times to run to; it reads no clock and does no I/O.
//!
//! What ends do is in `senders.rs` and `receivers.rs`, what happens to a packet between them in `fabric/`, and what follows from the network
//! before anything moves in `wiring/`.

use super::adaptation::Channel;
use super::event_order::{Event, EventOrder, FlowKind};
use super::fabric::{Common, Delivery, END, Fabric};
use super::facts::Facts;
use super::hosts::Hosts;
use super::senders::{End, make_applications, make_ends};
use super::signals::make_readers;
use super::window::Window;
use super::wire::AccessRates;
use super::wiring::{Plan, first_flows, has_channels, make_paths, make_ports, reach, route_starts, stops_of};
use super::workshop::{Code, NoCode, Workshop};
use crate::base::calendar::Calendar;
use crate::base::histogram::Histogram;
use crate::base::line::Pool;
use crate::base::packet::{Ecn, Side};
use crate::base::signal::Signal;
use crate::base::sizes::MAX_PACKET;
use crate::base::units::Time;
use crate::network::{ChangeKind, Network, Transport};
use crate::record::recorder::Recorder;
use crate::tcp::scoreboard::Scoreboard;
use crate::tcp::signals::SignalReader;
use crate::traffic::{Application, Arrivals};
use crate::user_code::{Alarm, Failure};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A run of one network. `Clone` is a snapshot; the clone continues to the same bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Engine {
    /// Without its flows: of each, `plans`, `ends` and `fabric.paths` keep what is needed, half the bytes of the description.
    pub(crate) network: Network,
    pub(crate) plans: Vec<Plan>,
    /// The first flow of each group.
    pub(super) first_flows: Vec<u32>,
    /// Of the flows that stop.
    pub(crate) stops: BTreeMap<u32, Time>,
    pub(crate) now: Time,
    events: u64,
    pub(crate) fabric: Fabric,
    pub(crate) ends: Vec<End>,
    /// By flow; empty if no group has any.
    pub(crate) applications: Vec<Application>,
    pub(crate) boards: Side<Scoreboard>,
    /// Of the flows whose controllers ask for signals, group by group ([`Facts::unsignalled_before`]).
    pub(crate) readers: Vec<SignalReader>,
    /// Transmissions of resent segments, for listed drops and traces.
    pub(super) transmissions: BTreeMap<(u32, u32), u32>,
    pub(super) counts_transmissions: bool,
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
        let rerouted: BTreeSet<u32> = network
            .changes
            .iter()
            .filter_map(|change| if let ChangeKind::Route(flow, ..) = change.what { Some(flow) } else { None })
            .collect();
        let (ports, transmitters) = make_ports(&network, !rerouted.is_empty(), &workshop);
        let periodic: Vec<u32> =
            (0..).zip(&ports).filter(|(_, port)| port.equipment.period().is_some()).map(|(index, _)| index).collect();
        let [flow_count, port_count] = [network.flows.len() as u32, ports.len() as u32];
        let order = EventOrder::new(flow_count, port_count, transmitters.len() as u32, periodic.len() as u32);
        let calendar = Calendar::new(order, order.total(), 2 * network.flows.len() + 2 * ports.len(), reach(&network));
        let recorder = Recorder::new(&network).map(Box::new);
        let groups = if network.record.delay_percentiles { network.groups.len() } else { 0 };
        let counts_transmissions = recorder.is_some() || ports.iter().any(|port| port.equipment.has_listed_drops());
        let rates = AccessRates::of(&network.flows);
        let first_flows = first_flows(&network);
        let (readers, unsignalled_before) = make_readers(&network, &first_flows, code);
        let common = Common {
            window: Window { warmup: Time(network.warmup.0), end: Time(network.duration.0) },
            order,
            calendar,
            rates,
            hosts: Hosts::of(&network),
            pool: Pool::default(),
            out_of_order: Side::default(),
            reports: Side::default(),
            prices: Side::default(),
            at_receivers: vec![Signal::default(); readers.len()],
            channels: if has_channels(&network) { vec![Channel::default(); network.flows.len()] } else { Vec::new() },
            recorder,
            delays: vec![Histogram::default(); groups],
            outputs: Vec::new(),
        };
        let observed = common.recorder.is_some() || !common.delays.is_empty() || !common.hosts.is_empty();
        let fabric = Fabric {
            routes: network.paths.iter().flat_map(|path| path.iter().copied().chain([END])).collect(),
            ports,
            transmitters,
            periodic,
            paths: make_paths(&network, &common.rates),
            facts: network
                .groups
                .iter()
                .zip(unsignalled_before)
                .map(|(group, unsignalled_before)| Facts::of(group, unsignalled_before, network.stepped, observed))
                .collect(),
            rerouted,
            common,
        };
        let mut engine = Engine {
            now: Time::ZERO,
            events: 0,
            fabric,
            ends: make_ends(&network, &workshop),
            applications: make_applications(&network),
            boards: Side::default(),
            readers,
            transmissions: BTreeMap::new(),
            counts_transmissions,
            next_change: 0,
            plans: network.flows.iter().map(|flow| Plan::of(flow, &network)).collect(),
            first_flows,
            stops: stops_of(&network),
            network: Network { flows: Vec::new(), ..network },
            watch,
        };
        engine.schedule_starts();
        engine
    }

    /// Simulated time reached.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Events handled so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Time of the next event, if there is one before the end.
    pub fn next_event_time(&mut self) -> Option<Time> {
        self.fabric.common.calendar.peek().filter(|&time| time < self.fabric.common.window.end)
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

    /// What became of user code, if it failed.
    pub fn failure(&self) -> Option<Failure> {
        let watch = self.watch.as_ref()?;
        if watch.alarm.raised() == watch.heard {
            return None;
        }
        // In the order in which objects are made: behind one that cannot be, none is.
        let of_ports = self.fabric.ports.iter().filter_map(|port| port.failure(self.now));
        of_ports.chain(self.ends.iter().filter_map(|end| end.failure(self.now))).next()
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

    fn advance(&mut self, time: Time, events: u64) -> bool {
        let end = time.min(self.fabric.common.window.end);
        let mut left = events;
        while left > 0 {
            let Some((now, slot)) = self.fabric.common.calendar.pop_before(end) else {
                self.now = self.now.max(end);
                break;
            };
            left -= 1;
            self.now = now;
            match self.fabric.common.order.event(slot) {
                Event::Home(flow) => self.on_home(flow),
                Event::Send(flow) => self.fabric.on_send(flow),
                Event::Back(flow) => self.fabric.on_back(flow),
                Event::Port(port) => self.fabric.on_port(port),
                Event::Gathered(port) => self.fabric.on_gathered(now, port),
                Event::Departure(transmitter) => self.fabric.on_departure(now, transmitter),
                Event::Period(place) => self.fabric.on_period(now, place),
                Event::Deliver(flow) => self.fabric.on_deliver(flow),
                Event::DelayedAck(flow) => self.fabric.on_delayed_ack(now, flow),
                Event::Timer(flow) => self.on_timer(flow),
                Event::Offer(flow) => self.on_offer(flow),
                Event::Wake(flow) => self.on_wake(flow),
                Event::Change => self.on_change(),
            }
        }
        self.events += events - left;
        left > 0
    }

    /// Send a datagram with `bytes` of payload on an external flow, now. Returns its number; `None` if the flow is not external or
    /// the datagram is empty or too large.
    pub fn inject(&mut self, flow: u32, bytes: u32) -> Option<u32> {
        let group = &self.network.groups[self.fabric.paths.get(flow as usize)?.wire.group as usize];
        let (End::Datagram(source), Transport::Datagram(spec)) = (&mut self.ends[flow as usize], &group.transport) else {
            return None;
        };
        let wire = bytes.checked_add(spec.header).filter(|&wire| bytes > 0 && wire <= MAX_PACKET)?;
        if !matches!(spec.arrivals, Arrivals::External) {
            return None;
        }
        let number = source.inject();
        source.sent_measured += u32::from(self.fabric.common.window.measures(self.now));
        self.fabric.send(self.now, flow, number, 1, wire, Ecn::INCAPABLE);
        Some(number)
    }

    /// Datagrams of external flows that reached their receivers before now and were not taken yet, by time.
    pub fn take_output(&mut self) -> Vec<Delivery> {
        let (mut due, later): (Vec<_>, Vec<_>) =
            self.fabric.common.outputs.drain(..).partition(|delivery| delivery.time < self.now);
        self.fabric.common.outputs = later;
        due.sort_by_key(|delivery| (delivery.time, delivery.flow, delivery.datagram));
        due
    }

    fn schedule_starts(&mut self) {
        for (flow, end) in self.ends.iter_mut().enumerate() {
            let start = self.plans[flow].start;
            let group = &self.network.groups[self.fabric.paths[flow].wire.group as usize];
            let (kind, first) = match (end, &group.transport, &group.application) {
                (End::Datagram(source), Transport::Datagram(spec), _) => (FlowKind::Wake, source.first(start, spec)),
                (_, _, Some(spec)) => (FlowKind::Offer, self.applications[flow].first(start, spec)),
                _ => (FlowKind::Wake, Some(start)),
            };
            let first = first.filter(|&first| first < self.fabric.common.window.end);
            if let Some(first) = first {
                self.fabric.common.calendar.schedule(self.fabric.common.order.flow(kind, flow as u32), first);
            }
        }
        for place in 0..self.fabric.periodic.len() as u32 {
            self.fabric.schedule_period(Time::ZERO, place);
        }
        self.schedule_change();
    }

    fn schedule_change(&mut self) {
        if let Some(next) = self.network.changes.get(self.next_change) {
            self.fabric.common.calendar.schedule(EventOrder::CHANGE, next.at);
        }
    }

    fn on_change(&mut self) {
        let Some(change) = self.network.changes.get(self.next_change) else { return };
        match change.what {
            ChangeKind::Rate(port, rate) => self.fabric.ports[port as usize].equipment.set_rate(rate),
            ChangeKind::Delay(port, delay) => self.fabric.ports[port as usize].equipment.set_delay(delay),
            ChangeKind::RandomLoss(port, loss) => self.fabric.ports[port as usize].equipment.set_loss(loss),
            ChangeKind::Route(flow, forward, backward) => {
                let starts = route_starts(&self.network);
                let wire = &mut self.fabric.paths[flow as usize].wire;
                wire.forward = starts[forward as usize];
                wire.backward = starts[backward as usize];
            }
        }
        self.next_change += 1;
        self.schedule_change();
    }
}
