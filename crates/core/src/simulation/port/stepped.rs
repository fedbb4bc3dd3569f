//! A port that takes units from its queue one at a time. The reasons are several queues or transmitters, changes on the timeline, a policy
//! that acts on departures or periodically, a shaper, a rate that varies, jitter, or duplication.

use super::counts::ServiceTimes;
use super::delivery::ServiceStart;
use super::equipment::{BufferState, Departing, Equipment, QueueState};
use super::impairments::ReorderedPackets;
use super::multi_queue::{ClassCounts, MultiQueue};
use super::passage::Passage;
use super::port_features::FullPort;
use super::queue::Queue;
use super::transmitters::{PacketInService, Transmitters};
use super::varying_service::VaryingService;
use crate::network;
use crate::network::BufferContent;
use crate::primitives::ids::FlowId;
use crate::primitives::packet::Packet;
use crate::primitives::units::{Bytes, Time, TimeDelta, Units};
use crate::queue::{Departure, DropReason, PeriodEnd, Unit, Verdict};
use crate::schedule::{Backlog, Decision, DequeueReason, Dequeued, Enqueued, Eviction, HeadOfLine, OverflowRule};
use crate::simulation::measurement_interval::MeasurementInterval;
use crate::simulation::packets::Packets;
use serde::{Deserialize, Serialize};

/// How departures take place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Departures {
    /// Each departure is an event.
    Events,
    /// The end of a service is known at its start, and the unit leaves then. Services that have begun since the last arrival are computed
    /// at the next one, or by an event before the first of their units reaches the far end of the link. For ports with one transmitter and
    /// a constant delay.
    Deferred,
}

/// The buffer and the transmitters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Stepped {
    pub(crate) departures: Departures,
    /// The end of the latest service and its unit, if departures are deferred.
    free: Time,
    serving: UnitInService,
    /// One queue, or the queues of `multi_queue`.
    pub(crate) queues: Vec<Queue>,
    multi_queue: Option<Box<MultiQueue>>,
    /// Present if the rate of the port varies.
    varying: Option<Box<VaryingService>>,
    /// Packets on a link on which they may overtake one another; replaces the line.
    reordered: Option<Box<ReorderedPackets>>,
    /// Totals over all queues.
    waiting: u32,
    waiting_bytes: Bytes,
    pub(crate) transmitters: Transmitters,
    /// Number of the first transmitter, counted over all ports.
    pub(crate) first: u32,
    in_service: u32,
    in_service_bytes: Bytes,
    /// When the last transmitter finished, if all are idle.
    idle_from: Time,
    /// Latest scheduled departure from the delay line: packets do not overtake one another when the delay decreases.
    last_out: Time,
}

/// Properties of a stepped port, besides its description.
pub(super) struct SteppedSetup {
    pub(super) departures: Departures,
    /// Number of the first transmitter, counted over all ports.
    pub(super) first_transmitter: u32,
    pub(super) queues: usize,
    pub(super) multi_queue: Option<MultiQueue>,
    /// Start of the measurement interval.
    pub(super) warmup: Time,
}

/// The flow and queue of a unit in service.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct UnitInService {
    flow: FlowId,
    queue: u32,
}

/// The turn of the first unit of a queue, whose size is `bytes`.
#[derive(Clone, Copy)]
pub(crate) struct ServiceTurn {
    pub(crate) queue: usize,
    pub(crate) now: Time,
    pub(crate) bytes: Bytes,
}

/// Outcome of an arrival.
pub(crate) enum ArrivalOutcome {
    Discarded(DropReason),
    /// The packet is queued in this queue. The caller makes room for it, if necessary, and then calls [`Stepped::note_arrival`].
    Waits(usize),
    /// This transmitter sends the packet from now on, until this time.
    InService(u32, Time),
}

/// A packet on the link with its arrival time, and the result of random loss.
pub(crate) type OnWire = (Packet, Result<(), DropReason>);

