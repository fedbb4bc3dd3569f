//! Impairments of links against closed forms: burst losses and losses before the queue, jitter, duplication, delivery traces.

#![allow(clippy::unwrap_used, reason = "tests may panic")]

use crate::common::statistics::{Interval, SEEDS};
use crate::common::{dumbbell, first, floats, flow, group, link, one_link, port, reno, run, tcp};
use tailback_core::network::*;
use tailback_core::primitives::packet::Ecn;
use tailback_core::primitives::units::{Bytes, Rate, Time, TimeDelta};
use tailback_core::queue::{PieSpec, PolicySpec};
use tailback_core::settings::PlainWords;
use tailback_core::tcp::{Recovery, TcpSpec};
use tailback_core::traffic::{Arrivals, DatagramSpec, PacketSize, PoissonSpec, ProcessSpec};
use tailback_core::{DatagramOutcome, Engine, Fate};

/// 8 Mbit/s and 20 ms, with an unlimited buffer: 1000 bytes take 1 ms.
fn impaired(impairments: Impairments) -> Port {
    Port { impairments, ..link("link", 8, TimeDelta::from_millis(20), Buffer::Unlimited) }
}

fn millis(milliseconds: f64) -> TimeDelta {
    TimeDelta::from_seconds(milliseconds / 1000.0)
}

/// The fates of `count` datagrams of 1000 bytes, injected every `spacing` from 0 on, by time.
fn fates_of(count: u64, spacing: TimeDelta, port: Port, seed: u64) -> Vec<Fate> {
    let spec = DatagramSpec { arrivals: Arrivals::External, packet: PacketSize::Fixed(Bytes(960)), header: Bytes(40) };
    let duration = TimeDelta((count + 100_000) * spacing.0);
    let network = dumbbell(port, group("outside", Transport::Datagram(spec)), vec![flow(0, 0, 1)], duration);
    let mut engine = Engine::new(Network { seed, ..network });
    for number in 0..count {
        engine.run_until(Time(number * spacing.0));
        engine.inject(FlowId(0), Bytes(960), Ecn::NOT_ECT).unwrap();
    }
    engine.run_until(Time::NEVER);
    engine.results().unwrap();
    let mut fates: Vec<_> = engine.take_fates().collect();
    fates.sort_by_key(|fate| fate.time);
    fates
}

fn is_delivered(fate: &Fate) -> bool {
    matches!(fate.outcome, DatagramOutcome::Delivered { .. })
}

/// Whether each datagram is lost, in the order of their numbers.
fn losses(chain: GilbertElliott, at: LossAt, seed: u64) -> Vec<bool> {
    let impairments = Impairments { bursts: Some(chain), loss_at: at, ..Impairments::default() };
    let mut fates = fates_of(20_000, TimeDelta::from_millis(2), impaired(impairments), seed);
    fates.sort_by_key(|fate| fate.datagram);
    fates.iter().map(|fate| !is_delivered(fate)).collect()
}

fn share(of: &[bool]) -> f64 {
    of.iter().filter(|&&is| is).count() as f64 / of.len() as f64
}

#[test]
fn the_loss_rate_of_a_chain_matches_its_states() {
    let chain = GilbertElliott { p: 0.02, r: 0.3, loss_in_good: 0.001, loss_in_bad: 0.6 };
    // 0.02 / 0.32 of packets meet the bad state: 0.0625 x 0.6 + 0.9375 x 0.001.
    let expected = 0.038_437_5;
    assert!((chain.mean_loss() - expected).abs() < 1e-15);
    for &at in LossAt::ALL {
        let shares: Vec<f64> = SEEDS.map(|seed| share(&losses(chain, at, seed))).collect();
        Interval::of(&shares).assert_holds(at.word(), expected, 0.05);
    }
}

/// If the bad state loses all packets and the good one none, the length of a burst is that of a stay in the bad state: n packets with
/// probability r (1 - r)^(n - 1).
#[test]
fn lengths_of_bursts_are_geometric() {
    let chain = GilbertElliott { p: 0.02, r: 0.3, loss_in_good: 0.0, loss_in_bad: 1.0 };
    let mut of_seeds = Vec::new();
    for seed in SEEDS {
        let lost = losses(chain, LossAt::Wire, seed);
        of_seeds.push(lost.chunk_by(|a, b| a == b).filter(|run| run[0]).map(<[bool]>::len).collect::<Vec<usize>>());
    }
    let mean = |value: &dyn Fn(usize) -> f64| {
        let of_seed = |bursts: &Vec<usize>| bursts.iter().map(|&length| value(length)).sum::<f64>() / bursts.len() as f64;
        Interval::of(&of_seeds.iter().map(of_seed).collect::<Vec<_>>())
    };
    mean(&|length| length as f64).assert_holds("mean length, 1 / r", 1.0 / 0.3, 0.05);
    for length in 1..=4_usize {
        let expected = 0.3 * 0.7_f64.powi(length as i32 - 1);
        mean(&|other| f64::from(u8::from(other == length))).assert_holds(&format!("bursts of {length}"), expected, 0.1);
    }
}

