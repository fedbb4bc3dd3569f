//! Counting of the units that pass a port, and of their times.

use super::Equipment;
use crate::primitives::units::{Bytes, Time, Units};
use crate::simulation::measurement_interval::MeasurementInterval;
use crate::simulation::port::counts::{PortCounts, ServiceTimes};
use crate::simulation::port::equipment::BufferState;
use crate::simulation::port::port_features::PortFeatures;

impl Equipment {
    /// Count a unit that passes a port computed ahead.
    #[inline]
    pub(in crate::simulation::port) fn count_through<C: PortFeatures>(
        &mut self,
        [arrival, start, departure]: [Time; 3],
        bytes: Bytes,
        held: &BufferState,
        interval: &MeasurementInterval,
    ) {
        if arrival >= interval.warmup && departure < interval.end {
            let warm_counts = &mut self.warm_counts;
            warm_counts.units += 1;
            warm_counts.bytes += bytes.0;
            warm_counts.busy = warm_counts.busy + departure.since(start);
            warm_counts.waited += u128::from(start.0 - arrival.0);
            if held.busy || self.counts_in_service {
                warm_counts.max = warm_counts.max.max(held.units.0 + 1);
            }
        } else {
            // A copy, so that the state of the buffer need not be stored in memory otherwise.
            self.count_at_edges([arrival, start, departure], bytes, &{ *held }, interval);
        }
        if C::HAS_OBSERVERS {
            self.count_wait(arrival, start, interval);
        }
    }

    /// Count a unit that passes such a port partly outside the measurement interval.
    #[cold]
    #[inline(never)]
    fn count_at_edges(
        &mut self,
        [arrival, start, departure]: [Time; 3],
        bytes: Bytes,
        held: &BufferState,
        interval: &MeasurementInterval,
    ) {
        self.count_accepted(arrival, interval);
        if held.busy || self.counts_in_service {
            self.count_occupancy(arrival, Units(held.units.0 + 1), interval);
        }
        self.count_service(ServiceTimes { arrival, taken: start, start, departure }, bytes, interval);
    }

    /// With many transmitters the busy time may exceed the range of the narrow sum.
    #[inline]
    pub(in crate::simulation::port) fn fold_busy(&mut self) {
        if self.warm_counts.busy.0 > u64::MAX / 2 {
            let busy = u128::from(std::mem::take(&mut self.warm_counts.busy.0));
            self.rest.counts.busy += busy;
            self.rest.counts.held += if self.counts_in_service { busy } else { 0 };
        }
    }

    #[inline]
    pub(in crate::simulation::port) fn count_accepted(&mut self, now: Time, interval: &MeasurementInterval) {
        self.rest.counts.accepted.add(interval.part(now), 1);
    }

    /// Count the units in the buffer after an arrival.
    #[inline]
    pub(in crate::simulation::port) fn count_occupancy(&mut self, now: Time, units: Units, interval: &MeasurementInterval) {
        if interval.part(now) == 1 {
            self.rest.counts.max = self.rest.counts.max.max(units.0);
        }
    }

    #[inline]
    pub(in crate::simulation::port) fn count_service(
        &mut self,
        times: ServiceTimes,
        bytes: Bytes,
        interval: &MeasurementInterval,
    ) {
        let ServiceTimes { arrival, taken, start, departure } = times;
        let left = if self.counts_in_service { departure } else { taken };
        let counts = &mut self.rest.counts;
        if arrival >= interval.warmup && departure < interval.end {
            counts.departed.add(1, 1);
            counts.departed_bytes.add(1, bytes.0);
            counts.busy += u128::from(departure.since(start).0);
            counts.held += u128::from(left.since(arrival).0);
            counts.served += 1;
            counts.waited += u128::from(start.since(arrival).0);
            return;
        }
        let part = interval.part(departure);
        counts.departed.add(part, 1);
        counts.departed_bytes.add(part, bytes.0);
        counts.busy += u128::from(interval.overlap(start, departure).0);
        counts.add_held([arrival, left], interval);
        if interval.measures(start) {
            counts.served += 1;
            counts.waited += u128::from(start.since(arrival).0);
        }
    }

    /// Record a waiting time for percentiles, if requested.
    #[inline]
    pub(in crate::simulation::port) fn count_wait(&mut self, arrival: Time, start: Time, interval: &MeasurementInterval) {
        if self.is_observed
            && let Some(waits) = self.rest.observers.as_mut().and_then(|observers| observers.waits.as_mut())
            && interval.measures(start)
        {
            waits.add(start.since(arrival));
        }
    }

    /// All counters.
    pub(crate) fn counts(&self) -> PortCounts {
        let (mut counts, warm_counts) = (self.rest.counts.clone(), &self.warm_counts);
        counts.accepted.add(1, warm_counts.units);
        counts.departed.add(1, warm_counts.units);
        counts.departed_bytes.add(1, warm_counts.bytes);
        counts.busy += u128::from(warm_counts.busy.0);
        counts.waited += warm_counts.waited;
        counts.held += warm_counts.waited + if self.counts_in_service { u128::from(warm_counts.busy.0) } else { 0 };
        counts.served += warm_counts.units;
        counts.max = counts.max.max(warm_counts.max);
        counts
    }

    /// Count a discarded unit of an acknowledgement.
    pub(crate) fn count_dropped_ack(&mut self, now: Time, interval: &MeasurementInterval) {
        self.rest.counts.exceptions_mut().dropped_acks.add(interval.part(now), 1);
    }
}
