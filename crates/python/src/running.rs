//! A run in progress, on one or several threads.

use std::num::NonZeroUsize;

use tailback_core::primitives::units::Time;
use tailback_core::user_code::Failure;
use tailback_core::{Engine, NotParallel, ParallelEngine};

/// A run in progress.
pub enum Running {
    Alone(Box<Engine>),
    Shared(ParallelEngine),
}

impl Running {
    /// Runs on `threads` threads, or on fewer if the network cannot be divided that far: the text then gives the reason.
    pub fn new(engine: Engine, threads: NonZeroUsize) -> (Running, Option<String>) {
        match ParallelEngine::new(engine, threads) {
            Ok(parallel) => {
                let shared = parallel.threads();
                let why = format!(
                    "on {shared} threads instead of {threads}: the network has no more active parts that are separated by a delay"
                );
                (Running::Shared(parallel), (shared < threads.get()).then_some(why))
            }
            Err(whole) => {
                let (engine, why) = *whole;
                let why = (why != NotParallel::OneThread).then(|| format!("on one thread instead of {threads}: {why}"));
                (Running::Alone(Box::new(engine)), why)
            }
        }
    }

    pub fn threads(&self) -> usize {
        match self {
            Running::Alone(_) => 1,
            Running::Shared(parallel) => parallel.threads(),
        }
    }

    pub fn now(&self) -> Time {
        match self {
            Running::Alone(engine) => engine.now(),
            Running::Shared(parallel) => parallel.now(),
        }
    }

    /// Processes `events` events, or a few more on several threads. Returns true once all events before a time, and before the
    /// end, are processed.
    pub fn run_for(&mut self, until: Time, events: u64) -> bool {
        match self {
            Running::Alone(engine) => engine.run_for(until, events),
            Running::Shared(parallel) => parallel.run_for(until, events),
        }
    }

    /// The complete engine in one piece.
    pub fn whole(&mut self) -> Engine {
        match self {
            Running::Alone(engine) => engine.as_ref().clone(),
            Running::Shared(parallel) => parallel.engine(),
        }
    }

    /// Applies a function to the complete engine.
    pub fn with_engine<T>(&mut self, apply: impl FnOnce(&Engine) -> T) -> T {
        match self {
            Running::Alone(engine) => apply(engine),
            Running::Shared(parallel) => apply(&parallel.engine()),
        }
    }

    pub fn has_user_code(&self) -> bool {
        matches!(self, Running::Alone(engine) if engine.has_user_code())
    }

    /// The failure of user code, if any; user code runs on one thread.
    pub fn failure(&self) -> Option<Failure> {
        match self {
            Running::Alone(engine) => engine.failure(),
            Running::Shared(_) => None,
        }
    }
}
