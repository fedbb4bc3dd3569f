//! Virtual times of what waits: of units within a queue they ascend, so the heads of the queues are all that has to be compared.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, VecDeque};

/// A queue by a virtual time of it, which is never negative: as bits they are in the same order. Of equal times the first queue comes first.
pub(super) type Tagged = (u64, usize);

pub(super) fn tagged(time: f64, queue: usize) -> Tagged {
    (time.to_bits(), queue)
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Tags {
    of_queues: Vec<VecDeque<f64>>,
    heads: BTreeSet<Tagged>,
}

impl Tags {
    pub(super) fn new(queues: usize) -> Tags {
        Tags { of_queues: vec![VecDeque::new(); queues], heads: BTreeSet::new() }
    }

    /// The queue with the least.
    pub(super) fn least(&self) -> Option<usize> {
        self.heads.first().map(|&(_, queue)| queue)
    }

    pub(super) fn push(&mut self, queue: usize, tag: f64) {
        let tags = &mut self.of_queues[queue];
        if tags.is_empty() {
            self.heads.insert(tagged(tag, queue));
        }
        tags.push_back(tag);
    }

    pub(super) fn pop(&mut self, queue: usize) -> Option<f64> {
        let tags = &mut self.of_queues[queue];
        let tag = tags.pop_front()?;
        self.heads.remove(&tagged(tag, queue));
        if let Some(&next) = tags.front() {
            self.heads.insert(tagged(next, queue));
        }
        Some(tag)
    }
}