impl Stepped {
    pub(super) fn new(spec: &network::Port, setup: SteppedSetup) -> Stepped {
        let SteppedSetup { departures, first_transmitter, queues, multi_queue, warmup } = setup;
        Stepped {
            departures,
            free: Time::ZERO,
            serving: UnitInService { flow: FlowId(0), queue: 0 },
            queues: vec![Queue::default(); queues],
            multi_queue: multi_queue.map(Box::new),
            varying: spec.varying.as_ref().map(|rate| Box::new(VaryingService::new(rate, warmup))),
            reordered: spec.impairments.reorders().then(Box::default),
            waiting: 0,
            waiting_bytes: Bytes(0),
            transmitters: Transmitters::new(spec.transmitters as usize),
            first: first_transmitter,
            in_service: 0,
            in_service_bytes: Bytes(0),
            idle_from: Time::ZERO,
            last_out: Time::ZERO,
        }
    }

    /// A packet arrives. The caller stores it if it is queued.
    #[inline]
    pub(crate) fn arrive(
        &mut self,
        equipment: &mut Equipment,
        packet: &mut Packet,
        bytes: Bytes,
        interval: &MeasurementInterval,
        packets: &mut Packets,
    ) -> ArrivalOutcome {
        let now = packet.time;
        self.update_rate(equipment, now);
        if let Err(reason) = equipment.survives_approach(now, interval) {
            return ArrivalOutcome::Discarded(reason);
        }
        let idle = match self.departures {
            Departures::Events => self.transmitters.first_idle(),
            Departures::Deferred => (self.in_service == 0).then_some(0),
        };
        let idle_for = if self.in_service == 0 { now.since(self.idle_from) } else { TimeDelta::ZERO };
        let of_port = self.content(equipment);
        let transmitters = self.transmitters.count() as u64;
        let own = self.multi_queue.as_ref().map(|multi_queue| {
            let number = multi_queue.queue_of(packet);
            let of_queue = self.queues[number].content(equipment);
            let is_full = multi_queue.is_full(number, of_queue, bytes);
            let evicts = multi_queue.overflow != OverflowRule::Refuses && equipment.is_full(of_port, bytes);
            QueueState { number, units: of_queue.units, bytes: of_queue.bytes, is_full, evicts }
        });
        let queue = own.as_ref().map_or(0, |own| own.number);
        // Making room for this packet leaves the total unchanged.
        let making_room = u64::from(own.as_ref().is_some_and(|own| own.evicts));
        let units = Units(of_port.units.0.saturating_sub(making_room));
        let held = BufferState { busy: idle.is_none(), units, bytes: of_port.bytes, idle: idle_for, transmitters };
        if packet.has_price() {
            equipment.read_price_header(packet, bytes, packets);
        }
        let mut passage = Passage { packet, bytes, interval, packets };
        let admitted = equipment.admit::<FullPort>(&mut passage, &held, own.as_ref());
        self.count_arrival(queue, admitted, now, interval);
        if let Err(reason) = admitted {
            equipment.rest.counts.discard(reason, now, interval);
            return ArrivalOutcome::Discarded(reason);
        }
        equipment.count_accepted(now, interval);
        if idle.is_none() || equipment.counts_in_service {
            equipment.note_enqueued(queue, packet.flow);
        }
        if let Some(multi_queue) = &mut self.multi_queue {
            multi_queue.longest.note_change(queue);
            let rate = equipment.drain_rate(transmitters);
            multi_queue.scheduler.on_enqueue(&Enqueued { queue, bytes, now, rate, begins_busy_period: self.in_service == 0 });
        }
        match idle {
            Some(transmitter) => {
                let turn = ServiceTurn { queue, now, bytes };
                let dequeue = self.dequeue(equipment, packet, turn, interval, packets);
                self.served(queue, bytes, &dequeue);
                if let Err(reason) = dequeue {
                    return ArrivalOutcome::Discarded(reason);
                }
                let departure = self.begin_service(equipment, transmitter, packet, turn, interval);
                self.note_arrival(equipment, now, interval);
                ArrivalOutcome::InService(transmitter, departure)
            }
            None => {
                self.waiting += 1;
                self.waiting_bytes += bytes;
                self.queues[queue].bytes += bytes;
                ArrivalOutcome::Waits(queue)
            }
        }
    }

