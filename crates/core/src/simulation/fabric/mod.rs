//! The network between the senders' transports: private links, ports, receivers and the reverse path.
//!
//! A packet advances as far as can be computed without other events: over its private links, through ports that only one line feeds, into
//! the receiver, and back as an acknowledgement. It stops, and becomes an event, where several lines merge and at its sender. A packet of a
//! dumbbell thus costs two events (bottleneck and sender; where possible, lookahead orders the reverse path, see `AckMerge`), and one of a
//! single flow costs one event. With `stepped`, every hop is an event; tests check that both modes give identical bytes.

mod cells;
mod change;
mod end_of_route;
mod ownership;
mod prefetching;
mod reading;
mod relocation;
mod stepped_ports;

pub(crate) use self::relocation::BulkState;

use super::access_queue::AccessQueues;
use super::acks::Acks;
use super::agenda::Agenda;
use super::cells::Cells;
use super::clock::Clock;
use super::datagrams::{DatagramOutcome, Fate};
use super::domain_boundary::{Arrival, Arrivals, DomainBoundary, PacketBatch};
use super::event_order::{EntityCounts, Event, EventOrder};
use super::group_profile::{GroupProfile, RunMode, SignalGroup};
use super::hosts::Hosts;
use super::messages::Messages;
use super::outcomes::Outcomes;
use super::packets::Packets;
use super::path::{Feeder, Path};
use super::port::{Entry, Passage, Port, QueuedUnit};
use super::receivers::Receivers;
use super::routes::{Route, RouteEntry};
use super::specialised::{Carriage, PacketsAndCells, PlainPackets, WholePackets};
use super::user_code_factory::UserCodeFactory;
use super::wire::{AccessRates, Direction};
use super::wiring::{flows_of, make_paths, make_ports, reach};
use crate::network::{CELL_BYTES, Change, ChangeKind, Network};
use crate::primitives::ids::{FlowId, GroupId, PortId};
use crate::primitives::packet::{Ecn, OutgoingPacket, Packet};
use crate::primitives::pooled_queue::Pool;
use crate::primitives::prefetch::CAN_PREFETCH;
use crate::primitives::signal::PriceHeader;
use crate::primitives::units::{Bytes, Time, TimeDelta, Units};
use crate::queue::DropReason;
use crate::record::recorder::Recorder;
use crate::tcp::observed::{Observed, Traced};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;

/// Approximate size in bytes of the caches of one core.
const NEAR: usize = 1 << 20;

/// The owners of the state between the senders' transports. The private fields are those of the walk.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Fabric {
    pub(super) clock: Clock,
    pub(super) agenda: Agenda,
    pub(super) packets: Packets,
    pub(super) acks: Acks,
    pub(super) receivers: Receivers,
    pub(super) messages: Messages,
    /// Present if packets travel in cells.
    pub(super) cells: Option<Box<Cells>>,
    pub(super) outcomes: Outcomes,
    /// Present if the run is parallel.
    #[serde(skip)]
    pub(super) boundary: Option<Box<DomainBoundary>>,
    /// Rates of the private links.
    pub(super) rates: AccessRates,
    /// By flow; empty if hosts take no time.
    hosts: Vec<Hosts>,
    /// By flow; empty if none can be full.
    access_queues: Vec<AccessQueues>,
    /// The ports of all routes, concatenated, each with its end.
    routes: Vec<RouteEntry>,
    ports: Vec<Port>,
    /// Packets in the buffers of ports that compute departures ahead.
    waiting: Pool<QueuedUnit>,
    /// Port of each transmitter of the stepped ports.
    transmitters: Vec<PortId>,
    /// Ports whose departures are deferred.
    deferred: Vec<PortId>,
    /// There are external flows.
    has_real_packets: bool,
    /// Queues whose policy has a period, and ports whose scheduler has one.
    periodic: Vec<Periodic>,
    paths: Vec<Path>,
    /// Properties of each flow group.
    profiles: Vec<GroupProfile>,
    /// All groups are plain.
    is_plain: bool,
    /// Size of an acknowledgement as the ports see it, if it is the same for all groups.
    ack_unit: Option<Bytes>,
    /// Flows whose route changes. Their packets may arrive out of order, so nothing after the last port is computed ahead.
    rerouted: BTreeSet<FlowId>,
    /// The state of ports and flows exceeds the nearer caches, so that prefetching is worthwhile.
    is_large: bool,
}

