//! Equilibria of Copa, Swift and TIMELY, compared with the equations of their papers.

use crate::common::{dumbbell, first, floats, flow, group, link, one_link, port, run, tcp, trace};
use tailback_core::Results;
use tailback_core::congestion::{ControllerSpec, CopaSpec, CubicSpec, SwiftSpec, TimelySpec};
use tailback_core::network::{Buffer, Flow, Network, Port, Trace, TraceKind, Transport};
use tailback_core::primitives::units::{Rate, Time, TimeDelta};
use tailback_core::tcp::{DelayedAck, Recovery, TcpSpec};

/// 1040 bytes with headers.
fn sender(recovery: Recovery) -> TcpSpec {
    TcpSpec { timestamps: true, initial_window: 10.0, ..tcp(recovery) }
}

/// One flow per controller over 20 Mbit/s and 40 ms, with a BDP of 97 packets. All start within one round trip, so that each measures the
/// empty path.
fn copa(laws: &[CopaSpec], recovery: Recovery) -> Results {
    copa_behind(1000, laws, recovery)
}

/// The same with a buffer of `places` packets.
fn copa_behind(places: u64, laws: &[CopaSpec], recovery: Recovery) -> Results {
    let groups = laws.iter().map(|&law| group("copa", Transport::Tcp(sender(recovery), ControllerSpec::Copa(law))));
    let starting = |index: u32| Flow { start: Time(TimeDelta::from_micros(4000 * u64::from(index)).0), ..flow(index, 0, 1) };
    let ways = [("link", places), ("reverse", 1000)]
        .map(|(name, places)| link(name, 20, TimeDelta::from_millis(20), Buffer::Units(places)));
    let mut network = one_link(
        ways,
        group("none", Transport::Tcp(sender(recovery), ControllerSpec::Reno(()))),
        Vec::new(),
        TimeDelta::from_millis(40_000),
    );
    network.groups = groups.collect();
    network.flows = (0..laws.len() as u32).map(starting).collect();
    network.warmup = TimeDelta::from_millis(10_000);
    run(network)
}

#[test]
fn copa_flows_keep_1_25_over_delta_packets_each_in_the_queue_and_at_most_2_5_over_delta() {
    // Section 3: the queue oscillates between 0 and 2.5/delta^ packets, where 1/delta^ is the sum of the flows' 1/delta.
    for (deltas, recovery) in [
        (vec![0.5], Recovery::RackTlp),
        (vec![0.25], Recovery::Sack),
        (vec![0.1], Recovery::RackTlp),
        (vec![0.5; 2], Recovery::Sack),
        (vec![0.5; 5], Recovery::RackTlp),
        (vec![0.5, 0.25], Recovery::RackTlp),
    ] {
        let laws: Vec<CopaSpec> =
            deltas.iter().map(|&delta| CopaSpec { delta, competitive_mode: false, ..CopaSpec::default() }).collect();
        let results = copa(&laws, recovery);
        let inverse: f64 = deltas.iter().map(|delta| 1.0 / delta).sum();
        let (mean, max) = (first(&results.queues, "mean_queue_units"), first(&results.queues, "max_queue_units"));
        assert!((mean / (1.25 * inverse) - 1.0).abs() < 0.2, "{deltas:?}: {mean} packets, expected {}", 1.25 * inverse);
        assert!(max <= 2.5 * inverse + 1.0, "{deltas:?}: {max} packets");
        assert!(first(&results.queues, "utilisation") > 0.99 && first(&results.queues, "dropped_units") == 0.0);
    }
}

#[test]
fn copa_flows_without_others_do_not_take_themselves_for_competitors() {
    // Bandwidth-delay products of 1 to 940 packets of 1040 bytes, most of them below ten, where quantities in whole packets matter most.
    // The queue is again 1.25/delta per flow, or larger where that is more than the bandwidth-delay product.
    let paths = [
        (1, 5),
        (1, 10),
        (1, 20),
        (1, 40),
        (1, 100),
        (2, 5),
        (2, 10),
        (2, 40),
        (3, 5),
        (4, 5),
        (4, 10),
        (4, 30),
        (6, 20),
        (8, 5),
        (10, 5),
        (10, 40),
    ];
    let one =
        paths.iter().chain(&[(12, 10), (15, 40), (20, 60), (30, 20), (50, 150), (52, 150)]).map(|&(rate, rtt)| (1, rate, rtt));
    let several = [(2, 10, 20), (2, 10, 40), (3, 20, 20), (5, 20, 100), (10, 50, 40)];
    let mut wrong = Vec::new();
    for (flows, rate, rtt) in one.chain(several) {
        for delayed_ack in [None, Some(DelayedAck::default())] {
            let spec = TcpSpec { delayed_ack, ..sender(Recovery::RackTlp) };
            let law = Transport::Tcp(spec, ControllerSpec::Copa(CopaSpec::default()));
            let ways = ["link", "reverse"].map(|name| link(name, rate, TimeDelta::from_micros(500 * rtt), Buffer::Units(500)));
            let mut network =
                one_link(ways, group("copa", law), vec![flow(0, 0, 1); flows as usize], TimeDelta::from_millis(60_000));
            network.warmup = TimeDelta::from_millis(30_000);
            let queues = run(network).queues;
            let (mean, utilisation) = (first(&queues, "mean_queue_units") / f64::from(flows), first(&queues, "utilisation"));
            if !(1.5..=4.5).contains(&mean) || utilisation < 0.95 {
                wrong.push((flows, rate, rtt, delayed_ack.is_some(), mean, utilisation));
            }
        }
    }
    assert!(wrong.is_empty(), "flows, Mbit/s, ms, delayed acknowledgements, packets per flow, utilisation: {wrong:?}");
}

