//! Congestion signals for controllers that request them ([`Subscriptions`]). Other flows have no cost.

use super::group_profile::SignalGroup;
use super::user_code_factory::Code;
use super::wiring::first_flows;
use crate::congestion::{ControllerSpec, Subscriptions};
use crate::network::{Group, Network, Transport};
use crate::primitives::ids::FlowId;
use crate::primitives::random::{Entity, Purpose, Stream};
use crate::tcp::signal_reader::SignalReader;

/// The signal readers of the senders whose controllers request signals, and the groups that have them.
pub(crate) fn make_readers(network: &Network, code: &dyn Code) -> (Vec<SignalReader>, Vec<Option<SignalGroup>>) {
    let first_flows = first_flows(network);
    let subscriptions = |group: &Group| match &group.transport {
        Transport::Tcp(_, law) => {
            let subscriptions =
                if let ControllerSpec::User(user) = law { code.subscriptions(user) } else { law.abilities().subscriptions };
            subscriptions.is_any().then_some(subscriptions)
        }
        Transport::Datagram(_) => None,
    };
    let subscriptions: Vec<Option<Subscriptions>> = network.groups.iter().map(subscriptions).collect();
    let mut readers = Vec::new();
    let mut signalled = vec![None; subscriptions.len()];
    for (flow, spec) in FlowId::enumerate(&network.flows) {
        let group = spec.group;
        if let Some(subscriptions) = subscriptions[group] {
            signalled[group].get_or_insert_with(|| SignalGroup {
                unsignalled_before: first_flows[group].0 - readers.len() as u32,
                by_receivers: subscriptions.marks || subscriptions.price || subscriptions.one_way_delay,
            });
            let of = Entity { seed: network.seed, name: &network.groups[group].name, index: (flow - first_flows[group]).into() };
            let tcp = network.groups[group].transport.expect_tcp();
            readers.push(SignalReader::new(subscriptions, tcp, &network.prices, Stream::new(of, Purpose::Price)));
        }
    }
    (readers, signalled)
}

#[cfg(test)]
#[path = "../../tests/common/mod.rs"]
mod common;

#[cfg(test)]
mod tests {
    use super::common::{TestRandom, dumbbell, flow, group, link, random_network, route, tcp};
    use crate::congestion::probe::{ProbeLog, ProbeSpec};
    use crate::congestion::{ControllerSpec, Controllers, Subscriptions};
    use crate::network::{Buffer, FlowId, ListedDrop, Network, Port, Trace, TraceKind, Transport};
    use crate::primitives::segment_number::SegmentNumber;
    use crate::primitives::units::{Bytes, Rate, Segments, Time, TimeDelta};
    use crate::queue::PolicySpec;
    use crate::queue::probe;
    use crate::simulation::endpoints::End;
    use crate::tcp::{DelayedAck, EcnCapable, Recovery, TcpSpec, WindowValidation};
    use crate::{Engine, Results};

    const EVERYTHING: Subscriptions = Subscriptions {
        marks: true,
        handles_marks: false,
        price: true,
        one_way_delay: true,
        delivered_rate: true,
        newest_rtt: true,
        exact_rtt: false,
        release: false,
        losses: true,
        other_acks: true,
    };

    fn law(subscriptions: Subscriptions, release: Option<Segments>) -> ControllerSpec {
        ControllerSpec::Probe(ProbeSpec { subscriptions, release })
    }

    fn subscribes_to_all() -> ControllerSpec {
        law(EVERYTHING, None)
    }

    /// A window of sixteen segments over a link of 8 Mbit/s, where a segment takes 1 ms, and 10 ms each way.
    fn network(spec: TcpSpec, law: ControllerSpec, policy: PolicySpec) -> Network {
        let spec = TcpSpec { mss: Bytes(960), initial_window: 16.0, ecn: true, ..spec };
        let port = Port { policy, ..link("link", 8, TimeDelta::from_millis(10), Buffer::Unlimited) };
        dumbbell(port, group("probe", Transport::Tcp(spec, law)), vec![flow(0, 0, 1)], TimeDelta::from_millis(2000))
    }

