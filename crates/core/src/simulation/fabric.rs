//! Everything between senders' transports: private links, ports, receivers, and the way back.
//!
//! A packet walks as far as can be computed without waiting for anything else: through its private links, through ports that only
//! one line feeds, into the receiver, and back as an acknowledgement. It stops, and becomes an event, where several lines meet and
//! at its sender. So a packet of a dumbbell costs two events (bottleneck and sender; the way back is put in order by lookahead where
//! it can be, see `Gather`), of a single flow one. With `stepped` every hop is an event; tests hold both to the same bytes.

use super::adaptation::{Channel, Collected};
use super::flows::{AccessRates, Direction, Hosts, PathCounts, Wire};
use super::port::{Arrival, Gather, Port, Sending};
use super::slots::{FlowKind, Slots};
use super::window::Window;
use crate::base::calendar::{Calendar, Slot};
use crate::base::histogram::Histogram;
use crate::base::line::{Line, Pool};
use crate::base::packet::{Ecn, Packet, Prices, Received, Report, Side};
use crate::base::signal::Signal;
use crate::base::sizes::CELL_BYTES;
use crate::base::units::{Span, Time};
use crate::network::{Aal5, Group, Transport};
use crate::queue::Reason;
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
    /// Port numbers of all routes one after another, each closed by [`END`].
    pub(crate) routes: Vec<u32>,
    pub(crate) ports: Vec<Port>,
    /// Port of each transmitter of the stepped ports.
    pub(crate) transmitters: Vec<u32>,
    /// The ports whose policy wants to be heard at a fixed period.
    pub(crate) periodic: Vec<u32>,
    pub(crate) paths: Vec<Path>,
    /// What the fabric has to know of each flow group.
    pub(crate) facts: Vec<Facts>,
    /// Flows whose route changes: their packets may arrive out of order, so nothing behind the last port is computed ahead.
    pub(crate) rerouted: BTreeSet<u32>,
    pub(crate) common: Common,
}

/// What all flows and ports use in common.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Common {
    pub(crate) window: Window,
    pub(crate) slots: Slots,
    pub(crate) calendar: Calendar<Slots>,
    pub(crate) rates: AccessRates,
    pub(crate) hosts: Vec<Hosts>,
    pub(crate) pool: Pool,
    pub(crate) out_of_order: Side<OutOfOrder>,
    pub(crate) reports: Side<Report>,
    /// On data packets of flows whose controllers ask for them.
    pub(crate) prices: Prices,
    /// At the receivers of the flows whose controllers ask for signals ([`Facts::unsignalled_before`]).
    pub(crate) at_receivers: Vec<Signal>,
    /// By flow; empty if no packet travels in cells.
    pub(crate) channels: Vec<Channel>,
    pub(crate) recorder: Option<Box<Recorder>>,
    /// One-way delays per group, if asked for.
    pub(crate) delays: Vec<Histogram>,
    pub(crate) outputs: Vec<Delivery>,
}

/// All that moves on behalf of one flow between its ends.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Path {
    pub(crate) counts: PathCounts,
    pub(crate) receiver: Receiver,
    pub(crate) wire: Wire,
    /// Segments that complete a transfer; the largest number if it has no size.
    pub(crate) complete_at: u32,
    /// Packets that reached the receiver with a mark, within the measured part.
    pub(crate) marked: u32,
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
    /// TCP over packets, without ECN, that acknowledges every segment at once, with nothing recorded on the way, hosts that take no time
    /// and a controller that asks for no signals.
    plain: bool,
    /// If controllers ask for signals, the flows before this group whose controllers do not; else [`UNSIGNALLED`].
    unsignalled_before: u32,
    is_tcp: bool,
    ecn: bool,
    /// A datagram group whose deliveries the caller takes.
    is_external: bool,
    /// Arrivals at the receiver are events.
    delivers_as_event: bool,
    header: u32,
    /// Bytes of an acknowledgement, or of a cell of it.
    ack_unit: u32,
    framing: Option<Aal5>,
    /// Cells of a full data packet, 0 without framing or if there is no such packet.
    full_cells: u32,
    /// Cells of an acknowledgement; 1 if it is not cut into cells.
    ack_cells: u32,
    /// SACK blocks per acknowledgement, 0 without SACK.
    sack_blocks: u32,
    delayed_ack: Option<DelayedAck>,
    group: Group,
}

