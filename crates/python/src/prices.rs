//! Price schemes without a network, for `tailback.prices`.

use crate::errors;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tailback_core::price::stream::{Change, Path, Sequence};
use tailback_scenario::ProbeQuestion;

/// Estimates of receivers after given numbers of probes, and the true values: two native floats per number of probes, path by
/// path. The caller has checked that prices are in 0 to 1 and that numbers of probes ascend from 1.
#[pyfunction]
#[pyo3(signature = (text, prices, after, *, seed, ramp=None, step=None))]
pub fn probe_estimates(
    py: Python<'_>,
    text: &str,
    prices: Vec<Vec<f64>>,
    after: Vec<u64>,
    seed: u64,
    ramp: Option<f64>,
    step: Option<(u64, f64)>,
) -> PyResult<Py<PyBytes>> {
    let (scheme, identification) = ProbeQuestion::from_json(text).map_err(|problems| errors::scenario_error(py, &problems))?;
    let change = match (ramp, step) {
        (Some(rise), _) => Change::Ramp(rise),
        (None, Some((at, to))) => Change::Step { at, to },
        (None, None) => Change::Constant,
    };
    let sequence = Sequence { identification, seed };
    let mut bytes = Vec::with_capacity(prices.len() * after.len() * 16);
    for (number, prices) in (0..).zip(prices) {
        py.check_signals()?;
        let path = Path { prices, change };
        let estimates = py.detach(|| sequence.estimates(&scheme, &path, number, &after));
        bytes.extend(estimates.iter().flat_map(|found| [found.estimate, found.price]).flat_map(f64::to_ne_bytes));
    }
    Ok(PyBytes::new(py, &bytes).unbind())
}

/// The largest number of queues on a path that a scheme distinguishes.
#[pyfunction]
pub fn max_hops(py: Python<'_>, text: &str) -> PyResult<u8> {
    let (scheme, _) = ProbeQuestion::from_json(text).map_err(|problems| errors::scenario_error(py, &problems))?;
    Ok(scheme.max_hops())
}
