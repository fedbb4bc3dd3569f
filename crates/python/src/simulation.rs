//! One run: built from text, advanced in slices without the GIL, returned as tables.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::checkpoint::{self, CheckpointIdentity};
use crate::description::{ParsedScenario, hosted};
use crate::errors::{checkpoint_error, internal_error, panic_text, parameter_text, scenario_error};
use crate::memory;
use crate::running::Running;
use crate::table::Table;
use crate::user_code::{self, Registered};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use serde::Serialize;
use serde_json::value::RawValue;
use tailback_core::primitives::units::{Time, TimeDelta};
use tailback_core::record as core;
use tailback_core::{ConservationError, Engine, memory_estimate};
use tailback_scenario::Scenario;

/// A network during its run.
#[pyclass(module = "tailback._core")]
pub struct Simulation {
    running: Running,
    #[pyo3(get)]
    duration_s: f64,
    /// Number of threads requested.
    threads: NonZeroUsize,
    /// Reason why the run uses fewer threads than requested; none if it does not.
    #[pyo3(get)]
    fewer_threads: Option<String>,
    identity: Arc<RunIdentity>,
}

/// Identity of a run. The content hash is computed when it is read, because short runs take less time.
pub(crate) struct RunIdentity {
    scenario: Arc<Scenario>,
    /// Sources of the user code for the content hash, and as JSON for provenance; both are empty without user code.
    sources: (String, String),
    content_hash: OnceLock<String>,
}

#[pymethods]
impl Simulation {
    #[new]
    fn new(py: Python<'_>, parsed: &ParsedScenario, seed: Option<u64>, threads: NonZeroUsize) -> PyResult<Self> {
        let (scenario, file) = (parsed.with_seed(seed), parsed.file());
        let (network, hosted) = hosted(py, &scenario, file)?;
        let (identity, duration_s) = (RunIdentity::of(py, scenario)?, network.duration.seconds());
        let fits = match threads.get() {
            1 => Ok((threads, None)),
            _ => py.detach(|| memory::threads_that_fit(memory_estimate(&network), threads, file)),
        };
        let (threads, fewer) = fits.map_err(|problems| scenario_error(py, &problems))?;
        if !hosted.flows.is_empty() {
            let (running, why) = Running::on_hosts(py, network, &hosted, threads)?;
            let made = Self { running, duration_s, threads, fewer_threads: fewer.or(why), identity };
            return made.check_user_code(py).map(|()| made);
        }
        let engine = py.detach(|| Engine::with_code(network, &Registered));
        let made = Self::of(py, engine, duration_s, threads, identity)?;
        Ok(Self { fewer_threads: fewer.or(made.fewer_threads), ..made })
    }

    /// Whether the run executes code in Python.
    #[getter]
    fn has_user_code(&self) -> bool {
        !self.identity.sources.0.is_empty()
    }

    /// Number of threads in use.
    #[getter]
    fn threads(&self) -> usize {
        self.running.threads()
    }

    #[getter]
    fn content_hash(&self) -> &str {
        self.identity.content_hash()
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.identity.seed()
    }

    #[getter]
    fn now_s(&self) -> f64 {
        self.running.now().seconds()
    }

    /// Advances by `events` events, or a few more on several threads, and returns whether the time `until_s` or the end was
    /// reached. Slicing does not affect the results. An exception in user code stops the run permanently.
    #[pyo3(signature = (events, until_s=None))]
    fn run_for(&mut self, py: Python<'_>, events: u64, until_s: Option<f64>) -> PyResult<bool> {
        let running = &mut self.running;
        let until = until_s.map_or(Time::NEVER, |seconds| Time::ZERO + TimeDelta::from_seconds(seconds));
        let done = py.detach(|| catch_unwind(AssertUnwindSafe(|| running.run_for(until, events))));
        let done = done.map_err(|panic| self.identity.bug(py, &panic_text(&*panic)))?;
        self.check_user_code(py).map(|()| done)
    }

