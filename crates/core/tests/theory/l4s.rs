//! L4S end to end: Prague and DualPI2 (RFC 9332) in steady state, against the response of their rules to marks and losses, and in overload.

use crate::common::statistics::{Interval, SEEDS};
use crate::common::{TestRandom, floats, flow, group, one_link, port, run, tcp};
use tailback_core::Results;
use tailback_core::congestion::{ControllerSpec, CubicSpec, DctcpSpec, PragueSpec};
use tailback_core::network::{AccessLink, Buffer, Flow, Group, Network, Port, Queues, Scheduling, Transport};
use tailback_core::primitives::units::{Bytes, Rate, Time, TimeDelta};
use tailback_core::schedule::{DualPi2Spec, DualService, SchedulerSpec};
use tailback_core::tcp::{Recovery, TcpSpec};
use tailback_core::traffic::{Arrivals, ConstantSpec, DatagramSpec, PacketSize, ProcessSpec};

/// Bits of a full packet.
const PACKET: f64 = 8.0 * 1040.0;

/// L4S flows receive marks. The others are not ECN-capable, so that they lose packets in the Classic queue.
fn sender(name: &str, law: ControllerSpec) -> Group {
    let l4s = !matches!(law, ControllerSpec::Reno(()) | ControllerSpec::Cubic(_));
    let spec = TcpSpec { ecn: l4s, timestamps: true, ..tcp(Recovery::Sack) };
    Group { l4s, ..group(name, Transport::Tcp(spec, law)) }
}

fn unresponsive(name: &str, rate: Rate) -> Group {
    let arrivals = Arrivals::Process(ProcessSpec::Constant(ConstantSpec { rate }));
    let spec = DatagramSpec { arrivals, packet: PacketSize::Fixed(Bytes(1000)), header: Bytes(0) };
    group(name, Transport::Datagram(spec))
}

/// One flow per group over a DualPI2 port, all with this round-trip time, for one minute.
fn network(rate: Rate, spec: DualPi2Spec, groups: Vec<Group>, rtt: TimeDelta) -> Network {
    let scheduling = Some(Box::new(Scheduling { scheduler: SchedulerSpec::DualPi2(spec), queues: Queues::L4sAndClassic }));
    // RFC 9332 figure 2: 250 ms.
    let link = Port { scheduling, buffer: Buffer::Bytes(rate.0 / 8 / 4), ..port("link", rate, TimeDelta::ZERO) };
    let one = |index: u32| Flow { sender_access: AccessLink { rate: None, delay: TimeDelta(rtt.0 / 2) }, ..flow(index, 0, 1) };
    let flows = (0..groups.len() as u32).map(one).collect();
    let back = port("back", Rate(1_000_000_000), TimeDelta::ZERO);
    let network = one_link([link, back], groups[0].clone(), flows, TimeDelta::from_millis(60_000));
    Network { groups, warmup: TimeDelta::from_millis(15_000), ..network }
}

/// The same with random starts within the first second.
fn started(mut network: Network, seed: u64) -> Network {
    let mut dice = TestRandom::new(seed);
    for flow in &mut network.flows {
        flow.start = Time::ZERO + TimeDelta::from_millis(dice.pick(0, 1000));
    }
    network
}

fn prague() -> ControllerSpec {
    ControllerSpec::Prague(PragueSpec::default())
}

/// Values of L, then of C.
fn of_classes(results: &Results, column: &str) -> [f64; 2] {
    let classes = results.classes.as_ref().unwrap_or_else(|| panic!("the link has class queues"));
    floats(classes, column).try_into().unwrap_or_else(|rows| panic!("two rows, found {rows:?}"))
}

fn near(what: &str, found: f64, expected: f64, share: f64) {
    assert!((found - expected).abs() <= share * expected, "{what}: {found}, expected {expected}");
}

