//! Scenarios as text: validation, normalisation and description.

use crate::{errors, memory, user_code};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;
use tailback_core::network::{AccessLink, Network};
use tailback_core::primitives::units::Time;
use tailback_scenario::{Errors, Hosted, HostedFlows, Integer, Problem, Scenario, Topology, Warnings};

/// Raises `ScenarioError` with all problems of the scenario, if there are any. Unless `may_lack_flows`, a scenario without flows
/// is a problem. `written`: the TOML text from which the JSON was made; problems refer to its lines.
#[pyfunction]
#[pyo3(signature = (text, file, format, *, may_lack_flows=false, written=None))]
pub fn check(py: Python<'_>, text: &str, file: &str, format: &str, may_lack_flows: bool, written: Option<&str>) -> PyResult<()> {
    let scenario = match written {
        Some(toml) => py
            .detach(|| Scenario::from_json_of_toml(text, toml, file))
            .map_err(|problems| errors::scenario_error(py, &problems))?,
        None => parse(py, text, file, format)?,
    };
    if may_lack_flows && scenario.description.flows.is_empty() {
        return match py.detach(|| scenario.check()) {
            Ok(warnings) => errors::warn(py, &warnings),
            Err(problems) => Err(errors::scenario_error(py, &problems)),
        };
    }
    hosted(py, &scenario, file).map(|_| ())
}

/// The values of a TOML text as JSON; `None` if it cannot be parsed.
#[pyfunction]
pub fn toml_as_json(py: Python<'_>, text: &str) -> Option<String> {
    py.detach(|| tailback_scenario::toml_as_json(text))
}

/// Notes for readers of the results of a scenario: data and text of each note.
#[pyfunction]
pub fn notes(py: Python<'_>, text: &str, file: &str, format: &str) -> PyResult<Vec<(String, String)>> {
    let scenario = parse(py, text, file, format)?;
    let notes = py.detach(|| scenario.notes());
    Ok(notes.list.iter().map(errors::data).zip(notes.texts()).collect())
}

/// Names of the unlimited queues, each with the longest base RTT in seconds of the flows that cross it.
#[pyfunction]
pub fn unlimited_queues(py: Python<'_>, text: &str, file: &str, format: &str) -> PyResult<Vec<(String, f64)>> {
    let scenario = parse(py, text, file, format)?;
    Ok(py.detach(|| scenario.unlimited_queues()))
}

/// The scenario as JSON with all defaults filled in.
#[pyfunction]
pub fn normalise(py: Python<'_>, text: &str, file: &str, format: &str) -> PyResult<String> {
    Ok(parse(py, text, file, format)?.to_json())
}

/// The same, with the paths of the values that were read from files.
#[pyfunction]
pub fn normalise_with_files(py: Python<'_>, text: &str, file: &str, format: &str) -> PyResult<(String, Vec<String>)> {
    let scenario = parse(py, text, file, format)?;
    Ok((scenario.to_json(), scenario.from_files().to_vec()))
}

/// The scenario with this seed as JSON, with nodes and links in place of its topology.
#[pyfunction]
pub fn expanded(py: Python<'_>, text: &str, file: &str, format: &str, seed: Option<u64>) -> PyResult<String> {
    let mut scenario = parse(py, text, file, format)?;
    scenario.description.seed = seed.map_or(scenario.description.seed, Integer);
    let expanded = py.detach(|| memory::fits_when_made(scenario.min_bytes(), file).and_then(|()| scenario.expanded()));
    expanded.map(|expanded| expanded.to_json()).map_err(|problems| errors::scenario_error(py, &problems))
}

/// Whether seeds affect the results; false only if it is certain that nothing is random.
#[pyfunction]
pub fn is_random(py: Python<'_>, text: &str, file: &str, format: &str) -> PyResult<bool> {
    Ok(parse(py, text, file, format)?.is_random())
}

/// The source and destination nodes of the flows of a run with this seed.
#[pyfunction]
pub fn flow_ends(
    py: Python<'_>,
    text: &str,
    file: &str,
    format: &str,
    seed: Option<u64>,
) -> PyResult<(Vec<String>, Vec<String>)> {
    let mut scenario = parse(py, text, file, format)?;
    scenario.description.seed = seed.map_or(scenario.description.seed, Integer);
    let ends = py.detach(|| scenario.ends()).map_err(|problems| errors::scenario_error(py, &problems))?;
    Ok(ends.into_iter().map(|(from, to)| (from.to_string(), to.to_string())).unzip())
}

