//! The engine's interface: events, steps, injected datagrams and their fates, results before the end.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

use crate::common::{dumbbell, flow, group, link, tcp};
use tailback_core::congestion::ControllerSpec;
use tailback_core::network::*;
use tailback_core::primitives::packet::Ecn;
use tailback_core::primitives::segment_number::SegmentNumber;
use tailback_core::primitives::units::{Bytes, Time, TimeDelta};
use tailback_core::queue::{DropReason, PolicySpec, RedQueueUnit, RedSignals, RedSpec, ThresholdSpec};
use tailback_core::record::Table;
use tailback_core::tcp::{DelayedAck, EcnCapable, Recovery, TcpSpec, TimerForm, TimerSpec};
use tailback_core::traffic::{Arrivals, DatagramSpec, PacketSize};
use tailback_core::{DatagramContents, DatagramOutcome, Engine, Fate, Results};

fn millis(ms: u64) -> Time {
    Time(TimeDelta::from_millis(ms).0)
}

/// 8 Mbit/s and 5 ms: 1000 bytes take 1 ms to send and arrive 6 ms after an idle transmitter takes them.
fn bottleneck(buffer: Buffer) -> Port {
    link("bottleneck", 8, TimeDelta::from_millis(5), buffer)
}

fn external() -> Engine {
    external_through(bottleneck(Buffer::Units(1)))
}

fn external_through(bottleneck: Port) -> Engine {
    let spec = DatagramSpec { arrivals: Arrivals::External, packet: PacketSize::Fixed(Bytes(960)), header: Bytes(40) };
    let flows = vec![flow(0, 0, 1), flow(0, 0, 1)];
    Engine::new(dumbbell(bottleneck, group("outside", Transport::Datagram(spec)), flows, TimeDelta::from_millis(100)))
}

/// The new fates, by time.
fn fates(engine: &mut Engine) -> Vec<Fate> {
    let mut fates: Vec<_> = engine.take_fates().collect();
    fates.sort_unstable();
    fates
}

#[test]
fn an_injected_datagram_is_delivered_after_the_link_delay() {
    let mut engine = external();
    assert_eq!(engine.next_event_time(), None);
    engine.run_until(millis(10));
    assert_eq!(engine.inject(FlowId(0), Bytes(960), Ecn::NOT_ECT), Some(0));
    assert_eq!(engine.inject(FlowId(1), Bytes(960), Ecn::ECT), Some(0));
    assert_eq!(fates(&mut engine), []);
    // The fates of packets that have reached the bottleneck are known: the first arrives at 16 ms, the second, which is queued behind it,
    // at 17 ms.
    engine.run_until(Time(millis(10).0 + 1));
    let outcome = DatagramOutcome::Delivered { is_marked: false };
    let delivered = |flow, ms| Fate { time: millis(ms), flow: FlowId(flow), datagram: 0, outcome };
    assert_eq!(fates(&mut engine), [delivered(0, 16), delivered(1, 17)]);
    engine.run_until(millis(50));
    assert_eq!(fates(&mut engine), []);
}

#[test]
fn a_third_datagram_at_once_finds_the_buffer_full() {
    let mut engine = external();
    for number in 0..3 {
        assert_eq!(engine.inject(FlowId(0), Bytes(960), Ecn::NOT_ECT), Some(number));
    }
    engine.run_until(Time::NEVER);
    let fates = fates(&mut engine);
    let outcome = DatagramOutcome::Discarded { port: PortId(0), reason: DropReason::Full };
    assert_eq!((fates[0], fates.len()), (Fate { time: Time::ZERO, flow: FlowId(0), datagram: 2, outcome }, 3));
    let results = engine.results().unwrap();
    assert_eq!(results.queues.floats("dropped_full").unwrap()[0], 1.0);
    assert_eq!(results.flows.floats("sent_packets").unwrap()[0], 3.0);
}

