//! Everything between senders' transports: private links, ports, receivers, and the way back.
//!
//! A packet walks as far as can be computed without waiting for anything else: through its private links, through ports that only
//! one line feeds, into the receiver, and back as an acknowledgement. It stops, and becomes an event, where several lines meet and
//! at its sender. So a packet of a dumbbell costs three events (bottleneck, way back, sender), of a single flow one. With `stepped`
//! every hop is an event; tests hold both to the same bytes.

use super::flows::{AccessRates, Hosts, PathCounts, Wire};
use super::port::{Arrival, Port, Reason};
use super::slots::{FlowKind, Slots};
use super::window::Window;
use crate::base::calendar::Calendar;
use crate::base::histogram::Histogram;
use crate::base::line::{Line, Pool};
use crate::base::packet::{Blocks, Packet, Side};
use crate::base::units::{Span, Time};
use crate::network::{Group, Transport};
use crate::record::recorder::Recorder;
use crate::tcp::DelayedAck;
use crate::tcp::receiver::{OutOfOrder, Receiver, Reply};
use crate::tcp::recovery;
use crate::traffic::Arrivals;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// End of a route in the flat list of routes.
pub(crate) const END: u32 = u32::MAX;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Fabric {
    pub(crate) window: Window,
    pub(crate) slots: Slots,
    pub(crate) calendar: Calendar<Slots>,
    /// Port numbers of all routes one after another, each closed by [`END`].
    pub(crate) routes: Vec<u32>,
    pub(crate) ports: Vec<Port>,
    /// Port of each transmitter of the stepped ports.
    pub(crate) transmitters: Vec<u32>,
    pub(crate) paths: Vec<Path>,
    pub(crate) counts: Vec<PathCounts>,
    /// What the fabric has to know of each flow group.
    pub(crate) facts: Vec<Facts>,
    pub(crate) rates: AccessRates,
    pub(crate) hosts: Vec<Hosts>,
    pub(crate) pool: Pool,
    pub(crate) out_of_order: Side<OutOfOrder>,
    pub(crate) blocks: Side<Blocks>,
    /// Flows whose route changes: their packets may arrive out of order, so nothing behind the last port is computed ahead.
    pub(crate) rerouted: BTreeSet<u32>,
    pub(crate) recorder: Option<Box<Recorder>>,
    /// One-way delays per group, if asked for.
    pub(crate) delays: Vec<Histogram>,
    pub(crate) outputs: Vec<Delivery>,
}

/// All that moves on behalf of one flow between its ends.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Path {
    pub(crate) receiver: Receiver,
    pub(crate) wire: Wire,
    /// Segments that complete a transfer; the largest number if it has no size.
    pub(crate) complete_at: u32,
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
pub(crate) struct Facts {
    is_tcp: bool,
    /// A datagram group whose deliveries the caller takes.
    is_external: bool,
    /// Arrivals at the receiver are events.
    delivers_as_event: bool,
    header: u32,
    ack_size: u32,
    /// SACK blocks per acknowledgement, 0 without SACK.
    sack_blocks: u32,
    delayed_ack: Option<DelayedAck>,
    group: Group,
}

/// A datagram that reached the receiver of an external flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    pub flow: u32,
    /// Number that [`Engine::inject`](super::Engine::inject) returned.
    pub datagram: u32,
    pub time: Time,
}

/// The line that a packet comes from, and in which it waits if it has to.
#[derive(Clone, Copy)]
enum Feeder {
    Send,
    Back,
    Port(u32),
}

impl Facts {
    pub(crate) fn of(group: &Group, stepped: bool) -> Facts {
        let (tcp, datagram) = match &group.transport {
            Transport::Tcp(spec, _) => (Some(spec), None),
            Transport::Datagram(spec) => (None, Some(spec)),
        };
        let delayed_ack = tcp.and_then(|spec| spec.delayed_ack);
        Facts {
            is_tcp: tcp.is_some(),
            is_external: datagram.is_some_and(|spec| matches!(spec.arrivals, Arrivals::External)),
            delivers_as_event: stepped || delayed_ack.is_some(),
            header: tcp.map(|spec| spec.header).or(datagram.map(|spec| spec.header)).unwrap_or(0),
            ack_size: tcp.map_or(0, |spec| spec.ack_size),
            sack_blocks: tcp.filter(|spec| recovery::uses_sack(spec.recovery)).map_or(0, |spec| spec.sack_blocks),
            delayed_ack,
            group: group.clone(),
        }
    }
}

