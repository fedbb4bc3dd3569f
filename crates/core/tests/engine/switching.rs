//! Cut-through ports, with numbers worked out by hand.
//!
//! Three input links feed a trunk. All transmitters send 1000 bytes in 1 ms; the inputs' delay is 2 ms, the trunk's 3 ms.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

use crate::common::{flow, group, link, route};
use tailback_core::network::*;
use tailback_core::price::PriceSpec;
use tailback_core::primitives::packet::Ecn;
use tailback_core::primitives::units::{Bytes, Rate, Time, TimeDelta};
use tailback_core::traffic::{Arrivals, DatagramSpec, PacketSize};
use tailback_core::{DatagramOutcome, Engine};

const HEADER: Bytes = Bytes(40);
const TRUNK: usize = 3;

fn micros(us: u64) -> Time {
    Time(TimeDelta::from_micros(us).0)
}

fn network(switching: Switching, transmitters: u32, places: u64) -> Network {
    let inputs = ["first", "second", "third"].map(|name| link(name, 8, TimeDelta::from_millis(2), Buffer::Unlimited));
    let trunk = Port { switching, transmitters, ..link("trunk", 8, TimeDelta::from_millis(3), Buffer::Units(places)) };
    let spec = DatagramSpec { arrivals: Arrivals::External, packet: PacketSize::Fixed(Bytes(1000) - HEADER), header: HEADER };
    Network {
        ports: inputs.into_iter().chain([trunk, link("back", 8, TimeDelta::ZERO, Buffer::Unlimited)]).collect(),
        paths: vec![route([0, 3]), route([1, 3]), route([2, 3]), route([4])],
        groups: vec![group("outside", Transport::Datagram(spec))],
        flows: vec![flow(0, 0, 3), flow(0, 1, 3), flow(0, 2, 3)],
        messages: Default::default(),
        changes: Vec::new(),
        duration: TimeDelta::from_millis(100),
        warmup: TimeDelta::ZERO,
        seed: 1,
        record: Recording::default(),
        stepped: false,
        prices: PriceSpec::default(),
    }
}

/// Input and time in microseconds at which the last bit of each delivered datagram has crossed the trunk. `sent`: time, input, bytes on the
/// wire. The result is the same whether hops are computed ahead or stepped.
fn delivered(network: &Network, sent: &[(u64, u32, u32)]) -> Vec<(u32, u64)> {
    let run = |stepped: bool| {
        let mut engine = Engine::new(Network { stepped, ..network.clone() });
        for &(time, input, bytes) in sent {
            engine.run_until(micros(time));
            engine.inject(FlowId(input), Bytes(bytes.into()) - HEADER, Ecn::NOT_ECT).unwrap();
        }
        engine.run_until(Time::NEVER);
        engine.results().unwrap();
        let mut fates: Vec<_> = engine.take_fates().collect();
        fates.sort_unstable();
        let delivered = fates.iter().filter(|fate| matches!(fate.outcome, DatagramOutcome::Delivered { .. }));
        delivered.map(|fate| (fate.flow.0, fate.time.0 / 1_000_000)).collect::<Vec<_>>()
    };
    assert_eq!(run(false), run(true));
    run(false)
}

#[test]
fn a_free_transmitter_sends_a_packet_while_it_arrives() {
    // The head leaves the input at 0 and reaches the trunk at 2 ms. The last bit follows 1 ms later and crosses the trunk in 3 ms.
    let sent = [(0, 0, 1000)];
    assert_eq!(delivered(&network(Switching::CutThrough, 1, 0), &sent), [(0, 6000)]);
    assert_eq!(delivered(&network(Switching::StoreAndForward, 1, 0), &sent), [(0, 7000)]);
}

#[test]
fn a_slower_transmitter_begins_with_the_head_and_ends_later() {
    let mut network = network(Switching::CutThrough, 1, 0);
    network.ports[TRUNK].rate = Rate(4_000_000);
    // From 2 to 4 ms.
    assert_eq!(delivered(&network, &[(0, 0, 1000)]), [(0, 7000)]);
}

#[test]
fn a_packet_occupies_the_buffer_from_the_arrival_of_its_head_to_its_departure() {
    // Heads reach the trunk 2 ms later. The second input's head waits from 2.25 to 3 ms, so the third input's head at 2.5 ms finds the
    // buffer full. The first input's next head at 3.1 ms finds room, because the second input's packet is leaving, although its last bit
    // arrives only at 3.25 ms.
    let sent = [(0, 0, 1000), (250, 1, 1000), (500, 2, 1000), (1100, 0, 1000)];
    let network = network(Switching::CutThrough, 1, 1);
    assert_eq!(delivered(&network, &sent), [(0, 6000), (1, 7000), (0, 8000)]);
}

#[test]
fn a_packet_whose_head_finds_no_room_is_discarded_completely() {
    // 3000 bytes: at 3 ms, when the first packet has left, most of this packet is still to arrive, but none of it is sent.
    let sent = [(0, 0, 1000), (500, 1, 3000), (1200, 2, 1000)];
    let network = network(Switching::CutThrough, 1, 0);
    assert_eq!(delivered(&network, &sent), [(0, 6000), (2, 7200)]);
}

#[test]
fn heads_decide_which_packet_comes_first() {
    // 3000 bytes with the head at 2 ms; 1000 bytes with the head at 2.5 ms and the last bit at 3.5 ms, before that of the others.
    let sent = [(0, 0, 3000), (500, 1, 1000)];
    assert_eq!(delivered(&network(Switching::CutThrough, 1, 1), &sent), [(0, 8000), (1, 9000)]);
    assert_eq!(delivered(&network(Switching::StoreAndForward, 1, 1), &sent), [(1, 7500), (0, 11_000)]);
}

#[test]
fn each_transmitter_takes_a_head() {
    let sent = [(0, 0, 1000), (250, 1, 1000), (500, 2, 1000)];
    assert_eq!(delivered(&network(Switching::CutThrough, 3, 0), &sent), [(0, 6000), (1, 6250), (2, 6500)]);
    assert_eq!(delivered(&network(Switching::CutThrough, 2, 0), &sent), [(0, 6000), (1, 6250)]);
}

#[test]
fn heads_come_over_private_links_too() {
    let mut network = network(Switching::CutThrough, 1, 1);
    network.paths = vec![route([3]), route([3]), route([3]), route([4])];
    for flow in &mut network.flows {
        flow.sender_access = AccessLink { rate: Some(Rate(8_000_000)), delay: TimeDelta::from_millis(2) };
    }
    let sent = [(0, 0, 1000), (250, 1, 1000), (500, 2, 1000), (1100, 0, 1000)];
    assert_eq!(delivered(&network, &sent), [(0, 6000), (1, 7000), (0, 8000)]);
}

#[test]
fn the_base_rtt_excludes_transmission_time_saved_by_cut_through() {
    let base_rtt = |switching| Engine::new(network(switching, 1, 0)).results().unwrap().flows.floats("base_rtt_s").unwrap()[0];
    assert_eq!((base_rtt(Switching::CutThrough), base_rtt(Switching::StoreAndForward)), (0.006, 0.007));
}
