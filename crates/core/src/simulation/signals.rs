//! Signals of congestion on their way to controllers that ask for them ([`AskedFor`]). Other flows pay nothing.

use super::facts::Signalled;
use super::wiring::first_flows;
use super::workshop::Code;
use crate::congestion::{AskedFor, ControllerSpec};
use crate::network::{Group, Network, Transport};
use crate::primitives::random::{Entity, Purpose, Stream};
use crate::tcp::Recovery;
use crate::tcp::signal_reader::SignalReader;

/// What senders keep for controllers that ask for signals, and which groups have such.
pub(crate) fn make_readers(network: &Network, code: &dyn Code) -> (Vec<SignalReader>, Vec<Option<Signalled>>) {
    let first_flows = first_flows(network);
    let asked = |group: &Group| match &group.transport {
        Transport::Tcp(spec, law) => {
            let asked = if let ControllerSpec::User(user) = law { code.asks_for(user) } else { law.asks_for() };
            asked.anything().then_some((asked, spec.recovery))
        }
        Transport::Datagram(_) => None,
    };
    let asked: Vec<Option<(AskedFor, Recovery)>> = network.groups.iter().map(asked).collect();
    let mut readers = Vec::new();
    let mut signalled = vec![None; asked.len()];
    for (index, flow) in (0..).zip(&network.flows) {
        let group = flow.group as usize;
        if let Some((asked, recovery)) = asked[group] {
            signalled[group].get_or_insert_with(|| Signalled {
                unsignalled_before: first_flows[group] - readers.len() as u32,
                by_receivers: asked.marks || asked.price || asked.one_way_delay,
            });
            let of =
                Entity { seed: network.seed, name: &network.groups[group].name, index: index - u64::from(first_flows[group]) };
            readers.push(SignalReader::new(asked, recovery, &network.prices, Stream::new(of, Purpose::Price)));
        }
    }
    (readers, signalled)
}

#[cfg(test)]
#[path = "../../tests/common/mod.rs"]
mod common;

#[cfg(test)]
mod tests {
    use super::common::{Dice, dumbbell, flow, group, link, random_network, tcp};
    use crate::congestion::probe::{Heard, ProbeSpec};
    use crate::congestion::{AskedFor, ControllerSpec, Controllers};
    use crate::network::{Buffer, Flow, ListedDrop, Network, Port, Trace, TraceKind, Transport};
    use crate::primitives::units::{Bytes, Rate, Segments, Span, Time};
    use crate::queue::PolicySpec;
    use crate::queue::probe;
    use crate::simulation::senders::End;
    use crate::tcp::sender::NONE;
    use crate::tcp::{DelayedAck, Recovery, TcpSpec, WindowValidation};
    use crate::{Engine, Results};

    const EVERYTHING: AskedFor = AskedFor {
        marks: true,
        answers_marks: false,
        price: true,
        one_way_delay: true,
        delivered_rate: true,
        release: false,
        losses: true,
        other_acks: true,
    };

    fn law(asks_for: AskedFor, release: Option<Segments>) -> ControllerSpec {
        ControllerSpec::Probe(ProbeSpec { asks_for, release })
    }

    fn asks_for_everything() -> ControllerSpec {
        law(EVERYTHING, None)
    }

    /// A window of sixteen segments over a link of 8 Mbit/s, where a segment takes a millisecond, and 10 ms each way.
    fn network(spec: TcpSpec, law: ControllerSpec, policy: PolicySpec) -> Network {
        let spec = TcpSpec { mss: Bytes(960), initial_window: 16.0, ecn: true, ..spec };
        let port = Port { policy, ..link("link", 8, Span::from_millis(10), Buffer::Unlimited) };
        dumbbell(port, group("probe", Transport::Tcp(spec, law)), vec![flow(0, 0, 1)], Span::from_millis(2000))
    }

    fn run(network: &Network) -> Engine {
        let mut engine = Engine::new(network.clone());
        engine.run_until(Time::NEVER);
        engine.results().unwrap();
        engine
    }

    fn heard(engine: &Engine) -> &Heard {
        match &engine.senders.ends[0] {
            End::Tcp(sender) => match &sender.controller {
                Controllers::Probe(probe) => &probe.heard,
                other => panic!("not a probe: {other:?}"),
            },
            End::Datagram(_) => panic!("not TCP"),
        }
    }