#[test]
fn copa_fills_a_link_with_a_buffer_of_five_packets_if_lost_retransmissions_need_no_timeout() {
    // Its queue has at most five packets, but slow start loses tens of packets of a window, and some of them twice.
    for competitive_mode in [true, false] {
        let law = [CopaSpec { competitive_mode, ..CopaSpec::default() }];
        let [by_time, by_sack] = [Recovery::RackTlp, Recovery::Sack].map(|recovery| copa_behind(5, &law, recovery));
        assert!(first(&by_time.queues, "utilisation") > 0.99 && first(&by_time.queues, "loss_rate") < 0.002);
        let found = (first(&by_sack.queues, "utilisation"), first(&by_sack.flows, "timeouts"));
        assert!(found.0 < 0.6 && found.1 > 0.0, "{found:?}");
    }
}

#[test]
fn copas_flows_share_by_one_over_delta() {
    // 1/(delta dq), for the same queue.
    let of = |delta| CopaSpec { delta, competitive_mode: false, ..CopaSpec::default() };
    let rates = floats(&copa(&[of(0.5), of(0.25), of(0.25)], Recovery::RackTlp).flows, "goodput_bps");
    assert!((rates[1] / rates[0] - 2.0).abs() < 0.4 && (rates[2] / rates[1] - 1.0).abs() < 0.1, "{rates:?}");
}

#[test]
fn copa_with_a_flow_that_fills_the_queue_competes_or_yields() {
    let share = |competitive_mode, other: ControllerSpec| {
        let law = ControllerSpec::Copa(CopaSpec { competitive_mode, ..CopaSpec::default() });
        let ways = [
            link("link", 20, TimeDelta::from_millis(20), Buffer::Units(97)),
            link("reverse", 20, TimeDelta::from_millis(20), Buffer::Unlimited),
        ];
        let mut network = one_link(
            ways,
            group("copa", Transport::Tcp(sender(Recovery::RackTlp), law)),
            vec![flow(0, 0, 1), flow(1, 0, 1)],
            TimeDelta::from_millis(120_000),
        );
        network.groups.push(group("other", Transport::Tcp(sender(Recovery::RackTlp), other)));
        network.warmup = TimeDelta::from_millis(20_000);
        let rates = floats(&run(network).flows, "goodput_bps");
        rates[0] / (rates[0] + rates[1])
    };
    for other in [ControllerSpec::Reno(()), ControllerSpec::Cubic(CubicSpec::default())] {
        let (competes, gives_way) = (share(true, other.clone()), share(false, other.clone()));
        assert!(gives_way < 0.25 && (0.4..0.6).contains(&competes), "{other:?}: {competes} {gives_way}");
    }
}

/// Flows over 10 Gbit/s and 16 us.
fn data_center(law: ControllerSpec, flows: u32, seconds: f64) -> Network {
    let switch = Port { buffer: Buffer::Units(5000), ..port("switch", Rate(10_000_000_000), TimeDelta::from_micros(8)) };
    let one = |index: u32| Flow { start: Time(TimeDelta::from_micros(17 * u64::from(index)).0), ..flow(0, 0, 1) };
    let senders = group("senders", Transport::Tcp(sender(Recovery::Sack), law));
    let mut network = dumbbell(switch, senders, (0..flows).map(one).collect(), TimeDelta::from_seconds(seconds));
    network.warmup = TimeDelta::from_seconds(seconds / 2.0);
    network
}

