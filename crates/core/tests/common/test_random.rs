//! Random draws of tests.

use tailback_core::primitives::random::{Entity, Purpose, Stream};

/// Random draws for one network.
pub struct TestRandom {
    stream: Stream,
    drawn: u64,
}

impl TestRandom {
    pub fn new(seed: u64) -> TestRandom {
        TestRandom { stream: Stream::new(Entity { seed, name: "random network", index: 0 }, Purpose::Policy), drawn: 0 }
    }

    /// A whole number in `low..=high`.
    pub fn pick(&mut self, low: u64, high: u64) -> u64 {
        self.drawn += 1;
        low + self.stream.bits(self.drawn) % (high - low + 1)
    }

    pub fn chance(&mut self, one_in: u64) -> bool {
        self.pick(1, one_in) == 1
    }

    pub fn one_of<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.pick(0, of.len() as u64 - 1) as usize].clone()
    }
}
