//! Stacks and controllers of loaded libraries.

use crate::errors::parameter_text;
use pyo3::prelude::*;
use std::net::{Ipv4Addr, SocketAddrV4};
use tailback_core::congestion::Start;
use tailback_core::primitives::units::{Bytes, Time};
use tailback_host::controllers::Controller;
use tailback_host::library::{EndSettings, Library, LibraryError, Stack, Table};

/// The library at an address that `tailback_stacks()` or `tailback_controllers()` of a loaded library has returned.
pub fn library<T: Table>(py: Python<'_>, address: usize) -> PyResult<Library<T>> {
    #[expect(unsafe_code, reason = "Python has loaded the library, and never unloads it")]
    let library = unsafe { Library::at(address) };
    library.map_err(|LibraryError(why)| parameter_text(py, &format!("the library cannot be used: {why}")))
}

/// Name and version of each stack or controller of a library.
#[pyfunction]
pub fn library_versions(py: Python<'_>, kind: &str, address: usize) -> PyResult<Vec<(String, String)>> {
    match kind {
        "stack" => Ok(library::<Stack>(py, address)?.names()),
        _ => Ok(library::<Controller>(py, address)?.names()),
    }
}

/// Why a stack or controller refuses these parameters (JSON), or a stack this MTU or a size; `None` if it accepts them.
#[pyfunction]
pub fn library_conflict(
    py: Python<'_>,
    kind: &str,
    address: usize,
    name: &str,
    parameters: &str,
    mtu: u64,
    has_size: bool,
) -> PyResult<Option<String>> {
    if kind != "stack" {
        let tried = library(py, address)?.controller(name, Start { window: 10.0, ..Start::default() }, parameters);
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
    Ok(library::<Stack>(py, address)?.host(name, &tried).err().map(|LibraryError(why)| why))
}
