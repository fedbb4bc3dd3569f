//! The cost per packet does not grow with the number of flows or the window: events per carried packet, counted rather than timed.

mod common;

use common::{dumbbell, flow, group, link, tcp};
use tailback_core::Engine;
use tailback_core::congestion::{ControllerSpec, FixedSpec};
use tailback_core::network::{AccessLink, Buffer, Flow, Network, Port, Transport};
use tailback_core::primitives::units::{Rate, Time, TimeDelta};
use tailback_core::tcp::{Recovery, TcpSpec};

/// Maximum relative cost of the larger case.
const MARGIN: f64 = 1.05;

#[test]
fn events_per_packet_are_equal_for_a_thousand_flows_and_ten() {
    for recovery in [Recovery::NewReno, Recovery::Sack] {
        let (few, many) = (sharing(10, recovery), sharing(1000, recovery));
        assert!(many < MARGIN * few && few < MARGIN * many, "{recovery:?}: {few} against {many} events");
    }
}

#[test]
fn events_per_packet_are_equal_for_windows_of_ten_thousand_and_a_hundred() {
    for loss in [0.0, 0.01] {
        let (small, large) = (holding(100, loss), holding(10_000, loss));
        assert!(large < MARGIN * small && small < MARGIN * large, "loss {loss}: {small} against {large} events");
    }
}

/// Flows with different round-trip times. Each adds 2 Mbit/s to the link and its share to the buffer.
fn sharing(flows: u64, recovery: Recovery) -> f64 {
    let bottleneck = link("link", 2 * flows, TimeDelta::from_millis(10), Buffer::Units(10 * flows));
    let member = |index: u64| Flow {
        sender_access: AccessLink {
            rate: Some(Rate(100_000_000)),
            delay: TimeDelta::from_micros(20_000 + 40_000 * index / flows),
        },
        start: Time(TimeDelta::from_micros(1_000_000 * index / flows).0),
        ..flow(0, 0, 1)
    };
    let transport = Transport::Tcp(tcp(recovery), ControllerSpec::Reno(()));
    let members = (0..flows).map(member).collect();
    events_per_packet(dumbbell(bottleneck, group("greedy", transport), members, TimeDelta::from_millis(10_000)))
}

/// One flow with `window` segments in flight for 100 ms, over a link with this loss probability.
fn holding(window: u32, random_loss: f64) -> f64 {
    let wire = Port { random_loss, ..link("link", 1000, TimeDelta::from_millis(50), Buffer::Unlimited) };
    let spec = TcpSpec { initial_window: window.into(), ..tcp(Recovery::Sack) };
    let transport = Transport::Tcp(spec, ControllerSpec::Fixed(FixedSpec::default()));
    events_per_packet(dumbbell(wire, group("fixed", transport), vec![flow(0, 0, 1)], TimeDelta::from_millis(10_000)))
}

fn events_per_packet(network: Network) -> f64 {
    let mut engine = Engine::new(network);
    engine.run_until(Time::NEVER);
    let results = engine.results().unwrap_or_else(|violation| panic!("{violation}"));
    let carried = results.queues.floats("departed_units").and_then(|of_ports| of_ports.first().copied());
    engine.events() as f64 / carried.unwrap_or(f64::NAN)
}