#[test]
fn a_packet_above_the_mtu_is_discarded_whatever_the_room() {
    let impairments = Impairments { mtu: Some(Bytes(1000)), ..Impairments::default() };
    let mut engine = external_through(Port { impairments, ..bottleneck(Buffer::Unlimited) });
    for payload in [960, 961, 1200] {
        engine.inject(FlowId(0), Bytes(payload), Ecn::NOT_ECT).unwrap();
    }
    engine.run_until(Time::NEVER);
    let outcome = DatagramOutcome::Discarded { port: PortId(0), reason: DropReason::AboveMtu };
    let fates = fates(&mut engine);
    assert_eq!(fates.iter().filter(|fate| fate.outcome == outcome).map(|fate| fate.datagram).collect::<Vec<_>>(), [1, 2]);
    let results = engine.results().unwrap();
    let of = |column| results.queues.floats(column).unwrap()[0];
    assert_eq!([of("arrived_units"), of("departed_units"), of("dropped_mtu"), of("dropped_units")], [3.0, 1.0, 2.0, 2.0]);
}

#[test]
fn a_listed_drop_of_a_datagram_that_is_a_segment_hits_that_segment() {
    let mut port = bottleneck(Buffer::Units(9));
    port.listed_drops =
        [1, 2].map(|transmission| ListedDrop { flow: FlowId(0), segment: SegmentNumber(1), transmission, cell: None }).into();
    let segment = |number, transmission| DatagramContents::Segment { segment: SegmentNumber(number), transmission };
    let mut engine = external_through(port.clone());
    for contents in [segment(0, 1), DatagramContents::Unlisted, segment(1, 1), segment(2, 1), segment(1, 2), segment(1, 3)] {
        engine.inject_as(FlowId(0), Bytes(960), Ecn::NOT_ECT, contents).unwrap();
    }
    engine.run_until(Time::NEVER);
    let discarded = |engine: &mut Engine| -> Vec<u32> {
        let outcome = DatagramOutcome::Discarded { port: PortId(0), reason: DropReason::Listed };
        fates(engine).into_iter().filter(|fate| fate.outcome == outcome).map(|fate| fate.datagram).collect()
    };
    assert_eq!(discarded(&mut engine), [2, 4]);
    // Others are listed by their numbers.
    let mut engine = external_through(port);
    for number in 0..3 {
        assert_eq!(engine.inject(FlowId(0), Bytes(960), Ecn::NOT_ECT), Some(number));
    }
    engine.run_until(Time::NEVER);
    assert_eq!(discarded(&mut engine), [1]);
}

#[test]
fn ecn_capable_datagrams_are_marked_and_others_are_discarded() {
    // The third finds one packet in the queue, at which RED, without averaging, marks every packet.
    let red = RedSpec {
        min_threshold: 0.into(),
        max_threshold: 1.into(),
        max_probability: 1.0,
        weight: 1.0,
        gentle: false,
        mean_packet_size: 1000,
        queue_unit: RedQueueUnit::Packets,
        min_queue: 0,
        signals: RedSignals::Marks,
    };
    let third = |ecn, signals| {
        let policy = PolicySpec::Red(RedSpec { signals, ..red });
        let mut engine = external_through(Port { policy, ..bottleneck(Buffer::Units(5)) });
        for _ in 0..3 {
            engine.inject(FlowId(0), Bytes(960), ecn).unwrap();
        }
        engine.run_until(Time::NEVER);
        fates(&mut engine).into_iter().find(|fate| fate.datagram == 2).unwrap().outcome
    };
    let discarded = DatagramOutcome::Discarded { port: PortId(0), reason: DropReason::Early };
    assert_eq!(third(Ecn::ECT, RedSignals::Marks), DatagramOutcome::Delivered { is_marked: true });
    assert_eq!(third(Ecn::NOT_ECT, RedSignals::Marks), discarded);
    assert_eq!(third(Ecn::ECT, RedSignals::Drops), discarded);
}

#[test]
fn invalid_datagrams_are_rejected() {
    let mut engine = external();
    assert_eq!(engine.inject(FlowId(0), Bytes(0), Ecn::NOT_ECT), None);
    assert_eq!(engine.inject(FlowId(0), MAX_PACKET, Ecn::NOT_ECT), None);
    assert_eq!(engine.inject(FlowId(7), Bytes(960), Ecn::NOT_ECT), None);
    let bottleneck = link("bottleneck", 8, TimeDelta::from_millis(5), Buffer::Unlimited);
    let spec = Transport::Tcp(tcp(Recovery::Reno), ControllerSpec::Reno(()));
    let mut engine = Engine::new(dumbbell(bottleneck, group("tcp", spec), vec![flow(0, 0, 1)], TimeDelta::from_millis(100)));
    assert_eq!(engine.inject(FlowId(0), Bytes(960), Ecn::NOT_ECT), None);
}

