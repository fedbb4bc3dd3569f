//! Adapter for a congestion controller in Python.

use super::views::{Ack, Congestion, RoundTrip, Start};
use super::{Draw, attached, copied, made, number, overrides, shown};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use tailback_core::congestion::{self, Control, UserController};
use tailback_core::network::CodeKind;
use tailback_core::primitives::random::Draws;
use tailback_core::primitives::units::{Cwnd, Rate, Segments, Time, TimeDelta};
use tailback_core::user_code::{Fault, UserCode};

pub struct Controller {
    law: Py<PyAny>,
    /// Whether it receives round-trip samples.
    measures: bool,
    /// Whether it receives one-way delays.
    receives_delays: bool,
    /// Whether it receives acknowledgements that acknowledge no new data, or arrive during loss recovery.
    receives_all: bool,
    /// Its most recent output.
    output: Control,
}

impl Controller {
    pub fn new(py: Python<'_>, code: &UserCode, start: Start, draws: Draws) -> PyResult<Controller> {
        let law = made(py, CodeKind::Controller, code, Some(Bound::new(py, start)?.into_any()))?;
        law.call_method1(intern!(py, "draw_from"), (Draw(draws),))?;
        let measures = overrides(&law, "Controller", "on_round_trip")?;
        let receives_delays = overrides(&law, "Controller", "on_one_way_delay")?;
        let receives_all = overrides(&law, "Controller", "on_other_ack")?;
        let output = control(&law)?;
        Ok(Controller { law: law.unbind(), measures, receives_delays, receives_all, output })
    }

    /// Notifies the controller of an event, and reads its output.
    fn notify(&mut self, call: impl FnOnce(Python<'_>, &Py<PyAny>) -> PyResult<Py<PyAny>>) -> Result<Control, Fault> {
        self.output = attached(|py| {
            call(py, &self.law)?;
            control(self.law.bind(py))
        })?;
        Ok(self.output)
    }
}

/// Window, threshold and rate of a controller.
fn control(law: &Bound<'_, PyAny>) -> PyResult<Control> {
    let py = law.py();
    let segments = "a number of segments, at least 1";
    Ok(Control {
        window: number(&law.getattr(intern!(py, "window"))?, "`window`", segments)?,
        ssthresh: number(&law.getattr(intern!(py, "ssthresh"))?, "`ssthresh`", segments)?,
        pacing: pacing(&law.getattr(intern!(py, "pacing_bps"))?)?,
        release: release(&law.getattr(intern!(py, "release"))?)?,
    })
}

fn release(value: &Bound<'_, PyAny>) -> PyResult<Option<Segments>> {
    value.extract::<Option<u32>>().map(|bound| bound.map(Segments)).map_err(|_| {
        PyTypeError::new_err(format!("`release` is {}; expected None, or a whole number of segments, at least 0", shown(value)))
    })
}

fn pacing(value: &Bound<'_, PyAny>) -> PyResult<Option<Rate>> {
    if value.is_none() {
        return Ok(None);
    }
    let expected = "None, or a rate of at least 1 bit/s";
    let rate = number(value, "`pacing_bps`", expected)?;
    if (1.0..1e18).contains(&rate) {
        return Ok(Some(Rate(rate.round() as u64)));
    }
    Err(PyValueError::new_err(format!("`pacing_bps` is {}; expected {expected}", shown(value))))
}

impl UserController for Controller {
    fn control(&mut self) -> Result<Control, Fault> {
        Ok(self.output)
    }

    fn on_ack(&mut self, ack: &congestion::Ack) -> Result<Control, Fault> {
        self.notify(|py, law| law.call_method1(py, intern!(py, "on_ack"), (Ack::from(ack),)))
    }

    fn on_other_ack(&mut self, ack: &congestion::Ack) -> Result<Control, Fault> {
        if !self.receives_all {
            return Ok(self.output);
        }
        self.notify(|py, law| law.call_method1(py, intern!(py, "on_other_ack"), (Ack::from(ack),)))
    }

    fn on_round_trip(&mut self, measured: &congestion::RoundTrip) -> Result<Control, Fault> {
        if !self.measures {
            return Ok(self.output);
        }
        self.notify(|py, law| law.call_method1(py, intern!(py, "on_round_trip"), (RoundTrip::from(measured),)))
    }

    fn on_one_way_delay(&mut self, delay: TimeDelta, now: Time) -> Result<Control, Fault> {
        if !self.receives_delays {
            return Ok(self.output);
        }
        self.notify(|py, law| law.call_method1(py, intern!(py, "on_one_way_delay"), (delay.seconds(), now.seconds())))
    }

    fn on_congestion(&mut self, seen: &congestion::Congestion) -> Result<Control, Fault> {
        self.notify(|py, law| law.call_method1(py, intern!(py, "on_congestion"), (Congestion::from(seen),)))
    }

    fn on_timeout(&mut self, seen: &congestion::Congestion) -> Result<Control, Fault> {
        self.notify(|py, law| law.call_method1(py, intern!(py, "on_timeout"), (Congestion::from(seen),)))
    }

    fn limit_window(&mut self, most: Cwnd) -> Result<Control, Fault> {
        self.notify(|py, law| law.call_method1(py, intern!(py, "limit_window"), (most.0,)))
    }

    fn copy(&self) -> Result<Box<dyn UserController>, Fault> {
        attached(|py| {
            let law = copied(self.law.bind(py))?.unbind();
            Ok(Box::new(Controller { law, ..*self }) as Box<dyn UserController>)
        })
    }
}
