//! Stochastic fairness queueing: flows are hashed to queues, which send one unit each in turn. When there is no room, a unit of the longest
//! queue is discarded (McKenney, 1990).
//!
//! Differs: room is made at the head of the longest queue, whereas the paper does not specify which unit is discarded; and flows keep their
//! queue, whereas the paper changes the hash from time to time.

use super::support::round_robin::ActiveList;
use super::support::{DequeueReason, Dequeued, Enqueued, OverflowRule, Scheduler};
use crate::primitives::units::Bytes;
use crate::settings::member;
use serde::{Deserialize, Serialize};

member! {
    /// Stochastic fairness queueing: one packet of each queue in turn. On overflow the queue with the most packets loses one.
    Sfq = "sfq", "McKenney (1990), Stochastic Fairness Queueing, IEEE INFOCOM";
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sfq {
    active: ActiveList,
    is_active: Vec<bool>,
}

impl Sfq {
    pub(super) fn new(_spec: &(), weights: &[f64]) -> Sfq {
        Sfq { active: ActiveList::default(), is_active: vec![false; weights.len()] }
    }
}

impl Scheduler for Sfq {
    const OVERFLOW: OverflowRule = OverflowRule::MostUnits;
    const USES_WEIGHTS: bool = false;

    fn on_enqueue(&mut self, joined: &Enqueued) {
        if !std::mem::replace(&mut self.is_active[joined.queue], true) {
            self.active.push(joined.queue);
        }
    }

    fn next(&mut self, _head: &dyn Fn(usize) -> Option<Bytes>) -> Option<usize> {
        self.active.front()
    }

    fn on_dequeue(&mut self, left: &Dequeued) {
        if left.is_empty {
            self.is_active[left.queue] = false;
            self.active.remove(left.queue);
        } else if left.reason == DequeueReason::Sent {
            self.active.rotate();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::schedule::SchedulerSpec;
    use crate::schedule::support::model_port::ModelPort;

    #[test]
    fn each_queue_sends_a_unit_in_turn_whatever_its_size() {
        let mut port = ModelPort::new(&SchedulerSpec::Sfq(()), &[1.0; 3]);
        for (queue, bytes) in [(0, 1500), (0, 1500), (1, 40), (1, 40), (1, 40), (2, 900)] {
            port.store(queue, bytes);
        }
        assert_eq!(port.send_all(), [0, 1, 2, 0, 1, 1]);
    }

    #[test]
    fn a_queue_emptied_to_make_room_has_no_turn() {
        let mut port = ModelPort::new(&SchedulerSpec::Sfq(()), &[1.0; 3]);
        for queue in [0, 1, 2, 2] {
            port.store(queue, 100);
        }
        port.discard(1);
        port.discard(2);
        assert_eq!(port.send_all(), [0, 2]);
    }

    #[test]
    fn overloaded_queues_that_share_a_buffer_send_equally() {
        crate::schedule::support::model_port::overload(&SchedulerSpec::Sfq(()), 0.0);
    }
}
