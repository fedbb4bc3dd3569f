//! Start-time fair queueing: units are served in the order of their virtual start times. The virtual time is the start tag of the unit in
//! service, so it costs nothing to compute, and the rate may vary (Goyal, Vin and Cheng, 1996, section 2).
//!
//! Differs: when there is no room, the queue with the largest backlog for its weight makes room, and the unit behind a discarded one takes
//! its place; the paper does not specify this.

use super::support::virtual_times::{ServedBy, Times, VirtualTimes, Waiting};
use super::support::{DequeueReason, Dequeued, Enqueued, OverflowRule, Scheduler};
use crate::primitives::units::Bytes;
use crate::settings::member;
use serde::{Deserialize, Serialize};

member! {
    /// Start-time fair queueing: serves packets by virtual start time, weighted by shares. On overflow the queue with the largest backlog for
    /// its share loses packets.
    StartTimeFair = "start_time_fair", "Goyal, Vin and Cheng (1996), Start-time Fair Queuing";
}

/// Virtual time is in bytes over weight.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StartTimeFair {
    weights: Vec<f64>,
    units: VirtualTimes,
    virtual_time: f64,
    /// Largest finish tag of the served units.
    last_finish: f64,
}

impl StartTimeFair {
    pub(super) fn new(_spec: &(), weights: &[f64]) -> StartTimeFair {
        let units = VirtualTimes::new(ServedBy::Start, weights.len());
        StartTimeFair { weights: weights.to_vec(), units, virtual_time: 0.0, last_finish: 0.0 }
    }
}

impl Scheduler for StartTimeFair {
    const OVERFLOW: OverflowRule = OverflowRule::LargestShare;

    fn on_enqueue(&mut self, joined: &Enqueued) {
        if joined.begins_busy_period {
            self.virtual_time = self.last_finish;
        }
        let span = joined.bytes.0 as f64 / self.weights[joined.queue];
        self.units.push(joined.queue, Waiting { arrival: self.virtual_time, span });
    }

    fn next(&mut self, _head: &dyn Fn(usize) -> Option<Bytes>) -> Option<usize> {
        self.units.min()
    }

    fn on_dequeue(&mut self, left: &Dequeued) {
        let times = self.units.pop(left.queue, left.reason);
        if let Some(Times { start, finish }) = times.filter(|_| left.reason == DequeueReason::Sent) {
            self.virtual_time = start;
            self.last_finish = self.last_finish.max(finish);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::schedule::SchedulerSpec;
    use crate::schedule::support::model_port::{ModelPort, fairness, overload, overload_of_mixed_sizes};

    #[test]
    fn hand_worked_start_tags() {
        // Weights 1 and 2. Queue 0 begins at 0, 1000, 2000; queue 1 at 0, 500, 1000, 1500.
        let mut port = ModelPort::new(&SchedulerSpec::StartTimeFair(()), &[1.0, 2.0]);
        (0..3).for_each(|_| port.store(0, 1000));
        (0..4).for_each(|_| port.store(1, 1000));
        assert_eq!(port.send_all(), [0, 1, 1, 0, 1, 1, 0]);
    }

    #[test]
    fn an_idle_queue_resumes_at_the_virtual_time_without_credit() {
        let mut port = ModelPort::new(&SchedulerSpec::StartTimeFair(()), &[1.0, 1.0]);
        (0..6).for_each(|_| port.store(0, 1000));
        (0..3).for_each(|_| assert_eq!(port.send(), Some(0)));
        // The unit in service has the start tag 2000: arrivals now get the same tag, and the next unit of queue 0 has 3000.
        (0..3).for_each(|_| port.store(1, 1000));
        assert_eq!(port.send_all(), [1, 0, 1, 0, 1, 0]);
    }

    #[test]
    fn backlogged_queues_differ_by_a_unit_of_each_at_most() {
        // Theorem 1 of the paper: |W_f / r_f - W_m / r_m| <= l_f / r_f + l_m / r_m.
        fairness(&SchedulerSpec::StartTimeFair(()), 0.0);
    }

    #[test]
    fn overloaded_queues_that_share_a_buffer_do_so_too() {
        overload(&SchedulerSpec::StartTimeFair(()), 0.0);
        overload_of_mixed_sizes(&SchedulerSpec::StartTimeFair(()), 0.0);
    }
}
