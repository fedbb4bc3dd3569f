//! A scenario as text: checked, normalised, described.

use crate::{errors, memory};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tailback_core::network::Network;
use tailback_scenario::{Errors, Problem, Scenario};

/// Raises `ScenarioError` with every problem of the scenario, if there is one.
#[pyfunction]
pub fn check(py: Python<'_>, text: &str, file: &str, format: &str) -> PyResult<()> {
    let scenario = parse(py, text, file, format)?;
    network(py, &scenario, file).map(|_| ())
}

/// The scenario as JSON with every default filled in.
#[pyfunction]
pub fn normalise(py: Python<'_>, text: &str, file: &str, format: &str) -> PyResult<String> {
    Ok(parse(py, text, file, format)?.to_json())
}

/// The JSON Schema of a scenario.
#[pyfunction]
pub fn schema() -> String {
    tailback_scenario::json_schema().to_string()
}

/// A `ScenarioError` for a fault that only Python can see, such as a file that is not there, in the text that all have.
#[pyfunction]
#[pyo3(signature = (file, at, message, *, given=None, expected=None, hint=None))]
pub fn scenario_error(
    py: Python<'_>,
    file: String,
    at: String,
    message: String,
    given: Option<String>,
    expected: Option<String>,
    hint: Option<String>,
) -> Py<PyAny> {
    let problem = Problem { at, line: None, message, given, expected, hint };
    errors::scenario_error(py, &Errors { file, list: vec![problem], more: 0 }).into_value(py).into_any()
}

pub fn parse(py: Python<'_>, text: &str, file: &str, format: &str) -> PyResult<Scenario> {
    let parsed = py.detach(|| match format {
        "toml" => Ok(Scenario::from_toml(text, file)),
        "json" => Ok(Scenario::from_json(text, file)),
        _ => Err(PyValueError::new_err(format!("format `{format}`; expected `toml` or `json`"))),
    })?;
    parsed.map_err(|problems| errors::scenario_error(py, &problems))
}

/// What the core runs, if it makes sense and fits into memory.
pub fn network(py: Python<'_>, scenario: &Scenario, file: &str) -> PyResult<Network> {
    let built = py.detach(|| {
        let network = scenario.build()?;
        memory::fits(tailback_core::memory_estimate(&network), file)?;
        Ok(network)
    });
    built.map_err(|problems| errors::scenario_error(py, &problems))
}
