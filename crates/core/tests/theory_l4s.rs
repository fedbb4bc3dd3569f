//! L4S end to end: Prague and DualPI2 (RFC 9332) by what the RFC, and the models behind it, say of their steady state.

mod common;

use common::statistics::Interval;
use common::{floats, flow, group, one_link, port, run, tcp};
use tailback_core::Results;
use tailback_core::congestion::{ControllerSpec, CubicSpec, DctcpSpec, PragueSpec};
use tailback_core::network::{Access, Buffer, Flow, Group, Network, Port, Queues, Scheduling, Transport};
use tailback_core::primitives::units::{Bytes, Rate, Span, Time};
use tailback_core::schedule::{DualPi2Spec, DualService, SchedulerSpec};
use tailback_core::tcp::{Recovery, TcpSpec};
use tailback_core::traffic::{Arrivals, ConstantSpec, DatagramSpec, PacketSize, ProcessSpec};

const LINK: Rate = Rate(40_000_000);

fn ends(name: &str, law: ControllerSpec) -> Group {
    let l4s = !matches!(law, ControllerSpec::Reno(()) | ControllerSpec::Cubic(_));
    let spec = TcpSpec { ecn: l4s, timestamps: true, ..tcp(Recovery::Sack) };
    Group { l4s, ..group(name, Transport::Tcp(spec, law)) }
}

fn unresponsive(name: &str, rate: Rate, l4s: bool) -> Group {
    let arrivals = Arrivals::Process(ProcessSpec::Constant(ConstantSpec { rate }));
    let spec = DatagramSpec { arrivals, packet: PacketSize::Fixed(Bytes(1000)), header: Bytes(0) };
    Group { l4s, ..group(name, Transport::Datagram(spec)) }
}

/// One flow of each of these groups over a DualPI2, all with this round trip.
fn network(spec: DualPi2Spec, groups: Vec<Group>, rtt: Span, seconds: u64) -> Network {
    let scheduling = Some(Scheduling { scheduler: SchedulerSpec::DualPi2(spec), queues: Queues::L4sAndClassic });
    let buffer = Buffer::Bytes(LINK.0 / 8 / 4);
    let link = Port { scheduling, buffer, ..port("link", LINK, Span::ZERO) };
    let one = |index: u32| Flow {
        sender_access: Access { rate: None, delay: Span(rtt.0 / 2) },
        start: Time::ZERO + Span::from_millis(100 * u64::from(index)),
        ..flow(index, 0, 1)
    };
    let flows = (0..groups.len() as u32).map(one).collect();
    let back = port("back", Rate(1_000_000_000), Span::ZERO);
    let network = one_link([link, back], groups[0].clone(), flows, Span::from_millis(1000 * seconds));
    Network { groups, warmup: Span::from_millis(1000 * seconds / 4), ..network }
}

fn prague() -> ControllerSpec {
    ControllerSpec::Prague(PragueSpec::default())
}

fn classes(results: &Results, column: &str) -> Vec<f64> {
    floats(results.classes.as_ref().unwrap(), column)
}

#[test]
fn measure() {
    for (name, l, c) in [
        ("prague reno", prague(), ControllerSpec::Reno(())),
        ("prague cubic", prague(), ControllerSpec::Cubic(CubicSpec::default())),
        ("dctcp reno", ControllerSpec::Dctcp(DctcpSpec::default()), ControllerSpec::Reno(())),
        ("dctcp cubic", ControllerSpec::Dctcp(DctcpSpec::default()), ControllerSpec::Cubic(CubicSpec::default())),
    ] {
        for rtt in [5, 10, 25, 50] {
            for service in [DualService::WeightedRoundRobin, DualService::TimeShiftedFifo] {
                let groups = vec![ends("l", l.clone()), ends("c", c.clone())];
                let spec = DualPi2Spec { service, ..DualPi2Spec::default() };
                let results = run(network(spec, groups, Span::from_millis(rtt), 120));
                println!(
                    "{name} {rtt} {service:?}: Mb/s {:?} waits ms {:?} loss {:?} util {:?}",
                    classes(&results, "throughput_bps").iter().map(|r| r / 1e6).collect::<Vec<_>>(),
                    classes(&results, "mean_wait_s").iter().map(|r| r * 1e3).collect::<Vec<_>>(),
                    classes(&results, "loss_share"),
                    floats(&results.queues, "utilisation")[0],
                );
            }
        }
    }
    for (name, groups) in [
        ("L 50 + reno", vec![unresponsive("l", Rate(50_000_000), true), ends("c", ControllerSpec::Reno(()))]),
        ("L 39 + reno", vec![unresponsive("l", Rate(39_000_000), true), ends("c", ControllerSpec::Reno(()))]),
        ("L 50 + C udp 5", vec![unresponsive("l", Rate(50_000_000), true), unresponsive("c", Rate(5_000_000), false)]),
        ("L 50 + C udp 50", vec![unresponsive("l", Rate(50_000_000), true), unresponsive("c", Rate(50_000_000), false)]),
        ("prague + C udp 50", vec![ends("l", prague()), unresponsive("c", Rate(50_000_000), false)]),
        ("prague alone", vec![ends("l", prague())]),
        ("reno alone", vec![ends("c", ControllerSpec::Reno(()))]),
    ] {
        let results = run(network(DualPi2Spec::default(), groups, Span::from_millis(20), 60));
        println!(
            "{name}: Mb/s {:?} waits ms {:?} loss {:?} util {:?}",
            classes(&results, "throughput_bps").iter().map(|r| r / 1e6).collect::<Vec<_>>(),
            classes(&results, "mean_wait_s").iter().map(|r| r * 1e3).collect::<Vec<_>>(),
            classes(&results, "loss_share"),
            floats(&results.queues, "utilisation")[0],
        );
    }
    let _ = Interval::of(&[1.0, 2.0]);
}
