//! Packets at stepped ports.

use super::{Fabric, Periodic, PeriodicTarget};
use crate::primitives::ids::PortId;
use crate::primitives::packet::Packet;
use crate::primitives::units::{Bytes, Time, TimeDelta};
use crate::queue::DropReason;
use crate::simulation::path::Feeder;
use crate::simulation::port::{ArrivalOutcome, Departures, PacketInService, ReorderedPackets};
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
        let (stepped, equipment) = self.ports[port].expect_stepped();
        match stepped.arrive(equipment, &mut packet, bytes, &self.sim.interval, &mut self.sim.prices) {
            ArrivalOutcome::Discarded(reason) => self.discard(port, packet, packet.time, reason),
            ArrivalOutcome::Waits(queue) => {
                let now = packet.time;
                self.sim.pool.push(&mut stepped.queues[queue].line, packet);
                self.make_room(port, now);
                self.await_deferred(port);
            }
            ArrivalOutcome::InService(number, service) => {
                let transmitter = Transmitter { port, number };
                self.on_service(packet.time, transmitter, packet, service);
                self.send_head(packet.time, transmitter);
            }
        }
    }

    /// A transmitter has begun to send a packet.
    fn on_service(&mut self, now: Time, of: Transmitter, packet: Packet, service: TimeDelta) {
        let Transmitter { port, number } = of;
        let (stepped, equipment) = self.ports[port].expect_stepped();
        let departure = now + service;
        if stepped.departures == Departures::Events {
            let slot = self.sim.order.departure(stepped.first + number);
            return self.sim.calendar.schedule(slot, departure);
        }
        match stepped.depart(equipment, packet, departure, departure, &self.sim.interval) {
            (packet, Ok(())) => self.walk(Some(Feeder::Port(port)), packet),
            (packet, Err(reason)) => self.discard(port, packet, departure, reason),
        }
    }

    /// If departures are deferred: compute the services that have begun by `now`.
    #[inline]
    fn catch_up(&mut self, port: PortId, now: Time) {
        while let Some(time) = self.ports[port].expect_stepped().0.deferred_until(now) {
            self.complete_service(time, Transmitter { port, number: 0 });
        }
    }

    /// Compute all deferred departures before the present.
    pub(crate) fn compute_deferred(&mut self) {
        let before = Time(self.sim.now.0.saturating_sub(1));
        for index in 0..self.deferred.len() {
            self.catch_up(self.deferred[index], before);
        }
    }

    /// Schedule the event that computes the next deferred service, unless it has one: before the packet reaches the far end of the link.
    /// In a domain of a parallel run, and where real packets are observed, the event is at the start of the service.
    fn await_deferred(&mut self, port: PortId) {
        let (stepped, equipment) = self.ports[port].expect_stepped();
        let Some(next) = stepped.next_deferred() else { return };
        let slot = self.sim.order.departure(stepped.first);
        if self.sim.calendar.time_of(slot) == Time::NEVER {
            let is_late = self.sim.boundary.is_none() && !self.has_real_packets;
            self.sim.calendar.schedule(slot, if is_late { next + equipment.delay() } else { next });
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
        let departure = self.sim.calendar.time_of(self.sim.order.departure(stepped.first + number));
        match stepped.send_head(equipment, number, now, departure, &self.sim.interval) {
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
        self.complete_service(now, Transmitter { port, number });
        true
    }

    /// A transmitter finishes now and serves the next packet.
    fn complete_service(&mut self, now: Time, of: Transmitter) {
        let Transmitter { port, number } = of;
        let (stepped, _) = self.ports[port].expect_stepped();
        let sent = stepped.transmitters.finish(number);
        let bytes = self.unit_bytes(&sent.packet);
        let (stepped, equipment) = self.ports[port].expect_stepped();
        let gone = stepped.finish(equipment, sent, now, bytes, &self.sim.interval);
        let transmitter = Transmitter { port, number };
        let left_queue = self.serve_next(now, transmitter);
        let (stepped, equipment) = self.ports[port].expect_stepped();
        if left_queue || equipment.counts_in_service {
            stepped.trace_departure(equipment, now);
        }
        match gone {
            Some((packet, Err(reason))) => self.discard(port, packet, now, reason),
            Some((packet, Ok(()))) => self.depart(port, packet, now),
            None => {}
        }
        self.send_head(now, transmitter);
    }

    /// A packet that has just left a port travels to the far end of its link, as does its copy, if the link makes one.
    fn depart(&mut self, port: PortId, packet: Packet, now: Time) {
        let (stepped, equipment) = self.ports[port].expect_stepped();
        let copy = stepped.copy_of(equipment, &packet, now, &self.sim.interval);
        let may_be_overtaken = stepped.reordered_packets().is_some();
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
        let copies = self.sim.copies.entry(copy.flow).or_default();
        if copy.is_ack() {
            copies.acks += 1;
            if copy.has_report() {
                copy.store_report(*self.sim.reports.at(copy.report_index()), &mut self.sim.reports);
            }
        } else {
            copies.data += 1;
            copies.measured += u64::from(self.sim.interval.measures(copy.sent));
            if copy.has_price() {
                copy.store_price(copy.price(&self.sim.prices), &mut self.sim.prices);
            }
        }
        copy
    }

    /// A packet enters a link on which packets may overtake one another. Its arrival is an event.
    pub(super) fn overtake(&mut self, port: PortId, packet: Packet) {
        let next = self.routes[packet.place()];
        if next.local_port().is_none()
            && next != RouteEntry::END
            && self.sim.leaves_for_event(next, Feeder::Port(port), packet, &self.paths)
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
        let slot = self.sim.order.port(port);
        let Some(first) = self.ports[port].reordered_packets().and_then(ReorderedPackets::first) else { return };
        let pending = self.sim.calendar.time_of(slot);
        if first < pending {
            self.sim.calendar.cancel(slot);
            self.sim.calendar.schedule(slot, first);
        }
    }

    /// Put the next packet that the policy accepts on this transmitter. Returns true if a packet left the queue.
    fn serve_next(&mut self, now: Time, of: Transmitter) -> bool {
        let Transmitter { port, number } = of;
        let mut left_queue = false;
        while let Some((queue, mut waiting, bytes)) = self.take_next(port) {
            left_queue = true;
            let (stepped, equipment) = self.ports[port].expect_stepped();
            stepped.leave_queue(equipment, queue, waiting.flow, bytes);
            let goes = stepped.dequeue(equipment, &mut waiting, (queue, now), bytes, &self.sim.interval, &mut self.sim.prices);
            stepped.served(queue, bytes, &goes);
            match goes {
                Err(reason) => self.discard(port, waiting, now, reason),
                Ok(()) => {
                    let service = stepped.begin_service(equipment, (number, queue), &waiting, now, bytes, &self.sim.interval);
                    self.on_service(now, of, waiting, service);
                    break;
                }
            }
        }
        left_queue
    }

    /// The first packet of the queue that the scheduler selects.
    fn take_next(&mut self, port: PortId) -> Option<(usize, Packet, Bytes)> {
        let Fabric { ports, sim, paths, profiles, .. } = self;
        let (stepped, _) = ports[port].expect_stepped();
        let bytes_of = |packet: &Packet| profiles[paths[packet.flow].wire.group].unit_bytes::<PacketsAndCells>(packet);
        let queue = stepped.next_queue(|queue| sim.pool.front(&queue.line).map(bytes_of))?;
        let packet = sim.pool.pop(&mut stepped.queues[queue].line)?;
        Some((queue, packet, bytes_of(&packet)))
    }

    /// Discard packets from the longest queue until the buffer limit is met.
    fn make_room(&mut self, port: PortId, now: Time) {
        loop {
            let (stepped, equipment) = self.ports[port].expect_stepped();
            let Some((queue, units)) = stepped.overflow(equipment) else { return };
            for _ in 0..units {
                let (stepped, equipment) = self.ports[port].expect_stepped();
                let Some(packet) = self.sim.pool.pop(&mut stepped.queues[queue].line) else { break };
                let bytes = self.profiles[self.paths[packet.flow].wire.group].unit_bytes::<PacketsAndCells>(&packet);
                stepped.evict(equipment, &packet, (queue, now), bytes, &self.sim.interval);
                self.discard(port, packet, now, DropReason::Late);
            }
            let (stepped, equipment) = self.ports[port].expect_stepped();
            stepped.trace_departure(equipment, now);
        }
    }

    /// Periodic update of a queue's policy or of the scheduler; schedules the next one.
    pub(crate) fn on_period(&mut self, now: Time, place: u32) {
        let Periodic { port, target, .. } = self.periodic[place as usize];
        self.catch_up(port, now);
        let (stepped, equipment) = self.ports[port].expect_stepped();
        match target {
            PeriodicTarget::Policy(queue) => {
                let first = self.sim.pool.front(&stepped.queues[queue as usize].line).map(|packet| packet.time);
                stepped.on_period(equipment, (queue as usize, now), first);
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
        self.sim.calendar.schedule(self.sim.order.period(place), now + period);
    }
}
