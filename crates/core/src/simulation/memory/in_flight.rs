//! Upper estimate of the number of packets in flight: bounded by the capacity of pipes and finite buffers, by windows, and by ACK clocking.

use crate::congestion::ControllerSpec;
use crate::network::{Buffer, ChangeKind, Delay, Flow, Group, Impairments, Network, Port, Transport};
use crate::primitives::ids::PortId;
use crate::primitives::sizes::CELL_BYTES;
use crate::primitives::units::{Bytes, Time, TimeDelta};
use crate::queue::PolicySpec;
use crate::simulation::wiring::{ack_unit, data_unit};
use crate::tcp::SlowStart;
use crate::traffic::{DatagramSpec, PacketSize};
use std::collections::{BTreeMap, BTreeSet};

/// An upper estimate of the packets in flight, in packets of the smallest full size, or in cells if any flow has them. Packets in unlimited
/// buffers count as [`unlimited_buffers`] bounds them.
pub(super) fn packets_in_flight(network: &Network) -> u64 {
    let stored: f64 = unlimited_buffers(network).iter().map(|buffer| buffer.packets).sum();
    (pipes_and_buffers(network) + stored).min(windows(network)).min(clocked(network)) as u64
}

/// The port that may hold the most packets, with its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FullestPort {
    pub port: PortId,
    /// In packets of the smallest full size, or in cells.
    pub packets: u64,
    pub held_in: HeldIn,
}

/// Where a port or its link holds most of its packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldIn {
    Link,
    Buffer,
    UnlimitedBuffer,
}

/// The largest part of the estimate of packets in flight, unless windows limit them.
pub fn fullest_port(network: &Network) -> Option<FullestPort> {
    let records = records_per_place(network);
    let buffers = places(network, smallest_packet(network)).into_iter().zip(&records).map(|(places, records)| places * records);
    let unlimited = unlimited_buffers(network).into_iter().map(|buffer| buffer.packets + buffer.listed);
    let of_port = |(port, ((pipe, buffer), unlimited)): (usize, ((f64, f64), f64))| {
        let parts = [(pipe, HeldIn::Link), (buffer, HeldIn::Buffer), (unlimited, HeldIn::UnlimitedBuffer)];
        parts.map(|(packets, held_in)| FullestPort { port: PortId(port as u32), packets: packets as u64, held_in })
    };
    let all = pipes_of_ports(network).into_iter().zip(buffers).zip(unlimited).enumerate();
    all.flat_map(of_port).max_by_key(|part| part.packets)
}

/// Estimated contents of the unlimited buffer of a port at its maximum; 0 if the buffer is finite.
#[derive(Clone, Copy, Default)]
pub(super) struct UnlimitedBuffer {
    /// Packets that are stored, in packets of the smallest full size.
    packets: f64,
    /// Datagrams that are listed in ports that compute departures ahead. The packets themselves have left such a port.
    pub(super) listed: f64,
}

/// Packets that may wait in unlimited buffers: sources send more than the link carries, and windows grow without a loss.
pub(super) fn unlimited_buffers(network: &Network) -> Vec<UnlimitedBuffer> {
    let smallest = smallest_packet(network);
    let mut offered = vec![Offered::default(); network.ports.len()];
    let narrowest = narrowest_ports(network);
    for flow in &network.flows {
        let group = &network.groups[flow.group];
        let end = if flow.stop == Time::NEVER { Time::ZERO + network.duration } else { flow.stop };
        let seconds = end.since(flow.start).seconds().min(network.duration.seconds());
        let Some(port) = narrowest[flow.forward as usize] else { continue };
        let of = &mut offered[port];
        match &group.transport {
            Transport::Datagram(spec) => {
                let all = flow.size.map_or(f64::INFINITY, |size| spec.datagrams_of(size));
                let datagrams = (spec.per_second().unwrap_or(0.0) * seconds).min(all);
                // Random numbers of arrivals exceed their mean.
                of.count += (datagrams + 3.0 * datagrams.sqrt()).min(all);
                of.datagrams += datagrams * full_packet(group).0 as f64 / smallest;
            }
            Transport::Tcp(spec, law) if law.abilities().ends_slow_start => {
                let size = flow.size.map_or(f64::INFINITY, |size| size.0 as f64 / spec.mss.0 as f64);
                of.windows += size.min(f64::from(spec.receiver_window.0));
                of.first_windows += spec.initial_window;
                of.increase = of.increase.max(if grows_until_a_loss(group) { 1.0 } else { MEAN_INCREASE_IN_AVOIDANCE });
            }
            Transport::Tcp(..) => {}
        }
    }
    let lists = units_are_mixed(network);
    let of_port = |((port, of), units_are_mixed): ((&Port, &Offered), bool)| {
        let mut held = UnlimitedBuffer::default();
        if port.buffer != Buffer::Unlimited {
            return held;
        }
        let capacity = rate(port) * network.duration.seconds() / 8.0 / smallest;
        let has_no_losses = matches!(port.policy, PolicySpec::DropTail(())) && port.scheduling.is_none();
        // Windows grow by acknowledgements. At best they keep up with the link, and share it with the datagrams.
        let acknowledged = capacity * capacity / (capacity + of.datagrams);
        let windows = if has_no_losses { of.windows.min(of.first_windows + of.increase * acknowledged) } else { 0.0 };
        let waiting = (of.datagrams - capacity).max(0.0);
        let is_stored = port.scheduling.is_some() || port.shaper.is_some() || port.policy.is_stepped();
        held.packets = windows + if is_stored { waiting } else { 0.0 };
        if waiting > 0.0 && !is_stored && (units_are_mixed || !has_no_losses) {
            held.listed = of.count * waiting / of.datagrams;
        }
        held
    };
    network.ports.iter().zip(&offered).zip(lists).map(of_port).collect()
}

