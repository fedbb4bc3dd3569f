//! Rebuilding of lines, pools and the calendar, for one domain or for the merged engine.

use crate::primitives::ids::{FlowId, PortId};
use crate::primitives::packet::Packet;
use crate::primitives::pooled_queue::{Pool, PooledQueue};
use crate::primitives::units::Time;
use crate::simulation::acks::Acks;
use crate::simulation::agenda::Agenda;
use crate::simulation::domain_boundary::{Domain, Owners};
use crate::simulation::endpoints::{End, Endpoints};
use crate::simulation::event_order::Event;
use crate::simulation::fabric::Fabric;
use crate::simulation::packets::Packets;
use crate::simulation::path::Path;
use crate::simulation::port::{Port, ReorderedPackets, Stepped};
use crate::simulation::prefetch::UpcomingEvents;
use crate::simulation::state::Engine;

/// The state before: one engine, or several with the owners of their entities.
pub(super) struct StateSources<'a> {
    pub(super) all: Vec<StateSource<'a>>,
    pub(super) owners: Option<&'a Owners>,
}

/// A merged engine or a domain. Packets and ports are most of the state of a large run, and may be stored outside the engine, which is
/// copied.
#[derive(Clone, Copy)]
pub(super) struct StateSource<'a> {
    pub(super) engine: &'a Engine,
    pub(super) packets: &'a Packets,
    pub(super) ports: &'a [Port],
}

impl<'a> StateSource<'a> {
    /// An engine with its own packets and ports.
    pub(super) fn of(engine: &'a Engine) -> StateSource<'a> {
        StateSource { engine, packets: &engine.fabric.packets, ports: &engine.fabric.ports }
    }

    fn fabric(&self) -> &'a Fabric {
        &self.engine.fabric
    }
}

impl<'a> StateSources<'a> {
    fn at(&self, owner: Domain) -> StateSource<'a> {
        self.all[self.owners.map_or(0, |_| owner.into())]
    }

    pub(super) fn of_port(&self, port: PortId) -> StateSource<'a> {
        self.all[self.owners.map_or(0, |owners| owners.of_ports[port].into())]
    }

    pub(super) fn of_sender(&self, flow: FlowId) -> &'a Engine {
        self.all[self.owners.map_or(0, |owners| owners.of_senders[flow].into())].engine
    }

    pub(super) fn of_receiver(&self, flow: FlowId) -> &'a Engine {
        self.all[self.owners.map_or(0, |owners| owners.of_receivers[flow].into())].engine
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
        lines: impl Iterator<Item = (StateSource<'a>, &'a PooledQueue)>,
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
    fn copy_reordered(
        &mut self,
        sources: &StateSources<'_>,
        port: PortId,
        is_kept: impl Fn(&Packet) -> bool,
    ) -> ReorderedPackets {
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

/// Rebuild lines, pools and calendar with the entries whose owner is kept.
pub(super) fn copy(into: &mut Engine, sources: &StateSources<'_>, is_kept: impl Fn(Domain) -> bool, owners: &Owners) {
    copy_ends(into, sources, &is_kept, owners);
    into.upcoming = UpcomingEvents::default();
    let Fabric { paths, ports, routes, cells, waiting, .. } = &mut into.fabric;
    let keeps = |packet: &Packet| is_kept(owners.of_next_place(packet, routes[packet.place()]));
    let mut packets = Packets::default();
    for (flow, path) in paths.iter_mut().enumerate() {
        for ((of, of_mut), cut) in LINES {
            let lines = sources.all.iter().map(|from| (*from, of(&from.fabric().paths[flow])));
            *of_mut(path) = packets.copy(lines, cut, keeps);
        }
    }
    if let Some(cells) = cells {
        cells.rebuild_lines(|flow, line_of| {
            let from = sources.at(owners.of_senders[flow]);
            let edge = from.fabric().cells.as_ref().and_then(|cells| cells.edge(flow));
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
        for &unit in queued.iter().flat_map(|queued| from.fabric().waiting.iter(queued)) {
            waiting.push(&mut rebuilt, unit);
        }
        port.set_waiting(rebuilt);
        copy_in_port(port, index, from, &mut packets, keeps);
    }
    into.fabric.packets = packets;
    let known = sources.all.iter().flat_map(|from| from.fabric().acks.expected());
    into.fabric.acks = Acks::new(known.filter(|&flow| is_kept(owners.of_senders[flow])).collect());
    into.fabric.agenda = rebuilt_agenda(&into.fabric, sources, is_kept, owners);
}

/// Rebuild the packets within a port, which may be a clone of its own source.
fn copy_in_port(port: &mut Port, index: PortId, from: StateSource<'_>, packets: &mut Packets, keeps: impl Fn(&Packet) -> bool) {
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

/// Rebuild the pools of senders and receivers.
fn copy_ends(into: &mut Engine, sources: &StateSources<'_>, is_kept: impl Fn(Domain) -> bool, owners: &Owners) {
    let Engine { fabric, endpoints: Endpoints { ends, .. }, .. } = into;
    fabric.receivers.forget_out_of_order();
    for (flow, end) in FlowId::all(ends.len()).zip(ends) {
        if let End::Tcp(sender) = end
            && !is_kept(owners.of_senders[flow])
        {
            sender.recovery.forget();
        }
        let path = &mut fabric.paths[flow];
        if is_kept(owners.of_receivers[flow]) {
            fabric.receivers.move_out_of_order(path, &sources.of_receiver(flow).fabric.receivers);
        } else {
            path.receiver.forget();
        }
    }
}

/// The events of the kept entities.
fn rebuilt_agenda(fabric: &Fabric, sources: &StateSources<'_>, is_kept: impl Fn(Domain) -> bool, owners: &Owners) -> Agenda {
    let Fabric { clock, agenda, packets, routes, paths, ports, .. } = fabric;
    let pending = 2 * (paths.len() + ports.len());
    let order = *agenda.order();
    let mut agenda = Agenda::new(order, pending, clock.reach());
    let of_port = |port: PortId| (owners.of_ports[port], sources.of_port(port).engine);
    let of_sender = |flow: FlowId| (owners.of_senders[flow], sources.of_sender(flow));
    let of_receiver = |flow: FlowId| (owners.of_receivers[flow], sources.of_receiver(flow));
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
                agenda.at(event, sources.all[0].fabric().agenda.time_of(event));
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
            agenda.at(event, from.fabric.agenda.time_of(event));
        }
    }
    agenda
}
