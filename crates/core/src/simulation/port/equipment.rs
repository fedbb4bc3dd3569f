//! Parts of a port that do not depend on how it serves: buffer, policy, transmission rate, link and counters.

mod counting;

use super::counts::{ExceptionCounts, FlowTotals, PortCounts, WarmCounts};
use super::impairments::{Disturbance, Losses};
use super::listed_losses::ListedLosses;
use super::passage::Passage;
use super::port_features::PortFeatures;
use super::price_writer::PriceWriter;
use crate::network;
use crate::network::{Buffer, BufferContent, ListedDrop, LossAt};
use crate::primitives::histogram::Histogram;
use crate::primitives::ids::FlowId;
use crate::primitives::packet::Packet;
use crate::primitives::rm_cell::RmCell;
use crate::primitives::token_bucket::TokenBucket;
use crate::primitives::units::{Bytes, Rate, Time, TimeDelta, Units};
use crate::queue::{Departure, DropReason, Occupancy, Policies, Unit, Verdict};
use crate::record::recorder::DepartureRow;
use crate::simulation::measurement_interval::MeasurementInterval;
use crate::simulation::packets::Packets;
use crate::simulation::wire::ServiceTimeCache;
use crate::user_code::Failure;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Equipment {
    services: ServiceTimeCache,
    pub(super) delay: TimeDelta,
    buffer: Buffer,
    pub(crate) counts_in_service: bool,
    /// See [`Equipment::observes`].
    is_observed: bool,
    /// Whether a policy uses per-flow state, and whether one writes on signals.
    tracks_flows: bool,
    writes_signals: bool,
    warm_counts: WarmCounts,
    pub(super) rest: Cold,
}

/// [`ColdPortState`] in an allocation of its own, so that most packets touch only three cache lines of a port. In a domain of a parallel run, only
/// the domain's own ports have it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Cold(Option<Box<ColdPortState>>);

impl Deref for Cold {
    type Target = ColdPortState;

    #[inline]
    fn deref(&self) -> &ColdPortState {
        match &self.0 {
            Some(rest) => rest,
            None => unreachable!("the port belongs to another domain"),
        }
    }
}

impl DerefMut for Cold {
    #[inline]
    fn deref_mut(&mut self) -> &mut ColdPortState {
        match &mut self.0 {
            Some(rest) => rest,
            None => unreachable!("the port belongs to another domain"),
        }
    }
}

impl ColdPortState {
    #[inline]
    fn first_policy(&mut self) -> &mut Policies {
        self.policy.get_or_insert_with(|| Box::new(Policies::drop_tail()))
    }
}

/// State that most packets do not touch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ColdPortState {
    pub(super) rate: Rate,
    /// The policy of the first queue; most ports have no other. `None` is `drop_tail`, which has no state, until it is used.
    policy: Option<Box<Policies>>,
    /// Policies of the other queues.
    other_policies: Box<[Policies]>,
    pub(super) counts: PortCounts,
    /// Present if the policy publishes prices, or if it is user code and prices travel as marks.
    price_writer: Option<Box<PriceWriter>>,
    losses: Losses,
    pub(super) disturbance: Option<Box<Disturbance>>,
    shaper: Option<Box<TokenBucket>>,
    observers: Option<Box<Observers>>,
}

/// Listed drops, the largest packet, and recordings, at ports that have any.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Observers {
    listed: ListedLosses,
    /// Largest packet that the link carries.
    mtu: Option<Bytes>,
    waits: Option<Histogram>,
    /// Occupancy after each change, if traced.
    trace: Option<Vec<(Time, u32)>>,
    /// Units and bytes sent per flow, if requested.
    of_flows: Option<BTreeMap<FlowId, FlowTotals>>,
    /// Departures, if traced.
    departures: Option<Vec<DepartureRow>>,
}

impl Observers {
    fn new(spec: &network::Port, of: &network::Network, kept: PortRecording) -> Option<Box<Observers>> {
        let observers = Observers {
            listed: ListedLosses::new(&spec.listed_drops, of),
            mtu: spec.impairments.mtu,
            waits: kept.percentiles.then(Histogram::default),
            trace: kept.occupancy.then(Vec::new),
            of_flows: kept.flows.then(BTreeMap::new),
            departures: kept.departures.then(Vec::new),
        };
        let PortRecording { percentiles, occupancy, flows, departures } = kept;
        let records = percentiles || occupancy || flows || departures;
        let is_used = records || observers.mtu.is_some() || !observers.listed.is_empty();
        is_used.then(|| Box::new(observers))
    }
}

