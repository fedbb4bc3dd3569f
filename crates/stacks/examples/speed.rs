//! Packets per second of the stacks in a simulated network, directly and through the C interface that scenarios use, and alone: the same
//! packets over lines of the same rate, delay and buffer without an engine. `cargo run --release -p tailback-stacks --example speed`

#![allow(clippy::print_stdout, clippy::unwrap_used, unsafe_code, reason = "a program for the terminal")]

use std::collections::VecDeque;
use std::fs::read_to_string;
use std::net::{Ipv4Addr, SocketAddrV4};
use tailback_core::primitives::units::{Bytes, Time, TimeDelta};
use tailback_host::library::{EndSettings, Library};
use tailback_host::{Datagram, Framing, Host, Outbox, Testbed};
use tailback_scenario::Scenario;
use tailback_stacks::library::stacks;
use tailback_stacks::{Transfer, quinn, smoltcp};

const SECONDS: u64 = 60;
const DELAY: TimeDelta = TimeDelta::from_millis(10);
/// A bandwidth-delay product, in packets.
const BUFFER: usize = 167;
/// Ports of the hosts, in the network and alone.
const PORTS: [u16; 2] = [50_000, 443];

/// A run.
struct Run {
    packets: u64,
    cpu_seconds: f64,
}

fn main() {
    let quinn = |crypto: quinn::Crypto| {
        let settings = quinn::Settings { crypto, ..quinn::Settings::default() };
        move |transfer: Transfer| (quinn::Quinn::sender(&settings, transfer), quinn::Quinn::receiver(&settings, transfer.remote))
    };
    let smoltcp = |transfer: Transfer| {
        let settings = smoltcp::Settings::default();
        (smoltcp::Smoltcp::sender(&settings, transfer), smoltcp::Smoltcp::receiver(&settings, transfer.remote))
    };
    println!("million packets per CPU second, and shares of the speed alone");
    println!("{:<15}{:>10}{:>14}{:>10}{:>14}{:>10}", "", "alone", "in a network", "", "as a library", "");
    let [null, rustls] = [quinn(quinn::Crypto::Null), quinn(quinn::Crypto::Rustls)];
    row("quinn", [&|| alone(null), &|| in_network(null), &|| in_network(|transfer| from_library("quinn", "{}", transfer))]);
    let library = |transfer| from_library("quinn", "{\"crypto\":\"rustls\"}", transfer);
    row("quinn, rustls", [&|| alone(rustls), &|| in_network(rustls), &|| in_network(library)]);
    let library = |transfer| from_library("smoltcp", "{}", transfer);
    row("smoltcp", [&|| alone(smoltcp), &|| in_network(smoltcp), &|| in_network(library)]);
}

fn row(name: &str, runs: [&dyn Fn() -> Run; 3]) {
    // The best of seven, alternately: other programs only slow a run down.
    let mut best = [0.0_f64; 3];
    for _ in 0..7 {
        let runs = runs.map(|run| run());
        assert!(runs.iter().all(|run| run.packets == runs[0].packets), "all three carry the same packets");
        for (best, run) in best.iter_mut().zip(runs) {
            *best = best.max(run.packets as f64 / run.cpu_seconds / 1e6);
        }
    }
    let [alone, network, library] = best;
    println!("{name:<15}{alone:>10.3}{network:>14.3}{:>10.2}{library:>14.3}{:>10.2}", network / alone, library / alone);
}

/// Both ends of a stack, through the C interface.
fn from_library(name: &str, parameters: &str, transfer: Transfer) -> (Installed, Installed) {
    let Transfer { local, remote, start, stop, size } = transfer;
    let (seed, mtu, parameters) = (1, Bytes(1500), parameters.to_owned());
    let sender = EndSettings { is_sender: true, seed, size, start, stop, local, remote, mtu, parameters };
    let receiver = EndSettings { is_sender: false, local: remote, remote: local, ..sender.clone() };
    // SAFETY: the array is static and ends with a null pointer.
    let library = unsafe { Library::at(stacks() as usize) }.unwrap();
    let [sender, receiver] = [sender, receiver].map(|end| Installed(library.host(name, &end).unwrap()));
    (sender, receiver)
}

struct Installed(Box<dyn Host>);

impl Host for Installed {
    fn receive(&mut self, now: Time, datagram: &Datagram<'_>) {
        self.0.receive(now, datagram);
    }

    fn poll(&mut self, now: Time, outbox: &mut Outbox) {
        self.0.poll(now, outbox);
    }

    fn deadline(&self) -> Option<Time> {
        self.0.deadline()
    }

