//! Description of a scenario for display: nodes, links, flows, and warnings.

use super::fair_shares;
use super::fault::Fault;
use super::observed_entities::{ObservedEntities, PreparedRun, RunSpec, read};
use super::predictions;
use super::session::refuse_user_code;
use serde_json::{Value, json};
use tailback_core::Engine;
use tailback_core::network::{Buffer, ChangeKind, Flow, FlowId, Group, Network, PortId, Transport};
use tailback_core::primitives::units::Time;
use tailback_scenario::{Problem, Warnings};

/// Maximum number of flows that are listed individually.
const MAX_FLOWS: usize = 200;

pub(super) fn describe(of: &RunSpec) -> Result<Value, Fault> {
    let PreparedRun { scenario, network } = read(of)?;
    let warnings = scenario.build_with_warnings()?.1;
    if !scenario.user_code().is_empty() {
        refuse_user_code(Engine::new(network.clone()).failure())?;
    }
    let port_ends = scenario.port_ends()?;
    let flow_ends = scenario.ends()?;
    let observed = ObservedEntities::of(&network, of.follow);
    let ports = PortId::enumerate(&port_ends).map(|(id, (from, to))| described_port(&network, id, from.as_str(), to.as_str()));
    // The observed flows are included.
    let is_listed = |index: usize| index < MAX_FLOWS || observed.flows.contains(&FlowId(index as u32));
    let flows = network.flows.iter().zip(&flow_ends).enumerate().filter(|&(index, _)| is_listed(index));
    let flows = flows.map(|(index, (flow, (from, to)))| described_flow(&network, index, flow, [from.as_str(), to.as_str()]));
    Ok(json!({
        "name": scenario.description.name,
        "duration_s": network.duration.seconds(),
        "warmup_s": network.warmup.seconds(),
        "random": scenario.is_random(),
        "ports": ports.collect::<Vec<_>>(),
        "groups": network.groups.iter().enumerate().map(|(index, group)| described_group(&network, index, group)).collect::<Vec<_>>(),
        "flows": flows.collect::<Vec<_>>(),
        "flow_count": network.flows.len(),
        "observed": {"flows": observed.flows, "ports": observed.ports, "bin_s": observed.bin.seconds()},
        "predictions": predictions::all(&network, &observed, &fair_shares::lines(&network, &observed)),
        "changes_s": network.changes.iter().map(|change| change.at.seconds()).collect::<Vec<f64>>(),
        "warnings": texts(&warnings),
        "notes": texts(&scenario.notes()),
        "scenario": scenario.content_hash(""),
    }))
}

fn described_port(network: &Network, id: PortId, from: &str, to: &str) -> Value {
    let port = &network.ports[id];
    let (buffer, unit) = room(port.buffer);
    let later = network.changes.iter().filter_map(|change| match change.what {
        ChangeKind::Buffer(of, buffer) if of == id => Some(json!([change.at.seconds(), room(buffer).0])),
        _ => None,
    });
    json!({
        "name": port.name,
        "from": from,
        "to": to,
        "rate_bps": port.rate.0,
        "transmitters": port.transmitters,
        "delay_s": port.delay.seconds(),
        "buffer": buffer,
        "buffer_unit": unit,
        "buffers_later": later.collect::<Vec<_>>(),
        "policy": port.policy.name(),
    })
}

fn room(buffer: Buffer) -> (Option<u64>, &'static str) {
    match buffer {
        Buffer::Units(units) => (Some(units), "packets"),
        Buffer::Bytes(bytes) => (Some(bytes), "bytes"),
        Buffer::Unlimited => (None, "packets"),
    }
}

fn described_flow(network: &Network, index: usize, flow: &Flow, [from, to]: [&str; 2]) -> Value {
    let first = network.flows.partition_point(|other| other.group < flow.group);
    json!({
        "flow": index,
        "group": network.groups[flow.group].name,
        "index": index - first,
        "from": from,
        "to": to,
        "forward": network.paths[flow.forward as usize],
        "backward": network.paths[flow.backward as usize],
        "base_rtt_s": network.base_rtt(flow).seconds(),
        "start_s": flow.start.seconds(),
        "stop_s": Some(flow.stop).filter(|&stop| stop != Time::NEVER).map(Time::seconds),
        "size_bytes": flow.size.map(|size| size.0),
    })
}

fn described_group(network: &Network, index: usize, group: &Group) -> Value {
    let law = match &group.transport {
        Transport::Tcp(_, law) => law.name(),
        Transport::Datagram(_) => None,
    };
    json!({
        "name": group.name,
        "count": network.flows.iter().filter(|flow| flow.group.index() == index).count(),
        "law": law,
        "packet_bytes": group.transport.full_packet().map(|bytes| bytes.0),
        "cells": group.framing.is_some(),
    })
}

fn texts(warnings: &Warnings) -> Vec<Problem> {
    warnings.list.clone()
}
