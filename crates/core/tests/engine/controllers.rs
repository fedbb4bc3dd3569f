//! Behaviour and equilibria of CUBIC, Vegas, FAST and slow start, compared with the equations of their documents.

use crate::common::{classic_tcp, dumbbell, first, floats, flow, group, link, one_link, port, reno, run, tcp, trace};
use tailback_core::Results;
use tailback_core::congestion::{ControllerSpec, CubicSpec, FastSpec, Steps, VegasSpec};
use tailback_core::network::{Buffer, Flow, FlowId, ListedDrop, Network, Port, Trace, TraceKind, Transport};
use tailback_core::primitives::segment_number::SegmentNumber;
use tailback_core::primitives::units::{Bytes, Rate, Time, TimeDelta};
use tailback_core::tcp::{Recovery, SlowStart, SsthreshFrom, TcpSpec};
use tailback_models::ParameterError;
use tailback_models::parameter::{Loss, Positive};
use tailback_models::tcp::{CubicFlow, cubic_rate};

const ROUND_TRIP_S: f64 = 0.1;

#[test]
fn after_a_loss_the_window_is_never_more_than_a_round_trip_from_the_cubic_curve() {
    // 0.3 * 288 / 0.4 = 6^3: back at W_max after 6 s, and 0.4 * 4^3 = 25.6 above it after 10 s.
    let results = cubic(288.0, vec![2000], 12.0, TraceKind::Cwnd);
    let cwnd = trace(&results, "cwnd");
    let changes: Vec<(f64, f64)> = floats(cwnd, "time_s").into_iter().zip(floats(cwnd, "cwnd_packets")).collect();
    let Some(reduced) = changes.windows(2).position(|pair| pair[1].1 < 0.8 * pair[0].1) else { panic!("no reduction") };
    // The window is constant during recovery; the next acknowledgement begins the congestion avoidance stage.
    let (begin, plateau) = (changes[reduced + 2].0, changes[reduced].1);
    assert!((changes[reduced + 1].1 - 0.7 * plateau).abs() < 1.0, "{plateau} was reduced to {}", changes[reduced + 1].1);
    let to_plateau = (0.3 * plateau / 0.4).cbrt();
    let curve = |time: f64| 0.4 * (time - to_plateau).powi(3) + plateau;
    let later = changes.iter().filter(|change| change.0 > begin + 1.0);
    for (time, window) in later.map(|change| (change.0 - begin, change.1)) {
        // One segment of tolerance for rounding: the flight size that is reduced is an integer.
        let (low, high) = (curve(time - ROUND_TRIP_S) - 1.0, curve(time + ROUND_TRIP_S) + 1.0);
        assert!((low..high).contains(&window), "{time} s: {window} is not within {low} to {high}");
    }
    assert!(changes.last().is_some_and(|change| change.1 > plateau + 20.0));
}

#[test]
fn the_period_of_cubic_losses_matches_the_average_window_within_one_round_trip() -> Result<(), ParameterError> {
    // RFC 9438 section 5.1: with every n-th packet lost, the period is n over the average window. The model omits at most one round trip
    // each for recovery, and for the target, which is one round trip ahead of the curve. Convergence from another window would take very
    // long, because a period that is too short or too long by s seconds corrects only 0.4 s^3 segments. The run therefore begins at the
    // formula's W_max, which is its average over 0.925, and must stay there. Fast convergence is not part of the formula.
    for packets in [10_000, 100_000] {
        let average = average_window(packets)?;
        let round_trips = f64::from(packets) / average;
        let lost = (0..10).map(|index| packets / 10 + index * packets).collect();
        let results = cubic(average / 0.925, lost, 12.0 * round_trips * ROUND_TRIP_S, TraceKind::Drops);
        let times = floats(trace(&results, "drops"), "time_s");
        let period = (times[9] - times[1]) / 8.0 / ROUND_TRIP_S;
        assert!((period - round_trips).abs() < 1.0, "a loss in {packets}: {period} round trips for {round_trips}");
    }
    Ok(())
}