    #[inline]
    fn count_arrival(&mut self, queue: usize, admitted: Result<(), DropReason>, now: Time, interval: &MeasurementInterval) {
        let counts = self.multi_queue.as_mut().and_then(|multi_queue| multi_queue.classes.get_mut(queue));
        if let Some(counts) = counts {
            counts.arrived.add(interval.part(now), 1);
            counts.discarded.add(interval.part(now), u64::from(admitted.is_err()));
        }
    }

    /// Notify the scheduler that the first unit of a queue has left it.
    fn leave_schedule(&mut self, queue: usize, bytes: Bytes, reason: DequeueReason) {
        let is_empty = self.queues[queue].line.is_empty();
        if let Some(multi_queue) = &mut self.multi_queue {
            multi_queue.longest.note_change(queue);
            multi_queue.scheduler.on_dequeue(&Dequeued { queue, bytes, reason, is_empty });
        }
    }

    /// Counters of each class; empty without classes.
    pub(crate) fn classes(&self) -> &[ClassCounts] {
        self.multi_queue.as_ref().map_or(&[], |multi_queue| &multi_queue.classes)
    }

    /// The queue that the scheduler selects. `head` returns the size of the first unit of a queue.
    #[inline]
    pub(crate) fn next_queue(&mut self, head: impl Fn(&Queue) -> Option<Bytes>) -> Option<usize> {
        let queues = &self.queues;
        match &mut self.multi_queue {
            None => (!queues[0].line.is_empty()).then_some(0),
            Some(multi_queue) => multi_queue.scheduler.next(&|queue| head(&queues[queue])),
        }
    }

    /// Whether a queue may have to make room for an arrival at another queue.
    #[inline]
    pub(crate) fn may_overflow(&self) -> bool {
        self.multi_queue.as_ref().is_some_and(|multi_queue| multi_queue.overflow != OverflowRule::Refuses)
    }

    /// If the buffer limit is exceeded: the units that make room for an arrival that has joined queue `arrival`. `head` returns the size of
    /// the first unit of a queue.
    pub(crate) fn overflow(
        &mut self,
        equipment: &Equipment,
        arrival: usize,
        head: impl Fn(&Queue) -> Option<Bytes>,
    ) -> Option<Eviction> {
        let BufferContent { units, bytes } = self.content(equipment);
        let Stepped { queues, multi_queue, .. } = self;
        let MultiQueue { overflow, longest, weights, .. } = multi_queue.as_deref_mut()?;
        if units == Units(0) || !equipment.is_full(BufferContent { units: Units(units.0 - 1), bytes }, Bytes(0)) {
            return None;
        }
        let backlog = |number: usize| {
            let queue = &queues[number];
            let behind_first = match overflow {
                OverflowRule::LargestShare if equipment.counts_bytes() => queue.bytes.0 - head(queue).map_or(0, |first| first.0),
                _ => u64::from(queue.line.len().saturating_sub(1)),
            };
            Backlog { queue: number, units: queue.line.len(), bytes: queue.bytes, behind_first, weight: weights[number] }
        };
        let longest = longest.find(|number| overflow.length(&backlog(number)))?;
        overflow.eviction(&backlog(longest), &backlog(arrival))
    }

    /// The first unit of a queue, which the caller has removed, is discarded to make room.
    pub(crate) fn evict(
        &mut self,
        equipment: &mut Equipment,
        packet: &Packet,
        turn: ServiceTurn,
        interval: &MeasurementInterval,
    ) {
        let ServiceTurn { queue, now, bytes } = turn;
        self.leave_queue(equipment, queue, packet.flow, bytes);
        equipment.policy(queue).on_overflow(now);
        self.count_late(equipment, packet, turn, interval);
        self.leave_schedule(queue, bytes, DequeueReason::Discarded);
    }

    /// Time of the next service, if departures are deferred and units are queued.
    pub(crate) fn next_deferred(&self) -> Option<Time> {
        (self.departures == Departures::Deferred && self.waiting > 0).then_some(self.free)
    }

    /// Units and bytes in the buffer.
    #[inline]
    fn content(&self, equipment: &Equipment) -> BufferContent {
        let waiting = u64::from(self.waiting);
        if !equipment.counts_in_service {
            return BufferContent { units: Units(waiting), bytes: self.waiting_bytes };
        }
        let units = Units(waiting + u64::from(self.in_service));
        BufferContent { units, bytes: self.waiting_bytes + self.in_service_bytes }
    }

