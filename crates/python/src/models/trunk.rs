//! The loss of a trunk.

use super::columns::{Column, each_row, whole};
use crate::errors::parameter_error;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tailback_models::trunk::{LossModel, Trunk};

/// Loss, and its logarithm to base 10.
#[pyfunction]
pub fn trunk_loss(
    py: Python<'_>,
    inputs: Column,
    transmitters: Column,
    buffer: Column,
    load: Column,
    model: &str,
) -> PyResult<[Py<PyBytes>; 2]> {
    let model = LossModel::named(model).map_err(|error| parameter_error(py, &error, ""))?;
    each_row(py, [inputs, transmitters, buffer, load], |[inputs, transmitters, buffer, load]| {
        let trunk = Trunk::new(whole("inputs", inputs)?, whole("transmitters", transmitters)?, whole("buffer", buffer)?)?;
        let ln_loss = model.ln_loss(&trunk, load)?;
        Ok([libm::exp(ln_loss), ln_loss / std::f64::consts::LN_10])
    })
}
