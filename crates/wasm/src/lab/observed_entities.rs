//! The observed part of a run: a limited number of flows and queues, so that memory and page do not grow with the network.

use super::fault::Fault;
use serde::Deserialize;
use std::cmp::Reverse;
use tailback_core::network::{FlowId, Network, PortId, Trace, TraceKind};
use tailback_core::primitives::units::{Time, TimeDelta};
use tailback_core::{MemoryEstimate, memory_estimate};
use tailback_scenario::{Integer, Scenario};

/// Number of flows and queues observed.
pub(super) const FLOWS: usize = 8;
pub(super) const QUEUES: usize = 8;
/// Number of bins of goodput and losses over a run.
pub(super) const BINS: u64 = 400;
/// Memory limit for flows and packets of a run in bytes: a tab has at most 4 GiB, and there may be two runs with a copy each.
const MAX_BYTES: u64 = 768 << 20;

/// A scenario and its seed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunSpec {
    pub(super) toml: String,
    pub(super) seed: u64,
    /// The first flow to observe, in the order of the groups; `None`: some of each group.
    #[serde(default)]
    pub(super) follow: Option<u32>,
}

/// A scenario prepared for a run.
pub(super) struct PreparedRun {
    pub(super) scenario: Scenario,
    pub(super) network: Network,
}

/// Parses a scenario, and refuses one that exceeds the memory limit.
pub(super) fn read(of: &RunSpec) -> Result<PreparedRun, Fault> {
    let mut scenario = Scenario::from_toml(&of.toml, "")?;
    scenario.description.seed = Integer(of.seed);
    if scenario.min_bytes() > MAX_BYTES {
        return Err(too_large(scenario.min_bytes()));
    }
    let network = scenario.build()?;
    // The scenario's own traces are usually far smaller than their estimate; the worker monitors their size.
    let MemoryEstimate { flows, packets, .. } = memory_estimate(&network);
    let needed = flows.saturating_add(packets);
    if needed > MAX_BYTES {
        return Err(too_large(needed));
    }
    if let Some(first) = of.follow.filter(|&first| first as usize >= network.flows.len()) {
        let last = network.flows.len().saturating_sub(1);
        return Err(Fault::whole("there is no such flow to observe", Some(first.to_string()), Some(format!("0 to {last}"))));
    }
    Ok(PreparedRun { scenario, network })
}

fn too_large(needed: u64) -> Fault {
    let mebibytes = |bytes: u64| format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20));
    let mut fault = Fault::whole(
        "the scenario needs more memory than the lab allows for a run",
        Some(format!("up to {}", mebibytes(needed))),
        Some(format!("at most {}", mebibytes(MAX_BYTES))),
    );
    let hint = "fewer flows or smaller buffers; or `tailback run`, which can use all of the machine's memory";
    fault.problems.iter_mut().for_each(|problem| problem.hint = Some(hint.into()));
    fault
}

/// Level of detail of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DetailLevel {
    /// Fast: computes ahead where possible.
    Ports,
    /// Every hop is an event, so that the position of each packet is known.
    Packets,
}

impl From<bool> for DetailLevel {
    fn from(close: bool) -> DetailLevel {
        if close { DetailLevel::Packets } else { DetailLevel::Ports }
    }
}

/// Flows and ports that are observed.
#[derive(Clone, Debug)]
pub(super) struct ObservedEntities {
    pub(super) flows: Vec<FlowId>,
    pub(super) ports: Vec<PortId>,
    /// The width of a goodput bin.
    pub(super) bin: TimeDelta,
}

impl ObservedEntities {
    /// The flows from `from` on; if it is `None`, the first flows of each group in turn. The ports are the slowest that data of
    /// these flows cross; among equally slow ones, those shared by most flows come first.
    pub(super) fn of(network: &Network, from: Option<u32>) -> ObservedEntities {
        let all = FlowId::all(network.flows.len());
        let mut flows: Vec<FlowId> = match from {
            Some(first) => all.skip(first as usize).take(FLOWS).collect(),
            None => first_of_groups(network, all.collect()),
        };
        flows.sort_unstable();
        let mut sharing = vec![0u64; network.ports.len()];
        for flow in &network.flows {
            network.paths[flow.forward as usize].iter().for_each(|&port| sharing[port] += 1);
        }
        let of_flow = |&flow: &FlowId| &network.paths[network.flows[flow].forward as usize];
        let mut ports: Vec<PortId> = flows.iter().flat_map(of_flow).copied().collect();
        ports.sort_by_key(|&port| (network.ports[port].rate, Reverse(sharing[port]), port));
        ports.dedup();
        ports.truncate(QUEUES);
        ports.sort_unstable();
        let longest = flows.iter().map(|&flow| network.base_rtt(&network.flows[flow])).max().unwrap_or(TimeDelta::ZERO);
        let bin = TimeDelta((network.duration.0 / BINS).max(longest.0).clamp(1, network.duration.0.max(1)));
        ObservedEntities { flows, ports, bin }
    }

    /// Traces of the observed flows and ports, and the drops of all ports.
    pub(super) fn traces(&self, network: &Network, look: DetailLevel) -> Vec<Trace> {
        let flows = |kind| Trace { kind, of: self.flows.iter().map(|flow| flow.0).collect() };
        let kinds = [TraceKind::Cwnd, TraceKind::Ssthresh, TraceKind::Rtt, TraceKind::State, TraceKind::Throughput(self.bin)];
        let mut traces: Vec<Trace> = kinds.into_iter().map(flows).collect();
        if look == DetailLevel::Packets {
            traces.push(flows(TraceKind::InFlight));
        }
        traces.push(Trace { kind: TraceKind::Queue, of: self.ports.iter().map(|port| port.0).collect() });
        traces.push(Trace { kind: TraceKind::Drops, of: (0..network.ports.len() as u32).collect() });
        traces
    }
}

fn first_of_groups(network: &Network, mut flows: Vec<FlowId>) -> Vec<FlowId> {
    let of_group = |flow: FlowId| network.flows[flow].group;
    let place = |flow: FlowId| flow.index() - network.flows.partition_point(|other| other.group < of_group(flow));
    flows.sort_by_cached_key(|&flow| (place(flow), of_group(flow)));
    flows.truncate(FLOWS);
    flows
}

/// Seconds as an instant; validates the number from the page.
pub(super) fn instant(seconds: f64) -> Result<Time, Fault> {
    if seconds.is_finite() && (0.0..=1.8e7).contains(&seconds) {
        Ok(Time((seconds * 1e12).round() as u64))
    } else {
        Err(Fault::whole("this is not a time of a run", Some(seconds.to_string()), Some("seconds, at least 0".into())))
    }
}
