//! Windows of controllers over a link that loses packets and never queues, compared with the closed forms of their documents.
//!
//! The forms omit the cost of a loss in addition to the reduction: the packets in flight when it is detected, a window W, do not increase
//! the window, and they take one round trip. Both are counted here. CUBIC is in `controllers.rs`.

use crate::common::statistics::{Interval, SEEDS};
use crate::common::{classic_tcp, first, floats, flow, group, one_link, port, route, run, trace};
use tailback_core::congestion::*;
use tailback_core::network::{
    Buffer, Change, ChangeKind, FlowId, ListedDrop, Network, Port, PortId, Trace, TraceKind, Transport,
};
use tailback_core::primitives::segment_number::SegmentNumber;
use tailback_core::primitives::units::{Rate, Time, TimeDelta};
use tailback_core::tcp::{Recovery, SsthreshFrom, TcpSpec};

const ROUND_TRIP_S: f64 = 0.1;

/// A controller as its documents describe it.
struct Form<'a> {
    law: ControllerSpec,
    /// Packets that increase the window from its value after a loss at `w` back to `w`.
    packets: &'a dyn Fn(f64) -> f64,
    /// The window after a loss.
    left: &'a dyn Fn(f64) -> f64,
    /// Losses until the window has settled.
    settling: u32,
}

impl Form<'_> {
    /// The window at a loss if every n-th packet is lost: the one for which `packets` equals n minus a window.
    fn largest(&self, packets: u32) -> f64 {
        let (mut low, mut high) = (2.0, 1e9);
        while high - low > 1e-9 * high {
            let middle = (low + high) / 2.0;
            if (self.packets)(middle) + middle < f64::from(packets) { low = middle } else { high = middle }
        }
        low
    }
}

/// Losses, each the n-th packet after the previous one; the first takes place at the largest window. Returns the windows after four losses
/// of the settled window, over the windows of the form.
fn left_of_periodic_losses(form: &Form, packets: u32, round_trip_s: f64) -> Vec<f64> {
    let largest = form.largest(packets);
    let left = (form.left)(largest);
    let losses = form.settling + 4;
    let lost = (0..losses)
        .map(|index| ListedDrop { flow: FlowId(0), segment: SegmentNumber(1 + index * packets), transmission: 1, cell: None })
        .collect();
    let link = Port { listed_drops: lost, ..wire("link", round_trip_s) };
    let seconds = (f64::from(losses) + 1.5) * f64::from(packets) / left * round_trip_s;
    let mut network = through(link, form.law.clone(), largest, round_trip_s, TimeDelta::from_seconds(seconds));
    network.record.traces = vec![Trace { kind: TraceKind::Ssthresh, of: vec![0] }];
    let thresholds = floats(trace(&run(network), "ssthresh"), "ssthresh_packets");
    assert_eq!(thresholds.len(), losses as usize + 1, "{thresholds:?}");
    thresholds[form.settling as usize + 1..].iter().map(|threshold| threshold / left).collect()
}

#[test]
fn with_periodic_losses_the_window_matches_the_closed_form() {
    let (aimd, binomial) = (|a, b| ControllerSpec::Aimd(AimdSpec { a, b }), BinomialSpec::default());
    let by_power = |k: f64, l: f64, alpha: f64, beta: f64| {
        let left = move |w: f64| w - beta * w.powf(l);
        let packets = move |w: f64| (w.powf(k + 2.0) - left(w).powf(k + 2.0)) / (alpha * (k + 2.0));
        (left, packets)
    };
    // AIMD(a, b) and MIMD are binomial controllers: (w^2 - ((1-b) w)^2) / 2a is b (2-b) w^2 / 2a, so that sqrt(2a / (b (2-b) p)) is the
    // largest window; and (w - (1-b) w) / a is b w / a, so that a / (b p) is.
    let check = |name: &str, law: ControllerSpec, [k, l, alpha, beta]: [f64; 4], packets: u32| {
        let (left, opening) = by_power(k, l, alpha, beta);
        let form = Form { law, packets: &opening, left: &left, settling: 4 };
        for found in left_of_periodic_losses(&form, packets, ROUND_TRIP_S) {
            assert!((found - 1.0).abs() < 0.01, "{name}, a loss in {packets}: {found} of the closed form");
        }
    };
    for packets in [10_000, 100_000] {
        check("aimd", aimd(0.2, 0.125), [0.0, 1.0, 0.2, 0.125], packets);
        check("aimd", aimd(1.0, 0.25), [0.0, 1.0, 1.0, 0.25], packets);
        check("stcp", ControllerSpec::Scalable(ScalableSpec::default()), [-1.0, 1.0, 0.01, 0.125], packets);
        check("sqrt", ControllerSpec::Binomial(binomial), [0.5, 0.5, 1.0, 2.0 / 3.0], packets);
        check("iiad", ControllerSpec::Binomial(BinomialSpec { k: 1.0, l: 0.0, ..binomial }), [1.0, 0.0, 1.0, 2.0 / 3.0], packets);
        check(
            "other",
            ControllerSpec::Binomial(BinomialSpec { k: 0.25, l: 0.75, ..binomial }),
            [0.25, 0.75, 1.0, 2.0 / 3.0],
            packets,
        );
        // Without a queue.
        check("illinois", ControllerSpec::Illinois(IllinoisSpec::default()), [0.0, 1.0, 10.0, 0.125], packets);
        check("veno", ControllerSpec::Veno(VenoSpec::default()), [0.0, 1.0, 1.0, 0.2], packets);
        check("yeah", ControllerSpec::Yeah(YeahSpec::default()), [-1.0, 1.0, 0.01, 0.125], packets);
        check("compound", ControllerSpec::Compound(CompoundSpec::default()), [-0.75, 1.0, 0.125, 0.5], packets);
    }
}

