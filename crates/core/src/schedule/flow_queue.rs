//! The scheduler of FQ-CoDel and FQ-PIE: deficit round robin with priority for queues that were empty, so that sparse flows do not wait
//! behind flows that build queues (RFC 8290, sections 4.1 and 4.2).
//!
//! Differs: weights, which the RFC does not have, multiply quanta as in `drr`.

use super::drr::{QUANTUM, quanta};
use super::support::round_robin::ActiveList;
use super::support::{DequeueReason, Dequeued, Enqueued, OverflowRule, Scheduler};
use crate::primitives::units::Bytes;
use crate::settings::{Settings, member};
use serde::{Deserialize, Serialize};

// RFC 8290 section 5.2.
member! {
    /// Flow queueing of FQ-CoDel: a quantum of bytes per turn, new queues first. On overflow the queue with the most bytes loses packets.
    FlowQueue = "flow_queue", "RFC 8290";

    pub struct FlowQueueSpec {
        /// Quantum per turn of the queue with the smallest share, in bytes.
        quantum: u32 = 1514 => QUANTUM,
    }
}

impl Settings for FlowQueueSpec {
    fn samples() -> Vec<FlowQueueSpec> {
        [1514, 300].map(|quantum| FlowQueueSpec { quantum }).into()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum FlowList {
    None,
    New,
    Old,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FlowQueue {
    new_queues: ActiveList,
    old_queues: ActiveList,
    list_of: Vec<FlowList>,
    quanta: Vec<u64>,
    /// Bytes that each queue may still send.
    credits: Vec<i64>,
}

impl FlowQueue {
    pub(super) fn new(spec: &FlowQueueSpec, weights: &[f64]) -> FlowQueue {
        FlowQueue {
            new_queues: ActiveList::default(),
            old_queues: ActiveList::default(),
            list_of: vec![FlowList::None; weights.len()],
            quanta: quanta(spec.quantum, weights),
            credits: vec![0; weights.len()],
        }
    }

    fn age(&mut self, queue: usize) {
        self.list_of[queue] = FlowList::Old;
        self.old_queues.push(queue);
    }
}

impl Scheduler for FlowQueue {
    const OVERFLOW: OverflowRule = OverflowRule::HalfOfMostBytes(64);

    fn on_enqueue(&mut self, joined: &Enqueued) {
        let queue = joined.queue;
        if self.list_of[queue] == FlowList::None {
            self.list_of[queue] = FlowList::New;
            self.credits[queue] = self.quanta[queue] as i64;
            self.new_queues.push(queue);
        }
    }

    fn next(&mut self, head: &dyn Fn(usize) -> Option<Bytes>) -> Option<usize> {
        loop {
            let (active, from) = if self.new_queues.front().is_some() {
                (&mut self.new_queues, FlowList::New)
            } else {
                (&mut self.old_queues, FlowList::Old)
            };
            let queue = active.front()?;
            if self.credits[queue] <= 0 {
                active.pop();
                self.credits[queue] += self.quanta[queue] as i64;
                self.age(queue);
            } else if head(queue).is_none() {
                active.pop();
                // Prevents a queue from gaining priority by becoming empty repeatedly.
                if from == FlowList::New && self.old_queues.front().is_some() {
                    self.age(queue);
                } else {
                    self.list_of[queue] = FlowList::None;
                }
            } else {
                return Some(queue);
            }
        }
    }

    fn on_dequeue(&mut self, left: &Dequeued) {
        if left.reason == DequeueReason::Sent {
            self.credits[left.queue] -= left.bytes.0 as i64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::SchedulerSpec;
    use crate::schedule::support::model_port::ModelPort;

    fn port(quantum: u32, queues: usize) -> ModelPort {
        ModelPort::new(&SchedulerSpec::FlowQueue(FlowQueueSpec { quantum }), &vec![1.0; queues])
    }

    #[test]
    fn a_queue_that_was_empty_is_served_before_backlogged_queues() {
        let mut port = port(1000, 3);
        (0..4).for_each(|_| port.store(0, 1000));
        (0..4).for_each(|_| port.store(1, 1000));
        // Both are new, then old.
        assert_eq!([port.send(), port.send(), port.send()], [Some(0), Some(1), Some(0)]);
        port.store(2, 100);
        assert_eq!(port.send_all(), [2, 1, 0, 1, 0, 1]);
    }

    #[test]
    fn a_new_queue_that_becomes_empty_is_old_before_it_can_be_new_again() {
        let mut port = port(1000, 2);
        (0..4).for_each(|_| port.store(0, 1000));
        assert_eq!(port.send(), Some(0));
        port.store(1, 400);
        assert_eq!(port.send(), Some(1));
        // Queue 1 has 600 bytes left, and is empty: it moves to the end of the old queues.
        assert_eq!(port.send(), Some(0));
        port.store(1, 400);
        port.store(1, 400);
        // As an old queue it keeps its credit, and waits for its turn: 600 bytes allow both packets of 400.
        assert_eq!(port.send_all(), [1, 1, 0, 0]);
    }

    #[test]
    fn each_turn_sends_until_the_deficit_is_used_up() {
        let mut port = port(300, 2);
        (0..3).for_each(|_| port.store(0, 1000));
        (0..12).for_each(|_| port.store(1, 100));
        // Queue 0 has a deficit of 700 after a packet: it needs three turns of 300 to be above zero.
        assert_eq!(port.send_all(), [0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0]);
    }

    #[test]
    fn overloaded_queues_that_share_a_buffer_differ_by_less_than_a_quantum_and_a_unit_for_each_weight() {
        crate::schedule::support::model_port::overload(&SchedulerSpec::FlowQueue(FlowQueueSpec { quantum: 1500 }), 1500.0);
    }
}
