//! Hosts of stacks, which `tailback.user_code` finds.

use crate::errors::{parameter_text, user_code_error};
use crate::libraries::library;
use crate::user_code::{Raised, python_host, registry, word};
use pyo3::prelude::*;
use std::net::SocketAddrV4;
use tailback_core::network::CodeKind;
use tailback_host::Host;
use tailback_host::library::{EndSettings, Library, LibraryError, Stack};
use tailback_scenario::{HostedFlow, HostedFlows, StackSettings};

/// The first of the ephemeral ports (RFC 6335 section 6), and that of HTTPS.
const SENDER: u16 = 49_152;
const RECEIVER: u16 = 443;

/// Sender and receiver of each hosted flow. `raised` receives the exception with which one of them ends the run.
pub fn hosts(py: Python<'_>, hosted: &HostedFlows, raised: &Raised) -> PyResult<Vec<[Box<dyn Host>; 2]>> {
    let open = |stack: &StackSettings| match stack.kind {
        CodeKind::Stack => {
            let tables = registry(py)?.call_method1("stack_library", (&stack.code.name,))?;
            library(py, tables.cast()?).map(Some)
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