/// Recordings of a port in addition to its counters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortRecording {
    pub(crate) percentiles: bool,
    pub(crate) occupancy: bool,
    pub(crate) flows: bool,
    pub(crate) departures: bool,
}

/// State of the buffer before an arriving unit.
#[derive(Clone, Copy)]
pub(super) struct BufferState {
    /// No transmitter is idle.
    pub(super) busy: bool,
    /// Without the units in service, unless they count.
    pub(super) units: Units,
    pub(super) bytes: Bytes,
    pub(super) idle: TimeDelta,
    /// Number of transmitters of the port.
    pub(super) transmitters: u64,
}

/// State of the arriving unit's queue, at a port with several.
pub(super) struct QueueState {
    pub(super) number: usize,
    pub(super) units: Units,
    pub(super) bytes: Bytes,
    /// The queue's own buffer is full.
    pub(super) is_full: bool,
    /// The port's buffer is full, and the port will make room.
    pub(super) evicts: bool,
}

impl BufferState {
    #[inline]
    fn content(&self) -> BufferContent {
        BufferContent { units: self.units, bytes: self.bytes }
    }
}

/// A unit at its departure from a queue.
pub(super) struct Departing<'a> {
    pub(super) queue: usize,
    pub(super) unit: &'a Unit,
    pub(super) departure: &'a Departure,
}

impl Equipment {
    /// Bytes outside the structure, including the overhead of allocations.
    pub(super) const COLD_BYTES: usize = size_of::<ColdPortState>() + size_of::<ExceptionCounts>() + 2 * 16;
    /// The same for a policy other than `drop_tail`, without its state of each flow.
    pub(super) const POLICY_BYTES: usize = size_of::<Policies>() + 16;
    /// The same for listed drops and recordings, without their entries.
    pub(super) const OBSERVER_BYTES: usize = size_of::<Observers>() + 16;

    /// `policies`: one per queue.
    pub(super) fn new(spec: &network::Port, of: &network::Network, policies: Vec<Policies>, kept: PortRecording) -> Equipment {
        let mut other_policies = policies;
        let policy = other_policies.remove(0);
        let price_writer = PriceWriter::new(spec, of, &policy).map(Box::new);
        let mut equipment = Equipment {
            services: ServiceTimeCache::default(),
            delay: spec.delay,
            buffer: spec.buffer,
            counts_in_service: spec.counts_in_service,
            is_observed: false,
            tracks_flows: policy.tracks_flows() || other_policies.iter().any(Policies::tracks_flows),
            writes_signals: policy.writes_signals() || other_policies.iter().any(Policies::writes_signals),
            warm_counts: WarmCounts::default(),
            rest: Cold(Some(Box::new(ColdPortState {
                rate: spec.rate,
                policy: (!policy.is_drop_tail()).then(|| Box::new(policy)),
                other_policies: other_policies.into(),
                counts: PortCounts::default(),
                price_writer,
                losses: Losses::new(spec, of),
                disturbance: Disturbance::new(spec, of).map(Box::new),
                shaper: spec.shaper.map(|spec| Box::new(TokenBucket::new(spec))),
                observers: Observers::new(spec, of, kept),
            }))),
        };
        equipment.is_observed = equipment.observes();
        equipment
    }

    /// A copy of this port for a domain that does not own it, without the state outside the structure.
    pub(super) fn of_another_part(&self) -> Equipment {
        Equipment { rest: Cold(None), ..*self }
    }

    /// The policy of a queue.
    #[inline]
    pub(super) fn policy(&mut self, queue: usize) -> &mut Policies {
        match queue {
            0 => self.rest.first_policy(),
            other => &mut self.rest.other_policies[other - 1],
        }
    }

    /// A unit of the flow is in the buffer, in this queue.
    #[inline]
    pub(super) fn note_enqueued(&mut self, queue: usize, flow: FlowId) {
        if self.tracks_flows {
            self.policy(queue).on_enqueue(flow);
        }
    }

    /// A unit of the flow has left the buffer.
    #[inline]
    pub(super) fn note_dequeued(&mut self, queue: usize, flow: FlowId) {
        if self.tracks_flows {
            self.policy(queue).on_dequeue(flow);
        }
    }

