//! Division of a fabric into domains, and merging of domains: lines, pools and the agenda are rebuilt.

use super::Fabric;
use crate::primitives::ids::{FlowId, PortId};
use crate::primitives::packet::Packet;
use crate::primitives::pooled_queue::{Pool, PooledQueue};
use crate::primitives::units::Time;
use crate::simulation::acks::Acks;
use crate::simulation::agenda::Agenda;
use crate::simulation::domain_boundary::{Domain, DomainBoundary, Owners};
use crate::simulation::event_order::Event;
use crate::simulation::packets::Packets;
use crate::simulation::path::Path;
use crate::simulation::port::{Port, ReorderedPackets, Stepped};
use crate::simulation::routes::RouteEntry;
use std::collections::BTreeMap;

/// The state before: one fabric, or several with the owners of their entities.
struct Sources<'a> {
    all: Vec<Source<'a>>,
    owners: Option<&'a Owners>,
}

/// The fabric of a whole run or of a domain.
#[derive(Clone, Copy)]
struct Source<'a> {
    fabric: &'a Fabric,
    packets: &'a Packets,
    ports: &'a [Port],
}

/// Most of the state of a large run, which a fabric may lack while it is copied.
#[derive(Debug)]
pub(crate) struct BulkState {
    packets: Packets,
    ports: Vec<Port>,
}

impl<'a> Source<'a> {
    /// A fabric with its own packets and ports.
    fn of(fabric: &'a Fabric) -> Source<'a> {
        Source { fabric, packets: &fabric.packets, ports: &fabric.ports }
    }
}

impl<'a> Sources<'a> {
    fn of_port(&self, port: PortId) -> Source<'a> {
        self.all[self.owners.map_or(0, |owners| owners.of_ports[port].into())]
    }

    fn of_sender(&self, flow: FlowId) -> Source<'a> {
        self.all[self.owners.map_or(0, |owners| owners.of_senders[flow].into())]
    }

    fn of_receiver(&self, flow: FlowId) -> Source<'a> {
        self.all[self.owners.map_or(0, |owners| owners.of_receivers[flow].into())]
    }
}

impl Fabric {
    /// Take the packets and ports, for [`Fabric::become_domain`].
    pub(crate) fn take_bulk_state(&mut self) -> BulkState {
        BulkState { packets: std::mem::take(&mut self.packets), ports: std::mem::take(&mut self.ports) }
    }

    /// Take the packets while the fabric is copied, for [`Fabric::merge`].
    pub(crate) fn take_packets(&mut self) -> Packets {
        std::mem::take(&mut self.packets)
    }

    pub(crate) fn put_packets(&mut self, packets: Packets) {
        self.packets = packets;
    }

    /// Keep the part of a domain, in a copy of `whole`.
    pub(crate) fn become_domain(&mut self, whole: &Fabric, bulk: &BulkState, boundary: DomainBoundary) {
        let (own, owners) = (boundary.own(), boundary.owners().clone());
        let of_part = |(port, owner): (&Port, &Domain)| if *owner == own { port.clone() } else { port.of_another_part() };
        self.ports = bulk.ports.iter().zip(&owners.of_ports).map(of_part).collect();
        for entry in &mut self.routes {
            *entry = match entry.port() {
                None => RouteEntry::END_ANY_DOMAIN,
                Some(port) if owners.of_ports[port] == own => *entry,
                Some(_) => entry.in_other_domain(),
            };
        }
        self.name_ends(own, &owners);
        if !boundary.is_first() {
            self.forget_counts();
        }
        self.boundary = Some(Box::new(boundary));
        let source = Source { fabric: whole, packets: &bulk.packets, ports: &bulk.ports };
        self.rebuild(&Sources { all: vec![source], owners: None }, |owner| owner == own, &owners);
    }

    /// If the ends of all flows of a route belong to one domain, its last entry names that domain, so that the flow need not be looked up.
    fn name_ends(&mut self, own: Domain, owners: &Owners) {
        let mut of_routes: BTreeMap<u32, Option<Domain>> = BTreeMap::new();
        for (flow, path) in self.paths.iter().enumerate() {
            let ends = [(path.wire.forward, owners.of_receivers[flow]), (path.wire.backward, owners.of_senders[flow])];
            for (start, owner) in ends {
                let all = of_routes.entry(start).or_insert(Some(owner));
                *all = all.filter(|&same| same == owner);
            }
        }
        for (start, owner) in of_routes {
            if let (Some(owner), Some(end)) = (owner, self.routes[start as usize..].iter_mut().find(|entry| entry.is_end())) {
                *end = if owner == own { RouteEntry::END } else { RouteEntry::end_in(owner) };
            }
        }
    }