impl Fabric {
    /// A sender hands down a data packet.
    #[inline]
    pub(crate) fn send(&mut self, now: Time, flow: u32, segment: u32, transmission: u32, bytes: u32) {
        if let Some(recorder) = &mut self.recorder {
            recorder.on_send(flow, now, segment, transmission);
        }
        let path = &mut self.paths[flow as usize];
        let mut time = now;
        if let Some(hosts) = self.hosts.get_mut(flow as usize) {
            time = hosts.send(time, &self.facts[path.wire.group as usize].group);
        }
        let at_port = path.wire.sender_up(time, bytes, &mut self.rates);
        let packet = Packet::data(at_port, now, flow, segment, bytes, transmission, path.wire.forward);
        self.walk(Some(Feeder::Send), packet);
    }

    /// The head of a flow's access line has reached the first port.
    #[inline]
    pub(crate) fn on_send(&mut self, flow: u32) {
        let (head, next) = take_head(&mut self.pool, &mut self.paths[flow as usize].send);
        self.reschedule(self.slots.flow(FlowKind::Send, flow), next);
        self.arrive(head);
    }

    /// The same for the way back.
    #[inline]
    pub(crate) fn on_back(&mut self, flow: u32) {
        let (head, next) = take_head(&mut self.pool, &mut self.paths[flow as usize].back);
        self.reschedule(self.slots.flow(FlowKind::Back, flow), next);
        self.arrive(head);
    }

    /// The head of a port's delay line has reached the next port, or the end of its route.
    #[inline]
    pub(crate) fn on_port(&mut self, port: u32) {
        let (head, next) = take_head(&mut self.pool, &mut self.ports[port as usize].line);
        self.reschedule(self.slots.port(port), next);
        self.arrive(head);
    }

    /// A data packet has reached its receiver.
    pub(crate) fn on_deliver(&mut self, flow: u32) {
        let (head, next) = take_head(&mut self.pool, &mut self.paths[flow as usize].deliver);
        self.reschedule(self.slots.flow(FlowKind::Deliver, flow), next);
        let Some(mut packet) = head else { return };
        if self.receive(&mut packet) {
            self.walk(Some(Feeder::Back), packet);
        }
    }

    /// A delayed acknowledgement is due.
    pub(crate) fn on_delayed_ack(&mut self, now: Time, flow: u32) {
        let receiver = &self.paths[flow as usize].receiver;
        if receiver.has_delayed() {
            let mut packet = Packet::data(now, now, flow, receiver.expected - 1, 0, 1, 0);
            self.acknowledge(&mut packet);
            self.walk(Some(Feeder::Back), packet);
        }
    }

    /// Take the acknowledgement that has reached its sender.
    #[inline]
    pub(crate) fn take_home(&mut self, flow: u32) -> Option<Packet> {
        let (head, next) = take_head(&mut self.pool, &mut self.paths[flow as usize].home);
        self.reschedule(self.slots.flow(FlowKind::Home, flow), next);
        self.counts[flow as usize].acks_received_in_all += 1;
        head
    }

    #[inline]
    pub(crate) fn reschedule(&mut self, slot: u32, next: Option<Time>) {
        if let Some(time) = next {
            self.calendar.schedule(slot, time);
        }
    }

    /// A packet whose turn has come is at the place that its line leads to: a port, or the end of its route.
    #[inline]
    fn arrive(&mut self, head: Option<Packet>) {
        if let Some(packet) = head {
            self.walk(None, packet);
        }
    }