/// A policy or scheduler with a periodic update.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Periodic {
    port: PortId,
    target: PeriodicTarget,
    period: TimeDelta,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum PeriodicTarget {
    /// The policy of this queue.
    Policy(u32),
    Scheduler,
}

impl Fabric {
    /// `readers`: number of flows whose controllers request signals. `signalled`: the groups of those flows.
    pub(crate) fn new(network: &Network, readers: usize, signalled: &[Option<SignalGroup>], factory: &UserCodeFactory) -> Fabric {
        let reroutes = |change: &Change| if let ChangeKind::Route(flow, ..) = change.what { Some(flow) } else { None };
        let rerouted: BTreeSet<FlowId> = network.changes.iter().filter_map(reroutes).collect();
        let (ports, transmitters) = make_ports(network, &rerouted, factory);
        let is_deferred = |port: &PortId| !ports[*port].departs_by_event();
        let deferred = transmitters.iter().copied().filter(is_deferred).collect();
        let periods = |(port, of): (PortId, &Port)| {
            let of_queues = (0..).zip(of.equipment.periods()).map(|(queue, period)| (PeriodicTarget::Policy(queue), period));
            let of_scheduler = of.stepped().and_then(|stepped| stepped.period_of_scheduler());
            let all = of_queues.chain([(PeriodicTarget::Scheduler, of_scheduler)]);
            all.filter_map(|(target, period)| Some(Periodic { port, target, period: period? })).collect::<Vec<_>>()
        };
        let periodic: Vec<Periodic> = PortId::enumerate(&ports).flat_map(periods).collect();
        let order = EventOrder::new(&EntityCounts {
            transmitters: transmitters.len() as u32,
            periodic: periodic.len() as u32,
            flows: network.flows.len() as u32,
            ports: ports.len() as u32,
            edges: if network.has_edges() { network.flows.len() as u32 } else { 0 },
        });
        let reach = reach(network);
        let (receivers, outcomes) = (Receivers::new(network, readers), Outcomes::new(network));
        let in_time_order = network.stepped || network.user_code().next().is_some();
        let observed = !receivers.delays().is_empty() || network.groups.iter().any(|group| group.receive_processing.is_some());
        let run = |group: GroupId| {
            let flows = flows_of(network, group);
            let traced = |what: fn(&Recorder, &Range<FlowId>) -> bool| outcomes.recorder().is_some_and(|all| what(all, &flows));
            RunMode {
                stepped: network.stepped,
                observed: observed || traced(Recorder::follows_receivers),
                // A sender that acts ahead of a route change would send on the old route.
                in_time_order: in_time_order || traced(Recorder::wants_order) || rerouted.range(flows.clone()).next().is_some(),
                handshake: network.longest_handshake_rtt(group, flows),
            }
        };
        let groups = GroupId::enumerate(&network.groups).zip(signalled);
        let profiles: Vec<GroupProfile> =
            groups.map(|((index, group), &signalled)| GroupProfile::of(group, signalled, run(index))).collect();
        let entry_of = |&port: &PortId| match ports[port].entry {
            Entry::ByEvent => RouteEntry::by_event(port),
            _ => RouteEntry::immediate(port),
        };
        let (messages, rates) = (Messages::new(network), AccessRates::of(&network.flows));
        let mut fabric = Fabric {
            clock: Clock::new(network, reach),
            agenda: Agenda::new(order, 2 * (network.flows.len() + network.ports.len()), reach),
            packets: Packets::default(),
            acks: Acks::default(),
            receivers,
            cells: Cells::new(network),
            outcomes,
            boundary: None,
            hosts: Hosts::of(network),
            access_queues: AccessQueues::of(network),
            routes: network.paths.iter().flat_map(|path| path.iter().map(&entry_of).chain([RouteEntry::END])).collect(),
            ports,
            waiting: Pool::default(),
            transmitters,
            deferred,
            has_real_packets: profiles.iter().any(|profile| profile.is_external),
            periodic,
            paths: make_paths(network, &rates, &messages),
            is_plain: profiles.iter().all(|profile| profile.plain),
            ack_unit: the_same(profiles.iter().map(|profile| profile.ack_unit)),
            profiles,
            rerouted,
            is_large: CAN_PREFETCH && network.ports.len() * size_of::<Port>() + network.flows.len() * 512 > NEAR,
            messages,
            rates,
        };
        fabric.schedule_periods();
        fabric
    }