    fn run(network: &Network) -> Engine {
        let mut engine = Engine::new(network.clone());
        engine.run_until(Time::NEVER);
        engine.results().unwrap();
        engine
    }

    fn log(engine: &Engine) -> &ProbeLog {
        match &engine.endpoints.ends()[0] {
            End::Tcp(sender) => match &sender.controller {
                Controllers::Probe(probe) => &probe.log,
                other => panic!("not a probe: {other:?}"),
            },
            End::Datagram(_) => panic!("not TCP"),
        }
    }

    fn policy(marks: u32, clears: Option<bool>, price: Option<f64>) -> PolicySpec {
        PolicySpec::Probe(probe::ProbeSpec { marks, clears, price })
    }

    #[test]
    fn prices_written_by_queues_reach_a_controller_that_requests_them() {
        let drop_tail = link("between", 10, TimeDelta::ZERO, Buffer::Unlimited);
        let second = Port { policy: policy(0, None, Some(2.0)), ..link("second", 10, TimeDelta::ZERO, Buffer::Unlimited) };
        let mut network = network(tcp(Recovery::NewReno), subscribes_to_all(), policy(0, None, Some(1.5)));
        network.ports.extend([drop_tail, second]);
        network.paths[0] = route([0, 2, 3]);
        let log = log(&run(&network)).clone();
        assert!(log.prices.len() > 500 && log.prices.iter().all(|&price| price == Some(3.5)));

        let silent = law(Subscriptions { marks: true, ..Subscriptions::default() }, None);
        network.groups[0].transport = Transport::Tcp(TcpSpec { mss: Bytes(960), ..tcp(Recovery::NewReno) }, silent);
        let engine = run(&network);
        assert!(empty_log(&engine) && engine.fabric.packets.prices() == 0);
    }

    fn empty_log(engine: &Engine) -> bool {
        log(engine).prices.iter().all(Option::is_none)
    }

    #[test]
    fn there_is_no_price_without_a_queue_that_writes_one() {
        assert!(empty_log(&run(&network(tcp(Recovery::NewReno), subscribes_to_all(), PolicySpec::DropTail(())))));
    }

    fn delays(engine: &Engine) -> Vec<f64> {
        log(engine).one_way_delays.iter().map(|delay| 1e3 * delay.seconds()).collect()
    }

    fn subscribes_to_delays() -> ControllerSpec {
        law(Subscriptions { one_way_delay: true, ..Subscriptions::default() }, None)
    }

    #[test]
    fn the_one_way_delay_excludes_queueing_on_the_reverse_path() {
        let mut network = network(tcp(Recovery::NewReno), subscribes_to_delays(), PolicySpec::DropTail(()));
        // An acknowledgement takes 2 ms there, so sixteen of them queue at first. From then on the data packets arrive one at a time.
        network.ports[1].rate = Rate(160_000);
        let delays = delays(&run(&network));
        assert_eq!(delays[..16], (11..=26).map(f64::from).collect::<Vec<_>>());
        assert!(delays.len() > 900 && delays[16..].iter().all(|&delay| delay == 11.0), "{:?}", &delays[16..40]);

        let subscribes_to_marks = law(Subscriptions { marks: true, ..Subscriptions::default() }, None);
        network.groups[0].transport = Transport::Tcp(TcpSpec { mss: Bytes(960), ..tcp(Recovery::NewReno) }, subscribes_to_marks);
        assert!(log(&run(&network)).one_way_delays.is_empty());
    }

    #[test]
    fn an_acknowledgement_of_two_segments_reports_the_lower_delay_even_when_a_timer_sends_it() {
        let delayed_ack = Some(DelayedAck { timeout: TimeDelta::from_millis(100), ..DelayedAck::default() });
        let mut network =
            network(TcpSpec { delayed_ack, ..tcp(Recovery::Sack) }, subscribes_to_delays(), PolicySpec::DropTail(()));
        network.flows[0].size = Some(Bytes(960 * 15));
        assert_eq!(delays(&run(&network)), [11.0, 13.0, 15.0, 17.0, 19.0, 21.0, 23.0, 25.0]);
    }

