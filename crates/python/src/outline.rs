//! The inputs of models for a scenario or a buffer question: plain numbers, and the scenario's words.

use crate::description::{network, parse};
use crate::errors;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use tailback_core::congestion::ControllerSpec;
use tailback_core::network::{Buffer, Flow, Group, Network, Port, Switching, Transport};
use tailback_core::primitives::units::{Rate, Time};
use tailback_core::settings::PlainWords;
use tailback_core::tcp::{AckCounting, TcpSpec};
use tailback_core::traffic::{Arrivals, DatagramSpec, PacketSize, ProcessSpec};
use tailback_scenario::{BufferQuestion, Distribution, Duration, Integer, Scenario, schema};

/// Name of user code without a name here.
const USER: &str = "user";

/// Ports, paths and groups of the network that a scenario describes, as JSON in the scenario's words, and the base round trips of
/// all its flows in seconds, as native floats in the order of the groups. Nothing is simulated. `seed` overrides the scenario's
/// own, because round trips may be random.
#[pyfunction]
#[pyo3(signature = (text, file, format, seed=None))]
pub fn outline(py: Python<'_>, text: &str, file: &str, format: &str, seed: Option<u64>) -> PyResult<(String, Py<PyBytes>)> {
    let mut scenario = parse(py, text, file, format)?;
    if let Some(seed) = seed {
        scenario.description.seed = Integer(seed);
    }
    let network = network(py, &scenario, file)?;
    let (described, base_rtts) = py.detach(|| {
        let seconds = network.flows.iter().flat_map(|flow| network.base_rtt(flow).seconds().to_ne_bytes());
        (described(&network, &scenario).to_string(), seconds.collect::<Vec<u8>>())
    });
    Ok((described, PyBytes::new(py, &base_rtts).unbind()))
}

/// A buffer question with its defaults filled in, in bit/s, seconds and bytes.
#[pyfunction]
pub fn buffer_question(py: Python<'_>, text: &str, file: &str) -> PyResult<String> {
    let question = BufferQuestion::from_json(text, file).map_err(|problems| errors::scenario_error(py, &problems))?;
    let numbers = json!({
        "rate_bps": question.rate.rate().0,
        "base_rtt_s": seconds_of(&question.base_rtt),
        "flows": question.flows.0,
        "target": question.target.0,
        "transmitters": question.transmitters.0,
        "inputs": question.inputs.map(|inputs| inputs.0),
        "packet_bytes": question.packet_size.bytes(),
        "access_rate_bps": question.access_rate.map(|rate| rate.rate().0),
        "paced": question.paced,
        "window": question.window.map(|window| window.0),
    });
    Ok(numbers.to_string())
}

fn described(network: &Network, scenario: &Scenario) -> Value {
    let ports: Vec<Value> = network.ports.iter().map(port).collect();
    let mut flows = network.flows.as_slice();
    let groups = network.groups.iter().zip(scenario.description.flows.values()).zip(0..).map(|((group, given), index)| {
        let (own, others) = flows.split_at(flows.partition_point(|flow| flow.group <= index));
        flows = others;
        of_group(group, given, own)
    });
    let groups: Vec<Value> = groups.collect();
    json!({"ports": ports, "paths": network.paths, "groups": groups, "changes": network.changes.len(), "duration_s": network.duration.seconds()})
}

fn port(port: &Port) -> Value {
    let (buffer, unit) = match port.buffer {
        Buffer::Units(units) => (Some(units), "packets"),
        Buffer::Bytes(bytes) => (Some(bytes), "bytes"),
        Buffer::Unlimited => (None, "packets"),
    };
    json!({
        "name": port.name,
        "rate_bps": port.rate,
        "transmitters": port.transmitters,
        "cuts_through": port.switching == Switching::CutThrough,
        "buffer": buffer,
        "unit": unit,
        "counts_in_service": port.counts_in_service,
        "policy": port.policy.name().unwrap_or(USER),
        "random_loss": port.random_loss,
        "listed_drops": port.listed_drops.len(),
        "unmodelled": port.unmodelled(),
    })
}

