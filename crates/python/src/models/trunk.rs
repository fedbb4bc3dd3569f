//! The loss of a trunk.

use super::columns::{Column, LOOK_EVERY, each_long_row, each_row, whole};
use crate::errors::parameter_error;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::time::Instant;
use tailback_models::ParameterError;
use tailback_models::trunk::{DetailedChain, LossModel, Reading, Trunk};

/// Loss, and its logarithm to base 10.
type Loss = [Py<PyBytes>; 2];

#[pyfunction]
pub fn trunk_loss(
    py: Python<'_>,
    inputs: Column,
    transmitters: Column,
    buffer: Column,
    load: Column,
    model: &str,
) -> PyResult<Loss> {
    let model = LossModel::named(model).map_err(|error| parameter_error(py, &error, ""))?;
    each_row(py, [inputs, transmitters, buffer, load], |[inputs, transmitters, buffer, load]| {
        Ok(both(model.ln_loss(&trunk(inputs, transmitters, buffer)?, load)?))
    })
}

#[pyfunction]
pub fn exact_trunk_loss(
    py: Python<'_>,
    inputs: Column,
    transmitters: Column,
    buffer: Column,
    load: Column,
    reading: &str,
) -> PyResult<Loss> {
    let reading = Reading::named(reading).map_err(|error| parameter_error(py, &error, ""))?;
    each_long_row(py, [inputs, transmitters, buffer, load], |[inputs, transmitters, buffer, load]| {
        let mut chain = DetailedChain::new(&trunk(inputs, transmitters, buffer)?, load, reading)?;
        let mut looked = Instant::now();
        loop {
            if let Some(ln_loss) = chain.sweep() {
                return Ok(both(ln_loss));
            }
            if looked.elapsed() > LOOK_EVERY {
                Python::attach(|py| py.check_signals())?;
                looked = Instant::now();
            }
        }
    })
}

fn trunk(inputs: f64, transmitters: f64, buffer: f64) -> Result<Trunk, ParameterError> {
    Trunk::new(whole("inputs", inputs)?, whole("transmitters", transmitters)?, whole("buffer", buffer)?)
}

fn both(ln_loss: f64) -> [f64; 2] {
    [libm::exp(ln_loss), ln_loss / std::f64::consts::LN_10]
}
