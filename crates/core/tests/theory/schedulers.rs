//! Ports with several queues: priority against Cobham's formula, shares against the fluid ideal, and the delay of a flow with a low rate.

use crate::common::statistics::{Interval, SEEDS};
use crate::common::{floats, flow, group, one_link, port, run};
use tailback_core::Results;
use tailback_core::network::{Buffer, ClassQueue, Group, MAX_PACKET, Network, Port, Queues, Scheduling, Transport};
use tailback_core::primitives::units::{Bytes, Rate, TimeDelta};
use tailback_core::queue::PolicySpec;
use tailback_core::schedule::{DrrSpec, FlowQueueSpec, SchedulerSpec};
use tailback_core::traffic::{Arrivals, ConstantSpec, DatagramSpec, PacketSize, PoissonSpec, ProcessSpec};

const LINK: Rate = Rate(80_000_000);

/// Independent sources, each with its own group and class, over one link.
fn classes(scheduler: SchedulerSpec, weights: &[f64], sources: Vec<DatagramSpec>, duration: TimeDelta) -> Network {
    let class = |index: usize| ClassQueue {
        name: format!("class{index}"),
        weight: weights[index],
        buffer: Buffer::Unlimited,
        policy: PolicySpec::DropTail(()),
    };
    let queues = (0..weights.len()).map(class).collect();
    let of_classes = std::iter::once(None).chain((0..weights.len() as u32).map(Some)).collect();
    let scheduling = Some(Box::new(Scheduling { scheduler, queues: Queues::OfClasses(queues, of_classes) }));
    let link = Port { scheduling, ..port("link", LINK, TimeDelta::ZERO) };
    let groups: Vec<Group> = (1..)
        .zip(sources)
        .map(|(class, source)| Group { class, ..group(&format!("source{class}"), Transport::Datagram(source)) })
        .collect();
    let flows = (0..groups.len() as u32).map(|index| flow(index, 0, 1)).collect();
    let network = one_link([link, port("back", LINK, TimeDelta::ZERO)], groups[0].clone(), flows, duration);
    Network { groups, ..network }
}

fn of_classes(results: &Results, column: &str) -> Vec<f64> {
    let table = results.classes.as_ref().unwrap_or_else(|| panic!("the link has class queues"));
    floats(table, column)
}

#[test]
fn the_wait_of_each_priority_matches_cobham() {
    // Non-preemptive M/M/1 (Cobham, 1954; Kleinrock, Queueing Systems II, equation (3.31)): the residual work in service, over the capacity
    // that the classes of higher and of equal priority leave.
    const SERVICE_S: f64 = 1e-3;
    let loads = [0.3, 0.5];
    let source = |load: f64| DatagramSpec {
        arrivals: Arrivals::Process(ProcessSpec::Poisson(PoissonSpec { rate: Rate((load * LINK.0 as f64) as u64) })),
        packet: PacketSize::Exponential { mean: 10_000.0, maximum: MAX_PACKET },
        header: Bytes(0),
    };
    let sources = loads.map(source).into();
    let mut network = classes(SchedulerSpec::StrictPriority(()), &[1.0, 1.0], sources, TimeDelta::from_seconds(200.0));
    network.warmup = TimeDelta::from_seconds(1.0);
    let mut waits = [Vec::new(), Vec::new()];
    for seed in SEEDS {
        network.seed = seed;
        let measured = of_classes(&run(network.clone()), "mean_wait_s");
        waits.iter_mut().zip(measured).for_each(|(all, wait)| all.push(wait / SERVICE_S));
    }
    let found = loads.iter().sum::<f64>();
    let expected = [found / (1.0 - loads[0]), found / ((1.0 - loads[0]) * (1.0 - found))];
    for ((priority, expected), waits) in (1..).zip(expected).zip(waits) {
        Interval::of(&waits).assert_holds(&format!("wait of priority {priority}"), expected, 0.04);
    }
}