#[test]
fn swifts_queue_matches_the_target_delay_of_its_windows() {
    // Windows of C d/N, where d is the target delay at such a window: base_target, one hop and the flow-scaling term (section 3.5).
    let spec = SwiftSpec::default();
    let (rate, base) = (10e9 / 8.0 / 1040.0, 16e-6 + (1040.0 + 40.0) * 8.0 / 10e9);
    let target = |window: f64| {
        let SwiftSpec { base_target, hop_delay, fs_range, fs_min_cwnd, fs_max_cwnd, .. } = spec;
        let alpha = fs_range.seconds() / (1.0 / fs_min_cwnd.sqrt() - 1.0 / fs_max_cwnd.sqrt());
        let of_flows = (alpha / window.sqrt() - alpha / fs_max_cwnd.sqrt()).clamp(0.0, fs_range.seconds());
        base_target.seconds() + hop_delay.seconds() + of_flows
    };
    for flows in [1u32, 2, 5, 10, 20] {
        let mut delay = target(50.0);
        (0..200).for_each(|_| delay = (delay + target(rate * delay / f64::from(flows))) / 2.0);
        let results = run(data_center(ControllerSpec::Swift(spec), flows, 0.2));
        let (mean, expected) = (first(&results.queues, "mean_queue_units"), rate * (delay - base));
        assert!((mean - expected).abs() < 2.0 + 0.1 * expected, "{flows} flows: {mean} packets, expected {expected}");
        assert!(first(&results.queues, "utilisation") > 0.999 && first(&results.queues, "dropped_units") == 0.0);
    }
}

#[test]
fn swifts_windows_fall_below_one_if_flows_outnumber_the_packets_within_the_target() {
    // 126 us at 10 Gbit/s are 151 packets: half a packet for each of 300 flows.
    let results = run(data_center(ControllerSpec::Swift(SwiftSpec::default()), 300, 0.2));
    // Packets in flight outside the queue: 16.9 us.
    let in_flight = (first(&results.queues, "mean_queue_units") + 10e9 / 8.0 / 1040.0 * 16.9e-6) / 300.0;
    assert!((0.2..0.5).contains(&in_flight), "{in_flight}");
    assert!(first(&results.queues, "utilisation") > 0.85 && first(&results.queues, "dropped_units") == 0.0);
    assert!(fairness(&results) > 0.95, "{}", fairness(&results));
}

/// Jain's index.
fn fairness(results: &Results) -> f64 {
    let rates = floats(&results.flows, "goodput_bps");
    let (sum, squares): (f64, f64) = (rates.iter().sum(), rates.iter().map(|rate| rate * rate).sum());
    sum * sum / squares / rates.len() as f64
}

/// An internal quantity of a controller, with its times.
fn quantity(results: &Results, name: &str) -> Vec<(f64, f64)> {
    let law = trace(results, "controller");
    let rows =
        law.words("quantity").unwrap_or_default().into_iter().zip(floats(law, "time_s").into_iter().zip(floats(law, "value")));
    rows.filter(|(quantity, _)| *quantity == name).map(|(_, row)| row).collect()
}

#[test]
fn timely_flows_share_the_link_equally_with_round_trips_far_below_t_high() {
    // A round-trip time of 500 us would be 580 packets in addition to the base of 16.9 us. Only gradients keep the queue shorter than that.
    for flows in [2u32, 5, 10, 20] {
        let law = TimelySpec { initial_rate: Some(Rate(10_000_000_000 / u64::from(flows + 1))), ..TimelySpec::default() };
        let results = run(data_center(ControllerSpec::Timely(law), flows, 0.4));
        assert!(first(&results.queues, "utilisation") > 0.95 && first(&results.queues, "dropped_units") == 0.0);
        assert!(first(&results.queues, "max_queue_units") < 200.0 && fairness(&results) > 0.99);
    }
}

#[test]
fn a_single_timely_flow_grows_by_its_step_per_segment_to_the_line_rate() {
    // From 1 Gbit/s by 10 Mbit/s per 64 kB: dr/dt = 10 Mbit/s * r / 512 kbit, r = 1 Gbit/s * exp(19.53 t): 118 ms to 10 Gbit/s.
    let law = TimelySpec { initial_rate: Some(Rate(1_000_000_000)), ..TimelySpec::default() };
    let mut network = data_center(ControllerSpec::Timely(law), 1, 0.2);
    network.warmup = TimeDelta::ZERO;
    network.record.traces = vec![Trace { kind: TraceKind::Law, of: vec![0] }];
    let results = run(network);
    let rates = quantity(&results, "rate (bit/s)");
    let at = |wanted: f64| rates.iter().find(|rate| rate.1 >= wanted).map_or(f64::NAN, |rate| rate.0);
    assert!((at(8e9) - at(2e9) - (4f64).ln() / 19.53).abs() < 2e-3);
}
