//! A port: buffer, transmitters and delay line. It discards units that do not fit; further discards are decided by its policy.

mod ack_merge;
mod channels;
mod counts;
mod delivery;
mod equipment;
mod impairments;
mod listed_losses;
mod longest_queue;
mod multi_queue;
mod passage;
mod port_features;
mod precomputed_queue;
mod price_writer;
mod queue;
mod scheduled_service;
mod stepped;
mod train;
mod transmitters;
mod varying_service;

pub(crate) use ack_merge::AckMerge;
pub(crate) use counts::{FlowTotals, PortCounts};
pub(crate) use equipment::{Equipment, PortRecording};
pub(crate) use impairments::ReorderedPackets;
pub(crate) use multi_queue::{ClassCounts, MultiQueue, QueuesOfFlows};
pub(crate) use passage::Passage;
pub(crate) use precomputed_queue::QueuedUnit;
pub(crate) use stepped::{ArrivalOutcome, Departures, ServiceTurn, Stepped};
pub(crate) use transmitters::PacketInService;

use crate::network;
use crate::primitives::pooled_queue::{Pool, PooledQueue};
use crate::primitives::units::Time;
use crate::queue::{DropReason, Policies};
use crate::record::recorder::OccupancyRows;
use crate::user_code::Failure;
use channels::Channels;
use port_features::{DropTailPort, FullPort, PolicyPort, TimedPort, TracedPort};
use precomputed_queue::PrecomputedQueue;
use serde::{Deserialize, Serialize};
use stepped::SteppedSetup;
use train::{SizeMismatch, Train};

/// Layout in cache lines: entry and service; properties that every packet needs; counters and the delay line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C, align(64))]
pub(crate) struct Port {
    pub(crate) entry: Entry,
    pub(crate) service_mode: ServiceMode,
    pub(crate) equipment: Equipment,
    /// Packets on their way to a place that needs an event.
    pub(crate) line: PooledQueue,
}

/// How arrivals enter a port. Every hop checks this. `repr(u8)` puts the tag in a byte of its own, so that the check is one comparison; the
/// same holds for [`ServiceMode`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(u8)]
pub(crate) enum Entry {
    /// At once: one line feeds the port, in order.
    Immediate,
    /// In the order of events: several lines feed the port, or the port is stepped.
    ByEvent,
    /// In the order of events, but acknowledgements directly from their receivers are ordered here instead of being events.
    Gathered(Box<AckMerge>),
    /// On arrival of the head ([`Switching::CutThrough`](network::Switching::CutThrough)).
    Heads { by_event: bool },
}

/// Whether a port is stepped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stepping {
    /// Yes; the departures take place in this way.
    Needed(Departures),
    /// Only if the port has several transmitters and more than a drop-tail policy.
    IfNeeded,
}

/// Parts of a port, besides its description.
pub(crate) struct PortSetup {
    /// One per queue.
    pub(crate) policies: Vec<Policies>,
    /// Present if there are several queues.
    pub(crate) multi_queue: Option<MultiQueue>,
    pub(crate) kept: PortRecording,
    pub(crate) stepping: Stepping,
    /// Number of the port's first transmitter among those of all stepped ports.
    pub(crate) first_transmitter: u32,
}

/// How a port serves. There are two ways with the same result. *Ahead*: the departure is computed on arrival, and departed units are
/// removed at the next arrival; no event is needed. *Stepped*: units leave the queue one at a time ([`Departures`]).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(u8)]
pub(crate) enum ServiceMode {
    /// Ahead, with a policy that accepts all units that fit, if all queued units have the same size.
    UniformDropTail(Train),
    /// The same for a port at which units of several sizes have been queued. Most ports of a large network are of this kind.
    DropTail(PrecomputedQueue),
    /// Like `UniformDropTail`, with percentiles of waiting times.
    TimedDropTail(Train),
    /// Ahead, with a policy that decides.
    WithPolicy(PrecomputedQueue),
    /// Ahead, with a policy that accepts all units that fit, and with a trace.
    TracedDropTail(PrecomputedQueue),
    /// Ahead, with listed drops, random loss or percentiles, or with a policy and a trace.
    AllFeatures(PrecomputedQueue),
    /// Ahead on several transmitters, with a policy that accepts all units that fit.
    Channels(Box<Channels>),
    Stepped(Box<Stepped>),
}

impl Port {
    /// Bytes of a port outside the structure, without state that grows or that few ports have.
    pub(crate) const COLD_BYTES: usize = Equipment::COLD_BYTES;
    /// The same for the policy of a port whose policy is not `drop_tail`.
    pub(crate) const POLICY_BYTES: usize = Equipment::POLICY_BYTES;
    /// The same for a port with listed drops or recordings.
    pub(crate) const OBSERVER_BYTES: usize = Equipment::OBSERVER_BYTES;

