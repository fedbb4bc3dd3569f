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

    /// Runs on one thread, with the transports that the hosted flows name.
    pub fn on_hosts(
        py: Python<'_>,
        network: Network,
        hosted: &HostedFlows,
        threads: NonZeroUsize,
    ) -> PyResult<(Running, Option<String>)> {
        let raised = Raised::default();
        let ends = stacks::hosts(py, hosted, &raised)?;
        let run = py.detach(|| VirtualRun::of_flows(network, hosted, ends, |network| Engine::with_code(network, &Registered)));
        let why = format!("on one thread instead of {threads}: flows with a `stack` exchange packets on one thread");
        Ok((Running::Hosted(Box::new(Mutex::new(HostedRun { run, raised }))), (threads.get() > 1).then_some(why)))
    }

    pub fn threads(&self) -> usize {
        match self {
            Running::Alone(_) | Running::Hosted(_) => 1,
            Running::Shared(parallel) => parallel.threads(),
        }
    }

    pub fn now(&self) -> Time {
        match self {
            Running::Alone(engine) => engine.now(),
            Running::Shared(parallel) => parallel.now(),
            Running::Hosted(hosted) => locked(hosted).run.engine().now(),
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
            Running::Hosted(hosted) => unlocked(hosted).run.engine().clone(),
        }
    }

    /// Applies a function to the complete engine.
    pub fn with_engine<T>(&mut self, apply: impl FnOnce(&Engine) -> T) -> T {
        match self {
            Running::Alone(engine) => apply(engine),
            Running::Shared(parallel) => apply(&parallel.engine()),
            Running::Hosted(hosted) => apply(unlocked(hosted).run.engine()),
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

    pub fn has_user_code(&self) -> bool {
        matches!(self, Running::Alone(engine) if engine.has_user_code())
    }

    /// The failure of user code, if any; user code runs on one thread.
    pub fn failure(&self) -> Option<Failure> {
        match self {
            Running::Alone(engine) => engine.failure(),
            Running::Shared(_) => None,
            Running::Hosted(hosted) => locked(hosted).run.engine().failure(),
        }
    }
}

/// No call leaves a run in a state that others cannot read.
fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unlocked<T>(own: &mut Mutex<T>) -> &mut T {
    own.get_mut().unwrap_or_else(PoisonError::into_inner)
}
