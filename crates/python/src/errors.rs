//! Converts Rust errors into the exceptions of `tailback.errors`, which defines their hierarchy.

use pyo3::prelude::*;
use tailback_host::HostError;
use tailback_models::ParameterError;
use tailback_scenario::{Errors, Problem, Warnings};

/// A `ScenarioError` with all errors as data and as text.
pub fn scenario_error(py: Python<'_>, errors: &Errors) -> PyErr {
    of_errors(py, "ScenarioError", errors)
}

/// An `ArgumentError` of a Python function.
pub fn argument_error(py: Python<'_>, errors: &Errors) -> PyErr {
    of_errors(py, "ArgumentError", errors)
}

fn of_errors(py: Python<'_>, class: &str, errors: &Errors) -> PyErr {
    match serde_json::to_string(errors) {
        Ok(data) => raise(py, class, (data, errors.to_string())),
        Err(error) => raise(py, "InternalError", (error.to_string(), "", 0)),
    }
}

/// A warning or note as JSON.
pub fn data(problem: &Problem) -> String {
    // Its keys are text and its numbers are finite, so that nothing can fail.
    serde_json::to_string(problem).unwrap_or_default()
}

/// Issues a `ScenarioWarning` for each warning.
///
/// # Errors
/// Where Python is configured to raise warnings as errors.
pub fn warn(py: Python<'_>, warnings: &Warnings) -> PyResult<()> {
    let module = py.import("tailback.errors")?;
    let (category, warn) = (module.getattr("ScenarioWarning")?, module.getattr("warn")?);
    warnings.list.iter().zip(warnings.texts()).try_for_each(|(problem, text)| {
        let warning = category.call1((data(problem), text))?;
        warn.call1((warning,)).map(|_| ())
    })
}

/// `place`: the array element concerned; empty for numbers.
pub fn parameter_error(py: Python<'_>, error: &ParameterError, place: &str) -> PyErr {
    raise(py, "ParameterError", (format!("{error}{place}"),))
}

/// A checkpoint that cannot be used or written, and the reason.
pub fn checkpoint_error(py: Python<'_>, path: &std::path::Path, why: &str) -> PyErr {
    raise(py, "CheckpointError", (format!("the checkpoint `{}` cannot be used: {why}", path.display()),))
}

/// A `ParameterError` that is already text.
pub fn parameter_text(py: Python<'_>, text: &str) -> PyErr {
    raise(py, "ParameterError", (text,))
}

/// A name of a part of this kind that does not exist.
pub fn unknown_name(py: Python<'_>, kind: &str, name: &str, known: Vec<&str>) -> PyErr {
    raise(py, "UnknownName", (kind, name, known))
}

/// A bug in Tailback: `message` names the violated invariant; hash and seed allow the run to be repeated.
pub fn internal_error(py: Python<'_>, message: &str, content_hash: &str, seed: u64) -> PyErr {
    raise(py, "InternalError", (message, content_hash, seed))
}

/// A failure of user code, with its place and time.
pub fn user_code_error(py: Python<'_>, message: &str, name: &str, at: &str, time_s: f64) -> PyErr {
    raise(py, "UserCodeError", (message, name, at, time_s))
}

/// A fault of a transport, with its host, time and number of packets sent.
pub fn host_error(py: Python<'_>, fault: &HostError) -> PyErr {
    raise(py, "HostError", (fault.to_string(), &fault.host, fault.at.seconds(), fault.sent))
}

fn raise<'py, A: pyo3::call::PyCallArgs<'py>>(py: Python<'py>, class: &str, arguments: A) -> PyErr {
    let made = py.import("tailback.errors").and_then(|module| module.getattr(class)).and_then(|class| class.call1(arguments));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// The message of a panic.
pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "panic".to_owned())
}