const UNSIGNALLED: u32 = u32::MAX;

/// A datagram that reached the receiver of an external flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    pub flow: u32,
    /// Number that [`Engine::inject`](super::Engine::inject) returned.
    pub datagram: u32,
    pub time: Time,
}

/// The line that a packet comes from, and in which it waits if it has to.
#[derive(Clone, Copy, PartialEq)]
enum Feeder {
    Send,
    Back,
    Port(u32),
}

impl Facts {
    /// `unsignalled_before`: if its controllers ask for signals, the flows before it whose controllers do not. `observed`: something is
    /// recorded of packets that arrive, or some host takes time.
    pub(crate) fn of(group: &Group, unsignalled_before: Option<u32>, stepped: bool, observed: bool) -> Facts {
        let (tcp, datagram) = match &group.transport {
            Transport::Tcp(spec, _) => (Some(spec), None),
            Transport::Datagram(spec) => (None, Some(spec)),
        };
        let delayed_ack = tcp.and_then(|spec| spec.delayed_ack);
        let ecn = tcp.is_some_and(|spec| spec.ecn);
        let plain = tcp.is_some()
            && !ecn
            && delayed_ack.is_none()
            && group.framing.is_none()
            && unsignalled_before.is_none()
            && !observed;
        Facts {
            plain,
            unsignalled_before: unsignalled_before.unwrap_or(UNSIGNALLED),
            is_tcp: tcp.is_some(),
            ecn,
            is_external: datagram.is_some_and(|spec| matches!(spec.arrivals, Arrivals::External)),
            delivers_as_event: stepped || delayed_ack.is_some(),
            header: tcp.map(|spec| spec.header).or(datagram.map(|spec| spec.header)).unwrap_or(0),
            ack_unit: if group.framing.is_some() { CELL_BYTES } else { tcp.map_or(0, |spec| spec.ack_size) },
            framing: group.framing,
            full_cells: group.framing.zip(group.transport.full_packet()).map_or(0, |(framing, bytes)| framing.cells(bytes)),
            ack_cells: group.ack_cells(),
            sack_blocks: tcp.filter(|spec| recovery::uses_sack(spec.recovery)).map_or(0, |spec| spec.sack_blocks),
            delayed_ack,
            group: group.clone(),
        }
    }
}

impl Facts {
    /// Place of a flow among those whose controllers ask for signals.
    #[inline]
    fn place_among_signalled(&self, flow: u32) -> Option<usize> {
        (self.unsignalled_before != UNSIGNALLED).then(|| (flow - self.unsignalled_before) as usize)
    }

    /// Bytes of what the ports see at a time: of the packet, or of a cell of it.
    #[inline]
    fn unit_bytes<const CELLS: bool>(&self, packet: &Packet) -> u32 {
        match () {
            () if packet.is_ack() => self.ack_unit,
            () if CELLS && packet.is_cell() => CELL_BYTES,
            () => packet.bytes(),
        }
    }

    fn reassembly(&self) -> Span {
        self.framing.map_or(Span::ZERO, |framing| framing.reassembly)
    }

    /// Cells of a data packet or an acknowledgement; 1 if it is not cut into cells.
    #[inline]
    pub(crate) fn cells(&self, packet: &Packet) -> u32 {
        match self.framing {
            Some(_) if packet.is_ack() => self.ack_cells,
            Some(framing) => framing.cells(packet.bytes()),
            None => 1,
        }
    }
}

impl Fabric {
    /// Place of a flow among those whose controllers ask for signals.
    #[inline]
    pub(crate) fn signalled(&self, flow: u32) -> Option<usize> {
        self.facts[self.paths[flow as usize].wire.group as usize].place_among_signalled(flow)
    }

    /// A sender hands down a data packet.
    #[inline]
    pub(crate) fn send(&mut self, now: Time, flow: u32, segment: u32, transmission: u32, bytes: u32, ecn: Ecn) {
        self.send_as::<false>(now, flow, segment, transmission, bytes, ecn);
    }

