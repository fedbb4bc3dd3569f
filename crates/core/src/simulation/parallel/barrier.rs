//! Where threads wait for one another, a few microseconds at a time and very often: `std::sync::Barrier` puts them to sleep, which takes longer.

use crossbeam_utils::{Backoff, CachePadded};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

/// As [`std::sync::Barrier`], but whoever waits stays awake, if there is a processor for each thread.
#[derive(Debug)]
pub(super) enum Barrier {
    Awake(Box<Awake>),
    /// Who stays awake would be in the way of those who are waited for.
    Asleep(std::sync::Barrier),
}

#[derive(Debug)]
pub(super) struct Awake {
    threads: usize,
    arrived: CachePadded<AtomicUsize>,
    /// How often all have been here.
    round: CachePadded<AtomicUsize>,
}

impl Barrier {
    pub(super) fn new(threads: usize) -> Barrier {
        if threads <= available_parallelism().map_or(1, NonZeroUsize::get) {
            Barrier::Awake(Box::new(Awake::new(threads)))
        } else {
            Barrier::Asleep(std::sync::Barrier::new(threads))
        }
    }

    /// Wait until all threads are here. What they did before is seen by all of them after.
    pub(super) fn wait(&self) {
        match self {
            Barrier::Awake(barrier) => barrier.wait(),
            Barrier::Asleep(barrier) => drop(barrier.wait()),
        }
    }
}

impl Awake {
    fn new(threads: usize) -> Awake {
        Awake { threads, arrived: CachePadded::default(), round: CachePadded::default() }
    }

    fn wait(&self) {
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.fetch_add(1, Ordering::Release);
            return;
        }
        let backoff = Backoff::new();
        while self.round.load(Ordering::Acquire) == round {
            backoff.snooze();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_ahead_by_more_than_one_round() {
        for barrier in [Barrier::Awake(Box::new(Awake::new(4))), Barrier::Asleep(std::sync::Barrier::new(4))] {
            let done = AtomicUsize::new(0);
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        for round in 0..1000 {
                            done.fetch_add(1, Ordering::Relaxed);
                            barrier.wait();
                            assert!((4 * (round + 1)..=4 * (round + 2)).contains(&done.load(Ordering::Relaxed)));
                        }
                    });
                }
            });
            assert_eq!(done.into_inner(), 4000);
        }
    }
}
