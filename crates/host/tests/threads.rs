//! Hosts beside a network on several threads: results, captures and faults do not depend on the number of threads.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use tailback_core::primitives::units::{Time, TimeDelta};
use tailback_core::{Engine, NotParallel, Results};
use tailback_host::{Datagram, EcnField, Host, HostError, Outbox, Testbed, VirtualRun};
use tailback_scenario::{HostedFlow, Scenario};

/// A fixed window of numbered packets, each acknowledged, with a retransmission timeout.
struct Arq {
    ends: (SocketAddrV4, SocketAddrV4),
    kind: Kind,
}

enum Kind {
    Sender { next: u64, due: BTreeMap<u64, Time>, fails_at: Time },
    Receiver { to_acknowledge: Vec<u64> },
}

const WINDOW: usize = 30;
const TIMEOUT: TimeDelta = TimeDelta::from_millis(200);

impl Arq {
    fn pair(ends: (SocketAddrV4, SocketAddrV4), fails_at: Time) -> [Arq; 2] {
        let sender = Kind::Sender { next: 0, due: BTreeMap::new(), fails_at };
        let receiver = Kind::Receiver { to_acknowledge: Vec::new() };
        [Arq { ends, kind: sender }, Arq { ends: (ends.1, ends.0), kind: receiver }]
    }
}

impl Host for Arq {
    fn receive(&mut self, now: Time, datagram: &Datagram<'_>) {
        let number = u64::from_be_bytes(datagram.payload[..8].try_into().expect("a number"));
        match &mut self.kind {
            Kind::Sender { due, fails_at, .. } => {
                assert!(now < *fails_at, "tired");
                due.remove(&number);
            }
            Kind::Receiver { to_acknowledge } => to_acknowledge.push(number),
        }
    }

    fn poll(&mut self, now: Time, outbox: &mut Outbox) {
        let mut payload = [0; 1200];
        let mut send = |number: u64, length: usize| {
            payload[..8].copy_from_slice(&number.to_be_bytes());
            let (source, destination) = self.ends;
            outbox.send(&Datagram { source, destination, ecn: EcnField::Ect0, payload: &payload[..length] });
        };
        match &mut self.kind {
            Kind::Sender { next, due, .. } => {
                let late: Vec<u64> = due.iter().filter(|(_, time)| **time <= now).map(|(&number, _)| number).collect();
                let new = WINDOW.saturating_sub(due.len()) as u64;
                for number in late.into_iter().chain(*next..*next + new) {
                    send(number, 1200);
                    due.insert(number, now + TIMEOUT);
                }
                *next += new;
            }
            Kind::Receiver { to_acknowledge } => to_acknowledge.drain(..).for_each(|number| send(number, 8)),
        }
    }

    fn deadline(&self) -> Option<Time> {
        match &self.kind {
            Kind::Sender { due, .. } => due.values().min().copied(),
            Kind::Receiver { .. } => None,
        }
    }
}

/// What a run shows: its results, the fault of a host, and its capture.
struct Shown {
    results: Results,
    fault: Option<HostError>,
    capture: Vec<u8>,
}

