//! `tailback_stacks._library`: quinn, noq, smoltcp and str0m for scenarios, behind the C interface of `tailback_host::library`.

use pyo3::prelude::*;
use tailback_stacks::library;

#[pymodule]
mod _library {
    #[pymodule_export]
    use crate::{controllers, stacks};
}

/// The address of the stacks, for `tailback.user_code`.
#[pyfunction]
fn stacks() -> usize {
    library::stacks() as usize
}

/// The address of the controllers.
#[pyfunction]
fn controllers() -> usize {
    library::controllers() as usize
}
