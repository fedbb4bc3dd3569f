//! Strict priority: a queue is served only while the queues before it are empty. Transmission is not preempted. When there is no room, the
//! queue with the largest backlog makes room.

use super::support::{Dequeued, Enqueued, OverflowRule, Scheduler};
use crate::primitives::units::Bytes;
use crate::settings::member;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

member! {
    /// Strict priority: serves the first backlogged queue. On overflow the queue with the largest backlog loses packets.
    StrictPriority = "strict_priority", "RFC 7806 section 2.2";
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StrictPriority {
    backlogged: BTreeSet<usize>,
}

impl StrictPriority {
    pub(super) fn new(_spec: &(), _weights: &[f64]) -> StrictPriority {
        StrictPriority { backlogged: BTreeSet::new() }
    }
}

impl Scheduler for StrictPriority {
    const OVERFLOW: OverflowRule = OverflowRule::LargestShare;
    const RANKS: bool = true;
    const USES_WEIGHTS: bool = false;

    fn on_enqueue(&mut self, joined: &Enqueued) {
        self.backlogged.insert(joined.queue);
    }

    fn next(&mut self, _head: &dyn Fn(usize) -> Option<Bytes>) -> Option<usize> {
        self.backlogged.first().copied()
    }

    fn on_dequeue(&mut self, left: &Dequeued) {
        if left.is_empty {
            self.backlogged.remove(&left.queue);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::schedule::SchedulerSpec;
    use crate::schedule::support::model_port::ModelPort;

    #[test]
    fn the_first_backlogged_queue_of_the_list_is_served() {
        let mut port = ModelPort::new(&SchedulerSpec::StrictPriority(()), &[1.0; 3]);
        for queue in [2, 1, 2, 1] {
            port.store(queue, 100);
        }
        assert_eq!(port.send(), Some(1));
        port.store(0, 100);
        assert_eq!(port.send_all(), [0, 1, 2, 2]);
    }
}
