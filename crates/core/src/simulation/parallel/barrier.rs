//! A barrier for threads that meet very often and wait for a few microseconds: `std::sync::Barrier` puts threads to sleep, which takes
//! longer.

use crossbeam_utils::{Backoff, CachePadded};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

/// Like [`std::sync::Barrier`], but waiting threads spin, if there is a processor for each thread.
#[derive(Debug)]
pub(super) enum Barrier {
    SpinBarrier(Box<SpinBarrier>),
    /// With fewer processors than threads, spinning threads would delay the others.
    Blocking(std::sync::Barrier),
}

#[derive(Debug)]
pub(super) struct SpinBarrier {
    threads: usize,
    arrived: CachePadded<AtomicUsize>,
    /// Number of completed rounds.
    round: CachePadded<AtomicUsize>,
}

impl Barrier {
    pub(super) fn new(threads: usize) -> Barrier {
        if threads <= available_parallelism().map_or(1, NonZeroUsize::get) {
            Barrier::SpinBarrier(Box::new(SpinBarrier::new(threads)))
        } else {
            Barrier::Blocking(std::sync::Barrier::new(threads))
        }
    }

    /// Wait for all threads. Writes before the barrier are visible to all threads after it.
    pub(super) fn wait(&self) {
        match self {
            Barrier::SpinBarrier(barrier) => barrier.wait(),
            Barrier::Blocking(barrier) => drop(barrier.wait()),
        }
    }
}

impl SpinBarrier {
    fn new(threads: usize) -> SpinBarrier {
        SpinBarrier { threads, arrived: CachePadded::default(), round: CachePadded::default() }
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
    fn no_thread_is_ahead_by_more_than_one_round() {
        for barrier in [Barrier::SpinBarrier(Box::new(SpinBarrier::new(4))), Barrier::Blocking(std::sync::Barrier::new(4))] {
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
