//! The engine. It is handed a network and times to run to; it reads no clock and does no I/O.
//!
//! Senders, sources and the timeline are here; what happens to a packet between the ends is `fabric`'s.

use super::adaptation::Channel;
use super::fabric::{Common, Delivery, END, Fabric, Facts, Path};
use super::flows::{AccessRates, Hosts, PathCounts, Wire};
use super::port::{Gather, Port};
use super::signals::make_readers;
use super::slots::{Event, FlowKind, Slots};
use super::window::Window;
use super::workshop::{Code, NoCode, Workshop};
use crate::base::calendar::Calendar;
use crate::base::histogram::Histogram;
use crate::base::line::{Line, Pool};
use crate::base::packet::{Ecn, Side};
use crate::base::random::{Draws, Purpose, Stream};
use crate::base::signal::Signal;
use crate::base::sizes::MAX_PACKET;
use crate::base::units::{Rate, Span, Time};
use crate::congestion::{ControllerSpec, Controllers, Start};
use crate::network::{Aal5, ChangeKind, Network, TraceKind, Transport};
use crate::queue::{Policies, PolicySpec};
use crate::record::recorder::Recorder;
use crate::tcp::receiver::Receiver;
use crate::tcp::scoreboard::Scoreboard;
use crate::tcp::sender::{Arrived, Sender, SenderCounts, Tcp};
use crate::tcp::signals::{Brought, SignalReader};
use crate::tcp::{TcpSpec, TimerForm};
use crate::traffic::{Application, Arrivals, Source};
use crate::user_code::{Alarm, Failure, UserCode};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A run of one network. `Clone` is a snapshot; the clone continues to the same bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Engine {
    /// Without its flows: of each, `plans`, `ends` and `fabric.paths` keep what is needed, half the bytes of the description.
    pub(crate) network: Network,
    pub(crate) plans: Vec<Plan>,
    /// The first flow of each group.
    first_flows: Vec<u32>,
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
    transmissions: BTreeMap<(u32, u32), u32>,
    counts_transmissions: bool,
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

/// What a flow is to do.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) start: Time,
    /// Payload bytes; the largest number if greedy.
    size: u64,
    /// As [`Network::base_rtt`] has it.
    pub(crate) base_rtt: Span,
}

/// The sending end of a flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum End {
    Tcp(Sender),
    Datagram(Box<Source>),
}

impl Plan {
    fn of(flow: &crate::network::Flow, network: &Network) -> Plan {
        Plan { start: flow.start, size: flow.size.unwrap_or(u64::MAX), base_rtt: network.base_rtt(flow) }
    }
}

impl End {
    /// What became of user code.
    fn failure(&self, time: Time) -> Option<Failure> {
        match self {
            End::Tcp(sender) => sender.controller.failure(time),
            End::Datagram(source) => source.failure(time),
        }
    }

    /// What a sender counts, or as much of it as a source does.
    pub(crate) fn counts(&self) -> SenderCounts {
        match self {
            End::Tcp(sender) => sender.counts,
            End::Datagram(source) => SenderCounts { sent: source.sent_measured, ..SenderCounts::default() },
        }
    }

