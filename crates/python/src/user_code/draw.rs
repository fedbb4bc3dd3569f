//! Random numbers of a run, for user code.

use pyo3::prelude::*;
use tailback_core::primitives::random::Draws;

/// A named random stream of the run's seed. Its state is plain data, so that a copy draws the same numbers.
#[pyclass(module = "tailback.user_code")]
pub struct Draw(pub Draws);

#[pymethods]
impl Draw {
    /// Uniform in [0, 1).
    fn uniform(&mut self) -> f64 {
        self.0.uniform()
    }

    /// Exponential with mean 1.
    fn exponential(&mut self) -> f64 {
        self.0.exponential()
    }

    fn __copy__(&self) -> Draw {
        Draw(self.0)
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Draw {
        Draw(self.0)
    }
}