/// Losses before the queue leave a thinner Poisson stream: M/D/1, whose mean wait is load / (2 (1 - load)) service times. Packets lost
/// after the queue have waited too.
#[test]
fn losses_before_the_queue_reduce_its_load_and_losses_after_it_do_not() {
    let wait = |loss_at: LossAt, seed: u64| {
        // 0.8 packets of 1000 bytes per millisecond; a quarter of them is lost.
        let process = ProcessSpec::Poisson(PoissonSpec { rate: Rate(6_400_000) });
        let spec =
            DatagramSpec { arrivals: Arrivals::Process(process), packet: PacketSize::Fixed(Bytes(1000)), header: Bytes(0) };
        let lossy = Port { random_loss: 0.25, ..impaired(Impairments { loss_at, ..Impairments::default() }) };
        let seconds = TimeDelta::from_millis(60_000);
        let network = dumbbell(lossy, group("poisson", Transport::Datagram(spec)), vec![flow(0, 0, 1)], seconds);
        let results = run(Network { seed, warmup: TimeDelta::from_millis(1000), ..network });
        let share = first(&results.queues, "loss_rate");
        assert!((share - 0.25).abs() < 0.02, "{share}");
        first(&results.queues, "mean_wait_s") / 0.001
    };
    let waits = |loss_at| Interval::of(&SEEDS.map(|seed| wait(loss_at, seed)).collect::<Vec<_>>());
    waits(LossAt::BeforeQueue).assert_holds("load 0.6", 0.6 / (2.0 * 0.4), 0.05);
    waits(LossAt::Wire).assert_holds("load 0.8", 0.8 / (2.0 * 0.2), 0.1);
}

/// Delays of packets in excess of the empty link, in order of transmission.
fn additions(jitter: Jitter, spacing: TimeDelta, seed: u64) -> Vec<f64> {
    let impairments = Impairments { jitter: Some(jitter), ..Impairments::default() };
    let mut fates = fates_of(10_000, spacing, impaired(impairments), seed);
    fates.sort_by_key(|fate| fate.datagram);
    let min = |number: u32| Time(u64::from(number) * spacing.0) + TimeDelta::from_millis(21);
    fates.iter().map(|fate| fate.time.since(min(fate.datagram)).seconds() * 1000.0).collect()
}

/// For two packets T apart with exponential jitter of mean J, the second overtakes with probability exp(-T / J) / 2.
#[test]
fn the_rate_of_overtaking_matches_the_distribution_of_jitter() {
    let jitter = Jitter { delay: Delay::Exponential(millis(3.0)), reordering: true };
    let runs: Vec<Vec<f64>> = SEEDS.map(|seed| additions(jitter, millis(2.0), seed)).collect();
    let means: Vec<f64> = runs.iter().map(|run| run.iter().sum::<f64>() / run.len() as f64).collect();
    Interval::of(&means).assert_holds("mean addition", 3.0, 0.02);
    let overtaken = |run: &Vec<f64>| share(&run.windows(2).map(|pair| pair[1] + 2.0 < pair[0]).collect::<Vec<_>>());
    let shares: Vec<f64> = runs.iter().map(overtaken).collect();
    Interval::of(&shares).assert_holds("overtaken", (-2.0_f64 / 3.0).exp() / 2.0, 0.03);
}

/// In order, a packet waits for earlier ones: its jitter is the maximum of J(n - k) - k T, which exceeds x with probability 1 - (1 - exp(-x
/// / J)) (1 - exp(-(x + T) / J)) (1 - exp(-(x + 2 T) / J)) ...
#[test]
fn without_reordering_a_packet_waits_behind_those_before_it() {
    let jitter = Jitter { delay: Delay::Exponential(millis(3.0)), reordering: false };
    let runs: Vec<Vec<f64>> = SEEDS.map(|seed| additions(jitter, millis(2.0), seed)).collect();
    for run in &runs {
        // Exact to the picosecond, except for floating-point rounding.
        assert!(run.windows(2).all(|pair| pair[1] + 2.0 > pair[0] - 1e-9));
    }
    for beyond in [2.0, 4.0, 8.0] {
        let below: f64 = (0..60).map(|k| 1.0 - (-(beyond + 2.0 * f64::from(k)) / 3.0).exp()).product();
        let shares: Vec<f64> =
            runs.iter().map(|run| share(&run.iter().map(|&addition| addition > beyond).collect::<Vec<_>>())).collect();
        Interval::of(&shares).assert_holds(&format!("beyond {beyond} ms"), 1.0 - below, 0.1);
    }
}