#[test]
fn bic_recovers_by_steps_of_s_max_and_a_binary_search() {
    // The increase by one eighth of the window: all but 64 segments in steps of 32; then, with x missing, x / 2 per round trip until 0.02
    // are missing; the rest in steps of 0.01.
    let left = |w: f64| 0.875 * w;
    let packets = |w: f64| {
        let linear = ((w - 64.0).powi(2) - left(w).powi(2)) / 2.0 / 32.0;
        let search = 2.0 * (w * (64.0f64 / 0.02).ln() - (64.0 - 0.02));
        linear + search + 2.0 * w
    };
    let form = Form { law: ControllerSpec::Bic(BicSpec::default()), packets: &packets, left: &left, settling: 4 };
    for found in left_of_periodic_losses(&form, 100_000, ROUND_TRIP_S) {
        assert!((found - 1.0).abs() < 0.01, "{found}");
    }
}

#[test]
fn h_tcp_grows_by_its_function_of_time() {
    // A loss leaves 0.8 without a queue, and 2 (1 - 0.8) = 0.4 of alpha is added per round trip: with alpha = 1 + 10 t + t^2 / 4, t seconds
    // after the first.
    let grown = |seconds: f64| {
        let t = (seconds - 1.0).max(0.0);
        0.4 * (seconds + 5.0 * t * t + t * t * t / 12.0) / ROUND_TRIP_S
    };
    // The time in which the window grows by a fifth.
    let time = |w: f64| {
        let (mut low, mut high) = (0.0, 1e4);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            if grown(middle) < 0.2 * w { low = middle } else { high = middle }
        }
        low
    };
    // During recovery, which takes one round trip, time passes without growth; that is a window of packets.
    let packets = |w: f64| {
        let (begin, steps) = (ROUND_TRIP_S, 10_000);
        let end = time(w + 5.0 * grown(begin));
        let step = (end - begin) / f64::from(steps);
        let window = |index: u32| 0.8 * w + grown(begin + (f64::from(index) + 0.5) * step) - grown(begin);
        (0..steps).map(|index| window(index) * step / ROUND_TRIP_S).sum()
    };
    let form = Form { law: ControllerSpec::HTcp(HTcpSpec::default()), packets: &packets, left: &|w| 0.8 * w, settling: 8 };
    for packets in [10_000, 100_000] {
        for found in left_of_periodic_losses(&form, packets, ROUND_TRIP_S) {
            assert!((found - 1.0).abs() < 0.01, "a loss in {packets}: {found}");
        }
    }
}

#[test]
fn hybla_sends_at_a_rate_that_does_not_depend_on_the_round_trip() {
    // AIMD(rho^2, 1/2): sqrt(8 rho^2 / (3 p)), in rho round trips of 25 ms.
    let mut windows = Vec::new();
    for (rho, seconds) in [(1.0, 0.025), (2.0, 0.05), (8.0, 0.2)] {
        let packets = |w: f64| 3.0 * w * w / 8.0 / (rho * rho);
        let form = Form { law: ControllerSpec::Hybla(HyblaSpec::default()), packets: &packets, left: &|w| w / 2.0, settling: 4 };
        for found in left_of_periodic_losses(&form, 200_000, seconds) {
            assert!((found - 1.0).abs() < 0.01, "rho {rho}: {found}");
        }
        windows.push(form.largest(200_000) / rho);
    }
    // Except for the packets in flight when a loss is detected, rho * 730 of 200,000.
    assert!(windows.iter().all(|window| (window / windows[0] - 1.0).abs() < 0.015), "{windows:?}");
}