    #[test]
    fn a_retransmission_reports_its_own_delay_and_a_syn_reports_none() {
        for recovery in [Recovery::NewReno, Recovery::Sack, Recovery::RackTlp] {
            let spec = TcpSpec { handshake: true, ..tcp(recovery) };
            let mut network = network(spec, subscribes_to_delays(), PolicySpec::DropTail(()));
            network.ports[0].listed_drops =
                vec![ListedDrop { flow: FlowId(0), segment: SegmentNumber(30), transmission: 1, cell: None }];
            let engine = run(&network);
            let delays = delays(&engine);
            let [_, in_recovery, duplicates] = log(&engine).acks;
            assert!(in_recovery + duplicates > 2 && delays.len() > 1000, "{recovery:?}: {in_recovery}, {duplicates}");
            // At most sixteen segments queue behind one another; the two transmissions of one segment are a round trip apart.
            assert!(delays.iter().all(|delay| (11.0..=26.0).contains(delay)), "{recovery:?}: {delays:?}");
        }
    }

    #[test]
    fn marks_are_counted_exactly_even_if_acknowledgements_are_lost_or_echo_repeatedly() {
        let marking = policy(4, None, None);
        let mut network = network(tcp(Recovery::NewReno), subscribes_to_all(), marking);
        network.ports[1].random_loss = 0.2;
        network.flows[0].size = Some(Bytes(960 * 1000));
        let engine = run(&network);
        let log = log(&engine);
        // Retransmissions are not ECN-capable, and nothing is outstanding after the last acknowledgement.
        assert_eq!((log.marks, log.acked), (engine.fabric.paths()[0].marked, 1000));
        assert!(log.marks >= 240 && log.congestion > 10 && log.congestion < log.marks, "{log:?}");
    }

    #[test]
    fn marks_of_syns_and_acknowledgements_have_no_effect() {
        // Every packet of both directions is marked.
        let spec = TcpSpec { handshake: true, ecn_capable: EcnCapable::All, ..tcp(Recovery::NewReno) };
        let mut network = network(spec, subscribes_to_all(), policy(0, Some(false), None));
        network.ports[1].policy = policy(0, Some(false), None);
        network.flows[0].size = Some(Bytes(960 * 100));
        let engine = run(&network);
        let marked = engine.results().unwrap().queues.floats("marked_units").unwrap();
        assert_eq!((log(&engine).marks, log(&engine).acked, marked), (100, 100, vec![101.0, 101.0]));
    }

    #[test]
    fn a_policy_clears_and_sets_marks_at_departure() {
        let clearing =
            |clears| Port { policy: policy(0, Some(clears), None), ..link("second", 10, TimeDelta::ZERO, Buffer::Unlimited) };
        let mut network = network(tcp(Recovery::NewReno), subscribes_to_all(), policy(4, None, None));
        network.ports.push(clearing(true));
        network.paths[0] = route([0, 2]);
        let engine = run(&network);
        assert_eq!((log(&engine).marks, log(&engine).congestion), (0, 0));
        let marked = |engine: &Engine| engine.results().unwrap().queues.floats("marked_units").unwrap();
        assert!(marked(&engine)[0] > 100.0 && marked(&engine)[2] == 0.0);

        network.ports[2] = clearing(false);
        let engine = run(&network);
        let log = log(&engine);
        assert!(log.acked > 500 && log.marks == log.acked);
        // One in four units was marked before.
        assert!(marked(&engine)[0] + marked(&engine)[2] >= f64::from(log.acked));
    }

