//! Reports of hosts in the results of a run.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::net::SocketAddrV4;
use tailback_core::primitives::units::{Bytes, Time, TimeDelta};
use tailback_core::record::Table;
use tailback_core::{Engine, Results};
use tailback_host::{ConnectionEnd, Datagram, EcnField, Host, HostFault, Outbox, RttSamples, TransportReport, VirtualRun};
use tailback_scenario::{HostedFlow, Scenario};

/// 1250 bytes with headers, which take 1 ms at 10 Mbit/s.
const PAYLOAD: u64 = 1222;

/// Sends ten payloads at 0.25 s and at 1 s.
struct Sender {
    ends: (SocketAddrV4, SocketAddrV4),
    bursts: Vec<Time>,
    report: TransportReport,
    fails: bool,
    has_been_polled: bool,
}

struct Receiver(u64);

impl Host for Sender {
    fn receive(&mut self, _now: Time, _datagram: &Datagram<'_>) {}

    fn poll(&mut self, now: Time, outbox: &mut Outbox) {
        self.has_been_polled = true;
        while self.bursts.first().is_some_and(|&at| at <= now) {
            self.bursts.remove(0);
            let (source, destination) = self.ends;
            for _ in 0..10 {
                outbox.send(&Datagram { source, destination, ecn: EcnField::NotEct, payload: &[0; PAYLOAD as usize] });
            }
            let bursts = 2 - self.bursts.len() as u64;
            let rtt_samples = RttSamples { count: bursts, sum: TimeDelta::from_millis(10 * bursts * bursts) };
            self.report.cwnd = Some(Bytes(15_000 * bursts));
            self.report.smoothed_rtt = Some(TimeDelta::from_millis(20));
            (self.report.timeouts, self.report.lost_packets) = (Some(3 * bursts), Some(0));
            self.report.rtt_samples = Some(rtt_samples);
        }
    }

    fn deadline(&self) -> Option<Time> {
        self.bursts.first().copied()
    }

    fn report(&mut self) -> TransportReport {
        assert!(!self.fails, "no state");
        assert!(self.has_been_polled, "asked before its first poll");
        self.report.clone()
    }
}

impl Host for Receiver {
    fn receive(&mut self, _now: Time, datagram: &Datagram<'_>) {
        self.0 += datagram.payload.len() as u64;
    }

    fn poll(&mut self, _now: Time, _outbox: &mut Outbox) {}

    fn deadline(&self) -> Option<Time> {
        None
    }

