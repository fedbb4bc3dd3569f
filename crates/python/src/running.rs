//! A run in progress, on one thread or shared by several.

use std::num::NonZeroUsize;

use tailback_core::primitives::units::Time;
use tailback_core::user_code::Failure;
use tailback_core::{Engine, Indivisible, ParallelEngine};

/// A run in progress.
pub enum Running {
    Alone(Box<Engine>),
    Shared(ParallelEngine),
}

impl Running {
    /// Let so many threads share it, or fewer if it cannot be shared as much: then the text says why.
    pub fn new(engine: Engine, threads: NonZeroUsize) -> (Running, Option<String>) {
        match ParallelEngine::new(engine, threads) {
            Ok(parallel) => {
                let shared = parallel.threads();
                let why = format!(
                    "on {shared} threads instead of {threads}: no more parts of the network that a delay separates have work"
                );
                (Running::Shared(parallel), (shared < threads.get()).then_some(why))
            }
            Err(whole) => {
                let (engine, why) = *whole;
                let why = (why != Indivisible::OneThread).then(|| format!("on one thread instead of {threads}: {why}"));
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

    /// Handle so many events, or some more if several threads do. True once all before the end are.
    pub fn run_for(&mut self, events: u64) -> bool {
        match self {
            Running::Alone(engine) => engine.run_for(Time::NEVER, events),
            Running::Shared(parallel) => parallel.run_for(Time::NEVER, events),
        }
    }

    /// All of it, in one.
    pub fn whole(&mut self) -> Engine {
        match self {
            Running::Alone(engine) => engine.as_ref().clone(),
            Running::Shared(parallel) => parallel.engine(),
        }
    }

    /// What is known of all of it, in one.
    pub fn told<T>(&mut self, told: impl FnOnce(&Engine) -> T) -> T {
        match self {
            Running::Alone(engine) => told(engine),
            Running::Shared(parallel) => told(&parallel.engine()),
        }
    }

    pub fn has_user_code(&self) -> bool {
        matches!(self, Running::Alone(engine) if engine.has_user_code())
    }

    /// What became of user code, if it failed: it runs on one thread.
    pub fn failure(&self) -> Option<Failure> {
        match self {
            Running::Alone(engine) => engine.failure(),
            Running::Shared(_) => None,
        }
    }
}