#[test]
fn ten_flows_of_each_kind_have_the_windows_that_coupled_marks_imply() {
    let flows = 10;
    for rtt in [30, 60] {
        let mut groups: Vec<Group> = (0..flows).map(|index| sender(&format!("prague{index}"), prague())).collect();
        groups.extend((0..flows).map(|index| sender(&format!("reno{index}"), ControllerSpec::Reno(()))));
        let network = network(Rate(100_000_000), DualPi2Spec::default(), groups, TimeDelta::from_millis(rtt));
        for seed in 1..=3 {
            let results = run(started(network.clone(), seed));
            let [wait_l, wait_c] = of_classes(&results, "mean_wait_s");
            assert!(wait_l < 1e-3, "{wait_l}");
            near("delay of C", wait_c, 0.015, 0.02);
            let [lost_l, lost_c] = of_classes(&results, "loss_rate");
            let marked = floats(&results.queues, "marked_units")[0] / of_classes(&results, "arrived_units")[0];
            assert_eq!(lost_l, 0.0);
            // k p' for L and p'^2 for C. p' oscillates a little, and its mean is less than its root mean square.
            near("share of marks", marked, 2.0 * lost_c.sqrt(), 0.05);
            let base = rtt as f64 * 1e-3 + PACKET / 100e6;
            let windows = of_classes(&results, "throughput_bps").map(|rate| rate / f64::from(flows) / PACKET);
            let [window_l, window_c] = [windows[0] * (base + wait_l), windows[1] * (base + wait_c)];
            // Mathis and others (1997): sqrt(3/2) / sqrt(p).
            near("window of Reno", window_c, (1.5 / lost_c).sqrt(), 0.05);
            // A cycle of Prague is the window in which it responds to no further mark, and 1 / p packets until the next mark: x / 2 = (1 -
            // p) (1 + 1 / x) with x = p W. Models of DCTCP have 2 / p instead, with one reduction per round trip. Windows are sent in whole
            // segments.
            let gain = 1.0 - marked;
            let per_window = gain + (gain * gain + 2.0 * gain).sqrt();
            near("window of Prague", window_l + 0.5, per_window / marked, 0.05);
        }
    }
}

#[test]
fn one_flow_of_each_kind_gets_about_the_same_rate_over_a_typical_round_trip() {
    // RFC 9332 section 2.1 aims at approximately equal rates. Over 10 ms, L4S gets 0.80 to 1.05 times the rate of Classic. Over 40 ms it
    // gets 1.26 to 2.18 times, because the delay of C is a smaller part of the round trip there, a single Reno flow oscillates so much that
    // it leaves capacity to others, and L then has fewer marks.
    let classic = [ControllerSpec::Reno(()), ControllerSpec::Cubic(CubicSpec::default())];
    let l4s = [prague(), ControllerSpec::Dctcp(DctcpSpec::default())];
    for (rtt, min, max) in [(10, 0.75, 1.25), (40, 0.4, 2.5)] {
        for (index, (l4s, classic)) in l4s.iter().flat_map(|l| classic.iter().map(move |c| (l, c))).enumerate() {
            let service = [DualService::WeightedRoundRobin, DualService::TimeShiftedFifo][index % 2];
            let spec = DualPi2Spec { service, ..DualPi2Spec::default() };
            let groups = vec![sender("l4s", l4s.clone()), sender("classic", classic.clone())];
            let network = network(Rate(20_000_000), spec, groups, TimeDelta::from_millis(rtt));
            let network = Network { warmup: TimeDelta::from_millis(5_000), duration: TimeDelta::from_millis(20_000), ..network };
            let ratio = |seed: u64| {
                let results = run(started(network.clone(), seed));
                let [wait_l, wait_c] = of_classes(&results, "mean_wait_s");
                assert!(wait_l < 1e-3 && wait_c < 0.016, "{wait_l} and {wait_c}");
                let [of_l4s, of_classic] = of_classes(&results, "throughput_bps");
                of_l4s / of_classic
            };
            let Interval { mean, half_width } = Interval::of(&SEEDS.map(ratio).collect::<Vec<f64>>());
            let [low, high] = [mean - half_width, mean + half_width];
            assert!(low > min && high < max, "{l4s:?} over {classic:?}, {rtt} ms: {low} to {high}");
        }
    }
}

#[test]
fn in_overload_both_queues_lose_the_same_share_whichever_causes_it() {
    let rate = Rate(40_000_000);
    for [l, c] in [[50_000_000, 5_000_000], [50_000_000, 50_000_000], [5_000_000, 50_000_000]] {
        let groups = vec![Group { l4s: true, ..unresponsive("l", Rate(l)) }, unresponsive("c", Rate(c))];
        let results = run(network(rate, DualPi2Spec::default(), groups, TimeDelta::from_millis(20)));
        let lost = of_classes(&results, "loss_rate");
        let sent = (l + c) as f64;
        for (queue, lost) in ["L", "C"].into_iter().zip(lost) {
            near(&format!("loss of {queue} of {l} and {c}"), lost, 1.0 - rate.0 as f64 / sent, 0.01);
        }
        let [_, wait_c] = of_classes(&results, "mean_wait_s");
        near("delay of C", wait_c, 0.015, 0.05);
    }
}

#[test]
fn the_classic_queue_gets_the_capacity_that_l4s_traffic_leaves() {
    // 39 of 40 Mbit/s are unresponsive.
    let groups = vec![Group { l4s: true, ..unresponsive("l", Rate(39_000_000)) }, sender("reno", ControllerSpec::Reno(()))];
    let results = run(network(Rate(40_000_000), DualPi2Spec::default(), groups, TimeDelta::from_millis(20)));
    let [l, c] = of_classes(&results, "throughput_bps");
    near("L", l, 39e6, 0.001);
    near("C", c, 1e6, 0.02);
}
