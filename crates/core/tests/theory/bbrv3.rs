//! BBRv3 against the behaviour described in draft-ietf-ccwg-bbr-06, with cases of its appendix A.

use crate::common::{dumbbell, first, floats, flow, group, link, reno, run, tcp, trace};
use tailback_core::Results;
use tailback_core::congestion::{Bbr3Spec, ControllerSpec};
use tailback_core::network::{Buffer, Change, ChangeKind, Flow, Network, PortId, Trace, TraceKind, Transport};
use tailback_core::primitives::units::{Rate, Time, TimeDelta};
use tailback_core::tcp::{Recovery, TcpSpec};

const PACKET_BITS: f64 = 1040.0 * 8.0;
/// Including the transmission times of a packet and its acknowledgement.
const ROUND_TRIP_S: f64 = 0.04 + (PACKET_BITS + 320.0) / 20e6;
/// Bandwidth-delay product at 20 Mbit/s, in packets.
const PRODUCT: f64 = 20e6 * ROUND_TRIP_S / PACKET_BITS;

fn sender() -> TcpSpec {
    TcpSpec { timestamps: true, initial_window: 10.0, ..tcp(Recovery::RackTlp) }
}

fn law() -> ControllerSpec {
    ControllerSpec::Bbr3(Bbr3Spec::default())
}

/// Flows that start one second apart, over 20 Mbit/s and 40 ms.
fn network(flows: u32, buffer: u64, seconds: f64) -> Network {
    let bottleneck = link("link", 20, TimeDelta::from_millis(20), Buffer::Units(buffer));
    let one = |index: u32| Flow { start: Time(TimeDelta::from_millis(1000 * u64::from(index)).0), ..flow(0, 0, 1) };
    let senders = group("bbr", Transport::Tcp(sender(), law()));
    let mut network = dumbbell(bottleneck, senders, (0..flows).map(one).collect(), TimeDelta::from_seconds(seconds));
    network.record.traces = [(TraceKind::Law, 0), (TraceKind::Cwnd, 0), (TraceKind::Queue, 0), (TraceKind::InFlight, 0)]
        .map(|(kind, of)| Trace { kind, of: vec![of] })
        .into();
    network
}

/// A column of a trace with its times.
fn series(results: &Results, name: &str, column: &str) -> Vec<(f64, f64)> {
    let table = trace(results, name);
    floats(table, "time_s").into_iter().zip(floats(table, column)).collect()
}

/// An internal quantity of the controller with its times.
fn quantity(results: &Results, name: &str) -> Vec<(f64, f64)> {
    let words = trace(results, "controller").words("quantity").unwrap_or_default();
    let rows = words.into_iter().zip(series(results, "controller", "value"));
    rows.filter(|(quantity, _)| *quantity == name).map(|(_, row)| row).collect()
}

/// The last value up to a time.
fn at(series: &[(f64, f64)], time: f64) -> f64 {
    series.iter().take_while(|row| row.0 <= time).last().map_or(f64::NAN, |row| row.1)
}

/// States with their start and end times, by their names in the trace.
const NAMES: [&str; 7] = ["Startup", "Drain", "DOWN", "CRUISE", "REFILL", "UP", "ProbeRTT"];

fn states(results: &Results, seconds: f64) -> Vec<(&'static str, f64, f64)> {
    let changes = quantity(results, "state");
    let ends = changes.iter().skip(1).map(|change| change.0).chain([seconds]);
    changes.iter().zip(ends).map(|(&(begin, state), end)| (NAMES[state as usize], begin, end)).collect()
}

#[test]
fn a_single_flow_finds_the_bandwidth_and_paces_by_the_gains_of_all_states() {
    let results = run(network(1, 1000, 30.0));
    let states = states(&results, 30.0);
    assert_eq!(states[..3].iter().map(|state| state.0).collect::<Vec<_>>(), ["Startup", "Drain", "CRUISE"]);
    let gains = quantity(&results, "pacing_gain");
    for &(state, begin, end) in &states {
        let wanted = match state {
            "Startup" => 2.77,
            "Drain" => 0.5,
            "DOWN" => 0.9,
            "UP" => 1.25,
            _ => 1.0,
        };
        assert_eq!(at(&gains, (begin + end) / 2.0), wanted, "{state} from {begin} s");
    }
    // A.1: within 2 % of the link's rate.
    let found = at(&quantity(&results, "max_bw_bps"), states[1].1);
    assert!((found / 20e6 - 1.0).abs() < 0.02, "{found}");
    // Each probe: REFILL, UP, DOWN, CRUISE, unless ProbeRTT intervenes.
    for pair in states[2..].windows(2) {
        let follows = match pair[0].0 {
            "CRUISE" => ["REFILL", "ProbeRTT"],
            "REFILL" => ["UP", "ProbeRTT"],
            "UP" => ["DOWN", "ProbeRTT"],
            "DOWN" => ["CRUISE", "ProbeRTT"],
            _ => ["CRUISE", "CRUISE"],
        };
        assert!(follows.contains(&pair[1].0), "{pair:?}");
    }
    // A refill takes one round trip, and UP ends after three round trips without growth. A probe follows two to three seconds after the
    // last one, or after 63 round trips.
    let of = |name: &'static str| states.iter().filter(move |state| state.0 == name);
    assert!(of("REFILL").all(|state| (state.2 - state.1 - ROUND_TRIP_S).abs() < 0.01));
    assert!(of("UP").count() >= 5 && of("UP").all(|state| (3.0..5.0).contains(&((state.2 - state.1) / ROUND_TRIP_S))));
    for down in of("DOWN").filter(|down| down.1 < 20.0) {
        let Some(refill) = of("REFILL").find(|refill| refill.1 > down.1) else { panic!("no probe after {} s", down.1) };
        let probe_rtts = of("ProbeRTT").filter(|probe| probe.1 > down.1 && probe.1 < refill.1).count();
        let wait = refill.1 - down.1;
        assert!(probe_rtts > 0 || (2.0..3.0).contains(&wait), "{wait} s");
    }
}