#[test]
fn the_base_round_trip_of_datagrams_counts_their_packet_once() {
    // Forward 1000 bytes at 8 Mbit/s and 5 ms, back only 5 ms.
    let base_rtt = |engine: &Engine| engine.results().unwrap().flows.floats("base_rtt_s").unwrap();
    assert_eq!(base_rtt(&external()), [0.011, 0.011]);
    let spec = DatagramSpec {
        arrivals: Arrivals::External,
        packet: PacketSize::Exponential { mean: 960.0, maximum: Bytes(5000) },
        header: Bytes(40),
    };
    let bottleneck = link("bottleneck", 8, TimeDelta::from_millis(5), Buffer::Units(1));
    let flows = vec![flow(0, 0, 1)];
    let varying =
        Engine::new(dumbbell(bottleneck, group("outside", Transport::Datagram(spec)), flows, TimeDelta::from_millis(100)));
    assert_eq!(base_rtt(&varying), [0.01]);
}

#[test]
fn the_trace_of_drops_has_the_lost_transmission() {
    let mut bottleneck = link("bottleneck", 8, TimeDelta::from_millis(5), Buffer::Unlimited);
    bottleneck.listed_drops =
        [1, 2].map(|transmission| ListedDrop { flow: FlowId(0), segment: SegmentNumber(3), transmission, cell: None }).into();
    let spec = Transport::Tcp(tcp(Recovery::Reno), tailback_core::congestion::ControllerSpec::Reno(()));
    let mut network = dumbbell(bottleneck, group("tcp", spec), vec![flow(0, 0, 1)], TimeDelta::from_millis(5000));
    network.record.traces = vec![Trace { kind: TraceKind::Drops, of: vec![0] }];
    let mut engine = Engine::new(network);
    engine.run_until(Time::NEVER);
    let results = engine.results().unwrap();
    let column = |name| results.traces[0].floats(name).unwrap();
    assert_eq!((column("segment"), column("transmission")), (vec![3.0, 3.0], vec![1.0, 2.0]));
}

#[test]
fn discarded_acknowledgements_are_in_the_tables_and_the_trace() {
    // Each of a hundred segments is acknowledged, and the link back loses a quarter of the acknowledgements.
    let mut network = dumbbell(
        link("bottleneck", 8, TimeDelta::from_millis(5), Buffer::Unlimited),
        group("tcp", Transport::Tcp(tcp(Recovery::Sack), ControllerSpec::Reno(()))),
        vec![Flow { size: Some(Bytes(960 * 100)), ..flow(0, 0, 1) }],
        TimeDelta::from_millis(5000),
    );
    network.ports[1].random_loss = 0.25;
    network.record.traces = vec![Trace { kind: TraceKind::Drops, of: vec![0, 1] }];
    let mut engine = Engine::new(network);
    engine.run_until(Time::NEVER);
    let results = engine.results().unwrap();
    let (drops, column) = (&results.traces[0], |table: &Table, name| table.floats(name).unwrap());
    let lost = drops.rows();
    assert!((10..45).contains(&lost), "{lost}");
    assert!(drops.words("kind").unwrap().iter().all(|&kind| kind == "ack"));
    assert!(column(drops, "transmission").iter().all(|&number| number == 0.0));
    let lost = lost as f64;
    assert_eq!(column(&results.queues, "dropped_acks"), [0.0, lost]);
    assert_eq!(column(&results.queues, "dropped_units"), [0.0, lost]);
    assert_eq!((column(&results.flows, "dropped_acks"), column(&results.groups, "dropped_acks")), (vec![lost], vec![lost]));
    // The data arrived.
    assert_eq!(column(&results.flows, "loss_rate"), [0.0]);
}