    /// A copy that continues from here with identical results, independently of this run. User code is copied by `copy.deepcopy`;
    /// if that fails, `UserCodeError` is raised and this run is unchanged.
    fn snapshot(&mut self, py: Python<'_>) -> PyResult<Self> {
        let running = &mut self.running;
        if let Some(why) = running.unsaved_part() {
            return Err(parameter_text(py, &format!("this run cannot be copied: {why}")));
        }
        let copied = py.detach(|| catch_unwind(AssertUnwindSafe(|| running.whole())));
        let engine = copied.map_err(|panic| self.identity.bug(py, &panic_text(&*panic)))?;
        Self::of(py, engine, self.duration_s, self.threads, Arc::clone(&self.identity))
    }

    /// Writes a checkpoint of the run, replacing an existing file.
    fn save(&mut self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let Self { running, identity, .. } = self;
        if let Some(why) =
            running.unsaved_part().or(running.has_user_code().then_some("user code cannot be saved in a checkpoint"))
        {
            return Err(checkpoint_error(py, &path, why));
        }
        let written =
            py.detach(|| running.with_engine(|engine| checkpoint::write(&path, engine, &identity.checkpoint_identity())));
        written.map_err(|error| checkpoint_error(py, &path, &error.to_string()))
    }

    /// Continues from a checkpoint of the same run.
    fn resume(&mut self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        if let Some(why) = self.running.unsaved_part() {
            return Err(checkpoint_error(py, &path, why));
        }
        let read = py.detach(|| checkpoint::read(&path, &self.identity.checkpoint_identity()));
        let engine = read.map_err(|why| checkpoint_error(py, &path, &why))?;
        (self.running, self.fewer_threads) = py.detach(|| Running::new(engine, self.threads));
        Ok(())
    }

    /// Writes the packets of all hosts to this file during the run.
    fn capture(&mut self, path: PathBuf) -> PyResult<()> {
        self.running.capture_to(&path)
    }

    /// The problem with the capture; `None` if there is none. The capture is complete after this call.
    fn finish_capture(&mut self) -> Option<String> {
        self.running.finish_capture()
    }

    /// Texts about packets of hosts that the network did not carry, and about connections that a transport has ended before their
    /// transfers were complete.
    fn host_warnings(&mut self) -> Vec<String> {
        self.running.host_warnings()
    }

    /// Measurements up to now, after a check of packet conservation.
    fn results(&mut self, py: Python<'_>) -> PyResult<Results> {
        let Self { running, identity, .. } = self;
        let measured = identity.measured(py, || running.results())?;
        Ok(Results::new(identity, measured))
    }
}

impl Simulation {
    fn of(py: Python<'_>, engine: Engine, duration_s: f64, threads: NonZeroUsize, identity: Arc<RunIdentity>) -> PyResult<Self> {
        let (running, fewer_threads) = py.detach(|| Running::new(engine, threads));
        let made = Self { running, duration_s, threads, fewer_threads, identity };
        made.check_user_code(py).map(|()| made)
    }

    /// Raises an error if user code has failed.
    fn check_user_code(&self, py: Python<'_>) -> PyResult<()> {
        if let Some(error) = self.running.host_error(py) {
            return Err(error);
        }
        self.running.failure().map_or(Ok(()), |failure| Err(user_code::failed(py, &failure)))
    }
}

impl RunIdentity {
    pub(crate) fn of(py: Python<'_>, scenario: Arc<Scenario>) -> PyResult<Arc<RunIdentity>> {
        let sources = user_code::sources(py, &scenario)?;
        Ok(Arc::new(RunIdentity { scenario, sources, content_hash: OnceLock::new() }))
    }

    fn seed(&self) -> u64 {
        self.scenario.description.seed.0
    }

    fn content_hash(&self) -> &str {
        self.content_hash.get_or_init(|| self.scenario.content_hash(&self.sources.0))
    }