    #[inline(always)]
    fn enqueue(&mut self, feeder: Feeder, packet: Packet) {
        let line = match feeder {
            Feeder::Send => &mut self.paths[packet.flow].send,
            Feeder::Back => &mut self.paths[packet.flow].back,
            Feeder::Port(port) => &mut self.ports[port].line,
        };
        self.packets.enqueue(line, packet, feeder.event(packet.flow), &mut self.agenda);
    }

    /// Whether only new packets can cause an action.
    pub(crate) fn is_idle(&self) -> bool {
        let Fabric { deferred, agenda, acks, boundary, .. } = self;
        let has_events = !agenda.is_empty() || boundary.is_some();
        !has_events && deferred.is_empty() && acks.is_empty()
    }

    /// Whether any trace or listed drop depends on the transmission number of a segment.
    pub(crate) fn distinguishes_transmissions(&self) -> bool {
        let traced = self.outcomes.recorder().is_some_and(|recorder| recorder.distinguishes_transmissions());
        traced || self.ports.iter().any(|port| port.equipment.has_listed_drops())
    }

    /// Whether a flow's sender is traced.
    #[inline]
    pub(crate) fn is_traced(&self, flow: FlowId) -> bool {
        self.outcomes.recorder().is_some_and(|recorder| recorder.follows_sender(flow))
    }

    /// Index of a flow among the flows whose controllers request signals.
    #[inline]
    pub(crate) fn signalled(&self, flow: FlowId) -> Option<usize> {
        self.profiles[self.paths[flow].wire.group].place_among_signalled(flow)
    }

    /// A sender hands down a data packet, now or ahead of time.
    #[inline(always)]
    pub(crate) fn send<O: Observed>(&mut self, now: Time, packet: &OutgoingPacket, ecn: Ecn) {
        self.send_as::<O>(now, packet, ecn, None);
    }

    /// Like `send`, for a packet with room for a price, which queues update. Packets in cells carry no price.
    #[inline(never)]
    pub(crate) fn send_priced(&mut self, now: Time, packet: &OutgoingPacket, ecn: Ecn, header: PriceHeader) {
        self.send_as::<Traced>(now, packet, ecn, Some(header));
    }

    #[inline(always)]
    fn send_as<O: Observed>(&mut self, now: Time, packet: &OutgoingPacket, ecn: Ecn, header: Option<PriceHeader>) {
        let flow = packet.flow;
        if O::TRACED
            && let Some(recorder) = self.outcomes.recorder_mut()
        {
            let is_capable = self.profiles[self.paths[flow].wire.group].framing.is_none();
            // Cells do not carry the marks of packets.
            recorder.on_send(now, packet, if is_capable { ecn } else { Ecn::NOT_ECT });
        }
        let path = &mut self.paths[flow];
        let mut time = now;
        if let Some(hosts) = self.hosts.get_mut(flow.index()) {
            time = hosts.send(time, packet.bytes, &self.profiles[path.wire.group].group);
        }
        let mut packet = Packet::data(time, now, packet, path.wire.forward);
        if let Some(queues) = self.access_queues.get_mut(flow.index()) {
            let profile = &self.profiles[path.wire.group];
            let bytes = if profile.framing.is_some() { Bytes(CELL_BYTES.0 * profile.cells(&packet).0) } else { packet.bytes() };
            if !profile.has_edge && !queues.send.arrive(time, bytes) {
                return self.discard_at_access(packet);
            }
        }
        if self.cells.is_some() {
            let profile = &self.profiles[path.wire.group];
            if profile.framing.is_some() {
                return if profile.has_edge { self.send_to_edge(packet) } else { self.walk_in_cells(Direction::Forward, packet) };
            }
        }
        packet.set_ecn(ecn);
        if let Some(header) = header {
            self.packets.reserve_price(&mut packet, header);
        }
        packet.time = path.wire.sender_up(time, packet.bytes(), &mut self.rates);
        let entry = self.routes[packet.place()];
        if entry.needs_event() && entry.local_port().is_some() {
            return self.enqueue(Feeder::Send, packet);
        }
        self.walk(Some(Feeder::Send), packet);
    }

