//! The engine. It is handed a network and times to run to; it reads no clock and does no I/O.
//!
//! A packet walks as far as can be computed without waiting for anything else: through its private links, through ports that only
//! one line feeds, into the receiver, and back as an acknowledgement. It stops, and becomes an event, where several lines meet and
//! at its sender. So a packet of a dumbbell costs three events (bottleneck, way back, sender), of a single flow one. With `stepped`
//! every hop is an event; tests hold both to the same bytes.

use super::flows::{AccessRates, FlowCounts, Hosts, Wire};
use super::port::{Arrival, Port, Reason};
use super::slots::{Event, FlowKind, Slots};
use super::window::Window;
use crate::base::calendar::Calendar;
use crate::base::histogram::Histogram;
use crate::base::line::{Line, Pool};
use crate::base::packet::{Blocks, Packet, Side};
use crate::base::random::{Purpose, Stream};
use crate::base::units::{Span, Time};
use crate::congestion::{Controllers, Start};
use crate::network::{ChangeKind, Group, Network, Transport};
use crate::record::recorder::Recorder;
use crate::tcp::receiver::{OutOfOrder, Receiver, Reply};
use crate::tcp::recovery;
use crate::tcp::scoreboard::Scoreboard;
use crate::tcp::sender::{Arrived, Phase, Sender, Tcp};
use crate::tcp::TimerForm;
use crate::traffic::Source;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// End of a route in the flat list of routes.
const END: u32 = u32::MAX;

/// A run of one network. `Clone` is a snapshot; the clone continues to the same bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Engine {
    pub(crate) network: Network,
    now: Time,
    pub(crate) window: Window,
    events: u64,
    slots: Slots,
    calendar: Calendar,
    /// Port numbers of all routes one after another, each closed by [`END`].
    routes: Vec<u32>,
    pub(crate) ports: Vec<Port>,
    /// Port of each transmitter of the stepped ports.
    transmitters: Vec<u32>,
    pub(crate) flows: Vec<FlowState>,
    pub(crate) counts: Vec<FlowCounts>,
    rates: AccessRates,
    hosts: Vec<Hosts>,
    pub(crate) pool: Pool,
    boards: Side<Scoreboard>,
    out_of_order: Side<OutOfOrder>,
    pub(crate) blocks: Side<Blocks>,
    /// Transmissions of resent segments, for listed drops and traces.
    transmissions: BTreeMap<(u32, u32), u32>,
    counts_transmissions: bool,
    /// Flows whose route changes: their packets may arrive out of order, so nothing behind the last port is computed ahead.
    rerouted: BTreeSet<u32>,
    next_change: usize,
    some_stop: bool,
    pub(crate) recorder: Option<Box<Recorder>>,
    pub(crate) delays: Vec<Histogram>,
    outputs: Vec<Delivery>,
}

/// All that moves on behalf of one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FlowState {
    pub(crate) end: End,
    pub(crate) receiver: Receiver,
    pub(crate) wire: Wire,
    /// From the sender to the first port.
    pub(crate) send: Line,
    /// Acknowledgements from the receiver to the first port of the way back.
    pub(crate) back: Line,
    /// Acknowledgements to the sender.
    pub(crate) home: Line,
    /// Data to the receiver, where arrivals there are events.
    pub(crate) deliver: Line,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum End {
    Tcp(Sender),
    Datagram(Box<Source>),
}

/// A datagram that reached the receiver of an external flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    pub flow: u32,
    /// Number that [`Engine::inject`] returned.
    pub datagram: u32,
    pub time: Time,
}

/// Where a packet waits for its turn.
#[derive(Clone, Copy)]
enum Feeder {
    Send(u32),
    Back(u32),
    Port(u32),
}