    fn policy(marks: u32, clears: Option<bool>, price: Option<f64>) -> PolicySpec {
        PolicySpec::Probe(probe::ProbeSpec { marks, clears, price })
    }

    #[test]
    fn the_prices_that_queues_write_reach_the_controller_that_asks_for_them() {
        let drop_tail = link("between", 10, Span::ZERO, Buffer::Unlimited);
        let second = Port { policy: policy(0, None, Some(2.0)), ..link("second", 10, Span::ZERO, Buffer::Unlimited) };
        let mut network = network(tcp(Recovery::NewReno), asks_for_everything(), policy(0, None, Some(1.5)));
        network.ports.extend([drop_tail, second]);
        network.paths[0] = vec![0, 2, 3];
        let heard = heard(&run(&network)).clone();
        assert!(heard.prices.len() > 500 && heard.prices.iter().all(|&price| price == Some(3.5)));

        let silent = law(AskedFor { marks: true, ..AskedFor::default() }, None);
        network.groups[0].transport = Transport::Tcp(TcpSpec { mss: Bytes(960), ..tcp(Recovery::NewReno) }, silent);
        let engine = run(&network);
        assert!(heard_nothing(&engine) && engine.senders.fabric.common.prices.used() == 0);
    }

    fn heard_nothing(engine: &Engine) -> bool {
        heard(engine).prices.iter().all(Option::is_none)
    }

    #[test]
    fn without_a_queue_that_writes_there_is_no_price() {
        assert!(heard_nothing(&run(&network(tcp(Recovery::NewReno), asks_for_everything(), PolicySpec::DropTail(())))));
    }

    fn delays(engine: &Engine) -> Vec<f64> {
        heard(engine).one_way_delays.iter().map(|delay| 1e3 * delay.seconds()).collect()
    }

    fn asks_for_delays() -> ControllerSpec {
        law(AskedFor { one_way_delay: true, ..AskedFor::default() }, None)
    }

    #[test]
    fn the_delay_of_the_way_there_is_told_whatever_waits_on_the_way_back() {
        let mut network = network(tcp(Recovery::NewReno), asks_for_delays(), PolicySpec::DropTail(()));
        // An acknowledgement takes 2 ms there, so that sixteen of them wait at first, and each data packet comes alone from then on.
        network.ports[1].rate = Rate(160_000);
        let delays = delays(&run(&network));
        assert_eq!(delays[..16], (11..=26).map(f64::from).collect::<Vec<_>>());
        assert!(delays.len() > 900 && delays[16..].iter().all(|&delay| delay == 11.0), "{:?}", &delays[16..40]);

        let asks_for_marks = law(AskedFor { marks: true, ..AskedFor::default() }, None);
        network.groups[0].transport = Transport::Tcp(TcpSpec { mss: Bytes(960), ..tcp(Recovery::NewReno) }, asks_for_marks);
        assert!(heard(&run(&network)).one_way_delays.is_empty());
    }

    #[test]
    fn an_acknowledgement_of_two_tells_the_lesser_of_their_delays_also_when_a_timer_sends_it() {
        let delayed_ack = Some(DelayedAck { timeout: Span::from_millis(100), ..DelayedAck::USUAL });
        let mut network = network(TcpSpec { delayed_ack, ..tcp(Recovery::Sack) }, asks_for_delays(), PolicySpec::DropTail(()));
        network.flows[0].size = Some(Bytes(960 * 15));
        assert_eq!(delays(&run(&network)), [11.0, 13.0, 15.0, 17.0, 19.0, 21.0, 23.0, 25.0]);
    }

    #[test]
    fn a_segment_sent_again_tells_how_long_it_took_this_time_and_a_syn_nothing() {
        for recovery in [Recovery::NewReno, Recovery::Sack, Recovery::RackTlp] {
            let spec = TcpSpec { handshake: true, ..tcp(recovery) };
            let mut network = network(spec, asks_for_delays(), PolicySpec::DropTail(()));
            network.ports[0].listed_drops = vec![ListedDrop { flow: 0, segment: 30, transmission: 1, cell: None }];
            let engine = run(&network);
            let delays = delays(&engine);
            let [_, in_recovery, duplicates] = heard(&engine).acks;
            assert!(in_recovery + duplicates > 2 && delays.len() > 1000, "{recovery:?}: {in_recovery}, {duplicates}");
            // Sixteen at most wait for each other; between the two transmissions of one there is a round trip.
            assert!(delays.iter().all(|delay| (11.0..=26.0).contains(delay)), "{recovery:?}: {delays:?}");
        }
    }

