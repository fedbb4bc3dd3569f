//! DCTCP with a switch that marks above a threshold: Alizadeh and others, "Data Center TCP (DCTCP)", SIGCOMM 2010, section 3.3.

use crate::common::{dumbbell, first, flow, group, port, run, tcp, trace};
use tailback_core::congestion::{ControllerSpec, DctcpSpec};
use tailback_core::network::{AccessLink, Buffer, Flow, Port, Recording, Trace, TraceKind, Transport};
use tailback_core::primitives::units::{Rate, Time, TimeDelta};
use tailback_core::queue::{PolicySpec, ThresholdSpec};
use tailback_core::tcp::{EcnCapable, Recovery, TcpSpec};

/// Flows over 10 Gbit/s and 100 us, with a switch that marks packets which find more than K in the queue. Returns the maximum and the
/// minimum queue after the start.
fn queue(flows: u32, threshold: u64) -> (f64, f64) {
    let spec = TcpSpec { ecn: true, ..tcp(Recovery::Sack) };
    let transport = Transport::Tcp(spec, ControllerSpec::Dctcp(DctcpSpec::default()));
    let switch = Port {
        buffer: Buffer::Units(1000),
        policy: PolicySpec::Threshold(ThresholdSpec { threshold: threshold.into() }),
        ..port("switch", Rate(10_000_000_000), TimeDelta::from_micros(10))
    };
    let one = |index: u32| Flow {
        sender_access: AccessLink { rate: None, delay: TimeDelta::from_micros(40) },
        start: Time::ZERO + TimeDelta::from_micros(u64::from(37 * index)),
        ..flow(0, 0, 1)
    };
    let mut network = dumbbell(switch, group("dctcp", transport), (0..flows).map(one).collect(), TimeDelta::from_millis(300));
    network.warmup = TimeDelta::from_millis(100);
    network.record = Recording { traces: vec![Trace { kind: TraceKind::Queue, of: vec![0] }], ..Recording::default() };
    let results = run(network);
    assert_eq!(first(&results.queues, "utilisation"), 1.0);
    let (times, waiting) = (
        crate::common::floats(trace(&results, "queue"), "time_s"),
        crate::common::floats(trace(&results, "queue"), "queue_units"),
    );
    let measured = times.iter().zip(waiting).filter(|(time, _)| **time > 0.1).map(|(_, waiting)| waiting);
    (first(&results.queues, "max_queue_units"), measured.fold(f64::INFINITY, f64::min))
}

#[test]
fn the_queue_grows_to_the_threshold_and_a_packet_of_each_flow() {
    // K + N: within the round trip in which marks are returned, every flow sends one more packet. The paper's threshold includes the
    // arriving packet.
    for (flows, threshold) in [(2, 40), (5, 40), (10, 40), (20, 65)] {
        let (largest, _) = queue(flows, threshold);
        let expected = (threshold + 1) as f64 + f64::from(flows);
        assert!((largest - expected).abs() <= 1.0, "{flows} flows: {largest}, expected {expected}");
    }
}

#[test]
fn the_queue_of_two_flows_has_the_amplitude_of_the_paper() {
    // Equation (8) and below: A = sqrt(2 N (C RTT + K)) / 2, downwards from K + N. Packets of 1040 bytes.
    let (flows, threshold) = (2.0, 41.0);
    let bdp = 10e9 * 100e-6 / 8.0 / 1040.0;
    let amplitude = (2.0_f64 * flows * (bdp + threshold)).sqrt() / 2.0;
    let (_, min) = queue(2, 40);
    let expected = threshold + flows - amplitude;
    assert!((min - expected).abs() <= 2.0, "{min}, expected {expected}");
}

/// Four flows in each direction of 1 Gbit/s and 200 us. Returns the discarded units of both directions, and the discarded acknowledgements.
fn both_ways(ecn_capable: EcnCapable) -> [Vec<f64>; 2] {
    let spec = TcpSpec { ecn: true, ecn_capable, ..tcp(Recovery::Sack) };
    let transport = Transport::Tcp(spec, ControllerSpec::Dctcp(DctcpSpec::default()));
    let switch = |name: &str| Port {
        buffer: Buffer::Units(200),
        policy: PolicySpec::Threshold(ThresholdSpec { threshold: 20.into() }),
        ..port(name, Rate(1_000_000_000), TimeDelta::from_micros(100))
    };
    let flows = (0..8).map(|index| Flow {
        start: Time::ZERO + TimeDelta::from_micros(37 * index),
        ..if index % 2 == 0 { flow(0, 0, 1) } else { flow(0, 1, 0) }
    });
    let mut network = dumbbell(switch("there"), group("dctcp", transport), flows.collect(), TimeDelta::from_millis(1000));
    network.ports[1] = switch("back");
    let results = run(network);
    ["dropped_units", "dropped_acks"].map(|name| crate::common::floats(&results.queues, name))
}

#[test]
fn flows_in_both_directions_lose_nothing_only_if_all_packets_are_capable() {
    // The acknowledgements of one direction are queued behind the data of the other, above the threshold (RFC 8257 section 3.6 for SYNs).
    let [_, acks] = both_ways(EcnCapable::NewData);
    assert!(acks.iter().all(|&acks| acks > 1000.0), "{acks:?}");
    assert_eq!(both_ways(EcnCapable::All), [[0.0; 2]; 2]);
}
