//! Virtual times of the waiting units. They ascend within a queue, so only the heads of the queues have to be compared.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, VecDeque};

/// A queue with one of its virtual times, which are non-negative, so their bits have the same order. Ties go to the first queue.
pub(in crate::schedule) type TimedQueue = (u64, usize);

pub(in crate::schedule) fn timed_queue(time: f64, queue: usize) -> TimedQueue {
    (time.to_bits(), queue)
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::schedule) struct VirtualTimes {
    of_queues: Vec<VecDeque<f64>>,
    heads: BTreeSet<TimedQueue>,
}

impl VirtualTimes {
    pub(in crate::schedule) fn new(queues: usize) -> VirtualTimes {
        VirtualTimes { of_queues: vec![VecDeque::new(); queues], heads: BTreeSet::new() }
    }

    /// The queue with the smallest tag.
    pub(in crate::schedule) fn min(&self) -> Option<usize> {
        self.heads.first().map(|&(_, queue)| queue)
    }

    pub(in crate::schedule) fn push(&mut self, queue: usize, tag: f64) {
        let tags = &mut self.of_queues[queue];
        if tags.is_empty() {
            self.heads.insert(timed_queue(tag, queue));
        }
        tags.push_back(tag);
    }

    pub(in crate::schedule) fn pop(&mut self, queue: usize) -> Option<f64> {
        let tags = &mut self.of_queues[queue];
        let tag = tags.pop_front()?;
        self.heads.remove(&timed_queue(tag, queue));
        if let Some(&next) = tags.front() {
            self.heads.insert(timed_queue(next, queue));
        }
        Some(tag)
    }
}