    pub(crate) fn new(spec: &network::Port, of: &network::Network, setup: PortSetup) -> Port {
        let PortSetup { policies, multi_queue, kept, stepping, first_transmitter } = setup;
        let (queues, accepts_all) = (policies.len(), policies.iter().all(Policies::accepts_all));
        let equipment = Equipment::new(spec, of, policies, kept);
        let (is_observed, is_traced) = (equipment.observes(), equipment.is_traced());
        let has_channels = spec.transmitters > 1;
        let takes_care = !accepts_all || is_observed || is_traced;
        let service_mode = match () {
            () if stepping != Stepping::IfNeeded || (has_channels && takes_care) => {
                let departures = if let Stepping::Needed(departures) = stepping { departures } else { Departures::Events };
                let warmup = Time::ZERO + of.warmup;
                let setup = SteppedSetup { departures, first_transmitter, queues, multi_queue, warmup };
                ServiceMode::Stepped(Box::new(Stepped::new(spec, setup)))
            }
            () if has_channels => ServiceMode::Channels(Box::new(Channels::new(spec.transmitters))),
            () if is_observed && accepts_all && !is_traced && !equipment.observes_more_than_waits() => {
                ServiceMode::TimedDropTail(Train::default())
            }
            () if is_observed || (is_traced && !accepts_all) => ServiceMode::AllFeatures(PrecomputedQueue::default()),
            () if is_traced => ServiceMode::TracedDropTail(PrecomputedQueue::default()),
            () if accepts_all => ServiceMode::UniformDropTail(Train::default()),
            () => ServiceMode::WithPolicy(PrecomputedQueue::default()),
        };
        Port { entry: Entry::ByEvent, service_mode, equipment, line: PooledQueue::default() }
    }

    /// A copy of this port for a domain that does not own it.
    pub(crate) fn of_another_part(&self) -> Port {
        let Port { entry, service_mode, equipment, line } = self;
        Port { entry: entry.clone(), service_mode: service_mode.clone(), equipment: equipment.of_another_part(), line: *line }
    }

    /// A packet arrives at its time at a port computed ahead. On success its time becomes its arrival at the far end; if the
    /// link loses it, its departure. `None`: the port is stepped.
    #[inline(always)]
    pub(crate) fn pass(&mut self, mut passage: Passage, buffers: &mut Pool<QueuedUnit>) -> Option<Result<(), DropReason>> {
        if let ServiceMode::UniformDropTail(train) = &mut self.service_mode {
            match train.pass::<DropTailPort>(&mut self.equipment, &mut passage) {
                Ok(passed) => return Some(passed),
                Err(SizeMismatch) => self.service_mode = ServiceMode::DropTail(train.listed(buffers)),
            }
        } else if let ServiceMode::Stepped(_) = &self.service_mode {
            return None;
        }
        self.pass_mixed(passage, buffers)
    }

    /// A separate function, so that the common case of one size stays fast.
    #[inline(never)]
    fn pass_mixed(&mut self, mut passage: Passage, buffers: &mut Pool<QueuedUnit>) -> Option<Result<(), DropReason>> {
        if let ServiceMode::DropTail(queue) = &mut self.service_mode {
            return Some(queue.pass::<DropTailPort>(&mut self.equipment, &mut passage, buffers));
        }
        self.pass_with_features(passage, buffers)
    }

    /// A separate function, so that rare features have no cost for other ports.
    #[inline(never)]
    fn pass_with_features(&mut self, mut passage: Passage, buffers: &mut Pool<QueuedUnit>) -> Option<Result<(), DropReason>> {
        if let ServiceMode::WithPolicy(queue) = &mut self.service_mode {
            return Some(queue.pass::<PolicyPort>(&mut self.equipment, &mut passage, buffers));
        }
        self.pass_observed(passage, buffers)
    }

    #[inline(never)]
    fn pass_observed(&mut self, mut passage: Passage, buffers: &mut Pool<QueuedUnit>) -> Option<Result<(), DropReason>> {
        if let ServiceMode::TimedDropTail(train) = &mut self.service_mode {
            match train.pass::<TimedPort>(&mut self.equipment, &mut passage) {
                Ok(passed) => return Some(passed),
                Err(SizeMismatch) => self.service_mode = ServiceMode::AllFeatures(train.listed(buffers)),
            }
        }
        match &mut self.service_mode {
            ServiceMode::Channels(channels) => Some(channels.pass(&mut self.equipment, &mut passage)),
            ServiceMode::TracedDropTail(queue) => Some(queue.pass::<TracedPort>(&mut self.equipment, &mut passage, buffers)),
            ServiceMode::AllFeatures(queue) => Some(queue.pass::<FullPort>(&mut self.equipment, &mut passage, buffers)),
            _ => None,
        }
    }

    /// The buffer and transmitters of a stepped port, and its equipment.
    #[inline]
    pub(crate) fn stepped_mut(&mut self) -> Option<(&mut Stepped, &mut Equipment)> {
        if let ServiceMode::Stepped(stepped) = &mut self.service_mode { Some((stepped, &mut self.equipment)) } else { None }
    }

