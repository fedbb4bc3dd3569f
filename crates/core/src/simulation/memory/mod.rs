//! What a run takes in memory at most, estimated before it, so that one that cannot fit is refused.

mod in_flight;
mod trace_rows;

use super::adaptation::Channel;
use super::edge::Edge;
use super::facts::uses_are_remembered;
use super::hosts::Hosts;
use super::path::Path;
use super::port::{Passed, Port, Sharing};
use super::senders::End;
use super::wiring::{Plan, has_channels};
use crate::congestion::ControllerSpec;
use crate::network::{self, DeliveryTrace, Network, Queues, Scheduling, Transport};
use crate::price::Estimators;
use crate::primitives::line::CHUNK;
use crate::primitives::packet::{NumberAndHeader, Packet};
use crate::primitives::signal::Told;
use crate::primitives::units::Units;
use crate::tcp::Recovery;
use crate::tcp::SlowStart;
use crate::tcp::recovery::rack_tlp::RackTlp;
use crate::tcp::signal_reader::SignalReader;
use crate::tcp::slow_start::Watch;
use crate::tcp::validation::Usage;
use crate::traffic::Application;
use in_flight::packets_in_flight;
use trace_rows::trace_bytes;
pub use trace_rows::trace_rows;

/// Bytes that the engine keeps for a flow with nothing in flight: its path, its sender, its plan and its calendar slots.
const IDLE_FLOW: usize = size_of::<Path>() + size_of::<End>() + size_of::<Plan>() + 8 * 16;
const _: () = assert!(IDLE_FLOW <= 512, "4,000,000 flows have to fit in 2 GB");

/// Bytes that a run takes at most, beside the network's description.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryEstimate {
    /// Flows and ports.
    pub flows: u64,
    /// Of that, what only one of the parts of a shared run has.
    pub apart: u64,
    /// The packets that fit in pipes and buffers.
    pub packets: u64,
    /// The rows of all traces.
    pub traces: u64,
}

impl MemoryEstimate {
    pub fn total(&self) -> u64 {
        self.flows.saturating_add(self.packets).saturating_add(self.traces)
    }

    /// The same for a run that so many threads share: each has flows and ports, and at the end there is a whole beside the parts.
    pub fn shared_by(self, threads: usize) -> MemoryEstimate {
        let of_each = (self.flows - self.apart).saturating_mul(threads as u64 + 1);
        MemoryEstimate {
            flows: of_each.saturating_add(self.apart.saturating_mul(2)),
            apart: self.apart,
            packets: self.packets.saturating_mul(2),
            traces: self.traces.saturating_mul(2),
        }
    }
}

/// Queues of all ports that have several, at most.
fn queues_of_schedulers(network: &Network) -> usize {
    let of_flows: Vec<bool> = network
        .ports
        .iter()
        .map(|port| matches!(&port.scheduling, Some(Scheduling { queues: Queues::OfFlows | Queues::Hashed(_), .. })))
        .collect();
    let of_classes = |port: &network::Port| match &port.scheduling {
        Some(Scheduling { queues, .. }) => queues.class_names().len(),
        None => 0,
    };
    let classes: usize = network.ports.iter().map(of_classes).sum();
    if !of_flows.contains(&true) {
        return classes;
    }
    // A hash has no more queues than flows.
    let crossed: Vec<usize> =
        network.paths.iter().map(|path| path.iter().filter(|&&port| of_flows[port as usize]).count()).collect();
    classes + network.flows.iter().map(|flow| crossed[flow.forward as usize] + crossed[flow.backward as usize]).sum::<usize>()
}

/// Traces of when links can send, each once.
fn delivery_traces(network: &Network) -> u64 {
    let mut traces: Vec<&DeliveryTrace> = Vec::new();
    for trace in network.ports.iter().filter_map(|port| port.trace.as_ref()) {
        if !traces.iter().any(|known| known.shares_data_with(trace)) {
            traces.push(trace);
        }
    }
    traces.iter().map(|trace| trace.memory()).sum()
}

