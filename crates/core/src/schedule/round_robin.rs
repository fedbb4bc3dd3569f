//! The row of queues that take turns.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Queues that hold something, in the order of their turns.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Row(VecDeque<u32>);

impl Row {
    pub(super) fn front(&self) -> Option<usize> {
        self.0.front().map(|&queue| queue as usize)
    }

    pub(super) fn push(&mut self, queue: usize) {
        self.0.push_back(queue as u32);
    }

    pub(super) fn pop(&mut self) -> Option<usize> {
        self.0.pop_front().map(|queue| queue as usize)
    }

    /// The first one's turn is over.
    pub(super) fn rotate(&mut self) {
        if let Some(queue) = self.0.pop_front() {
            self.0.push_back(queue);
        }
    }

    /// The queue holds nothing any more: mostly the one whose turn it is, but what makes room may be any.
    pub(super) fn remove(&mut self, queue: usize) {
        if let Some(place) = self.0.iter().position(|&known| known as usize == queue) {
            self.0.remove(place);
        }
    }
}