/// A scenario whose hosted flows run on [`Arq`]; the sender of the first fails at `fails_at`. Then every hop is an event, because partial
/// results include hops that were computed ahead.
fn shown(text: &str, threads: usize, fails_at: Time, slice: u64) -> (Shown, Result<usize, NotParallel>) {
    let mut hosted = Scenario::from_toml(text, "").unwrap_or_else(|errors| unreachable!("{errors}")).hosted().unwrap();
    if fails_at < Time::NEVER {
        (hosted.network.stepped, hosted.hosts.lead) = (true, TimeDelta::ZERO);
    }
    let ends = |(place, flow): (usize, &HostedFlow)| {
        let ends = (SocketAddrV4::new(flow.from, 1000), SocketAddrV4::new(flow.to, 443));
        Arq::pair(ends, if place == 0 { fails_at } else { Time::NEVER }).map(|host| Box::new(host) as Box<dyn Host>)
    };
    let ends = hosted.hosts.flows.iter().enumerate().map(ends).collect();
    let run = VirtualRun::of_flows(hosted.network, &hosted.hosts, ends, Engine::new);
    let (mut run, why) = run.on_threads(NonZeroUsize::new(threads).unwrap());
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{threads}-{slice}.pcapng", text.len()));
    run.capture_to(&file).unwrap();
    while !run.run_for(Time::NEVER, slice) {
        run.results().unwrap();
    }
    assert_eq!(run.finish_capture(), None);
    let (used, results, fault) = (run.threads(), run.results().unwrap(), run.fault().cloned());
    let capture = std::fs::read(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    (Shown { results, fault, capture }, why.map_or(Ok(used), Err))
}

/// Checks runs of a scenario on 1 to 4 threads, in one piece and in slices, to the end and to a fault.
fn is_the_same_on_any_number_of_threads(text: &str) {
    for fails_at in [Time::NEVER, Time(700_000_000_000)] {
        let (alone, why) = shown(text, 1, fails_at, u64::MAX);
        assert!(matches!(why, Err(NotParallel::OneThread)));
        assert_eq!(alone.fault.is_some(), fails_at < Time::NEVER);
        assert_eq!(alone.results.complete, fails_at == Time::NEVER);
        let sent = alone.results.flows.floats("sent_packets").unwrap();
        assert!(sent[0] > 100.0 && sent.iter().sum::<f64>() > 500.0, "{sent:?}");
        for (threads, slice) in [(2, u64::MAX), (3, 5000), (4, u64::MAX)] {
            let (on_threads, used) = shown(text, threads, fails_at, slice);
            assert!(used.unwrap() > 1);
            for (one, other) in alone.results.tables().zip(on_threads.results.tables()) {
                assert!(one.bytes() == other.bytes(), "{threads} threads: table {} differs", one.name);
            }
            let of =
                |shown: &Shown| (shown.fault.clone(), shown.results.complete, shown.results.events, shown.results.simulated_s);
            assert_eq!(of(&alone), of(&on_threads), "{threads} threads");
            assert!(alone.capture == on_threads.capture, "{threads} threads: captures differ");
        }
    }
}

/// The hosted flow crosses one bottleneck, which simulated flows cross as well.
const PARKING_LOT: &str = r#"
duration = "1.5 s"
warmup = "0.3 s"
[topology.parking_lot]
hops = 4
rate = "10 Mbps"
delay = "5 ms"
queue = {buffer = "20 packets"}
[flows.hosted]
from = "n1"
to = "n2"
tcp = {stack = "user:arq"}
[flows.long]
from = "n0"
to = "n4"
count = 2
tcp = {preset = "cubic"}
[flows.first]
from = "n0"
to = "n1"
count = 2
tcp = {preset = "sack"}
[flows.last]
from = "n3"
to = "n4"
count = 2
tcp = {preset = "newreno"}
[record]
traces = ["cwnd", "queue", "drops"]
"#;

const FAT_TREE: &str = r#"
duration = "1 s"
[topology]
fat_tree = {k = 4, rate = "10 Mbps", delay = "100 us", queue = {buffer = "20 packets"}}
[flows.hosted]
from = "host0"
to = "host13"
tcp = {stack = "user:arq"}
[flows.web]
traffic = {permutation = "host*"}
tcp = {preset = "cubic"}
"#;

/// Access delays separate the hosts from the bottleneck, where packets of several hosted flows are lost.
const DUMBBELL: &str = r#"
duration = "1.2 s"
[topology.dumbbell]
rate = "20 Mbps"
delay = "1 ms"
queue = {buffer = "15 packets"}
loss = {probability = 0.01}
[flows.hosted]
from = "left"
to = "right"
count = 3
propagation_rtt = "20 ms"
tcp = {stack = "user:arq"}
[flows.cross]
from = "left"
to = "right"
count = 4
propagation_rtt = "30 ms"
tcp = {preset = "newreno"}
"#;

#[test]
fn a_parking_lot_with_a_hosted_flow_on_one_hop() {
    is_the_same_on_any_number_of_threads(PARKING_LOT);
}

#[test]
fn a_fat_tree_with_one_hosted_flow() {
    is_the_same_on_any_number_of_threads(FAT_TREE);
}

#[test]
fn a_dumbbell_with_distant_hosts() {
    is_the_same_on_any_number_of_threads(DUMBBELL);
}

#[test]
fn without_a_delay_between_hosts_and_the_rest_a_run_remains_on_one_thread() {
    let near = DUMBBELL.replace("propagation_rtt = \"20 ms\"\n", "").replace("propagation_rtt = \"30 ms\"\n", "");
    assert_eq!(shown(&near, 2, Time::NEVER, u64::MAX).1, Err(NotParallel::NoDelay));
}

#[test]
fn a_testbed_gives_the_same_results_on_two_threads() {
    let outcome = |threads: usize| {
        let scenario = Scenario::from_toml(&PARKING_LOT.replace("tcp = {stack = \"user:arq\"}", "tcp = {preset = \"sack\"}"), "");
        let mut testbed = Testbed::new(&scenario.unwrap(), &["hosted"]).unwrap();
        let transfer = testbed.transfers("hosted").unwrap()[0].clone();
        let ends = (SocketAddrV4::new(transfer.from, 1000), SocketAddrV4::new(transfer.to, 443));
        let [sender, receiver] = Arq::pair(ends, Time::NEVER);
        testbed.attach(transfer.from, sender).unwrap();
        testbed.attach(transfer.to, receiver).unwrap();
        testbed.set_threads(NonZeroUsize::new(threads).unwrap());
        testbed.run().unwrap().results.bytes()
    };
    assert!(outcome(1) == outcome(2));
}