    #[test]
    fn a_window_that_fills_the_link_is_delivered_at_its_rate() {
        let mut network = network(tcp(Recovery::NewReno), subscribes_to_all(), PolicySpec::DropTail(()));
        if let Transport::Tcp(spec, _) = &mut network.groups[0].transport {
            spec.initial_window = 40.0;
        }
        let engine = run(&network);
        let rates = &log(&engine).rates;
        // From the second round trip on, one segment is delivered per millisecond.
        assert!(rates.len() > 1500);
        assert!(
            rates[80..].iter().all(|&(rate, app_limited)| (rate - 1000.0).abs() < 1e-6 && !app_limited),
            "{:?}",
            &rates[75..90]
        );
    }

    #[test]
    fn duplicate_acknowledgements_give_rate_samples_during_recovery() {
        let mut network = network(tcp(Recovery::Sack), subscribes_to_all(), PolicySpec::DropTail(()));
        network.ports[0].listed_drops = [30, 32, 33]
            .map(|segment| ListedDrop { flow: FlowId(0), segment: SegmentNumber(segment), transmission: 1, cell: None })
            .into();
        let engine = run(&network);
        let log = log(&engine);
        assert!(log.acks[1] > 0 && log.acks[2] > 10, "{:?}", log.acks);
        assert_eq!(log.congestion, 1);
        // Each acknowledgement reports new data, so each gives a sample unless its interval is too short.
        let all: u32 = log.acks.iter().sum();
        assert!(log.rates.len() as u32 > all - 10, "{} of {all}", log.rates.len());
        assert!(log.rates.iter().all(|&(rate, _)| rate > 0.0 && rate < 1001.0));
    }

    #[test]
    fn each_lost_segment_is_reported_once_with_the_packets_in_flight_when_it_was_sent() {
        let lost = [30, 32, 33, 60];
        for recovery in [Recovery::NewReno, Recovery::Sack, Recovery::BpdSack, Recovery::RackTlp] {
            let mut network = network(
                tcp(recovery),
                law(Subscriptions { losses: true, ..Subscriptions::default() }, None),
                PolicySpec::DropTail(()),
            );
            network.flows[0].size = Some(Bytes(960 * 500));
            network.ports[0].listed_drops = lost
                .map(|segment| ListedDrop { flow: FlowId(0), segment: SegmentNumber(segment), transmission: 1, cell: None })
                .into();
            let engine = run(&network);
            let log = log(&engine);
            assert_eq!((log.acked, log.timeouts), (500, 0), "{recovery:?}");
            let numbers: Vec<u64> = log.lost.iter().map(|lost| lost.lost).collect();
            assert_eq!(numbers, [1, 2, 3, 4], "{recovery:?}");
            // A full window of sixteen was in flight each time, and no loss had been detected when the first three were sent.
            assert!(log.lost[..3].iter().all(|lost| lost.in_flight == Segments(16) && !lost.app_limited), "{:?}", log.lost);
            let before: Vec<u64> = log.lost.iter().map(|lost| lost.prior_lost).collect();
            assert!(before[..3] == [0; 3] && before[3] <= 3, "{recovery:?}: {before:?}");
            let ranges = log.lost.iter().filter(|lost| lost.begins_range).count();
            assert_eq!(ranges, 3, "{recovery:?}");
        }
    }

    #[test]
    fn a_timeout_marks_all_outstanding_segments_lost() {
        for recovery in [Recovery::NewReno, Recovery::Sack, Recovery::RackTlp] {
            let mut network = network(
                tcp(recovery),
                law(Subscriptions { losses: true, ..Subscriptions::default() }, None),
                PolicySpec::DropTail(()),
            );
            network.flows[0].size = Some(Bytes(960 * 16));
            network.ports[0].listed_drops = (0..16)
                .flat_map(|segment| {
                    [1, 2].map(|transmission| ListedDrop {
                        flow: FlowId(0),
                        segment: SegmentNumber(segment),
                        transmission,
                        cell: None,
                    })
                })
                .collect();
            network.duration = TimeDelta::from_millis(30_000);
            let engine = run(&network);
            let log = log(&engine);
            assert_eq!(log.acked, 16, "{recovery:?}");
            assert!(log.timeouts >= 1 && log.lost.len() >= 16, "{recovery:?}: {} of {}", log.lost.len(), log.timeouts);
        }
    }