#[test]
fn backlogged_sources_get_their_shares_to_the_packet() {
    // Every source sends at the link rate, so each queue is backlogged from its first packets on.
    let weights = [1.0, 2.0, 4.5];
    let sizes = [1500, 400, 900];
    let source = |bytes: u64| DatagramSpec {
        arrivals: Arrivals::Process(ProcessSpec::Constant(ConstantSpec { rate: LINK })),
        packet: PacketSize::Fixed(Bytes(bytes)),
        header: Bytes(0),
    };
    let duration = TimeDelta::from_millis(1000);
    for (scheduler, turn) in [
        (SchedulerSpec::Wfq(()), 0.0),
        (SchedulerSpec::StartTimeFair(()), 0.0),
        (SchedulerSpec::Drr(DrrSpec { quantum: 1500 }), 1500.0),
        (SchedulerSpec::FlowQueue(FlowQueueSpec { quantum: 1500 }), 1500.0),
    ] {
        let results = run(classes(scheduler.clone(), &weights, sizes.map(source).into(), duration));
        let sent = of_classes(&results, "departed_bytes");
        let whole = 10_000_000.0;
        for ((sent, weight), bytes) in sent.iter().zip(weights).zip(sizes) {
            let ideal = whole * weight / weights.iter().sum::<f64>();
            // One unit of its own, one in service, and one turn of all others.
            let max = bytes as f64 + 1500.0 + turn * weight;
            assert!((sent - ideal).abs() <= max, "{scheduler:?}: {sent} of {ideal}");
        }
    }
}

#[test]
fn a_source_below_its_share_waits_for_at_most_one_turn() {
    // RFC 8290 section 1: a queue that has been empty is served first, after the unit in service and other new queues.
    let source = |rate, bytes| DatagramSpec {
        arrivals: Arrivals::Process(ProcessSpec::Constant(ConstantSpec { rate: Rate(rate) })),
        packet: PacketSize::Fixed(Bytes(bytes)),
        header: Bytes(0),
    };
    let sources = vec![source(LINK.0, 1500), source(LINK.0, 1500), source(1_000_000, 200)];
    let network =
        classes(SchedulerSpec::FlowQueue(FlowQueueSpec { quantum: 1514 }), &[1.0; 3], sources, TimeDelta::from_millis(1000));
    let results = run(network);
    // 1500 bytes take 150 us.
    assert!(of_classes(&results, "mean_wait_s")[2] <= 150e-6, "{:?}", of_classes(&results, "mean_wait_s"));
    assert!(of_classes(&results, "mean_wait_s")[0] > 0.1);
}

#[test]
fn the_longest_queue_makes_room_for_the_others() {
    let source = |rate, bytes| DatagramSpec {
        arrivals: Arrivals::Process(ProcessSpec::Constant(ConstantSpec { rate: Rate(rate) })),
        packet: PacketSize::Fixed(Bytes(bytes)),
        header: Bytes(0),
    };
    for (scheduler, is_fair) in [
        (SchedulerSpec::FlowQueue(FlowQueueSpec { quantum: 1500 }), true),
        (SchedulerSpec::Drr(DrrSpec { quantum: 1500 }), true),
        (SchedulerSpec::Wfq(()), true),
        (SchedulerSpec::StartTimeFair(()), true),
        (SchedulerSpec::Sfq(()), true),
        (SchedulerSpec::Fifo(()), false),
    ] {
        let sources = vec![source(2 * LINK.0, 1500), source(LINK.0 / 10, 500)];
        let mut network = classes(scheduler, &[1.0; 2], sources, TimeDelta::from_millis(1000));
        network.ports[0].buffer = Buffer::Units(50);
        let results = run(network);
        let lost = of_classes(&results, "loss_rate");
        assert_eq!(lost[1] == 0.0, is_fair, "{lost:?}");
        assert!(lost[0] > 0.4, "{lost:?}");
        let max = crate::common::floats(&results.queues, "max_queue_units")[0];
        assert_eq!(max, 50.0);
    }
}
