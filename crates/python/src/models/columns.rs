//! Numbers or whole arrays through a model in one call, with the GIL released.

use crate::errors::parameter_error;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::time::{Duration, Instant};
use tailback_models::ParameterError;

/// One number, or a C-contiguous array of floats of any shape. All columns of a call have the same shape.
pub struct Column {
    shape: Vec<usize>,
    values: Vec<f64>,
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

/// Why a row has no result.
pub enum Stopped {
    Parameter(ParameterError),
    Interrupted(PyErr),
}

impl From<ParameterError> for Stopped {
    fn from(error: ParameterError) -> Stopped {
        Stopped::Parameter(error)
    }
}

impl From<PyErr> for Stopped {
    fn from(error: PyErr) -> Stopped {
        Stopped::Interrupted(error)
    }
}

/// How long a call goes on before it looks whether Ctrl-C was pressed.
pub const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The model of each row of the columns: each result as a column of native floats.
pub fn each_row<const N: usize, const R: usize>(
    py: Python<'_>,
    columns: [Column; N],
    model: impl Fn([f64; N]) -> Result<[f64; R], ParameterError> + Sync,
) -> PyResult<[Py<PyBytes>; R]> {
    each_long_row(py, columns, |row| Ok(model(row)?))
}

/// As [`each_row`], for a model that looks for Ctrl-C itself.
pub fn each_long_row<const N: usize, const R: usize>(
    py: Python<'_>,
    columns: [Column; N],
    model: impl Fn([f64; N]) -> Result<[f64; R], Stopped> + Sync,
) -> PyResult<[Py<PyBytes>; R]> {
    let rows = columns[0].values.len();
    let mut results: [Vec<f64>; R] = std::array::from_fn(|_| Vec::with_capacity(rows));
    let mut row = 0;
    while row < rows {
        py.detach(|| {
            let start = Instant::now();
            while row < rows && start.elapsed() < LOOK_EVERY {
                let values = model(columns.each_ref().map(|column| column.values[row])).map_err(|error| (row, error))?;
                results.iter_mut().zip(values).for_each(|(result, value)| result.push(value));
                row += 1;
            }
            Ok(())
        })
        .map_err(|(row, stopped)| match stopped {
            Stopped::Parameter(error) => parameter_error(py, &error, &index(&columns[0].shape, row)),
            Stopped::Interrupted(error) => error,
        })?;
        py.check_signals()?;
    }
    Ok(results.map(|column| PyBytes::new(py, &column.into_iter().flat_map(f64::to_ne_bytes).collect::<Vec<u8>>()).unbind()))
}

/// A parameter that counts something.
pub fn whole(name: &'static str, number: f64) -> Result<u64, ParameterError> {
    const MOST: f64 = 9_007_199_254_740_992.0;
    match number {
        _ if (0.0..=MOST).contains(&number) && number.fract() == 0.0 => Ok(number as u64),
        _ => Err(ParameterError::new(name, number, "a whole number of at least 0")),
    }
}

/// Where a row is in arrays of that shape, as Python writes it; empty for numbers.
fn index(shape: &[usize], row: usize) -> String {
    let mut left = row;
    let mut places: Vec<String> = Vec::new();
    for length in shape.iter().rev() {
        places.insert(0, (left % length).to_string());
        left /= length;
    }
    if places.is_empty() { String::new() } else { format!(" (in element [{}])", places.join(", ")) }
}
