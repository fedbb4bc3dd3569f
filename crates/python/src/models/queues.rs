//! Queues in equilibrium.

use super::columns::{Column, each_row, whole};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tailback_models::parameter::{Load, Places, Servers, StableLoad};
use tailback_models::queues::{self, FiniteQueue};

/// Loss, mean number, mean wait.
type Queue = [Py<PyBytes>; 3];

#[pyfunction]
pub fn erlang_b(py: Python<'_>, load: Column, servers: Column) -> PyResult<[Py<PyBytes>; 1]> {
    each_row(py, [load, servers], |[load, servers]| {
        Ok([queues::erlang_b(Load::new(load)?, Servers::new(whole("servers", servers)?)?)])
    })
}

#[pyfunction]
pub fn md1_mean_wait(py: Python<'_>, load: Column) -> PyResult<[Py<PyBytes>; 1]> {
    each_row(py, [load], |[load]| Ok([queues::md1_mean_wait(StableLoad::new(load)?)]))
}

#[pyfunction]
pub fn md1k(py: Python<'_>, load: Column, places: Column) -> PyResult<Queue> {
    each_row(py, [load, places], |[load, places]| {
        queues::md1k(Load::new(load)?, Places::new(whole("places", places)?)?).map(numbers)
    })
}

#[pyfunction]
pub fn mm1k(py: Python<'_>, load: Column, places: Column) -> PyResult<Queue> {
    each_row(py, [load, places], |[load, places]| {
        Ok(numbers(queues::mm1k(Load::new(load)?, Places::new(whole("places", places)?)?)))
    })
}

#[pyfunction]
pub fn mmck(py: Python<'_>, load: Column, servers: Column, places: Column) -> PyResult<Queue> {
    each_row(py, [load, servers, places], |[load, servers, places]| {
        let servers = Servers::new(whole("servers", servers)?)?;
        Ok(numbers(queues::mmck(Load::new(load)?, servers, Places::new(whole("places", places)?)?)))
    })
}

fn numbers(queue: FiniteQueue) -> [f64; 3] {
    [queue.loss, queue.mean_number, queue.mean_wait]
}
