//! Structures derived from a network before the run starts: ports and their entries, paths, routes, and the range of event times.

mod merging;
mod plan;
mod unit_sizes;

pub(crate) use plan::FlowPlan;

use super::messages::Messages;
use super::path::{DeliveryCounts, Path, PathCounts};
use super::port::{Departures, Entry, MultiQueue, Port, PortRecording, PortSetup, QueuesOfFlows, Stepping};
use super::user_code_factory::UserCodeFactory;
use super::wire::{AccessRates, Wire};
use crate::network;
use crate::network::{ChangeKind, Network, Recording, Switching, TraceKind, Transport};
use crate::primitives::ids::FlowId;
use crate::primitives::ids::{GroupId, PortId};
use crate::primitives::pooled_queue::PooledQueue;
use crate::primitives::random::{Draws, Entity, Purpose, Stream};
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Bytes, Segments, TimeDelta};
use crate::queue::{Policies, PolicySpec};
use crate::tcp::TcpSpec;
use crate::tcp::receiver::Receiver;
use merging::{mark_gathering_ports, merging_ports};
use std::collections::BTreeSet;
use std::ops::Range;
pub(super) use unit_sizes::{ack_unit, data_unit};

/// The ports, and the port of each transmitter of the stepped ports. `rerouted`: flows whose route changes.
pub(crate) fn make_ports(network: &Network, rerouted: &BTreeSet<FlowId>, factory: &UserCodeFactory) -> (Vec<Port>, Vec<PortId>) {
    let changing = ports_that_change(network);
    let merging = merging_ports(network, &changing);
    let is_traced = |kind: TraceKind, port: PortId| {
        let mut traces = network.record.traces.iter().filter(|trace| trace.kind == kind);
        traces.any(|trace| trace.of.contains(&port.0))
    };
    let mut transmitters = Vec::new();
    let crossing = flows_crossing(network);
    let are_alike = units_alike(network);
    // User code runs in order of time, and the head of a packet leaves a shaper before its tokens are there.
    let has_heads = network.ports.iter().any(|port| port.switching == Switching::CutThrough);
    let in_order = has_heads || network.user_code().next().is_some();
    let mut make = |(index, spec): (PortId, &network::Port)| {
        let has_mixed_channels = spec.transmitters > 1 && !(rerouted.is_empty() && are_alike[index]);
        let by_event = network.stepped
            || has_mixed_channels
            || changing.contains(&index)
            || spec.varying.is_some()
            || spec.impairments.disturbs_arrivals();
        let acts_late = spec.policy.is_stepped() || spec.scheduling.is_some() || spec.shaper.is_some();
        let stepping = match () {
            () if by_event || (acts_late && (spec.transmitters > 1 || in_order)) => Stepping::Needed(Departures::Events),
            () if acts_late => Stepping::Needed(Departures::Deferred),
            () => Stepping::IfNeeded,
        };
        let first_transmitter = transmitters.len() as u32;
        let flows = &crossing[index];
        let policy = |(index, policy, flows): (u64, &PolicySpec, &[FlowId])| {
            let stream = Stream::new(Entity { seed: network.seed, name: &spec.name, index }, Purpose::Policy);
            match policy {
                PolicySpec::User(code) => {
                    Policies::user(factory.make(code, |extras| extras.policy(code, Draws::new(stream))), flows)
                }
                policy => Policies::new(policy, flows, stream),
            }
        };
        let (policies, multi_queue) = match &spec.scheduling {
            None => {
                let mut only = policy((0, &spec.policy, flows));
                for &flow in flows {
                    if let Some(rate) = network.groups[network.flows[flow].group].abr.and_then(|abr| abr.source.minimum) {
                        only.guarantee(flow, rate);
                    }
                }
                (vec![only], None)
            }
            Some(scheduling) => {
                let of_flows = QueuesOfFlows::new(network, spec, scheduling, flows);
                let specs = of_flows.specs(spec, scheduling, flows);
                let policies = (0..).zip(&specs).map(|(index, queue)| policy((index, queue.policy, &queue.flows))).collect();
                (policies, Some(MultiQueue::new(scheduling, of_flows, specs.len())))
            }
        };
        let Recording { delay_percentiles: percentiles, queue_flows: flows, .. } = network.record;
        let kept = PortRecording {
            percentiles,
            occupancy: is_traced(TraceKind::Queue, index),
            flows,
            departures: is_traced(TraceKind::Departures, index),
        };
        let setup = PortSetup { policies, multi_queue, kept, stepping, first_transmitter };
        let mut port = Port::new(spec, network, setup);
        if port.stepped().is_some() {
            transmitters.extend(std::iter::repeat_n(index, spec.transmitters as usize));
        }
        // A flow with route changes may feed a port alternately by different lines.
        let by_event = port.needs_present() || !rerouted.is_empty() || merging[index];
        port.entry = match spec.switching {
            Switching::CutThrough => Entry::Heads { by_event },
            Switching::StoreAndForward if by_event => Entry::ByEvent,
            Switching::StoreAndForward => Entry::Immediate,
        };
        port
    };
    let mut ports: Vec<Port> = PortId::enumerate(&network.ports).map(&mut make).collect();
    if rerouted.is_empty() {
        mark_gathering_ports(network, &mut ports);
    }
    (ports, transmitters)
}

