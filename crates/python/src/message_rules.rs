//! The decisions of applications whose messages travel over real sockets, for kernel flows. Times are seconds.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tailback_core::primitives::units::{Time, TimeDelta};
use tailback_core::traffic::MessageRules as Core;

#[pyclass(module = "tailback._core")]
pub struct MessageRules {
    rules: Core,
}

/// Stalls, their duration, changes of the bit rate, mean bit rate in bit/s, and time of the first start.
type Playback = (u32, f64, u32, f64, Option<f64>);

#[pymethods]
impl MessageRules {
    /// `spec`: JSON from the description of a kernel flow.
    #[new]
    fn new(spec: &str) -> PyResult<Self> {
        let spec = serde_json::from_str(spec).map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self { rules: Core::new(spec) })
    }

    #[getter]
    fn count(&self) -> u32 {
        self.rules.count()
    }

    /// Size of a message that is written or requested; `None` for a later one.
    fn size(&self, message: u32) -> Option<u64> {
        self.rules.size(message).map(|size| size.0)
    }

    /// Times of the writes that no other event causes.
    fn first(&mut self, start_s: f64) -> Vec<f64> {
        self.rules.first(time(start_s)).into_iter().map(Time::seconds).collect()
    }

    /// The flow and the time of the write that follows the delivery of the next message.
    fn after_delivery(&mut self, message: u32, time_s: f64) -> Option<(u32, f64)> {
        self.rules.after_delivery(message, time(time_s)).map(|(flow, at)| (flow.0, at.seconds()))
    }

    fn playback(&self, delivered: usize, until_s: f64) -> Option<Playback> {
        self.rules.playback(delivered, time(until_s)).map(|playback| {
            let started = playback.started.map(Time::seconds);
            (playback.stalls, playback.stalled.seconds(), playback.switches, playback.mean_rate, started)
        })
    }
}

fn time(seconds: f64) -> Time {
    Time::ZERO + TimeDelta::from_seconds(seconds)
}