    /// Whether the port's buffer has no room for another unit.
    pub(super) fn is_full(&self, content: BufferContent, bytes: Bytes) -> bool {
        self.buffer.lacks_room(content, bytes)
    }

    /// Whether the port's buffer counts bytes.
    pub(super) fn counts_bytes(&self) -> bool {
        matches!(self.buffer, Buffer::Bytes(_))
    }

    /// The failure of user code, if any.
    pub(crate) fn failure(&self, time: Time) -> Option<Failure> {
        let mut policies = self.rest.policy.as_deref().into_iter().chain(&self.rest.other_policies);
        policies.find_map(|policy| policy.failure(time))
    }

    /// Whether anything besides the buffer, the policy and the trace needs processing.
    pub(crate) fn observes(&self) -> bool {
        self.rest.observers.as_ref().is_some_and(|observers| observers.waits.is_some()) || self.observes_more_than_waits()
    }

    /// The same without percentiles of waiting times.
    pub(super) fn observes_more_than_waits(&self) -> bool {
        let ColdPortState { losses, observers, .. } = &*self.rest;
        let is_observed =
            |of: &Observers| of.of_flows.is_some() || of.departures.is_some() || !of.listed.is_empty() || of.mtu.is_some();
        losses.may_happen() || observers.as_deref().is_some_and(is_observed)
    }

    pub(super) fn is_traced(&self) -> bool {
        self.trace().is_some()
    }

    /// Occupancy after each change, if traced.
    pub(super) fn trace(&self) -> Option<&Vec<(Time, u32)>> {
        self.rest.observers.as_ref()?.trace.as_ref()
    }

    #[inline]
    pub(super) fn trace_mut(&mut self) -> Option<&mut Vec<(Time, u32)>> {
        self.rest.observers.as_mut()?.trace.as_mut()
    }

    pub(crate) fn delay(&self) -> TimeDelta {
        self.delay
    }

    pub(crate) fn set_rate(&mut self, rate: Rate) {
        if let Some(rest) = &mut self.rest.0 {
            rest.rate = rate;
        }
        self.services = ServiceTimeCache::default();
    }

    pub(crate) fn set_delay(&mut self, delay: TimeDelta) {
        self.delay = delay;
    }

    pub(crate) fn set_buffer(&mut self, buffer: Buffer) {
        self.buffer = buffer;
    }

    pub(crate) fn set_loss(&mut self, share: f64) {
        if let Some(rest) = &mut self.rest.0 {
            rest.losses.set_share(share);
            self.is_observed = self.observes();
        }
    }

    pub(crate) fn has_listed_drops(&self) -> bool {
        self.rest.observers.as_ref().is_some_and(|observers| !observers.listed.is_empty())
    }

    /// The port will discard this datagram of an external flow.
    pub(crate) fn list_drop(&mut self, datagram: ListedDrop) {
        self.rest.observers.get_or_insert_default().listed.add(datagram);
        self.is_observed = true;
    }

    pub(crate) fn wait_percentile(&self, share: f64) -> Option<f64> {
        self.rest.observers.as_ref()?.waits.as_ref().map(|waits| waits.percentile(share))
    }

    /// Current price; NaN for a port that has none, or none yet.
    pub(crate) fn price(&self) -> f64 {
        self.rest.policy.as_ref().and_then(|policy| policy.price()).unwrap_or(f64::NAN)
    }

    /// The update period of each queue's policy.
    pub(crate) fn periods(&self) -> impl Iterator<Item = Option<TimeDelta>> {
        let first = self.rest.policy.as_deref().and_then(Policies::period);
        std::iter::once(first).chain(self.rest.other_policies.iter().map(Policies::period))
    }

    /// Transmission time of a unit on one transmitter.
    #[inline]
    pub(crate) fn service(&mut self, bytes: Bytes) -> TimeDelta {
        self.services.of(bytes, || self.rest.rate)
    }

    /// Long-run sending rate of the port with this number of transmitters.
    pub(super) fn drain_rate(&self, transmitters: u64) -> Rate {
        let rate = Rate(self.rest.rate.0 * transmitters);
        self.rest.shaper.as_ref().map_or(rate, |shaper| rate.min(shaper.rate()))
    }

