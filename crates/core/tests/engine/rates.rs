//! Goodputs, transfer rates, their fairness, and starved flows.

use crate::common::{first, floats, flow, group, one_link, port, reno, run, steady, tcp};
use tailback_core::Results;
use tailback_core::congestion::{ControllerSpec, FixedSpec, SwiftSpec};
use tailback_core::network::{AccessLink, Buffer, ClassQueue, Flow, Group, Network, Port, Queues, Scheduling, Transport};
use tailback_core::primitives::ids::GroupId;
use tailback_core::primitives::units::{Bytes, Rate, Segments, Time, TimeDelta};
use tailback_core::queue::PolicySpec;
use tailback_core::schedule::SchedulerSpec;
use tailback_core::tcp::{Recovery, TcpSpec};
use tailback_core::traffic::{ApplicationSpec, Arrivals, BurstSpec, ConstantSpec, DatagramSpec, PacketSize, ProcessSpec};

const MS: fn(u64) -> TimeDelta = TimeDelta::from_millis;

/// Flows of one group over a link of 10 Mbit/s and 5 ms in each direction, for 20 s.
fn network(group: Group, flows: Vec<Flow>) -> Network {
    let link = |name: &str| Port { buffer: Buffer::Units(50), ..port(name, Rate(10_000_000), MS(5)) };
    one_link([link("link"), link("back")], group, flows, MS(20_000))
}

fn transfer(kilobytes: u64) -> Flow {
    Flow { size: Some(Bytes(1000 * kilobytes)), ..flow(0, 0, 1) }
}

/// The same with a longer path.
fn distant(flow: Flow, delay: TimeDelta) -> Flow {
    Flow { sender_access: AccessLink { delay, ..AccessLink::default() }, ..flow }
}

fn web() -> Group {
    group("web", reno(tcp(Recovery::NewReno)))
}

#[test]
fn a_goodput_covers_the_interval_and_a_transfer_rate_the_transfer() {
    let Results { flows, groups, .. } = run(network(web(), vec![transfer(1000)]));
    assert_eq!((first(&flows, "goodput_bps"), first(&groups, "goodput_bps")), (400_000.0, 400_000.0));
    let rate = first(&flows, "transfer_rate_bps");
    assert_eq!(rate, 8e6 / first(&flows, "completion_time_s"));
    assert!(rate > 7e6, "{rate}");
    let greedy = run(network(web(), vec![flow(0, 0, 1)])).flows;
    assert!(first(&greedy, "transfer_rate_bps").is_nan() && first(&greedy, "goodput_bps") > 9e6);
}

#[test]
fn the_fairness_of_transfers_is_that_of_their_rates() {
    let fairness =
        |flows: Vec<Flow>, warmup: TimeDelta| first(&run(Network { warmup, ..network(web(), flows) }).groups, "fairness");
    let uneven = fairness(vec![transfer(100), distant(transfer(100), MS(495))], MS(0));
    assert!((0.5..0.55).contains(&uneven), "{uneven}");
    // The first transfer ends in the warm-up.
    let later = Flow { start: Time::ZERO + MS(6000), ..transfer(100) };
    assert_eq!(fairness(vec![transfer(100), later.clone()], MS(5000)), 1.0);
    // The last one does not end, and has no rate.
    let endless = Flow { start: Time::ZERO + MS(10_000), ..transfer(1_000_000) };
    assert_eq!(fairness(vec![transfer(100), later, endless], MS(0)), 1.0);
}

#[test]
fn the_fairness_of_other_flows_is_that_of_their_goodputs_while_they_exist() {
    let fairness = |flows: Vec<Flow>| first(&run(Network { warmup: MS(10_000), ..network(web(), flows) }).groups, "fairness");
    let alone = || flow(0, 0, 1);
    let stopped = Flow { stop: Time::ZERO + MS(2000), ..alone() };
    let late = Flow { start: Time::ZERO + MS(30_000), ..alone() };
    assert_eq!(fairness(vec![alone(), stopped, late]), 1.0);
    // The goodput of the second flow covers half of the interval.
    let half = fairness(vec![alone(), Flow { start: Time::ZERO + MS(15_000), ..alone() }]);
    assert!((0.6..0.95).contains(&half), "{half}");
}

/// Whether each flow is starved, and the number of the first group.
fn starved(network: Network) -> (Vec<f64>, f64) {
    let Results { flows, groups, .. } = run(network);
    (floats(&flows, "starved"), first(&groups, "starved"))
}

