//! Rust's errors as the exceptions of `tailback.errors`, where their one hierarchy is drawn.

use pyo3::prelude::*;
use tailback_models::ParameterError;
use tailback_scenario::{Errors, Warnings};

/// `ScenarioError`, with all problems as data and as the text that every face shows.
pub fn scenario_error(py: Python<'_>, errors: &Errors) -> PyErr {
    match serde_json::to_string(errors) {
        Ok(data) => raise(py, "ScenarioError", (data, errors.to_string())),
        Err(error) => raise(py, "InternalError", (error.to_string(), "", 0)),
    }
}

/// Issues a `ScenarioWarning` for each thing that runs but is hardly what was meant.
///
/// # Errors
/// Where Python is told to make errors of warnings.
pub fn warn(py: Python<'_>, warnings: &Warnings) -> PyResult<()> {
    let category = py.import("tailback.errors")?.getattr("ScenarioWarning")?;
    let warn = py.import("warnings")?.getattr("warn")?;
    warnings.texts().try_for_each(|text| warn.call1((text, &category, 2)).map(|_| ()))
}

/// `place` says which element of an array it was; empty for numbers.
pub fn parameter_error(py: Python<'_>, error: &ParameterError, place: &str) -> PyErr {
    raise(py, "ParameterError", (format!("{error}{place}"),))
}

/// A checkpoint that cannot be used or written, and why.
pub fn checkpoint_error(py: Python<'_>, path: &std::path::Path, why: &str) -> PyErr {
    raise(py, "CheckpointError", (format!("the checkpoint `{}` cannot be used: {why}", path.display()),))
}

/// Capacities, weights or routes that cannot be shared.
pub fn allocation_error(py: Python<'_>, text: &str) -> PyErr {
    raise(py, "ParameterError", (text,))
}

/// Our bug: `message` says which invariant broke; hash and seed let anyone repeat it.
pub fn internal_error(py: Python<'_>, message: &str, content_hash: &str, seed: u64) -> PyErr {
    raise(py, "InternalError", (message, content_hash, seed))
}

/// What became of user code, and where and when.
pub fn user_code_error(py: Python<'_>, message: &str, name: &str, at: &str, time_s: f64) -> PyErr {
    raise(py, "UserCodeError", (message, name, at, time_s))
}

fn raise<'py, A: pyo3::call::PyCallArgs<'py>>(py: Python<'py>, class: &str, arguments: A) -> PyErr {
    let made = py.import("tailback.errors").and_then(|module| module.getattr(class)).and_then(|class| class.call1(arguments));
    made.map_or_else(|error| error, PyErr::from_value)
}
