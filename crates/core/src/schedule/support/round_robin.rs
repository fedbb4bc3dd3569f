//! Row of queues in round-robin order.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Backlogged queues in the order of their turns.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::schedule) struct ActiveList(VecDeque<u32>);

impl ActiveList {
    pub(in crate::schedule) fn front(&self) -> Option<usize> {
        self.0.front().map(|&queue| queue as usize)
    }

    pub(in crate::schedule) fn push(&mut self, queue: usize) {
        self.0.push_back(queue as u32);
    }

    pub(in crate::schedule) fn pop(&mut self) -> Option<usize> {
        self.0.pop_front().map(|queue| queue as usize)
    }

    /// Ends the turn of the first queue.
    pub(in crate::schedule) fn rotate(&mut self) {
        if let Some(queue) = self.0.pop_front() {
            self.0.push_back(queue);
        }
    }

    /// Removes a queue that has become empty. This is usually the first queue, but a discard to make room can empty any queue.
    pub(in crate::schedule) fn remove(&mut self, queue: usize) {
        if let Some(place) = self.0.iter().position(|&known| known as usize == queue) {
            self.0.remove(place);
        }
    }
}
