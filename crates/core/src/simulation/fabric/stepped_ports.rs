//! Packets at stepped ports.

use super::{Fabric, Periodic, PeriodicTarget};
use crate::primitives::ids::PortId;
use crate::primitives::packet::Packet;
use crate::primitives::units::{Bytes, Time};
use crate::queue::DropReason;
use crate::schedule::Eviction;
use crate::simulation::datagrams::{DatagramOutcome, Fate};
use crate::simulation::event_order::Event;
use crate::simulation::path::Feeder;
use crate::simulation::port::{ArrivalOutcome, Departures, PacketInService, ReorderedPackets, ServiceTurn};
use crate::simulation::routes::RouteEntry;
use crate::simulation::specialised::PacketsAndCells;

/// A transmitter of a stepped port, by its index at the port.
#[derive(Clone, Copy)]
struct Transmitter {
    port: PortId,
    number: u32,
}

impl Fabric {
    #[inline(never)]
    pub(super) fn arrive_stepped(&mut self, port: PortId, mut packet: Packet, bytes: Bytes) {
        self.catch_up(port, packet.time);
        let Fabric { ports, clock, agenda, packets, .. } = self;
        let (stepped, equipment) = ports[port].expect_stepped();
        match stepped.arrive(equipment, &mut packet, bytes, clock.interval(), packets) {
            ArrivalOutcome::Discarded(reason) => self.discard(port, packet, packet.time, reason),
            ArrivalOutcome::Waits(queue) => {
                packets.push(&mut stepped.queues[queue].line, packet);
                let is_awaited = agenda.is_pending(Event::Departure(stepped.first));
                if stepped.may_overflow() {
                    self.make_room(port, queue, packet.time);
                }
                let (stepped, equipment) = self.ports[port].expect_stepped();
                stepped.note_arrival(equipment, packet.time, self.clock.interval());
                if !is_awaited {
                    self.await_deferred(port);
                }
            }
            ArrivalOutcome::InService(number, departure) => {
                let transmitter = Transmitter { port, number };
                self.on_service(transmitter, packet, departure);
                self.send_head(packet.time, transmitter);
            }
        }
    }

    /// A transmitter has begun to send a packet.
    fn on_service(&mut self, of: Transmitter, packet: Packet, departure: Time) {
        let Transmitter { port, number } = of;
        let (stepped, equipment) = self.ports[port].expect_stepped();
        if stepped.departures == Departures::Events {
            return self.agenda.at(Event::Departure(stepped.first + number), departure);
        }
        match stepped.depart(equipment, packet, departure, departure, self.clock.interval()) {
            (packet, Ok(())) => self.walk(Some(Feeder::Port(port)), packet),
            // It is discarded at its departure, after a packet that is discarded then instead of being served.
            (_, Err(_)) => stepped.hold_lost(packet),
        }
    }

    /// If departures are deferred: compute the services that have begun by `now`.
    fn catch_up(&mut self, port: PortId, now: Time) {
        loop {
            let (stepped, equipment) = self.ports[port].expect_stepped();
            let Some(time) = stepped.finish_deferred(equipment, now) else { return };
            let lost = if equipment.observes() { stepped.take_lost() } else { None };
            self.serve_next(time, Transmitter { port, number: 0 });
            if let Some(packet) = lost {
                self.discard(port, packet, time, DropReason::Random);
            }
        }
    }

    /// Compute all deferred departures before the present, in a domain of a parallel run at its own ports.
    pub(crate) fn compute_deferred(&mut self) {
        let before = Time(self.clock.now().0.saturating_sub(1));
        for index in 0..self.deferred.len() {
            let port = self.deferred[index];
            if self.boundary.as_ref().is_none_or(|boundary| boundary.owns_port(port)) {
                self.catch_up(port, before);
            }
        }
    }

    /// Schedule the event that computes the next deferred service, unless it has one: before the packet reaches the far end of the link.
    /// In a domain of a parallel run, and where real packets are observed, the event is at the start of the service.
    fn await_deferred(&mut self, port: PortId) {
        let (stepped, equipment) = self.ports[port].expect_stepped();
        let Some(next) = stepped.next_deferred() else { return };
        let event = Event::Departure(stepped.first);
        if !self.agenda.is_pending(event) {
            let is_late = self.boundary.is_none() && !self.has_real_packets;
            self.agenda.at(event, if is_late { next + equipment.delay() } else { next });
        }
    }