    /// The same with room for the price that queues write on it, unless it travels in cells.
    #[inline(never)]
    pub(crate) fn send_priced(&mut self, now: Time, flow: u32, segment: u32, transmission: u32, bytes: u32, ecn: Ecn) {
        self.send_as::<true>(now, flow, segment, transmission, bytes, ecn);
    }

    #[inline(always)]
    fn send_as<const PRICED: bool>(&mut self, now: Time, flow: u32, segment: u32, transmission: u32, bytes: u32, ecn: Ecn) {
        let common = &mut self.common;
        if let Some(recorder) = &mut common.recorder {
            recorder.on_send(flow, now, segment, transmission);
        }
        let path = &mut self.paths[flow as usize];
        let mut time = now;
        if let Some(hosts) = common.hosts.get_mut(flow as usize) {
            time = hosts.send(time, &self.facts[path.wire.group as usize].group);
        }
        let mut packet = Packet::data(time, now, flow, segment, bytes, transmission, path.wire.forward);
        if self.facts[path.wire.group as usize].framing.is_some() {
            return self.walk_in_cells(Direction::Forth, packet);
        }
        packet.set_ecn(ecn);
        if PRICED {
            packet.make_room_for_price(&mut common.prices);
        }
        packet.time = path.wire.sender_up(time, bytes, &mut common.rates);
        self.walk(Some(Feeder::Send), packet);
    }

    /// A packet leaves its end at `packet.time` in cells. Where it has to wait for its turn at the first port, it stands in line as
    /// one and is cut as its turn comes.
    fn walk_in_cells(&mut self, direction: Direction, mut packet: Packet) {
        let path = &mut self.paths[packet.flow as usize];
        let facts = &self.facts[path.wire.group as usize];
        let cells = facts.cells(&packet);
        let cut = packet.time + facts.framing.map_or(Span::ZERO, |framing| framing.segmentation);
        packet.time = path.wire.up_in_cells(direction, cut, cells, &mut self.common.rates);
        packet.become_cell(cells == 1);
        let channel = &mut self.common.channels[packet.flow as usize];
        let (feeder, side) = match direction {
            Direction::Forth => (Feeder::Send, &mut channel.data),
            Direction::Back => (Feeder::Back, &mut channel.acks),
        };
        side.sent_in_all += u64::from(cells);
        if cells == 1 {
            return self.walk(Some(feeder), packet);
        }
        let spacing = path.wire.cell_spacing(direction, &mut self.common.rates);
        let first = &self.ports[self.routes[packet.place()] as usize];
        if first.needs_event {
            if first.cuts_through {
                packet.time = packet.time.before(spacing);
            }
            return self.common.enqueue(feeder, packet, path, &mut self.ports);
        }
        for cell in 1..=cells {
            packet.become_cell(cell == cells);
            self.walk(Some(feeder), packet);
            packet.time += spacing;
        }
    }

    /// The next cell of the packet at the head of a line to a first port, whose turn it is.
    fn next_cell(&mut self, flow: u32, direction: Direction) -> Option<Packet> {
        let path = &mut self.paths[flow as usize];
        let channel = &mut self.common.channels[flow as usize];
        let (line, side, kind) = match direction {
            Direction::Forth => (&mut path.send, &mut channel.data, FlowKind::Send),
            Direction::Back => (&mut path.back, &mut channel.acks, FlowKind::Back),
        };
        let slot = self.common.slots.flow(kind, flow);
        let packet = *self.common.pool.front(line)?;
        let cell = side.next_cell(&packet, self.facts[path.wire.group as usize].cells(&packet));
        if cell.is_last() {
            self.common.take_head(line, slot);
        } else {
            let next = packet.time + path.wire.cell_spacing(direction, &mut self.common.rates);
            self.common.pool.front_mut(line)?.time = next;
            self.common.calendar.schedule(slot, next);
        }
        Some(cell)
    }