#[test]
fn only_new_data_is_ecn_capable_unless_all_packets_are() {
    // The queue marks segment 4, so that its acknowledgement echoes the mark, and discards segment 10.
    let kinds = |ecn_capable| {
        let spec = TcpSpec { ecn: true, ecn_capable, handshake: true, initial_window: 8.0, ..tcp(Recovery::Sack) };
        let mut network = dumbbell(
            Port { policy: PolicySpec::Threshold(ThresholdSpec { threshold: 3.into() }), ..bottleneck(Buffer::Unlimited) },
            group("tcp", Transport::Tcp(spec, ControllerSpec::Reno(()))),
            vec![Flow { size: Some(Bytes(1000 * 30)), ..flow(0, 0, 1) }],
            TimeDelta::from_millis(5000),
        );
        network.ports[0].listed_drops =
            vec![ListedDrop { flow: FlowId(0), segment: SegmentNumber(10), transmission: 1, cell: None }];
        network.record.traces = vec![Trace { kind: TraceKind::Packets, of: vec![0] }];
        let mut engine = Engine::new(network);
        engine.run_until(Time::NEVER);
        let packets = engine.results().unwrap().traces[0].clone();
        let column = |name| packets.words(name).unwrap().into_iter().map(String::from).collect::<Vec<_>>();
        let transmissions = packets.floats("transmission").unwrap();
        let rows = column("kind").into_iter().zip(column("ecn")).zip(transmissions);
        let mut kinds: Vec<String> = rows.map(|((kind, ecn), number)| format!("{kind} {number} {ecn}")).collect();
        kinds.sort();
        kinds.dedup();
        kinds
    };
    let of_new_data = ["ack 0 ", "ack 0 echo", "data 1 capable", "data 1 reduced", "data 2 ", "syn 1 ", "syn_ack 0 "];
    assert_eq!(kinds(EcnCapable::NewData), of_new_data);
    let of_all = [
        "ack 0 capable",
        "ack 0 capable_echo",
        "data 1 capable",
        "data 1 reduced",
        "data 2 capable",
        "syn 1 capable",
        "syn_ack 0 capable",
    ];
    assert_eq!(kinds(EcnCapable::All), of_all);
}

#[test]
fn the_trace_of_a_queue_includes_the_unit_in_service_and_its_departure() {
    // Two simultaneous datagrams, each served for 1 ms, and a third after both have left; then one that is still in service.
    let rows = |counts_in_service, until| {
        let spec = DatagramSpec { arrivals: Arrivals::External, packet: PacketSize::Fixed(Bytes(960)), header: Bytes(40) };
        let traced = Port { counts_in_service, ..bottleneck(Buffer::Units(5)) };
        let flows = vec![flow(0, 0, 1)];
        let mut network = dumbbell(traced, group("outside", Transport::Datagram(spec)), flows, TimeDelta::from_millis(100));
        network.record.traces = vec![Trace { kind: TraceKind::Queue, of: vec![0] }];
        let mut engine = Engine::new(network);
        for at in [0, 0, 5] {
            engine.run_until(millis(at));
            engine.inject(FlowId(0), Bytes(960), Ecn::NOT_ECT).unwrap();
        }
        engine.run_until(Time(millis(until).0 + 1));
        let trace = &engine.results().unwrap().traces[0];
        let units = trace.floats("queue_units").unwrap();
        trace.floats("time_s").unwrap().into_iter().map(|time| (time * 1e3).round() as u64).zip(units).collect::<Vec<_>>()
    };
    assert_eq!(rows(true, 50), [(0, 1.0), (0, 2.0), (1, 1.0), (2, 0.0), (5, 1.0), (6, 0.0)]);
    assert_eq!(rows(true, 5), [(0, 1.0), (0, 2.0), (1, 1.0), (2, 0.0), (5, 1.0)]);
    assert_eq!(rows(false, 50), [(0, 0.0), (0, 1.0), (1, 0.0), (5, 0.0)]);
}