impl Engine {
    /// Set up a run. The network must be one that the scenario crate would build: indices in range, flows grouped, every path
    /// non-empty, times below the duration's range.
    pub fn new(network: Network) -> Engine {
        let window = Window { warmup: Time(network.warmup.0), end: Time(network.duration.0) };
        let (routes, starts) = flat_routes(&network);
        let changing = ports_that_change(&network);
        let traced = |port: u32| network.record.traces.iter().any(|trace| trace.kind.is_of_ports() && trace.of.contains(&port));
        let mut transmitters = Vec::new();
        let mut ports: Vec<Port> = Vec::with_capacity(network.ports.len());
        for (index, spec) in network.ports.iter().enumerate() {
            let index = index as u32;
            let stepped = network.stepped
                || spec.transmitters > 1
                || changing.contains(&index)
                || (traced(index) && spec.counts_in_service);
            let first = stepped.then_some(transmitters.len() as u32);
            if stepped {
                transmitters.extend(std::iter::repeat_n(index, spec.transmitters as usize));
            }
            ports.push(Port::new(spec, network.seed, first, network.record.delay_percentiles));
        }
        let rerouted: BTreeSet<u32> = network
            .changes
            .iter()
            .filter_map(|change| if let ChangeKind::Route(flow, ..) = change.what { Some(flow) } else { None })
            .collect();
        mark_merging_ports(&network, &mut ports, &rerouted);

        let slots = Slots::new(network.flows.len() as u32, ports.len() as u32, transmitters.len() as u32);
        let reach = network.flows.iter().map(|flow| 4 * (flow.sender_access.delay + flow.receiver_access.delay).0).max();
        let shared: u64 = network.ports.iter().map(|port| port.delay.0).max().unwrap_or(0);
        let reach = reach.unwrap_or(0).saturating_add(4 * shared).clamp(1_000_000, 1_000_000_000_000);
        let calendar = Calendar::new(slots.total(), 2 * network.flows.len() + ports.len(), reach);

        let rates = AccessRates::of(&network.flows);
        let mut in_group = vec![0u64; network.groups.len()];
        let flows = network
            .flows
            .iter()
            .map(|flow| {
                let group = &network.groups[flow.group as usize];
                let index = in_group[flow.group as usize];
                in_group[flow.group as usize] += 1;
                let end = match &group.transport {
                    Transport::Tcp(spec, law) => {
                        let start = Start { window: spec.initial_window, ssthresh: spec.initial_ssthresh };
                        let limit = flow.size.map_or(u32::MAX, |size| size.div_ceil(u64::from(spec.mss)) as u32);
                        End::Tcp(Sender::new(Controllers::new(*law, start), limit))
                    }
                    Transport::Datagram(_) => End::Datagram(Box::new(Source::new(network.seed, &group.name, index))),
                };
                FlowState {
                    end,
                    receiver: Receiver::new(),
                    wire: Wire::new(flow, starts[flow.forward as usize], starts[flow.backward as usize], &rates),
                    send: Line::default(),
                    back: Line::default(),
                    home: Line::default(),
                    deliver: Line::default(),
                }
            })
            .collect();
        let recorder = Recorder::new(&network, &mut ports).map(Box::new);
        let delays = if network.record.delay_percentiles { vec![Histogram::default(); network.groups.len()] } else { Vec::new() };
        let counts_transmissions = recorder.is_some() || ports.iter().any(Port::has_listed_drops);
        let mut engine = Engine {
            now: Time::ZERO,
            window,
            events: 0,
            slots,
            calendar,
            routes,
            ports,
            transmitters,
            flows,
            counts: vec![FlowCounts::default(); network.flows.len()],
            rates,
            hosts: Hosts::of(&network),
            pool: Pool::default(),
            boards: Side::default(),
            out_of_order: Side::default(),
            blocks: Side::default(),
            transmissions: BTreeMap::new(),
            counts_transmissions,
            rerouted,
            next_change: 0,
            some_stop: network.flows.iter().any(|flow| flow.stop != Time::NEVER),
            recorder,
            delays,
            outputs: Vec::new(),
            network,
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
        self.calendar.peek().filter(|&time| time < self.window.end)
    }

    /// Handle all events before `time`, or before the end of the run if that comes first. How a run is cut into steps changes no byte.
    pub fn run_until(&mut self, time: Time) {
        let end = time.min(self.window.end);
        while let Some((now, slot)) = self.calendar.pop_before(end) {
            self.now = now;
            self.events += 1;
            self.handle(self.slots.event(slot));
        }
        self.now = self.now.max(end);
    }

    /// Send a datagram with `bytes` of payload on an external flow, now. Returns its number; `None` if the flow is not external or
    /// the datagram is empty or too large.
    pub fn inject(&mut self, flow: u32, bytes: u32) -> Option<u32> {
        let state = self.flows.get_mut(flow as usize)?;
        let group = &self.network.groups[state.wire.group as usize];
        let (End::Datagram(source), Transport::Datagram(spec)) = (&mut state.end, &group.transport) else { return None };
        let wire = bytes.checked_add(spec.header).filter(|&wire| bytes > 0 && wire <= crate::network::MAX_PACKET)?;
        if !matches!(spec.arrivals, crate::traffic::Arrivals::External) {
            return None;
        }
        let number = source.sent;
        source.sent += 1;
        self.send_data(flow, number, 1, wire);
        Some(number)
    }

    /// Datagrams of external flows that have reached their receivers since the last call, by time.
    pub fn take_output(&mut self) -> Vec<Delivery> {
        let (mut due, later): (Vec<_>, Vec<_>) = self.outputs.drain(..).partition(|delivery| delivery.time <= self.now);
        self.outputs = later;
        due.sort_by_key(|delivery| (delivery.time, delivery.flow, delivery.datagram));
        due
    }

    fn schedule_starts(&mut self) {
        for flow in 0..self.flows.len() {
            let start = self.network.flows[flow].start;
            let group = &self.network.groups[self.network.flows[flow].group as usize];
            let first = match (&mut self.flows[flow].end, &group.transport) {
                (End::Datagram(source), Transport::Datagram(spec)) => source.first(start, spec),
                _ => Some(start),
            };
            if let Some(first) = first.filter(|&first| first < self.window.end) {
                self.calendar.schedule(self.slots.flow(FlowKind::Wake, flow as u32), first);
            }
        }
        self.schedule_change();
    }

    #[inline]
    fn handle(&mut self, event: Event) {
        match event {
            Event::Home(flow) => self.on_home(flow),
            Event::Send(flow) => {
                let line = &mut self.flows[flow as usize].send;
                let (head, next) = take_head(&mut self.pool, line);
                self.reschedule(self.slots.flow(FlowKind::Send, flow), next);
                if let Some(packet) = head {
                    self.arrive(packet);
                }
            }
            Event::Back(flow) => {
                let line = &mut self.flows[flow as usize].back;
                let (head, next) = take_head(&mut self.pool, line);
                self.reschedule(self.slots.flow(FlowKind::Back, flow), next);
                if let Some(packet) = head {
                    self.arrive(packet);
                }
            }
            Event::Port(port) => {
                let line = &mut self.ports[port as usize].line;
                let (head, next) = take_head(&mut self.pool, line);
                self.reschedule(self.slots.port(port), next);
                if let Some(packet) = head {
                    self.arrive(packet);
                }
            }
            Event::Departure(transmitter) => self.on_departure(transmitter),
            Event::Deliver(flow) => {
                let line = &mut self.flows[flow as usize].deliver;
                let (head, next) = take_head(&mut self.pool, line);
                self.reschedule(self.slots.flow(FlowKind::Deliver, flow), next);
                if let Some(packet) = head {
                    self.receive(packet);
                }
            }
            Event::DelayedAck(flow) => self.on_delayed_ack(flow),
            Event::Timer(flow) => self.on_timer(flow),
            Event::Wake(flow) => self.on_wake(flow),
            Event::Change => self.on_change(),
        }
    }

    #[inline]
    fn reschedule(&mut self, slot: u32, next: Option<Time>) {
        if let Some(time) = next {
            self.calendar.schedule(slot, time);
        }
    }

    /// A packet whose turn has come is at the place that its line leads to: a port, or the end of its route.
    #[inline]
    fn arrive(&mut self, packet: Packet) {
        let port = self.routes[packet.place()];
        if port == END {
            return self.leave_network(packet);
        }
        if self.ports[port as usize].stepped.is_some() {
            return self.arrive_stepped(port, packet);
        }
        self.pass(port, packet);
    }

    /// Walk on from a port that works ahead, as far as nothing has to be waited for.
    #[inline]
    fn pass(&mut self, mut port: u32, mut packet: Packet) {
        loop {
            let bytes = self.wire_bytes(&packet);
            self.count_arrival_in_network(&packet);
            if let Err(reason) = self.ports[port as usize].pass(&mut packet, bytes, &self.window) {
                return self.discard(port, packet, packet.time, reason);
            }
            packet.next_hop();
            match self.walk(Feeder::Port(port), packet) {
                Some((next, walked)) => (port, packet) = (next, walked),
                None => return,
            }
        }
    }

    /// One hop on: returns the next port if it takes arrivals ahead; otherwise stores the packet in the feeder's line or, at the end
    /// of its route, hands it over.
    #[inline]
    fn walk(&mut self, feeder: Feeder, packet: Packet) -> Option<(u32, Packet)> {
        let next = self.routes[packet.place()];
        let ahead = match next {
            END => !self.is_rerouted(packet.flow),
            port => !self.ports[port as usize].needs_event(),
        };
        if !ahead {
            self.enqueue(feeder, packet);
            return None;
        }
        if next == END {
            self.leave_network(packet);
            return None;
        }
        Some((next, packet))
    }

    #[inline]
    fn is_rerouted(&self, flow: u32) -> bool {
        !self.rerouted.is_empty() && self.rerouted.contains(&flow)
    }

    #[inline]
    fn enqueue(&mut self, feeder: Feeder, packet: Packet) {
        let (line, slot) = match feeder {
            Feeder::Send(flow) => (&mut self.flows[flow as usize].send, self.slots.flow(FlowKind::Send, flow)),
            Feeder::Back(flow) => (&mut self.flows[flow as usize].back, self.slots.flow(FlowKind::Back, flow)),
            Feeder::Port(port) => (&mut self.ports[port as usize].line, self.slots.port(port)),
        };
        debug_assert!(self.pool.back(line).is_none_or(|last| last.time <= packet.time));
        if line.is_empty() {
            self.calendar.schedule(slot, packet.time);
        }
        self.pool.push(line, packet);
    }

    #[inline]
    fn wire_bytes(&self, packet: &Packet) -> u32 {
        if !packet.is_ack() {
            return packet.bytes();
        }
        wire_bytes(&self.network.groups, &self.flows, packet)
    }

    fn arrive_stepped(&mut self, port: u32, packet: Packet) {
        let bytes = self.wire_bytes(&packet);
        self.count_arrival_in_network(&packet);
        let state = &mut self.ports[port as usize];
        match state.arrive(&packet, bytes, &self.window) {
            Arrival::Discarded(reason) => self.discard(port, packet, packet.time, reason),
            Arrival::Waits => {
                if let Some(stepped) = &mut state.stepped {
                    self.pool.push(&mut stepped.queue, packet);
                }
            }
            Arrival::Serves(transmitter, service) => self.schedule_departure(port, transmitter, service),
        }
    }

    fn schedule_departure(&mut self, port: u32, transmitter: u32, service: Span) {
        if let Some(stepped) = &self.ports[port as usize].stepped {
            self.calendar.schedule(self.slots.departure(stepped.first + transmitter), self.now + service);
        }
    }

    fn on_departure(&mut self, transmitter: u32) {
        let port = self.transmitters[transmitter as usize];
        let state = &mut self.ports[port as usize];
        let Some(stepped) = &mut state.stepped else { return };
        let transmitter = transmitter - stepped.first;
        let (groups, flows) = (&self.network.groups, &self.flows);
        let finished = state.finish(transmitter, self.now, |packet| wire_bytes(groups, flows, packet), &self.window);
        let waiting = state.stepped.as_mut().and_then(|stepped| self.pool.pop(&mut stepped.queue));
        if let Some(packet) = waiting {
            let bytes = wire_bytes(groups, flows, &packet);
            state.leave_queue(bytes);
            let service = state.begin_service(transmitter, &packet, self.now, bytes, &self.window);
            state.trace_stepped(self.now, 0);
            self.schedule_departure(port, transmitter, service);
        } else if self.network.ports[port as usize].counts_in_service {
            state.trace_stepped(self.now, 0);
        }
        match finished {
            Some((packet, Err(reason))) => self.discard(port, packet, self.now, reason),
            Some((mut packet, Ok(()))) => {
                packet.next_hop();
                if let Some((next, packet)) = self.walk(Feeder::Port(port), packet) {
                    self.pass(next, packet);
                }
            }
            None => {}
        }
    }

    fn discard(&mut self, port: u32, packet: Packet, time: Time, reason: Reason) {
        let counts = &mut self.counts[packet.flow as usize];
        if packet.is_ack() {
            counts.acks_discarded_in_all += 1;
            if packet.has_blocks() {
                self.blocks.release(packet.ack_word());
            }
        } else {
            counts.discarded_in_all += 1;
            counts.discarded += u32::from(self.window.measures(time));
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.on_discard(port, &packet, time, reason);
        }
    }

    #[inline]
    fn count_arrival_in_network(&mut self, packet: &Packet) {
        if !packet.is_ack() && self.window.measures(packet.time) {
            self.counts[packet.flow as usize].arrived_in_network += 1;
        }
    }

    /// A packet is past its last port.
    #[inline]
    fn leave_network(&mut self, mut packet: Packet) {
        let flow = packet.flow;
        let rerouted = self.is_rerouted(flow);
        let state = &mut self.flows[flow as usize];
        if packet.is_ack() {
            let bytes = match &self.network.groups[state.wire.group as usize].transport {
                Transport::Tcp(spec, _) => spec.ack_size,
                Transport::Datagram(_) => 0,
            };
            packet.time = state.wire.sender_down(packet.time, bytes, &mut self.rates);
            if state.home.is_empty() {
                self.calendar.schedule(self.slots.flow(FlowKind::Home, flow), packet.time);
            }
            self.pool.push(&mut state.home, packet);
            return;
        }
        packet.time = state.wire.receiver_down(packet.time, packet.bytes(), &mut self.rates);
        let group = &self.network.groups[state.wire.group as usize];
        let as_event = match &group.transport {
            Transport::Tcp(spec, _) => spec.delayed_ack.is_some(),
            Transport::Datagram(_) => false,
        };
        if as_event || self.network.stepped || rerouted {
            if state.deliver.is_empty() {
                self.calendar.schedule(self.slots.flow(FlowKind::Deliver, flow), packet.time);
            }
            self.pool.push(&mut state.deliver, packet);
        } else {
            self.receive(packet);
        }
    }

    /// A data packet is at its receiver, at `packet.time`.
    #[inline]
    fn receive(&mut self, packet: Packet) {
        let flow = packet.flow;
        let state = &mut self.flows[flow as usize];
        let group_index = state.wire.group as usize;
        let group = &self.network.groups[group_index];
        let counts = &mut self.counts[flow as usize];
        let time = packet.time;
        let measured = self.window.measures(time);
        counts.received_in_all += 1;
        if measured && let Some(delays) = self.delays.get_mut(group_index) {
            delays.add(time.since(packet.sent));
        }
        let spec = match &group.transport {
            Transport::Tcp(spec, _) => spec,
            Transport::Datagram(spec) => {
                let payload = packet.bytes() - spec.header;
                counts.delivered += u32::from(measured);
                counts.delivered_bytes += if measured { u64::from(payload) } else { 0 };
                if let Some(recorder) = &mut self.recorder {
                    recorder.on_delivered(flow, time, payload, self.window.end);
                }
                if matches!(spec.arrivals, crate::traffic::Arrivals::External) {
                    self.outputs.push(Delivery { flow, datagram: packet.segment, time });
                }
                return;
            }
        };
        let outcome = state.receiver.on_segment(packet.segment, packet.sent, spec.delayed_ack, &mut self.out_of_order);
        if outcome.is_new {
            let payload = packet.bytes() - spec.header;
            counts.delivered += u32::from(measured);
            counts.delivered_bytes += if measured { u64::from(payload) } else { 0 };
            if let End::Tcp(sender) = &state.end
                && state.receiver.expected >= sender.limit
                && self.network.flows[flow as usize].size.is_some_and(|size| u64::from(sender.limit) * u64::from(spec.mss) >= size)
            {
                counts.completed = time;
            }
            if let Some(recorder) = &mut self.recorder {
                recorder.on_delivered(flow, time, payload, self.window.end);
            }
        } else {
            counts.duplicates += u32::from(measured);
        }
        let slot = self.slots.flow(FlowKind::DelayedAck, flow);
        match outcome.reply {
            Reply::Now => {
                if spec.delayed_ack.is_some() {
                    self.calendar.cancel(slot);
                }
                self.acknowledge(packet);
            }
            Reply::Delayed { first } => {
                if let (true, Some(rule)) = (first, spec.delayed_ack) {
                    self.calendar.schedule(slot, time + rule.timeout);
                }
            }
        }
    }

    fn on_delayed_ack(&mut self, flow: u32) {
        let state = &self.flows[flow as usize];
        if state.receiver.has_delayed() {
            let segment = state.receiver.expected - 1;
            let cause = Packet::data(self.now, self.now, flow, segment, 0, 1, 0);
            self.acknowledge(cause);
        }
    }

    /// The receiver acknowledges, because of `cause`, at `cause.time`.
    #[inline]
    fn acknowledge(&mut self, mut cause: Packet) {
        let flow = cause.flow;
        let state = &mut self.flows[flow as usize];
        let group = &self.network.groups[state.wire.group as usize];
        let Transport::Tcp(spec, _) = &group.transport else { return };
        let mut time = cause.time;
        if let Some(hosts) = self.hosts.get_mut(flow as usize) {
            time = hosts.receive(time, group);
        }
        if spec.delayed_ack.is_some()
            && let Some(echo) = state.receiver.acknowledged()
        {
            cause.sent = echo;
        }
        let blocks = if recovery::uses_sack(spec.recovery) { state.receiver.blocks(spec.sack_blocks, &self.out_of_order) } else { None };
        let word = match blocks {
            Some(blocks) => self.blocks.put(blocks),
            None => state.receiver.expected,
        };
        let at_port = state.wire.receiver_up(time, spec.ack_size, &mut self.rates);
        let ack = Packet::ack(&cause, at_port, word, blocks.is_some(), state.wire.backward);
        self.counts[flow as usize].acks_sent_in_all += 1;
        if let Some((port, ack)) = self.walk(Feeder::Back(flow), ack) {
            self.pass(port, ack);
        }
    }

    /// An acknowledgement is at its sender.
    #[inline]
    fn on_home(&mut self, flow: u32) {
        let state = &mut self.flows[flow as usize];
        let (head, next) = take_head(&mut self.pool, &mut state.home);
        self.reschedule(self.slots.flow(FlowKind::Home, flow), next);
        let Some(packet) = head else { return };
        self.counts[flow as usize].acks_received_in_all += 1;
        let blocks = packet.has_blocks().then(|| {
            let blocks = *self.blocks.at(packet.ack_word());
            self.blocks.release(packet.ack_word());
            blocks
        });
        let arrived = match &blocks {
            Some(blocks) => Arrived { ack: blocks.ack, blocks: blocks.ranges(), echo: packet.sent },
            None => Arrived { ack: packet.ack_word(), blocks: &[], echo: packet.sent },
        };
        let traced = self.recorder.is_some();
        let Some(mut tcp) = self.tcp(flow) else { return };
        let duplicate = arrived.ack <= tcp.sender.una;
        let rtt = tcp.on_ack(arrived);
        if traced {
            self.trace_ack(flow, arrived.ack, duplicate, rtt);
        }
        self.send_what_is_allowed(flow);
    }

    /// Let the sender send until it has nothing more to send now, then see to its timers.
    #[inline]
    fn send_what_is_allowed(&mut self, flow: u32) {
        if self.some_stop && self.now >= self.network.flows[flow as usize].stop {
            self.stop_new_data(flow);
        }
        loop {
            let Some(mut tcp) = self.tcp(flow) else { return };
            let Some((segment, transmission)) = tcp.next_segment() else { break };
            let (is_last, mss, header) = (segment + 1 == tcp.sender.limit, tcp.spec.mss, tcp.spec.header);
            let size = if is_last { self.network.flows[flow as usize].size } else { None };
            let bytes = payload_of(mss, size, segment) + header;
            let transmission = self.count_transmission(flow, segment, transmission);
            self.send_data(flow, segment, transmission, bytes);
        }
        self.see_to_timers(flow);
        if self.recorder.is_some() {
            self.trace_window(flow);
        }
    }

    fn stop_new_data(&mut self, flow: u32) {
        if let End::Tcp(sender) = &mut self.flows[flow as usize].end {
            sender.limit = sender.limit.min(sender.high);
        }
    }

    /// Number of this transmission of a segment; exact where listed drops or traces need it.
    #[inline]
    fn count_transmission(&mut self, flow: u32, segment: u32, transmission: u32) -> u32 {
        if transmission == 1 || !self.counts_transmissions {
            return transmission;
        }
        let count = self.transmissions.entry((flow, segment)).or_insert(1);
        *count += 1;
        *count
    }

    #[inline]
    fn send_data(&mut self, flow: u32, segment: u32, transmission: u32, bytes: u32) {
        let now = self.now;
        if let Some(recorder) = &mut self.recorder {
            recorder.on_send(flow, now, segment, transmission);
        }
        let state = &mut self.flows[flow as usize];
        let mut time = now;
        if let Some(hosts) = self.hosts.get_mut(flow as usize) {
            time = hosts.send(time, &self.network.groups[state.wire.group as usize]);
        }
        let at_port = state.wire.sender_up(time, bytes, &mut self.rates);
        let packet = Packet::data(at_port, now, flow, segment, bytes, transmission, state.wire.forward);
        if let Some((port, packet)) = self.walk(Feeder::Send(flow), packet) {
            self.pass(port, packet);
        }
    }

    /// Keep the pending timer event at or before the deadline. It is looked at when it comes, not moved with every acknowledgement.
    #[inline]
    fn see_to_timers(&mut self, flow: u32) {
        let End::Tcp(sender) = &self.flows[flow as usize].end else { return };
        let (deadline, paced_until) = (sender.deadline, sender.paced_until);
        let slot = self.slots.flow(FlowKind::Timer, flow);
        let pending = self.calendar.time_of(slot);
        if deadline < pending {
            if pending != Time::NEVER {
                self.calendar.cancel(slot);
            }
            self.calendar.schedule(slot, deadline);
        }
        if paced_until > self.now {
            let slot = self.slots.flow(FlowKind::Wake, flow);
            if self.calendar.time_of(slot) == Time::NEVER {
                self.calendar.schedule(slot, paced_until);
            }
        }
    }

    fn on_timer(&mut self, flow: u32) {
        let End::Tcp(sender) = &self.flows[flow as usize].end else { return };
        let deadline = sender.deadline;
        if deadline == Time::NEVER {
            return;
        }
        if deadline > self.now {
            self.calendar.schedule(self.slots.flow(FlowKind::Timer, flow), deadline);
            return;
        }
        if let Some(mut tcp) = self.tcp(flow) {
            tcp.on_timeout();
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.on_timeout(flow, self.now);
        }
        self.send_what_is_allowed(flow);
    }

    /// A flow starts, may send again, or its source has a datagram.
    fn on_wake(&mut self, flow: u32) {
        let state = &mut self.flows[flow as usize];
        let group = &self.network.groups[state.wire.group as usize];
        let (End::Datagram(source), Transport::Datagram(spec)) = (&mut state.end, &group.transport) else {
            return self.send_what_is_allowed(flow);
        };
        let described = &self.network.flows[flow as usize];
        if self.now >= described.stop {
            return;
        }
        let number = source.sent;
        let bytes = source.take(spec) + spec.header;
        let next = source.next(self.now, spec).filter(|&next| next < self.window.end);
        let counts = &mut self.counts[flow as usize].sender;
        counts.sent_in_all += 1;
        counts.sent += u32::from(self.now >= self.window.warmup);
        self.reschedule(self.slots.flow(FlowKind::Wake, flow), next);
        self.send_data(flow, number, 1, bytes);
    }

    fn schedule_change(&mut self) {
        if let Some(change) = self.network.changes.get(self.next_change) {
            self.calendar.schedule(Slots::CHANGE, change.at);
        }
    }

    fn on_change(&mut self) {
        let Some(change) = self.network.changes.get(self.next_change) else { return };
        match change.what {
            ChangeKind::Rate(port, rate) => self.ports[port as usize].set_rate(rate),
            ChangeKind::Delay(port, delay) => self.ports[port as usize].delay = delay,
            ChangeKind::RandomLoss(port, loss) => self.ports[port as usize].set_loss(loss),
            ChangeKind::Route(flow, forward, backward) => {
                let starts = route_starts(&self.network);
                let wire = &mut self.flows[flow as usize].wire;
                wire.forward = starts[forward as usize];
                wire.backward = starts[backward as usize];
            }
        }
        self.next_change += 1;
        self.schedule_change();
    }

    /// A flow's sender with everything it works on.
    #[inline]
    fn tcp(&mut self, flow: u32) -> Option<Tcp<'_>> {
        let state = &mut self.flows[flow as usize];
        let Transport::Tcp(spec, _) = &self.network.groups[state.wire.group as usize].transport else { return None };
        let End::Tcp(sender) = &mut state.end else { return None };
        let clock_phase = match spec.timer.form {
            TimerForm::CoarseBsd { tick } => {
                let name = &self.network.groups[state.wire.group as usize].name;
                let share = Stream::new(self.network.seed, name, u64::from(flow), Purpose::TimerPhase).uniform(0);
                Span((share * tick.0 as f64) as u64)
            }
            _ => Span::ZERO,
        };
        Some(Tcp {
            sender,
            spec,
            boards: &mut self.boards,
            counts: &mut self.counts[flow as usize].sender,
            now: self.now,
            warmup: self.window.warmup,
            clock_phase,
        })
    }