    /// Walk on from `feeder`, as far as nothing has to be waited for; without one, the packet is where it has waited for its turn.
    fn walk(&mut self, mut feeder: Option<Feeder>, mut packet: Packet) {
        let mut bytes = self.wire_bytes(&packet);
        loop {
            let next = self.routes[packet.place()];
            if next == END {
                if let Some(feeder) = feeder
                    && self.is_rerouted(packet.flow)
                {
                    return self.enqueue(feeder, packet);
                }
                if !self.leave_network(&mut packet) {
                    return;
                }
                feeder = Some(Feeder::Back);
                bytes = self.wire_bytes(&packet);
                continue;
            }
            let port = &mut self.ports[next as usize];
            if port.needs_event {
                if let Some(feeder) = feeder {
                    return self.enqueue(feeder, packet);
                }
                if port.stepped.is_some() {
                    return self.arrive_stepped(next, packet, bytes);
                }
            }
            if let Err(reason) = port.pass(&mut packet, bytes, &self.window) {
                return self.discard(next, &packet, packet.time, reason);
            }
            feeder = Some(Feeder::Port(next));
        }
    }

    #[inline]
    fn is_rerouted(&self, flow: u32) -> bool {
        !self.rerouted.is_empty() && self.rerouted.contains(&flow)
    }

    #[inline(always)]
    fn enqueue(&mut self, feeder: Feeder, packet: Packet) {
        let flow = packet.flow;
        let (line, slot) = match feeder {
            Feeder::Send => (&mut self.paths[flow as usize].send, self.slots.flow(FlowKind::Send, flow)),
            Feeder::Back => (&mut self.paths[flow as usize].back, self.slots.flow(FlowKind::Back, flow)),
            Feeder::Port(port) => (&mut self.ports[port as usize].line, self.slots.port(port)),
        };
        debug_assert!(self.pool.back(line).is_none_or(|last| last.time <= packet.time));
        if line.is_empty() {
            self.calendar.schedule(slot, packet.time);
        }
        self.pool.push(line, packet);
    }

    #[inline(always)]
    fn wire_bytes(&self, packet: &Packet) -> u32 {
        if packet.is_ack() { self.facts[self.paths[packet.flow as usize].wire.group as usize].ack_size } else { packet.bytes() }
    }

    #[inline(never)]
    fn arrive_stepped(&mut self, port: u32, packet: Packet, bytes: u32) {
        let state = &mut self.ports[port as usize];
        match state.arrive(&packet, bytes, &self.window) {
            Arrival::Discarded(reason) => self.discard(port, &packet, packet.time, reason),
            Arrival::Waits => {
                if let Some(stepped) = &mut state.stepped {
                    self.pool.push(&mut stepped.queue, packet);
                }
            }
            Arrival::Serves(transmitter, service) => self.schedule_departure(packet.time, port, transmitter, service),
        }
    }

    fn schedule_departure(&mut self, now: Time, port: u32, transmitter: u32, service: Span) {
        if let Some(stepped) = &self.ports[port as usize].stepped {
            self.calendar.schedule(self.slots.departure(stepped.first + transmitter), now + service);
        }
    }

    /// A transmitter of a stepped port has finished.
    pub(crate) fn on_departure(&mut self, now: Time, transmitter: u32) {
        let port = self.transmitters[transmitter as usize];
        let Some(stepped) = &mut self.ports[port as usize].stepped else { return };
        let transmitter = transmitter - stepped.first;
        let Some(sent) = stepped.transmitters[transmitter as usize].take() else { return };
        let waiting = self.pool.pop(&mut stepped.queue);
        let bytes = self.wire_bytes(&sent);
        let (packet, survives) = self.ports[port as usize].finish(sent, now, bytes, &self.window);
        if let Some(waiting) = waiting {
            let bytes = self.wire_bytes(&waiting);
            let state = &mut self.ports[port as usize];
            state.leave_queue(bytes);
            let service = state.begin_service(transmitter, &waiting, now, bytes, &self.window);
            self.schedule_departure(now, port, transmitter, service);
        }
        self.ports[port as usize].trace_departure(now, waiting.is_some());
        match survives {
            Err(reason) => self.discard(port, &packet, now, reason),
            Ok(()) => self.walk(Some(Feeder::Port(port)), packet),
        }
    }