/// Increase of a window per acknowledged segment in congestion avoidance, on average over a run. That of CUBIC is at most 0.5 (RFC 9438,
/// section 4.4).
const MEAN_INCREASE_IN_AVOIDANCE: f64 = 0.2;

/// Cells of a full packet, or of the largest if sizes are random; 1 without cells.
pub(super) fn units(group: &Group) -> f64 {
    let drawn = match &group.transport {
        Transport::Datagram(DatagramSpec {
            packet: PacketSize::Exponential { maximum, .. } | PacketSize::Given { maximum },
            header,
            ..
        }) => *maximum + *header,
        _ => Bytes(1),
    };
    group.framing.map_or(1.0, |framing| framing.cells(group.transport.full_packet().unwrap_or(drawn)).0 as f64)
}

/// For each port, whether units of several sizes cross it.
fn units_are_mixed(network: &Network) -> Vec<bool> {
    let mut sizes: Vec<BTreeSet<Option<Bytes>>> = vec![BTreeSet::new(); network.ports.len()];
    for flow in &network.flows {
        let group = &network.groups[flow.group];
        let data = match &group.transport {
            Transport::Datagram(DatagramSpec { packet: PacketSize::Fixed(bytes), header, .. }) => Some(*bytes + *header),
            _ => data_unit(flow, group),
        };
        network.paths[flow.forward as usize].iter().for_each(|&port| _ = sizes[port].insert(data));
        if let Some(bytes) = ack_unit(group) {
            network.paths[flow.backward as usize].iter().for_each(|&port| _ = sizes[port].insert(Some(bytes)));
        }
    }
    sizes.into_iter().map(|sizes| sizes.len() > 1 || sizes.contains(&None)).collect()
}

/// Packets that flows may send over a port during the run.
#[derive(Clone, Default)]
struct Offered {
    /// In packets of the smallest full size.
    datagrams: f64,
    count: f64,
    windows: f64,
    first_windows: f64,
    /// Maximum increase of a window per acknowledged segment.
    increase: f64,
}

/// Whether slow start ends only with a loss.
fn grows_until_a_loss(group: &Group) -> bool {
    let Transport::Tcp(spec, law) = &group.transport else { return false };
    spec.slow_start == SlowStart::Standard && law.abilities().ends_slow_start
}

/// An upper estimate of the acknowledgements in flight with SACK blocks: those in pipes, because few wait in queues.
pub(super) fn sack_reports_in_flight(network: &Network) -> u64 {
    let uses_sack = |group: &Group| matches!(&group.transport, Transport::Tcp(spec, _) if spec.recovery.uses_sack());
    if network.groups.iter().any(uses_sack) { pipes(network).min(packets_in_flight(network) as f64) as u64 } else { 0 }
}

/// Capacity of all pipes and buffers.
fn pipes_and_buffers(network: &Network) -> f64 {
    let places = places(network, smallest_packet(network)).into_iter().zip(records_per_place(network));
    let buffers: f64 = places.map(|(places, records)| places * records).sum();
    pipes(network) + buffers + network.flows.iter().map(|flow| waiting_at_edge(network, flow)).sum::<f64>()
}

