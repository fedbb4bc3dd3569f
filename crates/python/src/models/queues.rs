//! Queues in equilibrium.

use super::checked;
use pyo3::prelude::*;
use tailback_models::parameter::{Load, Places, Servers, StableLoad};
use tailback_models::queues::{self, FiniteQueue};

/// Loss, mean number, mean wait.
type Queue = (f64, f64, f64);

#[pyfunction]
pub fn erlang_b(py: Python<'_>, load: f64, servers: u64) -> PyResult<f64> {
    checked(py, || Ok(queues::erlang_b(Load::new(load)?, Servers::new(servers)?)))
}

#[pyfunction]
pub fn md1_mean_wait(py: Python<'_>, load: f64) -> PyResult<f64> {
    checked(py, || Ok(queues::md1_mean_wait(StableLoad::new(load)?)))
}

#[pyfunction]
pub fn md1k(py: Python<'_>, load: f64, places: u64) -> PyResult<Queue> {
    checked(py, || queues::md1k(Load::new(load)?, Places::new(places)?).map(numbers))
}

#[pyfunction]
pub fn mm1k(py: Python<'_>, load: f64, places: u64) -> PyResult<Queue> {
    checked(py, || Ok(numbers(queues::mm1k(Load::new(load)?, Places::new(places)?))))
}

#[pyfunction]
pub fn mmck(py: Python<'_>, load: f64, servers: u64, places: u64) -> PyResult<Queue> {
    checked(py, || Ok(numbers(queues::mmck(Load::new(load)?, Servers::new(servers)?, Places::new(places)?))))
}

fn numbers(queue: FiniteQueue) -> Queue {
    (queue.loss, queue.mean_number, queue.mean_wait)
}