    /// The head of a flow's access line has reached the first port.
    #[inline]
    pub(crate) fn on_send(&mut self, flow: u32) {
        let path = &mut self.paths[flow as usize];
        let packet = if self.facts[path.wire.group as usize].framing.is_some() {
            self.next_cell(flow, Direction::Forth)
        } else {
            self.common.take_head(&mut path.send, self.common.slots.flow(FlowKind::Send, flow))
        };
        if let Some(packet) = packet {
            self.walk(None, packet);
        }
    }

    /// The same for the way back.
    #[inline]
    pub(crate) fn on_back(&mut self, flow: u32) {
        let path = &mut self.paths[flow as usize];
        let packet = if self.facts[path.wire.group as usize].framing.is_some() {
            self.next_cell(flow, Direction::Back)
        } else {
            self.common.take_head(&mut path.back, self.common.slots.flow(FlowKind::Back, flow))
        };
        if let Some(packet) = packet {
            self.walk(None, packet);
        }
    }

    /// The head of a port's delay line has reached the next port, or the end of its route.
    #[inline]
    pub(crate) fn on_port(&mut self, port: u32) {
        let slot = self.common.slots.port(port);
        if let Some(packet) = self.common.take_head(&mut self.ports[port as usize].line, slot) {
            self.walk(None, packet);
        }
    }

    /// A data packet has reached its receiver.
    pub(crate) fn on_deliver(&mut self, flow: u32) {
        let path = &mut self.paths[flow as usize];
        let slot = self.common.slots.flow(FlowKind::Deliver, flow);
        let Some(mut packet) = self.common.take_head(&mut path.deliver, slot) else { return };
        let facts = &self.facts[path.wire.group as usize];
        if path.receive(&mut packet, facts, &mut self.common) {
            self.walk_back(packet);
        }
    }

    /// A delayed acknowledgement is due.
    pub(crate) fn on_delayed_ack(&mut self, now: Time, flow: u32) {
        let path = &mut self.paths[flow as usize];
        if path.receiver.has_delayed() {
            let mut packet = Packet::data(now, now, flow, path.receiver.expected - 1, 0, 1, 0);
            let facts = &self.facts[path.wire.group as usize];
            path.acknowledge::<false>(&mut packet, facts, &mut self.common);
            self.walk_back(packet);
        }
    }

    /// Cells of a full data packet of the flow, 0 if its packets are not cut into cells.
    pub(crate) fn frame_cells(&self, flow: usize) -> u32 {
        self.facts[self.paths[flow].wire.group as usize].full_cells
    }

    /// An acknowledgement sets out: it is at the first port of its way, or if it travels in cells at the receiver.
    #[inline]
    fn walk_back(&mut self, packet: Packet) {
        if packet.is_cell() { self.walk_in_cells(Direction::Back, packet) } else { self.walk(Some(Feeder::Back), packet) }
    }

    /// Take the acknowledgement that has reached its sender.
    #[inline]
    pub(crate) fn take_home(&mut self, flow: u32) -> Option<Packet> {
        let slot = self.common.slots.flow(FlowKind::Home, flow);
        let path = &mut self.paths[flow as usize];
        path.counts.acks_received_in_all += 1;
        self.common.take_head(&mut path.home, slot)
    }

    /// Walk on from `feeder`, as far as nothing has to be waited for; without one, the packet is where it has waited for its turn.
    #[inline(always)]
    fn walk(&mut self, feeder: Option<Feeder>, packet: Packet) {
        if self.common.channels.is_empty() { self.walk_as::<false>(feeder, packet) } else { self.walk_as::<true>(feeder, packet) }
    }