#[test]
fn queues_are_bounded_by_the_cwnd_gain_and_emptied_by_drain() {
    let results = run(network(1, 1000, 30.0));
    let queue = series(&results, "queue", "queue_units");
    let states = states(&results, 30.0);
    let max =
        |begin: f64, end: f64| queue.iter().filter(|row| row.0 >= begin && row.0 < end).map(|row| row.1).fold(0.0, f64::max);
    // 5.3.1.1: Startup leaves a queue of about one BDP at most. 3.2: in ProbeBW the queue is at most half a BDP above one BDP.
    assert!(max(0.0, states[1].2) <= 1.1 * PRODUCT, "{}", max(0.0, states[1].2));
    assert!(max(states[2].1, 30.0) <= 1.5 * PRODUCT && max(states[2].1, 30.0) > 0.5 * PRODUCT);
    // Drain and DOWN empty the queue, to the budget of three quanta of two segments at the end; CRUISE keeps it there.
    for &(_, begin, end) in states.iter().filter(|state| state.0 == "CRUISE") {
        assert!(max(begin + 0.1, end) <= 7.0, "{} packets between {begin} and {end} s", max(begin + 0.1, end));
    }
}

#[test]
fn probe_rtt_halves_the_flight_every_five_seconds_for_200_ms_at_the_documented_cost() {
    let mut network = network(1, 1000, 42.0);
    network.warmup = TimeDelta::from_millis(10_000);
    let results = run(network);
    let probes: Vec<_> = states(&results, 42.0).into_iter().filter(|state| state.0 == "ProbeRTT").collect();
    assert!(probes.len() >= 7);
    let windows = series(&results, "cwnd", "cwnd_packets");
    for probe in &probes {
        let duration = probe.2 - probe.1;
        assert!((0.2..0.2 + 2.0 * ROUND_TRIP_S).contains(&duration), "{duration} s");
        assert!((at(&windows, probe.2 - 0.01) - PRODUCT / 2.0).abs() < 2.0);
    }
    // Five seconds from the end of one to the start of the next.
    assert!(probes.windows(2).all(|pair| (pair[1].1 - pair[0].2 - 5.0).abs() < 0.1), "{probes:?}");
    // 5.3.4.2: two per cent for ProbeRTT, and one per cent for the pacing margin while cruising, which is most of the time.
    let used = first(&results.queues, "utilisation");
    assert!((used - 0.97).abs() < 0.01, "{used}");
}

#[test]
fn in_a_shallow_buffer_losses_end_startup_and_set_the_long_term_bound() {
    let buffer = 20.0;
    let mut network = network(1, 20, 40.0);
    network.warmup = TimeDelta::from_millis(5000);
    let results = run(network);
    let states = states(&results, 40.0);
    assert_eq!((states[0].0, states[1].0), ("Startup", "Drain"));
    // BDP, queue and the packet in service.
    let bounds = quantity(&results, "inflight_longterm_packets");
    for time in [5.0, 10.0, 20.0, 39.0] {
        assert!((at(&bounds, time) / (PRODUCT + buffer + 1.0) - 1.0).abs() < 0.05, "{} at {time} s", at(&bounds, time));
    }
    // 0.85 of it while cruising, which leaves no queue. Losses stay below LossThresh per round trip, and far below it on average.
    let (used, lost) = (first(&results.queues, "utilisation"), first(&results.queues, "dropped_units"));
    let sent = 20e6 / PACKET_BITS * 35.0;
    assert!(used > 0.93 && lost > 0.0 && lost / sent < 0.002, "{used} {}", lost / sent);
}

#[test]
fn ten_times_the_bandwidth_is_found() {
    // A.15.
    let mut network = network(1, 1000, 30.0);
    network.changes = vec![
        Change { at: Time::ZERO, what: ChangeKind::Rate(PortId(0), Rate(2_000_000)) },
        Change { at: Time(TimeDelta::from_millis(10_000).0), what: ChangeKind::Rate(PortId(0), Rate(20_000_000)) },
    ];
    let results = run(network);
    let found = quantity(&results, "max_bw_bps");
    let reached = found.iter().find(|row| row.1 > 0.98 * 20e6).map_or(f64::NAN, |row| row.0);
    assert!((at(&found, 9.0) / 2e6 - 1.0).abs() < 0.05 && reached > 10.0 && reached < 20.0);
}

#[test]
fn flows_converge_to_fair_shares_and_a_competing_reno_flow_is_not_starved() {
    let rates = |results: &Results| floats(&results.flows, "goodput_bps");
    let mut two = network(2, 97, 120.0);
    two.warmup = TimeDelta::from_millis(40_000);
    let results = run(two);
    let (min, max) = (rates(&results)[0].min(rates(&results)[1]), rates(&results)[0].max(rates(&results)[1]));
    assert!(min / max > 0.5, "{min} {max}");

    for buffer in [97, 194] {
        let mut beside = network(1, buffer, 120.0);
        beside.groups.push(group("reno", reno(sender())));
        beside.flows.push(flow(1, 0, 1));
        beside.warmup = TimeDelta::from_millis(20_000);
        let results = run(beside);
        assert!(rates(&results).iter().all(|&rate| rate > 0.2 * 20e6), "{buffer}: {:?}", rates(&results));
    }
}
