//! Weighted fair queueing, or packet-by-packet generalized processor sharing: the unit sent next is the one that would finish first under
//! fluid generalized processor sharing (GPS), so no unit leaves later than under GPS by more than the transmission time of the longest unit
//! (Demers, Keshav and Shenker, 1989; Parekh and Gallager, 1993, theorem 1). When there is no room, the queue with the largest backlog for
//! its weight makes room.
//!
//! Differs: Demers, Keshav and Shenker (section 2) discard the last packet of the queue with the most bytes. A unit discarded at the head of
//! its queue, to make room or by a policy when it is due, leaves GPS as well, with the part of it that GPS had not served at the last arrival;
//! the unit behind it takes its place. A port with several transmitters follows the GPS of a single transmitter with their total rate.

use super::support::virtual_times::{ServedBy, TimedQueue, VirtualTimes, Waiting, timed_queue};
use super::support::{DequeueReason, Dequeued, Enqueued, OverflowRule, Scheduler};
use crate::primitives::units::{Bytes, Time};
use crate::settings::member;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

member! {
    /// Weighted fair queueing: serves packets by their finish time under generalised processor sharing. On overflow the queue with the
    /// largest backlog for its share loses packets.
    Wfq = "wfq", "Parekh and Gallager (1993), A Generalized Processor Sharing Approach to Flow Control";
}

/// Virtual time is in bytes over weight: V of equation (10), times the rate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Wfq {
    weights: Vec<f64>,
    units: VirtualTimes,
    /// Bytes waiting in each queue.
    waiting: Vec<u64>,
    /// Time at which GPS finishes the last unit of each queue.
    last_finishes: Vec<f64>,
    /// Queues backlogged in GPS, by their finish times.
    busy: BTreeSet<TimedQueue>,
    busy_weight: f64,
    virtual_time: f64,
    /// Time at which `virtual_time` was current.
    at: Time,
}

impl Wfq {
    pub(super) fn new(_spec: &(), weights: &[f64]) -> Wfq {
        Wfq {
            weights: weights.to_vec(),
            units: VirtualTimes::new(ServedBy::Finish, weights.len()),
            waiting: vec![0; weights.len()],
            last_finishes: vec![0.0; weights.len()],
            busy: BTreeSet::new(),
            busy_weight: 0.0,
            virtual_time: 0.0,
            at: Time::ZERO,
        }
    }

    /// Advances GPS to the arrival of this unit. As queues become empty, the others share their capacity.
    fn advance(&mut self, joined: &Enqueued) {
        let mut bytes = joined.now.since(self.at).0 as f64 * (joined.rate.0 as f64 / 8e12);
        self.at = joined.now;
        while let Some(&(finish, queue)) = self.busy.first() {
            let finish = f64::from_bits(finish);
            let needed = (finish - self.virtual_time) * self.busy_weight;
            if needed > bytes {
                self.virtual_time += bytes / self.busy_weight;
                return;
            }
            bytes -= needed;
            self.virtual_time = finish;
            self.busy.pop_first();
            self.busy_weight = if self.busy.is_empty() { 0.0 } else { self.busy_weight - self.weights[queue] };
        }
    }
}

impl Wfq {
    /// The time at which GPS finishes the last unit of a queue.
    fn set_last_finish(&mut self, queue: usize, finish: f64) {
        let before = std::mem::replace(&mut self.last_finishes[queue], finish);
        if !self.busy.remove(&timed_queue(before, queue)) {
            self.busy_weight += self.weights[queue];
        }
        self.busy.insert(timed_queue(finish, queue));
    }

    /// Removes a discarded unit from GPS. The units behind it are the last ones that GPS serves.
    #[cold]
    fn withdraw(&mut self, left: &Dequeued) {
        let (queue, weight) = (left.queue, self.weights[left.queue]);
        let backlog = self.last_finishes[queue] - self.virtual_time;
        let behind = self.waiting[queue] as f64 / weight;
        let unserved = (backlog - behind).min(left.bytes.0 as f64 / weight);
        if unserved > 0.0 {
            self.set_last_finish(queue, (self.last_finishes[queue] - unserved).max(self.virtual_time));
        }
    }
}

impl Scheduler for Wfq {
    const OVERFLOW: OverflowRule = OverflowRule::LargestShare;

    fn on_enqueue(&mut self, joined: &Enqueued) {
        self.advance(joined);
        let queue = joined.queue;
        let span = joined.bytes.0 as f64 / self.weights[queue];
        self.set_last_finish(queue, self.last_finishes[queue].max(self.virtual_time) + span);
        self.units.push(queue, Waiting { arrival: self.virtual_time, span });
        self.waiting[queue] += joined.bytes.0;
    }