    /// `CELLS`: some packets travel in cells.
    #[inline(never)]
    fn walk_as<const CELLS: bool>(&mut self, mut feeder: Option<Feeder>, mut packet: Packet) {
        let flow = packet.flow;
        let rerouted = !self.rerouted.is_empty() && self.rerouted.contains(&flow);
        let Fabric { routes, ports, paths, facts, common, .. } = self;
        let path = &mut paths[flow as usize];
        let facts = &facts[path.wire.group as usize];
        let mut passed_at = Time::ZERO;
        let mut bytes = facts.unit_bytes::<CELLS>(&packet);
        loop {
            let next = routes[packet.place()];
            if next == END {
                if let (Some(feeder), true) = (feeder, rerouted) {
                    return common.enqueue(feeder, packet, path, ports);
                }
                if !path.leave_network::<CELLS>(&mut packet, facts, common, rerouted) {
                    return;
                }
                if CELLS && packet.is_cell() {
                    return self.walk_in_cells(Direction::Back, packet);
                }
                feeder = Some(Feeder::Back);
                bytes = facts.ack_unit;
                continue;
            }
            let port = &mut ports[next as usize];
            if port.is_special {
                if let Some(feeder) = feeder {
                    if port.cuts_through {
                        return self.arrive_as_head(next, feeder, packet, bytes);
                    }
                    if let (Feeder::Back, Some(gather)) = (feeder, &mut port.gather) {
                        gather.insert(packet);
                        let known = passed_at + gather.ahead;
                        return self.take_gathered(next, known);
                    }
                    return common.enqueue(feeder, packet, path, ports);
                }
                if port.stepped.is_some() {
                    return self.arrive_stepped(next, packet, bytes);
                }
            }
            passed_at = packet.time;
            if let Err(reason) = port.pass(&mut packet, bytes, &common.window, &common.prices) {
                return self.discard(next, packet, packet.time, reason);
            }
            feeder = Some(Feeder::Port(next));
        }
    }

    /// A packet whose last bit would reach this port at `packet.time` reaches it with its head, which counts.
    #[inline(never)]
    fn arrive_as_head(&mut self, port: u32, feeder: Feeder, mut packet: Packet, bytes: u32) {
        let wire = &self.paths[packet.flow as usize].wire;
        let service = match feeder {
            Feeder::Send => wire.service(Direction::Forth, bytes, &mut self.common.rates),
            Feeder::Back => wire.service(Direction::Back, bytes, &mut self.common.rates),
            Feeder::Port(from) => self.ports[from as usize].service(bytes),
        };
        packet.time = packet.time.before(service);
        self.join(port, feeder, packet);
    }

    /// A packet whose head reaches this port at `packet.time` joins those that wait for their turn there, or is there at once.
    fn join(&mut self, port: u32, feeder: Feeder, packet: Packet) {
        if self.ports[port as usize].needs_event {
            let path = &mut self.paths[packet.flow as usize];
            return self.common.enqueue(feeder, packet, path, &mut self.ports);
        }
        self.walk(None, packet);
    }

    /// The first acknowledgement gathered at a port is there, if none that came before has taken it along.
    pub(crate) fn on_gathered(&mut self, now: Time, port: u32) {
        self.take_gathered(port, Time(now.0 + 1));
    }

    /// Let the acknowledgements gathered at a port walk on, as far as they arrive before `known`. For the first of the others, should
    /// nothing come that tells more, an event is kept.
    fn take_gathered(&mut self, port: u32, known: Time) {
        while let Some(ack) = self.ports[port as usize].gather.as_mut().and_then(|gather| gather.take_before(known)) {
            self.walk(None, ack);
        }
        let slot = self.common.slots.gathered(port);
        let first = self.ports[port as usize].gather.as_ref().and_then(Gather::first);
        let Some(first) = first else { return };
        let pending = self.common.calendar.time_of(slot);
        if first < pending {
            if pending != Time::NEVER {
                self.common.calendar.cancel(slot);
            }
            self.common.calendar.schedule(slot, first);
        }
    }

    #[inline(never)]
    fn arrive_stepped(&mut self, port: u32, mut packet: Packet, bytes: u32) {
        let state = &mut self.ports[port as usize];
        match state.arrive(&mut packet, bytes, &self.common.window, &mut self.common.prices) {
            Arrival::Discarded(reason) => self.discard(port, packet, packet.time, reason),
            Arrival::Waits => {
                if let Some(stepped) = &mut state.stepped {
                    self.common.pool.push(&mut stepped.queue, packet);
                }
            }
            Arrival::Serves(transmitter, service) => {
                self.schedule_departure(packet.time, port, transmitter, service);
                self.send_head(packet.time, port, transmitter);
            }
        }
    }

