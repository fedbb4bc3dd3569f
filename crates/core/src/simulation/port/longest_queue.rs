//! The longest of many queues, without a search of all of them.

use serde::{Deserialize, Serialize};

/// Queues per block.
const BLOCK: usize = 32;

/// The longest queue of each block of queues. Only blocks whose queues have changed are searched again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LongestQueue {
    queues: usize,
    of_blocks: Vec<u32>,
    changed: Vec<bool>,
}

impl LongestQueue {
    pub(super) fn new(queues: usize) -> LongestQueue {
        let blocks = queues.div_ceil(BLOCK);
        LongestQueue { queues, of_blocks: vec![0; blocks], changed: vec![true; blocks] }
    }

    /// The length of a queue changes.
    #[inline]
    pub(super) fn note_change(&mut self, queue: usize) {
        self.changed[queue / BLOCK] = true;
    }

    /// The first of the longest queues by this length.
    pub(super) fn find(&mut self, length: impl Fn(usize) -> f64) -> Option<usize> {
        let LongestQueue { queues, of_blocks, changed } = self;
        // The last of the maxima in reverse order is the first.
        let first_longest = |among: &mut dyn Iterator<Item = usize>| {
            among.map(|queue| (queue, length(queue))).max_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(queue, _)| queue)
        };
        for (block, longest) in of_blocks.iter_mut().enumerate().filter(|(block, _)| changed[*block]) {
            let of_block = block * BLOCK..(*queues).min((block + 1) * BLOCK);
            *longest = first_longest(&mut of_block.rev()).unwrap_or(0) as u32;
        }
        changed.fill(false);
        first_longest(&mut of_blocks.iter().rev().map(|&queue| queue as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_longest_queue_is_found_after_any_changes() {
        let mut lengths = vec![0.0; 100];
        let mut longest = LongestQueue::new(lengths.len());
        assert_eq!(longest.find(|queue| lengths[queue]), Some(0));
        let mut state = 1_u64;
        for _ in 0..2000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let queue = (state >> 33) as usize % lengths.len();
            lengths[queue] = (state >> 60) as f64;
            longest.note_change(queue);
            let most = lengths.iter().copied().fold(0.0, f64::max);
            assert_eq!(longest.find(|queue| lengths[queue]), lengths.iter().position(|&length| length == most));
        }
        assert_eq!(LongestQueue::new(0).find(|_| 0.0), None);
    }
}
