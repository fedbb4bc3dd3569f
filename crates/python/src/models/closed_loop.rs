//! A trunk and the TCP flows that load it.

use super::columns::{Column, each_row, whole};
use crate::errors::parameter_error;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tailback_models::ParameterError;
use tailback_models::parameter::{Count, Positive};
use tailback_models::trunk::{self, GreedyFlows, OpenLoop, RateLaw, Trunk};

/// Load, logarithm of the loss, utilisation, and whether the inputs are full and the loss keeps its bound (0 or 1); rates by Mathis.
#[pyfunction]
pub fn closed_loop_mathis(py: Python<'_>, model: &str, parameters: [Column; 8]) -> PyResult<[Py<PyBytes>; 5]> {
    let model = OpenLoop::named(model).map_err(|error| parameter_error(py, &error, ""))?;
    each_row(py, parameters, |[inputs, transmitters, buffer, rate, packet, flows, rtt, every]| {
        closed_loop(model, [inputs, transmitters, buffer, rate, packet, flows, rtt, every], RateLaw::Mathis)
    })
}

/// The same with rates by Padhye.
#[pyfunction]
pub fn closed_loop_padhye(py: Python<'_>, model: &str, parameters: [Column; 10]) -> PyResult<[Py<PyBytes>; 5]> {
    let model = OpenLoop::named(model).map_err(|error| parameter_error(py, &error, ""))?;
    each_row(py, parameters, |[inputs, transmitters, buffer, rate, packet, flows, rtt, every, rto_s, receiver_window]| {
        let receiver_window = Count::new("receiver_window", whole("receiver_window", receiver_window)?)?;
        let law = RateLaw::Padhye { rto_s: Positive::new("rto_s", rto_s)?, receiver_window };
        closed_loop(model, [inputs, transmitters, buffer, rate, packet, flows, rtt, every], law)
    })
}

fn closed_loop(model: OpenLoop, parameters: [f64; 8], law: RateLaw) -> Result<[f64; 5], ParameterError> {
    let [inputs, transmitters, buffer, rate_bps, packet_bytes, flows, harmonic_rtt_s, segments_per_ack] = parameters;
    let trunk = Trunk::new(whole("inputs", inputs)?, whole("transmitters", transmitters)?, whole("buffer", buffer)?)?;
    let flows = GreedyFlows {
        count: Count::new("flows", whole("flows", flows)?)?,
        harmonic_rtt_s: Positive::new("harmonic_rtt_s", harmonic_rtt_s)?,
        packet_bytes: Positive::new("packet_bytes", packet_bytes)?,
        segments_per_ack: Count::new("segments_per_ack", whole("segments_per_ack", segments_per_ack)?)?,
        law,
    };
    let end = trunk::closed_loop(model, &trunk, Positive::new("rate_bps", rate_bps)?, &flows)?;
    let flags = [end.inputs_full, end.keeps_bound()].map(f64::from);
    Ok([end.load, end.ln_loss, end.utilisation, flags[0], flags[1]])
}