    fn bounded(bound: u32, spec: TcpSpec, size: u64) -> (Results, ProbeLog) {
        let subscriptions = Subscriptions { release: true, ..Subscriptions::default() };
        let mut network = network(spec, law(subscriptions, Some(Segments(bound))), PolicySpec::DropTail(()));
        network.flows[0].size = Some(Bytes(960 * size));
        network.record.traces = vec![Trace { kind: TraceKind::Segments, of: vec![0] }];
        let engine = run(&network);
        (engine.results().unwrap(), log(&engine).clone())
    }

    fn sent(results: &Results) -> Vec<f64> {
        results.traces[0].floats("time_s").unwrap()
    }

    #[test]
    fn a_release_bound_of_zero_sends_one_segment_when_nothing_is_in_flight() {
        // Sixteen segments are sent at once. The acknowledgement of the last releases the next one, after 16 ms and a round trip of 20.04
        // ms. Then one segment is sent per round trip of 21.04 ms, which includes its transmission.
        let spec = TcpSpec { window_validation: WindowValidation::Linux, ..tcp(Recovery::NewReno) };
        let (results, log) = bounded(0, spec, 20);
        let times = sent(&results);
        assert_eq!(times.len(), 20);
        assert!(times[..16].iter().all(|&time| time == 0.0));
        for (place, time) in times[16..].iter().enumerate() {
            assert!((time - 0.03604 - 0.02104 * place as f64).abs() < 1e-12, "{times:?}");
        }
        assert_eq!((log.acked, log.timeouts, log.window_validated), (20, 0, 20));
    }

    #[test]
    fn a_release_bound_of_one_halves_the_flight_when_each_acknowledgement_covers_two_segments() {
        let delayed_ack = Some(DelayedAck { timeout: TimeDelta::from_millis(100), ..DelayedAck::default() });
        let (results, _) = bounded(1, TcpSpec { delayed_ack, ..tcp(Recovery::NewReno) }, 100);
        let times = sent(&results);
        // Eight acknowledgements release eight segments, then four, two and one. The last waits for the receiver's delayed-ACK timer.
        let in_round = |from: f64, to: f64| times.iter().filter(|&&time| time >= from && time < to).count();
        assert_eq!((in_round(0.0, 0.01), in_round(0.02, 0.037), in_round(0.04, 0.06)), (16, 8, 4));
    }

    #[test]
    fn a_release_bound_of_zero_continues_after_the_timeout_of_a_lost_segment() {
        for recovery in [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack, Recovery::BpdSack] {
            for lost in 0..20 {
                let subscriptions = Subscriptions { release: true, ..Subscriptions::default() };
                let mut network = network(tcp(recovery), law(subscriptions, Some(Segments(0))), PolicySpec::DropTail(()));
                network.flows[0].size = Some(Bytes(960 * 20));
                network.duration = TimeDelta::from_millis(20_000);
                network.ports[0].listed_drops =
                    vec![ListedDrop { flow: FlowId(0), segment: SegmentNumber(lost), transmission: 1, cell: None }];
                let engine = run(&network);
                assert_eq!(log(&engine).acked, 20, "{recovery:?}, {lost} lost");
            }
        }
    }

    #[test]
    fn no_acknowledgement_after_recovery_releases_more_than_the_bound() {
        for recovery in [Recovery::Reno, Recovery::NewReno, Recovery::Sack, Recovery::BpdSack] {
            let subscriptions = Subscriptions { release: true, ..Subscriptions::default() };
            let mut network = network(tcp(recovery), law(subscriptions, Some(Segments(2))), PolicySpec::DropTail(()));
            network.ports[0].listed_drops =
                vec![ListedDrop { flow: FlowId(0), segment: SegmentNumber(30), transmission: 1, cell: None }];
            network.record.traces = vec![Trace { kind: TraceKind::Segments, of: vec![0] }];
            let engine = run(&network);
            let times = sent(&engine.results().unwrap());
            let max = times[16..].chunk_by(|a, b| a == b).map(<[f64]>::len).max();
            assert!(log(&engine).congestion == 1 && max == Some(2), "{recovery:?}: {max:?}");
        }
    }

