//! How many packets are in flight at most: what the pipes and the finite buffers hold, what windows allow, or what acknowledgements set going.

use crate::congestion::ControllerSpec;
use crate::network::{Buffer, ChangeKind, Delay, Flow, Group, Impairments, Network, Port, Transport};
use crate::primitives::sizes::CELL_BYTES;
use crate::primitives::units::{Bytes, Span};
use crate::traffic::PacketSize;
use std::collections::BTreeMap;

/// An upper estimate of the packets in flight, in packets of the smallest full size. What waits where there is room for everything counts
/// only as far as it would fit in the pipes.
pub(super) fn packets_in_flight(network: &Network) -> u64 {
    pipes_and_buffers(network).min(windows(network)).min(clocked(network)) as u64
}

/// What all pipes and buffers hold, the pipes between ends and ports as fast as each of these.
fn pipes_and_buffers(network: &Network) -> f64 {
    // In less than a second a trace may bring more than its mean.
    let rate = |port: &Port| port.trace.as_ref().map_or(port.rate.0, |trace| trace.highest_rate().0);
    let mut fastest: Vec<u64> = network.ports.iter().map(rate).collect();
    let mut longest: Vec<Span> = network.ports.iter().map(with_jitter).collect();
    for change in &network.changes {
        match change.what {
            ChangeKind::Rate(port, rate) => fastest[port as usize] = fastest[port as usize].max(rate.0),
            ChangeKind::Delay(port, delay) => longest[port as usize] = longest[port as usize].max(delay),
            ChangeKind::Route(..) | ChangeKind::RandomLoss(..) | ChangeKind::Buffer(..) => {}
        }
    }
    let smallest = smallest_packet(network);
    let of_ends = |flow: &Flow| flow.sender_access.delay + flow.receiver_access.delay;
    let ends = network.flows.iter().map(of_ends).max().unwrap_or(Span::ZERO);
    let of_port = |(port, (rate, delay)): (&Port, (u64, Span))| {
        let copies = 1.0 + port.impairments.duplication;
        rate as f64 * f64::from(port.transmitters) * (delay + ends).seconds() / 8.0 / smallest * copies
    };
    let pipes: f64 = network.ports.iter().zip(fastest.into_iter().zip(longest)).map(of_port).sum();
    pipes + places(network, smallest).iter().sum::<f64>()
}

/// A link's delay with what jitter mostly adds at most.
fn with_jitter(port: &Port) -> Span {
    let added = match port.impairments.jitter.map(|jitter| jitter.delay) {
        None => Span::ZERO,
        Some(Delay::Fixed(most) | Delay::Uniform(_, most)) => most,
        Some(Delay::Exponential(mean)) => Span(mean.0.saturating_mul(2)),
        Some(Delay::Normal(mean, deviation)) => mean + deviation + deviation,
    };
    port.delay + added
}

/// No window holds more than the receivers allow, or than there is to transfer, with what opens the connection.
fn windows(network: &Network) -> f64 {
    let window = |flow: &Flow| match &network.groups[flow.group as usize].transport {
        Transport::Tcp(spec, _) => {
            let segments = flow.size.map_or(f64::INFINITY, |size| (size.0 as f64 / spec.mss.0 as f64).ceil() + 1.0);
            segments.min(f64::from(spec.receiver_window.0))
        }
        Transport::Datagram(_) => f64::INFINITY,
    };
    network.flows.iter().map(window).sum()
}

/// What senders that follow their acknowledgements have under way: what comes back within a round trip and by how much that opens
/// windows, what waits, and first windows. No more comes back than the narrowest ports let through, one of each way. Infinite where a
/// rate of its own sends, where a narrowest port has room for everything, or where something changes, also by a trace, jitter or copies.
fn clocked(network: &Network) -> f64 {
    let is_clocked = |group: &Group| match &group.transport {
        Transport::Tcp(_, ControllerSpec::User(_)) | Transport::Datagram(_) => false,
        Transport::Tcp(_, law) => !law.may_pace(),
    };
    let changes = |port: &Port| port.trace.is_some() || port.impairments != Impairments::default();
    if !network.groups.iter().all(is_clocked) || !network.changes.is_empty() || network.ports.iter().any(changes) {
        return f64::INFINITY;
    }
    let mut crossing = vec![0_u64; network.ports.len()];
    for flow in &network.flows {
        network.paths[flow.forward as usize].iter().for_each(|&port| crossing[port as usize] += 1);
    }
    let rate = |port: u32| {
        let port = &network.ports[port as usize];
        port.rate.0 as f64 * f64::from(port.transmitters)
    };
    let share = |port: &u32| rate(*port) / crossing[*port as usize] as f64;
    let narrowest: Vec<Option<u32>> = network
        .paths
        .iter()
        .map(|path| path.iter().copied().filter(|&port| crossing[port as usize] > 0).min_by(|a, b| share(a).total_cmp(&share(b))))
        .collect();
    // Each narrowest port with the longest round trip through it.
    let mut through: BTreeMap<u32, Span> = BTreeMap::new();
    let (mut first_windows, mut opens) = (0.0, 1.0_f64);
    for flow in &network.flows {
        let Some(port) = narrowest[flow.forward as usize] else { return f64::INFINITY };
        let longest = through.entry(port).or_insert(Span::ZERO);
        *longest = (*longest).max(network.base_rtt(flow));
        if let Transport::Tcp(spec, _) = &network.groups[flow.group as usize].transport {
            first_windows += spec.initial_window;
        }
    }
    for group in &network.groups {
        if let Transport::Tcp(_, law) = &group.transport {
            opens = opens.max(law.opens());
        }
    }
    let smallest = smallest_packet(network);
    let places = places(network, smallest);
    let comes_back = |(&port, &round): (&u32, &Span)| match network.ports[port as usize].buffer {
        Buffer::Unlimited => f64::INFINITY,
        _ => (1.0 + opens) * (rate(port) * round.seconds() / 8.0 / smallest + places[port as usize]),
    };
    let wait_elsewhere = places.iter().sum::<f64>();
    through.iter().map(comes_back).sum::<f64>() + wait_elsewhere + first_windows
}

