//! Adapter for an application in Python.

use super::{Draw, attached, copied, made, shown};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use tailback_core::network::CodeKind;
use tailback_core::primitives::random::Draws;
use tailback_core::primitives::units::{Bytes, Time, TimeDelta};
use tailback_core::traffic::{ClientAction, Occasion, UserApplication};
use tailback_core::user_code::{Fault, UserCode};

pub struct Application(Py<PyAny>);

impl Application {
    pub fn new(py: Python<'_>, code: &UserCode, draws: Draws) -> PyResult<Application> {
        let application = made(py, CodeKind::Application, code, None)?;
        application.call_method1(intern!(py, "draw_from"), (Draw(draws),))?;
        Ok(Application(application.unbind()))
    }
}

/// A decision as (wait, request, response), or as (wait,) for a timer.
fn action(decision: &Bound<'_, PyAny>) -> PyResult<ClientAction> {
    let wait = decision.get_item(0)?;
    let seconds: f64 =
        wait.extract().map_err(|_| PyTypeError::new_err(format!("the wait is {}; expected seconds", shown(&wait))))?;
    if !(seconds >= 0.0 && seconds.is_finite()) {
        return Err(PyValueError::new_err(format!("the wait is {seconds} s; expected a finite time of at least 0 s")));
    }
    let wait = TimeDelta::from_seconds(seconds);
    if decision.len()? == 1 {
        return Ok(ClientAction::Wake(wait));
    }
    let size = |place: usize, noun: &str| -> PyResult<Bytes> {
        let given = decision.get_item(place)?;
        let wrong =
            |_| PyTypeError::new_err(format!("the size of the {noun} is {}; expected bytes, a whole number", shown(&given)));
        given.extract().map(Bytes).map_err(wrong)
    };
    Ok(ClientAction::Request { wait, request: size(1, "request")?, response: size(2, "response")? })
}

impl UserApplication for Application {
    fn act(&mut self, occasion: Occasion, now: Time) -> Result<Vec<ClientAction>, Fault> {
        attached(|py| {
            let application = self.0.bind(py);
            match occasion {
                Occasion::Start => application.call_method1(intern!(py, "on_start"), (now.seconds(),))?,
                Occasion::Response(number) => application.call_method1(intern!(py, "on_response"), (number, now.seconds()))?,
                Occasion::Timer => application.call_method1(intern!(py, "on_timer"), (now.seconds(),))?,
            };
            application.call_method0(intern!(py, "_take_decisions"))?.try_iter()?.map(|decision| action(&decision?)).collect()
        })
    }

    fn copy(&self) -> Result<Box<dyn UserApplication>, Fault> {
        attached(|py| Ok(Box::new(Application(copied(self.0.bind(py))?.unbind())) as Box<dyn UserApplication>))
    }
}