#[test]
fn reordering_causes_spurious_retransmissions_and_in_order_jitter_causes_none() {
    let retransmitted = |reordering| {
        let impairments = Impairments {
            jitter: Some(Jitter { delay: Delay::Uniform(TimeDelta::ZERO, millis(8.0)), reordering }),
            ..Impairments::default()
        };
        let spec = TcpSpec { receiver_window: tailback_core::primitives::units::Segments(20), ..tcp(Recovery::Sack) };
        let network =
            dumbbell(impaired(impairments), group("tcp", reno(spec)), vec![flow(0, 0, 1)], TimeDelta::from_millis(20_000));
        let flows = run(network).flows;
        (first(&flows, "retransmitted_packets"), first(&flows, "spurious_retransmissions"))
    };
    assert_eq!(retransmitted(false), (0.0, 0.0));
    let (sent, needless) = retransmitted(true);
    assert!(sent > 0.0 && needless == sent, "{sent} retransmissions, {needless} of them spurious");
}

#[test]
fn a_link_duplicates_packets_with_the_given_probability() {
    let arrivals = |seed| {
        let impairments = Impairments { duplication: 0.1, ..Impairments::default() };
        let fates = fates_of(10_000, TimeDelta::from_millis(2), impaired(impairments), seed);
        let (copies, arrivals): (Vec<_>, Vec<_>) = fates.iter().partition(|fate| fate.outcome == DatagramOutcome::Copied);
        assert!(arrivals.iter().copied().all(is_delivered));
        assert_eq!(arrivals.len(), 10_000 + copies.len());
        arrivals.len() as f64 / 10_000.0
    };
    Interval::of(&SEEDS.map(arrivals).collect::<Vec<_>>()).assert_holds("arrivals", 1.1, 0.01);
}

#[test]
fn copies_are_counted_at_their_link_and_do_not_affect_delivered_data() {
    let impairments = Impairments { duplication: 1.0, ..Impairments::default() };
    let spec = TcpSpec { limited_transmit: false, ..tcp(Recovery::Sack) };
    let mut flows = vec![flow(0, 0, 1)];
    flows[0].size = Some(Bytes(100_000));
    let results = run(dumbbell(impaired(impairments), group("tcp", reno(spec)), flows, TimeDelta::from_millis(60_000)));
    let count = |column| first(&results.flows, column);
    assert_eq!((count("delivered_packets"), count("delivered_bytes")), (100.0, 100_000.0));
    // Everything that was sent arrived twice, and only the first copy of each segment was new.
    assert_eq!(count("spurious_retransmissions"), 2.0 * count("sent_packets") - 100.0);
    assert_eq!(floats(&results.queues, "duplicated_units"), [count("sent_packets"), 0.0]);
}

fn trace(instants: &[(u32, u32)]) -> DeliveryTrace {
    let at = |&(millisecond, count): &(u32, u32)| Opportunities { millisecond, count };
    DeliveryTrace::new(instants.iter().map(at).collect()).unwrap().with_accounting(Accounting::Ip)
}

fn by_trace(trace: DeliveryTrace) -> Port {
    Port {
        rate: trace.mean_rate(),
        varying: Some(VaryingRate::Opportunities(trace)),
        ..link("link", 8, TimeDelta::from_millis(20), Buffer::Unlimited)
    }
}

fn by_schedule(steps: &[(u64, u64)], period: TimeDelta) -> Port {
    let step = |&(us, rate): &(u64, u64)| RateStep { at: TimeDelta::from_micros(us), rate: Rate(rate) };
    let schedule = RateSchedule::new(steps.iter().map(step).collect(), period).unwrap();
    Port {
        rate: schedule.mean_rate(),
        varying: Some(VaryingRate::Schedule(schedule)),
        ..link("link", 8, TimeDelta::from_millis(20), Buffer::Unlimited)
    }
}

/// 8 Mbit/s, from 4.5 ms on 0, from 6 ms on 2 Mbit/s until 8 ms, and again.
#[test]
fn packets_are_sent_at_the_rate_of_the_schedule() {
    let link = by_schedule(&[(0, 8_000_000), (4_500, 0), (6_000, 2_000_000)], TimeDelta::from_millis(8));
    // A packet of 1000 bytes takes 1 ms at 8 Mbit/s, and one arrives every millisecond. The fifth, which arrives at 4 ms, is half sent when
    // the pause begins, and takes another 2 ms after it, until 8 ms.
    let arrivals: Vec<f64> =
        fates_of(7, TimeDelta::from_millis(1), link, 1).iter().map(|fate| fate.time.seconds() * 1000.0).collect();
    assert_eq!(arrivals, [21.0, 22.0, 23.0, 24.0, 28.0, 29.0, 30.0]);
}