    /// A random network whose controllers request random signals and whose policies write random signals.
    fn random(seed: u64) -> Network {
        let mut network = random_network(seed);
        let (mut dice, mut more_dice) = (TestRandom::new(seed + (1 << 40)), TestRandom::new(seed + (1 << 44)));
        for group in &mut network.groups {
            if let Transport::Tcp(_, law) = &mut group.transport
                && !dice.chance(4)
            {
                let [marks, price, delivered_rate, release] = [(); 4].map(|()| dice.chance(2));
                let [losses, other_acks, one_way_delay, newest_rtt] = [(); 4].map(|()| more_dice.chance(2));
                let exact_rtt = more_dice.chance(2);
                let subscriptions = Subscriptions {
                    marks,
                    price,
                    one_way_delay,
                    delivered_rate,
                    newest_rtt,
                    exact_rtt,
                    release,
                    losses,
                    other_acks,
                    ..Subscriptions::default()
                };
                *law = ControllerSpec::Probe(ProbeSpec {
                    subscriptions,
                    release: (!dice.chance(3)).then(|| Segments(dice.pick(0, 3) as u32)),
                });
            }
        }
        for port in &mut network.ports {
            if dice.chance(2) {
                let clears = dice.one_of(&[None, Some(false), Some(true)]);
                port.policy = policy(dice.pick(0, 5) as u32, clears, dice.chance(2).then_some(0.25));
            }
        }
        network
    }

    #[test]
    fn signals_are_identical_when_computed_ahead_stepped_sliced_or_resumed_from_a_snapshot() {
        let bytes = |engine: &Engine| -> Vec<Vec<u8>> { engine.results().unwrap().tables().map(|table| table.bytes()).collect() };
        let ends = |engine: &Engine| postcard::to_stdvec(engine.endpoints.ends()).unwrap();
        for seed in 0..250 {
            let network = random(seed);
            let whole = run(&network);
            let stepped = run(&Network { stepped: true, ..network.clone() });
            assert!(bytes(&whole) == bytes(&stepped) && ends(&whole) == ends(&stepped), "seed {seed}");
            let mut dice = TestRandom::new(seed + (1 << 41));
            let mut engine = Engine::new(network.clone());
            for _ in 0..3 {
                engine.run_for(Time(engine.now().0 + dice.pick(0, network.duration.0 / 2)), dice.pick(0, 3000));
                engine = postcard::from_bytes(&postcard::to_stdvec(&engine).unwrap()).unwrap();
                engine.results().unwrap();
            }
            engine.run_until(Time::NEVER);
            assert!(bytes(&whole) == bytes(&engine) && ends(&whole) == ends(&engine), "seed {seed}");
        }
    }

    #[test]
    fn a_flow_whose_controller_requests_no_signals_has_no_signal_state() {
        let mut network = network(tcp(Recovery::Sack), subscribes_to_all(), PolicySpec::DropTail(()));
        network.groups.push(group("reno", Transport::Tcp(tcp(Recovery::Sack), ControllerSpec::Reno(()))));
        network.groups.push(network.groups[0].clone());
        network.flows = [0, 1, 1, 2, 2].map(|group| flow(group, 0, 1)).to_vec();
        let engine = run(&network);
        assert_eq!((engine.endpoints.readers(), engine.fabric.receivers.signals()), (3, 3));
        assert_eq!([0, 1, 2, 3, 4].map(|flow| engine.fabric.signalled(FlowId(flow))), [Some(0), None, None, Some(1), Some(2)]);
    }
}
