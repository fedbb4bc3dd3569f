//! TCP without loss has no randomness, so the simulator must match the formula exactly, to the picosecond and to the segment.

use crate::common::{classic_tcp, first, floats, flow, group, one_link, port, reno, run, trace};
use tailback_core::Results;
use tailback_core::network::{Flow, Network, Recording, Trace, TraceKind};
use tailback_core::primitives::units::{Bytes, Rate, Segments, TimeDelta};
use tailback_core::tcp::{Recovery, TcpSpec};
use tailback_models::ParameterError;
use tailback_models::parameter::{Count, Positive};
use tailback_models::tcp::{SlowStart, Transfer, WindowLimited, slow_start, window_limited_rate};

/// Transmission time of a segment of 1000 bytes, and round-trip time of the segment and its acknowledgement through the empty network.
const SEGMENT_S: f64 = 1e-3;
const ROUND_TRIP_S: f64 = 0.1;

#[test]
fn slow_start_takes_the_time_of_the_model_to_the_picosecond() -> Result<(), ParameterError> {
    for initial_window in [1, 2, 3, 10] {
        for segments in 1..=500 {
            let model = model(segments, initial_window)?;
            let acks = floats(trace(&transfer(segments, initial_window), "acks"), "time_s");
            let completion_s = acks.last().copied().unwrap_or(f64::NAN);
            let case = format!("{segments} segments from a window of {initial_window}");
            assert_eq!(picoseconds(completion_s), picoseconds(model.completion_s), "{case}");
        }
    }
    Ok(())
}

#[test]
fn windows_double_until_the_transfer_is_over() {
    let times = floats(trace(&transfer(40, 3), "segments"), "time_s");
    let in_round = |round: usize| times.iter().filter(|&&time| (time / ROUND_TRIP_S + 1e-9) as usize == round).count();
    // 3 + 6 + 12 = 21, and 19 of 24 are left.
    assert_eq!([0, 1, 2, 3, 4].map(in_round), [3, 6, 12, 19, 0]);
    assert_eq!(model(40, 3).map(|model| model.round_trips), Ok(4));
}

#[test]
fn one_window_is_sent_per_round_trip_until_it_fills_the_link() -> Result<(), ParameterError> {
    // The link carries 100 segments per round trip.
    for window in [1, 7, 99, 100, 101, 250] {
        let spec = TcpSpec { receiver_window: Segments(window), ..classic_tcp(Recovery::Reno) };
        let warmup = TimeDelta::from_millis(2000);
        let network = network(spec, flow(0, 0, 1), warmup + TimeDelta::from_seconds(100.0 * ROUND_TRIP_S));
        let flows = run(Network { warmup, ..network }).flows;
        assert_eq!(first(&flows, "delivered_packets"), 100.0 * f64::from(window.min(100)), "window {window}");

        let expected = window_limited_rate(WindowLimited {
            window_bytes: Positive::new("window_bytes", 1000.0 * f64::from(window))?,
            rtt_s: Positive::new("rtt_s", first(&flows, "base_rtt_s"))?,
            capacity_bps: Positive::new("capacity_bps", 8e6)?,
        });
        let rounding = 4.0 * f64::EPSILON;
        assert!((first(&flows, "goodput_bps") / expected - 1.0).abs() <= rounding, "window {window}: {expected}");
    }
    Ok(())
}

fn model(segments: u64, initial_window: u64) -> Result<SlowStart, ParameterError> {
    Ok(slow_start(Transfer {
        segments: Count::new("segments", segments)?,
        initial_window: Count::new("initial_window", initial_window)?,
        rtt_s: Positive::new("rtt_s", ROUND_TRIP_S)?,
        segment_s: Positive::new("segment_s", SEGMENT_S)?,
    }))
}

/// A transfer of `segments` segments, with traces of segments and acknowledgements.
fn transfer(segments: u64, initial_window: u64) -> Results {
    let spec = TcpSpec { initial_window: initial_window as f64, ..classic_tcp(Recovery::Reno) };
    let sized = Flow { size: Some(Bytes(1000 * segments)), ..flow(0, 0, 1) };
    let mut network = network(spec, sized, TimeDelta::from_millis(2000));
    let kinds = [TraceKind::Segments, TraceKind::Acks];
    network.record = Recording { traces: kinds.map(|kind| Trace { kind, of: vec![0] }).into(), ..Recording::default() };
    run(network)
}

fn network(spec: TcpSpec, flow: Flow, duration: TimeDelta) -> Network {
    let link = port("link", Rate(8_000_000), TimeDelta::from_millis(49));
    // 40 bytes take 1 ns.
    let reverse = port("reverse", Rate(320_000_000_000), TimeDelta::from_micros(50_000) - TimeDelta(1000));
    one_link([link, reverse], group("sender", reno(spec)), vec![flow], duration)
}

fn picoseconds(seconds: f64) -> u64 {
    (seconds * 1e12).round() as u64
}