/// The flows of a run with this seed as JSON: group, nodes, ports in both directions, private links, start, stop and size.
#[pyfunction]
pub fn described_flows(py: Python<'_>, text: &str, file: &str, format: &str, seed: Option<u64>) -> PyResult<String> {
    let mut scenario = parse(py, text, file, format)?;
    scenario.description.seed = seed.map_or(scenario.description.seed, Integer);
    let network = network(py, &scenario, file)?;
    let ends = py.detach(|| scenario.ends()).map_err(|problems| errors::scenario_error(py, &problems))?;
    let path = |of: u32| network.paths[of as usize].iter().map(|&port| &network.ports[port].name).collect::<Vec<_>>();
    let access = |of: AccessLink| json!({"rate_bps": of.rate.map(|rate| rate.0), "delay_s": of.delay.seconds()});
    let flows = network.flows.iter().zip(ends).map(|(flow, (source, sink))| {
        json!({
            "group": network.groups[flow.group].name,
            "source": source.as_str(),
            "sink": sink.as_str(),
            "forward": path(flow.forward),
            "backward": path(flow.backward),
            "sender_access": access(flow.sender_access),
            "receiver_access": access(flow.receiver_access),
            "start_s": flow.start.seconds(),
            "stop_s": (flow.stop != Time::NEVER).then(|| flow.stop.seconds()),
            "size_bytes": flow.size.map(|size| size.0),
        })
    });
    Ok(Value::from(flows.collect::<Vec<_>>()).to_string())
}

/// A quantity such as `20 ms` in the unit used in column names, with that unit; none if the text is not a quantity.
#[pyfunction]
pub fn in_column_units(text: &str) -> Option<(f64, &'static str)> {
    tailback_scenario::in_column_units(text)
}

/// The table, as JSON, that a value stands for in place of a table under this key; none if it has no short form.
#[pyfunction]
pub fn long_form(key: &str, json: &str) -> Option<String> {
    tailback_scenario::long_form(key, json)
}

/// The most similar of these words, as in scenario errors.
#[pyfunction]
pub fn nearest_word(given: &str, words: Vec<String>) -> Option<String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    tailback_scenario::nearest_word(given, &words).map(str::to_owned)
}