    /// If the port after this one decides on heads, let that of the packet in service go ahead.
    fn send_head(&mut self, now: Time, port: u32, transmitter: u32) {
        let Some(stepped) = &self.ports[port as usize].stepped else { return };
        let Some(Sending { packet, head_is_gone: false }) = stepped.transmitters[transmitter as usize] else { return };
        let next = self.routes[packet.place() + 1];
        if next == END || !self.ports[next as usize].cuts_through {
            return;
        }
        let departure = self.common.calendar.time_of(self.common.slots.departure(stepped.first + transmitter));
        match self.ports[port as usize].send_head(transmitter, now, departure, &self.common.window) {
            Some((packet, Ok(()))) => self.join(next, Feeder::Port(port), packet),
            Some((packet, Err(reason))) => self.discard(port, packet, departure, reason),
            None => {}
        }
    }

    fn unit_bytes(&self, packet: &Packet) -> u32 {
        self.facts[self.paths[packet.flow as usize].wire.group as usize].unit_bytes::<true>(packet)
    }

    fn schedule_departure(&mut self, now: Time, port: u32, transmitter: u32, service: Span) {
        if let Some(stepped) = &self.ports[port as usize].stepped {
            self.common.calendar.schedule(self.common.slots.departure(stepped.first + transmitter), now + service);
        }
    }

    /// A transmitter of a stepped port has finished.
    pub(crate) fn on_departure(&mut self, now: Time, transmitter: u32) {
        let port = self.transmitters[transmitter as usize];
        let Some(stepped) = &mut self.ports[port as usize].stepped else { return };
        let transmitter = transmitter - stepped.first;
        let Some(sent) = stepped.transmitters[transmitter as usize].take() else { return };
        let bytes = self.unit_bytes(&sent.packet);
        let gone = self.ports[port as usize].finish(sent, now, bytes, &self.common.window);
        let left_queue = self.serve_next(now, port, transmitter);
        self.ports[port as usize].trace_departure(now, left_queue);
        match gone {
            Some((packet, Err(reason))) => self.discard(port, packet, now, reason),
            Some((packet, Ok(()))) => self.walk(Some(Feeder::Port(port)), packet),
            None => {}
        }
        self.send_head(now, port, transmitter);
    }

    /// Put the next packet that the policy lets go on this transmitter. True if something left the queue.
    fn serve_next(&mut self, now: Time, port: u32, transmitter: u32) -> bool {
        let mut left_queue = false;
        while let Some(stepped) = &mut self.ports[port as usize].stepped
            && let Some(mut waiting) = self.common.pool.pop(&mut stepped.queue)
        {
            left_queue = true;
            let bytes = self.unit_bytes(&waiting);
            let state = &mut self.ports[port as usize];
            state.leave_queue(waiting.flow, bytes);
            match state.let_go(&mut waiting, now, bytes, &self.common.window, &mut self.common.prices) {
                Err(reason) => self.discard(port, waiting, now, reason),
                Ok(()) => {
                    let service = state.begin_service(transmitter, &waiting, now, bytes, &self.common.window);
                    self.schedule_departure(now, port, transmitter, service);
                    break;
                }
            }
        }
        left_queue
    }

    /// The policy of a port wants to be heard, and again after its period.
    pub(crate) fn on_period(&mut self, now: Time, place: u32) {
        self.ports[self.periodic[place as usize] as usize].on_period();
        self.schedule_period(now, place);
    }

    pub(crate) fn schedule_period(&mut self, now: Time, place: u32) {
        if let Some(period) = self.ports[self.periodic[place as usize] as usize].period() {
            self.common.calendar.schedule(self.common.slots.period(place), now + period);
        }
    }

    #[cold]
    #[inline(never)]
    fn discard(&mut self, port: u32, mut packet: Packet, time: Time, reason: Reason) {
        let counts = &mut self.paths[packet.flow as usize].counts;
        if let Some(channel) = self.common.channels.get_mut(packet.flow as usize).filter(|_| packet.is_cell()) {
            let side = if packet.is_ack() { &mut channel.acks } else { &mut channel.data };
            side.discarded_in_all += 1;
        }
        if packet.is_ack() {
            counts.acks_discarded_in_all += u32::from(!packet.is_cell());
            // The last cell owns what the acknowledgement has beside the packet.
            if packet.has_report() && packet.is_last() {
                self.common.reports.release(packet.ack_word());
            }
        } else {
            if packet.has_price() {
                packet.take_price(&mut self.common.prices);
            }
            counts.discarded_in_all += u32::from(!packet.is_cell());
            counts.discarded += u32::from(packet.is_last() && self.common.window.measures(time));
        }
        if let Some(recorder) = &mut self.common.recorder {
            recorder.on_discard(port, &packet, time, reason);
        }
    }
}