    #[test]
    fn marks_are_counted_exactly_though_acknowledgements_are_lost_and_echo_more() {
        let marking = policy(4, None, None);
        let mut network = network(tcp(Recovery::NewReno), asks_for_everything(), marking);
        network.ports[1].random_loss = 0.2;
        network.flows[0].size = Some(Bytes(960 * 1000));
        let engine = run(&network);
        let heard = heard(&engine);
        // Retransmissions are not capable, and after the last of the acknowledgements nothing is outstanding.
        assert_eq!((heard.marks, heard.acked), (engine.senders.fabric.paths[0].marked, 1000));
        assert!(heard.marks >= 240 && heard.congestion > 10 && heard.congestion < heard.marks, "{heard:?}");
    }

    #[test]
    fn a_policy_takes_marks_off_and_sets_them_as_units_leave() {
        let clearing =
            |clears| Port { policy: policy(0, Some(clears), None), ..link("second", 10, Span::ZERO, Buffer::Unlimited) };
        let mut network = network(tcp(Recovery::NewReno), asks_for_everything(), policy(4, None, None));
        network.ports.push(clearing(true));
        network.paths[0] = vec![0, 2];
        let engine = run(&network);
        assert_eq!((heard(&engine).marks, heard(&engine).congestion), (0, 0));
        let marked = |engine: &Engine| engine.results().unwrap().queues.floats("marked_units").unwrap();
        assert!(marked(&engine)[0] > 100.0 && marked(&engine)[2] == 0.0);

        network.ports[2] = clearing(false);
        let engine = run(&network);
        let heard = heard(&engine);
        assert!(heard.acked > 500 && heard.marks == heard.acked);
        // The mark of one in four was there already.
        assert!(marked(&engine)[0] + marked(&engine)[2] >= f64::from(heard.acked));
    }

    #[test]
    fn a_window_that_fills_the_link_is_delivered_at_its_rate() {
        let mut network = network(tcp(Recovery::NewReno), asks_for_everything(), PolicySpec::DropTail(()));
        if let Transport::Tcp(spec, _) = &mut network.groups[0].transport {
            spec.initial_window = 40.0;
        }
        let engine = run(&network);
        let rates = &heard(&engine).rates;
        // From the second round trip on a segment is delivered each millisecond.
        assert!(rates.len() > 1500);
        assert!(
            rates[80..].iter().all(|&(rate, app_limited)| (rate - 1000.0).abs() < 1e-6 && !app_limited),
            "{:?}",
            &rates[75..90]
        );
    }

    #[test]
    fn while_losses_are_repaired_duplicates_give_samples_too() {
        let mut network = network(tcp(Recovery::Sack), asks_for_everything(), PolicySpec::DropTail(()));
        network.ports[0].listed_drops =
            [30, 32, 33].map(|segment| ListedDrop { flow: 0, segment, transmission: 1, cell: None }).into();
        let engine = run(&network);
        let heard = heard(&engine);
        assert!(heard.acks[1] > 0 && heard.acks[2] > 10, "{:?}", heard.acks);
        assert_eq!(heard.congestion, 1);
        // Each acknowledgement delivers something: all give a sample, but for those whose interval is too short.
        let all: u32 = heard.acks.iter().sum();
        assert!(heard.rates.len() as u32 > all - 10, "{} of {all}", heard.rates.len());
        assert!(heard.rates.iter().all(|&(rate, _)| rate > 0.0 && rate < 1001.0));
    }