    /// The head of a flow's access line reaches the first port.
    #[inline]
    pub(crate) fn on_send(&mut self, flow: FlowId) {
        let sends_cells = self.cells.is_some() && self.sends_cells(flow);
        let packet = if sends_cells {
            self.next_cell(flow, Direction::Forward)
        } else {
            self.packets.take_head(&mut self.paths[flow].send, Event::Send(flow), &mut self.agenda)
        };
        let Some(packet) = packet else { unreachable!("no packet of flow {flow} is on its way to the first port") };
        self.walk(None, packet);
    }

    /// Whether the sender of a flow cuts its packets into cells, without an edge.
    #[inline(never)]
    fn sends_cells(&self, flow: FlowId) -> bool {
        let profile = &self.profiles[self.paths[flow].wire.group];
        profile.framing.is_some() && !profile.has_edge
    }

    /// Like `on_send`, for the reverse path.
    #[inline]
    pub(crate) fn on_back(&mut self, flow: FlowId) {
        let path = &mut self.paths[flow];
        let packet = if self.profiles[path.wire.group].framing.is_some() {
            self.next_cell(flow, Direction::Reverse)
        } else {
            self.packets.take_head(&mut path.back, Event::Back(flow), &mut self.agenda)
        };
        let Some(packet) = packet else { unreachable!("no packet of flow {flow} is on its way to the first port") };
        self.walk(None, packet);
    }

    /// The head of a port's delay line reaches the next port, or the end of its route.
    #[inline]
    pub(crate) fn on_port(&mut self, port: PortId) {
        if let Some(packet) = self.packets.take_head(&mut self.ports[port].line, Event::Port(port), &mut self.agenda) {
            self.walk(None, packet);
        } else {
            self.on_overtaking(port);
        }
    }

    /// Cells of a full data packet of the flow; 0 if its packets are not segmented.
    pub(crate) fn frame_cells(&self, flow: FlowId) -> Units {
        self.profiles[self.paths[flow].wire.group].full_cells
    }

    /// An acknowledgement starts from the first port of its path, or, if it travels in cells, from the receiver.
    #[inline]
    fn walk_back(&mut self, packet: Packet) {
        if packet.is_cell() { self.walk_in_cells(Direction::Reverse, packet) } else { self.walk(Some(Feeder::Back), packet) }
    }

    /// Take the acknowledgement that has reached its sender.
    #[inline]
    pub(crate) fn pop_ack(&mut self, flow: FlowId) -> Option<Packet> {
        let path = &mut self.paths[flow];
        path.carried.acks_received_in_all += 1;
        self.packets.pop(&mut path.ack_line)
    }

    /// Count an acknowledgement that reaches its sender without queueing.
    #[inline]
    pub(crate) fn count_ack(&mut self, flow: FlowId) {
        self.paths[flow].carried.acks_received_in_all += 1;
    }

    /// Queue an acknowledgement at its sender. Returns true if it is the first one there.
    #[inline]
    pub(crate) fn push_ack(&mut self, ack: Packet) -> bool {
        let ack_line = &mut self.paths[ack.flow].ack_line;
        let is_first = ack_line.is_empty();
        self.packets.push(ack_line, ack);
        is_first
    }

    /// Queue all acknowledgements that are known to arrive at their senders.
    pub(crate) fn store_pending_acks(&mut self) {
        while let Some(ack) = self.acks.pop() {
            if self.push_ack(ack) {
                self.acks.expect(ack.flow);
            }
        }
    }

    /// Schedule the arrival of the next acknowledgement at its sender.
    #[inline]
    pub(crate) fn schedule_ack(&mut self, flow: FlowId, next: Time) {
        self.agenda.at(Event::AckArrival(flow), next);
    }

    /// Arrival time of the next queued acknowledgement at its sender, if any.
    #[inline]
    pub(crate) fn next_ack_time(&self, flow: FlowId) -> Option<Time> {
        self.packets.front(&self.paths[flow].ack_line).map(|next| next.time)
    }