#[test]
fn equal_steps_of_a_schedule_are_a_constant_rate() {
    let results_of = |link: Port| {
        let flows = vec![flow(0, 0, 1), flow(0, 0, 1)];
        run(dumbbell(
            Port { policy: PolicySpec::Pie(PieSpec::default()), ..link },
            group("tcp", reno(tcp(Recovery::Sack))),
            flows,
            TimeDelta::from_millis(5000),
        ))
    };
    let steps = by_schedule(&[(0, 8_000_000), (333, 8_000_000)], TimeDelta(777_777_777));
    let constant = Port { varying: None, ..steps.clone() };
    let [steps, constant] = [steps, constant].map(results_of);
    assert_eq!(steps.flows.bytes(), constant.flows.bytes());
    assert_eq!(floats(&steps.queues, "mean_wait_s"), floats(&constant.queues, "mean_wait_s"));
}

/// Three opportunities at 4 ms and one at 10 ms, repeated: alternating outages of 6 and 4 ms.
#[test]
fn packets_leave_at_the_opportunities_of_the_trace() {
    let link = by_trace(trace(&[(4, 3), (10, 1)]));
    // 1000 bytes per millisecond from 0 on. By 4 ms four packets have arrived (one at that instant is late): they use 4000 of 4500 bytes,
    // and the rest is lost. By 10 ms six more have arrived: 1500 bytes carry one packet, and 500 bytes of the next, which leaves at 14 ms
    // with four others in 4500 bytes. By 20 ms two packets are left: 1500 bytes carry one and half of the other.
    let arrivals: Vec<f64> =
        fates_of(12, TimeDelta::from_millis(1), link, 1).iter().map(|fate| fate.time.seconds() * 1000.0).collect();
    assert_eq!(arrivals, [24.0, 24.0, 24.0, 24.0, 30.0, 34.0, 34.0, 34.0, 34.0, 34.0, 40.0, 44.0]);
}

#[test]
fn a_backlogged_sender_uses_every_opportunity() {
    let link = by_trace(trace(&[(3, 2), (4, 1), (50, 7)]));
    // 120 kbit in 50 ms.
    assert_eq!(link.rate, Rate(2_400_000));
    let spec = TcpSpec { mss: Bytes(1460), initial_window: 100.0, ..tcp(Recovery::Sack) };
    let back = port("back", Rate(100_000_000), TimeDelta::from_millis(20));
    let network = one_link([link, back], group("tcp", reno(spec)), vec![flow(0, 0, 1)], TimeDelta::from_millis(20_000));
    let queues = run(Network { warmup: TimeDelta::from_millis(1000), ..network }).queues;
    assert_eq!(first(&queues, "utilisation"), 1.0);
    assert_eq!(first(&queues, "departed_bytes"), 2_400_000.0 * 19.0 / 8.0);
}

#[test]
fn departures_of_a_queue_are_counted_per_flow() {
    let flows = vec![flow(0, 0, 1), Flow { stop: Time(TimeDelta::from_millis(1000).0), ..flow(0, 0, 1) }];
    let mut network =
        dumbbell(impaired(Impairments::default()), group("tcp", reno(tcp(Recovery::Sack))), flows, TimeDelta::from_millis(3000));
    network.record.queue_flows = true;
    network.record.traces = vec![Trace { kind: TraceKind::Departures, of: vec![0] }];
    let results = run(network);
    let table = results.queue_flows.as_ref().unwrap();
    assert_eq!(table.words("queue").unwrap(), ["link", "link", "reverse", "reverse"]);
    assert_eq!(floats(table, "flow"), [0.0, 1.0, 0.0, 1.0]);
    for column in ["departed_units", "departed_bytes"] {
        let of_flows = floats(table, column);
        assert_eq!(floats(&results.queues, column), [of_flows[0] + of_flows[1], of_flows[2] + of_flows[3]]);
        assert!(of_flows[0] > of_flows[1]);
    }
    let departures = crate::common::trace(&results, "departures");
    let of_flow = |flow: f64| floats(departures, "flow").iter().filter(|&&of| of == flow).count() as f64;
    assert_eq!([of_flow(0.0), of_flow(1.0)], floats(table, "departed_units")[..2]);
    assert!(floats(departures, "bytes").iter().all(|&bytes| bytes == 1040.0));
    // Full packets of 1040 bytes leave at least 1.04 ms apart.
    assert!(floats(departures, "time_s").windows(2).all(|pair| pair[1] - pair[0] > 0.001_04 - 1e-9));
    assert_eq!(floats(table, "throughput_bps")[0], floats(table, "departed_bytes")[0] * 8.0 / 3.0);
}
