//! Built Linux kernels, and the stack `linux` that runs them.

use pyo3::prelude::*;

/// The directory of built kernels.
#[pyfunction]
pub fn kernel_folder() -> String {
    tailback_linux::kernels::folder().to_string_lossy().into_owned()
}

/// Names and contents of the sources that a build of a kernel compiles.
#[pyfunction]
pub fn kernel_sources() -> Vec<(&'static str, &'static str)> {
    tailback_linux::sources::FILES.to_vec()
}