    /// Receive packets from another domain. Packets that need not wait for their turn continue.
    pub(crate) fn receive_batch(&mut self, batch: &mut PacketBatch, arrivals: &mut Arrivals) {
        batch.first = Time::NEVER;
        let (mut reports, mut prices) = (batch.reports.drain(..), batch.prices.drain(..));
        for index in 0..batch.packets.len() {
            if let Some((_, packet)) = batch.packets.get(index + 4).filter(|_| self.is_large) {
                self.prefetch_next_place(packet);
            }
            let (feeder, mut packet) = batch.packets[index];
            debug_assert!(self.can_arrive_early(&packet));
            if packet.is_ack() && packet.has_report() && packet.is_last() {
                reports.next().into_iter().for_each(|report| self.packets.store_report(&mut packet, report));
            } else if packet.has_price() {
                prices.next().into_iter().for_each(|price| self.packets.store_price(&mut packet, price));
            }
            let next = self.routes[packet.place()];
            let is_overtaking = matches!(feeder, Feeder::Port(port) if self.ports[port].reordered_packets().is_some());
            if is_overtaking || (next.local_port().is_some() && next.needs_event()) {
                arrivals.push(Arrival { slot: self.agenda.slot(feeder.event(packet.flow)), packet });
            } else {
                self.walk(Some(feeder), packet);
            }
        }
        batch.packets.clear();
        self.outcomes.add_fates(&mut batch.fates);
    }

    fn can_arrive_early(&self, packet: &Packet) -> bool {
        let delay = self.paths[packet.flow].wire.delay_behind(self.routes[packet.place()], packet);
        packet.time + delay >= self.clock.now()
    }

    /// The turn of a packet from another domain has come.
    #[inline]
    pub(crate) fn on_arrival(&mut self, packet: Packet) {
        self.walk(None, packet);
    }

    /// Put a packet from another domain in the line that it was in.
    pub(crate) fn put_in_line(&mut self, arrival: Arrival) {
        let feeder = match self.agenda.event(arrival.slot) {
            Event::Port(port) if self.ports[port].reordered_packets().is_some() => {
                return self.overtake(port, arrival.packet);
            }
            Event::Port(port) => Feeder::Port(port),
            Event::Back(_) => Feeder::Back,
            _ => Feeder::Send,
        };
        self.walk(Some(feeder), arrival.packet);
    }

    /// Advance the packet from `feeder` as far as it can go without waiting. Without a feeder, the packet's turn has come at its current
    /// place.
    #[inline(always)]
    fn walk(&mut self, feeder: Option<Feeder>, packet: Packet) {
        if self.is_plain {
            self.walk_as::<PlainPackets>(feeder, packet);
        } else if self.cells.is_none() {
            self.walk_as::<WholePackets>(feeder, packet);
        } else {
            self.walk_as::<PacketsAndCells>(feeder, packet);
        }
    }

    #[inline(never)]
    fn walk_as<C: Carriage>(&mut self, mut feeder: Option<Feeder>, mut packet: Packet) {
        let flow = packet.flow;
        let route = self.route_of(flow);
        // Departure from the last port's delay line, if known.
        let mut left_at = if let Some(Feeder::Port(_)) = feeder { packet.time } else { Time::ZERO };
        let mut bytes = match self.ack_unit {
            Some(ack_unit) if packet.is_ack() => ack_unit,
            Some(_) if !(C::CELLS && packet.is_cell()) => packet.bytes(),
            _ => self.profiles[self.paths[flow].wire.group].unit_bytes::<C>(&packet),
        };
        loop {
            let Fabric { routes, ports, paths, clock, packets, waiting, boundary, .. } = self;
            let entry = routes[packet.place()];
            let Some(next) = entry.local_port() else {
                if entry != RouteEntry::END
                    && let Some(feeder) = feeder
                    && let Some(boundary) = boundary
                    && boundary.send(entry, feeder, packet, paths, packets)
                {
                    return;
                }
                if let (Some(feeder), Route::Changing) = (feeder, route) {
                    return self.enqueue(feeder, packet);
                }
                let Some(ack_unit) = self.leave_network::<C>(&mut packet, route) else { return };
                if C::CELLS && packet.is_cell() {
                    return self.walk_in_cells(Direction::Reverse, packet);
                }
                feeder = Some(Feeder::Back);
                bytes = ack_unit;
                continue;
            };
            if let Some(feeder) = feeder
                && entry.needs_event()
            {
                return self.enqueue(feeder, packet);
            }
            let port = &mut ports[next];
            if let Some(feeder) = feeder
                && !matches!(port.entry, Entry::Immediate)
            {
                match (&mut port.entry, feeder) {
                    (Entry::Heads { .. }, _) => return self.arrive_as_head(next, feeder, packet, bytes),
                    (Entry::Gathered(gather), Feeder::Back) => {
                        let known = left_at + gather.ahead;
                        if packet.time >= known || !gather.is_empty() {
                            gather.insert(packet);
                            return self.take_gathered(next, known);
                        }
                    }
                    _ => return self.enqueue(feeder, packet),
                }
            }
            let passage = Passage { packet: &mut packet, bytes, interval: clock.interval(), packets };
            match port.pass(passage, waiting) {
                Some(Ok(())) => {}
                Some(Err(reason)) => return self.discard(next, packet, packet.time, reason),
                None => return self.arrive_stepped(next, packet, bytes),
            }
            left_at = packet.time;
            feeder = Some(Feeder::Port(next));
        }
    }