    #[test]
    fn each_lost_segment_is_told_once_with_what_was_in_flight_when_it_was_sent() {
        let lost = [30, 32, 33, 60];
        for recovery in [Recovery::NewReno, Recovery::Sack, Recovery::BpdSack, Recovery::RackTlp] {
            let mut network =
                network(tcp(recovery), law(AskedFor { losses: true, ..AskedFor::default() }, None), PolicySpec::DropTail(()));
            network.flows[0].size = Some(Bytes(960 * 500));
            network.ports[0].listed_drops =
                lost.map(|segment| ListedDrop { flow: 0, segment, transmission: 1, cell: None }).into();
            let engine = run(&network);
            let heard = heard(&engine);
            assert_eq!((heard.acked, heard.timeouts), (500, 0), "{recovery:?}");
            let numbers: Vec<u64> = heard.lost.iter().map(|lost| lost.lost).collect();
            assert_eq!(numbers, [1, 2, 3, 4], "{recovery:?}");
            // A window of sixteen was full each time, and no loss was known when the first three left.
            assert!(heard.lost[..3].iter().all(|lost| lost.in_flight == Segments(16) && !lost.app_limited), "{:?}", heard.lost);
            let before: Vec<u64> = heard.lost.iter().map(|lost| lost.lost_before).collect();
            assert!(before[..3] == [0; 3] && before[3] <= 3, "{recovery:?}: {before:?}");
            let ranges = heard.lost.iter().filter(|lost| lost.begins_range).count();
            assert_eq!(ranges, 3, "{recovery:?}");
        }
    }

    #[test]
    fn a_timeout_loses_all_that_is_outstanding() {
        for recovery in [Recovery::NewReno, Recovery::Sack, Recovery::RackTlp] {
            let mut network =
                network(tcp(recovery), law(AskedFor { losses: true, ..AskedFor::default() }, None), PolicySpec::DropTail(()));
            network.flows[0].size = Some(Bytes(960 * 16));
            network.ports[0].listed_drops = (0..16)
                .flat_map(|segment| [1, 2].map(|transmission| ListedDrop { flow: 0, segment, transmission, cell: None }))
                .collect();
            network.duration = Span::from_millis(30_000);
            let engine = run(&network);
            let heard = heard(&engine);
            assert_eq!(heard.acked, 16, "{recovery:?}");
            assert!(heard.timeouts >= 1 && heard.lost.len() >= 16, "{recovery:?}: {} of {}", heard.lost.len(), heard.timeouts);
        }
    }

    fn bounded(bound: u32, spec: TcpSpec, size: u64) -> (Results, Heard) {
        let asks_for = AskedFor { release: true, ..AskedFor::default() };
        let mut network = network(spec, law(asks_for, Some(Segments(bound))), PolicySpec::DropTail(()));
        network.flows[0].size = Some(Bytes(960 * size));
        network.record.traces = vec![Trace { kind: TraceKind::Segments, of: vec![0] }];
        let engine = run(&network);
        (engine.results().unwrap(), heard(&engine).clone())
    }

    fn sent(results: &Results) -> Vec<f64> {
        results.traces[0].floats("time_s").unwrap()
    }

    #[test]
    fn a_bound_of_nothing_lets_one_segment_go_when_nothing_is_in_flight() {
        // Sixteen at once, and the acknowledgement of the last lets the next one go, after 16 ms and a round trip of 20.04: then one in
        // each round trip, 21.04 ms with its transmission.
        let spec = TcpSpec { window_validation: WindowValidation::Linux, ..tcp(Recovery::NewReno) };
        let (results, heard) = bounded(0, spec, 20);
        let times = sent(&results);
        assert_eq!(times.len(), 20);
        assert!(times[..16].iter().all(|&time| time == 0.0));
        for (place, time) in times[16..].iter().enumerate() {
            assert!((time - 0.03604 - 0.02104 * place as f64).abs() < 1e-12, "{times:?}");
        }
        assert_eq!((heard.acked, heard.timeouts, heard.window_validated), (20, 0, 19));
    }

    #[test]
    fn a_bound_of_one_halves_what_is_in_flight_where_each_acknowledgement_is_of_two() {
        let delayed_ack = Some(DelayedAck { timeout: Span::from_millis(100), ..DelayedAck::USUAL });
        let (results, _) = bounded(1, TcpSpec { delayed_ack, ..tcp(Recovery::NewReno) }, 100);
        let times = sent(&results);
        // Eight acknowledgements release eight, four of those four, two, one; that one waits for the timer of the receiver.
        let in_round = |from: f64, to: f64| times.iter().filter(|&&time| time >= from && time < to).count();
        assert_eq!((in_round(0.0, 0.01), in_round(0.02, 0.037), in_round(0.04, 0.06)), (16, 8, 4));
    }

