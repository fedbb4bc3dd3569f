//! `tailback_stacks._library`: quinn, noq and smoltcp for scenarios, behind the C interface of `tailback_host::library`.

use pyo3::prelude::*;

#[pymodule]
mod _library {
    #[pymodule_export]
    use crate::address;
}

/// The address of the stacks, for `tailback.user_code`.
#[pyfunction]
fn address() -> usize {
    tailback_stacks::library::stacks() as usize
}
