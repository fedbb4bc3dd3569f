//! Fair shares of a network's capacity, and the network that a scenario describes.

use crate::description::parse;
use crate::errors;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};
use tailback_allocation::{Error, Network};
use tailback_core::network::{CELL_BYTES, ChangeKind, Flow, Group, Network as Described, Transport};
use tailback_core::price::Price;
use tailback_core::primitives::units::{Bytes, Rate, Time};
use tailback_scenario::Integer;

/// Rates, as native floats, and the bottleneck link of each flow, as native 64-bit integers. `names` of links are used in error
/// messages; empty if the links have no names.
#[pyfunction]
pub fn max_min(
    py: Python<'_>,
    routes: Vec<Vec<usize>>,
    capacities: Vec<f64>,
    weights: Vec<f64>,
    names: Vec<String>,
) -> PyResult<(Py<PyBytes>, Py<PyBytes>)> {
    let result = py.detach(|| Network::new(&routes, capacities, weights).map(|network| tailback_allocation::max_min(&network)));
    let result = result.map_err(|error| refused(py, &error, &names))?;
    let links: Vec<u8> = result.bottlenecks.iter().flat_map(|&link| (link as i64).to_ne_bytes()).collect();
    Ok((floats(py, &result.rates), PyBytes::new(py, &links).unbind()))
}

/// Rates and prices of the links, as native floats. For `names` see `max_min`.
#[pyfunction]
pub fn proportional(
    py: Python<'_>,
    routes: Vec<Vec<usize>>,
    capacities: Vec<f64>,
    weights: Vec<f64>,
    names: Vec<String>,
) -> PyResult<(Py<PyBytes>, Py<PyBytes>)> {
    let solved = || tailback_allocation::proportional(&Network::new(&routes, capacities, weights)?);
    let result = py.detach(solved).map_err(|error| refused(py, &error, &names))?;
    Ok((floats(py, &result.rates), floats(py, &result.prices)))
}

/// The network that the flows of a scenario share during the measurement interval, as JSON: ports, paths, groups, flows, and
/// changes during the interval.
#[pyfunction]
pub fn shared_network(py: Python<'_>, text: &str, file: &str, format: &str, seed: u64) -> PyResult<String> {
    let mut scenario = parse(py, text, file, format)?;
    scenario.description.seed = Integer(seed);
    py.detach(|| scenario.build().map(|network| described(&network).to_string()))
        .map_err(|error| errors::scenario_error(py, &error))
}

fn refused(py: Python<'_>, error: &Error, names: &[String]) -> PyErr {
    errors::parameter_text(py, &error.text(|link| names.get(link).map_or_else(|| link.to_string(), |name| format!("`{name}`"))))
}

fn floats(py: Python<'_>, values: &[f64]) -> Py<PyBytes> {
    PyBytes::new(py, &values.iter().flat_map(|value| value.to_ne_bytes()).collect::<Vec<u8>>()).unbind()
}

fn described(network: &Described) -> Value {
    let begin = Time::ZERO + network.warmup;
    let mut rates: Vec<Rate> = network.ports.iter().map(|port| port.rate).collect();
    let mut paths: Vec<u32> = network.flows.iter().map(|flow| flow.forward).collect();
    let mut later = Vec::new();
    for change in &network.changes {
        match change.what {
            ChangeKind::Rate(port, rate) if change.at <= begin => rates[port] = rate,
            ChangeKind::Route(flow, forward, _) if change.at <= begin => paths[flow] = forward,
            ChangeKind::Rate(port, _) => later.push(json!({"at_s": change.at.seconds(), "port": port})),
            ChangeKind::Route(flow, ..) => {
                later.push(json!({"at_s": change.at.seconds(), "group": network.flows[flow].group}));
            }
            ChangeKind::Delay(..) | ChangeKind::RandomLoss(..) | ChangeKind::Buffer(..) => {}
        }
    }
    let capacity = |(port, rate): (&tailback_core::network::Port, Rate)| rate.0 as f64 * f64::from(port.transmitters);
    json!({
        "ports": network.ports.iter().map(|port| &port.name).collect::<Vec<_>>(),
        "capacities_bps": network.ports.iter().zip(rates).map(capacity).collect::<Vec<_>>(),
        "paths": network.paths,
        "groups": network.groups.iter().map(group).collect::<Vec<_>>(),
        "flows": network.flows.iter().zip(paths).map(|(flow, path)| of_flow(flow, path)).collect::<Vec<_>>(),
        "changes": later,
        "warmup_s": network.warmup.seconds(),
    })
}

fn group(group: &Group) -> Value {
    let kind = match (&group.transport, &group.application) {
        (Transport::Datagram(_), _) => "datagrams",
        (_, Some(_)) => "application",
        (_, None) => "bulk",
    };
    let (max_rate, window) = match &group.transport {
        Transport::Tcp(spec, law) => (law.rate_at(Price(0.0)), Some(f64::from(spec.receiver_window.0) * 8.0 * spec.mss.0 as f64)),
        Transport::Datagram(_) => (None, None),
    };
    json!({
        "name": group.name,
        "kind": kind,
        "payload_share": payload_share(group),
        "max_rate_bps": max_rate.map(|rate| rate.0),
        "receiver_window_bits": window,
    })
}

/// Payload over bytes on the links, for full packets or datagrams of mean size; `None` for user code.
fn payload_share(group: &Group) -> Option<f64> {
    let (payload, packet) = match &group.transport {
        Transport::Tcp(spec, _) => (spec.mss.0 as f64, spec.mss + spec.header),
        Transport::Datagram(spec) => (spec.packet.mean()?, spec.wire_bytes()?),
    };
    let carried = group.framing.map_or(packet, |framing| Bytes(framing.cells(packet).0 * CELL_BYTES.0));
    Some(payload / carried.0 as f64)
}

fn of_flow(flow: &Flow, path: u32) -> Value {
    json!({
        "group": flow.group,
        "path": path,
        "access_bps": flow.sender_access.rate.into_iter().chain(flow.receiver_access.rate).min(),
        "start_s": flow.start.seconds(),
        "stop_s": (flow.stop != Time::NEVER).then(|| flow.stop.seconds()),
    })
}
