//! What models ask of a scenario or of a question: plain numbers, as JSON.

use crate::description::{network, parse};
use crate::errors;
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use tailback_core::base::units::{Rate, Time};
use tailback_core::network::{Flow, Group, Network, Port};
use tailback_scenario::{BufferQuestion, Distribution, Duration};

/// Ports, paths and groups of the network that a scenario describes, and of each group what its flows have in common. Specifications
/// are those of the core, variants under their names; spans are in picoseconds, rates in bit/s.
#[pyfunction]
pub fn outline(py: Python<'_>, text: &str, file: &str, format: &str) -> PyResult<String> {
    let network = network(py, &parse(py, text, file, format)?, file)?;
    Ok(py.detach(|| described(&network)).to_string())
}

/// A question about a buffer, its defaults filled in, in bit/s, seconds and bytes.
#[pyfunction]
pub fn buffer_question(py: Python<'_>, text: &str, file: &str) -> PyResult<String> {
    let question = BufferQuestion::from_json(text, file).map_err(|problems| errors::scenario_error(py, &problems))?;
    let numbers = json!({
        "rate_bps": question.rate.rate().0,
        "rtt_s": seconds_of(&question.rtt),
        "flows": question.flows.0,
        "target": question.target.0,
        "transmitters": question.transmitters.0,
        "inputs": question.inputs.map(|inputs| inputs.0),
        "packet_bytes": question.packet.bytes(),
        "access_rate_bps": question.access_rate.map(|rate| rate.rate().0),
        "paced": question.paced,
        "window": question.window.map(|window| window.0),
    });
    Ok(numbers.to_string())
}

fn described(network: &Network) -> Value {
    let ports: Vec<Value> = network.ports.iter().map(port).collect();
    let mut flows = network.flows.as_slice();
    let groups = network.groups.iter().zip(0..).map(|(group, index)| {
        let (own, others) = flows.split_at(flows.partition_point(|flow| flow.group <= index));
        flows = others;
        of_group(group, own)
    });
    let groups: Vec<Value> = groups.collect();
    json!({"ports": ports, "paths": network.paths, "groups": groups, "changes": network.changes.len()})
}

fn port(port: &Port) -> Value {
    json!({
        "name": port.name,
        "rate_bps": port.rate,
        "transmitters": port.transmitters,
        "delay_s": port.delay.0 as f64 / 1e12,
        "switching": port.switching,
        "buffer": port.buffer,
        "counts_in_service": port.counts_in_service,
        "policy": port.policy,
        "random_loss": port.random_loss,
        "listed_drops": port.listed_drops.len(),
    })
}

fn of_group(group: &Group, flows: &[Flow]) -> Value {
    let paths: BTreeSet<u32> = flows.iter().map(|flow| flow.forward).collect();
    let ways_back: BTreeSet<u32> = flows.iter().map(|flow| flow.backward).collect();
    let access = |rate: fn(&Flow) -> Option<Rate>| flows.iter().filter_map(rate).min();
    json!({
        "name": group.name,
        "count": flows.len(),
        "paths": paths,
        "ways_back": ways_back,
        "transport": group.transport,
        "in_cells": group.framing.is_some(),
        "processing": group.send_processing.is_some() || group.receive_processing.is_some(),
        "sender_access_bps": access(|flow| flow.sender_access.rate),
        "receiver_access_bps": access(|flow| flow.receiver_access.rate),
        "jitter_s": group.jitter.0 as f64 / 1e12,
        "greedy": group.application.is_none() && flows.iter().all(|flow| flow.size.is_none()),
        "stops": flows.iter().any(|flow| flow.stop != Time::NEVER),
        "last_start_s": flows.iter().map(|flow| flow.start).max().map(|start| start.0 as f64 / 1e12),
    })
}

/// As `tailback.models.round_trips` takes it.
fn seconds_of(rtt: &Distribution<Duration>) -> Value {
    let seconds = |span: Duration| span.span().0 as f64 / 1e12;
    match rtt {
        Distribution::Fixed(span) => json!(seconds(*span)),
        Distribution::List(spans) => spans.iter().copied().map(seconds).collect(),
        Distribution::Uniform(low, high) => json!({"uniform": [seconds(*low), seconds(*high)]}),
        Distribution::Evenly(low, high) => json!({"evenly": [seconds(*low), seconds(*high)]}),
        Distribution::Exponential(mean) => json!({"exponential": seconds(*mean)}),
        Distribution::Pareto { mean, shape } => json!({"pareto": {"mean": seconds(*mean), "shape": shape}}),
        Distribution::Lognormal { median, sigma } => json!({"lognormal": {"median": seconds(*median), "sigma": sigma}}),
    }
}