/// The hint for an invalid word among these valid ones, as in scenario errors.
#[pyfunction]
pub fn hint(given: &str, words: Vec<String>) -> Option<String> {
    tailback_scenario::hint(given, &words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The valid words of a message: "one of `a`, `b`".
#[pyfunction]
pub fn listed(words: Vec<String>) -> String {
    tailback_scenario::listed(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Old and new name of every key, word, argument and column that was renamed; deleted at 1.0.
#[pyfunction]
pub fn renamed_names() -> Vec<(&'static str, &'static str)> {
    tailback_scenario::RENAMED.to_vec()
}

/// The content hashes of the results of a scenario with each of these seeds. Nothing is built, so that planning many runs is
/// cheap.
#[pyfunction]
pub fn content_hashes(py: Python<'_>, text: &str, file: &str, format: &str, seeds: Vec<u64>) -> PyResult<Vec<String>> {
    let mut scenario = parse(py, text, file, format)?;
    let (sources, _) = user_code::sources(py, &scenario)?;
    let hashes = seeds.into_iter().map(|seed| {
        scenario.description.seed = Integer(seed);
        scenario.content_hash(&sources)
    });
    Ok(hashes.collect())
}

#[cfg(target_os = "linux")]
const EMULATOR: &str = tailback_emulator::SOURCES;
#[cfg(not(target_os = "linux"))]
const EMULATOR: &str = "";

/// A fingerprint of all sources from which this module was compiled: results of its functions depend only on it and on their
/// arguments.
#[pyfunction]
pub fn sources() -> String {
    let crates = [
        tailback_core::SOURCES,
        tailback_scenario::SOURCES,
        tailback_models::SOURCES,
        tailback_allocation::SOURCES,
        tailback_prediction::SOURCES,
        tailback_host::SOURCES,
    ];
    [crates.concat().as_str(), EMULATOR, env!("TAILBACK_SOURCES")].concat()
}

/// The JSON Schema of a scenario.
#[pyfunction]
pub fn schema() -> String {
    tailback_scenario::json_schema().to_string()
}

/// The generators of topologies: key, table in the JSON Schema, usual routing, and an example as TOML.
#[pyfunction]
pub fn topologies() -> Vec<(&'static str, &'static str, &'static str, &'static str)> {
    Topology::ALL.iter().map(|one| (one.name, one.table, one.routing, one.example)).collect()
}

/// Usual ends of flows in a topology, which is given as JSON; none if it has none.
#[pyfunction]
pub fn flow_ends_of_topology(json: &str) -> Vec<String> {
    Topology::flow_ends(json)
}

/// Name, row, and the name and description of each column.
type DescribedTable = (&'static str, &'static str, Vec<(&'static str, &'static str)>);

/// Description of each table: its name, its row, and the name and description of each column.
#[pyfunction]
pub fn described_tables() -> Vec<DescribedTable> {
    tailback_core::record::TABLES.iter().map(|of| (of.table, of.row, of.columns.to_vec())).collect()
}

/// A `ScenarioError` for a fault that only Python can detect, such as a missing file, with the common text format. `written`: the
/// TOML text that contains the place.
#[pyfunction]
#[pyo3(signature = (file, at, message, *, given=None, expected=None, hint=None, written=None))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments in Python")]
pub fn scenario_error(
    py: Python<'_>,
    file: String,
    at: String,
    message: String,
    given: Option<String>,
    expected: Option<String>,
    hint: Option<String>,
    written: Option<&str>,
) -> Py<PyAny> {
    let problem = problem((at, message, given, expected, hint));
    let problem = written.map_or_else(|| problem.clone(), |text| problem.clone().in_toml(text));
    errors::scenario_error(py, &Errors::one(&file, problem)).into_value(py).into_any()
}

/// An `ArgumentError` for arguments of a Python function.
#[pyfunction]
pub fn argument_errors(py: Python<'_>, problems: Vec<ProblemFields>) -> Py<PyAny> {
    let list = problems.into_iter().map(problem).collect();
    errors::argument_error(py, &Errors { file: String::new(), list, more: 0 }).into_value(py).into_any()
}

/// A problem as passed by Python: place, message, given, expected, hint.
type ProblemFields = (String, String, Option<String>, Option<String>, Option<String>);

/// The same for several faults, as when a grid is checked as a whole; `more` problems were omitted.
#[pyfunction]
pub fn scenario_errors(py: Python<'_>, file: String, problems: Vec<ProblemFields>, more: usize) -> Py<PyAny> {
    let list = problems.into_iter().map(problem).collect();
    errors::scenario_error(py, &Errors { file, list, more }).into_value(py).into_any()
}

fn problem((at, message, given, expected, hint): ProblemFields) -> Problem {
    let mut problem = Problem::new(at, message);
    (problem.given, problem.expected, problem.hint) = (given, expected, hint);
    problem
}

pub fn parse(py: Python<'_>, text: &str, file: &str, format: &str) -> PyResult<Scenario> {
    let parsed = py.detach(|| match format {
        "toml" => Ok(Scenario::from_toml(text, file)),
        "json" => Ok(Scenario::from_json(text, file)),
        _ => Err(PyValueError::new_err(format!("format `{format}`; expected `toml` or `json`"))),
    })?;
    parsed.map_err(|problems| errors::scenario_error(py, &problems))
}

/// A scenario that has been read, for runs with different seeds.
#[pyclass(frozen, module = "tailback._core")]
pub struct ParsedScenario {
    scenario: Arc<Scenario>,
    file: String,
}

#[pymethods]
impl ParsedScenario {
    #[new]
    fn new(py: Python<'_>, text: &str, file: String, format: &str) -> PyResult<Self> {
        Ok(Self { scenario: Arc::new(parse(py, text, &file, format)?), file })
    }
}

impl ParsedScenario {
    /// The scenario with this seed instead of its own, if there is one.
    pub fn with_seed(&self, seed: Option<u64>) -> Arc<Scenario> {
        let mut scenario = Arc::clone(&self.scenario);
        if let Some(seed) = seed.map(Integer).filter(|&seed| seed != scenario.description.seed) {
            Arc::make_mut(&mut scenario).description.seed = seed;
        }
        scenario
    }

    pub fn file(&self) -> &str {
        &self.file
    }
}

/// The user code that a scenario refers to: kind, name and place.
#[pyfunction]
pub fn named_user_code(py: Python<'_>, text: &str, file: &str, format: &str) -> PyResult<Vec<(&'static str, String, String)>> {
    let named = parse(py, text, file, format)?.user_code();
    Ok(named.into_iter().map(|(kind, named)| (user_code::word(kind), named.name, named.at)).collect())
}

/// Builds the network of a scenario, if the scenario is valid, its user code is registered and it fits into memory.
pub fn network(py: Python<'_>, scenario: &Scenario, file: &str) -> PyResult<Network> {
    let build = || scenario.build_with_warnings().map(|(network, warnings)| (network, warnings, ()));
    checked(py, scenario, file, build).map(|(network, ())| network)
}

/// The same for a scenario whose flows may run on stacks.
pub fn hosted(py: Python<'_>, scenario: &Scenario, file: &str) -> PyResult<(Network, HostedFlows)> {
    let build = || scenario.hosted().map(|Hosted { network, warnings, hosts }| (network, warnings, hosts));
    checked(py, scenario, file, build)
}

/// The same for any `build` function, and with its additional result.
pub fn checked<T: Send>(
    py: Python<'_>,
    scenario: &Scenario,
    file: &str,
    build: impl FnOnce() -> Result<(Network, Warnings, T), Errors> + Send,
) -> PyResult<(Network, T)> {
    let built = py.detach(|| {
        memory::fits_when_made(scenario.min_bytes(), file)?;
        let (network, warnings, rest) = build()?;
        memory::fits(&network, file)?;
        Ok((network, warnings, rest))
    });
    let problems = match (built, user_code::check(py, scenario)?) {
        (Ok((network, warnings, rest)), Ok(())) => return errors::warn(py, &warnings).map(|()| (network, rest)),
        (Ok(_), Err(problems)) | (Err(problems), Ok(())) => problems,
        (Err(problems), Err(others)) => problems.and(others),
    };
    Err(errors::scenario_error(py, &problems))
}
