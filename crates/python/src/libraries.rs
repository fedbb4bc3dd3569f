//! Stacks and controllers of loaded libraries.

use crate::errors::parameter_text;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::net::{Ipv4Addr, SocketAddrV4};
use tailback_core::congestion::Start;
use tailback_core::primitives::units::{Bytes, Time};
use tailback_host::controllers::Controller;
use tailback_host::library::{EndSettings, Library, LibraryError, Stack, Table};

/// What `tailback_stacks()` or `tailback_controllers()` of a loaded library has returned, in a capsule of the name `tailback.stacks` or
/// `tailback.controllers`. Every other object is an error.
pub fn library<T: Table>(py: Python<'_>, tables: &Bound<'_, PyCapsule>) -> PyResult<Library<T>> {
    let address = tables.pointer_checked(Some(T::CAPSULE))?.as_ptr() as usize;
    // SAFETY: a capsule of this name contains such an array, by the contract of the name. Python has loaded the library, and never unloads it.
    #[expect(unsafe_code, reason = "the tables are those of another language")]
    let library = unsafe { Library::at(address) };
    library.map_err(|LibraryError(why)| parameter_text(py, &format!("the library cannot be used: {why}")))
}

/// Name and version of each stack or controller of a library.
#[pyfunction]
pub fn library_versions(py: Python<'_>, kind: &str, tables: &Bound<'_, PyCapsule>) -> PyResult<Vec<(String, String)>> {
    match kind {
        "stack" => Ok(library::<Stack>(py, tables)?.names()),
        _ => Ok(library::<Controller>(py, tables)?.names()),
    }
}

/// Why a stack or controller refuses these parameters (JSON), or a stack this MTU or a size; `None` if it accepts them.
#[pyfunction]
pub fn library_conflict(
    py: Python<'_>,
    kind: &str,
    tables: &Bound<'_, PyCapsule>,
    name: &str,
    parameters: &str,
    mtu: u64,
    has_size: bool,
) -> PyResult<Option<String>> {
    if kind != "stack" {
        let tried = library(py, tables)?.controller(name, Start { window: 10.0, ..Start::default() }, parameters);
        return Ok(tried.err().map(|LibraryError(why)| why));
    }
    let end = |last| SocketAddrV4::new(Ipv4Addr::new(198, 18, 0, last), 443);
    let tried = EndSettings {
        is_sender: true,
        seed: 0,
        size: has_size.then_some(Bytes(1_000_000)),
        start: Time::ZERO,
        stop: Time::NEVER,
        local: end(1),
        remote: end(2),
        mtu: Bytes(mtu),
        parameters: parameters.into(),
    };
    Ok(library::<Stack>(py, tables)?.host(name, &tried).err().map(|LibraryError(why)| why))
}