    /// A packet's departure has come, and it is no longer queued. The policy may still mark it, discard it or write on its signal.
    pub(crate) fn dequeue(
        &mut self,
        equipment: &mut Equipment,
        packet: &mut Packet,
        turn: ServiceTurn,
        interval: &MeasurementInterval,
        packets: &mut Packets,
    ) -> Result<(), DropReason> {
        let ServiceTurn { queue, now, bytes } = turn;
        let unit = Unit { bytes, is_last: packet.is_last() };
        let (sojourn_time, bytes_behind) = (now.since(packet.time), self.queues[queue].bytes);
        let departure = Departure { now, sojourn_time, bytes_behind, is_capable: packet.is_capable() };
        let verdict = match &mut self.multi_queue {
            Some(multi_queue) if multi_queue.is_aqm => verdict_of_scheduler(multi_queue, queue, &departure),
            _ => equipment.policy(queue).on_departure(&unit, &departure),
        };
        let goes = match verdict {
            Verdict::Accept => Ok(()),
            Verdict::Mark => equipment.mark(packet, now, DropReason::Late, interval),
            Verdict::Discard(_) => Err(DropReason::Late),
        };
        if goes.is_err() {
            if equipment.counts_in_service {
                equipment.note_dequeued(queue, packet.flow);
            }
            self.count_late(equipment, packet, turn, interval);
        } else {
            if equipment.may_signal(packet, queue) {
                equipment.signal(packet, &Departing { queue, unit: &unit, departure: &departure }, interval, packets);
            }
            if packet.is_rm() && !packet.is_ack() {
                equipment.write_rate(packet, queue);
            }
        }
        goes
    }

    /// Count the discard of a packet that had been accepted.
    fn count_late(&mut self, equipment: &mut Equipment, packet: &Packet, turn: ServiceTurn, interval: &MeasurementInterval) {
        let ServiceTurn { queue, now, .. } = turn;
        let counts = &mut equipment.rest.counts;
        counts.discard_accepted(DropReason::Late, [packet.time, now], interval);
        counts.add_held([packet.time, now], interval);
        if let Some(counts) = self.multi_queue.as_mut().and_then(|multi_queue| multi_queue.classes.get_mut(queue)) {
            counts.discarded.add(interval.part(now), 1);
            counts.discarded_of_warmup += u64::from(packet.time < interval.warmup && interval.measures(now));
        }
    }

    /// Periodic update of a queue's policy. `first`: arrival time of the first unit in the queue.
    pub(crate) fn on_period(&mut self, equipment: &mut Equipment, queue: usize, now: Time, first: Option<Time>) {
        let BufferContent { units, bytes } = match &self.multi_queue {
            None => self.content(equipment),
            Some(_) => self.queues[queue].content(equipment),
        };
        self.update_rate(equipment, now);
        let rate = equipment.drain_rate(self.transmitters.count() as u64);
        let first_waited = self.multi_queue.is_some().then(|| first.map_or(TimeDelta::ZERO, |first| now.since(first)));
        equipment.policy(queue).on_period(&PeriodEnd { units, bytes, rate, first_waited });
    }

    /// The period of the scheduler, if it has one.
    pub(crate) fn period_of_scheduler(&self) -> Option<TimeDelta> {
        self.multi_queue.as_ref().and_then(|multi_queue| multi_queue.scheduler.period())
    }

    /// Periodic update of the scheduler.
    pub(crate) fn on_period_of_scheduler(&mut self, now: Time) {
        if let Some(multi_queue) = &mut self.multi_queue {
            multi_queue.scheduler.on_period(now);
        }
    }