/// Packets that each port's finite buffer ever has room for.
pub(super) fn places(network: &Network, smallest: f64) -> Vec<f64> {
    let of_buffer = |buffer| match buffer {
        Buffer::Units(units) => units as f64,
        Buffer::Bytes(bytes) => bytes as f64 / smallest,
        Buffer::Unlimited => 0.0,
    };
    let mut places: Vec<f64> = network.ports.iter().map(|port| of_buffer(port.buffer)).collect();
    for change in &network.changes {
        if let ChangeKind::Buffer(port, buffer) = change.what {
            places[port as usize] = places[port as usize].max(of_buffer(buffer));
        }
    }
    places
}

/// In bytes, of all full packets.
fn smallest_packet(network: &Network) -> f64 {
    network.groups.iter().map(full_packet).min().unwrap_or(Bytes(1000)).max(Bytes(1)).0 as f64
}

/// The smallest that travels with a full payload.
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
    use crate::network::{Access, Change};
    use crate::primitives::units::{Rate, Time};
    use crate::simulation::Engine;

    /// The most that were ever in flight, each line rounded up to a chunk.
    fn most_in_flight(network: &Network) -> u64 {
        let mut engine = Engine::new(network.clone());
        engine.run_until(Time::NEVER);
        engine.senders.fabric.common.pool.places() as u64
    }

    #[test]
    fn a_trunk_holds_what_all_its_channels_hold() {
        let mut network = traced(1, 5, &[]);
        // What a flow alone has under way is known ahead, and kept nowhere.
        network.flows.push(Flow { start: Time::ZERO + Span::from_millis(1), ..network.flows[0].clone() });
        network.ports[0].transmitters = 50;
        network.ports[1].rate = Rate(50_000_000);
        network.ports.iter_mut().for_each(|port| port.delay = Span::from_millis(100));
        // 50 Mbit/s for 100 ms in packets of 1000 bytes, there and back, and 100 places.
        assert_eq!(packets_in_flight(&network), 2 * 625 + 2 * 100);
        let most = most_in_flight(&network);
        assert!((500..=2 * packets_in_flight(&network)).contains(&most), "{most}");
    }

    #[test]
    fn links_count_as_fast_and_as_long_as_they_ever_are() {
        let mut network = traced(1, 5, &[]);
        let at = |seconds, what| Change { at: Time::ZERO + Span::from_seconds(seconds), what };
        network.changes =
            vec![at(1.0, ChangeKind::Rate(0, Rate(10_000_000))), at(2.0, ChangeKind::Delay(0, Span::from_millis(800)))];
        // 10 Mbit/s for 800 ms there, 1 Mbit/s for 10 ms back.
        assert_eq!(packets_in_flight(&network), 1000 + 1 + 2 * 100);
    }

    #[test]
    fn wide_edges_hold_no_more_than_a_narrow_trunk_lets_through() {
        // Four edges of 40 Mbit/s before a trunk of 2 Mbit/s, and hosts at 100 ms: the edges' pipes alone would hold 2000 packets.
        let mut network = traced(2, 20, &[]);
        network.ports[0].buffer = Buffer::Units(5);
        let edge = Port { rate: Rate(40_000_000), delay: Span::ZERO, buffer: Buffer::Unlimited, ..network.ports[0].clone() };
        let flow = Flow { sender_access: Access { rate: None, delay: Span::from_millis(90) }, ..network.flows[0].clone() };
        (network.flows, network.paths) = (Vec::new(), vec![vec![1]]);
        for index in 0..4 {
            network.ports.push(Port { name: format!("edge {index}"), ..edge.clone() });
            network.paths.push(vec![2 + index, 0]);
            let start = Time::ZERO + Span::from_millis(u64::from(index));
            network.flows.push(Flow { forward: 1 + index, backward: 0, start, ..flow.clone() });
        }
        // Twice 2 Mbit/s over 200 ms of delays and what sending takes (4.5 ms), in packets of 1000 bytes, with the five places; these once more, the
        // 100 of the way back, and four first windows.
        assert_eq!(packets_in_flight(&network), 2 * (51 + 5) + 5 + 100 + 4 * 10);
        let most = most_in_flight(&network);
        assert!((50..=2 * packets_in_flight(&network)).contains(&most), "{most}");
    }
}
