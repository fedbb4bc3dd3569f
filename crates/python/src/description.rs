//! A scenario as text: checked, normalised, described.

use crate::{errors, memory, user_code};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tailback_core::network::Network;
use tailback_scenario::{Errors, Problem, Scenario, Warnings, Whole};

/// Raises `ScenarioError` with every problem of the scenario, if there is one. One without flows has a problem unless it may. `written`: the
/// TOML text of which JSON was made; problems have its lines.
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
    network(py, &scenario, file).map(|_| ())
}

/// The values of a TOML text as JSON; `None` if it cannot be read.
#[pyfunction]
pub fn toml_as_json(py: Python<'_>, text: &str) -> Option<String> {
    py.detach(|| tailback_scenario::toml_as_json(text))
}

/// What a reader of the results of a scenario should know.
#[pyfunction]
pub fn remarks(py: Python<'_>, text: &str, file: &str, format: &str) -> PyResult<Vec<String>> {
    let scenario = parse(py, text, file, format)?;
    Ok(py.detach(|| scenario.remarks()).texts().collect())
}

/// The scenario as JSON with every default filled in.
#[pyfunction]
pub fn normalise(py: Python<'_>, text: &str, file: &str, format: &str) -> PyResult<String> {
    Ok(parse(py, text, file, format)?.to_json())
}

/// Whether seeds make a difference; false only if it is certain that nothing is drawn.
#[pyfunction]
pub fn is_random(py: Python<'_>, text: &str, file: &str, format: &str) -> PyResult<bool> {
    Ok(parse(py, text, file, format)?.is_random())
}

/// The nodes where the flows of a run with that seed begin, and those where they end.
#[pyfunction]
pub fn flow_ends(
    py: Python<'_>,
    text: &str,
    file: &str,
    format: &str,
    seed: Option<u64>,
) -> PyResult<(Vec<String>, Vec<String>)> {
    let mut scenario = parse(py, text, file, format)?;
    scenario.description.seed = seed.map_or(scenario.description.seed, Whole);
    let ends = py.detach(|| scenario.ends()).map_err(|problems| errors::scenario_error(py, &problems))?;
    Ok(ends.into_iter().map(|(from, to)| (from.to_string(), to.to_string())).unzip())
}

/// A quantity such as `20 ms` in the unit that names of columns end in, with that unit; none if the text is none.
#[pyfunction]
pub fn in_column_units(text: &str) -> Option<(f64, &'static str)> {
    tailback_scenario::in_column_units(text)
}

/// The word of these that was most likely meant, as errors of scenarios have it.
#[pyfunction]
pub fn nearest_word(given: &str, words: Vec<String>) -> Option<String> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    tailback_scenario::nearest_word(given, &words).map(str::to_owned)
}

/// The content hashes of what a scenario gives with each of some seeds. Nothing is built, so that a plan of many runs is cheap.
#[pyfunction]
pub fn content_hashes(py: Python<'_>, text: &str, file: &str, format: &str, seeds: Vec<u64>) -> PyResult<Vec<String>> {
    let mut scenario = parse(py, text, file, format)?;
    let (sources, _) = user_code::sources(py, &scenario)?;
    let hashes = seeds.into_iter().map(|seed| {
        scenario.description.seed = Whole(seed);
        scenario.content_hash(&sources)
    });
    Ok(hashes.collect())
}

#[cfg(target_os = "linux")]
const EMULATOR: &str = tailback_emulator::SOURCES;
#[cfg(not(target_os = "linux"))]
const EMULATOR: &str = "";

/// A fingerprint of all sources that this module was compiled from: what its functions return depends on nothing else but their
/// arguments.
#[pyfunction]
pub fn sources() -> String {
    let crates = [tailback_core::SOURCES, tailback_scenario::SOURCES, tailback_models::SOURCES, tailback_allocation::SOURCES];
    [crates.concat().as_str(), EMULATOR, env!("TAILBACK_SOURCES")].concat()
}