    fn framing(&self) -> Framing {
        self.0.framing()
    }
}

/// 100 Mbit/s, 10 ms each way, and a buffer of a bandwidth-delay product.
fn in_network<H: Host>(ends: impl Fn(Transfer) -> (H, H)) -> Run {
    let network = format!(
        "duration = \"{SECONDS} s\"\n[topology.dumbbell]\nrate = \"100 Mbps\"\ndelay = \"10 ms\"\nqueue = {{buffer = \"{BUFFER} packets\"}}\n"
    );
    let mut testbed = Testbed::new(&Scenario::from_toml(&network, "").unwrap(), &[]).unwrap();
    let [left, right] = ["left", "right"].map(|name| testbed.address(name).unwrap());
    let (sender, receiver) = ends(transfer([left, right]));
    testbed.attach(left, sender).unwrap();
    testbed.attach(right, receiver).unwrap();
    let before = cpu_seconds();
    let outcome = testbed.run().unwrap();
    assert!(outcome.fault.is_none());
    let packets: f64 = outcome.results.flows.floats("sent_packets").unwrap().iter().sum();
    Run { packets: packets as u64, cpu_seconds: cpu_seconds() - before }
}

fn transfer(addresses: [Ipv4Addr; 2]) -> Transfer {
    let [local, remote] = [0, 1].map(|end| SocketAddrV4::new(addresses[end], PORTS[end]));
    Transfer { local, remote, start: Time::ZERO, stop: Time::NEVER, size: None }
}

/// One direction, with the queue before it.
#[derive(Default)]
struct Line {
    free: Time,
    /// With the times of their arrival.
    packets: VecDeque<(Time, Vec<u8>)>,
    /// Number of these whose transmission is known to have begun.
    begun: usize,
}

impl Line {
    /// Returns the packet if the queue is full.
    fn send(&mut self, now: Time, packet: Vec<u8>) -> Option<Vec<u8>> {
        let transmission = |packet: &[u8]| TimeDelta(packet.len() as u64 * 80_000);
        let has_begun = |(at, waiting): &(Time, Vec<u8>)| at.before(DELAY).before(transmission(waiting)) <= now;
        while self.packets.get(self.begun).is_some_and(has_begun) {
            self.begun += 1;
        }
        if self.packets.len() - self.begun == BUFFER {
            return Some(packet);
        }
        self.free = self.free.max(now) + transmission(&packet);
        self.packets.push_back((self.free + DELAY, packet));
        None
    }

    fn take(&mut self, now: Time) -> Option<Vec<u8>> {
        let (_, packet) = self.packets.pop_front_if(|(at, _)| *at <= now)?;
        self.begun = self.begun.saturating_sub(1);
        Some(packet)
    }
}

/// Two hosts and two lines, in a loop that polls a host after an arrival and at its deadline.
fn alone<H: Host>(ends: impl Fn(Transfer) -> (H, H)) -> Run {
    let (sender, receiver) = ends(transfer([1, 2].map(|last| [198, 18, 0, last].into())));
    let framing = sender.framing();
    let mut hosts = [(sender, Outbox::new(framing)), (receiver, Outbox::new(framing))];
    let mut lines: [Line; 2] = Default::default();
    let (mut now, mut deadlines, mut packets) = (Time::ZERO, [Some(Time::ZERO); 2], 0);
    let before = cpu_seconds();
    while now < Time::ZERO + TimeDelta::from_millis(SECONDS * 1000) {
        for side in [0, 1] {
            let [(host, outbox), (_, peers)] = hosts.get_disjoint_mut([side, 1 - side]).unwrap();
            let mut is_due = deadlines[side].is_some_and(|deadline| deadline <= now);
            while let Some(packet) = lines[1 - side].take(now) {
                if let Some(datagram) = framing.datagram(&packet) {
                    host.receive(now, &datagram);
                    is_due = true;
                }
                peers.recycle(packet);
            }
            if !is_due {
                continue;
            }
            host.poll(now, outbox);
            deadlines[side] = host.deadline();
            while let Some(packet) = outbox.take() {
                packets += 1;
                if let Some(discarded) = lines[side].send(now, packet) {
                    outbox.recycle(discarded);
                }
            }
        }
        let arrivals = lines.iter().filter_map(|line| line.packets.front().map(|(at, _)| *at));
        now = arrivals.chain(deadlines.into_iter().flatten()).min().unwrap_or(Time::NEVER);
    }
    Run { packets, cpu_seconds: cpu_seconds() - before }
}

/// Time on a processor, as Linux counts it.
fn cpu_seconds() -> f64 {
    let text = read_to_string("/proc/self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}