    /// If the next port is a cut-through port, the head of the packet in service goes ahead to it.
    fn send_head(&mut self, now: Time, of: Transmitter) {
        let Transmitter { port, number } = of;
        let (stepped, _) = self.ports[port].expect_stepped();
        let Some(&PacketInService { packet, head_has_left: false, .. }) = stepped.transmitters.get(number) else { return };
        let next = self.routes[packet.place() + 1].local_port().filter(|&next| self.ports[next].entry.is_of_heads());
        let Some(next) = next else { return };
        let (stepped, equipment) = self.ports[port].expect_stepped();
        let departure = self.agenda.time_of(Event::Departure(stepped.first + number));
        match stepped.send_head(equipment, number, now, departure, self.clock.interval()) {
            Some((packet, Ok(()))) => self.join(next, Feeder::Port(port), packet),
            Some((packet, Err(reason))) => self.discard(port, packet, departure, reason),
            None => {}
        }
    }

    fn unit_bytes(&self, packet: &Packet) -> Bytes {
        self.profiles[self.paths[packet.flow].wire.group].unit_bytes::<PacketsAndCells>(packet)
    }

    /// A transmitter of a stepped port has finished sending, or deferred departures have to be computed. Returns false in the latter case:
    /// the number of such events depends on the arrivals in between.
    pub(crate) fn on_departure(&mut self, now: Time, transmitter: u32) -> bool {
        let port = self.transmitters[transmitter as usize];
        let (stepped, _) = self.ports[port].expect_stepped();
        if stepped.departures == Departures::Deferred {
            self.catch_up(port, now);
            self.await_deferred(port);
            return false;
        }
        let number = transmitter - stepped.first;
        let sent = stepped.transmitters.finish(number);
        let bytes = self.unit_bytes(&sent.packet);
        let (stepped, equipment) = self.ports[port].expect_stepped();
        let gone = stepped.finish(equipment, sent, now, bytes, self.clock.interval());
        let transmitter = Transmitter { port, number };
        self.serve_next(now, transmitter);
        match gone {
            Some((packet, Err(reason))) => self.discard(port, packet, now, reason),
            Some((packet, Ok(()))) => self.depart(port, packet, now),
            None => {}
        }
        self.send_head(now, transmitter);
        true
    }

    /// A packet that has just left a port travels to the far end of its link, as does its copy, if the link makes one.
    fn depart(&mut self, port: PortId, mut packet: Packet, now: Time) {
        let (stepped, equipment) = self.ports[port].expect_stepped();
        let mut copy = stepped.copy_of(equipment, &packet, now, self.clock.interval());
        let may_be_overtaken = stepped.reordered_packets().is_some();
        if let Some(copy) = &mut copy
            && !self.profiles[self.paths[packet.flow].wire.group].is_tcp
        {
            packet.note_duplication();
            copy.note_duplication();
        }
        let copy = copy.map(|copy| self.with_copied_slab_entries(copy));
        for packet in std::iter::once(packet).chain(copy) {
            if may_be_overtaken {
                self.overtake(port, packet);
            } else {
                self.walk(Some(Feeder::Port(port)), packet);
            }
        }
    }

    /// Count a copy of a packet, and copy its side data.
    #[cold]
    fn with_copied_slab_entries(&mut self, mut copy: Packet) -> Packet {
        self.outcomes.on_copy(&copy, &self.clock);
        let is_external = self.profiles[self.paths[copy.flow].wire.group].is_external;
        if is_external && !copy.is_ack() && !copy.is_cell() {
            let (time, flow, datagram) = (copy.time, copy.flow, copy.segment().0);
            self.outcomes.add_fate(Fate { time, flow, datagram, outcome: DatagramOutcome::Copied });
        }
        self.packets.copy_side_data(&mut copy);
        copy
    }

    /// A packet enters a link on which packets may overtake one another. Its arrival is an event.
    pub(super) fn overtake(&mut self, port: PortId, packet: Packet) {
        let next = self.routes[packet.place()];
        if next.local_port().is_none()
            && next != RouteEntry::END
            && let Some(boundary) = &mut self.boundary
            && boundary.send_for_event(next, Feeder::Port(port), packet, &self.paths, &mut self.packets)
        {
            return;
        }
        if let Some(reordered) = self.ports[port].reordered_packets_mut() {
            reordered.insert(packet);
            self.await_overtaking(port);
        }
    }