#[test]
fn a_flow_below_a_hundredth_of_its_share_for_ten_round_trips_is_starved() {
    // One segment per round trip of 10 ms and 1.08 ms is 722 kbit/s.
    let one = |window: u32| group("one", reno(TcpSpec { receiver_window: Segments(window), ..steady(Recovery::Reno, 1) }));
    let fast = |rate: u64, duration: u64| {
        let mut network = network(one(1), vec![flow(0, 0, 1)]);
        network.ports.iter_mut().for_each(|port| port.rate = Rate(rate));
        starved(Network { duration: MS(duration), ..network })
    };
    assert_eq!(fast(50_000_000, 1000), (vec![0.0], 0.0));
    assert_eq!(fast(100_000_000, 1000), (vec![1.0], 1.0));
    assert_eq!(fast(100_000_000, 101), (vec![1.0], 1.0));
    assert_eq!(fast(100_000_000, 99), (vec![0.0], 0.0));
    // Behind a slow access link, or among 50 flows, it has its share.
    let mut network = network(one(1), vec![flow(0, 0, 1)]);
    network.ports.iter_mut().for_each(|port| port.rate = Rate(100_000_000));
    let mut behind = network.clone();
    behind.flows[0].receiver_access.rate = Some(Rate(20_000_000));
    assert_eq!(starved(behind).1, 0.0);
    network.flows = vec![flow(0, 0, 1); 50];
    assert_eq!(starved(network.clone()).1, 0.0);
    // Only those of the same time count: the first flow is alone in 18 of 20 s.
    network.flows[1..].iter_mut().for_each(|flow| flow.start = Time::ZERO + MS(18_000));
    let (flows, count) = starved(network);
    assert_eq!((flows[0], count), (1.0, 1.0));
}

#[test]
fn a_completed_transfer_is_not_starved_and_an_unfinished_one_may_be() {
    let of = |law: ControllerSpec, size: Option<Bytes>| {
        let spec = TcpSpec { initial_window: 10.0, ..tcp(Recovery::NewReno) };
        starved(network(group("a", Transport::Tcp(spec, law)), vec![Flow { size, ..flow(0, 0, 1) }])).1
    };
    // The RTT of 11 ms exceeds the target.
    let swift = ControllerSpec::Swift(SwiftSpec::default());
    assert_eq!(of(swift.clone(), None), 1.0);
    assert_eq!(of(swift.clone(), Some(Bytes(1_000_000))), 1.0);
    assert_eq!(of(swift, Some(Bytes(5_000))), 0.0);
    assert_eq!(of(ControllerSpec::Fixed(FixedSpec::default()), None), 0.0);
}

#[test]
fn data_of_an_application_that_waits_for_ten_round_trips_counts() {
    let bursts = |rate: u64, law: ControllerSpec| {
        let process = ProcessSpec::Constant(ConstantSpec { rate: Rate(rate) });
        let application = Some(ApplicationSpec::Bursts(BurstSpec { process, burst: 10 }));
        starved(network(Group { application, ..group("a", Transport::Tcp(tcp(Recovery::NewReno), law)) }, vec![flow(0, 0, 1)])).1
    };
    let swift = || ControllerSpec::Swift(SwiftSpec::default());
    assert_eq!(bursts(1_000_000, swift()), 1.0);
    // One burst in 80 s: all that was handed over is delivered.
    assert_eq!(bursts(1_000, ControllerSpec::Reno(())), 0.0);
    // 50 kbit/s is below 1 % of the link, and no data waits.
    assert_eq!(bursts(50_000, ControllerSpec::Reno(())), 0.0);
}

#[test]
fn datagrams_behind_a_class_that_fills_the_link_are_starved() {
    let source = |rate: u64| {
        let arrivals = Arrivals::Process(ProcessSpec::Constant(ConstantSpec { rate: Rate(rate) }));
        Transport::Datagram(DatagramSpec { arrivals, packet: PacketSize::Fixed(Bytes(1000)), header: Bytes(0) })
    };
    let class = |name: &str| ClassQueue {
        name: name.to_string(),
        weight: 1.0,
        buffer: Buffer::Units(10),
        policy: PolicySpec::DropTail(()),
    };
    let of = |first: u64| {
        let mut network = network(group("first", source(first)), vec![flow(0, 0, 1), flow(1, 0, 1)]);
        network.groups.push(Group { class: 1, ..group("second", source(1_000_000)) });
        network.flows[1].group = GroupId(1);
        network.ports[0].scheduling = Some(Box::new(Scheduling {
            scheduler: SchedulerSpec::StrictPriority(()),
            queues: Queues::OfClasses(vec![class("high"), class("low")], vec![Some(0), Some(1)]),
        }));
        floats(&run(network).flows, "starved")
    };
    assert_eq!(of(8_000_000), [0.0, 0.0]);
    assert_eq!(of(12_000_000), [0.0, 1.0]);
}
