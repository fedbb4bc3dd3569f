//! What of a run is followed: of a large network a part, so that neither memory nor the page grows with it.

use super::Of;
use super::fault::Fault;
use std::cmp::Reverse;
use tailback_core::network::{Network, Trace, TraceKind};
use tailback_core::primitives::units::{Span, Time};
use tailback_core::{MemoryEstimate, memory_estimate};
use tailback_scenario::{Scenario, Whole};

/// Flows and queues that are followed.
pub(super) const FLOWS: usize = 8;
pub(super) const QUEUES: usize = 8;
/// Bins of goodput and of losses over a run.
pub(super) const BINS: u64 = 400;
/// Bytes that flows and packets of a run may take: a tab has 4 GiB at most, and there may be two runs with a copy each.
const MOST_BYTES: u64 = 768 << 20;

/// A scenario as a run needs it.
pub(super) struct Read {
    pub(super) scenario: Scenario,
    pub(super) network: Network,
}

/// Reads a scenario, and refuses one that a tab has no room for.
pub(super) fn read(of: &Of) -> Result<Read, Fault> {
    let mut scenario = Scenario::from_toml(&of.toml, "")?;
    scenario.description.seed = Whole(of.seed);
    if scenario.least_bytes() > MOST_BYTES {
        return Err(too_large(scenario.least_bytes()));
    }
    let network = scenario.build()?;
    // What a scenario traces itself is far less than it could be, mostly; the worker looks at how much it becomes.
    let MemoryEstimate { flows, packets, .. } = memory_estimate(&network);
    let needed = flows.saturating_add(packets);
    if needed > MOST_BYTES {
        return Err(too_large(needed));
    }
    if let Some(first) = of.follow.filter(|&first| first as usize >= network.flows.len()) {
        let last = network.flows.len().saturating_sub(1);
        return Err(Fault::whole("there is no such flow to follow", Some(first.to_string()), Some(format!("0 to {last}"))));
    }
    Ok(Read { scenario, network })
}

fn too_large(needed: u64) -> Fault {
    let mebibytes = |bytes: u64| format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20));
    let mut fault = Fault::whole(
        "the scenario needs more memory than the lab gives a run",
        Some(format!("up to {}", mebibytes(needed))),
        Some(format!("at most {}", mebibytes(MOST_BYTES))),
    );
    let hint = "fewer flows or smaller buffers; or `tailback run`, which has the memory of the machine";
    fault.problems.iter_mut().for_each(|problem| problem.hint = Some(hint.into()));
    fault
}

/// How closely a run is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Fast: what can be computed ahead is.
    Far,
    /// Every hop is an event, so that each packet is seen where it is.
    Close,
}

impl From<bool> for Look {
    fn from(close: bool) -> Look {
        if close { Look::Close } else { Look::Far }
    }
}

/// Flows and ports that are followed.
#[derive(Clone, Debug)]
pub(super) struct Followed {
    pub(super) flows: Vec<u32>,
    pub(super) ports: Vec<u32>,
    /// The width of a bin of goodput.
    pub(super) bin: Span,
}

impl Followed {
    /// The flows from one on; without one, of each group its first flows, in turn. And of the links that their data cross the slowest, of
    /// these those that most flows share.
    pub(super) fn of(network: &Network, from: Option<u32>) -> Followed {
        let all = 0..network.flows.len() as u32;
        let mut flows: Vec<u32> = match from {
            Some(first) => all.skip(first as usize).take(FLOWS).collect(),
            None => first_of_groups(network, all.collect()),
        };
        flows.sort_unstable();
        let mut sharing = vec![0u64; network.ports.len()];
        for flow in &network.flows {
            network.paths[flow.forward as usize].iter().for_each(|&port| sharing[port as usize] += 1);
        }
        let of_flow = |&flow: &u32| &network.paths[network.flows[flow as usize].forward as usize];
        let mut ports: Vec<u32> = flows.iter().flat_map(of_flow).copied().collect();
        ports.sort_by_key(|&port| (network.ports[port as usize].rate, Reverse(sharing[port as usize]), port));
        ports.dedup();
        ports.truncate(QUEUES);
        ports.sort_unstable();
        let longest = flows.iter().map(|&flow| network.base_rtt(&network.flows[flow as usize])).max().unwrap_or(Span::ZERO);
        let bin = Span((network.duration.0 / BINS).max(longest.0).clamp(1, network.duration.0.max(1)));
        Followed { flows, ports, bin }
    }

    /// Traces of what is followed, and the drops of all ports.
    pub(super) fn traces(&self, network: &Network, look: Look) -> Vec<Trace> {
        let flows = |kind| Trace { kind, of: self.flows.clone() };
        let kinds = [TraceKind::Cwnd, TraceKind::Ssthresh, TraceKind::Rtt, TraceKind::State, TraceKind::Throughput(self.bin)];
        let mut traces: Vec<Trace> = kinds.into_iter().map(flows).collect();
        if look == Look::Close {
            traces.push(flows(TraceKind::InFlight));
        }
        traces.push(Trace { kind: TraceKind::Queue, of: self.ports.clone() });
        traces.push(Trace { kind: TraceKind::Drops, of: (0..network.ports.len() as u32).collect() });
        traces
    }
}

fn first_of_groups(network: &Network, mut flows: Vec<u32>) -> Vec<u32> {
    let of_group = |flow: u32| network.flows[flow as usize].group;
    let place = |flow: u32| flow - network.flows.partition_point(|other| other.group < of_group(flow)) as u32;
    flows.sort_by_cached_key(|&flow| (place(flow), of_group(flow)));
    flows.truncate(FLOWS);
    flows
}

/// Seconds as an instant: a number from the page may be anything.
pub(super) fn instant(seconds: f64) -> Result<Time, Fault> {
    if seconds.is_finite() && (0.0..=1.8e7).contains(&seconds) {
        Ok(Time((seconds * 1e12).round() as u64))
    } else {
        Err(Fault::whole("this is no time of a run", Some(seconds.to_string()), Some("seconds, from 0".into())))
    }
}