/// The average window in segments if one in `packets` packets is lost.
fn average_window(packets: u32) -> Result<f64, ParameterError> {
    let flow = CubicFlow {
        mss_bytes: Positive::new("mss_bytes", 1000.0)?,
        rtt_s: Positive::new("rtt_s", ROUND_TRIP_S)?,
        loss: Loss::new(1.0 / f64::from(packets))?,
    };
    Ok(cubic_rate(flow) * ROUND_TRIP_S / 8000.0)
}

/// A CUBIC sender in congestion avoidance with this `window`, over a fast link that loses these segments.
fn cubic(window: f64, lost: Vec<u32>, seconds: f64, kind: TraceKind) -> Results {
    let wire = |name| port(name, Rate(100_000_000_000), TimeDelta::from_seconds(ROUND_TRIP_S / 2.0));
    let listed_drops = lost
        .into_iter()
        .map(|segment| ListedDrop { flow: FlowId(0), segment: SegmentNumber(segment), transmission: 1, cell: None })
        .collect();
    let law = ControllerSpec::Cubic(CubicSpec { fast_convergence: false, ..CubicSpec::default() });
    let base = classic_tcp(Recovery::Sack);
    let spec = TcpSpec { initial_window: window, initial_ssthresh: window, ssthresh_from: SsthreshFrom::FlightSize, ..base };
    let links = [Port { listed_drops, ..wire("link") }, wire("reverse")];
    let sender = group("sender", Transport::Tcp(spec, law));
    let mut network = one_link(links, sender, vec![flow(0, 0, 1)], TimeDelta::from_seconds(seconds));
    network.record.traces = vec![Trace { kind, of: vec![0] }];
    run(network)
}

#[test]
fn cubic_in_whole_segments_has_the_period_and_the_queue_of_a_kernel() {
    // A flow of Linux 6.18 over 20 Mbit/s, 40 ms and a buffer of the same size has one loss per 3.46 s and 53.0 packets in the queue. W_max
    // is 134 segments, and the time back to it is given by 0.3 * 134 / 0.4 = 4.65^3. The curve takes 1.36 s for the last segment of this
    // increase; a small part of that segment is sufficient.
    let found = |steps| {
        let base = tcp(Recovery::Sack);
        let spec = TcpSpec { mss: Bytes(1448), header: Bytes(52), initial_window: 10.0, timestamps: true, ..base };
        let law = ControllerSpec::Cubic(CubicSpec { steps, ..CubicSpec::default() });
        let bottleneck = link("link", 20, TimeDelta::from_millis(20), Buffer::Units(67));
        let sender = group("cubic", Transport::Tcp(spec, law));
        let mut network = dumbbell(bottleneck, sender, vec![flow(0, 0, 1)], TimeDelta::from_seconds(60.0));
        network.warmup = TimeDelta::from_seconds(10.0);
        network.record.traces = vec![Trace { kind: TraceKind::Drops, of: vec![0] }];
        let results = run(network);
        let mut losses = floats(trace(&results, "drops"), "time_s");
        losses.retain(|&time| time > 10.0);
        losses.dedup_by(|later, earlier| *later - *earlier < 0.5);
        let period = (losses[losses.len() - 1] - losses[0]) / (losses.len() - 1) as f64;
        (period, first(&results.queues, "mean_queue_units"))
    };
    let (period, queue) = found(Steps::WholeSegments);
    assert!((period / 3.46 - 1.0).abs() < 0.03 && (queue / 53.0 - 1.0).abs() < 0.01, "{period} s, {queue} packets");
    let (period, _) = found(Steps::Fractions);
    assert!((4.2..4.8).contains(&period), "{period} s");
}