/// Capacity of all pipes.
fn pipes(network: &Network) -> f64 {
    pipes_of_ports(network).into_iter().sum()
}

/// Capacity of the pipe behind each port. The pipes between ends and ports count at the rate of each port.
fn pipes_of_ports(network: &Network) -> Vec<f64> {
    // Over less than a second, a rate that varies may exceed its mean.
    let rate = |port: &Port| port.varying.as_ref().map_or(port.rate.0, |rate| rate.highest_rate().0);
    let mut fastest: Vec<u64> = network.ports.iter().map(rate).collect();
    let mut longest: Vec<TimeDelta> = network.ports.iter().map(with_jitter).collect();
    for change in &network.changes {
        match change.what {
            ChangeKind::Rate(port, rate) => fastest[port] = fastest[port].max(rate.0),
            ChangeKind::Delay(port, delay) => longest[port] = longest[port].max(delay),
            ChangeKind::Route(..) | ChangeKind::RandomLoss(..) | ChangeKind::Buffer(..) => {}
        }
    }
    let smallest = smallest_packet(network);
    let of_ends = |flow: &Flow| flow.sender_access.delay + flow.receiver_access.delay;
    let ends = network.flows.iter().map(of_ends).max().unwrap_or(TimeDelta::ZERO);
    let of_port = |(port, (rate, delay)): (&Port, (u64, TimeDelta))| {
        let copies = 1.0 + port.impairments.duplication;
        rate as f64 * f64::from(port.transmitters) * (delay + ends).seconds() / 8.0 / smallest * copies
    };
    let pipes = network.ports.iter().zip(fastest.into_iter().zip(longest)).map(of_port);
    pipes.zip(records_per_place(network)).map(|(pipe, records)| pipe * records).collect()
}

/// Maximum number of packets of a flow that wait at the edge of its virtual channel.
fn waiting_at_edge(network: &Network, flow: &Flow) -> f64 {
    let group = &network.groups[flow.group];
    match group.abr.as_ref().map(|abr| abr.buffer) {
        Some(Buffer::Units(packets)) => packets as f64,
        Some(Buffer::Bytes(bytes)) => bytes as f64 / group.transport.full_packet().unwrap_or(Bytes(1)).max(Bytes(1)).0 as f64,
        Some(Buffer::Unlimited) | None => 0.0,
    }
}

/// Stored packets or cells per place of each port and its link. A packet in cells is one record until its first cell enters the network. On
/// its way to a receiver only its last cell is stored, unless the cells wait in the port. A port without data has acknowledgements only.
fn records_per_place(network: &Network) -> Vec<f64> {
    let framed: Vec<&Group> = network.groups.iter().filter(|group| group.framing.is_some()).collect();
    let Some(cells) = framed.iter().map(|group| units(group)).min_by(f64::total_cmp) else {
        return vec![1.0; network.ports.len()];
    };
    let of_ack = framed.iter().map(|group| group.ack_cells().0 as f64).fold(1.0, f64::max);
    let (mut has_data, mut is_behind) = (vec![false; network.ports.len()], vec![false; network.ports.len()]);
    for flow in &network.flows {
        network.paths[flow.forward as usize].iter().for_each(|port| has_data[port.index()] = true);
        for path in [flow.forward, flow.backward] {
            network.paths[path as usize].iter().skip(1).for_each(|port| is_behind[port.index()] = true);
        }
    }
    let of_port = |(index, port): (usize, &Port)| {
        let computes_departures =
            matches!(port.policy, PolicySpec::DropTail(())) && port.scheduling.is_none() && port.shaper.is_none();
        let is_stored = !computes_departures || is_behind[index];
        match (has_data[index], is_stored) {
            (false, _) => (of_ack / cells).min(1.0),
            (true, false) => 1.0 / cells,
            (true, true) => 1.0,
        }
    };
    network.ports.iter().enumerate().map(of_port).collect()
}

/// A link's delay including nearly all of the jitter.
fn with_jitter(port: &Port) -> TimeDelta {
    let added = match port.impairments.jitter.map(|jitter| jitter.delay) {
        None => TimeDelta::ZERO,
        Some(Delay::Fixed(max) | Delay::Uniform(_, max)) => max,
        Some(Delay::Exponential(mean)) => TimeDelta(mean.0.saturating_mul(2)),
        Some(Delay::Normal(mean, deviation)) => mean + deviation + deviation,
    };
    port.delay + added
}

