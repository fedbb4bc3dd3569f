//! Numbers and arrays passed by Python.

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;

/// A number, or a C-contiguous array of floats of any shape. All columns of a call have the same shape.
pub struct Column {
    pub shape: Vec<usize>,
    pub values: Vec<f64>,
}

impl<'py> FromPyObject<'_, 'py> for Column {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Column> {
        match PyBuffer::<f64>::get(&given) {
            Ok(buffer) => Ok(Column { shape: buffer.shape().to_vec(), values: buffer.to_vec(given.py())? }),
            Err(_) => Ok(Column { shape: Vec::new(), values: vec![given.extract()?] }),
        }
    }
}
