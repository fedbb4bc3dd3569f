//! The only model with a list as its argument.

use crate::errors::parameter_error;
use pyo3::prelude::*;
use tailback_models::tcp;

/// Whether it recovers, the number of retransmitted losses, the new segments in each recovery, and the number and formula of the
/// failed condition.
type RecoveryFields = (bool, u32, Vec<u32>, Option<(u32, &'static str)>);

#[pyfunction]
pub fn fast_retransmit(py: Python<'_>, window: u32, lost: Vec<u32>) -> PyResult<RecoveryFields> {
    let result = tcp::fast_retransmit(window, &lost).map_err(|error| parameter_error(py, &error, ""))?;
    let failed = result.failed.map(|condition| (condition.number(), condition.formula()));
    Ok((result.recovers, result.retransmitted, result.new_segments, failed))
}