    #[test]
    fn a_bound_of_nothing_waits_for_the_timeout_when_a_segment_is_lost_and_goes_on() {
        for recovery in [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack, Recovery::BpdSack] {
            for lost in 0..20 {
                let asks_for = AskedFor { release: true, ..AskedFor::default() };
                let mut network = network(tcp(recovery), law(asks_for, Some(Segments(0))), PolicySpec::DropTail(()));
                network.flows[0].size = Some(Bytes(960 * 20));
                network.duration = Span::from_millis(20_000);
                network.ports[0].listed_drops = vec![ListedDrop { flow: 0, segment: lost, transmission: 1, cell: None }];
                let engine = run(&network);
                assert_eq!(heard(&engine).acked, 20, "{recovery:?}, {lost} lost");
            }
        }
    }

    #[test]
    fn after_recovery_no_acknowledgement_releases_more_than_the_bound() {
        for recovery in [Recovery::Reno, Recovery::NewReno, Recovery::Sack, Recovery::BpdSack] {
            let asks_for = AskedFor { release: true, ..AskedFor::default() };
            let mut network = network(tcp(recovery), law(asks_for, Some(Segments(2))), PolicySpec::DropTail(()));
            network.ports[0].listed_drops = vec![ListedDrop { flow: 0, segment: 30, transmission: 1, cell: None }];
            network.record.traces = vec![Trace { kind: TraceKind::Segments, of: vec![0] }];
            let engine = run(&network);
            let times = sent(&engine.results().unwrap());
            let most = times[16..].chunk_by(|a, b| a == b).map(<[f64]>::len).max();
            assert!(heard(&engine).congestion == 1 && most == Some(2), "{recovery:?}: {most:?}");
        }
    }

    /// Any network, with controllers that ask for any of it and policies that write.
    fn random(seed: u64) -> Network {
        let mut network = random_network(seed);
        let (mut dice, mut more_dice) = (Dice::new(seed + (1 << 40)), Dice::new(seed + (1 << 44)));
        for group in &mut network.groups {
            if let Transport::Tcp(_, law) = &mut group.transport
                && !dice.chance(4)
            {
                let [marks, price, delivered_rate, release] = [(); 4].map(|()| dice.chance(2));
                let [losses, other_acks, one_way_delay] = [(); 3].map(|()| more_dice.chance(2));
                let asks_for =
                    AskedFor { marks, price, one_way_delay, delivered_rate, release, losses, other_acks, ..AskedFor::default() };
                *law = ControllerSpec::Probe(ProbeSpec {
                    asks_for,
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
    fn signals_are_the_same_ahead_and_stepped_and_in_slices_and_of_a_snapshot() {
        let bytes = |engine: &Engine| -> Vec<Vec<u8>> { engine.results().unwrap().tables().map(|table| table.bytes()).collect() };
        // Which scoreboard is free for a sender depends on who acts first of those that act at different times.
        let ends = |engine: &Engine| {
            let mut ends = engine.senders.ends.clone();
            for end in &mut ends {
                if let End::Tcp(sender) = end {
                    sender.board = if sender.board == NONE { NONE } else { 0 };
                }
            }
            postcard::to_stdvec(&ends).unwrap()
        };
        for seed in 0..250 {
            let network = random(seed);
            let whole = run(&network);
            let stepped = run(&Network { stepped: true, ..network.clone() });
            assert!(bytes(&whole) == bytes(&stepped) && ends(&whole) == ends(&stepped), "seed {seed}");
            let mut dice = Dice::new(seed + (1 << 41));
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
    fn a_flow_whose_controller_asks_for_nothing_keeps_nothing() {
        let mut network = network(tcp(Recovery::Sack), asks_for_everything(), PolicySpec::DropTail(()));
        network.groups.push(group("reno", Transport::Tcp(tcp(Recovery::Sack), ControllerSpec::Reno(()))));
        network.groups.push(network.groups[0].clone());
        network.flows = [0, 1, 1, 2, 2].map(|group| Flow { group, ..flow(group, 0, 1) }).to_vec();
        let engine = run(&network);
        assert_eq!((engine.senders.readers.len(), engine.senders.fabric.common.at_receivers.len()), (3, 3));
        assert_eq!([0, 1, 2, 3, 4].map(|flow| engine.senders.fabric.signalled(flow)), [Some(0), None, None, Some(1), Some(2)]);
    }
}
