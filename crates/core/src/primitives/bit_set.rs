//! A hierarchical bit set: one bit per index, one per word of those, and one per word of these, so that the next set bit is found in a few
//! steps.

use serde::{Deserialize, Serialize};
use std::ops::{Range, RangeTo};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct BitSet {
    words: Vec<u64>,
    summary: Vec<u64>,
    top: Vec<u64>,
}

impl BitSet {
    /// An empty set of the indices below the end of `indices`, a multiple of 64.
    pub(super) fn new(indices: RangeTo<usize>) -> BitSet {
        let size = indices.end;
        BitSet { words: vec![0; size / 64], summary: vec![0; size.div_ceil(64 * 64)], top: vec![0; size.div_ceil(64 * 64 * 64)] }
    }

    #[inline(always)]
    pub(super) fn insert(&mut self, index: usize) {
        self.words[index / 64] |= 1 << (index % 64);
        let words = &mut self.summary[index / 4096];
        if *words == 0 {
            self.top[index / 262_144] |= 1 << (index / 4096 % 64);
        }
        *words |= 1 << (index / 64 % 64);
    }

    #[inline]
    pub(super) fn remove(&mut self, index: usize) {
        self.words[index / 64] &= !(1 << (index % 64));
        if self.words[index / 64] == 0 {
            let words = &mut self.summary[index / 4096];
            *words &= !(1 << (index / 64 % 64));
            if *words == 0 {
                self.top[index / 262_144] &= !(1 << (index / 4096 % 64));
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.words.fill(0);
        self.summary.fill(0);
        self.top.fill(0);
    }

    /// The first index of the range, or of the rest of its summary word.
    #[inline(always)]
    pub(super) fn first_in(&self, places: Range<usize>) -> Option<usize> {
        let word = places.start / 64;
        let rest = self.words[word] & (!0 << (places.start % 64));
        if rest != 0 {
            return Some(word * 64 + rest.trailing_zeros() as usize);
        }
        let group = (word + 1) / 64;
        if group * 4096 >= places.end {
            return None;
        }
        let words = self.summary[group] & (!0 << ((word + 1) % 64));
        if words != 0 {
            return Some(self.first_of_group(group, words));
        }
        // With few members, the next one is far away.
        let mut block = (group + 1) / 64;
        let mut mask = !0u64 << ((group + 1) % 64);
        while block * 262_144 < places.end {
            let groups = self.top[block] & mask;
            if groups != 0 {
                let group = block * 64 + groups.trailing_zeros() as usize;
                return (group * 4096 < places.end).then(|| self.first_of_group(group, self.summary[group]));
            }
            block += 1;
            mask = !0;
        }
        None
    }

    pub(super) fn is_empty(&self) -> bool {
        self.top.iter().all(|groups| *groups == 0)
    }

    /// The first index of a group. `words`: a non-empty subset of the occupied words of its summary.
    #[inline(always)]
    fn first_of_group(&self, group: usize, words: u64) -> usize {
        let word = group * 64 + words.trailing_zeros() as usize;
        word * 64 + self.words[word].trailing_zeros() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_index_is_found_across_all_levels() {
        let mut set = BitSet::new(..1 << 20);
        assert_eq!(set.first_in(0..1 << 20), None);
        for index in [(1 << 20) - 1, 300_000, 5000, 70, 3] {
            set.insert(index);
            assert_eq!((set.is_empty(), set.first_in(0..1 << 20)), (false, Some(index)));
        }
        assert_eq!((set.first_in(4..1 << 20), set.first_in(71..1 << 20)), (Some(70), Some(5000)));
        set.remove(5000);
        assert_eq!((set.first_in(71..1 << 20), set.first_in(300_001..1 << 20)), (Some(300_000), Some((1 << 20) - 1)));
        // A range ends with its summary word at the earliest.
        assert_eq!((set.first_in(4..5), set.first_in(4096..4097)), (Some(70), None));
        set.clear();
        assert_eq!((set.is_empty(), set.first_in(0..1 << 20)), (true, None));
    }
}
