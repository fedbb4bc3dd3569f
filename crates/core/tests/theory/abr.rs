//! Tests of the available bit rate service: shares by ERICA are max-min fair and fill the link to the target, one cell in Nrm is an RM
//! cell, EFCI keeps queues short, and held acknowledgements limit the queue of the edge to the setting.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

use crate::common::{flow, group, link, port, reno, route, run, tcp};
use tailback_core::Results;
use tailback_core::abr::SourceSpec;
use tailback_core::congestion::ControllerSpec;
use tailback_core::network::*;
use tailback_core::primitives::units::{Bytes, Rate, Segments, Time, TimeDelta, Units};
use tailback_core::queue::{EricaSpec, PolicySpec, ThresholdSpec};
use tailback_core::tcp::Recovery;
use tailback_core::traffic::{Arrivals, ConstantSpec, DatagramSpec, PacketSize, ProcessSpec};

const MEGA: u64 = 1_000_000;
const AAL5: Aal5 = Aal5 { overhead: Bytes(8), segmentation: TimeDelta::ZERO, reassembly: TimeDelta::ZERO };

/// PCR 10 Mbit/s, ICR one twentieth of it.
fn source() -> SourceSpec {
    SourceSpec { initial: Rate(MEGA / 2), rif: 1.0, ..SourceSpec::with_peak(Rate(10 * MEGA)) }
}

/// Datagrams at more than the maximum ACR, so that the edge is always backlogged.
fn greedy(name: &str, source: SourceSpec) -> Group {
    let rate = Rate(12 * MEGA);
    let arrivals = Arrivals::Process(ProcessSpec::Constant(ConstantSpec { rate }));
    let spec = DatagramSpec { arrivals, packet: PacketSize::Fixed(Bytes(1000)), header: Bytes(40) };
    let abr = Some(Abr { source, buffer: Buffer::Units(20), holds_acks_from: None });
    Group { framing: Some(AAL5), abr, ..group(name, Transport::Datagram(spec)) }
}

/// A port with this rate in Mbit/s, 2 ms and 1000 cells.
fn switch(name: &str, megabits: u64, policy: PolicySpec) -> Port {
    Port { policy, ..link(name, megabits, TimeDelta::from_millis(2), Buffer::Units(1000)) }
}

/// Without delta, so that at most the target is allocated.
fn erica(target: f64) -> PolicySpec {
    PolicySpec::Erica(EricaSpec { target, delta: 0.0, ..EricaSpec::default() })
}

/// These ports and a return port, with one flow per group over the ports of its route; measured from 2 s to 4 s.
fn network(mut ports: Vec<Port>, groups: Vec<Group>, routes: &[&[u32]]) -> Network {
    ports.push(port("back", Rate(155 * MEGA), TimeDelta::from_millis(2)));
    let back = ports.len() as u32 - 1;
    let paths = routes.iter().map(|route| route.iter().copied().map(PortId).collect()).chain([route([back])]).collect();
    let flows = (0..).zip(&groups).map(|(index, _)| flow(index, index, routes.len() as u32)).collect();
    Network {
        ports,
        paths,
        groups,
        flows,
        prices: tailback_core::price::PriceSpec::default(),
        messages: Default::default(),
        changes: Vec::new(),
        duration: TimeDelta::from_millis(4000),
        warmup: TimeDelta::from_millis(2000),
        seed: 1,
        record: Recording::default(),
        stepped: false,
    }
}

fn of_edges(results: &Results, column: &str) -> Vec<f64> {
    results.edges.as_ref().unwrap().floats(column).unwrap()
}

fn of_queues(results: &Results, column: &str) -> Vec<f64> {
    results.queues.floats(column).unwrap()
}

/// Within 2 %: the arrivals in an interval of 5 ms are counted in cells, about a hundred.
fn near(measured: &[f64], expected: &[f64]) {
    let is_near = |(a, b): (&f64, &f64)| (a / b - 1.0).abs() < 0.02;
    assert!(measured.len() == expected.len() && measured.iter().zip(expected).all(is_near), "{measured:?} for {expected:?}");
}

#[test]
fn greedy_channels_get_the_target_over_their_number() {
    for (count, target) in [(1, 0.9), (2, 0.9), (5, 0.95)] {
        let groups = (0..count).map(|index| greedy(&format!("vc{index}"), source())).collect();
        let routes: Vec<&[u32]> = vec![&[0]; count];
        let results = run(network(vec![switch("link", 10, erica(target))], groups, &routes));
        near(&of_edges(&results, "mean_acr_bps"), &vec![target * 1e7 / count as f64; count]);
        near(&of_queues(&results, "utilisation")[..1], &[target]);
        assert_eq!(of_queues(&results, "dropped_units")[0], 0.0);
    }
}

#[test]
fn with_delta_the_load_settles_between_the_target_and_one_plus_delta_times_it() {
    let policy = PolicySpec::Erica(EricaSpec::default());
    let results =
        run(network(vec![switch("link", 10, policy)], vec![greedy("a", source()), greedy("b", source())], &[&[0], &[0]]));
    let rates = of_edges(&results, "mean_acr_bps");
    near(&rates[..1], &rates[1..]);
    let sum = rates.iter().sum::<f64>() / 1e7;
    assert!((0.9 * 0.98..0.9 * 1.1 * 1.02).contains(&sum), "{sum}");
}

