//! User code in Python: classes registered with `tailback.user_code`, adapted to the core's interfaces.
//!
//! A run does not hold Python's GIL; only calls of user code take it. Exceptions raised by a call are propagated unchanged as the
//! cause of a `UserCodeError` that gives place and time.

mod application;
mod controller;
mod draw;
mod host;
mod policy;
mod source;
mod views;

pub use draw::Draw;
pub use host::{Raised, python_host};
pub use views::{Ack, Congestion, Departure, HostEnd, Occupancy, RoundTrip, Start, Unit, UnitSignal};

use crate::errors;
use crate::libraries::library;
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyo3::types::{PyDict, PyTuple};
use std::error::Error;
use std::sync::Arc;
use tailback_core::Code;
use tailback_core::congestion::{self, Subscriptions, UserController};
use tailback_core::network::CodeKind;
use tailback_core::primitives::random::Draws;
use tailback_core::primitives::units::Bytes;
use tailback_core::queue::UserPolicy;
use tailback_core::traffic::{UserApplication, UserSource};
use tailback_core::user_code::{Failure, Fault, UserCode};
use tailback_host::HostError;
use tailback_host::library::LibraryError;
use tailback_scenario::{Errors, Scenario, UserCodeProblem};

/// The user code registered with `tailback.user_code`.
pub struct Registered;

impl Code for Registered {
    fn subscriptions(&self, code: &UserCode) -> Subscriptions {
        let of_library = attached(|py| match controller_tables(py, code)? {
            Some(tables) => Ok(library(py, &tables)?.subscriptions(&code.name).ok()),
            None => Ok(None),
        });
        if let Ok(Some(subscriptions)) = of_library {
            return subscriptions;
        }
        // A missing class causes a failure when its first object is created.
        let words = attached(|py| {
            let class = registry(py)?.call_method1("registered_class", (word(CodeKind::Controller), &code.name))?;
            class.getattr("subscriptions")?.try_iter()?.map(|word| word?.extract::<String>()).collect::<PyResult<Vec<_>>>()
        });
        let words = words.unwrap_or_default();
        let subscriptions = |word: &str| words.iter().any(|known| known == word);
        Subscriptions {
            marks: subscriptions("marks"),
            price: subscriptions("price"),
            one_way_delay: subscriptions("one_way_delay"),
            delivered_rate: subscriptions("delivered_rate"),
            release: subscriptions("release"),
            ..Subscriptions::default()
        }
    }

    fn controller(&self, code: &UserCode, start: congestion::Start) -> Result<Box<dyn UserController>, Fault> {
        let congestion::Start { window, ssthresh, ack_counting, packet, draws, .. } = start;
        let counts_bytes = ack_counting == congestion::AckCounting::Bytes;
        let view = Start { window, ssthresh, packet_bytes: packet.0, counts_bytes };
        attached(|py| match library_controller(py, code, start)? {
            Some(controller) => Ok(controller),
            None => Ok(Box::new(controller::Controller::new(py, code, view, draws)?) as Box<dyn UserController>),
        })
    }

    fn policy(&self, code: &UserCode, draws: Draws) -> Result<Box<dyn UserPolicy>, Fault> {
        attached(|py| Ok(Box::new(policy::Policy::new(py, code, draws)?) as Box<dyn UserPolicy>))
    }

    fn source(&self, code: &UserCode, draws: Draws) -> Result<Box<dyn UserSource>, Fault> {
        attached(|py| Ok(Box::new(source::Source::new(py, code, draws)?) as Box<dyn UserSource>))
    }

    fn application(&self, code: &UserCode, draws: Draws) -> Result<Box<dyn UserApplication>, Fault> {
        attached(|py| Ok(Box::new(application::Application::new(py, code, draws)?) as Box<dyn UserApplication>))
    }
}

/// The tables of the library that has the controller with this name, if one has.
fn controller_tables<'py>(py: Python<'py>, code: &UserCode) -> PyResult<Option<Bound<'py, PyCapsule>>> {
    let tables = registry(py)?.call_method1("controller_library", (&code.name,))?;
    Ok(if tables.is_none() { None } else { Some(tables.cast_into()?) })
}

/// The controller of a flow, if a library has the one with this name.
fn library_controller(py: Python<'_>, code: &UserCode, start: congestion::Start) -> PyResult<Option<Box<dyn UserController>>> {
    let Some(tables) = controller_tables(py, code)? else { return Ok(None) };
    let made = library(py, &tables)?.controller(&code.name, start, &code.parameters);
    made.map(Some).map_err(|LibraryError(why)| errors::parameter_text(py, &why))
}

/// Runs a function with the GIL held; exceptions become faults of the user code.
fn attached<T>(run: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T, Fault> {
    Python::attach(run).map_err(|error| Arc::new(error) as Fault)
}

/// An object of the registered class with this name.
fn made<'py>(py: Python<'py>, kind: CodeKind, code: &UserCode, first: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    let class = registry(py)?.call_method1("registered_class", (word(kind), &code.name))?;
    let parameters = py.import("json")?.call_method1("loads", (&code.parameters,))?;
    let parameters = parameters.cast_into::<PyDict>()?;
    match first {
        Some(first) => class.call((first,), Some(&parameters)),
        None => class.call((), Some(&parameters)),
    }
}

/// Whether the object's class overrides a method whose default in `tailback.user_code`'s base class does nothing.
fn overrides(object: &Bound<'_, PyAny>, base: &str, method: &str) -> PyResult<bool> {
    let base = object.py().import("tailback.user_code")?.getattr(base)?;
    Ok(!object.get_type().getattr(method)?.is(&base.getattr(method)?))
}

/// A deep copy, for a snapshot.
fn copied<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    object.py().import("copy")?.call_method1(intern!(object.py(), "deepcopy"), (object,))
}

