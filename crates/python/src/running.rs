//! A run in progress, on one or several threads.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::stacks;
use crate::user_code::{self, Raised, Registered};
use pyo3::prelude::*;
use tailback_core::network::Network;
use tailback_core::primitives::units::Time;
use tailback_core::user_code::Failure;
use tailback_core::{ConservationError, Engine, NotParallel, ParallelEngine, Results};
use tailback_host::VirtualRun;
use tailback_scenario::HostedFlows;

/// A run in progress.
pub enum Running {
    Alone(Box<Engine>),
    Shared(ParallelEngine),
    Hosted(Box<Mutex<HostedRun>>),
}

/// A run with transports at the ends of flows.
pub struct HostedRun {
    run: VirtualRun,
    /// The exception of a host in Python.
    raised: Raised,
}

impl Running {
    /// Runs on `threads` threads, or on fewer if the network cannot be divided that far: the text then gives the reason.
    pub fn new(engine: Engine, threads: NonZeroUsize) -> (Running, Option<String>) {
        match ParallelEngine::new(engine, threads) {
            Ok(parallel) => {
                let why = fewer_threads((parallel.threads(), threads), None);
                (Running::Shared(parallel), why)
            }
            Err(whole) => {
                let (engine, why) = *whole;
                (Running::Alone(Box::new(engine)), fewer_threads((1, threads), Some(why)))
            }
        }
    }

    /// Runs with the transports that the hosted flows name. They are on one thread, and other parts of the network on others.
    pub fn on_hosts(
        py: Python<'_>,
        network: Network,
        hosted: &HostedFlows,
        threads: NonZeroUsize,
    ) -> PyResult<(Running, Option<String>)> {
        let raised = Raised::default();
        let ends = stacks::hosts(py, hosted, &raised)?;
        let start = |network| Engine::with_code(network, &Registered);
        let (run, why) = py.detach(|| VirtualRun::of_flows(network, hosted, ends, start).on_threads(threads));
        let why = fewer_threads((run.threads(), threads), why);
        Ok((Running::Hosted(Box::new(Mutex::new(HostedRun { run, raised }))), why))
    }

    pub fn threads(&self) -> usize {
        match self {
            Running::Alone(_) => 1,
            Running::Shared(parallel) => parallel.threads(),
            Running::Hosted(hosted) => locked(hosted).run.threads(),
        }
    }

    pub fn now(&self) -> Time {
        match self {
            Running::Alone(engine) => engine.now(),
            Running::Shared(parallel) => parallel.now(),
            Running::Hosted(hosted) => locked(hosted).run.now(),
        }
    }

    /// Processes `events` events, or a few more on several threads. Returns true once all events before a time, and before the
    /// end, are processed.
    pub fn run_for(&mut self, until: Time, events: u64) -> bool {
        match self {
            Running::Alone(engine) => engine.run_for(until, events),
            Running::Shared(parallel) => parallel.run_for(until, events),
            Running::Hosted(hosted) => unlocked(hosted).run.run_for(until, events),
        }
    }

    /// The complete engine in one piece.
    pub fn whole(&mut self) -> Engine {
        match self {
            Running::Alone(engine) => engine.as_ref().clone(),
            Running::Shared(parallel) => parallel.engine(),
            Running::Hosted(hosted) => unlocked(hosted).run.with_engine(Engine::clone),
        }
    }

    /// Applies a function to the complete engine.
    pub fn with_engine<T>(&mut self, apply: impl FnOnce(&Engine) -> T) -> T {
        match self {
            Running::Alone(engine) => apply(engine),
            Running::Shared(parallel) => apply(&parallel.engine()),
            Running::Hosted(hosted) => unlocked(hosted).run.with_engine(apply),
        }
    }

    /// Measurements up to now.
    pub fn results(&mut self) -> Result<Results, ConservationError> {
        match self {
            Running::Hosted(hosted) => unlocked(hosted).run.results(),
            _ => self.with_engine(Engine::results),
        }
    }

    /// Why the run cannot be copied or saved; `None` if it can.
    pub fn unsaved_part(&self) -> Option<&'static str> {
        matches!(self, Running::Hosted(_)).then_some("the state of a `stack` cannot be saved")
    }

    /// The exception for a host that has ended the run.
    pub fn host_error(&self, py: Python<'_>) -> Option<PyErr> {
        let Running::Hosted(hosted) = self else { return None };
        let HostedRun { run, raised } = &*locked(hosted);
        let raised = locked(raised).as_ref().map(|error| error.clone_ref(py));
        run.fault().map(|fault| user_code::host_failed(py, fault, raised))
    }

    /// Writes the packets of all hosts to a file.
    pub fn capture_to(&mut self, file: &Path) -> PyResult<()> {
        match self {
            Running::Hosted(hosted) => Ok(unlocked(hosted).run.capture_to(file)?),
            _ => Ok(()),
        }
    }

    /// The problem with the capture, which is complete after this call.
    pub fn finish_capture(&mut self) -> Option<String> {
        match self {
            Running::Hosted(hosted) => unlocked(hosted).run.finish_capture(),
            _ => None,
        }
    }

    /// Texts about packets of hosts that were not carried, and about connections that a transport has ended too early.
    pub fn host_warnings(&mut self) -> Vec<String> {
        match self {
            Running::Hosted(hosted) => unlocked(hosted).run.warnings(),
            _ => Vec::new(),
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
            Running::Hosted(hosted) => locked(hosted).run.failure(),
        }
    }
}

/// Why a run uses fewer threads than requested, if it does; `why` it cannot be divided at all.
fn fewer_threads((used, requested): (usize, NonZeroUsize), why: Option<NotParallel>) -> Option<String> {
    match why {
        None => (used < requested.get()).then(|| {
            format!(
                "on {used} threads instead of {requested}: the network has no more active parts that are separated by a delay"
            )
        }),
        Some(NotParallel::OneThread) => None,
        Some(why) => Some(format!("on one thread instead of {requested}: {why}")),
    }
}

/// No call leaves a run in a state that others cannot read.
fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unlocked<T>(own: &mut Mutex<T>) -> &mut T {
    own.get_mut().unwrap_or_else(PoisonError::into_inner)
}
