//! Parameters that are one number for all or a number each, and results likewise: arrays go through in one call.

use crate::errors::parameter_error;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use tailback_models::ParameterError;

/// A parameter. Arrays are flat, contiguous and of floats; those of one call have one length.
#[derive(FromPyObject)]
pub enum Column {
    Many(PyBuffer<f64>),
    One(f64),
}

/// A tuple of `R` results: floats if all parameters are numbers, else the bytes of as many arrays. A parameter that does not fit is
/// named with its place in the arrays.
pub fn through<'py, const N: usize, const R: usize>(
    py: Python<'py>,
    parameters: [Column; N],
    model: impl Fn([f64; N]) -> Result<[f64; R], ParameterError> + Sync,
) -> PyResult<Bound<'py, PyTuple>> {
    let mut rows = None;
    let mut values = Vec::with_capacity(N);
    for parameter in &parameters {
        values.push(match parameter {
            Column::One(value) => Values::One(*value),
            Column::Many(buffer) => {
                let values = buffer.to_vec(py)?;
                if *rows.get_or_insert(values.len()) != values.len() {
                    return Err(PyValueError::new_err("arrays of different lengths"));
                }
                Values::Many(values)
            }
        });
    }
    let at = |row: usize| std::array::from_fn(|column| values[column].at(row));
    let Some(rows) = rows else {
        let results = model(at(0)).map_err(|error| parameter_error(py, &error, ""))?;
        return PyTuple::new(py, results);
    };
    let results = py.detach(|| {
        let mut results: [Vec<u8>; R] = std::array::from_fn(|_| Vec::with_capacity(8 * rows));
        for row in 0..rows {
            let one = model(at(row)).map_err(|error| error.at(row))?;
            for (column, value) in results.iter_mut().zip(one) {
                column.extend(value.to_ne_bytes());
            }
        }
        Ok(results)
    });
    let results = results.map_err(|error: ParameterError| parameter_error(py, &error, ""))?;
    PyTuple::new(py, results.iter().map(|column| PyBytes::new(py, column)))
}

enum Values {
    One(f64),
    Many(Vec<f64>),
}

impl Values {
    fn at(&self, row: usize) -> f64 {
        match self {
            Values::One(value) => *value,
            Values::Many(values) => values[row],
        }
    }
}