/// A deep copy of several objects at once, so that shared state remains shared.
fn copied_together<'py>(objects: Vec<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyTuple>> {
    let Some(py) = objects.first().map(|object| object.py()) else {
        return Err(PyValueError::new_err("nothing to copy"));
    };
    Ok(copied(PyTuple::new(py, objects)?.as_any())?.cast_into::<PyTuple>()?)
}

/// Converts an attribute that must be a number.
fn number(value: &Bound<'_, PyAny>, what: &str, expected: &str) -> PyResult<f64> {
    value.extract().map_err(|_| PyTypeError::new_err(format!("{what} is {}; expected {expected}", shown(value))))
}

/// Python's representation, truncated.
fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| "something".into(), |text| text.to_string());
    if text.chars().count() > 80 { format!("{}...", text.chars().take(77).collect::<String>()) } else { text }
}

pub fn registry(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("tailback.user_code._registry")
}

/// The name of a kind in `tailback.user_code`.
pub fn word(kind: CodeKind) -> &'static str {
    match kind {
        CodeKind::Controller => "controller",
        CodeKind::Policy => "policy",
        CodeKind::Source => "source",
        CodeKind::Application => "application",
        CodeKind::Host => "host",
        CodeKind::Stack => "stack",
    }
}

/// Errors of the user code that a scenario refers to: unknown names, and parameters that the class does not accept.
pub fn check(py: Python<'_>, scenario: &Scenario) -> PyResult<Result<(), Errors>> {
    let mut raised = None;
    let stacks = scenario.stacks();
    // Only stacks have an MTU, and a size that they may refuse.
    let of_stack = |code: &UserCode| {
        stacks.iter().find(|stack| stack.code.at == code.at).map_or((Bytes(1500), false), |stack| (stack.mtu, stack.has_size))
    };
    let judged = {
        let raised = std::cell::RefCell::new(&mut raised);
        scenario.check_code(|kind, code| match code_problem(py, kind, code, of_stack(code)) {
            Ok(code_problem) => code_problem,
            Err(error) => {
                **raised.borrow_mut() = Some(error);
                None
            }
        })
    };
    raised.map_or(Ok(judged), Err)
}

/// Path below that of the code, message, the word given, valid values.
type SettingConflict = (String, String, String, String);

fn code_problem(
    py: Python<'_>,
    kind: CodeKind,
    code: &UserCode,
    (mtu, has_size): (Bytes, bool),
) -> PyResult<Option<UserCodeProblem>> {
    let registry = registry(py)?;
    let known = |kind| -> PyResult<Vec<String>> { registry.call_method1("registered_names", (word(kind),))?.extract() };
    if !known(kind)?.contains(&code.name) {
        let kinds = match kind {
            CodeKind::Host | CodeKind::Stack => vec![CodeKind::Stack, CodeKind::Host],
            _ => vec![kind],
        };
        let mut valid = Vec::new();
        for kind in kinds {
            valid.extend(known(kind)?.into_iter().map(|name| (kind, name)));
        }
        return Ok(Some(UserCodeProblem::Unknown(valid)));
    }
    let conflict: Option<SettingConflict> =
        registry.call_method1("conflict", (word(kind), &code.name, &code.parameters, mtu.0, has_size))?.extract()?;
    Ok(conflict.map(|(place, message, given, expected)| UserCodeProblem::SettingConflict { place, message, given, expected }))
}

/// The sources of a scenario's user code for its content hash, and for provenance as JSON. Both are empty without user code.
pub fn sources(py: Python<'_>, scenario: &Scenario) -> PyResult<(String, String)> {
    let named = scenario.user_code();
    if named.is_empty() {
        return Ok((String::new(), String::new()));
    }
    if let Err(problems) = check(py, scenario)? {
        return Err(errors::scenario_error(py, &problems));
    }
    let place = |(kind, code): &(CodeKind, UserCode)| (code.at.clone(), word(*kind), code.name.clone(), code.parameters.clone());
    let places: Vec<_> = named.iter().map(place).collect();
    let (mut covered, provenance): (String, String) = registry(py)?.call_method1("sources", (places,))?.extract()?;
    if named.iter().any(|(kind, _)| matches!(kind, CodeKind::Host | CodeKind::Stack)) {
        covered += tailback_host::SOURCES;
    }
    Ok((covered, provenance))
}

/// The exception for a run that a host has ended. `raised`: the exception of a host in Python.
pub fn host_failed(py: Python<'_>, fault: &HostError, raised: Option<PyErr>) -> PyErr {
    with_cause(py, errors::host_error(py, fault), raised)
}

/// The exception for a run stopped by user code; also for `exit()`, which user code must not call. A `KeyboardInterrupt` remains one,
/// because it may be Ctrl-C. Its attribute `user_code_error` is the exception for the case that it is not.
pub fn failed(py: Python<'_>, failure: &Failure) -> PyErr {
    let fault: &(dyn Error + Send + Sync) = &*failure.fault;
    let raised = fault.downcast_ref::<PyErr>();
    let UserCode { name, at, .. } = &failure.code;
    let error = errors::user_code_error(py, &fault.to_string(), name, at, failure.time.seconds());
    with_cause(py, error, raised.map(|error| error.clone_ref(py)))
}

fn with_cause(py: Python<'_>, error: PyErr, raised: Option<PyErr>) -> PyErr {
    if raised.as_ref().is_some_and(|error| error.is_instance_of::<PyKeyboardInterrupt>(py))
        && let Some(interrupt) = raised
    {
        return match interrupt.value(py).setattr(intern!(py, "user_code_error"), error) {
            Ok(()) => interrupt,
            Err(error) => error,
        };
    }
    error.set_cause(py, raised);
    error
}