    /// Time at which a unit whose departure has come may be sent; at a shaper it waits for tokens.
    pub(super) fn earliest_departure(&mut self, now: Time, bytes: Bytes) -> Time {
        self.rest.shaper.as_mut().map_or(now, |shaper| shaper.take_in_time(now, bytes))
    }

    /// Admit the unit, marked or not, or return the reason for its discard.
    #[inline]
    pub(super) fn admit<C: PortFeatures>(
        &mut self,
        passage: &mut Passage,
        held: &BufferState,
        of_queue: Option<&QueueState>,
    ) -> Result<(), DropReason> {
        let Passage { packet, bytes, interval, packets } = passage;
        let bytes = *bytes;
        if C::HAS_OBSERVERS
            && self.is_observed
            && let Some(observers) = &mut self.rest.observers
        {
            if observers.mtu.is_some_and(|mtu| bytes > mtu) {
                return Err(DropReason::AboveMtu);
            }
            if observers.listed.discards(packet, packets) {
                return Err(DropReason::Listed);
            }
        }
        let full = held.busy
            && match of_queue {
                None => self.buffer.lacks_room(held.content(), bytes),
                Some(queue) => queue.is_full || (!queue.evicts && self.buffer.lacks_room(held.content(), bytes)),
            };
        if !C::HAS_POLICY {
            return if full { Err(DropReason::Full) } else { Ok(()) };
        }
        let unit = Unit { bytes, is_last: packet.is_last() };
        // The policy's records track the occupancy per flow.
        let (number, units, held_bytes) = match of_queue {
            None => (0, held.units, held.bytes),
            Some(queue) => (queue.number, queue.units, queue.bytes),
        };
        let occupancy = Occupancy {
            units,
            bytes: held_bytes,
            of_flow: Units(0),
            flows: 0,
            backlogged: 0,
            has_room: !full,
            idle: held.idle,
            rate: if C::HAS_OBSERVERS { self.drain_rate(held.transmitters) } else { Rate(self.rest.rate.0 * held.transmitters) },
        };
        if packet.is_rm() {
            // An RM cell belongs to no frame and is not data.
            self.policy(number).on_rm(&unit, packet, occupancy);
            return if full { Err(DropReason::Full) } else { Ok(()) };
        }
        match self.policy(number).on_arrival(&unit, packet.flow, occupancy, packet.time) {
            Verdict::Discard(reason) => Err(reason),
            _ if full => Err(DropReason::Full),
            Verdict::Accept => Ok(()),
            Verdict::Mark => self.mark(packet, packet.time, DropReason::Early, interval),
        }
    }

    /// A packet whose sender uses prices arrives.
    #[cold]
    pub(super) fn read_price_header(&mut self, packet: &Packet, bytes: Bytes, packets: &mut Packets) {
        if self.rest.price_writer.is_some() {
            let unit = Unit { bytes, is_last: packet.is_last() };
            self.policy(0).on_price_header(&unit, packets.price_header(packet));
        }
    }

    /// The policy publishes its price, or the price that a user's policy has written.
    #[inline(never)]
    fn write_price(
        &mut self,
        packet: &Packet,
        unit: &Unit,
        written: Option<f64>,
        now: Time,
        interval: &MeasurementInterval,
        packets: &mut Packets,
    ) {
        let ColdPortState { price_writer, policy, counts, .. } = &mut *self.rest;
        if let (Some(writer), Some(policy)) = (price_writer, policy)
            && writer.write(policy, unit, written, packets.price_header(packet))
        {
            counts.exceptions_mut().beyond_range.add(interval.part(now), 1);
        }
    }

    /// Whether [`Equipment::signal`] has an effect on this packet.
    #[inline]
    pub(super) fn may_signal(&mut self, packet: &Packet, queue: usize) -> bool {
        packet.has_price() || (self.writes_signals && self.policy(queue).writes_signals())
    }

    /// Apply the policy to the signal that a packet carries.
    pub(super) fn signal(
        &mut self,
        packet: &mut Packet,
        departing: &Departing,
        interval: &MeasurementInterval,
        packets: &mut Packets,
    ) {
        let &Departing { queue, unit, departure } = departing;
        let before = packets.signal(packet);
        let mut signal = before;
        self.policy(queue).on_signal(unit, departure, &mut signal);
        let is_user_written = self.rest.price_writer.as_ref().is_some_and(|price_writer| price_writer.is_user_written);
        let written = if is_user_written { signal.price.take() } else { None };
        packets.write_signal(packet, &signal);
        if packet.has_price() {
            self.write_price(packet, unit, written, departure.now, interval, packets);
        }
        if departure.is_capable && signal.marks > 0 && before.marks == 0 {
            self.rest.counts.exceptions_mut().marked.add(interval.part(departure.now), 1);
        }
    }