#[test]
fn steps_can_follow_the_events() {
    let bottleneck = link("bottleneck", 8, TimeDelta::from_millis(5), Buffer::Unlimited);
    let spec = Transport::Tcp(tcp(Recovery::Reno), ControllerSpec::Reno(()));
    let network = dumbbell(bottleneck, group("tcp", spec), vec![flow(0, 0, 1)], TimeDelta::from_millis(200));
    let mut whole = Engine::new(network.clone());
    whole.run_until(Time::NEVER);
    let mut stepped = Engine::new(network);
    while let Some(next) = stepped.next_event_time() {
        stepped.run_until(Time(next.0 + 1));
        assert!(stepped.now() > next);
    }
    stepped.run_until(Time::NEVER);
    assert_eq!(whole.results().unwrap().bytes(), stepped.results().unwrap().bytes());
    assert_eq!(whole.events(), stepped.events());
}

#[test]
fn the_events_of_one_instant_can_be_split_between_calls() {
    let bottleneck = link("bottleneck", 8, TimeDelta::from_millis(5), Buffer::Unlimited);
    let spec = Transport::Tcp(tcp(Recovery::Reno), ControllerSpec::Reno(()));
    let flows = vec![flow(0, 0, 1); 100];
    let network = dumbbell(bottleneck, group("tcp", spec), flows, TimeDelta::from_millis(100));
    let mut engine = Engine::new(network.clone());
    // All flows start at 0.
    assert!(!engine.run_for(Time::NEVER, 30));
    assert_eq!((engine.now(), engine.events(), engine.next_event_time()), (Time::ZERO, 30, Some(Time::ZERO)));
    assert!(!engine.run_for(Time::NEVER, 0));
    assert!(engine.run_for(Time(1), 1000));
    assert_eq!(engine.now(), Time(1));
    assert!(engine.run_for(Time::NEVER, u64::MAX));
    let mut whole = Engine::new(network);
    whole.run_until(Time::NEVER);
    assert_eq!(whole.results().unwrap().bytes(), engine.results().unwrap().bytes());
    assert_eq!((whole.events(), whole.now()), (engine.events(), engine.now()));
}

#[test]
fn adding_a_group_does_not_change_the_clock_of_another() {
    let tick = TimeDelta::from_millis(500);
    let timer = TimerSpec { form: TimerForm::CoarseBsd { tick }, ..tcp(Recovery::Tahoe).timer };
    let coarse = group("coarse", Transport::Tcp(TcpSpec { timer, ..tcp(Recovery::Tahoe) }, ControllerSpec::Reno(())));
    let silent = DatagramSpec { arrivals: Arrivals::External, packet: PacketSize::Fixed(Bytes(960)), header: Bytes(40) };
    let run = |others: usize| {
        let bottleneck = link("bottleneck", 1, TimeDelta::from_millis(5), Buffer::Units(2));
        let flows = vec![flow(u32::from(others > 0), 0, 1); 5];
        let alone = dumbbell(bottleneck, coarse.clone(), flows, TimeDelta::from_millis(20_000));
        let mut engine = Engine::new(match others {
            0 => alone,
            _ => Network {
                groups: vec![group("silent", Transport::Datagram(silent.clone())), coarse.clone()],
                flows: vec![flow(0, 0, 1); others].into_iter().chain(alone.flows).collect(),
                ..alone
            },
        });
        engine.run_until(Time::NEVER);
        let flows = engine.results().unwrap().flows;
        ["timeouts", "sent_packets", "active_share"].map(|name| flows.floats(name).unwrap()[others..].to_vec())
    };
    let alone = run(0);
    assert!(alone[0].iter().sum::<f64>() > 0.0);
    assert_eq!(alone, run(3));
}

/// Segments of 1000 bytes with 40 bytes of headers over 8 Mbit/s and 5 ms: three arrive by 8.12 ms, six more by 22.32 ms.
fn short_transfer(changes: Vec<Change>, flow: Flow) -> Results {
    let bottleneck = link("bottleneck", 8, TimeDelta::from_millis(5), Buffer::Unlimited);
    let spec = Transport::Tcp(tcp(Recovery::Reno), ControllerSpec::Reno(()));
    let network = dumbbell(bottleneck, group("tcp", spec), vec![flow], TimeDelta::from_millis(10_000));
    let mut engine = Engine::new(Network { changes, ..network });
    engine.run_until(Time::NEVER);
    engine.results().unwrap()
}

