//! The closed forms, one number at a time or whole arrays ([`columns`]); `tailback.models` documents them.

mod columns;
pub mod queues;
pub mod sizing;
pub mod tcp;

use crate::errors::parameter_error;
use pyo3::prelude::*;
use tailback_models::ParameterError;

pub(crate) fn checked<T>(py: Python<'_>, model: impl FnOnce() -> Result<T, ParameterError>) -> PyResult<T> {
    model().map_err(|error| parameter_error(py, &error))
}