    /// At a cut-through port, a packet whose last bit would arrive at `packet.time` arrives with its head.
    #[inline(never)]
    fn arrive_as_head(&mut self, port: PortId, feeder: Feeder, mut packet: Packet, bytes: Bytes) {
        let wire = &self.paths[packet.flow].wire;
        let service = match feeder {
            Feeder::Send => wire.service(Direction::Forward, bytes, &mut self.rates),
            Feeder::Back => wire.service(Direction::Reverse, bytes, &mut self.rates),
            Feeder::Port(from) => self.ports[from].equipment.service(bytes),
        };
        packet.time = packet.time.before(service);
        self.join(port, feeder, packet);
    }

    /// A packet whose head reaches this port at `packet.time` is queued for its turn, or processed at once if the port needs no event.
    fn join(&mut self, port: PortId, feeder: Feeder, packet: Packet) {
        if self.ports[port].entry.needs_event() {
            return self.enqueue(feeder, packet);
        }
        self.walk(None, packet);
    }

    /// The first gathered acknowledgement of a port has arrived, unless it was already taken.
    pub(crate) fn on_gathered(&mut self, now: Time, port: PortId) {
        self.take_gathered(port, Time(now.0 + 1));
    }

    /// Advance the acknowledgements gathered at a port that arrive before `known`. The first of the others gets an event, in case no later
    /// packet extends the lookahead.
    fn take_gathered(&mut self, port: PortId, known: Time) {
        while let Some(ack) = self.ports[port].expect_ack_merge().take_before(known) {
            self.walk(None, ack);
        }
        let Some(first) = self.ports[port].expect_ack_merge().first() else { return };
        self.agenda.at_latest(Event::Gathered(port), first);
    }

    #[cold]
    #[inline(never)]
    fn discard(&mut self, port: PortId, mut packet: Packet, time: Time, reason: DropReason) {
        let Fabric { ports, paths, profiles, clock, packets, cells, outcomes, .. } = self;
        packets.release(&mut packet);
        if let Some(cells) = cells.as_mut().filter(|_| packet.is_cell()) {
            cells.count_discarded(&packet);
        }
        let path = &mut paths[packet.flow];
        let counts = &mut path.counts;
        if packet.is_ack() {
            counts.acks_discarded_in_all += u32::from(!packet.is_cell());
            if !packet.is_rm() {
                ports[port].equipment.count_dropped_ack(time, clock.interval());
            }
        } else {
            counts.discarded_in_all += u32::from(!packet.is_cell());
            counts.discarded += u32::from(packet.is_last() && !packet.is_rm() && clock.measures_all([packet.sent, time]));
            if profiles[path.wire.group].is_external && !packet.is_cell() {
                let outcome = DatagramOutcome::Discarded { port, reason };
                outcomes.add_fate(Fate { time, flow: packet.flow, datagram: packet.segment().0, outcome });
            }
        }
        outcomes.on_discard(port, &packet, time, reason, clock);
    }
}

/// The common value, if all values are equal.
fn the_same(mut all: impl Iterator<Item = Bytes>) -> Option<Bytes> {
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}
