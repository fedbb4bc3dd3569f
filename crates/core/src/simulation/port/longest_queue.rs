//! The queue with the most bytes among many, without a search of all of them.

use super::queue::Queue;
use serde::{Deserialize, Serialize};

/// Queues per block.
const BLOCK: usize = 32;

/// The longest queue of each block of queues. Only blocks whose queues have changed are searched again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LongestQueue {
    of_blocks: Vec<u32>,
    changed: Vec<bool>,
}

impl LongestQueue {
    pub(super) fn new(queues: usize) -> LongestQueue {
        let blocks = queues.div_ceil(BLOCK);
        LongestQueue { of_blocks: vec![0; blocks], changed: vec![true; blocks] }
    }

    /// The bytes in a queue change.
    #[inline]
    pub(super) fn note_change(&mut self, queue: usize) {
        self.changed[queue / BLOCK] = true;
    }

    /// The first of the queues with the most bytes.
    pub(super) fn find(&mut self, queues: &[Queue]) -> Option<usize> {
        let LongestQueue { of_blocks, changed } = self;
        let blocks = queues.chunks(BLOCK).zip(of_blocks.iter_mut()).zip(changed);
        for (block, ((queues, longest), _)) in blocks.enumerate().filter(|(_, (_, changed))| **changed) {
            // The last of the maxima in reverse order is the first.
            let found = queues.iter().enumerate().rev().max_by_key(|(_, queue)| queue.bytes);
            *longest = (block * BLOCK + found.map_or(0, |(index, _)| index)) as u32;
        }
        self.changed.fill(false);
        self.of_blocks.iter().rev().map(|&queue| queue as usize).max_by_key(|&queue| queues[queue].bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::units::Bytes;

    #[test]
    fn the_first_longest_queue_is_found_after_any_changes() {
        let mut queues = vec![Queue::default(); 100];
        let mut longest = LongestQueue::new(queues.len());
        assert_eq!(longest.find(&queues), Some(0));
        let mut state = 1_u64;
        for _ in 0..2000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let queue = (state >> 33) as usize % queues.len();
            queues[queue].bytes = Bytes((state >> 60) * 100);
            longest.note_change(queue);
            let by_search = queues.iter().enumerate().rev().max_by_key(|(_, queue)| queue.bytes).map(|(index, _)| index);
            assert_eq!(longest.find(&queues), by_search);
        }
        assert_eq!(LongestQueue::new(0).find(&[]), None);
    }
}