    /// Segments that wait to be sent for the first time: what an application handed over, or the rest of a transfer. Of a greedy flow
    /// none do.
    pub(crate) fn backlog(&self) -> u32 {
        match self {
            End::Tcp(sender) if sender.limit < u32::MAX => sender.limit - sender.high,
            _ => 0,
        }
    }
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
        let periodic: Vec<u32> = (0..).zip(&ports).filter(|(_, port)| port.period().is_some()).map(|(index, _)| index).collect();
        let [flow_count, port_count] = [network.flows.len() as u32, ports.len() as u32];
        let slots = Slots::new(flow_count, port_count, transmitters.len() as u32, periodic.len() as u32);
        let calendar = Calendar::new(slots, slots.total(), 2 * network.flows.len() + 2 * ports.len(), reach(&network));
        let recorder = Recorder::new(&network).map(Box::new);
        let groups = if network.record.delay_percentiles { network.groups.len() } else { 0 };
        let counts_transmissions = recorder.is_some() || ports.iter().any(Port::has_listed_drops);
        let rates = AccessRates::of(&network.flows);
        let first_flows = first_flows(&network);
        let (readers, unsignalled_before) = make_readers(&network, &first_flows, code);
        let common = Common {
            window: Window { warmup: Time(network.warmup.0), end: Time(network.duration.0) },
            slots,
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
            match self.fabric.common.slots.event(slot) {
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
                self.fabric.common.calendar.schedule(self.fabric.common.slots.flow(kind, flow as u32), first);
            }
        }
        for place in 0..self.fabric.periodic.len() as u32 {
            self.fabric.schedule_period(Time::ZERO, place);
        }
        self.schedule_change();
    }

    /// An acknowledgement is at its sender.
    #[inline]
    fn on_home(&mut self, flow: u32) {
        let Some(packet) = self.fabric.take_home(flow) else { return };
        let reports = &mut self.fabric.common.reports;
        let report = packet.has_report().then(|| {
            reports.release(packet.ack_word());
            reports.at(packet.ack_word()).received
        });
        let (ack, blocks) = match &report {
            Some(received) => (received.ack, received.ranges()),
            None => (packet.ack_word(), &[][..]),
        };
        let arrived = Arrived { ack, blocks, echo: packet.sent };
        if packet.signals() {
            let signal = if packet.has_report() { reports.at(packet.ack_word()).signal } else { Signal::default() };
            self.on_signal(flow, &packet, arrived, signal);
        } else {
            self.act::<false>(flow, Some(arrived), &Brought::default());
        }
    }

    fn on_timer(&mut self, flow: u32) {
        let End::Tcp(sender) = &self.ends[flow as usize] else { return };
        let deadline = sender.deadline;
        if deadline == Time::NEVER {
            return;
        }
        if deadline > self.now {
            self.fabric.common.calendar.schedule(self.fabric.common.slots.flow(FlowKind::Timer, flow), deadline);
            return;
        }
        self.act_in_time(flow);
    }

    /// Give a sender what has happened (an acknowledgement, or else what the time brings), let it send until it has nothing more to send
    /// now, and see to its timers.
    /// `SIGNALLED`: the acknowledgement brings more than most, or the controller asked for signals.
    #[inline]
    pub(crate) fn act<const SIGNALLED: bool>(&mut self, flow: u32, arrived: Option<Arrived>, brought: &Brought) {
        let now = self.now;
        let End::Tcp(sender) = &mut self.ends[flow as usize] else { return };
        let group = self.fabric.paths[flow as usize].wire.group;
        let Transport::Tcp(spec, _) = &self.network.groups[group as usize].transport else { return };
        let clock_phase = match spec.timer.form {
            TimerForm::CoarseBsd { tick } => {
                let index = flow - self.first_flows[group as usize];
                clock_phase(self.network.seed, &self.network.groups[group as usize].name, index, tick)
            }
            _ => Span::ZERO,
        };
        let warmup = self.fabric.common.window.warmup;
        let mut reader = if SIGNALLED { self.fabric.signalled(flow).map(|place| &mut self.readers[place]) } else { None };
        let mut tcp = Tcp { sender, spec, boards: &mut self.boards, now, warmup, clock_phase };
        match &arrived {
            Some(arrived) => {
                let duplicate = arrived.ack <= tcp.sender.una;
                let rtt = tcp.on_ack::<SIGNALLED>(arrived, brought);
                if let Some(reader) = &mut reader {
                    reader.bound_release(tcp.sender);
                }
                if let Some(recorder) = &mut self.fabric.common.recorder {
                    recorder.on_ack(flow, now, arrived.ack, duplicate, rtt, tcp.sender);
                }
            }
            None if tcp.sender.deadline <= now => {
                tcp.on_timeout(self.fabric.paths[flow as usize].counts.completed);
                if let Some(reader) = &mut reader {
                    reader.on_timeout();
                }
                if let Some(recorder) = &mut self.fabric.common.recorder {
                    recorder.on_timeout(flow, now);
                }
            }
            None => {}
        }
        if !self.stops.is_empty() && self.stops.get(&flow).is_some_and(|&stop| now >= stop) {
            tcp.sender.limit = tcp.sender.limit.min(tcp.sender.high);
        }
        while reader.as_mut().is_none_or(|reader| reader.may_send(tcp.sender)) {
            let idle = SIGNALLED && tcp.sender.high == tcp.sender.una;
            let Some((segment, transmission)) = tcp.next_segment() else { break };
            if let Some(reader) = &mut reader {
                reader.on_sent(segment, now, idle);
            }
            let ecn = tcp.announce(transmission == 1);
            let size = if segment + 1 == tcp.sender.limit { self.plans[flow as usize].size } else { u64::MAX };
            let transmission = if transmission == 1 || !self.counts_transmissions {
                transmission
            } else {
                let count = self.transmissions.entry((flow, segment)).or_insert(1);
                *count += 1;
                *count
            };
            let bytes = wire_bytes(spec, size, segment);
            match &reader {
                Some(reader) if reader.prices() => self.fabric.send_priced(now, flow, segment, transmission, bytes, ecn),
                _ => self.fabric.send(now, flow, segment, transmission, bytes, ecn),
            }
        }
        if let Some(reader) = &mut reader {
            reader.on_all_sent(tcp.sender, tcp.sender.window(spec));
        }
        see_to_timers(&mut self.fabric, flow, now, tcp.sender);
        if let Some(recorder) = &mut self.fabric.common.recorder {
            recorder.on_window(flow, now, tcp.sender);
        }
    }

    /// An application hands data to its sender.
    fn on_offer(&mut self, flow: u32) {
        let group = &self.network.groups[self.fabric.paths[flow as usize].wire.group as usize];
        let (Some(application), End::Tcp(sender)) = (&group.application, &mut self.ends[flow as usize]) else { return };
        let Transport::Tcp(spec, _) = &group.transport else { return };
        if self.stops.get(&flow).is_some_and(|&stop| self.now >= stop) {
            return;
        }
        let state = &mut self.applications[flow as usize];
        let next = state.hand_over(self.now, application).filter(|&next| next < self.fabric.common.window.end);
        if let Some(next) = next {
            self.fabric.common.calendar.schedule(self.fabric.common.slots.flow(FlowKind::Offer, flow), next);
        }
        sender.offer(state.handed_over(application), self.now, spec);
        self.act_in_time(flow);
    }

    /// A flow starts, may send again, or its source has a datagram.
    fn on_wake(&mut self, flow: u32) {
        let group = &self.network.groups[self.fabric.paths[flow as usize].wire.group as usize];
        let (End::Datagram(source), Transport::Datagram(spec)) = (&mut self.ends[flow as usize], &group.transport) else {
            return self.act_in_time(flow);
        };
        if self.stops.get(&flow).is_some_and(|&stop| self.now >= stop) {
            return;
        }
        let (number, payload) = source.take(spec);
        let next = source.next(self.now, payload, spec).filter(|&next| next < self.fabric.common.window.end);
        source.sent_measured += u32::from(self.now >= self.fabric.common.window.warmup);
        if let Some(next) = next {
            self.fabric.common.calendar.schedule(self.fabric.common.slots.flow(FlowKind::Wake, flow), next);
        }
        self.fabric.send(self.now, flow, number, 1, payload + spec.header, Ecn::INCAPABLE);
    }

    fn schedule_change(&mut self) {
        if let Some(next) = self.network.changes.get(self.next_change) {
            self.fabric.common.calendar.schedule(Slots::CHANGE, next.at);
        }
    }

    fn on_change(&mut self) {
        let Some(change) = self.network.changes.get(self.next_change) else { return };
        match change.what {
            ChangeKind::Rate(port, rate) => self.fabric.ports[port as usize].set_rate(rate),
            ChangeKind::Delay(port, delay) => self.fabric.ports[port as usize].delay = delay,
            ChangeKind::RandomLoss(port, loss) => self.fabric.ports[port as usize].set_loss(loss),
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

/// Keep the pending timer event at or before the deadline. It is looked at when it comes, not moved with every acknowledgement.
#[inline(always)]
fn see_to_timers(fabric: &mut Fabric, flow: u32, now: Time, sender: &Sender) {
    let slot = fabric.common.slots.flow(FlowKind::Timer, flow);
    let pending = fabric.common.calendar.time_of(slot);
    if sender.deadline < pending {
        if pending != Time::NEVER {
            fabric.common.calendar.cancel(slot);
        }
        fabric.common.calendar.schedule(slot, sender.deadline);
    }
    if sender.paced_until > now {
        let slot = fabric.common.slots.flow(FlowKind::Wake, flow);
        if fabric.common.calendar.time_of(slot) == Time::NEVER {
            fabric.common.calendar.schedule(slot, sender.paced_until);
        }
    }
}

/// Bytes on the wire of a segment: the last one of a transfer, whose size is given, may be short.
#[inline(always)]
fn wire_bytes(spec: &TcpSpec, size: u64, segment: u32) -> u32 {
    if size == u64::MAX {
        return spec.mss + spec.header;
    }
    let before = u64::from(segment) * u64::from(spec.mss);
    size.saturating_sub(before).clamp(1, u64::from(spec.mss)) as u32 + spec.header
}

/// When the free-running clock of a flow's host ticks first. `index` counts within the group.
fn clock_phase(seed: u64, group: &str, index: u32, tick: Span) -> Span {
    let share = Stream::new(seed, group, u64::from(index), Purpose::TimerPhase).uniform(0);
    Span((share * tick.0 as f64) as u64)
}

/// Whether any packets travel in cells.
pub(crate) fn has_channels(network: &Network) -> bool {
    network.groups.iter().any(|group| group.framing.is_some())
}

/// The ports, and the port of each transmitter of those that are stepped.
fn make_ports(network: &Network, any_rerouted: bool, workshop: &Workshop) -> (Vec<Port>, Vec<u32>) {
    let changing = ports_that_change(network);
    let merging = merging_ports(network, &changing);
    let is_traced = |port: u32, kind| network.record.traces.iter().any(|trace| trace.kind == kind && trace.of.contains(&port));
    let traced = |port: u32| is_traced(port, TraceKind::Queue) || is_traced(port, TraceKind::Drops);
    let mut transmitters = Vec::new();
    let crossing = flows_crossing(network);
    let mut make = |(index, spec): (u32, &crate::network::Port)| {
        let stepped = network.stepped
            || spec.transmitters > 1
            || changing.contains(&index)
            || (traced(index) && spec.counts_in_service)
            || spec.policy.is_stepped();
        let first = stepped.then_some(transmitters.len() as u32);
        if stepped {
            transmitters.extend(std::iter::repeat_n(index, spec.transmitters as usize));
        }
        let flows = &crossing[index as usize];
        let stream = Stream::new(network.seed, &spec.name, 0, Purpose::Policy);
        let policy = match &spec.policy {
            PolicySpec::User(code) => {
                Policies::user(workshop.make(code, |brought| brought.policy(code, Draws::new(stream))), flows)
            }
            policy => Policies::new(policy, flows, stream),
        };
        let mut port = Port::new(spec, network.seed, first, network.record.delay_percentiles, policy);
        if is_traced(index, TraceKind::Queue) {
            port.start_trace();
        }
        // A flow that changes its route may feed a port by lines of its own and by others in turn.
        port.needs_event = stepped || any_rerouted || merging[index as usize];
        port.is_special = port.needs_event || port.cuts_through;
        port
    };
    let mut ports: Vec<Port> = (0..).zip(&network.ports).map(&mut make).collect();
    if !any_rerouted {
        gather_returns(network, &mut ports);
    }
    (ports, transmitters)
}

/// Of each port, the flows whose route crosses it now or after a change, ascending.
fn flows_crossing(network: &Network) -> Vec<Vec<u32>> {
    let mut crossing = vec![Vec::new(); network.ports.len()];
    if network.ports.iter().all(|port| !port.policy.sees_flows()) {
        return crossing;
    }
    let now = (0..).zip(&network.flows).flat_map(|(index, flow)| [(index, flow.forward), (index, flow.backward)]);
    let later = network.changes.iter().filter_map(|change| match change.what {
        ChangeKind::Route(flow, forward, backward) => Some([(flow, forward), (flow, backward)]),
        _ => None,
    });
    for (flow, path) in now.chain(later.flatten()) {
        for &port in &network.paths[path as usize] {
            crossing[port as usize].push(flow);
        }
    }
    for flows in &mut crossing {
        flows.sort_unstable();
        flows.dedup();
    }
    crossing
}

/// Find the ports where acknowledgements can be gathered: see [`Gather`].
fn gather_returns(network: &Network, ports: &mut [Port]) {
    #[derive(Clone, Copy)]
    enum Return {
        Unfed,
        Behind { last_port: u32, ahead: Span },
        Mixed,
    }
    let mut returns = vec![Return::Unfed; ports.len()];
    for flow in &network.flows {
        returns[network.paths[flow.forward as usize][0] as usize] = Return::Mixed;
        let group = &network.groups[flow.group as usize];
        let prompt = group.ack_cells() == 1 && matches!(&group.transport, Transport::Tcp(spec, _) if spec.delayed_ack.is_none());
        let (first, last) = (network.paths[flow.backward as usize][0], network.paths[flow.forward as usize].last());
        let back = &mut returns[first as usize];
        *back = match (*back, last) {
            (Return::Unfed, Some(&last_port)) if prompt => Return::Behind { last_port, ahead: flow.receiver_access.delay },
            (Return::Behind { last_port, ahead }, Some(&last)) if prompt && last == last_port => {
                Return::Behind { last_port, ahead: ahead.min(flow.receiver_access.delay) }
            }
            _ => Return::Mixed,
        };
    }
    for hop in network.paths.iter().flat_map(|path| path.windows(2)) {
        returns[hop[1] as usize] = Return::Mixed;
    }
    for (index, found) in returns.into_iter().enumerate() {
        let Return::Behind { last_port, ahead } = found else { continue };
        // There and back over the shortest access link, and the port's own delay line.
        let ahead = network.ports[last_port as usize].delay + ahead + ahead;
        let ordered = ports[last_port as usize].stepped.is_none() && ports[index].stepped.is_none();
        if ordered && !ports[index].cuts_through && ports[index].needs_event && ahead > Span::ZERO {
            ports[index].gather = Some(Gather::new(ahead));
        }
    }
}

fn make_paths(network: &Network, rates: &AccessRates) -> Vec<Path> {
    let starts = route_starts(network);
    let make = |flow: &crate::network::Flow| {
        let complete_at = match &network.groups[flow.group as usize].transport {
            Transport::Tcp(spec, _) => segments_of(spec, flow.size),
            Transport::Datagram(_) => u32::MAX,
        };
        Path {
            counts: PathCounts::default(),
            receiver: Receiver::new(),
            wire: Wire::new(flow, starts[flow.forward as usize], starts[flow.backward as usize], rates),
            complete_at,
            marked: 0,
            send: Line::default(),
            back: Line::default(),
            home: Line::default(),
            deliver: Line::default(),
        }
    };
    network.flows.iter().map(make).collect()
}

fn make_ends(network: &Network, workshop: &Workshop) -> Vec<End> {
    let mut in_group = vec![0u64; network.groups.len()];
    let mut make = |flow: &crate::network::Flow| {
        let group = &network.groups[flow.group as usize];
        let index = in_group[flow.group as usize];
        in_group[flow.group as usize] += 1;
        match &group.transport {
            Transport::Tcp(spec, law) => {
                let start = Start { window: spec.initial_window, ssthresh: spec.initial_ssthresh };
                let law = match law {
                    ControllerSpec::User(code) => {
                        let draws = Draws::new(Stream::new(network.seed, &group.name, index, Purpose::Controller));
                        let packet = spec.mss + spec.header;
                        Controllers::user(workshop.make(code, |brought| brought.controller(code, start, packet, draws)), start)
                    }
                    law => Controllers::new(law, start),
                };
                let waiting = if group.application.is_some() { 0 } else { segments_of(spec, flow.size) };
                End::Tcp(Sender::new(law, spec, waiting))
            }
            Transport::Datagram(spec) => {
                let make_user = |code: &UserCode, draws| workshop.make(code, |brought| brought.source(code, draws));
                End::Datagram(Box::new(Source::new(spec, network.seed, &group.name, index, make_user)))
            }
        }
    };
    network.flows.iter().map(&mut make).collect()
}

/// The application of every flow, or nothing if no group has one.
fn make_applications(network: &Network) -> Vec<Application> {
    if network.groups.iter().all(|group| group.application.is_none()) {
        return Vec::new();
    }
    let first = first_flows(network);
    let make = |(flow, spec): (u32, &crate::network::Flow)| {
        let group = &network.groups[spec.group as usize];
        let total = match &group.transport {
            Transport::Tcp(tcp, _) => segments_of(tcp, spec.size),
            Transport::Datagram(_) => 0,
        };
        Application::new(network.seed, &group.name, u64::from(flow - first[spec.group as usize]), total)
    };
    (0..).zip(&network.flows).map(make).collect()
}

/// Segments of a transfer; as many as there can be without a size.
fn segments_of(spec: &TcpSpec, size: Option<u64>) -> u32 {
    size.map_or(u32::MAX, |size| size.div_ceil(u64::from(spec.mss)) as u32)
}

/// Flows of one group stand together, in the order of the groups.
fn first_flows(network: &Network) -> Vec<u32> {
    let mut first = vec![0; network.groups.len()];
    for (index, flow) in (0..network.flows.len() as u32).zip(&network.flows).rev() {
        first[flow.group as usize] = index;
    }
    first
}

fn stops_of(network: &Network) -> BTreeMap<u32, Time> {
    (0..).zip(&network.flows).filter(|(_, flow)| flow.stop != Time::NEVER).map(|(index, flow)| (index, flow.stop)).collect()
}

/// How far ahead most events lie: a few of the longest delays.
fn reach(network: &Network) -> u64 {
    let access = network.flows.iter().map(|flow| (flow.sender_access.delay + flow.receiver_access.delay).0).max();
    let shared = network.ports.iter().map(|port| port.delay.0).max();
    let longest = access.unwrap_or(0).saturating_add(shared.unwrap_or(0));
    longest.saturating_mul(4).clamp(1_000_000, 1_000_000_000_000)
}

fn route_starts(network: &Network) -> Vec<u32> {
    let mut start = 0;
    let of_path = |path: &Vec<u32>| {
        let here = start;
        start += path.len() as u32 + 1;
        here
    };
    network.paths.iter().map(of_path).collect()
}

fn ports_that_change(network: &Network) -> BTreeSet<u32> {
    let port_of = |change: &crate::network::Change| match change.what {
        ChangeKind::Rate(port, _) | ChangeKind::Delay(port, _) | ChangeKind::RandomLoss(port, _) => Some(port),
        ChangeKind::Route(..) => None,
    };
    network.changes.iter().filter_map(port_of).collect()
}

/// Which ports are fed by several lines, so that an arrival has to wait for its turn.
fn merging_ports(network: &Network, changing: &BTreeSet<u32>) -> Vec<bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum Fed {
        Never,
        By(u64),
        BySeveral,
    }
    let mut fed = vec![Fed::Never; network.ports.len()];
    let mut feed = |port: u32, feeder: u64| {
        let state = &mut fed[port as usize];
        *state = match *state {
            Fed::Never => Fed::By(feeder),
            Fed::By(other) if other == feeder => Fed::By(feeder),
            _ => Fed::BySeveral,
        };
    };
    // Feeders: a port by its number, the two access lines of a flow and orderly ways back by numbers above all ports.
    let mut orderly: BTreeMap<OrderlyReturn, u64> = BTreeMap::new();
    for (index, flow) in (0..).zip(&network.flows) {
        feed(network.paths[flow.forward as usize][0], (1 << 40) + 2 * index);
        let back = match OrderlyReturn::of(network, flow, changing) {
            Some(same) => *orderly.entry(same).or_insert((1 << 41) + index),
            None => (1 << 40) + 2 * index + 1,
        };
        feed(network.paths[flow.backward as usize][0], back);
    }
    for hop in network.paths.iter().flat_map(|path| path.windows(2)) {
        feed(hop[1], u64::from(hop[0]));
    }
    fed.into_iter().map(|state| !matches!(state, Fed::By(_))).collect()
}

/// What has to be the same for acknowledgements of different flows to reach the way back in the order in which their data left the
/// last port: then the port there is fed in order, as if by one line.
///
/// Why it holds: data packets (or cells) leave that port one service time apart. All have one size and meet an access link at least as
/// fast, so none waits there; each packet is acknowledged at once; acknowledgements are no larger than data (and take one cell), so
/// none waits on the way up either.
/// So every one of them arrives the same span after the departure of its data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct OrderlyReturn {
    last_port: u32,
    data_size: u32,
    ack_size: u32,
    rate: Option<Rate>,
    delay: Span,
    /// Of reassembly and of the acknowledgement's segmentation.
    adaptation: Span,
}

impl OrderlyReturn {
    fn of(network: &Network, flow: &crate::network::Flow, changing: &BTreeSet<u32>) -> Option<OrderlyReturn> {
        let group = &network.groups[flow.group as usize];
        let Transport::Tcp(spec, _) = &group.transport else { return None };
        let &last_port = network.paths[flow.forward as usize].last()?;
        let port = &network.ports[last_port as usize];
        let (data_size, access) = (spec.mss + spec.header, flow.receiver_access);
        let holds = flow.size.is_none()
            && spec.delayed_ack.is_none()
            && group.receive_processing.is_none()
            && spec.ack_size <= data_size
            && group.ack_cells() == 1
            && port.transmitters == 1
            && access.rate.is_none_or(|rate| rate >= port.rate)
            && !changing.contains(&last_port);
        holds.then_some(OrderlyReturn {
            last_port,
            data_size,
            ack_size: spec.ack_size,
            rate: access.rate,
            delay: access.delay,
            adaptation: group.framing.map_or(Span::ZERO, Aal5::delay),
        })
    }
}
