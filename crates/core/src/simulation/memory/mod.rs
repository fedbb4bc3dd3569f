//! Upper estimate of the memory of a run, made before it starts, so that a run that cannot fit is refused.

mod in_flight;
mod trace_rows;

use super::access_queue::AccessQueues;
use super::cells::{Cells, Channel, Edge};
use super::endpoints::End;
use super::group_profile::uses_are_remembered;
use super::hosts::Hosts;
use super::path::Path;
use super::port::{FlowTotals, MultiQueue, Port, QueuedUnit};
use super::wiring::FlowPlan;
use crate::congestion::ControllerSpec;
use crate::network::{self, Network, Queues, Recording, Scheduling, Transport, VaryingRate};
use crate::price::Estimators;
use crate::primitives::ids::PortId;
use crate::primitives::packet::{NumberAndHeader, Packet, Report};
use crate::primitives::pooled_queue::CHUNK;
use crate::primitives::signal::ReceiverFeedback;
use crate::primitives::units::{Bytes, Units};
use crate::queue::PolicySpec;
use crate::tcp::SlowStart;
use crate::tcp::sequence::SenderCounts;
use crate::tcp::signal_reader::SignalReader;
use crate::tcp::slow_start::SlowStartState;
use crate::tcp::validation::Usage;
use crate::traffic::{Application, ApplicationSpec, MessageFlow, MessagesSpec};
pub use in_flight::{FullestPort, HeldIn, fullest_port};
use in_flight::{packets_in_flight, sack_reports_in_flight, units, unlimited_buffers};
pub use trace_rows::trace_rows;
use trace_rows::{datagrams, trace_bytes};

/// Bytes of a flow with no packets in flight: its path, sender, plan and calendar slots.
const IDLE_FLOW: usize = size_of::<Path>() + size_of::<End>() + size_of::<FlowPlan>() + 8 * 16;
const _: () = assert!(IDLE_FLOW <= 512, "4,000,000 flows have to fit in 2 GB");

/// Bytes of a flow in the description of the network and in the tables of results, with the counters that these are made from.
const DESCRIBED_FLOW: usize = size_of::<network::Flow>() + size_of::<SenderCounts>() + FLOW_COLUMNS * size_of::<f64>();

/// Maximum places of a pool per packet in flight: a full pool doubles.
const POOL_SLACK: f64 = 2.0;

/// Bytes of the description and of the tables of results, without those of each flow and port.
const DESCRIPTION: u64 = 64 << 10;

/// Columns of the table `flows`, the slowdowns from which others are made, and the columns from which `groups` is made.
const FLOW_COLUMNS: usize = 34;

/// Upper estimate of the bytes of a run, with the network's description and the results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryEstimate {
    /// Flows and ports.
    pub flows: u64,
    /// The part of `flows` that only one domain of a parallel run has.
    pub cold: u64,
    /// The packets that fit in pipes and buffers.
    pub packets: u64,
    /// The rows of all traces.
    pub traces: u64,
}

impl MemoryEstimate {
    pub fn total(&self) -> u64 {
        self.flows.saturating_add(self.packets).saturating_add(self.traces)
    }

    /// The estimate for a run on `threads` threads: each has flows and ports, and at the end the merged engine coexists with the domains.
    pub fn shared_by(self, threads: usize) -> MemoryEstimate {
        let of_each = (self.flows - self.cold).saturating_mul(threads as u64 + 1);
        MemoryEstimate {
            flows: of_each.saturating_add(self.cold.saturating_mul(2)),
            cold: self.cold,
            packets: self.packets.saturating_mul(2),
            traces: self.traces.saturating_mul(2),
        }
    }
}

/// Maximum number of queues of all ports that have several.
fn queues_of_schedulers(network: &Network) -> usize {
    let of_flows: Vec<bool> = network
        .ports
        .iter()
        .map(|port| matches!(port.scheduling.as_deref(), Some(Scheduling { queues: Queues::OfFlows | Queues::Hashed(_), .. })))
        .collect();
    let of_classes = |port: &network::Port| match port.scheduling.as_deref() {
        Some(Scheduling { queues, .. }) => queues.class_names().len(),
        None => 0,
    };
    let classes: usize = network.ports.iter().map(of_classes).sum();
    if !of_flows.contains(&true) {
        return classes;
    }
    // There are at most as many hashed queues as flows.
    let crossed: Vec<usize> = network.paths.iter().map(|path| path.iter().filter(|&&port| of_flows[port]).count()).collect();
    classes + network.flows.iter().map(|flow| crossed[flow.forward as usize] + crossed[flow.backward as usize]).sum::<usize>()
}