    /// A forward RM cell departs: the policy may lower its explicit rate.
    #[cold]
    pub(super) fn write_rate(&mut self, cell: &mut Packet, queue: usize) {
        if let Some(max) = self.policy(queue).explicit_rate(cell.flow) {
            let rm = cell.rm();
            cell.write_rm(&RmCell { er: rm.er.min(max), ..rm });
        }
    }

    /// Mark a packet. A packet that is not ECN-capable is discarded for this reason.
    pub(super) fn mark(
        &mut self,
        packet: &mut Packet,
        now: Time,
        otherwise: DropReason,
        interval: &MeasurementInterval,
    ) -> Result<(), DropReason> {
        if packet.has_price() && self.rest.price_writer.as_ref().is_some_and(|price_writer| !price_writer.is_user_written) {
            // The sender uses the price and needs no mark.
            return Ok(());
        }
        if !packet.is_capable() {
            return Err(otherwise);
        }
        packet.mark();
        self.rest.counts.exceptions_mut().marked.add(interval.part(now), 1);
        Ok(())
    }

    /// Random losses before the queue.
    #[inline]
    pub(super) fn survives_approach(&mut self, arrival: Time, interval: &MeasurementInterval) -> Result<(), DropReason> {
        if !self.is_observed {
            return Ok(());
        }
        let ColdPortState { losses, counts, .. } = &mut *self.rest;
        losses.spare(LossAt::BeforeQueue, [arrival; 2], counts, interval)
    }

    /// Random losses on the link, of a unit that arrived at the port and left it at these times.
    #[inline]
    pub(super) fn survives_wire(&mut self, times: [Time; 2], interval: &MeasurementInterval) -> Result<(), DropReason> {
        if !self.is_observed {
            return Ok(());
        }
        let ColdPortState { losses, counts, .. } = &mut *self.rest;
        losses.spare(LossAt::Wire, times, counts, interval)
    }

    /// Whether random losses take place before the queue.
    pub(crate) fn loses_before_queue(&self) -> bool {
        self.rest.losses.are_before_queue()
    }

    /// Delay of the next packet, or copy of one, to the far end.
    pub(super) fn delay_of_next(&mut self) -> TimeDelta {
        self.delay + self.rest.disturbance.as_mut().map_or(TimeDelta::ZERO, |disturbance| disturbance.jitter())
    }

    /// Whether the link duplicates a packet that left now.
    pub(super) fn duplicates(&mut self, now: Time, interval: &MeasurementInterval) -> bool {
        let is_duplicated = self.rest.disturbance.as_mut().is_some_and(|disturbance| disturbance.duplicates());
        if is_duplicated {
            self.rest.counts.exceptions_mut().duplicated.add(interval.part(now), 1);
        }
        is_duplicated
    }

    /// Record a departure for the table of flows and the trace of departures, if requested.
    #[inline]
    pub(super) fn note_departure(&mut self, flow: FlowId, departure: Time, bytes: Bytes, interval: &MeasurementInterval) {
        if !self.is_observed {
            return;
        }
        let Some(observers) = &mut self.rest.observers else { return };
        if let Some(of_flows) = &mut observers.of_flows {
            let passed = of_flows.entry(flow).or_default();
            let part = interval.part(departure);
            passed.units.add(part, 1);
            passed.bytes.add(part, bytes.0);
        }
        if let Some(departures) = &mut observers.departures {
            departures.push(DepartureRow { time: departure, flow, bytes: bytes.0 as u32 });
        }
    }

    /// Past and computed departures, if traced.
    pub(crate) fn departures(&self) -> &[DepartureRow] {
        self.rest.observers.as_ref().and_then(|observers| observers.departures.as_deref()).unwrap_or_default()
    }

    /// Units and bytes sent per flow, if counted.
    pub(crate) fn of_flows(&self) -> impl Iterator<Item = (FlowId, &FlowTotals)> {
        let of_flows = self.rest.observers.as_ref().and_then(|observers| observers.of_flows.as_ref());
        of_flows.into_iter().flatten().map(|(&flow, passed)| (flow, passed))
    }
}