#[test]
fn hystart_overshoots_less_than_standard_slow_start() {
    // A packet takes 0.6 ms and a round trip 40.62 ms or 67.7 packets; with the buffer, 134 packets fit. Returns the packets that slow
    // start drops and the threshold at its end.
    let found = |slow_start| {
        let base = tcp(Recovery::Sack);
        let sizes = TcpSpec { mss: Bytes(1448), header: Bytes(52), ack_size: Bytes(52), initial_window: 10.0, ..base };
        let spec = TcpSpec { timestamps: true, slow_start, ..sizes };
        let bottleneck = link("link", 20, TimeDelta::from_millis(20), Buffer::Units(67));
        let transfer = Flow { size: Some(Bytes(1_448_000)), ..flow(0, 0, 1) };
        let mut network = dumbbell(bottleneck, group("reno", reno(spec)), vec![transfer], TimeDelta::from_seconds(20.0));
        network.record.traces = vec![Trace { kind: TraceKind::Ssthresh, of: vec![0] }];
        let results = run(network);
        (first(&results.queues, "dropped_units"), floats(trace(&results, "ssthresh"), "ssthresh_packets")[1])
    };
    // Two segments per acknowledgement until one round trip after the first loss: a window of nearly twice 134 is halved.
    let (lost, ssthresh) = found(SlowStart::Standard);
    assert!(lost > 120.0 && (ssthresh - 134.0).abs() < 2.0, "{lost} lost, {ssthresh}");
    // In the round of 40, the 36th acknowledgement arrives 35 * 0.6 = 21 ms after the first, which is more than half of the round-trip
    // time and of the 1 ms that bursts may take.
    assert_eq!(found(SlowStart::HyStart), (0.0, 75.0));
    // The round of 80 leaves a queue of more than 5 ms, which is detected when the window is 160: too late, but growth is slow from then
    // on.
    let (lost, ssthresh) = found(SlowStart::HyStartPlusPlus);
    assert!((40.0..80.0).contains(&lost) && (80.0..100.0).contains(&ssthresh), "{lost} lost, {ssthresh}");
}

#[test]
fn vegas_flows_keep_alpha_to_beta_packets_each_in_the_queue_fill_the_link_and_lose_none() {
    for (flows, alpha, beta) in [(1, 2.0, 4.0), (1, 1.0, 3.0), (4, 2.0, 4.0), (10, 1.0, 3.0), (10, 5.0, 10.0)] {
        let law = ControllerSpec::Vegas(VegasSpec { alpha, beta, ..VegasSpec::default() });
        let base = classic_tcp(Recovery::Sack);
        let spec = TcpSpec { initial_window: 2.0, timestamps: true, ssthresh_from: SsthreshFrom::FlightSize, ..base };
        // 0.4 ms per packet, a hundred per round trip. All flows start within one round trip, so that each measures the empty path.
        let link = |name| port(name, Rate(20_000_000), TimeDelta::from_millis(20));
        let starting = |index: u64| Flow { start: Time(TimeDelta::from_micros(4000 * index).0), ..flow(0, 0, 1) };
        let sender = group("vegas", Transport::Tcp(spec, law));
        let seconds = TimeDelta::from_millis(60_000);
        let network = one_link([link("link"), link("reverse")], sender, (0..flows).map(starting).collect(), seconds);
        let queues = run(Network { warmup: TimeDelta::from_millis(20_000), ..network }).queues;
        let each = first(&queues, "mean_queue_units") / flows as f64;
        assert!((alpha..=beta).contains(&each), "{flows} flows, {alpha} to {beta}: {each}");
        assert!(first(&queues, "utilisation") > 0.9999 && first(&queues, "dropped_units") == 0.0);
    }
}

/// FAST flows over a link of 1000 segments per second with an unlimited buffer and a round-trip time of 100 ms, starting at the given
/// times.
fn fast(alpha: f64, draining: Option<u32>, starts_s: &[f64], seconds: f64) -> Network {
    let law = ControllerSpec::Fast(FastSpec { alpha, draining, ..FastSpec::default() });
    let base = classic_tcp(Recovery::Sack);
    let spec = TcpSpec { initial_window: 2.0, timestamps: true, ssthresh_from: SsthreshFrom::FlightSize, ..base };
    let link = port("link", Rate(8_000_000), TimeDelta::from_millis(49));
    let reverse = port("reverse", Rate(320_000_000_000), TimeDelta::from_millis(50) - TimeDelta(1000));
    let starting = |&start: &f64| Flow { start: Time(TimeDelta::from_seconds(start).0), ..flow(0, 0, 1) };
    let flows = starts_s.iter().map(starting).collect();
    one_link([link, reverse], group("fast", Transport::Tcp(spec, law)), flows, TimeDelta::from_seconds(seconds))
}