/// What queues count of flows, if they are asked to.
fn flows_of_queues(network: &Network) -> u64 {
    if !network.record.flows_of_queues {
        return 0;
    }
    let ports = |path: u32| network.paths[path as usize].len() as u64;
    let counted: u64 = network.flows.iter().map(|flow| ports(flow.forward) + ports(flow.backward)).sum();
    // A row of the table beside an entry of a tree.
    counted.saturating_mul(2 * size_of::<Passed>() as u64 + 64)
}

/// Places that the first and the last chunk of each line leave empty: of those of a flow, and of a port. A few in each line, or as many as there
/// are packets.
fn empty_places(packets: Units, network: &Network) -> u64 {
    let lines = 4 * network.flows.len() as u64 + network.ports.len() as u64;
    packets.0.min(lines.saturating_mul(2 * u64::from(CHUNK - 1)))
}

/// Estimate what a run of this network takes.
pub fn memory_estimate(network: &Network) -> MemoryEstimate {
    let hosts = if Hosts::are_needed(network) { size_of::<Hosts>() } else { 0 };
    let channel = if has_channels(network) { size_of::<Channel>() } else { 0 };
    // Beside the packets that wait, and the slots in the calendar.
    let edge = if network.has_edges() { size_of::<Edge>() + size_of::<Option<Box<Edge>>>() + 4 * 16 } else { 0 };
    let has_applications = network.groups.iter().any(|group| group.application.is_some());
    let application = if has_applications { size_of::<Application>() } else { 0 };
    let has_watches = network.groups.iter().any(|group| group.transport.slow_start() != SlowStart::Standard);
    let watch = if has_watches { size_of::<Watch>() } else { 0 };
    let has_usages = network.groups.iter().any(uses_are_remembered);
    let usage = if has_usages { size_of::<Usage>() } else { 0 };
    let flow = IDLE_FLOW + hosts + channel + edge + application + watch + usage;
    let apart = Port::BYTES_APART + size_of::<crate::network::Port>();
    let of = |count: usize, bytes: usize| count as u64 * bytes as u64;
    let beside = |flow: &crate::network::Flow| match &network.groups[flow.group as usize].transport {
        // What user code will ask for is not known here.
        Transport::Tcp(_, law) if law.asks_for().anything() || matches!(law, ControllerSpec::User(_)) => {
            let prices = size_of::<f64>() + size_of::<Estimators>() + SignalReader::BYTES_FOR_PRICES;
            (law.bytes_beside() + size_of::<SignalReader>() + size_of::<Told>() + prices) as u64
        }
        Transport::Tcp(_, law) => law.bytes_beside() as u64,
        Transport::Datagram(_) => 0,
    };
    let by_time = |flow: &crate::network::Flow| match &network.groups[flow.group as usize].transport {
        Transport::Tcp(spec, law) if spec.recovery == Recovery::RackTlp => (size_of::<RackTlp>() + law.bytes_beside()) as u64,
        _ => 0,
    };
    let goes_by_prices =
        network.groups.iter().any(|group| matches!(&group.transport, Transport::Tcp(_, law) if law.goes_by().is_some()));
    let known_by_time: u64 = network.flows.iter().map(by_time).sum();
    let packet = size_of::<Packet>()
        + if known_by_time > 0 { RackTlp::BYTES_PER_SEGMENT } else { 0 }
        + if has_usages { Usage::BYTES_PER_SEGMENT } else { 0 }
        + if goes_by_prices { size_of::<NumberAndHeader>() } else { 0 };
    let packets = packets_in_flight(network);
    MemoryEstimate {
        flows: of(network.flows.len(), flow)
            + network.flows.iter().map(beside).sum::<u64>()
            + known_by_time
            + of(network.ports.len(), size_of::<Port>() + apart)
            + of(queues_of_schedulers(network), Sharing::BYTES_PER_QUEUE)
            + delivery_traces(network)
            + flows_of_queues(network),
        apart: of(network.ports.len(), apart),
        packets: packets
            .saturating_mul(packet as u64)
            .saturating_add(empty_places(Units(packets), network).saturating_mul(size_of::<Packet>() as u64)),
        traces: trace_bytes(network),
    }
}
