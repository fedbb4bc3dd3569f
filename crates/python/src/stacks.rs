//! Stacks and controllers of installed libraries, found by `tailback.user_code`.

use crate::errors::{parameter_text, user_code_error};
use crate::user_code::{Raised, python_host, registry, word};
use pyo3::prelude::*;
use std::net::{Ipv4Addr, SocketAddrV4};
use tailback_core::congestion::{Start, UserController};
use tailback_core::network::CodeKind;
use tailback_core::primitives::units::{Bytes, Time};
use tailback_core::user_code::UserCode;
use tailback_host::Host;
use tailback_host::controllers::Controller;
use tailback_host::library::{EndSettings, Library, LibraryError, Stack, Table};
use tailback_scenario::{HostedFlow, HostedFlows, StackSettings};

/// The library at an address that `tailback_stacks()` or `tailback_controllers()` of a loaded library has returned.
fn library<T: Table>(py: Python<'_>, address: usize) -> PyResult<Library<T>> {
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

/// Why a stack or controller refuses these parameters (JSON); `None` if it accepts them.
#[pyfunction]
pub fn library_conflict(py: Python<'_>, kind: &str, address: usize, name: &str, parameters: &str) -> PyResult<Option<String>> {
    if kind != "stack" {
        let tried = library(py, address)?.controller(name, Start { window: 10.0, ..Start::default() }, parameters);
        return Ok(tried.err().map(|LibraryError(why)| why));
    }
    let library = library::<Stack>(py, address)?;
    let end = |last, port| SocketAddrV4::new(Ipv4Addr::new(198, 18, 0, last), port);
    let tried = EndSettings {
        is_sender: true,
        seed: 0,
        size: Some(Bytes(1)),
        start: Time::ZERO,
        stop: Time::NEVER,
        local: end(1, SENDER),
        remote: end(2, RECEIVER),
        mtu: Bytes(1500),
        parameters: parameters.into(),
    };
    Ok(library.host(name, &tried).err().map(|LibraryError(why)| why))
}

/// The controller of a flow, if a library has the one with this name.
pub fn controller(py: Python<'_>, code: &UserCode, start: Start) -> PyResult<Option<Box<dyn UserController>>> {
    let address: Option<usize> = registry(py)?.call_method1("controller_library", (&code.name,))?.extract()?;
    let Some(address) = address else { return Ok(None) };
    let made = library(py, address)?.controller(&code.name, start, &code.parameters);
    made.map(Some).map_err(|LibraryError(why)| parameter_text(py, &why))
}

/// The first of the ephemeral ports (RFC 6335 section 6), and that of HTTPS.
const SENDER: u16 = 49_152;
const RECEIVER: u16 = 443;

/// Sender and receiver of each hosted flow. `raised` receives the exception with which one of them ends the run.
pub fn hosts(py: Python<'_>, hosted: &HostedFlows, raised: &Raised) -> PyResult<Vec<[Box<dyn Host>; 2]>> {
    let open = |stack: &StackSettings| match stack.kind {
        CodeKind::Stack => {
            let address = registry(py)?.call_method1("stack_library", (&stack.code.name,))?.extract()?;
            library(py, address).map(Some)
        }
        _ => Ok(None),
    };
    let libraries: Vec<Option<Library<Stack>>> = hosted.stacks.iter().map(open).collect::<PyResult<_>>()?;
    let made = |flow: &HostedFlow, end: EndSettings| {
        let stack = &hosted.stacks[flow.stack];
        match &libraries[flow.stack] {
            Some(library) => library.host(&stack.code.name, &end).map_err(|LibraryError(why)| {
                let place = format!("{} `{}`", word(stack.kind), stack.code.name);
                parameter_text(py, &format!("the {place} cannot be created: {why}"))
            }),
            None => python_host(py, &stack.code, end, flow.index, raised.clone()).map_err(|error| {
                let failed = user_code_error(py, &error.to_string(), &stack.code.name, &stack.code.at, 0.0);
                failed.set_cause(py, Some(error));
                failed
            }),
        }
    };
    let both = |flow: &HostedFlow| {
        let (sender, receiver) = ends(flow, &hosted.stacks[flow.stack]);
        Ok([made(flow, sender)?, made(flow, receiver)?])
    };
    hosted.flows.iter().map(both).collect()
}

/// The settings of sender and receiver.
fn ends(flow: &HostedFlow, stack: &StackSettings) -> (EndSettings, EndSettings) {
    let (local, remote) = (SocketAddrV4::new(flow.from, SENDER), SocketAddrV4::new(flow.to, RECEIVER));
    let HostedFlow { size, start, stop, seeds: [seed, of_receiver], .. } = *flow;
    let (mtu, parameters) = (stack.mtu, stack.code.parameters.clone());
    let sender = EndSettings { is_sender: true, seed, size, start, stop, local, remote, mtu, parameters };
    let receiver = EndSettings { is_sender: false, seed: of_receiver, local: remote, remote: local, ..sender.clone() };
    (sender, receiver)
}
