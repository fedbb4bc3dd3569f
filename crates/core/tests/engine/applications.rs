//! Applications above TCP, and the ends of a virtual channel, with results worked out by hand.

#![allow(clippy::expect_used, reason = "tests may panic")]

use crate::common::{dumbbell, flow, group, link, tcp};
use tailback_core::congestion::ControllerSpec;
use tailback_core::network::{Aal5, Buffer, Flow, Group, Network, Trace, TraceKind, Transport};
use tailback_core::primitives::units::{Bytes, Rate, Segments, Time, TimeDelta};
use tailback_core::tcp::{Recovery, TcpSpec, WindowValidation};
use tailback_core::traffic::{ApplicationSpec, BurstSpec, ConstantSpec, ProcessSpec};
use tailback_core::{Engine, Results};

fn run(network: Network) -> Results {
    let mut engine = Engine::new(network);
    engine.run_until(Time::NEVER);
    engine.results().expect("conservation")
}

fn first(results: &Results, column: &str) -> f64 {
    results.flows.floats(column).expect("a column of numbers")[0]
}

/// 1040 bytes take 1.04 ms at 8 Mbit/s and acknowledgements 0.04 ms; with 10 ms each way a round trip is 21.08 ms.
fn over(application: ApplicationSpec, window: u32, flow: Flow, seconds: u64) -> Network {
    let spec = TcpSpec { receiver_window: Segments(window), ..tcp(Recovery::NewReno) };
    let group = Group { application: Some(application), ..group("web", Transport::Tcp(spec, ControllerSpec::Reno(()))) };
    dumbbell(
        link("link", 8, TimeDelta::from_millis(10), Buffer::Unlimited),
        group,
        vec![flow],
        TimeDelta::from_millis(1000 * seconds),
    )
}

fn every(milliseconds: u64, burst: u32) -> ApplicationSpec {
    // Segments of 1000 bytes.
    let rate = Rate(8_000_000 * u64::from(burst) / milliseconds);
    ApplicationSpec::Bursts(BurstSpec { process: ProcessSpec::Constant(ConstantSpec { rate }), burst })
}

#[test]
fn data_handed_over_slowly_is_sent_at_once() {
    // One segment every 50 ms from 0 on: at 0, 50, ..., 950 ms. The last arrives at 961 ms.
    let results = run(over(every(50, 1), 100, flow(0, 0, 1), 1));
    assert_eq!((first(&results, "sent_packets"), first(&results, "delivered_packets")), (20.0, 20.0));
    assert_eq!(first(&results, "backlog_packets"), 0.0);
    assert!((first(&results, "mean_rtt_s") - 0.02108).abs() < 1e-12);
}

#[test]
fn data_that_exceeds_the_window_is_kept() {
    // Two segments per millisecond are handed over, 2000 in all. One per round trip may be sent: at 0, 21.08, ..., 47 round trips after the
    // first.
    let results = run(over(every(1, 2), 1, flow(0, 0, 1), 1));
    assert_eq!((first(&results, "sent_packets"), first(&results, "backlog_packets")), (48.0, 2000.0 - 48.0));
}

#[test]
fn a_transfer_is_complete_when_all_that_was_handed_over_has_arrived() {
    // 2500 bytes in bursts of two: two segments at 0, the third, of 500 bytes and 540 on the wire, at 100 ms. It arrives 0.54 and 10 ms
    // later.
    let results = run(over(every(100, 2), 100, Flow { size: Some(Bytes(2500)), ..flow(0, 0, 1) }, 1));
    assert_eq!((first(&results, "delivered_packets"), first(&results, "delivered_bytes")), (3.0, 2500.0));
    assert!((first(&results, "completion_time_s") - 0.11054).abs() < 1e-12);
    assert_eq!(first(&results, "backlog_packets"), 0.0);
}

#[test]
fn an_application_that_is_stopped_hands_over_nothing_more() {
    let stop = Time(TimeDelta::from_millis(500).0);
    let results = run(over(every(50, 1), 100, Flow { stop, ..flow(0, 0, 1) }, 1));
    assert_eq!(first(&results, "delivered_packets"), 10.0);
}

/// The largest window of a flow, under a window validation rule.
fn widest(rule: WindowValidation, application: ApplicationSpec, window: u32) -> f64 {
    let mut network = over(application, window, flow(0, 0, 1), 4);
    if let Transport::Tcp(spec, _) = &mut network.groups[0].transport {
        spec.window_validation = rule;
    }
    let traces = vec![Trace { kind: TraceKind::Cwnd, of: vec![0] }];
    let results = run(Network {
        record: tailback_core::network::Recording { traces, ..tailback_core::network::Recording::default() },
        ..network
    });
    let windows = results.traces[0].floats("cwnd_packets").expect("a column of numbers");
    windows.into_iter().fold(0.0, f64::max)
}

#[test]
fn a_window_that_is_not_full_grows_only_under_rules_that_allow_it() {
    // Two segments every 50 ms, so at most two are in flight; 80 bursts.
    let of_two = |rule| widest(rule, every(50, 2), 64);
    assert_eq!([of_two(WindowValidation::None), of_two(WindowValidation::Rfc5681)], [64.0, 64.0]);
    // The initial window is two. Each of the first two acknowledgements increases it by one, up to twice the segments in flight.
    assert_eq!([of_two(WindowValidation::Linux), of_two(WindowValidation::Rfc7661)], [4.0, 5.0]);
}

#[test]
fn an_application_that_keeps_the_window_full_starts_as_fast_as_one_that_hands_over_everything_at_once() {
    // Sixteen segments per 2 ms on a link that sends one per millisecond: the window is always full. The receiver's window limits the
    // flight to 1000 segments, and with the Linux rule the congestion window opens to twice the flight.
    let widest_with = |rule| widest(rule, every(2, 16), 1000);
    let rules = [WindowValidation::None, WindowValidation::Rfc7661, WindowValidation::Linux];
    assert_eq!(rules.map(widest_with), [1000.0, 1000.0, 2000.0]);
}

#[test]
fn a_packet_waits_for_its_segmentation_and_reassembly_and_so_does_its_acknowledgement() {
    // 23 cells of 424 bits at 8 Mbit/s, one cell back, 10 ms each way, and 300 us and 500 us in both directions.
    let spec = TcpSpec { mss: Bytes(1024), receiver_window: Segments(1), ..tcp(Recovery::NewReno) };
    let framing = Aal5 { overhead: Bytes(8), segmentation: TimeDelta::from_micros(300), reassembly: TimeDelta::from_micros(500) };
    let group = Group { framing: Some(framing), ..group("vc", Transport::Tcp(spec, ControllerSpec::Reno(()))) };
    let bottleneck = link("link", 8, TimeDelta::from_millis(10), Buffer::Unlimited);
    let results = run(dumbbell(bottleneck, group, vec![flow(0, 0, 1)], TimeDelta::from_millis(1000)));
    let round_trip = 24.0 * 53e-6 + 0.020 + 2.0 * 0.0008;
    assert!((first(&results, "base_rtt_s") - round_trip).abs() < 1e-12);
    assert!((first(&results, "mean_rtt_s") - round_trip).abs() < 1e-12);
    // In 1 s: 43 complete round trips, and the 44th packet has arrived.
    assert_eq!(first(&results, "frame_goodput_cells"), 23.0 * 44.0);
    assert_eq!(first(&results, "badput_cells"), 0.0);
}