    fn checkpoint_identity(&self) -> CheckpointIdentity<'_> {
        CheckpointIdentity { version: env!("CARGO_PKG_VERSION"), content_hash: self.content_hash(), seed: self.seed() }
    }

    pub(crate) fn bug(&self, py: Python<'_>, message: &str) -> PyErr {
        internal_error(py, message, self.content_hash(), self.seed())
    }

    /// The tables of an engine, after a check of packet conservation.
    pub(crate) fn measured(
        &self,
        py: Python<'_>,
        measure: impl FnOnce() -> Result<tailback_core::Results, ConservationError> + Send,
    ) -> PyResult<tailback_core::Results> {
        let results = py.detach(|| catch_unwind(AssertUnwindSafe(measure)));
        results.map_err(|panic| self.bug(py, &panic_text(&*panic)))?.map_err(|error| self.bug(py, &error.to_string()))
    }
}

/// Identity and outcome of a run. The scenario keeps its order, which is that of its flows.
#[derive(Serialize)]
struct Provenance<'a> {
    scenario: &'a RawValue,
    seed: u64,
    version: &'a str,
    content_hash: &'a str,
    complete: bool,
    simulated_s: f64,
    events: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_code: Option<&'a RawValue>,
}

/// Measurements of a run.
#[pyclass(frozen, module = "tailback._core")]
pub struct Results {
    identity: Arc<RunIdentity>,
    tables: Mutex<ResultTables>,
    #[pyo3(get)]
    complete: bool,
    #[pyo3(get)]
    simulated_s: f64,
    #[pyo3(get)]
    events: u64,
}

/// The tables of a run. They become objects of Python when they are read first: a study reads few of them.
struct ResultTables {
    measured: Vec<core::Table>,
    read: Vec<(String, Py<Table>)>,
}

#[pymethods]
impl Results {
    /// `flows`, `queues`, `groups`, and one table per kind of trace.
    #[getter]
    fn tables(&self, py: Python<'_>) -> PyResult<Vec<(String, Py<Table>)>> {
        let ResultTables { measured, read } = &mut *self.tables.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
        for table in measured.drain(..) {
            read.push(named(py, table)?);
        }
        Ok(read.iter().map(|(name, table)| (name.clone(), table.clone_ref(py))).collect())
    }

    /// JSON: scenario, seed, version, content hash and outcome of the run.
    #[getter]
    fn provenance(&self, py: Python<'_>) -> PyResult<String> {
        let RunIdentity { scenario, sources: (_, user_code), .. } = &*self.identity;
        let bug = |error: serde_json::Error| self.identity.bug(py, &error.to_string());
        let scenario = scenario.to_json();
        let provenance = Provenance {
            scenario: serde_json::from_str(&scenario).map_err(bug)?,
            seed: self.identity.seed(),
            version: env!("CARGO_PKG_VERSION"),
            content_hash: self.identity.content_hash(),
            complete: self.complete,
            simulated_s: self.simulated_s,
            events: self.events,
            user_code: Some(user_code)
                .filter(|text| !text.is_empty())
                .map(|text| serde_json::from_str(text))
                .transpose()
                .map_err(bug)?,
        };
        serde_json::to_string(&provenance).map_err(bug)
    }
}

impl Results {
    pub(crate) fn new(identity: &Arc<RunIdentity>, results: tailback_core::Results) -> Results {
        let tables = [results.flows, results.queues, results.groups]
            .into_iter()
            .chain(results.classes)
            .chain(results.edges)
            .chain(results.messages)
            .chain(results.queue_flows)
            .chain(results.traces);
        Results {
            identity: Arc::clone(identity),
            tables: Mutex::new(ResultTables { measured: tables.collect(), read: Vec::new() }),
            complete: results.complete,
            simulated_s: results.simulated_s,
            events: results.events,
        }
    }
}

pub(crate) fn named(py: Python<'_>, table: core::Table) -> PyResult<(String, Py<Table>)> {
    let name = table.name.clone();
    let table = Table::new(table).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok((name, Py::new(py, table)?))
}