#[test]
fn high_speed_tcp_has_the_windows_of_its_table() {
    // RFC 3649 section 5: w = 0.12 / p^0.835; the packets between losses over the round trips.
    for (packets, window) in [(10_000, 262.5), (100_000, 1795.0)] {
        let lost = (1..=12)
            .map(|index| ListedDrop { flow: FlowId(0), segment: SegmentNumber(index * packets), transmission: 1, cell: None })
            .collect();
        let link = Port { listed_drops: lost, ..wire("link", ROUND_TRIP_S) };
        let seconds = TimeDelta::from_seconds(16.0 * f64::from(packets) / window * ROUND_TRIP_S);
        let law = ControllerSpec::HighSpeed(HighSpeedSpec::default());
        let mut network = through(link, law, window, ROUND_TRIP_S, seconds);
        network.record.traces = vec![Trace { kind: TraceKind::Drops, of: vec![0] }];
        let times = floats(trace(&run(network), "drops"), "time_s");
        let found = 4.0 * f64::from(packets) / ((times[11] - times[7]) / ROUND_TRIP_S);
        assert!((found / window - 1.0).abs() < 0.05, "a loss in {packets}: {found}, and {window} in the table");
    }
}

/// Independent losses: the rate of a controller per round trip. A loss follows after any number of packets with equal probability. The
/// packets in flight when it is detected do not increase the window and have no further cost. They take one round trip, or two if fewer
/// than three of the burst follow the loss. `grown`: window and time after growing by a number of packets; less than a segment of each
/// window is never sent.
fn of_random_losses(loss: f64, grown: impl Fn(f64, f64) -> (f64, f64), left: impl Fn(f64) -> f64) -> f64 {
    let (mut window, mut packets, mut round_trips) = (1.0 / loss.sqrt(), 0.0, 0.0);
    let mut state = 1u64;
    for index in 0..400_000 {
        // A uniform draw (Knuth's MMIX), independent of the simulator's generator.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let uniform = ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        let until_loss = -uniform.ln() / loss;
        let (largest, time) = grown(window, until_loss);
        window = left(largest).max(2.0);
        if index > 1000 {
            packets += until_loss + largest - 0.5;
            round_trips += time + 1.0 + 3.0 / largest;
        }
    }
    packets / round_trips
}

/// Delivered packets per round trip. Many losses are needed: thirty runs of 5000 round trips.
fn measured(law: &ControllerSpec, loss: f64, window: f64, seconds: f64) -> Interval {
    let warmup = TimeDelta::from_seconds(100.0);
    let link = Port { random_loss: loss, ..wire("link", ROUND_TRIP_S) };
    let network = through(link, law.clone(), window, ROUND_TRIP_S, warmup + TimeDelta::from_seconds(seconds));
    interval(&Network { warmup, ..network }, seconds)
}

/// The same for a network of one flow.
fn interval(network: &Network, seconds: f64) -> Interval {
    let delivered = |seed| first(&run(Network { seed, ..network.clone() }).flows, "delivered_packets");
    Interval::of(&SEEDS.map(|seed| delivered(seed) / seconds * ROUND_TRIP_S).collect::<Vec<_>>())
}

#[test]
fn random_losses_match_the_model_with_losses_at_any_window() {
    let linear = |a: f64| {
        move |w: f64, n: f64| {
            let end = (w * w + 2.0 * a * n).sqrt();
            (end, (end - w + 0.5 * ((end - 0.5) / (w - 0.5)).ln()) / a)
        }
    };
    let by_share = |w: f64, n: f64| (w + 0.01 * n, 100.0 * ((w + 0.01 * n - 0.5) / (w - 0.5)).ln());
    let loss = 1e-3;
    let cases = [
        ("aimd", ControllerSpec::Aimd(AimdSpec::default()), of_random_losses(loss, linear(0.2), |w| 0.875 * w)),
        ("stcp", ControllerSpec::Scalable(ScalableSpec::default()), of_random_losses(loss, by_share, |w| 0.875 * w)),
    ];
    for (name, law, expected) in cases {
        let found = measured(&law, loss, expected, 500.0);
        found.assert_holds(name, expected, 0.04);
    }
}

