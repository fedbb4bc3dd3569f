//! A port with several transmitters that computes departures on arrival. All its units have the same service time.

use super::equipment::{BufferState, Equipment};
use super::passage::Passage;
use super::port_features::DropTailPort;
use crate::primitives::units::{Bytes, Time, TimeDelta, Units};
use crate::queue::DropReason;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Units of one size leave K transmitters in the order in which they came: `departure(n) = max(arrival(n), departure(n - K)) + service`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Channels {
    transmitters: usize,
    /// Departure times of the units in the port: those in service, then those queued.
    departures: VecDeque<Time>,
}

impl Channels {
    pub(super) fn new(transmitters: u32) -> Channels {
        Channels { transmitters: transmitters as usize, departures: VecDeque::new() }
    }

    /// Like [`PrecomputedQueue::pass`](super::precomputed_queue::PrecomputedQueue::pass), for units of one size and a policy that accepts all that
    /// fit.
    #[inline(never)]
    pub(super) fn pass(&mut self, equipment: &mut Equipment, passage: &mut Passage) -> Result<(), DropReason> {
        let (bytes, interval, now) = (passage.bytes, passage.interval, passage.packet.time);
        self.remove_departed(now);
        let waiting = self.waiting();
        let there = if equipment.counts_in_service { self.departures.len() } else { waiting.unwrap_or(0) } as u64;
        let held = BufferState {
            busy: waiting.is_some(),
            units: Units(there),
            bytes: Bytes(there * bytes.0),
            // Only policies use it.
            idle: TimeDelta::ZERO,
            transmitters: self.transmitters as u64,
        };
        if let Err(reason) = equipment.admit::<DropTailPort>(passage, &held, None) {
            equipment.rest.counts.discard(reason, now, interval);
            return Err(reason);
        }
        let [start, departure] = self.take(now, equipment.service(bytes));
        equipment.count_through::<DropTailPort>([now, start, departure], bytes, &held, interval);
        equipment.fold_busy();
        passage.packet.time = departure + equipment.delay;
        passage.packet.next_hop();
        Ok(())
    }

    /// Remove the units that have left by now.
    fn remove_departed(&mut self, now: Time) {
        while self.departures.pop_front_if(|departure| *departure <= now).is_some() {}
    }

    /// Number of queued units, if all transmitters are busy.
    fn waiting(&self) -> Option<usize> {
        self.departures.len().checked_sub(self.transmitters)
    }

    /// Add a unit. Returns the start and the end of its service.
    fn take(&mut self, now: Time, service: TimeDelta) -> [Time; 2] {
        let start = self.waiting().map_or(now, |next_free| self.departures[next_free]);
        self.departures.push_back(start + service);
        [start, start + service]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_take_the_transmitter_that_is_free_first() {
        let mut channels = Channels::new(2);
        let mut arrive = |at: u64| {
            channels.remove_departed(Time(at));
            let waiting = channels.waiting();
            (waiting, channels.take(Time(at), TimeDelta(10)).map(|time| time.0))
        };
        // Two are in service, two are queued.
        assert_eq!([0, 3, 4, 5].map(&mut arrive), [(None, [0, 10]), (None, [3, 13]), (Some(0), [10, 20]), (Some(1), [13, 23])]);
        // A unit that departs at the instant of an arrival has already left.
        assert_eq!([13, 13].map(&mut arrive), [(Some(0), [20, 30]), (Some(1), [23, 33])]);
        assert_eq!([100, 100, 100].map(&mut arrive), [(None, [100, 110]), (None, [100, 110]), (Some(0), [110, 120])]);
    }
}