/// For each port, the flows whose route crosses it now or after a change, in ascending order.
fn flows_crossing(network: &Network) -> Vec<Vec<FlowId>> {
    let mut crossing = vec![Vec::new(); network.ports.len()];
    if network.ports.iter().all(|port| port.scheduling.is_none() && !port.policy.tracks_flows()) {
        return crossing;
    }
    let now = FlowId::all(network.flows.len())
        .zip(&network.flows)
        .flat_map(|(index, flow)| [(index, flow.forward), (index, flow.backward)]);
    let later = network.changes.iter().filter_map(|change| match change.what {
        ChangeKind::Route(flow, forward, backward) => Some([(flow, forward), (flow, backward)]),
        _ => None,
    });
    for (flow, path) in now.chain(later.flatten()) {
        for &port in &network.paths[path as usize] {
            crossing[port].push(flow);
        }
    }
    for flows in &mut crossing {
        flows.sort_unstable();
        flows.dedup();
    }
    crossing
}

/// For each port, whether all units that cross it have the same size.
fn units_alike(network: &Network) -> Vec<bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum UnitSizes {
        None,
        One(Bytes),
        Mixed,
    }
    let mut crossing = vec![UnitSizes::None; network.ports.len()];
    if network.ports.iter().any(|port| port.transmitters > 1) {
        for flow in &network.flows {
            let group = &network.groups[flow.group];
            let ways = [(flow.forward, data_unit(flow, group)), (flow.backward, ack_unit(group))];
            for (path, unit) in ways {
                for &port in &network.paths[path as usize] {
                    let crossing = &mut crossing[port];
                    *crossing = match (*crossing, unit) {
                        (UnitSizes::None, Some(bytes)) => UnitSizes::One(bytes),
                        (UnitSizes::One(before), Some(bytes)) if before == bytes => UnitSizes::One(bytes),
                        _ => UnitSizes::Mixed,
                    };
                }
            }
        }
    }
    crossing.into_iter().map(|crossing| crossing != UnitSizes::Mixed).collect()
}

pub(crate) fn make_paths(network: &Network, rates: &AccessRates, messages: &Messages) -> Vec<Path> {
    let starts = route_starts(network);
    let make = |(id, flow): (FlowId, &network::Flow)| {
        let complete_at = match (&network.groups[flow.group].transport, messages.get(id)) {
            (Transport::Tcp(..), Some(messages)) => messages.awaited(),
            (Transport::Tcp(spec, _), _) => spec.end_of(segments_of(spec, flow.size)),
            (Transport::Datagram(_), _) => SegmentNumber::NONE,
        };
        Path {
            wire: Wire::new(flow, &starts, rates),
            carried: DeliveryCounts::default(),
            send: PooledQueue::default(),
            ack_line: PooledQueue::default(),
            complete_at,
            marked: 0,
            receiver: Receiver::new(),
            back: PooledQueue::default(),
            deliver: PooledQueue::default(),
            counts: PathCounts::default(),
        }
    };
    FlowId::enumerate(&network.flows).map(make).collect()
}

/// The flows of a group.
pub(crate) fn flows_of(network: &Network, group: GroupId) -> Range<FlowId> {
    let first = network.flows.partition_point(|flow| flow.group < group);
    let end = network.flows.partition_point(|flow| flow.group <= group);
    FlowId(first as u32)..FlowId(end as u32)
}

/// The first flow of each group. Flows of a group are adjacent, in the order of the groups.
pub(crate) fn first_flows(network: &Network) -> Vec<FlowId> {
    let mut first = vec![FlowId::default(); network.groups.len()];
    for (index, flow) in FlowId::enumerate(&network.flows).rev() {
        first[flow.group] = index;
    }
    first
}

/// Typical range of event times: a few times the longest delay.
pub(crate) fn reach(network: &Network) -> TimeDelta {
    let access = network.flows.iter().map(|flow| (flow.sender_access.delay + flow.receiver_access.delay).0).max();
    let shared = network.ports.iter().map(|port| port.delay.0).max();
    let longest = access.unwrap_or(0).saturating_add(shared.unwrap_or(0));
    TimeDelta(longest.saturating_mul(4).clamp(1_000_000, 1_000_000_000_000))
}

pub(crate) fn route_starts(network: &Network) -> Vec<u32> {
    let mut start = 0;
    let of_path = |path: &Vec<PortId>| {
        let here = start;
        start += path.len() as u32 + 1;
        here
    };
    network.paths.iter().map(of_path).collect()
}

fn ports_that_change(network: &Network) -> BTreeSet<PortId> {
    let port_of = |change: &network::Change| match change.what {
        ChangeKind::Rate(port, _)
        | ChangeKind::Delay(port, _)
        | ChangeKind::RandomLoss(port, _)
        | ChangeKind::Buffer(port, _) => Some(port),
        ChangeKind::Route(..) => None,
    };
    network.changes.iter().filter_map(port_of).collect()
}

/// Segments of a transfer; the largest number without a size.
pub(crate) fn segments_of(spec: &TcpSpec, size: Option<Bytes>) -> Segments {
    Segments(size.map_or(u32::MAX, |size| size.0.div_ceil(spec.mss.0) as u32))
}