/// The rates that vary, each counted once.
fn varying_rates(network: &Network) -> u64 {
    let mut rates: Vec<&VaryingRate> = Vec::new();
    for rate in network.ports.iter().filter_map(|port| port.varying.as_ref()) {
        if !rates.iter().any(|known| known.shares_data_with(rate)) {
            rates.push(rate);
        }
    }
    rates.iter().map(|rate| rate.memory()).sum()
}

/// The policies of ports other than drop-tail, and the parts of ports that record.
fn policies_and_recordings(network: &Network) -> u64 {
    let records = network.record != Recording::default();
    let of_port = |port: &network::Port| {
        let policy = if matches!(port.policy, PolicySpec::DropTail(())) { 0 } else { Port::POLICY_BYTES };
        policy + if records || port.impairments.mtu.is_some() || !port.listed_drops.is_empty() { Port::OBSERVER_BYTES } else { 0 }
    };
    network.ports.iter().map(|port| of_port(port) as u64).sum()
}

/// The per-flow counters of queues, if requested.
fn queue_flows(network: &Network) -> u64 {
    if !network.record.queue_flows {
        return 0;
    }
    let ports = |path: u32| network.paths[path as usize].len() as u64;
    let counted: u64 = network.flows.iter().map(|flow| ports(flow.forward) + ports(flow.backward)).sum();
    // A row of the table in addition to an entry of a tree.
    counted.saturating_mul(2 * size_of::<FlowTotals>() as u64 + 64)
}

/// Unused places in the first and the last chunk of each line of a flow or port: a few per line, or the number of packets if that is less.
fn empty_places(packets: Units, network: &Network) -> u64 {
    let lines = 4 * network.flows.len() as u64 + network.ports.len() as u64;
    packets.0.min(lines.saturating_mul(2 * u64::from(CHUNK - 1)))
}

/// The messages of a flow, without the description that they share with it.
fn message_bytes(messages: &MessagesSpec) -> u64 {
    (size_of::<MessageFlow>() + messages.count() as usize * MessageFlow::BYTES_PER_MESSAGE) as u64
}

/// Bytes of an entry of a B-tree whose nodes are half full, as insertions in ascending order leave them.
const BYTES_PER_DUPLICATED_DATAGRAM: u64 = 24;

/// Datagrams that links duplicate, with several standard deviations. Their receivers remember them.
fn duplicated_datagrams(network: &Network) -> u64 {
    let of_flow = |flow: &network::Flow| {
        let Transport::Datagram(spec) = &network.groups[flow.group].transport else { return 0.0 };
        let duplication = |&port: &PortId| network.ports[port].impairments.duplication;
        let copies: f64 = network.paths[flow.forward as usize].iter().map(duplication).sum();
        let datagrams = datagrams(spec, flow.size, network.duration.seconds()).unwrap_or(0.0);
        datagrams * copies.min(1.0)
    };
    let mean: f64 = network.flows.iter().map(of_flow).sum();
    (mean + 5.0 * mean.sqrt()) as u64
}