fn of_group(group: &Group, given: &schema::Flow, flows: &[Flow]) -> Value {
    let paths: BTreeSet<u32> = flows.iter().map(|flow| flow.forward).collect();
    let places: BTreeMap<u32, usize> = paths.iter().copied().zip(0..).collect();
    let path_of_flows: Vec<Option<&usize>> = match paths.len() {
        1 => Vec::new(),
        _ => flows.iter().map(|flow| places.get(&flow.forward)).collect(),
    };
    let ways_back: BTreeSet<u32> = flows.iter().map(|flow| flow.backward).collect();
    let access = |rate: fn(&Flow) -> Option<Rate>| flows.iter().filter_map(rate).min();
    let (tcp, source) = match &group.transport {
        Transport::Tcp(spec, law) => (Some(of_tcp(spec, law)), None),
        Transport::Datagram(spec) => (None, Some(of_source(spec, given))),
    };
    json!({
        "name": group.name,
        "count": flows.len(),
        "paths": paths,
        "path_of_flows": path_of_flows,
        "ways_back": ways_back,
        "tcp": tcp,
        "source": source,
        "in_cells": group.framing.is_some(),
        "processing": group.send_processing.is_some() || group.receive_processing.is_some(),
        "sender_access_bps": access(|flow| flow.sender_access.rate),
        "receiver_access_bps": access(|flow| flow.receiver_access.rate),
        "jitter_s": group.jitter.seconds(),
        "greedy": group.application.is_none() && flows.iter().all(|flow| flow.size.is_none()),
        "transfers": flows.iter().all(|flow| flow.size.is_some()),
        "starts_s": flows.iter().map(|flow| flow.start.seconds()).collect::<Vec<f64>>(),
        "stops": flows.iter().any(|flow| flow.stop != Time::NEVER),
    })
}

fn of_tcp(spec: &TcpSpec, law: &ControllerSpec) -> Value {
    json!({
        "controller": law.name().unwrap_or(USER),
        "recovery": spec.recovery.word(),
        "mss": spec.mss,
        "header": spec.header,
        "ack_bytes": spec.ack_size,
        "initial_window": spec.initial_window,
        "receiver_window": spec.receiver_window,
        "counts_bytes": spec.ack_counting == AckCounting::Bytes,
        "segments_per_ack": spec.delayed_ack.map_or(1, |delayed| delayed.every),
        "pacing": spec.pacing,
        "pacing_bps": if let ControllerSpec::Fixed(fixed) = law { fixed.rate } else { None },
        "min_rto_s": spec.timer.min_rto.seconds(),
        "keeps_packets": match law {
            ControllerSpec::Fast(fast) if fast.draining.is_none() => Some(fast.alpha),
            ControllerSpec::Vegas(vegas) if vegas.alpha_rate.is_none() => Some(vegas.alpha),
            _ => None,
        },
        "keeps_pps": if let ControllerSpec::Vegas(vegas) = law { vegas.alpha_rate } else { None },
    })
}

fn of_source(spec: &DatagramSpec, given: &schema::Flow) -> Value {
    let (size, packet_bytes) = match spec.packet {
        PacketSize::Fixed(bytes) => ("fixed", Some(bytes.0 as f64)),
        PacketSize::Exponential { mean, .. } => ("exponential", Some(mean)),
        PacketSize::Given { .. } => (USER, None),
    };
    let (rate, mean_idle) = match &spec.arrivals {
        Arrivals::Process(ProcessSpec::Alternating(process)) => (Some(process.rate), Some(process.mean_idle.seconds())),
        _ => (None, None),
    };
    json!({
        "kind": serde_json::to_value(&given.source).unwrap_or_default()["kind"],
        "size": size,
        "packet_bytes": packet_bytes,
        "header": spec.header,
        "packets_per_s": spec.per_second(),
        "rate_bps": rate,
        "mean_idle_s": mean_idle,
    })
}

/// Argument of `tailback.models.round_trips`.
fn seconds_of(rtt: &Distribution<Duration>) -> Value {
    let seconds = |span: Duration| span.time_delta().0 as f64 / 1e12;
    match rtt {
        Distribution::Fixed(span) => json!(seconds(*span)),
        Distribution::List(spans) => spans.iter().copied().map(seconds).collect(),
        Distribution::Uniform(low, high) => json!({"uniform": [seconds(*low), seconds(*high)]}),
        Distribution::Evenly(low, high) => json!({"evenly": [seconds(*low), seconds(*high)]}),
        Distribution::Exponential(mean) => json!({"exponential": seconds(*mean)}),
        Distribution::Pareto { mean, shape } => json!({"pareto": {"mean": seconds(*mean), "shape": shape}}),
        Distribution::Lognormal { median, sigma } => json!({"lognormal": {"median": seconds(*median), "sigma": sigma}}),
        // A question with one of these is refused.
        Distribution::BoundedPareto { .. } | Distribution::Cdf(_) | Distribution::Workload(_) => Value::Null,
    }
}