#[test]
fn westwood_plus_scales_with_the_square_root_of_rtt_over_queueing_delay() {
    // Grieco and Mascolo: sqrt((1 - p) / (p RTT Tq)), where Tq is the round-trip time in excess of the minimum, which is measured before
    // the delays change. Measured over that formula, a loss leaves less, because the filter gives the bandwidth of ten round trips ago,
    // when the window was smaller.
    for (wait_s, expected) in [(0.02, 0.92), (0.05, 0.88)] {
        let (loss, warmup, seconds) = (1e-3, TimeDelta::from_seconds(50.0), 200.0);
        let form: f64 = ((1.0 - loss) / loss * ROUND_TRIP_S / wait_s).sqrt();
        let link = Port { random_loss: loss, ..wire("link", ROUND_TRIP_S - wait_s) };
        let law = ControllerSpec::WestwoodPlus(WestwoodPlusSpec::default());
        let mut network = through(link, law, form, ROUND_TRIP_S - wait_s, warmup + TimeDelta::from_seconds(seconds));
        let longer = wire("link", ROUND_TRIP_S + wait_s).delay;
        network.changes = vec![Change { at: Time(TimeDelta::from_millis(1000).0), what: ChangeKind::Delay(PortId(0), longer) }];
        let found = interval(&Network { warmup, ..network }, seconds);
        let ratio = found.mean / form;
        assert!(
            found.half_width < 0.04 * form && (ratio - expected).abs() < 0.02,
            "a wait of {wait_s} s: {ratio} of the form, {found:?}"
        );
    }
}

#[test]
fn under_random_losses_westwood_fills_a_link_and_reno_uses_a_third() {
    // Mascolo and others: a loss leaves the BDP of the link. It is 96 packets per round trip, and one in a thousand is lost, which leaves
    // Reno 1.31 / sqrt(p) = 41 of them, minus the cost of timeouts.
    let used = |law| {
        let base = TcpSpec { timestamps: true, ..crate::common::tcp(Recovery::Sack) };
        let bottleneck =
            Port { random_loss: 1e-3, ..crate::common::link("link", 10, TimeDelta::from_millis(50), Buffer::Units(125)) };
        let sender = group("sender", Transport::Tcp(base, law));
        let network = crate::common::dumbbell(bottleneck, sender, vec![flow(0, 0, 1)], TimeDelta::from_millis(120_000));
        first(&run(Network { warmup: TimeDelta::from_millis(20_000), ..network }).queues, "utilisation")
    };
    let reno = used(ControllerSpec::Reno(()));
    assert!((0.25..0.45).contains(&reno), "{reno}");
    for law in [ControllerSpec::Westwood(WestwoodSpec::default()), ControllerSpec::WestwoodPlus(WestwoodPlusSpec::default())] {
        let found = used(law.clone());
        assert!(found > 0.99, "{law:?}: {found}");
    }
}

#[test]
fn yeah_fills_a_link_and_removes_its_queue_before_overflow() {
    // 2404 packets per round trip, and a buffer of nearly the same size. Above Q_max = 80 the queue is removed, one round trip late: it
    // grows by a hundredth of the window in the meantime, and the queue at the time of detection is acknowledged first.
    let base = TcpSpec { timestamps: true, ..crate::common::tcp(Recovery::Sack) };
    let bottleneck = crate::common::link("link", 200, TimeDelta::from_millis(50), Buffer::Units(2000));
    let sender = group("yeah", Transport::Tcp(base, ControllerSpec::Yeah(YeahSpec::default())));
    let network = crate::common::dumbbell(bottleneck, sender, vec![flow(0, 0, 1)], TimeDelta::from_millis(60_000));
    let queues = run(Network { warmup: TimeDelta::from_millis(30_000), ..network }).queues;
    let max = 80.0 + 3.0 * 0.01 * 2500.0;
    assert_eq!((first(&queues, "utilisation"), first(&queues, "dropped_units")), (1.0, 0.0));
    let largest = first(&queues, "max_queue_units");
    assert!((80.0..max).contains(&largest), "{largest}");
}