/// Estimate the memory of a run of this network.
pub fn memory_estimate(network: &Network) -> MemoryEstimate {
    let hosts = if Hosts::are_needed(network) { size_of::<Hosts>() } else { 0 };
    let access_queue = if AccessQueues::of(network).is_empty() { 0 } else { size_of::<AccessQueues>() };
    let channel = if Cells::are_used(network) { size_of::<Channel>() } else { 0 };
    // Without the queued packets, and with the slots in the calendar.
    let edge = if network.has_edges() { size_of::<Edge>() + size_of::<Option<Box<Edge>>>() + 4 * 16 } else { 0 };
    let has_bursts = network.groups.iter().any(|group| matches!(group.application, Some(ApplicationSpec::Bursts(_))));
    let application = if has_bursts { size_of::<Application>() } else { 0 };
    let message_flow = if network.messages.is_empty() { 0 } else { size_of::<Option<Box<MessageFlow>>>() };
    let has_watches = network.groups.iter().any(|group| group.transport.slow_start() != SlowStart::Standard);
    let watch = if has_watches { size_of::<SlowStartState>() } else { 0 };
    let has_usages = network.groups.iter().any(uses_are_remembered);
    let usage = if has_usages { size_of::<Usage>() } else { 0 };
    let expected_payload = if network.has_sized_datagrams() { size_of::<Bytes>() } else { 0 };
    let ends = hosts + access_queue + channel + edge + application;
    let flow = IDLE_FLOW + DESCRIBED_FLOW + ends + message_flow + watch + usage + expected_payload;
    let cold = Port::COLD_BYTES + size_of::<crate::network::Port>();
    let of = |count: usize, bytes: usize| count as u64 * bytes as u64;
    let beside = |flow: &crate::network::Flow| match &network.groups[flow.group].transport {
        // The requests of user code are not known here.
        Transport::Tcp(_, law) if law.abilities().subscriptions.is_any() || matches!(law, ControllerSpec::User(_)) => {
            let prices = size_of::<f64>() + size_of::<Estimators>() + SignalReader::BYTES_FOR_PRICES;
            (law.abilities().heap_bytes + size_of::<SignalReader>() + size_of::<ReceiverFeedback>() + prices) as u64
        }
        Transport::Tcp(_, law) => law.abilities().heap_bytes as u64,
        Transport::Datagram(_) => 0,
    };
    // With a copy of the controller, which is restored after a spurious loss.
    let recovery = |flow: &crate::network::Flow| match &network.groups[flow.group].transport {
        Transport::Tcp(spec, law) if spec.recovery.heap_bytes() > 0 => {
            (spec.recovery.heap_bytes() + law.abilities().heap_bytes) as u64
        }
        _ => 0,
    };
    // The sender's records of its first window, which has to be remembered even if it is lost, and of two that ignore losses.
    let outstanding = |flow: &network::Flow| match &network.groups[flow.group].transport {
        Transport::Tcp(spec, law) => {
            let windows = if law.abilities().ignores_losses { 2.0 } else { 1.0 };
            let segments = flow.size.map_or(f64::INFINITY, |size| size.0 as f64 / spec.mss.0 as f64);
            let segments = segments.min(windows * spec.initial_window).ceil() as usize;
            (segments.next_power_of_two() * spec.recovery.bytes_per_segment()) as u64
        }
        Transport::Datagram(_) => 0,
    };
    let of_segment = |group: &network::Group| match &group.transport {
        // A segment has a record at its sender, and each of its cells one in the network.
        Transport::Tcp(spec, _) => (spec.recovery.bytes_per_segment() as f64 / units(group)).ceil() as usize,
        Transport::Datagram(_) => 0,
    };
    let uses_prices = network
        .groups
        .iter()
        .any(|group| matches!(&group.transport, Transport::Tcp(_, law) if law.abilities().price_meaning.is_some()));
    let packet = size_of::<Packet>()
        + network.groups.iter().map(of_segment).max().unwrap_or(0)
        + if has_usages { Usage::BYTES_PER_SEGMENT } else { 0 }
        + if uses_prices { size_of::<NumberAndHeader>() } else { 0 };
    let packets = (POOL_SLACK * packets_in_flight(network) as f64) as u64;
    let reports = (POOL_SLACK * sack_reports_in_flight(network) as f64) as u64;
    // A full pool doubles. Each chunk has the number of the next.
    let listed: f64 = unlimited_buffers(network).iter().map(|buffer| buffer.listed).sum();
    let listed = (listed as u64).saturating_add(1).next_power_of_two();
    let chunk = CHUNK as usize * size_of::<QueuedUnit>() + size_of::<u32>();
    let listed = listed.saturating_mul(chunk as u64) / u64::from(CHUNK);
    MemoryEstimate {
        flows: DESCRIPTION
            + of(network.flows.len(), flow)
            + network.flows.iter().map(beside).sum::<u64>()
            + network.flows.iter().map(recovery).sum::<u64>()
            + network.flows.iter().map(outstanding).sum::<u64>()
            + of(network.ports.len(), size_of::<Port>() + cold)
            + of(queues_of_schedulers(network), MultiQueue::BYTES_PER_QUEUE)
            + policies_and_recordings(network)
            + varying_rates(network)
            + network.messages.values().map(message_bytes).sum::<u64>()
            + queue_flows(network),
        cold: of(network.ports.len(), cold),
        packets: packets
            .saturating_mul(packet as u64)
            .saturating_add(listed)
            .saturating_add(duplicated_datagrams(network).saturating_mul(BYTES_PER_DUPLICATED_DATAGRAM))
            .saturating_add(empty_places(Units(packets), network).saturating_mul(size_of::<Packet>() as u64))
            .saturating_add(reports.saturating_mul(size_of::<Report>() as u64)),
        traces: trace_bytes(network),
    }
}
