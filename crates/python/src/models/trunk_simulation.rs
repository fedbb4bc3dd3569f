//! Simulation of the detailed trunk model on all cores, in slices, so that Python can show progress and handle Ctrl-C.

use crate::errors::panic_text;
use crate::errors::{internal_error, parameter_error};
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::thread;
use tailback_models::model::Keyword;
use tailback_models::trunk::monte_carlo::{Estimate, Settings, Simulation};
use tailback_models::trunk::{Trunk, TrunkVariant};

/// A simulation of a trunk in progress.
#[pyclass(module = "tailback._core")]
pub struct TrunkSimulation {
    simulation: Simulation,
    seed: u64,
}

/// Loss, half-width, narrow, arrivals, lost, simulated, thresholds.
type EstimateFields = (f64, f64, bool, u64, u64, u64, Vec<(u32, u32)>);

#[pymethods]
impl TrunkSimulation {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "keyword arguments in Python")]
    fn new(
        py: Python<'_>,
        inputs: u64,
        transmitters: u64,
        buffer: u64,
        load: f64,
        variant: &str,
        relative_width: f64,
        max_arrivals: u64,
        splitting: bool,
        seed: u64,
    ) -> PyResult<Self> {
        let simulation = Trunk::new(inputs, transmitters, buffer).and_then(|trunk| {
            let variant = TrunkVariant::named(variant)?;
            Simulation::new(Settings { trunk, load, variant, relative_width, max_arrivals, splitting, seed })
        });
        Ok(Self { simulation: simulation.map_err(|error| parameter_error(py, &error, ""))?, seed })
    }

    /// Continues for about `slice` packets in each replication, on `threads` threads. Returns whether the simulation is complete.
    /// Neither argument affects the results.
    fn advance(&mut self, py: Python<'_>, slice: u64, threads: usize) -> PyResult<bool> {
        let simulation = &mut self.simulation;
        let done = py.detach(|| {
            catch_unwind(AssertUnwindSafe(|| {
                let segments = Mutex::new(simulation.segments(slice).into_iter());
                let next = || segments.lock().ok().and_then(|mut segments| segments.next());
                let work = || std::iter::from_fn(next).for_each(|job| job.run());
                thread::scope(|scope| {
                    (1..threads).for_each(|_| drop(scope.spawn(work)));
                    // This thread works too, so that the cost is attributed to the caller.
                    work();
                });
                simulation.conclude()
            }))
        });
        done.map_err(|panic| internal_error(py, &format!("{} in the simulation of a trunk", panic_text(&*panic)), "", self.seed))
    }

    /// Estimated fraction of the work that is complete.
    #[getter]
    fn progress(&self) -> f64 {
        self.simulation.progress()
    }

    /// Measurements up to now.
    #[getter]
    fn measured(&self) -> EstimateFields {
        let Estimate { loss, half_width, narrow, arrivals, lost, simulated, thresholds } = self.simulation.estimate();
        (loss, half_width, narrow, arrivals, lost, simulated, thresholds)
    }
}