#[test]
fn with_two_bottlenecks_shares_are_max_min_fair() {
    // The link of 4 Mbit/s allocates 3.6, 1.8 to each flow. The other flow gets the rest of the 9 that the first link allocates.
    let ports = vec![switch("wide", 10, erica(0.9)), switch("narrow", 4, erica(0.9))];
    let groups = ["long", "wide", "narrow"].map(|name| greedy(name, source())).into();
    let results = run(network(ports, groups, &[&[0, 1], &[0], &[1]]));
    near(&of_edges(&results, "mean_acr_bps"), &[1.8e6, 7.2e6, 1.8e6]);
}

#[test]
fn unequal_rates_converge() {
    let late = |name: &str, initial: u64| greedy(name, SourceSpec { initial: Rate(initial), ..source() });
    let mut network =
        network(vec![switch("link", 10, erica(0.9))], vec![late("first", 9 * MEGA), late("second", 4240)], &[&[0], &[0]]);
    network.flows[1].start = Time(1_000_000_000_000);
    near(&of_edges(&run(network), "mean_acr_bps"), &[4.5e6, 4.5e6]);
}

#[test]
fn one_cell_in_32_is_an_rm_cell_and_all_return() {
    let mut network = network(vec![switch("link", 10, erica(0.9))], vec![greedy("vc", source())], &[&[0]]);
    network.warmup = TimeDelta::ZERO;
    let results = run(network);
    let count = |column| of_edges(&results, column)[0];
    let (data, forth, back) = (count("data_cells"), count("forward_rm_cells"), count("backward_rm_cells"));
    // The first cell is an RM cell, and then every cell after 31 others.
    assert_eq!(forth, ((data + forth) / 32.0).ceil());
    // 4 ms and a queue at 9 Mbit/s are 85 cells, plus the queued ones.
    assert!(forth - back <= 5.0 && back > 2000.0, "{forth} forth, {back} back");
}

#[test]
fn a_binary_switch_shares_fairly_without_loss() {
    // RIF and RDF of 1/64: a rate falls by 1.6 % per RM cell with CI, and grows by 156 kbit/s per RM cell without.
    let spec = SourceSpec { rif: 1.0 / 64.0, rdf: 1.0 / 64.0, ..source() };
    let efci = PolicySpec::Threshold(ThresholdSpec { threshold: 50.into() });
    let groups = vec![greedy("a", spec), greedy("b", spec)];
    let results = run(network(vec![switch("link", 10, efci)], groups, &[&[0], &[0]]));
    let delivered = results.flows.floats("delivered_bytes").unwrap();
    assert!((delivered[0] / delivered[1] - 1.0).abs() < 0.1, "{delivered:?}");
    assert!(of_queues(&results, "utilisation")[0] > 0.95 && of_queues(&results, "dropped_units")[0] == 0.0);
    assert!(of_edges(&results, "congested_rm_cells")[0] > 0.0 && of_queues(&results, "marked_units")[0] > 0.0);
    // Arrivals within the round trip of 4 ms and the queueing delay, at up to twice the link's rate, add to the threshold.
    assert!(of_queues(&results, "max_queue_units")[0] < 400.0, "{:?}", of_queues(&results, "max_queue_units"));
}

/// One TCP flow over a link whose ERICA target is 0.9.
fn one_tcp(buffer: Buffer, ack_threshold: Option<u64>) -> Results {
    let spec = tailback_core::tcp::TcpSpec { receiver_window: Segments(64), ..tcp(Recovery::Reno) };
    let abr = Some(Abr { source: source(), buffer, holds_acks_from: ack_threshold.map(Units) });
    let Transport::Tcp(spec, _) = reno(spec) else { unreachable!() };
    let group = Group { framing: Some(AAL5), abr, ..group("vc", Transport::Tcp(spec, ControllerSpec::Reno(()))) };
    let mut network = network(vec![switch("link", 10, erica(0.9))], vec![group], &[&[0]]);
    network.warmup = TimeDelta::ZERO;
    run(network)
}

#[test]
fn holding_acknowledgements_keeps_the_edge_short_without_loss_of_goodput() {
    let (free, held) = (one_tcp(Buffer::Unlimited, None), one_tcp(Buffer::Units(4), Some(2)));
    // 1040 bytes are 22 cells. An acknowledgement is released when one packet is left, and releases at most two.
    let max = |results: &Results| of_edges(results, "max_queue_cells")[0];
    assert!(max(&held) <= 3.0 * 22.0, "{}", max(&held));
    assert!(max(&free) > 40.0 * 22.0, "{}", max(&free));
    assert_eq!(of_edges(&held, "dropped_packets"), [0.0]);
    assert!(of_edges(&held, "held_acks")[0] > 100.0 && of_edges(&free, "held_acks")[0] == 0.0);
    let goodput = |results: &Results| results.flows.floats("goodput_bps").unwrap()[0];
    assert!((goodput(&held) / goodput(&free) - 1.0).abs() < 0.01, "{} and {}", goodput(&held), goodput(&free));
    // Without holding, an edge with the same small buffer loses packets.
    assert!(of_edges(&one_tcp(Buffer::Units(4), None), "dropped_packets")[0] > 0.0);
}

#[test]
fn when_rm_cells_are_lost_the_source_slows_down() {
    // Everything is lost: CRM is 2, and each further forward RM cell halves the rate, down to 10 cells per second.
    let spec = SourceSpec { tbe: 64, cdf: 0.5, ..source() };
    let dead = Port { random_loss: 1.0, ..switch("link", 10, erica(0.9)) };
    let results = run(network(vec![dead], vec![greedy("vc", spec)], &[&[0]]));
    assert_eq!(of_edges(&results, "acr_bps"), [4240.0]);
    assert_eq!(of_edges(&results, "backward_rm_cells"), [0.0]);
}
