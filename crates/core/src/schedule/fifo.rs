//! First in, first out over all queues. Queues differ only in their policies and buffers, as with weighted RED.

use super::support::{DequeueReason, Dequeued, Enqueued, Scheduler};
use crate::primitives::units::Bytes;
use crate::settings::member;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

member! {
    /// Serves packets in the order of arrival, whatever their queue.
    Fifo = "fifo", "RFC 7806 section 2.1";
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fifo {
    /// Queue of each waiting unit.
    order: VecDeque<u32>,
}

impl Fifo {
    pub(super) fn new(_spec: &(), _weights: &[f64]) -> Fifo {
        Fifo { order: VecDeque::new() }
    }
}

impl Scheduler for Fifo {
    const USES_WEIGHTS: bool = false;

    fn on_enqueue(&mut self, joined: &Enqueued) {
        self.order.push_back(joined.queue as u32);
    }

    fn next(&mut self, _head: &dyn Fn(usize) -> Option<Bytes>) -> Option<usize> {
        self.order.front().map(|&queue| queue as usize)
    }

    fn on_dequeue(&mut self, left: &Dequeued) {
        debug_assert!(left.reason == DequeueReason::Sent || self.order.front() == Some(&(left.queue as u32)));
        self.order.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use crate::schedule::SchedulerSpec;
    use crate::schedule::support::model_port::ModelPort;

    #[test]
    fn units_leave_in_the_order_of_arrival() {
        let mut port = ModelPort::new(&SchedulerSpec::Fifo(()), &[1.0, 1.0]);
        for queue in [1, 0, 0, 1] {
            port.store(queue, 100);
        }
        assert_eq!(port.send_all(), [1, 0, 0, 1]);
    }
}