/// Windows in packets or cells. A window is at most the receiver window, and at most the size of the transfer plus the opening of the connection.
fn windows(network: &Network) -> f64 {
    let window = |flow: &Flow| match &network.groups[flow.group].transport {
        Transport::Tcp(spec, _) => {
            let segments = flow.size.map_or(f64::INFINITY, |size| (size.0 as f64 / spec.mss.0 as f64).ceil() + 1.0);
            segments.min(f64::from(spec.receiver_window.0)) * units(&network.groups[flow.group])
        }
        Transport::Datagram(_) => f64::INFINITY,
    };
    network.flows.iter().map(window).sum()
}

/// Packets in flight of ACK-clocked senders: acknowledgements per round trip and the window increase that they cause, queued packets, and
/// initial windows. The rate of acknowledgements is bounded by the narrowest ports, one per path. The result is infinite if a sender has a
/// rate of its own, if a narrowest port has an unlimited buffer, or if the network changes, including by a rate that varies, jitter or
/// duplication.
fn clocked(network: &Network) -> f64 {
    let is_clocked = |group: &Group| match &group.transport {
        Transport::Tcp(_, ControllerSpec::User(_)) | Transport::Datagram(_) => false,
        Transport::Tcp(_, law) => !law.abilities().may_pace,
    };
    let changes = |port: &Port| port.varying.is_some() || port.impairments != Impairments::default();
    if !network.groups.iter().all(is_clocked) || !network.changes.is_empty() || network.ports.iter().any(changes) {
        return f64::INFINITY;
    }
    let narrowest = narrowest_ports(network);
    // The longest round trip through each narrowest port.
    let mut longest_rtts: BTreeMap<PortId, TimeDelta> = BTreeMap::new();
    let (mut first_windows, mut opens) = (0.0, 1.0_f64);
    for flow in &network.flows {
        let Some(port) = narrowest[flow.forward as usize] else { return f64::INFINITY };
        let longest = longest_rtts.entry(port).or_insert(TimeDelta::ZERO);
        *longest = (*longest).max(network.base_rtt(flow));
        if let Transport::Tcp(spec, _) = &network.groups[flow.group].transport {
            first_windows += spec.initial_window * units(&network.groups[flow.group]);
        }
    }
    for group in &network.groups {
        if let Transport::Tcp(_, law) = &group.transport {
            opens = opens.max(law.abilities().max_increase);
        }
    }
    let smallest = smallest_packet(network);
    let records = records_per_place(network);
    let places: Vec<f64> =
        places(network, smallest).into_iter().zip(&records).map(|(places, records)| places * records).collect();
    let comes_back = |(&port, &round): (&PortId, &TimeDelta)| match network.ports[port].buffer {
        Buffer::Unlimited => f64::INFINITY,
        _ => {
            (1.0 + opens) * (records[port.index()] * rate(&network.ports[port]) * round.seconds() / 8.0 / smallest + places[port])
        }
    };
    let wait_elsewhere = places.iter().sum::<f64>();
    longest_rtts.iter().map(comes_back).sum::<f64>() + wait_elsewhere + first_windows
}

/// The port of each path with the lowest rate per flow of data.
fn narrowest_ports(network: &Network) -> Vec<Option<PortId>> {
    let mut crossing = vec![0_u64; network.ports.len()];
    for flow in &network.flows {
        network.paths[flow.forward as usize].iter().for_each(|&port| crossing[port] += 1);
    }
    let share = |port: &PortId| rate(&network.ports[*port]) / crossing[*port] as f64;
    let narrowest =
        |path: &Vec<PortId>| path.iter().copied().filter(|&port| crossing[port] > 0).min_by(|a, b| share(a).total_cmp(&share(b)));
    network.paths.iter().map(narrowest).collect()
}

/// Bit rate of all transmitters.
fn rate(port: &Port) -> f64 {
    port.rate.0 as f64 * f64::from(port.transmitters)
}

/// Whether a flow's window may grow in an unlimited buffer.
pub(super) fn is_unlimited(network: &Network) -> bool {
    let narrowest = narrowest_ports(network);
    let of_flow =
        |flow: &Flow| narrowest[flow.forward as usize].is_some_and(|port| network.ports[port].buffer == Buffer::Unlimited);
    network.flows.iter().any(of_flow)
}

/// Maximum capacity in packets of each port's finite buffer over the run.
pub(super) fn places(network: &Network, smallest: f64) -> Vec<f64> {
    let of_buffer = |buffer| match buffer {
        Buffer::Units(units) => units as f64,
        Buffer::Bytes(bytes) => bytes as f64 / smallest,
        Buffer::Unlimited => 0.0,
    };
    let mut places: Vec<f64> = network.ports.iter().map(|port| of_buffer(port.buffer)).collect();
    for change in &network.changes {
        if let ChangeKind::Buffer(port, buffer) = change.what {
            places[port] = places[port].max(of_buffer(buffer));
        }
    }
    places
}