    /// Merge all domains, in a copy of the first: the state of each entity is copied from its owner, and counters are added up.
    pub(crate) fn merge(&mut self, domains: &[&Fabric], owners: &Owners) {
        let sources = Sources { all: domains.iter().map(|domain| Source::of(domain)).collect(), owners: Some(owners) };
        for entry in &mut self.routes {
            *entry = entry.without_domains();
        }
        for (port, _) in PortId::enumerate(&owners.of_ports).filter(|of| *of.1 > 0) {
            self.ports[port].clone_from(&sources.of_port(port).ports[port]);
        }
        for flow in FlowId::all(self.paths.len()) {
            if owners.of_senders[flow] > 0 {
                self.take_sender(flow, sources.of_sender(flow).fabric);
            }
            if owners.of_receivers[flow] > 0 {
                self.take_receiver(flow, sources.of_receiver(flow).fabric);
            }
        }
        for (domain, other) in (0..).zip(domains).skip(1) {
            self.add_counts(other, |flow| owners.of_senders[flow] == domain);
        }
        self.rebuild(&sources, |_| true, owners);
        self.boundary = None;
    }
}

type LineOf = (fn(&Path) -> &PooledQueue, fn(&mut Path) -> &mut PooledQueue);

/// The lines of a path, and whether packets in cells are segmented after them.
const LINES: [(LineOf, Segmentation); 4] = [
    ((|path| &path.send, |path| &mut path.send), Segmentation::Later),
    ((|path| &path.back, |path| &mut path.back), Segmentation::Later),
    ((|path| &path.ack_line, |path| &mut path.ack_line), Segmentation::Done),
    ((|path| &path.deliver, |path| &mut path.deliver), Segmentation::Done),
];

#[derive(Clone, Copy, PartialEq)]
enum Segmentation {
    Later,
    Done,
}

impl Packets {
    /// Copy the packet's side data.
    fn carry(&mut self, packet: &mut Packet, from: &Packets, cut: Segmentation) {
        if packet.is_ack() && packet.has_report() && (packet.is_last() || cut == Segmentation::Later) {
            self.copy_report(packet, from);
        } else if packet.has_price() {
            self.copy_price(packet, from);
        }
    }

    /// Merge the kept packets of these lines into one line.
    fn copy<'a>(
        &mut self,
        lines: impl Iterator<Item = (Source<'a>, &'a PooledQueue)>,
        cut: Segmentation,
        is_kept: impl Fn(&Packet) -> bool,
    ) -> PooledQueue {
        let mut packets: Vec<(&Packets, Packet)> = Vec::new();
        for (from, line) in lines.filter(|(_, line)| !line.is_empty()) {
            packets.extend(from.packets.iter(line).filter(|packet| is_kept(packet)).map(|&packet| (from.packets, packet)));
        }
        packets.sort_by_key(|(_, packet)| packet.time);
        let mut rebuilt = PooledQueue::default();
        for (from, mut packet) in packets {
            self.carry(&mut packet, from, cut);
            self.push(&mut rebuilt, packet);
        }
        rebuilt
    }

    /// Merge the kept packets on a link on which they may overtake one another.
    fn copy_reordered(&mut self, sources: &Sources<'_>, port: PortId, is_kept: impl Fn(&Packet) -> bool) -> ReorderedPackets {
        let mut rebuilt = ReorderedPackets::default();
        for from in &sources.all {
            let under_way = from.ports[port].reordered_packets().into_iter().flat_map(ReorderedPackets::iter);
            for mut packet in under_way.filter(|packet| is_kept(packet)).copied() {
                self.carry(&mut packet, from.packets, Segmentation::Done);
                rebuilt.insert(packet);
            }
        }
        rebuilt
    }
}

impl Fabric {
    /// Rebuild lines, pools and agenda with the entries whose owner is kept.
    fn rebuild(&mut self, sources: &Sources<'_>, is_kept: impl Fn(Domain) -> bool, owners: &Owners) {
        let Fabric { paths, ports, routes, cells, waiting, receivers, .. } = self;
        receivers.forget_out_of_order();
        for (flow, path) in FlowId::all(paths.len()).zip(paths.iter_mut()) {
            if is_kept(owners.of_receivers[flow]) {
                receivers.move_out_of_order(path, &sources.of_receiver(flow).fabric.receivers);
            } else {
                path.receiver.forget();
            }
        }
        let keeps = |packet: &Packet| is_kept(owners.of_next_place(packet, routes[packet.place()]));
        let mut packets = Packets::default();
        for (flow, path) in paths.iter_mut().enumerate() {
            for ((of, of_mut), cut) in LINES {
                let lines = sources.all.iter().map(|from| (*from, of(&from.fabric.paths[flow])));
                *of_mut(path) = packets.copy(lines, cut, keeps);
            }
        }
        if let Some(cells) = cells {
            cells.rebuild_lines(|flow, line_of| {
                let from = sources.of_sender(flow);
                let edge = from.fabric.cells.as_ref().and_then(|cells| cells.edge(flow));
                let kept = edge.filter(|_| is_kept(owners.of_senders[flow]));
                packets.copy(kept.into_iter().map(|kept| (from, line_of(kept))), Segmentation::Done, |_| true)
            });
        }
        *waiting = Pool::default();
        for (index, port) in PortId::all(ports.len()).zip(ports) {
            let lines = sources.all.iter().map(|from| (*from, &from.ports[index].line));
            port.line = packets.copy(lines, Segmentation::Done, keeps);
            if let Some(reordered) = port.reordered_packets_mut() {
                *reordered = packets.copy_reordered(sources, index, keeps);
            }
            let from = sources.of_port(index);
            let queued = from.ports[index].waiting().filter(|_| is_kept(owners.of_ports[index]));
            let mut rebuilt = PooledQueue::default();
            for &unit in queued.iter().flat_map(|queued| from.fabric.waiting.iter(queued)) {
                waiting.push(&mut rebuilt, unit);
            }
            port.set_waiting(rebuilt);
            copy_in_port(port, index, from, &mut packets, keeps);
        }
        self.packets = packets;
        let known = sources.all.iter().flat_map(|from| from.fabric.acks.expected());
        self.acks = Acks::new(known.filter(|&flow| is_kept(owners.of_senders[flow])).collect());
        self.agenda = rebuilt_agenda(self, sources, is_kept, owners);
    }
}