#[test]
fn ledbat_keeps_its_target_in_the_queue() {
    for (target, megabits) in [(100, 10), (25, 20)] {
        let spec = LedbatSpec { target: TimeDelta::from_millis(target), ..LedbatSpec::default() };
        let base = TcpSpec { timestamps: true, ..crate::common::tcp(Recovery::Sack) };
        let bottleneck = crate::common::link("link", megabits, TimeDelta::from_millis(20), Buffer::Unlimited);
        let sender = group("ledbat", Transport::Tcp(base, ControllerSpec::Ledbat(spec)));
        let network = crate::common::dumbbell(bottleneck, sender, vec![flow(0, 0, 1)], TimeDelta::from_millis(120_000));
        let queues = run(Network { warmup: TimeDelta::from_millis(80_000), ..network }).queues;
        // Packets of 1040 bytes.
        let expected = target as f64 * 1e-3 * megabits as f64 * 1e6 / 8.0 / 1040.0;
        let found = first(&queues, "mean_queue_units");
        assert!((found / expected - 1.0).abs() < 0.01, "{target} ms at {megabits} Mbit/s: {found} packets, expected {expected}");
        assert_eq!(first(&queues, "utilisation"), 1.0);
    }
}

#[test]
fn ledbat_yields_to_a_queue_of_other_flows() {
    let base = TcpSpec { timestamps: true, ..crate::common::tcp(Recovery::Sack) };
    // A buffer of 100 ms. Reno's sawtooth keeps more than LEDBAT's 25 ms filled.
    let bottleneck = crate::common::link("link", 20, TimeDelta::from_millis(10), Buffer::Units(240));
    let spec = LedbatSpec { target: TimeDelta::from_millis(25), ..LedbatSpec::default() };
    let ledbat = group("ledbat", Transport::Tcp(base.clone(), ControllerSpec::Ledbat(spec)));
    let flows = vec![flow(0, 0, 1), flow(1, 0, 1)];
    let mut network = crate::common::dumbbell(bottleneck, ledbat, flows, TimeDelta::from_millis(120_000));
    network.groups.push(group("reno", crate::common::reno(base)));
    let results = run(Network { warmup: TimeDelta::from_millis(20_000), ..network });
    let delivered = floats(&results.flows, "delivered_packets");
    assert!(delivered[0] < 0.02 * delivered[1], "{delivered:?}");
    assert_eq!(first(&results.queues, "utilisation"), 1.0);
}

#[test]
fn ledbat_keeps_its_rate_with_a_queue_on_the_reverse_path() {
    let base = TcpSpec { timestamps: true, ..crate::common::tcp(Recovery::Sack) };
    // Reno keeps more than LEDBAT's 25 ms in a buffer of 100 ms, of the forward or of the reverse path; its acknowledgements use a third
    // path.
    let there = crate::common::link("there", 20, TimeDelta::from_millis(10), Buffer::Units(240));
    let back = Port { name: "back".to_string(), ..there.clone() };
    let spec = LedbatSpec { target: TimeDelta::from_millis(25), ..LedbatSpec::default() };
    let ledbat = group("ledbat", Transport::Tcp(base.clone(), ControllerSpec::Ledbat(spec)));
    let beside = |other| {
        let flows = vec![flow(0, 0, 1), other];
        let mut network = one_link([there.clone(), back.clone()], ledbat.clone(), flows, TimeDelta::from_millis(120_000));
        network.groups.push(group("reno", crate::common::reno(base.clone())));
        network.ports.push(crate::common::link("aside", 20, TimeDelta::from_millis(10), Buffer::Unlimited));
        network.paths.push(route([2]));
        let results = run(Network { warmup: TimeDelta::from_millis(60_000), ..network });
        // Share of the link's capacity in one minute, in packets of 1040 bytes.
        floats(&results.flows, "delivered_packets").iter().map(|packets| packets * 1040.0 * 8.0 / 1.2e9).collect::<Vec<f64>>()
    };
    let (against, along) = (beside(flow(1, 1, 2)), beside(flow(1, 0, 2)));
    // Acknowledgements of 40 bytes take 4 % of the reverse path.
    assert!(against[0] > 0.98 && against[1] > 0.95, "{against:?}");
    assert!(along[0] < 0.02 && along[1] > 0.97, "{along:?}");
}

fn through(link: Port, law: ControllerSpec, window: f64, round_trip_s: f64, duration: TimeDelta) -> Network {
    let base = classic_tcp(Recovery::Sack);
    let spec = TcpSpec { initial_window: window, initial_ssthresh: 2.0, ssthresh_from: SsthreshFrom::FlightSize, ..base };
    one_link([link, wire("reverse", round_trip_s)], group("sender", Transport::Tcp(spec, law)), vec![flow(0, 0, 1)], duration)
}

/// Half of a round trip; a thousand packets are sent in 80 us.
fn wire(name: &str, round_trip_s: f64) -> Port {
    port(name, Rate(100_000_000_000), TimeDelta::from_seconds(round_trip_s / 2.0))
}