    fn report(&mut self) -> TransportReport {
        TransportReport { delivered: Some(Bytes(self.0)), ..TransportReport::default() }
    }
}

fn run(flow: &str, more: &str, fails: bool) -> VirtualRun {
    run_with(flow, more, TransportReport::default(), fails)
}

/// `report`: that of the senders at the start.
fn run_with(flow: &str, more: &str, report: TransportReport, fails: bool) -> VirtualRun {
    let bursts = [250, 1000].map(|ms| Time::ZERO + TimeDelta::from_millis(ms)).to_vec();
    run_of(flow, more, |ends| Sender { ends, bursts: bursts.clone(), report: report.clone(), fails, has_been_polled: false })
}

/// `sender`: that between these ends.
fn run_of(flow: &str, more: &str, sender: impl Fn((SocketAddrV4, SocketAddrV4)) -> Sender) -> VirtualRun {
    let text = format!(
        "duration = \"2 s\"\n{more}\n[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"10 ms\"\nqueue = {{buffer = \"20 packets\"}}\n\
         [flows.web]\nfrom = \"left\"\nto = \"right\"\ntcp = {{stack = \"user:probe\"}}\n{flow}\n\
         [flows.cross]\nfrom = \"left\"\nto = \"right\"\nstart = \"1.5 s\"\ntcp = {{preset = \"sack\"}}\n\
         [record]\ntraces = [\"cwnd\", \"rtt\"]\n"
    );
    let hosted = Scenario::from_toml(&text, "").unwrap().hosted().unwrap();
    let ends = |flow: &HostedFlow| -> [Box<dyn Host>; 2] {
        let ends = (SocketAddrV4::new(flow.from, 1000), SocketAddrV4::new(flow.to, 443));
        [Box::new(sender(ends)), Box::new(Receiver(0))]
    };
    let ends = hosted.hosts.flows.iter().map(ends).collect();
    VirtualRun::of_flows(hosted.network, &hosted.hosts, ends, Engine::new)
}

fn results(flow: &str, more: &str) -> Results {
    let mut run = run(flow, more, false);
    assert!(run.run_for(Time::NEVER, u64::MAX) && run.fault().is_none());
    run.results().unwrap()
}

/// The value in the row of the first group.
fn of(table: &Table, column: &str) -> f64 {
    table.floats(column).unwrap()[0]
}

#[test]
fn a_transfer_is_complete_when_its_last_byte_has_been_read() {
    let Results { flows, groups, .. } = results("size = \"12220 B\"\nstart = \"0.2 s\"", "");
    // 50 ms until the burst, ten packets at 1 ms each, 10 ms of propagation.
    assert!((of(&flows, "completion_time_s") - 0.070).abs() < 1e-9);
    assert!((of(&flows, "transfer_rate_bps") * of(&flows, "completion_time_s") - 12_220.0 * 8.0).abs() < 1e-6);
    assert_eq!((of(&groups, "completed"), of(&groups, "completion_p99_s")), (1.0, of(&flows, "completion_time_s")));
    // The second burst as well.
    assert_eq!(of(&flows, "delivered_bytes"), 24_440.0);
    assert!(of(&flows, "slowdown").is_nan());
}

#[test]
fn counts_are_those_of_the_measurement_interval() {
    let Results { flows, groups, .. } = results("", "warmup = \"0.5 s\"");
    for (column, expected) in [
        ("delivered_bytes", 12_220.0),
        ("goodput_bps", 12_220.0 * 8.0 / 1.5),
        ("timeouts", 3.0),
        ("lost_packets", 0.0),
        ("mean_rtt_s", 0.030),
    ] {
        assert!((of(&flows, column) - expected).abs() < 1e-6, "{column}: {}", of(&flows, column));
    }
    assert_eq!((of(&groups, "goodput_bps"), of(&groups, "completed")), (of(&flows, "goodput_bps"), 0.0));
    for column in ["retransmitted_packets", "fast_retransmits", "completion_time_s", "min_rtt_s"] {
        assert!(of(&flows, column).is_nan(), "{column}");
    }
    // A simulated flow knows everything but the columns of stacks.
    let cross = |column: &str| flows.floats(column).unwrap()[1];
    assert!(cross("timeouts") == 0.0 && cross("lost_packets").is_nan() && cross("mean_rtt_s") > 0.0);
}

#[test]
fn no_host_is_asked_before_its_first_poll() {
    let Results { flows, .. } = results("start = \"0.6 s\"", "warmup = \"0.5 s\"");
    assert_eq!((of(&flows, "timeouts"), of(&flows, "delivered_bytes")), (6.0, 24_440.0));
    let Results { flows, .. } = results("start = \"2.5 s\"", "warmup = \"0.5 s\"");
    assert!(of(&flows, "timeouts").is_nan());
}

#[test]
fn traces_have_the_changes_of_windows_and_rtts_in_order() {
    let Results { traces, .. } = results("", "");
    let [cwnd, rtt] = &traces[..] else { panic!("two traces") };
    let times = cwnd.floats("time_s").unwrap();
    assert!(times.is_sorted() && times.len() > 10);
    let [first, second, third] =
        [0, 1, 2].map(|row| (times[row], cwnd.words("group").unwrap()[row], cwnd.floats("cwnd_packets").unwrap()[row]));
    assert_eq!([first, second], [(0.25, "web", 10.0), (1.0, "web", 20.0)]);
    assert_eq!((third.0, third.1), (1.5, "cross"));
    assert_eq!((rtt.words("group").unwrap()[0], of(rtt, "rtt_s")), ("web", 0.020));
    assert_eq!(rtt.words("group").unwrap()[1], "cross");
}

#[test]
fn slices_do_not_change_reports() {
    let whole = results("size = \"24440 B\"", "warmup = \"0.5 s\"");
    for turns in [1, 7, 40] {
        let mut sliced = run("size = \"24440 B\"", "warmup = \"0.5 s\"", false);
        for half in 1..5 {
            while !sliced.run_for(Time::ZERO + TimeDelta::from_millis(500 * half), turns) {
                sliced.results().unwrap();
            }
        }
        assert_eq!(sliced.results().unwrap().bytes(), whole.bytes());
    }
    assert!((of(&whole.flows, "completion_time_s") - 1.020).abs() < 1e-9);
}

#[test]
fn a_host_that_cannot_report_ends_the_run() {
    let mut failed = run("", "", true);
    assert!(failed.run_for(Time::NEVER, u64::MAX));
    let fault = failed.fault().unwrap();
    assert_eq!((fault.host.as_str(), fault.at), ("web.sender", Time::ZERO));
    assert_eq!(fault.fault, HostFault::Panicked("no state".into()));
    assert!(!failed.results().unwrap().complete);
}

#[test]
fn a_connection_that_ends_by_itself_is_reported_until_the_transfer_is_complete_or_stopped() {
    let ended = |flow: &str, at: u64| {
        let ended = ConnectionEnd { at: Time::ZERO + TimeDelta::from_millis(at), reason: "timed out".into() };
        let mut run = run_with(flow, "", TransportReport { ended: Some(ended), ..TransportReport::default() }, false);
        assert!(run.run_for(Time::NEVER, u64::MAX));
        run.warnings()
    };
    assert_eq!(ended("", 550), ["`web.sender` ended its connection at 0.550 s: timed out"]);
    assert!(ended("size = \"12220 B\"", 550).is_empty());
    assert_eq!(ended("size = \"1 MB\"", 550).len(), 1);
    assert!(ended("stop = \"0.5 s\"", 550).is_empty());
    let both = ended("count = 2", 550);
    assert_eq!(both, ["`web.sender[0]` ended its connection at 0.550 s: timed out (and 1 more flow)"]);
}

#[test]
fn packets_to_a_wrong_address_are_counted_and_reported() {
    let astray = |(source, _): (SocketAddrV4, SocketAddrV4)| Sender {
        ends: (source, SocketAddrV4::new([192, 0, 2, 1].into(), 443)),
        bursts: vec![Time::ZERO + TimeDelta::from_millis(250)],
        report: TransportReport::default(),
        fails: false,
        has_been_polled: false,
    };
    let mut run = run_of("count = 2", "", astray);
    assert!(run.run_for(Time::NEVER, u64::MAX));
    let text = "the network did not carry 10 packets of `web.sender[0]`: 10 are not from its own address to that of the other end (and 1 more host)";
    assert_eq!(run.warnings(), [text]);
    let Results { flows, .. } = run.results().unwrap();
    let rejected = flows.floats("rejected_packets").unwrap();
    assert_eq!(rejected[..2], [10.0, 10.0]);
    assert!(rejected[2].is_nan(), "a simulated flow");
}

#[test]
fn the_base_rtt_has_the_serialisation_of_a_full_packet_and_of_an_acknowledgement() {
    let Results { flows, .. } = results("sender_access = {rate = \"2 Mbps\", delay = \"3 ms\"}", "");
    // 1500 and 40 bytes at 10 and at 2 Mbit/s.
    let serialisation = 1540.0 * 8.0 * (1.0 / 10e6 + 1.0 / 2e6);
    assert!((of(&flows, "base_rtt_s") - 0.026 - serialisation).abs() < 1e-9, "{}", of(&flows, "base_rtt_s"));
}
