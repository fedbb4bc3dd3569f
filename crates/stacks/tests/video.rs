//! Video of str0m over a simulated dumbbell.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::env;
use std::fs;
use std::net::SocketAddrV4;
use std::path::Path;
use std::process::Command;
use tailback_core::primitives::units::Time;
use tailback_host::{Outcome, Testbed};
use tailback_scenario::Scenario;
use tailback_stacks::Transfer;
use tailback_stacks::str0m::{Settings, Str0m};

fn scenario(rate: &str, buffer: u32, duration: u32, more: &str) -> Scenario {
    let text = format!(
        "duration = \"{duration} s\"\nwarmup = \"5 s\"\n[topology.dumbbell]\nrate = \"{rate}\"\ndelay = \"20 ms\"\nqueue = {{buffer = \"{buffer} packets\"}}\n{more}\n"
    );
    Scenario::from_toml(&text, "").unwrap()
}

/// A video from left to right.
struct Call {
    outcome: Outcome,
    sent: u64,
    received: u64,
}

fn call(scenario: &Scenario, max: u64, stop: Time, capture: Option<&Path>) -> Call {
    let mut testbed = Testbed::new(scenario, &[]).unwrap();
    if let Some(file) = capture {
        testbed.capture_to(file).unwrap();
    }
    let [left, right] = ["left", "right"].map(|name| testbed.address(name).unwrap());
    let (local, remote) = (SocketAddrV4::new(left, 50_000), SocketAddrV4::new(right, 443));
    let transfer = Transfer { local, remote, start: Time::ZERO, stop, size: None };
    let settings = Settings { max, ..Settings::default() };
    testbed.attach(left, Str0m::sender(&settings, transfer).unwrap()).unwrap();
    testbed.attach(right, Str0m::receiver(&settings, remote).unwrap()).unwrap();
    let outcome = testbed.run().unwrap();
    assert_eq!(outcome.fault, None);
    let sent = outcome.host::<Str0m>(left).unwrap().sent();
    let received = outcome.host::<Str0m>(right).unwrap().received();
    Call { outcome, sent, received }
}

fn of_bottleneck(outcome: &Outcome, column: &str) -> f64 {
    outcome.results.queues.floats(column).unwrap()[0]
}

const SECOND: u64 = 1_000_000_000_000;

#[test]
fn a_fast_link_carries_the_highest_rate_of_the_encoder() {
    let call = call(&scenario("10 Mbps", 50, 30, ""), 2_500_000, Time::NEVER, None);
    let rate = call.received * 8 / 30;
    assert!((2_400_000..=2_500_000).contains(&rate), "{rate}");
}

const CUBIC: &str = "[flows.cubic]\nfrom = \"left\"\nto = \"right\"\ntcp = {preset = \"linux/cubic\"}";

#[test]
fn the_queue_of_a_video_is_shorter_than_that_of_cubic() {
    let call = call(&scenario("1 Mbps", 200, 60, ""), 10_000_000, Time::NEVER, None);
    let cubic = Testbed::new(&scenario("1 Mbps", 200, 60, CUBIC), &[]).unwrap().run().unwrap();
    let used = of_bottleneck(&call.outcome, "utilisation");
    let [gcc, cubic] = [&call.outcome, &cubic].map(|outcome| of_bottleneck(outcome, "mean_wait_s"));
    assert!(used > 0.9, "{used}");
    assert!(gcc < cubic / 10.0, "{gcc} {cubic}");
}

#[test]
fn a_video_alone_loses_nothing_in_a_long_buffer() {
    for (rate, longest) in [("500 kbps", 0.1), ("2 Mbps", 0.2)] {
        let call = call(&scenario(rate, 200, 60, ""), 10_000_000, Time::NEVER, None);
        let [used, wait] = ["utilisation", "mean_wait_s"].map(|column| of_bottleneck(&call.outcome, column));
        assert!(used > 0.9, "{rate}: {used}");
        assert!(wait < longest, "{rate}: {wait}");
        assert_eq!(of_bottleneck(&call.outcome, "dropped_units"), 0.0, "{rate}");
    }
}

#[test]
fn a_video_yields_to_cubic() {
    let call = call(&scenario("5 Mbps", 33, 60, CUBIC), 10_000_000, Time::NEVER, None);
    let video = call.received as f64 * 8.0 / 60.0;
    let cubic = call.outcome.results.flows.floats("goodput_bps").unwrap()[0];
    assert!((0.5..1.0).contains(&(video / cubic)), "{video} {cubic}");
}

#[test]
fn video_and_cubic_share_a_link() {
    let call = call(&scenario("10 Mbps", 100, 60, CUBIC), 50_000_000, Time::NEVER, None);
    let used = of_bottleneck(&call.outcome, "utilisation");
    let share = call.received as f64 * 8.0 / 60.0 / 10e6;
    assert!(used > 0.95, "{used}");
    assert!((0.2..0.8).contains(&share), "{share}");
}

#[test]
fn lost_packets_are_requested_again() {
    let lossy = scenario("10 Mbps", 50, 40, "loss = {probability = \"2 %\"}");
    let call = call(&lossy, 2_500_000, Time(30 * SECOND), None);
    let lost = 1.0 - call.received as f64 / call.sent as f64;
    assert!((0.0..0.005).contains(&lost), "{lost}");
}

#[test]
fn both_ends_are_silent_after_the_stop() {
    let packets = |duration| {
        let call = call(&scenario("10 Mbps", 50, duration, ""), 2_500_000, Time(8 * SECOND), None);
        call.outcome.results.queues.floats("arrived_units").unwrap()
    };
    assert_eq!(packets(10), packets(60));
}

/// The name of the file that another process writes.
const CAPTURE: &str = "TAILBACK_TEST_CAPTURE";

#[test]
fn packets_are_the_same_in_every_process() {
    let write = |file: &Path| {
        let lossy = scenario("4 Mbps", 20, 20, "loss = {probability = \"1 %\"}");
        call(&lossy, 10_000_000, Time::NEVER, Some(file));
    };
    if let Some(file) = env::var_os(CAPTURE) {
        return write(Path::new(&file));
    }
    let folder = env::temp_dir().join(format!("tailback-video-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let [own, other] = ["own", "other"].map(|name| folder.join(name));
    write(&own);
    let mut process = Command::new(env::current_exe().unwrap());
    process.args(["--exact", "packets_are_the_same_in_every_process"]).env(CAPTURE, &other);
    assert!(process.output().unwrap().status.success());
    let [own, other] = [own, other].map(|file| fs::read(file).unwrap());
    assert!(own.len() > 1_000_000);
    assert!(own == other);
    fs::remove_dir_all(folder).unwrap();
}
