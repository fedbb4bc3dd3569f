//! The first event at which two runs differ, searched in slices without the GIL.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::description::{network, parse};
use crate::errors::panic_text;
use crate::simulation::RunIdentity;
use crate::user_code::{self, Registered};
use pyo3::prelude::*;
use tailback_core::{ComparisonState, RunEvent};
use tailback_scenario::Integer;

/// Two runs that advance in parallel.
#[pyclass(module = "tailback._core")]
pub struct EventComparison {
    running: tailback_core::EventComparison,
    /// Of the first run, for reports of bugs.
    identity: Arc<RunIdentity>,
}

/// Text, file name and format of a scenario, and the seed of its run.
type Seeded<'a> = (&'a str, &'a str, &'a str, Option<u64>);

/// An event: its time in seconds and a description.
type Described = Option<(f64, String)>;

#[pymethods]
impl EventComparison {
    #[new]
    fn new(py: Python<'_>, left: Seeded<'_>, right: Seeded<'_>) -> PyResult<Self> {
        let read = |(text, file, format, seed): Seeded<'_>| {
            let mut scenario = parse(py, text, file, format)?;
            scenario.description.seed = seed.map_or(scenario.description.seed, Integer);
            Ok::<_, PyErr>((network(py, &scenario, file)?, RunIdentity::of(py, Arc::new(scenario))?))
        };
        let ((left, identity), (right, _)) = (read(left)?, read(right)?);
        let running = py.detach(|| tailback_core::EventComparison::with_code([left, right], &Registered));
        Self { running, identity }.checked(py)
    }

    /// Advances by `events` events. Returns the share of the shorter run up to which both are equal, 1 for equal runs, or the
    /// first differing event of each run, if it has one.
    fn advance(&mut self, py: Python<'_>, events: u64) -> PyResult<(Option<f64>, Described, Described)> {
        let running = &mut self.running;
        let state = py.detach(|| catch_unwind(AssertUnwindSafe(|| running.advance(events).clone())));
        let state = state.map_err(|panic| self.identity.bug(py, &panic_text(&*panic)))?;
        self.check_user_code(py)?;
        let described = |event: Option<RunEvent>| event.map(|RunEvent { time_s, what }| (time_s, what));
        Ok(match state {
            ComparisonState::EqualSoFar(share) => (Some(share.min(1.0f64.next_down())), None, None),
            ComparisonState::Equal => (Some(1.0), None, None),
            ComparisonState::Different(left, right) => (None, described(left), described(right)),
        })
    }
}

impl EventComparison {
    fn checked(self, py: Python<'_>) -> PyResult<Self> {
        self.check_user_code(py).map(|()| self)
    }

    fn check_user_code(&self, py: Python<'_>) -> PyResult<()> {
        self.running.failure().map_or(Ok(()), |failure| Err(user_code::failed(py, &failure)))
    }
}