fn first(results: &Results, name: &str) -> f64 {
    results.flows.floats(name).unwrap()[0]
}

fn loses_from(ms: u64, port: u32) -> Change {
    Change { at: millis(ms), what: ChangeKind::RandomLoss(PortId(port), 1.0) }
}

#[test]
fn a_finished_transfer_counts_as_active_even_if_its_last_acknowledgements_are_lost() {
    let results = short_transfer(vec![loses_from(15, 1)], Flow { size: Some(Bytes(9000)), ..flow(0, 0, 1) });
    assert!(first(&results, "timeouts") > 0.0 && first(&results, "completion_time_s") < 0.03);
    assert_eq!(first(&results, "active_share"), 1.0);
}

#[test]
fn a_stopped_flow_is_active_until_its_stop() {
    // 100 ms of data at 8 Mbit/s are sent without loss, and then nothing for ten seconds.
    let stopped = Flow { stop: millis(100), ..flow(0, 0, 1) };
    assert_eq!(first(&short_transfer(Vec::new(), stopped.clone()), "active_share"), 1.0);
    // All packets are lost from 50 ms to 1 s: the flow waits for most of its lifetime, which ends with the last repair.
    let gap = vec![loses_from(50, 0), Change { at: millis(1000), what: ChangeKind::RandomLoss(PortId(0), 0.0) }];
    let share = first(&short_transfer(gap, stopped), "active_share");
    assert!((0.0..0.5).contains(&share), "{share}");
    // All packets are lost from then on: the flow waits until the end, whether or not there is a timeout.
    let cut = Flow { stop: millis(100), ..flow(0, 0, 1) };
    let share = first(&short_transfer(vec![loses_from(50, 0)], cut), "active_share");
    assert!((0.0..0.01).contains(&share), "{share}");
}

/// The first segment is lost. The wait for the timeout after 3 s, or for an earlier end, counts from its transmission.
#[test]
fn a_wait_for_a_timeout_counts_even_if_the_run_ends_first() {
    let share = |ms: u64, recovery, delayed_ack| {
        let timer = TimerSpec::coarse(TimeDelta::from_millis(500));
        let spec = TcpSpec { recovery, timer, delayed_ack, initial_window: 1.0, ..tcp(recovery) };
        let bottleneck = link("bottleneck", 8, TimeDelta::from_millis(5), Buffer::Unlimited);
        let flows = vec![flow(0, 0, 1)];
        let group = group("tcp", Transport::Tcp(spec, ControllerSpec::Reno(())));
        let network = dumbbell(bottleneck, group, flows, TimeDelta::from_millis(ms));
        let lossy = Network {
            changes: vec![loses_from(0, 0), Change { at: millis(50), what: ChangeKind::RandomLoss(PortId(0), 0.0) }],
            ..network
        };
        let mut engine = Engine::new(lossy);
        engine.run_until(Time::NEVER);
        let results = engine.results().unwrap();
        (first(&results, "active_share"), first(&results, "waiting_at_end"), first(&results, "timeouts"))
    };
    assert_eq!(share(2900, Recovery::Reno, None), (0.0, 1.0, 0.0));
    let (active, waits, timeouts) = share(3100, Recovery::Reno, None);
    assert!((0.02..0.04).contains(&active) && (waits, timeouts) == (0.0, 1.0), "{active}");
    // RACK sends a probe after one second, which arrives, so it never waits for a timeout.
    assert_eq!(share(2900, Recovery::RackTlp, None), (1.0, 0.0, 0.0));
    // The delayed acknowledgement will reach the sender.
    let delayed = Some(DelayedAck::default());
    assert_eq!(share(3100, Recovery::Reno, delayed).1, 0.0);
}

#[test]
fn results_before_the_end_are_incomplete() {
    let mut engine = external();
    engine.run_until(millis(50));
    let results = engine.results().unwrap();
    assert!(!results.complete);
    assert_eq!(results.simulated_s, 0.05);
    engine.run_until(Time::NEVER);
    assert!(engine.results().unwrap().complete);
}