/// The JSON Schema of a scenario.
#[pyfunction]
pub fn schema() -> String {
    tailback_scenario::json_schema().to_string()
}

/// Name, row, and of each column name and meaning.
type DescribedTable = (&'static str, &'static str, Vec<(&'static str, &'static str)>);

/// What each table is: its name, what a row is, and its columns with what they mean.
#[pyfunction]
pub fn described_tables() -> Vec<DescribedTable> {
    tailback_core::record::TABLES.iter().map(|of| (of.table, of.row, of.columns.to_vec())).collect()
}

/// A `ScenarioError` for a fault that only Python can see, such as a file that is not there, in the text that all have. `written`: the TOML
/// text in which the place is.
#[pyfunction]
#[pyo3(signature = (file, at, message, *, given=None, expected=None, hint=None, written=None))]
#[allow(clippy::too_many_arguments, reason = "by name in Python")]
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
    let line = written.and_then(|text| tailback_scenario::line_of(text, &at));
    let problem = Problem { at, line, message, given, expected, hint };
    errors::scenario_error(py, &Errors { file, list: vec![problem], more: 0 }).into_value(py).into_any()
}

/// A problem as Python hands it over: place, message, given, expected, hint.
type Given = (String, String, Option<String>, Option<String>, Option<String>);

/// The same for several faults, as when a grid is checked as a whole; `more` were left out.
#[pyfunction]
pub fn scenario_errors(py: Python<'_>, file: String, problems: Vec<Given>, more: usize) -> Py<PyAny> {
    let list = problems.into_iter().map(|(at, message, given, expected, hint)| Problem {
        at,
        line: None,
        message,
        given,
        expected,
        hint,
    });
    errors::scenario_error(py, &Errors { file, list: list.collect(), more }).into_value(py).into_any()
}

pub fn parse(py: Python<'_>, text: &str, file: &str, format: &str) -> PyResult<Scenario> {
    let parsed = py.detach(|| match format {
        "toml" => Ok(Scenario::from_toml(text, file)),
        "json" => Ok(Scenario::from_json(text, file)),
        _ => Err(PyValueError::new_err(format!("format `{format}`; expected `toml` or `json`"))),
    })?;
    parsed.map_err(|problems| errors::scenario_error(py, &problems))
}

/// The user code that a scenario names: kind, name and place of each.
#[pyfunction]
pub fn named_user_code(py: Python<'_>, text: &str, file: &str, format: &str) -> PyResult<Vec<(&'static str, String, String)>> {
    let named = parse(py, text, file, format)?.user_code();
    Ok(named.into_iter().map(|(kind, named)| (user_code::word(kind), named.name, named.at)).collect())
}

/// What the core runs, if it makes sense, its user code is there and it fits into memory.
pub fn network(py: Python<'_>, scenario: &Scenario, file: &str) -> PyResult<Network> {
    let build = || scenario.build_with_warnings().map(|(network, warnings)| (network, warnings, ()));
    checked(py, scenario, file, build).map(|(network, ())| network)
}

/// The same for what `build` makes of it, and whatever comes with the network.
pub fn checked<T: Send>(
    py: Python<'_>,
    scenario: &Scenario,
    file: &str,
    build: impl FnOnce() -> Result<(Network, Warnings, T), Errors> + Send,
) -> PyResult<(Network, T)> {
    let built = py.detach(|| {
        memory::fits_when_made(scenario.least_bytes(), file)?;
        let (network, warnings, rest) = build()?;
        memory::fits(tailback_core::memory_estimate(&network), file)?;
        Ok((network, warnings, rest))
    });
    let problems = match (built, user_code::check(py, scenario)?) {
        (Ok((network, warnings, rest)), Ok(())) => return errors::warn(py, &warnings).map(|()| (network, rest)),
        (Ok(_), Err(problems)) | (Err(problems), Ok(())) => problems,
        (Err(problems), Err(others)) => problems.and(others),
    };
    Err(errors::scenario_error(py, &problems))
}