    /// The first packet on such a link reaches the far end.
    pub(super) fn on_overtaking(&mut self, port: PortId) {
        let Some(packet) = self.ports[port].reordered_packets_mut().and_then(ReorderedPackets::take_first) else {
            unreachable!("no packet is on the link of port {port}")
        };
        self.await_overtaking(port);
        self.walk(None, packet);
    }

    fn await_overtaking(&mut self, port: PortId) {
        let Some(first) = self.ports[port].reordered_packets().and_then(ReorderedPackets::first) else { return };
        self.agenda.at_latest(Event::Port(port), first);
    }

    /// A transmitter has become idle: it serves the next packet that the policy accepts. Traces the occupancy, if it changes: a unit leaves
    /// the queue, or the units in service count.
    fn serve_next(&mut self, now: Time, of: Transmitter) {
        let Transmitter { port, number } = of;
        let mut left_queue = false;
        loop {
            let Fabric { ports, paths, profiles, clock, packets, ack_unit, .. } = self;
            let interval = clock.interval();
            let (stepped, equipment) = ports[port].expect_stepped();
            let bytes_of = |packet: &Packet| match *ack_unit {
                Some(ack_unit) if packet.is_ack() => ack_unit,
                Some(_) if !packet.is_cell() => packet.bytes(),
                _ => profiles[paths[packet.flow].wire.group].unit_bytes::<PacketsAndCells>(packet),
            };
            let queue = stepped.next_queue(|queue| packets.front(&queue.line).map(bytes_of));
            let next = queue.and_then(|queue| Some((queue, packets.pop(&mut stepped.queues[queue].line)?)));
            let Some((queue, mut packet)) = next else {
                if left_queue || equipment.counts_in_service {
                    stepped.note_occupancy(equipment, now);
                }
                return;
            };
            left_queue = true;
            let bytes = bytes_of(&packet);
            stepped.leave_queue(equipment, queue, packet.flow, bytes);
            let turn = ServiceTurn { queue, now, bytes };
            let goes = stepped.dequeue(equipment, &mut packet, turn, interval, packets);
            stepped.served(queue, bytes, &goes);
            if let Err(reason) = goes {
                self.discard(port, packet, now, reason);
                continue;
            }
            let departure = stepped.begin_service(equipment, number, &packet, turn, interval);
            stepped.note_occupancy(equipment, now);
            return self.on_service(of, packet, departure);
        }
    }

    /// Discard packets until the buffer limit is met. `arrival`: the queue that a packet has just joined.
    fn make_room(&mut self, port: PortId, arrival: usize, now: Time) {
        loop {
            let Fabric { ports, paths, profiles, packets, .. } = self;
            let bytes_of = |packet: &Packet| profiles[paths[packet.flow].wire.group].unit_bytes::<PacketsAndCells>(packet);
            let (stepped, equipment) = ports[port].expect_stepped();
            let eviction = stepped.overflow(equipment, arrival, |queue| packets.front(&queue.line).map(bytes_of));
            let Some(Eviction { queue, units }) = eviction else { return };
            for _ in 0..units {
                let (stepped, _) = self.ports[port].expect_stepped();
                let Some(packet) = self.packets.pop(&mut stepped.queues[queue].line) else { break };
                let bytes = self.unit_bytes(&packet);
                let (stepped, equipment) = self.ports[port].expect_stepped();
                stepped.evict(equipment, &packet, ServiceTurn { queue, now, bytes }, self.clock.interval());
                self.discard(port, packet, now, DropReason::Late);
            }
        }
    }

    /// Periodic update of a queue's policy or of the scheduler; schedules the next one.
    pub(crate) fn on_period(&mut self, now: Time, place: u32) {
        let Periodic { port, target, .. } = self.periodic[place as usize];
        self.catch_up(port, now);
        let (stepped, equipment) = self.ports[port].expect_stepped();
        match target {
            PeriodicTarget::Policy(queue) => {
                let first = self.packets.front(&stepped.queues[queue as usize].line).map(|packet| packet.time);
                stepped.on_period(equipment, queue as usize, now, first);
            }
            PeriodicTarget::Scheduler => stepped.on_period_of_scheduler(now),
        }
        self.schedule_period(now, place);
    }

    /// Schedule the first periodic updates.
    pub(super) fn schedule_periods(&mut self) {
        for place in 0..self.periodic.len() as u32 {
            self.schedule_period(Time::ZERO, place);
        }
    }

    fn schedule_period(&mut self, now: Time, place: u32) {
        let period = self.periodic[place as usize].period;
        self.agenda.at(Event::Period(place), now + period);
    }
}
