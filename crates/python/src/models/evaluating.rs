//! Evaluates a model at each row of its columns, with the GIL released.

use super::columns::Column;
use crate::errors::parameter_error;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::cell::Cell;
use std::time::{Duration, Instant};
use tailback_models::model::{EvaluationError, Inputs, InterruptCheck, OutputKind};

/// Interval between checks for Ctrl-C.
const LOOK_EVERY: Duration = Duration::from_millis(50);

thread_local! {
    static LOOKED: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Whether to continue; if not, [`interrupted`] raises the exception.
fn patience() -> bool {
    if LOOKED.get().is_some_and(|looked| looked.elapsed() < LOOK_EVERY) {
        return true;
    }
    LOOKED.set(Some(Instant::now()));
    Python::attach(|py| py.check_signals().map_err(|error| error.restore(py)).is_ok())
}

fn interrupted(py: Python<'_>) -> PyErr {
    PyErr::take(py).unwrap_or_else(|| PyKeyboardInterrupt::new_err(()))
}

/// The `struct` format of a number in a column, and the column.
type PackedColumn = (&'static str, Py<PyBytes>);

/// Evaluates a model for numbers, or for arrays of one shape: `words` and `columns` are in the order of its parameters, `None`
/// where one is omitted. Each number of the result is returned as a column; `None` if this model omits it.
#[pyfunction]
pub fn evaluate(
    py: Python<'_>,
    name: &str,
    words: Vec<String>,
    columns: Vec<Option<Column>>,
) -> PyResult<Vec<Option<PackedColumn>>> {
    let model = tailback_models::named(name).ok_or_else(|| PyValueError::new_err(format!("no model `{name}`")))?;
    let shape = columns.iter().flatten().next().map_or(&[][..], |column| &column.shape);
    let rows: usize = shape.iter().product();
    let mut answers = Vec::new();
    let mut numbers = vec![None; columns.len()];
    let mut row = 0;
    while row < rows {
        py.detach(|| {
            let start = Instant::now();
            while row < rows && start.elapsed() < LOOK_EVERY {
                for (number, column) in numbers.iter_mut().zip(&columns) {
                    *number = column.as_ref().map(|column| column.values[row]);
                }
                (model.evaluate)(&mut Inputs::new(&numbers, &words, InterruptCheck(patience)), &mut answers)?;
                row += 1;
            }
            Ok(())
        })
        .map_err(|stopped| match stopped {
            EvaluationError::Parameter(error) => parameter_error(py, &error, &index(shape, row)),
            EvaluationError::Interrupted => interrupted(py),
        })?;
        py.check_signals()?;
    }
    let fields = (model.answer)().fields;
    let column = |field: usize| answers.iter().skip(field).step_by(fields.len()).copied();
    let packed = fields.iter().enumerate().map(|(index, field)| {
        if field.optional && column(index).all(f64::is_nan) {
            return None;
        }
        let (format, bytes): (_, Vec<u8>) = match field.figure {
            OutputKind::Number => ("d", column(index).flat_map(f64::to_ne_bytes).collect()),
            OutputKind::Integer => ("q", column(index).flat_map(|number| (number as i64).to_ne_bytes()).collect()),
            OutputKind::Boolean => ("?", column(index).map(|number| u8::from(number != 0.0)).collect()),
        };
        Some((format, PyBytes::new(py, &bytes).unbind()))
    });
    Ok(packed.collect())
}

/// The index of a row in arrays of this shape, in Python syntax; empty for numbers.
fn index(shape: &[usize], row: usize) -> String {
    let mut left = row;
    let mut places: Vec<String> = Vec::new();
    for length in shape.iter().rev() {
        places.insert(0, (left % length).to_string());
        left /= length;
    }
    if places.is_empty() { String::new() } else { format!(" (in element [{}])", places.join(", ")) }
}