impl Path {
    /// A packet is past its last port. True if it is a data packet that causes an acknowledgement at once, which it then becomes.
    #[inline(always)]
    fn leave_network<const CELLS: bool>(
        &mut self,
        packet: &mut Packet,
        facts: &Facts,
        common: &mut Common,
        rerouted: bool,
    ) -> bool {
        let flow = packet.flow;
        if packet.is_ack() {
            packet.time = self.wire.sender_down(packet.time, facts.ack_unit, &mut common.rates);
            if CELLS && packet.is_cell() {
                if common.channels[flow as usize].acks.collect(packet, facts.ack_cells) != Collected::Whole {
                    if packet.has_report() && packet.is_last() {
                        common.reports.release(packet.ack_word());
                    }
                    return false;
                }
                packet.time += facts.reassembly();
            }
            if self.home.is_empty() {
                common.calendar.schedule(common.slots.flow(FlowKind::Home, flow), packet.time);
            }
            common.pool.push(&mut self.home, *packet);
            return false;
        }
        packet.time = self.wire.receiver_down(packet.time, facts.unit_bytes::<CELLS>(packet), &mut common.rates);
        if CELLS && packet.is_cell() {
            let (cells, channel) = (facts.cells(packet), &mut common.channels[flow as usize]);
            let collected = channel.data.collect(packet, cells);
            if packet.is_last() && common.window.measures(packet.time) {
                channel.count(collected, cells);
                self.counts.discarded += u32::from(collected != Collected::Whole);
            }
            if collected != Collected::Whole {
                return false;
            }
            packet.time += facts.reassembly();
        }
        if facts.delivers_as_event || rerouted {
            if self.deliver.is_empty() {
                common.calendar.schedule(common.slots.flow(FlowKind::Deliver, flow), packet.time);
            }
            common.pool.push(&mut self.deliver, *packet);
            return false;
        }
        if facts.plain { self.receive_as::<true>(packet, facts, common) } else { self.receive(packet, facts, common) }
    }

    /// A data packet is at its receiver, at `packet.time`. True if it causes an acknowledgement at once, which it then becomes.
    #[inline(never)]
    fn receive(&mut self, packet: &mut Packet, facts: &Facts, common: &mut Common) -> bool {
        self.receive_as::<false>(packet, facts, common)
    }

    /// `PLAIN`: as [`Facts::plain`] says, so that what a flow rarely has costs nothing.
    #[inline(always)]
    fn receive_as<const PLAIN: bool>(&mut self, packet: &mut Packet, facts: &Facts, common: &mut Common) -> bool {
        let flow = packet.flow;
        let time = packet.time;
        let measured = common.window.measures(time);
        self.counts.received_in_all += 1;
        if !PLAIN
            && measured
            && let Some(delays) = common.delays.get_mut(self.wire.group as usize)
        {
            delays.add(time.since(packet.sent));
        }
        if !PLAIN && let Some(place) = facts.place_among_signalled(flow) {
            let signal = &mut common.at_receivers[place];
            signal.marks += u32::from(packet.is_marked());
            if packet.has_price() {
                signal.price = packet.take_price(&mut common.prices);
            }
        }
        if !PLAIN && facts.ecn {
            self.receiver.on_ecn(packet.is_marked(), packet.tells_of_reduction());
            self.marked += u32::from(measured && packet.is_marked());
        }
        let is_tcp = PLAIN || facts.is_tcp;
        let (is_new, reply) = if is_tcp {
            let delayed_ack = if PLAIN { None } else { facts.delayed_ack };
            let outcome = self.receiver.on_segment(packet.segment, packet.sent, delayed_ack, &mut common.out_of_order);
            (outcome.is_new, Some(outcome.reply))
        } else {
            (true, None)
        };
        if is_new {
            let payload = packet.bytes() - facts.header;
            self.counts.delivered += u32::from(measured);
            self.counts.delivered_bytes += if measured { u64::from(payload) } else { 0 };
            if self.receiver.expected >= self.complete_at && is_tcp {
                self.counts.completed = time;
            }
            if !PLAIN && let Some(recorder) = &mut common.recorder {
                recorder.on_delivered(flow, time, payload, common.window.end);
            }
        } else {
            self.counts.duplicates += u32::from(measured);
        }
        match reply {
            Some(Reply::Now) => {
                if !PLAIN && facts.delayed_ack.is_some() {
                    common.calendar.cancel(common.slots.flow(FlowKind::DelayedAck, flow));
                }
                self.acknowledge::<PLAIN>(packet, facts, common);
                true
            }
            Some(Reply::Delayed { first }) => {
                if let (true, Some(rule)) = (first, facts.delayed_ack) {
                    common.calendar.schedule(common.slots.flow(FlowKind::DelayedAck, flow), time + rule.timeout);
                }
                false
            }
            None => {
                if facts.is_external {
                    common.outputs.push(Delivery { flow, datagram: packet.segment, time });
                }
                false
            }
        }
    }