    /// Like [`Port::stepped_mut`] at an event that only stepped ports have. A panic of the engine is reported with the scenario's hash and
    /// the seed.
    #[inline]
    pub(crate) fn expect_stepped(&mut self) -> (&mut Stepped, &mut Equipment) {
        match self.stepped_mut() {
            Some(parts) => parts,
            None => unreachable!("an event of a stepped port at a port that is not"),
        }
    }

    /// Whether each departure is an event.
    pub(crate) fn departs_by_event(&self) -> bool {
        self.stepped().is_some_and(|stepped| stepped.departures == Departures::Events)
    }

    /// Whether arrivals have to be processed at their time, and not ahead of it.
    pub(crate) fn needs_present(&self) -> bool {
        // The final price is a result.
        let has_price = !self.equipment.price().is_nan();
        let has_period = || {
            self.equipment.periods().chain([self.stepped().and_then(Stepped::period_of_scheduler)]).any(|period| period.is_some())
        };
        self.departs_by_event() || has_price || has_period()
    }

    #[inline]
    pub(crate) fn stepped(&self) -> Option<&Stepped> {
        if let ServiceMode::Stepped(stepped) = &self.service_mode { Some(stepped) } else { None }
    }

    /// Packets on a link on which they may overtake one another.
    pub(crate) fn reordered_packets(&self) -> Option<&ReorderedPackets> {
        self.stepped().and_then(Stepped::reordered_packets)
    }

    pub(crate) fn reordered_packets_mut(&mut self) -> Option<&mut ReorderedPackets> {
        self.stepped_mut().and_then(|(stepped, _)| stepped.reordered_packets_mut())
    }

    /// The queued units, if the port lists each of them other than as packets in a line.
    pub(crate) fn waiting(&self) -> Option<PooledQueue> {
        match &self.service_mode {
            ServiceMode::DropTail(queue)
            | ServiceMode::WithPolicy(queue)
            | ServiceMode::TracedDropTail(queue)
            | ServiceMode::AllFeatures(queue) => Some(queue.waiting()),
            ServiceMode::UniformDropTail(_)
            | ServiceMode::TimedDropTail(_)
            | ServiceMode::Channels(_)
            | ServiceMode::Stepped(_) => None,
        }
    }

    /// Replace the list of queued units.
    pub(crate) fn set_waiting(&mut self, waiting: PooledQueue) {
        match &mut self.service_mode {
            ServiceMode::DropTail(queue)
            | ServiceMode::WithPolicy(queue)
            | ServiceMode::TracedDropTail(queue)
            | ServiceMode::AllFeatures(queue) => {
                queue.set_waiting(waiting);
            }
            ServiceMode::UniformDropTail(_)
            | ServiceMode::TimedDropTail(_)
            | ServiceMode::Channels(_)
            | ServiceMode::Stepped(_) => {}
        }
    }

    #[inline]
    pub(crate) fn ack_merge_mut(&mut self) -> Option<&mut AckMerge> {
        if let Entry::Gathered(gather) = &mut self.entry { Some(gather) } else { None }
    }

    /// Like [`Port::ack_merge_mut`] at an event that only ports which gather acknowledgements have.
    #[inline]
    pub(crate) fn expect_ack_merge(&mut self) -> &mut AckMerge {
        match self.ack_merge_mut() {
            Some(gather) => gather,
            None => unreachable!("an event of gathered acknowledgements at a port that gathers none"),
        }
    }

    /// The failure of user code, if any.
    pub(crate) fn failure(&self, time: Time) -> Option<Failure> {
        self.equipment.failure(time)
    }

    /// The rows of a traced port, including known future changes; empty for other ports.
    pub(crate) fn trace_rows(&self, buffers: &Pool<QueuedUnit>) -> OccupancyRows<'_> {
        let Some(noted) = self.equipment.trace() else { return OccupancyRows::default() };
        let to_come = match &self.service_mode {
            ServiceMode::WithPolicy(queue) | ServiceMode::TracedDropTail(queue) | ServiceMode::AllFeatures(queue) => {
                queue.changes_to_come(&self.equipment, noted, buffers)
            }
            ServiceMode::UniformDropTail(_)
            | ServiceMode::DropTail(_)
            | ServiceMode::TimedDropTail(_)
            | ServiceMode::Channels(_)
            | ServiceMode::Stepped(_) => Vec::new(),
        };
        OccupancyRows { noted, to_come }
    }

    /// Drop the rows before `end`, except the last, which gives the current occupancy.
    pub(crate) fn forget_trace_rows(&mut self, end: Time) {
        if let Some(noted) = self.equipment.trace_mut() {
            let gone = noted.partition_point(|row| row.0 < end).saturating_sub(1);
            noted.drain(..gone);
        }
    }
}

impl Entry {
    pub(crate) fn needs_event(&self) -> bool {
        !matches!(self, Entry::Immediate | Entry::Heads { by_event: false })
    }

    pub(crate) fn is_of_heads(&self) -> bool {
        matches!(self, Entry::Heads { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_three_cache_lines() {
        assert_eq!(size_of::<Port>(), 192);
    }
}
