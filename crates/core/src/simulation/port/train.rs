//! A port without traces whose policy accepts all units that fit, if all queued units have the same size. It stores the number of queued
//! units, but not the units. Departures are computed on arrival: `departure = max(arrival, free) + service`. Of the rare features, it has
//! only the percentiles of waiting times.

use super::equipment::{BufferState, Equipment};
use super::passage::Passage;
use super::port_features::{DropTailPort, PortFeatures};
use super::precomputed_queue::{PrecomputedQueue, QueuedUnit};
use crate::primitives::pooled_queue::Pool;
use crate::primitives::units::{Bytes, Time, TimeDelta, Units};
use crate::queue::DropReason;
use serde::{Deserialize, Serialize};

/// The buffer and the transmitter. Units that have gone into service are removed at the next arrival.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Train {
    /// When the transmitter becomes idle.
    free: Time,
    /// Start of service of the first queued unit; the others follow without a gap.
    start: Time,
    /// Service time of each queued unit.
    service: TimeDelta,
    units: u32,
    /// Size of each queued unit.
    bytes: u32,
    /// Size of the unit last taken into service.
    serving_bytes: u32,
}

/// A unit would have to queue behind units of a different size.
pub(super) struct SizeMismatch;

impl Train {
    /// A packet arrives at its time. On success that becomes its arrival at the far end. If it would have to queue behind
    /// units of a different size, nothing is changed.
    #[inline(always)]
    pub(super) fn pass<C: PortFeatures>(
        &mut self,
        equipment: &mut Equipment,
        passage: &mut Passage,
    ) -> Result<Result<(), DropReason>, SizeMismatch> {
        let (bytes, interval, now) = (passage.bytes, passage.interval, passage.packet.time);
        self.strike_off(now);
        let service = equipment.service(bytes);
        if self.units > 0 && (self.service, self.bytes) != (service, bytes.0 as u32) {
            return Err(SizeMismatch);
        }
        let held = self.held(now, equipment);
        if let Err(reason) = equipment.admit::<DropTailPort>(passage, &held, None) {
            equipment.rest.counts.discard(reason, now, interval);
            return Ok(Err(reason));
        }
        let start = self.free.max(now);
        self.free = start + service;
        match self.units {
            _ if !held.busy => self.serving_bytes = bytes.0 as u32,
            0 => (self.start, self.service, self.units, self.bytes) = (start, service, 1, bytes.0 as u32),
            _ => self.units += 1,
        }
        equipment.count_through::<C>([now, start, self.free], bytes, &held, interval);
        passage.packet.time = self.free + equipment.delay;
        passage.packet.next_hop();
        Ok(Ok(()))
    }

    /// Remove the units that have gone into service by `now`.
    #[inline(always)]
    fn strike_off(&mut self, now: Time) {
        while self.units > 0 && self.start <= now {
            self.units -= 1;
            self.start += self.service;
            self.serving_bytes = self.bytes;
        }
    }

    #[inline]
    fn held(&self, now: Time, equipment: &Equipment) -> BufferState {
        if self.free <= now {
            let idle = now.since(self.free);
            return BufferState { busy: false, units: Units(0), bytes: Bytes(0), idle, transmitters: 1 };
        }
        let in_service = u64::from(equipment.counts_in_service);
        let waiting = u64::from(self.units);
        BufferState {
            busy: true,
            units: Units(waiting + in_service),
            bytes: Bytes(waiting * u64::from(self.bytes) + in_service * u64::from(self.serving_bytes)),
            idle: TimeDelta::ZERO,
            transmitters: 1,
        }
    }

    /// The same queue as a list of units.
    #[cold]
    pub(super) fn listed(&self, buffers: &mut Pool<QueuedUnit>) -> PrecomputedQueue {
        let (mut all, mut start) = (PrecomputedQueue::serving(self.free, Bytes(self.serving_bytes.into())), self.start);
        for _ in 0..self.units {
            all.wait(start, Bytes(self.bytes.into()), buffers);
            start += self.service;
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_converts_to_an_equivalent_list() {
        let mut train =
            Train { free: Time(50), start: Time(20), service: TimeDelta(10), units: 3, bytes: 100, serving_bytes: 40 };
        train.strike_off(Time(19));
        assert_eq!((train.units, train.serving_bytes), (3, 40));
        train.strike_off(Time(20));
        assert_eq!((train.units, train.serving_bytes), (2, 100));
        let mut buffers = Pool::default();
        let waiting = train.listed(&mut buffers).waiting();
        assert_eq!(buffers.iter(&waiting).map(|unit| unit.start).collect::<Vec<_>>(), [Time(30), Time(40)]);
        train.strike_off(Time(45));
        assert_eq!(train.units, 0);
    }

    #[test]
    fn units_that_wait_forever_are_listed_without_overflow() {
        let train = Train { start: Time(20), service: TimeDelta(u64::MAX), units: 3, ..Train::default() };
        let mut buffers = Pool::default();
        let waiting = train.listed(&mut buffers).waiting();
        assert_eq!(buffers.iter(&waiting).map(|unit| unit.start).collect::<Vec<_>>(), [Time(20), Time::NEVER, Time::NEVER]);
    }
}