#[test]
fn fast_flows_with_the_right_base_rtt_share_the_link_and_keep_alpha_packets_each_in_the_queue() {
    // Equations (4.3), (4.4) and (4.6). All flows start within one round trip.
    for (flows, alpha) in [(1, 5.0), (1, 50.0), (2, 20.0), (5, 20.0), (10, 50.0)] {
        let starts: Vec<f64> = (0..flows).map(|index| 0.1 * f64::from(index) / f64::from(flows)).collect();
        let warmup = TimeDelta::from_millis(60_000);
        let Results { queues, flows: each, .. } = run(Network { warmup, ..fast(alpha, None, &starts, 120.0) });
        let queue = first(&queues, "mean_queue_units");
        let expected = f64::from(flows) * alpha;
        assert!((queue / expected - 1.0).abs() < 0.005, "{flows} flows, alpha {alpha}: {queue}, not {expected}");
        assert!(first(&queues, "utilisation") > 0.9999 && first(&queues, "dropped_units") == 0.0);
        let share = 8e6 / f64::from(flows);
        for goodput in floats(&each, "goodput_bps") {
            assert!((goodput / share - 1.0).abs() < 0.005, "{flows} flows, alpha {alpha}: {goodput} of {share}");
        }
    }
}

/// Segments per second of each flow that has started, in the last ten seconds before the next start; one row per flow.
fn rates_after_each_start(alpha: f64, draining: Option<u32>) -> Vec<Vec<f64>> {
    let starts: Vec<f64> = (0..4).map(|index| EQUILIBRIUM_S * f64::from(index)).collect();
    let mut network = fast(alpha, draining, &starts, 4.0 * EQUILIBRIUM_S);
    let bin = TimeDelta::from_seconds(10.0);
    network.record.traces = vec![Trace { kind: TraceKind::Throughput(bin), of: vec![0, 1, 2, 3] }];
    let results = run(network);
    let throughput = trace(&results, "throughput");
    let rows: Vec<(f64, f64, f64)> = floats(throughput, "flow")
        .into_iter()
        .zip(floats(throughput, "time_s"))
        .zip(floats(throughput, "throughput_bps"))
        .map(|((flow, time), rate)| (flow, time, rate / 8000.0))
        .collect();
    let at = |stage: u32| {
        let begin = EQUILIBRIUM_S * f64::from(stage + 1) - 10.0;
        rows.iter().filter(|row| (row.1 - begin).abs() < 1e-6 && row.0 <= f64::from(stage)).map(|row| row.2).collect()
    };
    (0..4).map(at).collect()
}

const ALPHA: f64 = 50.0;
const EQUILIBRIUM_S: f64 = 120.0;

#[test]
fn fast_flows_that_start_one_after_another_have_the_unequal_rates_of_persistent_congestion() {
    // Equations (4.19) and (4.20): each flow takes the queue that it finds for part of the propagation delay. Whatever the rate of the link
    // and alpha, the first of two flows keeps the share 2 / (3 + sqrt 5).
    let capacity = 1000.0;
    let mut delays = vec![0.0];
    for (stage, found) in rates_after_each_start(ALPHA, None).iter().enumerate() {
        let rate = |delay: f64, since: &f64| ALPHA / (delay - since);
        let load = |delay: f64| delays.iter().map(|since| rate(delay, since)).sum::<f64>();
        // The load decreases with the delay.
        let (mut low, mut high) = (delays[stage], delays[stage] + 1.0);
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if load(middle) > capacity { low = middle } else { high = middle }
        }
        let expected: Vec<f64> = delays.iter().map(|since| rate(high, since)).collect();
        assert!(stage != 1 || (expected[0] / capacity - 2.0 / (3.0 + 5f64.sqrt())).abs() < 1e-9);
        assert_eq!(found.len(), stage + 1);
        // Windows are whole segments; the smallest has an error of 1 in 38.
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found / expected - 1.0).abs() < 0.05, "{} flows: {found} for {expected}", stage + 1);
        }
        delays.push(high);
    }
}

#[test]
fn fast_flows_that_drain_the_queue_as_they_start_share_the_link() {
    // Equation (4.31): if there are fewer than (100 / 10)^(2/3) = 4.6 earlier flows. Section 4.4.2: r about alpha.
    for found in rates_after_each_start(10.0, Some(10)) {
        let share = 1000.0 / found.len() as f64;
        assert!(found.iter().all(|rate| (rate / share - 1.0).abs() < 0.02), "{found:?}");
    }
}
