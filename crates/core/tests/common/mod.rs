//! Shared test code of the core: small networks and their runs, and random networks.

#![allow(
    dead_code,
    unused_imports,
    clippy::expect_used,
    reason = "each test file uses a part of this module, and tests may panic"
)]

mod random_network;
pub mod statistics;
mod test_random;

pub use random_network::*;
pub use test_random::TestRandom;

use tailback_core::congestion::ControllerSpec;
use tailback_core::network::*;
use tailback_core::price::PriceSpec;
use tailback_core::primitives::units::{Bytes, Rate, Segments, Time, TimeDelta};
use tailback_core::queue::PolicySpec;
use tailback_core::record::Table;
use tailback_core::tcp::{AckCounting, Recovery, SlowStart, SsthreshFrom, TcpSpec, TimerSpec, WindowValidation};
use tailback_core::traffic::Arrivals;
use tailback_core::{Engine, Results};

/// Run a network to its end.
pub fn run(network: Network) -> Results {
    let seed = network.seed;
    let mut engine = Engine::new(network);
    engine.run_until(Time::NEVER);
    engine.results().unwrap_or_else(|violation| panic!("seed {seed}: {violation}"))
}

/// The first row of a numeric column.
pub fn first(table: &Table, column: &str) -> f64 {
    floats(table, column).first().copied().unwrap_or_else(|| panic!("table `{}` has no row", table.name))
}

/// A numeric column.
pub fn floats(table: &Table, column: &str) -> Vec<f64> {
    table.floats(column).unwrap_or_else(|| panic!("table `{}` has no numbers `{column}`", table.name))
}

/// A trace of a run by its name.
pub fn trace<'a>(results: &'a Results, name: &str) -> &'a Table {
    results.traces.iter().find(|table| table.name == name).unwrap_or_else(|| panic!("`{name}` is not traced"))
}

/// A port with one transmitter, an unlimited buffer and no loss.
pub fn port(name: &str, rate: Rate, delay: TimeDelta) -> Port {
    Port {
        name: name.to_string(),
        rate,
        delay,
        transmitters: 1,
        switching: Switching::StoreAndForward,
        buffer: Buffer::Unlimited,
        counts_in_service: false,
        policy: PolicySpec::DropTail(()),
        scheduling: None,
        shaper: None,
        random_loss: 0.0,
        listed_drops: Vec::new(),
        impairments: Impairments::default(),
        varying: None,
    }
}

/// A port with a rate in Mbit/s and a buffer.
pub fn link(name: &str, megabits: u64, delay: TimeDelta, buffer: Buffer) -> Port {
    Port { buffer, ..port(name, Rate(megabits * 1_000_000), delay) }
}

/// RFC 6298 with a short minimum RTO, so that timeouts take place in small runs.
pub fn tcp(recovery: Recovery) -> TcpSpec {
    TcpSpec {
        recovery,
        mss: Bytes(1000),
        initial_window: 3.0,
        delayed_ack: None,
        window_validation: WindowValidation::None,
        timer: TimerSpec { min_rto: TimeDelta::from_millis(200), max_backoff: 64, ..TimerSpec::rfc6298() },
        ..TcpSpec::default()
    }
}

/// TCP as of 2001: segments of 1000 bytes on the wire, an initial window of one segment, and a minimum RTO of 1 s.
pub fn classic_tcp(recovery: Recovery) -> TcpSpec {
    TcpSpec {
        header: Bytes(0),
        initial_window: 1.0,
        limited_transmit: false,
        timer: TimerSpec { max_rto: TimeDelta::from_millis(64_000), max_backoff: 64, ..TimerSpec::rfc6298() },
        ssthresh_from: SsthreshFrom::Window,
        ack_counting: AckCounting::Acknowledgements,
        ..tcp(recovery)
    }
}

/// A sender in congestion avoidance that starts with a window of `window` segments.
pub fn steady(recovery: Recovery, window: u32) -> TcpSpec {
    TcpSpec { initial_window: window.into(), initial_ssthresh: window.into(), ..classic_tcp(recovery) }
}

pub fn reno(spec: TcpSpec) -> Transport {
    Transport::Tcp(spec, ControllerSpec::Reno(()))
}

pub fn group(name: &str, transport: Transport) -> Group {
    Group {
        name: name.to_string(),
        class: 0,
        l4s: false,
        transport,
        application: None,
        framing: None,
        abr: None,
        send_processing: None,
        receive_processing: None,
        jitter: TimeDelta::ZERO,
    }
}