    fn next(&mut self, _head: &dyn Fn(usize) -> Option<Bytes>) -> Option<usize> {
        self.units.min()
    }

    fn on_dequeue(&mut self, left: &Dequeued) {
        self.units.pop(left.queue, left.reason);
        self.waiting[left.queue] -= left.bytes.0;
        if left.reason == DequeueReason::Discarded {
            self.withdraw(left);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::schedule::SchedulerSpec;
    use crate::schedule::support::model_port::{Arrival, ModelPort, arrivals, depart, overload, overload_of_mixed_sizes};

    #[test]
    fn parekh_and_gallagers_example_with_one_half_and_ten_twentieths() {
        // Queue 0 has half of the weight and 11 simultaneous units of 1000 bytes; ten others have a twentieth each and one unit. GPS
        // finishes a unit of queue 0 every 2 ms, and the units of the others after 20 ms.
        let mut weights = vec![10.0];
        weights.extend([1.0; 10]);
        let mut port = ModelPort::new(&SchedulerSpec::Wfq(()), &weights);
        (0..11).for_each(|_| port.store(0, 1000));
        (1..=10).for_each(|queue| port.store(queue, 1000));
        let order = port.send_all();
        assert_eq!((&order[..10], order.last()), (&[0; 10][..], Some(&0)));
    }

    /// Finish time of each unit under GPS at a byte per microsecond, computed in small steps of real time by equation (1) instead of
    /// virtual times.
    fn fluid(arrivals: &[Arrival], weights: &[f64]) -> Vec<f64> {
        let mut left: Vec<f64> = arrivals.iter().map(|arrival| arrival.bytes as f64).collect();
        let mut finished = vec![f64::NAN; arrivals.len()];
        let (mut now, mut come) = (0.0, 0);
        loop {
            while arrivals.get(come).is_some_and(|arrival| arrival.at_us as f64 <= now) {
                come += 1;
            }
            // The first unfinished unit of each queue.
            let mut heads: Vec<usize> = Vec::new();
            for unit in (0..come).filter(|&unit| left[unit] > 0.0) {
                if heads.iter().all(|&head| arrivals[head].queue != arrivals[unit].queue) {
                    heads.push(unit);
                }
            }
            let next_arrival = arrivals.get(come).map_or(f64::INFINITY, |arrival| arrival.at_us as f64);
            if heads.is_empty() {
                if next_arrival.is_infinite() {
                    return finished;
                }
                now = next_arrival;
                continue;
            }
            let share = |unit: usize| {
                weights[arrivals[unit].queue] / heads.iter().map(|&head| weights[arrivals[head].queue]).sum::<f64>()
            };
            let first_finish = heads.iter().map(|&unit| left[unit] / share(unit)).fold(f64::INFINITY, f64::min);
            let step = first_finish.min(next_arrival - now);
            let shares: Vec<f64> = heads.iter().map(|&unit| share(unit)).collect();
            now += step;
            for (&unit, share) in heads.iter().zip(shares) {
                left[unit] -= step * share;
                if left[unit] < 1e-6 {
                    (left[unit], finished[unit]) = (0.0, now);
                }
            }
        }
    }

    #[test]
    fn no_unit_leaves_later_than_under_gps_by_more_than_the_longest_transmission_time() {
        let weights = [1.0, 2.0, 0.5, 4.0];
        for seed in 0..20 {
            let arrivals = arrivals(seed, weights.len(), 400);
            let departures = depart(&SchedulerSpec::Wfq(()), &weights, &arrivals);
            let longest = arrivals.iter().map(|arrival| arrival.bytes).max().unwrap() as f64;
            for ((arrival, fluid), packet) in arrivals.iter().zip(fluid(&arrivals, &weights)).zip(departures) {
                assert!(packet <= fluid + longest + 1e-3, "{arrival:?}: {packet} against {fluid}");
            }
        }
    }

    #[test]
    fn overloaded_queues_that_share_a_buffer_receive_their_shares() {
        overload(&SchedulerSpec::Wfq(()), 0.0);
        // A unit may leave several units before its time under GPS (Bennett and Zhang, 1996), and a short queue has no backlog in GPS then.
        overload_of_mixed_sizes(&SchedulerSpec::Wfq(()), 5.0 * 1500.0);
    }

    #[test]
    fn a_discarded_unit_leaves_gps() {
        // GPS would finish the second unit of queue 0 after 1600 bytes; without the first one, after 600.
        let mut port = ModelPort::new(&SchedulerSpec::Wfq(()), &[1.0, 1.0]);
        port.store(0, 1000);
        port.store(0, 600);
        port.store(1, 1000);
        port.discard(0);
        assert_eq!(port.send_all(), [0, 1]);
    }
}