    fn trace_ack(&mut self, flow: u32, ack: u32, duplicate: bool, rtt: Option<Span>) {
        let End::Tcp(sender) = &self.flows[flow as usize].end else { return };
        if let Some(recorder) = &mut self.recorder {
            recorder.on_ack(flow, self.now, ack, duplicate, rtt, sender);
        }
    }

    fn trace_window(&mut self, flow: u32) {
        let End::Tcp(sender) = &self.flows[flow as usize].end else { return };
        if let Some(recorder) = &mut self.recorder {
            recorder.on_window(flow, self.now, sender);
        }
    }
}

/// Payload bytes of a segment: the last one of a transfer may be short.
#[inline]
fn payload_of(mss: u32, size: Option<u64>, segment: u32) -> u32 {
    let Some(size) = size else { return mss };
    let before = u64::from(segment) * u64::from(mss);
    (size - before).min(u64::from(mss)) as u32
}

#[inline]
fn wire_bytes(groups: &[Group], flows: &[FlowState], packet: &Packet) -> u32 {
    if !packet.is_ack() {
        return packet.bytes();
    }
    match &groups[flows[packet.flow as usize].wire.group as usize].transport {
        Transport::Tcp(spec, _) => spec.ack_size,
        Transport::Datagram(_) => 0,
    }
}

