//! Delayed acknowledgements do not stall a lone flow on an empty path, whatever its controller and its initial window.

use crate::common::{first, flow, group, link, one_link, run, tcp};
use tailback_core::congestion::{ControllerSpec, FastSpec, SwiftSpec, TimelySpec, UpdateForm, VegasEdition, VegasSpec};
use tailback_core::network::{Buffer, Transport};
use tailback_core::primitives::units::{Rate, TimeDelta};
use tailback_core::tcp::{AckCounting, DelayedAck, Recovery, TcpSpec};

/// Controllers that use prices require queues with prices, and the windows of `clamp` and `fixed` are given.
const OTHERS: [&str; 6] = ["clamp", "fixed", "maxnet", "rcp", "rem", "xcp"];

/// A path with a bandwidth-delay product of 24 segments.
#[derive(Clone, Copy, Debug)]
struct Path {
    megabits: u64,
    rtt: TimeDelta,
}

const SHORT: Path = Path { megabits: 10, rtt: TimeDelta::from_millis(20) };
const LONG: Path = Path { megabits: 2, rtt: TimeDelta::from_millis(100) };

/// Every controller with its first sample of settings, and further settings of those that keep few segments queued.
fn controllers(path: Path) -> Vec<ControllerSpec> {
    let mut all: Vec<ControllerSpec> = Vec::new();
    for spec in ControllerSpec::samples() {
        let is_known = all.iter().any(|known| known.name() == spec.name());
        if !is_known && !spec.name().is_some_and(|name| OTHERS.contains(&name) || ["swift", "timely"].contains(&name)) {
            all.push(spec);
        }
    }
    for edition in [VegasEdition::Paper, VegasEdition::Ns2] {
        all.push(ControllerSpec::Vegas(VegasSpec { alpha: 1.0, beta: 3.0, edition, ..VegasSpec::default() }));
    }
    for update in [UpdateForm::Thesis, UpdateForm::Module] {
        all.push(ControllerSpec::Fast(FastSpec { alpha: 20.0, update, ..FastSpec::default() }));
    }
    all.push(ControllerSpec::Swift(SwiftSpec { base_target: path.rtt + TimeDelta(path.rtt.0 / 2), ..SwiftSpec::default() }));
    let line = path.megabits * 1_000_000;
    all.push(ControllerSpec::Timely(TimelySpec {
        t_low: path.rtt + TimeDelta(path.rtt.0 / 2),
        t_high: path.rtt + path.rtt + path.rtt,
        min_rtt: path.rtt,
        max_rate: Rate(line),
        min_rate: Rate(line / 100),
        initial_rate: Some(Rate(line / 10)),
        additive_step: Rate(line / 10),
        segment: 12_000,
        ..TimelySpec::default()
    }));
    all
}

/// As a fraction of the link's rate, after 200 RTTs and within the next 200.
fn goodput(law: &ControllerSpec, spec: TcpSpec, path: Path) -> f64 {
    let way = TimeDelta(path.rtt.0 / 2);
    let ways = ["link", "reverse"].map(|name| link(name, path.megabits, way, Buffer::Unlimited));
    let sender = group("sender", Transport::Tcp(spec, law.clone()));
    let mut network = one_link(ways, sender, vec![flow(0, 0, 1)], TimeDelta(400 * path.rtt.0));
    network.warmup = TimeDelta(200 * path.rtt.0);
    first(&run(network).flows, "goodput_bps") / 1e6 / path.megabits as f64
}

#[test]
fn a_lone_flow_is_at_least_four_fifths_as_fast_as_with_immediate_acknowledgements() {
    let mut stalled = Vec::new();
    for path in [SHORT, LONG] {
        for law in controllers(path) {
            for window in 1..=5 {
                // A single segment waits for the receiver's timer. For Swift, which has no other measurement, that is congestion.
                if window == 1 && law.name() == Some("swift") {
                    continue;
                }
                let (timestamps, ack_counting) = match window % 2 {
                    0 => (true, AckCounting::Acknowledgements),
                    _ => (false, AckCounting::Bytes),
                };
                let base = TcpSpec { timestamps, ack_counting, initial_window: window.into(), ..tcp(Recovery::Sack) };
                let immediate = goodput(&law, base.clone(), path);
                for timeout in [40, 100, 200] {
                    let delays = DelayedAck { every: 2, timeout: TimeDelta::from_millis(timeout), ..DelayedAck::default() };
                    let delayed = goodput(&law, TcpSpec { delayed_ack: Some(delays), ..base.clone() }, path);
                    if delayed < 0.8 * immediate || immediate < 0.8 {
                        stalled.push(format!("{path:?} {law:?}, window {window}, {timeout} ms: {immediate} and {delayed}"));
                    }
                }
            }
        }
    }
    assert!(stalled.is_empty(), "{}", stalled.join("\n"));
}