    /// Put a packet that arrived at `packet.time` on a transmitter, where it waits for tokens if the port has a shaper. Returns the end
    /// of its transmission.
    pub(crate) fn begin_service(
        &mut self,
        equipment: &mut Equipment,
        transmitter: u32,
        packet: &Packet,
        turn: ServiceTurn,
        interval: &MeasurementInterval,
    ) -> Time {
        let ServiceTurn { queue, now, bytes } = turn;
        let start = equipment.earliest_departure(now, bytes);
        let departure = match &mut self.varying {
            None => start + equipment.service(bytes),
            // Queued packets arrived before this departure. Opportunities that pass during the wait for tokens are lost.
            Some(varying) => {
                let begins = if packet.time < now && start == now { ServiceStart::Queued } else { ServiceStart::Immediate };
                varying.send(bytes, start, begins)
            }
        };
        let times = ServiceTimes { arrival: packet.time, taken: now, start, departure };
        equipment.count_service(times, bytes, interval);
        equipment.note_departure(packet.flow, departure, bytes, interval);
        equipment.count_wait(packet.time, start, interval);
        if let Some(counts) = self.multi_queue.as_mut().and_then(|multi_queue| multi_queue.classes.get_mut(queue)) {
            counts.count_service(packet.time, [start, departure], bytes, interval);
        }
        match self.departures {
            Departures::Events => {
                let sending = PacketInService { packet: *packet, queue: queue as u32, head_has_left: false };
                self.transmitters.start(transmitter, sending);
            }
            Departures::Deferred => {
                (self.free, self.serving) = (departure, UnitInService { flow: packet.flow, queue: queue as u32 })
            }
        }
        self.in_service += 1;
        self.in_service_bytes += bytes;
        if equipment.counts_in_service {
            self.queues[queue].in_service += 1;
            self.queues[queue].in_service_bytes += bytes;
        }
        departure
    }

    /// A transmitter has finished. Returns the packet on the link, or `None` if its head has gone ahead.
    #[inline]
    pub(crate) fn finish(
        &mut self,
        equipment: &mut Equipment,
        sent: PacketInService,
        now: Time,
        bytes: Bytes,
        interval: &MeasurementInterval,
    ) -> Option<OnWire> {
        self.end_service(equipment, UnitInService { flow: sent.packet.flow, queue: sent.queue }, now, bytes);
        (!sent.head_has_left).then(|| self.depart(equipment, sent.packet, now, now, interval))
    }

    /// If departures are deferred, and the current service ends by `now`: end it. Returns its end.
    #[inline]
    pub(crate) fn finish_deferred(&mut self, equipment: &mut Equipment, now: Time) -> Option<Time> {
        if self.departures == Departures::Events || self.in_service == 0 || self.free > now {
            return None;
        }
        self.end_service(equipment, self.serving, self.free, self.in_service_bytes);
        Some(self.free)
    }

    /// The link will lose the packet in service, whose departure is deferred.
    pub(crate) fn hold_lost(&mut self, packet: Packet) {
        self.transmitters.start(0, PacketInService { packet, queue: self.serving.queue, head_has_left: false });
    }

    /// The packet that has just been served, if the link has lost it.
    #[inline]
    pub(crate) fn take_lost(&mut self) -> Option<Packet> {
        self.transmitters.get(0)?;
        Some(self.transmitters.finish(0).packet)
    }

    #[inline]
    fn end_service(&mut self, equipment: &mut Equipment, sent: UnitInService, now: Time, bytes: Bytes) {
        self.in_service -= 1;
        self.in_service_bytes -= bytes;
        self.idle_from = now;
        if equipment.counts_in_service {
            let queue = sent.queue as usize;
            self.queues[queue].in_service -= 1;
            self.queues[queue].in_service_bytes -= bytes;
            equipment.note_dequeued(queue, sent.flow);
        }
    }

    /// A transmitter has begun to send a packet whose next port is a cut-through port, and will finish at `departure`. The counterpart of
    /// [`Stepped::finish`] for the head.
    pub(crate) fn send_head(
        &mut self,
        equipment: &mut Equipment,
        transmitter: u32,
        now: Time,
        departure: Time,
        interval: &MeasurementInterval,
    ) -> Option<OnWire> {
        let is_alone = self.transmitters.count() == 1;
        let sending = self.transmitters.get_mut(transmitter)?;
        sending.head_has_left = true;
        let packet = sending.packet;
        let gone = self.depart(equipment, packet, now, departure, interval);
        if is_alone {
            // The head of the next packet follows the last bit of this one.
            self.last_out += departure.since(now);
        }
        Some(gone)
    }