/// Smallest full packet of all groups, in bytes.
fn smallest_packet(network: &Network) -> f64 {
    network.groups.iter().map(full_packet).min().unwrap_or(Bytes(1000)).max(Bytes(1)).0 as f64
}

/// Size of the smallest packet with a full payload.
fn full_packet(group: &Group) -> Bytes {
    match &group.transport {
        _ if group.framing.is_some() => CELL_BYTES,
        Transport::Tcp(spec, _) => spec.mss + spec.header,
        Transport::Datagram(spec) => match spec.packet {
            PacketSize::Fixed(bytes) => bytes + spec.header,
            _ => Bytes(64),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::trace_rows::tests::traced;
    use super::*;
    use crate::network::{AccessLink, Change};
    use crate::primitives::units::Rate;
    use crate::simulation::Engine;

    /// Maximum number of packets in flight of a run, each line rounded up to a chunk.
    fn max_in_flight(network: &Network) -> u64 {
        let mut engine = Engine::new(network.clone());
        engine.run_until(Time::NEVER);
        engine.fabric.packets.places() as u64
    }

    #[test]
    fn the_capacity_of_a_trunk_is_the_sum_over_its_channels() {
        let mut network = traced(1, 5, &[]);
        // The packets of a single flow are computed ahead and not stored.
        network.flows.push(Flow { start: Time::ZERO + TimeDelta::from_millis(1), ..network.flows[0].clone() });
        network.ports[0].transmitters = 50;
        network.ports[1].rate = Rate(50_000_000);
        network.ports.iter_mut().for_each(|port| port.delay = TimeDelta::from_millis(100));
        // 50 Mbit/s for 100 ms in packets of 1000 bytes, both ways, and 100 places.
        assert_eq!(packets_in_flight(&network), 2 * 625 + 2 * 100);
        let max = max_in_flight(&network);
        assert!((500..=2 * packets_in_flight(&network)).contains(&max), "{max}");
    }

    #[test]
    fn links_count_with_their_highest_rate_and_longest_delay() {
        let mut network = traced(1, 5, &[]);
        let at = |seconds, what| Change { at: Time::ZERO + TimeDelta::from_seconds(seconds), what };
        network.changes = vec![
            at(1.0, ChangeKind::Rate(PortId(0), Rate(10_000_000))),
            at(2.0, ChangeKind::Delay(PortId(0), TimeDelta::from_millis(800))),
        ];
        // 10 Mbit/s for 800 ms on the forward path, 1 Mbit/s for 10 ms on the reverse path.
        assert_eq!(packets_in_flight(&network), 1000 + 1 + 2 * 100);
    }

    #[test]
    fn the_narrow_trunk_limits_the_packets_in_wide_edges() {
        // Four edges of 40 Mbit/s before a trunk of 2 Mbit/s, and hosts at 100 ms: the edges' pipes alone would hold 2000 packets.
        let mut network = traced(2, 20, &[]);
        network.ports[0].buffer = Buffer::Units(5);
        let edge = Port { rate: Rate(40_000_000), delay: TimeDelta::ZERO, buffer: Buffer::Unlimited, ..network.ports[0].clone() };
        let flow =
            Flow { sender_access: AccessLink { rate: None, delay: TimeDelta::from_millis(90) }, ..network.flows[0].clone() };
        (network.flows, network.paths) = (Vec::new(), vec![vec![PortId(1)]]);
        for index in 0..4 {
            network.ports.push(Port { name: format!("edge {index}"), ..edge.clone() });
            network.paths.push(vec![PortId(2 + index), PortId(0)]);
            let start = Time::ZERO + TimeDelta::from_millis(u64::from(index));
            network.flows.push(Flow { forward: 1 + index, backward: 0, start, ..flow.clone() });
        }
        // Twice the following: 2 Mbit/s over 200 ms of delays and 4.5 ms of transmission, in packets of 1000 bytes, and the five places. To
        // this are added the five places, the 100 of the reverse path, and four initial windows.
        assert_eq!(packets_in_flight(&network), 2 * (51 + 5) + 5 + 100 + 4 * 10);
        let max = max_in_flight(&network);
        assert!((50..=2 * packets_in_flight(&network)).contains(&max), "{max}");
    }
}