#[inline]
fn take_head(pool: &mut Pool, line: &mut Line) -> (Option<Packet>, Option<Time>) {
    let head = pool.pop(line);
    (head, pool.front(line).map(|next| next.time))
}

fn flat_routes(network: &Network) -> (Vec<u32>, Vec<u32>) {
    let routes = network.paths.iter().flat_map(|path| path.iter().copied().chain([END])).collect();
    (routes, route_starts(network))
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

/// A port takes arrivals ahead if one line alone feeds it, in order.
fn mark_merging_ports(network: &Network, ports: &mut [Port], rerouted: &BTreeSet<u32>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Fed {
        Never,
        By(u64),
        BySeveral,
    }
    let mut fed = vec![Fed::Never; ports.len()];
    let mut feed = |port: u32, feeder: u64| {
        let state = &mut fed[port as usize];
        *state = match *state {
            Fed::Never => Fed::By(feeder),
            Fed::By(other) if other == feeder => Fed::By(feeder),
            _ => Fed::BySeveral,
        };
    };
    // Feeders: a port by its number, the two access lines of a flow by numbers above all ports.
    let access = |flow: usize, way: u64| (1 << 40) + 2 * flow as u64 + way;
    let mut used = vec![false; network.paths.len()];
    for (index, flow) in network.flows.iter().enumerate() {
        for (way, path) in [(0, flow.forward), (1, flow.backward)] {
            used[path as usize] = true;
            feed(network.paths[path as usize][0], access(index, way));
        }
    }
    for change in &network.changes {
        if let ChangeKind::Route(flow, forward, backward) = change.what {
            for (way, path) in [(0, forward), (1, backward)] {
                used[path as usize] = true;
                feed(network.paths[path as usize][0], access(flow as usize, way));
            }
        }
    }
    for (path, _) in network.paths.iter().zip(&used).filter(|(_, used)| **used) {
        for hop in path.windows(2) {
            feed(hop[1], u64::from(hop[0]));
        }
    }
    // A flow that changes its route may feed a port by lines of its own and by others in turn.
    let any_rerouted = !rerouted.is_empty();
    for (port, state) in ports.iter_mut().zip(fed) {
        port.merges = network.stepped || any_rerouted || !matches!(state, Fed::By(_));
    }
}

/// Bytes that a run of this network takes at most: flows and ports, plus the packets that fit in pipes and buffers.
pub fn memory_estimate(network: &Network) -> u64 {
    let flow = size_of::<FlowState>() + size_of::<FlowCounts>() + 7 * 12 + size_of::<crate::network::Flow>();
    let hosts = if Hosts::of(&Network { flows: Vec::new(), ..network.clone() }).is_empty() { 0 } else { size_of::<Hosts>() };
    let ports = network.ports.len() * (size_of::<Port>() + size_of::<crate::network::Port>());
    (network.flows.len() * (flow + hosts) + ports) as u64 + packets_in_flight(network) * size_of::<Packet>() as u64 * 2
}

/// An upper estimate of the packets in flight: what pipes and finite buffers hold, in packets of the smallest full size.
fn packets_in_flight(network: &Network) -> u64 {
    let smallest = network.groups.iter().map(|group| match &group.transport {
        Transport::Tcp(spec, _) => spec.mss + spec.header,
        Transport::Datagram(spec) => match spec.packet {
            crate::traffic::PacketSize::Fixed(bytes) => bytes + spec.header,
            crate::traffic::PacketSize::Exponential { .. } => 64,
        },
    });
    let smallest = f64::from(smallest.min().unwrap_or(1000).max(1));
    let longest = network.flows.iter().map(|flow| (flow.sender_access.delay + flow.receiver_access.delay).seconds()).fold(0.0, f64::max);
    let of_port = |port: &crate::network::Port| {
        let pipe = port.rate.0 as f64 * (port.delay.seconds() + longest) / 8.0 / smallest;
        let queue = match port.buffer {
            crate::network::Buffer::Packets(packets) => packets as f64,
            crate::network::Buffer::Bytes(bytes) => bytes as f64 / smallest,
            crate::network::Buffer::Unlimited => 0.0,
        };
        // No window holds more than the receivers allow.
        pipe + queue
    };
    let windows: f64 = network
        .flows
        .iter()
        .map(|flow| match &network.groups[flow.group as usize].transport {
            Transport::Tcp(spec, _) => f64::from(spec.receiver_window),
            Transport::Datagram(_) => f64::INFINITY,
        })
        .sum();
    network.ports.iter().map(of_port).sum::<f64>().min(windows) as u64
}

impl Phase {
    /// As traces name it.
    pub(crate) fn is_recovery(self) -> bool {
        self == Phase::Recovery
    }
}