    /// A data packet becomes the acknowledgement that the receiver sends because of it, as it reaches the first port of its way; if it
    /// travels in cells, as it leaves the receiver.
    #[inline(always)]
    fn acknowledge<const PLAIN: bool>(&mut self, packet: &mut Packet, facts: &Facts, common: &mut Common) {
        let mut time = packet.time;
        if !PLAIN && let Some(hosts) = common.hosts.get_mut(packet.flow as usize) {
            time = hosts.receive(time, &facts.group);
        }
        if !PLAIN
            && facts.delayed_ack.is_some()
            && let Some(echo) = self.receiver.acknowledged()
        {
            packet.sent = echo;
        }
        let received = if facts.sack_blocks == 0 { None } else { self.receiver.blocks(facts.sack_blocks, &common.out_of_order) };
        let mut report = received.map(|received| Report { received, ..Report::default() });
        let place = if PLAIN { None } else { facts.place_among_signalled(packet.flow) };
        if let Some(place) = place {
            let received = Received { ack: self.receiver.expected, ..Received::default() };
            report.get_or_insert(Report { received, ..Report::default() }).signal = common.at_receivers[place];
        }
        let word = match report {
            Some(report) => common.reports.put(report),
            None => self.receiver.expected,
        };
        self.counts.acks_sent_in_all += 1;
        packet.become_ack(time, word, report.is_some(), self.wire.backward);
        if place.is_some() {
            packet.set_signals();
        }
        if !PLAIN && facts.ecn && self.receiver.take_echo() {
            packet.mark();
        }
        if !PLAIN && facts.framing.is_some() {
            packet.become_cell(true);
        } else {
            packet.time = self.wire.receiver_up(time, facts.ack_unit, &mut common.rates);
        }
    }
}

impl Common {
    /// Take the head of a line, and let the next packet's turn be an event.
    #[inline(always)]
    fn take_head(&mut self, line: &mut Line, slot: Slot) -> Option<Packet> {
        let head = self.pool.pop(line);
        if let Some(next) = self.pool.front(line) {
            self.calendar.schedule(slot, next.time);
        }
        head
    }

    #[inline(always)]
    fn enqueue(&mut self, feeder: Feeder, packet: Packet, path: &mut Path, ports: &mut [Port]) {
        let (line, slot) = match feeder {
            Feeder::Send => (&mut path.send, self.slots.flow(FlowKind::Send, packet.flow)),
            Feeder::Back => (&mut path.back, self.slots.flow(FlowKind::Back, packet.flow)),
            Feeder::Port(port) => (&mut ports[port as usize].line, self.slots.port(port)),
        };
        debug_assert!(self.pool.back(line).is_none_or(|last| last.time <= packet.time));
        if line.is_empty() {
            self.calendar.schedule(slot, packet.time);
        }
        self.pool.push(line, packet);
    }
}