pub fn flow(group: u32, forward: u32, backward: u32) -> Flow {
    Flow {
        group: GroupId(group),
        forward,
        backward,
        sender_access: AccessLink::default(),
        receiver_access: AccessLink::default(),
        interface: None,
        start: Time::ZERO,
        stop: Time::NEVER,
        size: None,
    }
}

/// A route over these ports.
pub fn route<const N: usize>(ports: [u32; N]) -> Vec<PortId> {
    ports.map(PortId).into()
}

/// One bottleneck with `flows`; acknowledgements return over its reverse.
pub fn dumbbell(bottleneck: Port, group: Group, flows: Vec<Flow>, duration: TimeDelta) -> Network {
    let reverse = port("reverse", bottleneck.rate, bottleneck.delay);
    one_link([bottleneck, reverse], group, flows, duration)
}

/// Flows of one group over the first port and back over the second, measured from the start, with seed 1.
pub fn one_link(ports: [Port; 2], group: Group, flows: Vec<Flow>, duration: TimeDelta) -> Network {
    Network {
        ports: ports.into(),
        paths: vec![route([0]), route([1])],
        groups: vec![group],
        flows,
        messages: Default::default(),
        changes: Vec::new(),
        duration,
        warmup: TimeDelta::ZERO,
        seed: 1,
        record: Recording::default(),
        stepped: false,
        prices: PriceSpec::default(),
    }
}

/// The same network with every private access link expanded to ports. Ports are numbered so that lines merge in the same order: shared
/// ports, senders, receivers.
pub fn with_access_as_ports(network: &Network) -> Network {
    let flows = network.flows.len() as u32;
    let mut ports = Vec::new();
    let port = |name: &str, access: &AccessLink| Port {
        rate: access.rate.expect("only access links with a rate can be expanded"),
        ..link(name, 1, access.delay, Buffer::Unlimited)
    };
    // The data of a flow meet a queue of 1000 packets. A port would count cells instead.
    let for_data = |name: &str, access: &AccessLink, flow: &Flow| {
        let group = &network.groups[flow.group];
        let may_fill = match &group.transport {
            Transport::Tcp(spec, _) => spec.receiver_window > Segments(1000),
            Transport::Datagram(spec) => !matches!(spec.arrivals, Arrivals::External),
        };
        let buffer = if may_fill && group.framing.is_none() { Buffer::Units(1000) } else { Buffer::Unlimited };
        Port { buffer, ..port(name, access) }
    };
    ports.extend(network.ports.iter().cloned());
    ports.extend(network.flows.iter().map(|flow| for_data("sender.up", &flow.sender_access, flow)));
    ports.extend(network.flows.iter().map(|flow| port("receiver.up", &flow.receiver_access)));
    ports.extend(network.flows.iter().map(|flow| for_data("receiver.down", &flow.receiver_access, flow)));
    ports.extend(network.flows.iter().map(|flow| port("sender.down", &flow.sender_access)));
    let (sender_up, receiver_up) = (network.ports.len() as u32, network.ports.len() as u32 + flows);
    let (receiver_down, sender_down) = (receiver_up + flows, receiver_up + 2 * flows);
    let mut paths = Vec::new();
    let mut expanded_route = |first: u32, middle: u32, last: u32| {
        paths.push(
            std::iter::once(PortId(first)).chain(network.paths[middle as usize].iter().copied()).chain([PortId(last)]).collect(),
        );
        paths.len() as u32 - 1
    };
    let mut expanded: Vec<Flow> = Vec::new();
    for (index, flow) in network.flows.iter().enumerate() {
        let index = index as u32;
        let forward = expanded_route(sender_up + index, flow.forward, receiver_down + index);
        let backward = expanded_route(receiver_up + index, flow.backward, sender_down + index);
        expanded.push(Flow {
            forward,
            backward,
            sender_access: AccessLink::default(),
            receiver_access: AccessLink::default(),
            interface: flow.sender_access.rate,
            ..flow.clone()
        });
    }
    let mut changes = network.changes.clone();
    for change in &mut changes {
        if let ChangeKind::Route(flow, forward, backward) = &mut change.what {
            *forward = expanded_route(sender_up + flow.0, *forward, receiver_down + flow.0);
            *backward = expanded_route(receiver_up + flow.0, *backward, sender_down + flow.0);
        }
    }
    Network { ports, paths, flows: expanded, changes, ..network.clone() }
}