    /// Put a packet on the link. The decisive bit left the transmitter now, the last bit leaves at `departure`.
    #[inline]
    pub(crate) fn depart(
        &mut self,
        equipment: &mut Equipment,
        mut packet: Packet,
        now: Time,
        departure: Time,
        interval: &MeasurementInterval,
    ) -> OnWire {
        // Lost packets draw no delay.
        let survives = equipment.survives_wire([packet.time, departure], interval);
        let arrival = now + if survives.is_ok() { equipment.delay_of_next() } else { equipment.delay };
        if self.reordered.is_none() {
            self.last_out = self.last_out.max(arrival);
        }
        packet.time = if self.reordered.is_none() { self.last_out } else { arrival };
        packet.next_hop();
        (packet, survives)
    }

    /// The link's copy of a packet that left now, if the link duplicates it. It arrives at the same time, or with its own jitter if packets
    /// may overtake one another. Side data is not copied here.
    #[inline]
    pub(crate) fn copy_of(
        &self,
        equipment: &mut Equipment,
        packet: &Packet,
        now: Time,
        interval: &MeasurementInterval,
    ) -> Option<Packet> {
        if !equipment.duplicates(now, interval) {
            return None;
        }
        let mut copy = *packet;
        if self.reordered.is_some() {
            copy.time = now + equipment.delay_of_next();
        }
        Some(copy)
    }

    /// Packets on a link on which they may overtake one another.
    pub(crate) fn reordered_packets(&self) -> Option<&ReorderedPackets> {
        self.reordered.as_deref()
    }

    pub(crate) fn reordered_packets_mut(&mut self) -> Option<&mut ReorderedPackets> {
        self.reordered.as_deref_mut()
    }

    /// Used share of the measured capacity up to `until`, for a port whose rate varies.
    pub(crate) fn used_share(&self, until: Time) -> Option<f64> {
        self.varying.as_ref().map(|varying| varying.used_share(until))
    }

    /// Policies and schedulers read the present rate.
    #[inline]
    fn update_rate(&self, equipment: &mut Equipment, now: Time) {
        if let Some(rate) = self.varying.as_ref().and_then(|varying| varying.rate_at(now)) {
            equipment.set_rate(rate);
        }
    }

    /// The caller has removed a packet from a queue to serve it.
    #[inline]
    pub(crate) fn leave_queue(&mut self, equipment: &mut Equipment, queue: usize, flow: FlowId, bytes: Bytes) {
        self.waiting -= 1;
        self.waiting_bytes -= bytes;
        self.queues[queue].bytes -= bytes;
        if !equipment.counts_in_service {
            equipment.note_dequeued(queue, flow);
        }
    }

    /// Notify the scheduler that a packet that left a queue was sent, or discarded by its policy.
    #[inline]
    pub(crate) fn served(&mut self, queue: usize, bytes: Bytes, goes: &Result<(), DropReason>) {
        let reason = if goes.is_ok() { DequeueReason::Sent } else { DequeueReason::Discarded };
        self.leave_schedule(queue, bytes, reason);
    }

    /// Count and trace the occupancy after an arrival. Packets that were discarded to make room at the same instant have left the buffer.
    #[inline]
    pub(crate) fn note_arrival(&self, equipment: &mut Equipment, now: Time, interval: &MeasurementInterval) {
        let BufferContent { units, .. } = self.content(equipment);
        equipment.count_occupancy(now, units, interval);
        self.note_occupancy(equipment, now);
    }

    /// Trace the occupancy after a change.
    #[inline]
    pub(crate) fn note_occupancy(&self, equipment: &mut Equipment, now: Time) {
        let in_service = if equipment.counts_in_service { self.in_service } else { 0 };
        if let Some(trace) = equipment.trace_mut() {
            trace.push((now, self.waiting + in_service));
        }
    }
}

/// For a scheduler that manages its queues' policies itself.
fn verdict_of_scheduler(multi_queue: &mut MultiQueue, queue: usize, departure: &Departure) -> Verdict {
    let &Departure { sojourn_time, bytes_behind, is_capable, .. } = departure;
    match multi_queue.scheduler.decide(&HeadOfLine { queue, sojourn_time, bytes_behind, is_capable }) {
        Decision::Send => Verdict::Accept,
        Decision::Mark => Verdict::Mark,
        Decision::Discard => Verdict::Discard(DropReason::Late),
    }
}