/// Rebuild the packets within a port, which may be a clone of its own source.
fn copy_in_port(port: &mut Port, index: PortId, from: Source<'_>, packets: &mut Packets, keeps: impl Fn(&Packet) -> bool) {
    if let Some(gather) = port.ack_merge_mut() {
        gather.retain_mut(|packet| {
            let kept = keeps(packet);
            if kept {
                packets.carry(packet, from.packets, Segmentation::Done);
            }
            kept
        });
    }
    let (Some((stepped, _)), Some(of)) = (port.stepped_mut(), from.ports[index].stepped()) else { return };
    let Stepped { queues, transmitters, .. } = stepped;
    // In order of arrival, which is the order of their times.
    for (queue, of) in queues.iter_mut().zip(&of.queues) {
        queue.line = packets.copy([(from, &of.line)].into_iter(), Segmentation::Done, &keeps);
    }
    transmitters.retain(|sending| {
        let kept = keeps(&sending.packet);
        // The side data of a packet has gone ahead with its head.
        if kept && !sending.head_has_left {
            packets.carry(&mut sending.packet, from.packets, Segmentation::Done);
        }
        kept
    });
}

/// The events of the kept entities.
fn rebuilt_agenda(fabric: &Fabric, sources: &Sources<'_>, is_kept: impl Fn(Domain) -> bool, owners: &Owners) -> Agenda {
    let Fabric { clock, agenda, packets, routes, paths, ports, .. } = fabric;
    let pending = 2 * (paths.len() + ports.len());
    let order = *agenda.order();
    let mut agenda = Agenda::new(order, pending, clock.reach());
    let of_port = |port: PortId| (owners.of_ports[port], sources.of_port(port).fabric);
    let of_sender = |flow: FlowId| (owners.of_senders[flow], sources.of_sender(flow).fabric);
    let of_receiver = |flow: FlowId| (owners.of_receivers[flow], sources.of_receiver(flow).fabric);
    let of_entry = |start: u32| match routes[start as usize].port() {
        Some(first) => of_port(first),
        None => unreachable!("a route without ports"),
    };
    for event in order.events() {
        let (owner, from) = match event {
            Event::Port(port) => {
                // Its line may merge the lines of several domains.
                let port = &ports[port];
                let first = packets.front(&port.line).map(|first| first.time);
                let first = first.or_else(|| port.reordered_packets().and_then(ReorderedPackets::first));
                agenda.at(event, first.unwrap_or(Time::NEVER));
                continue;
            }
            Event::Change => {
                agenda.at(event, sources.all[0].fabric.agenda.time_of(event));
                continue;
            }
            Event::Departure(transmitter) => {
                let port = fabric.transmitters[transmitter as usize];
                let (owner, from) = of_port(port);
                if !ports[port].departs_by_event() {
                    let next = ports[port].stepped().and_then(Stepped::next_deferred).filter(|_| is_kept(owner));
                    agenda.at(event, next.unwrap_or(Time::NEVER));
                    continue;
                }
                (owner, from)
            }
            Event::Period(place) => of_port(fabric.periodic[place as usize].port),
            Event::Gathered(port) => of_port(port),
            Event::Deliver(flow) | Event::DelayedAck(flow) => of_receiver(flow),
            Event::AckArrival(flow) | Event::Timer(flow) | Event::AppWrite(flow) | Event::SendTimer(flow) => of_sender(flow),
            Event::Rm(flow) | Event::AtEdge(flow) | Event::Cell(flow) => of_sender(flow),
            Event::Send(flow) => of_entry(paths[flow].wire.forward),
            Event::Back(flow) => of_entry(paths[flow].wire.backward),
        };
        if is_kept(owner) {
            agenda.at(event, from.agenda.time_of(event));
        }
    }
    agenda
}
