//! Adapter for a datagram source in Python.

use super::{Draw, attached, copied_together, made, shown};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use tailback_core::network::CodeKind;
use tailback_core::primitives::random::Draws;
use tailback_core::primitives::units::{Bytes, Time, TimeDelta};
use tailback_core::traffic::{Next, UserSource};
use tailback_core::user_code::{Fault, UserCode};

pub struct Source {
    source: Py<PyAny>,
    draw: Py<Draw>,
}

impl Source {
    pub fn new(py: Python<'_>, code: &UserCode, draws: Draws) -> PyResult<Source> {
        let source = made(py, CodeKind::Source, code, None)?.unbind();
        Ok(Source { source, draw: Py::new(py, Draw(draws))? })
    }
}

/// The result of a source: None, or a wait and a size.
fn next(answer: &Bound<'_, PyAny>) -> PyResult<Option<Next>> {
    if answer.is_none() {
        return Ok(None);
    }
    let expected = "(wait in seconds, size in bytes), or None";
    let given: Result<(f64, u32), _> = answer.extract();
    let (wait, bytes) =
        given.map_err(|_| PyTypeError::new_err(format!("the next packet is {}; expected {expected}", shown(answer))))?;
    if !(wait >= 0.0 && wait.is_finite()) {
        return Err(PyValueError::new_err(format!("the wait is {wait} s; expected a finite time of at least 0 s")));
    }
    Ok(Some(Next { wait: TimeDelta::from_seconds(wait), bytes: Bytes(bytes.into()) }))
}

impl UserSource for Source {
    fn next(&mut self, now: Time) -> Result<Option<Next>, Fault> {
        attached(|py| next(&self.source.bind(py).call_method1(intern!(py, "next"), (now.seconds(), &self.draw))?))
    }

    fn copy(&self) -> Result<Box<dyn UserSource>, Fault> {
        attached(|py| {
            let both = vec![self.source.bind(py).clone(), self.draw.bind(py).clone().into_any()];
            let copies = copied_together(both)?;
            let (source, draw) = (copies.get_item(0)?.unbind(), copies.get_item(1)?.cast_into::<Draw>()?.unbind());
            Ok(Box::new(Source { source, draw }) as Box<dyn UserSource>)
        })
    }
}