    #[cold]
    #[inline(never)]
    fn discard(&mut self, port: u32, packet: &Packet, time: Time, reason: Reason) {
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
            recorder.on_discard(port, packet, time, reason);
        }
    }

    /// A packet is past its last port. True if it is a data packet that causes an acknowledgement at once, which it then becomes.
    #[inline(always)]
    fn leave_network(&mut self, packet: &mut Packet) -> bool {
        let flow = packet.flow;
        let rerouted = self.is_rerouted(flow);
        let path = &mut self.paths[flow as usize];
        let facts = &self.facts[path.wire.group as usize];
        if packet.is_ack() {
            packet.time = path.wire.sender_down(packet.time, facts.ack_size, &mut self.rates);
            if path.home.is_empty() {
                self.calendar.schedule(self.slots.flow(FlowKind::Home, flow), packet.time);
            }
            self.pool.push(&mut path.home, *packet);
            return false;
        }
        packet.time = path.wire.receiver_down(packet.time, packet.bytes(), &mut self.rates);
        if facts.delivers_as_event || rerouted {
            if path.deliver.is_empty() {
                self.calendar.schedule(self.slots.flow(FlowKind::Deliver, flow), packet.time);
            }
            self.pool.push(&mut path.deliver, *packet);
            return false;
        }
        self.receive(packet)
    }

    /// A data packet is at its receiver, at `packet.time`. True if it causes an acknowledgement at once, which it then becomes.
    #[inline(always)]
    fn receive(&mut self, packet: &mut Packet) -> bool {
        let flow = packet.flow;
        let path = &mut self.paths[flow as usize];
        let facts = &self.facts[path.wire.group as usize];
        let counts = &mut self.counts[flow as usize];
        let time = packet.time;
        let measured = self.window.measures(time);
        counts.received_in_all += 1;
        if measured && let Some(delays) = self.delays.get_mut(path.wire.group as usize) {
            delays.add(time.since(packet.sent));
        }
        let (is_new, reply) = if facts.is_tcp {
            let outcome = path.receiver.on_segment(packet.segment, packet.sent, facts.delayed_ack, &mut self.out_of_order);
            (outcome.is_new, Some(outcome.reply))
        } else {
            (true, None)
        };
        if is_new {
            let payload = packet.bytes() - facts.header;
            counts.delivered += u32::from(measured);
            counts.delivered_bytes += if measured { u64::from(payload) } else { 0 };
            if path.receiver.expected >= path.complete_at && facts.is_tcp {
                counts.completed = time;
            }
            if let Some(recorder) = &mut self.recorder {
                recorder.on_delivered(flow, time, payload, self.window.end);
            }
        } else {
            counts.duplicates += u32::from(measured);
        }
        match reply {
            Some(Reply::Now) => {
                if facts.delayed_ack.is_some() {
                    self.calendar.cancel(self.slots.flow(FlowKind::DelayedAck, flow));
                }
                self.acknowledge(packet);
                true
            }
            Some(Reply::Delayed { first }) => {
                if let (true, Some(rule)) = (first, facts.delayed_ack) {
                    self.calendar.schedule(self.slots.flow(FlowKind::DelayedAck, flow), time + rule.timeout);
                }
                false
            }
            None => {
                if facts.is_external {
                    self.outputs.push(Delivery { flow, datagram: packet.segment, time });
                }
                false
            }
        }
    }

    /// A data packet becomes the acknowledgement that the receiver sends because of it, as it reaches the first port of its way.
    #[inline(always)]
    fn acknowledge(&mut self, packet: &mut Packet) {
        let flow = packet.flow;
        let path = &mut self.paths[flow as usize];
        let facts = &self.facts[path.wire.group as usize];
        let mut time = packet.time;
        if let Some(hosts) = self.hosts.get_mut(flow as usize) {
            time = hosts.receive(time, &facts.group);
        }
        if facts.delayed_ack.is_some()
            && let Some(echo) = path.receiver.acknowledged()
        {
            packet.sent = echo;
        }
        let blocks = if facts.sack_blocks == 0 { None } else { path.receiver.blocks(facts.sack_blocks, &self.out_of_order) };
        let word = match blocks {
            Some(blocks) => self.blocks.put(blocks),
            None => path.receiver.expected,
        };
        let at_port = path.wire.receiver_up(time, facts.ack_size, &mut self.rates);
        self.counts[flow as usize].acks_sent_in_all += 1;
        packet.become_ack(at_port, word, blocks.is_some(), path.wire.backward);
    }
}

#[inline]
fn take_head(pool: &mut Pool, line: &mut Line) -> (Option<Packet>, Option<Time>) {
    let head = pool.pop(line);
    (head, pool.front(line).map(|next| next.time))
}
