//! Built Linux kernels, and the stack `linux` that runs them.

use crate::errors::parameter_text;
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

/// The address of the stack `linux`, as `tailback_stacks` of a library returns it.
#[pyfunction]
pub fn linux_stacks() -> usize {
    tailback_linux::library::stacks() as usize
}

/// The kernel that the stack `linux` runs with these parameters (JSON), with its hashes.
#[pyfunction]
pub fn linux_kernel(py: Python<'_>, parameters: &str) -> PyResult<String> {
    tailback_linux::library::identity(parameters).map_err(|problem| parameter_text(py, &problem))
}
