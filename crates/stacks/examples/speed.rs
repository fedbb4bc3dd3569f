//! Packets per second of the stacks in a simulated network, directly and through the C interface that scenarios use, and alone: the same
//! connection over a line of the same rate and delay without an engine. `cargo run --release -p tailback-stacks --example speed`

#![allow(clippy::print_stdout, clippy::unwrap_used, unsafe_code, reason = "a program for the terminal")]

use std::collections::VecDeque;
use std::fs::read_to_string;
use std::net::SocketAddrV4;
use tailback_core::primitives::units::{Bytes, Time, TimeDelta};
use tailback_host::library::{EndSettings, Library};
use tailback_host::{Datagram, Framing, Host, Outbox, Testbed};
use tailback_scenario::Scenario;
use tailback_stacks::library::stacks;
use tailback_stacks::{Transfer, quinn, smoltcp};

const SECONDS: u64 = 60;

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

fn row(name: &str, runs: [&dyn Fn() -> f64; 3]) {
    // The best of five, alternately: other programs only slow a run down.
    let mut best = [0.0_f64; 3];
    for _ in 0..5 {
        for (best, run) in best.iter_mut().zip(runs) {
            *best = best.max(run() / 1e6);
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
fn in_network<H: Host>(ends: impl Fn(Transfer) -> (H, H)) -> f64 {
    let network = format!(
        "duration = \"{SECONDS} s\"\n[topology.dumbbell]\nrate = \"100 Mbps\"\ndelay = \"10 ms\"\nqueue = {{buffer = \"167 packets\"}}\n"
    );
    let mut testbed = Testbed::new(&Scenario::from_toml(&network, "").unwrap(), &[]).unwrap();
    let [left, right] = ["left", "right"].map(|name| testbed.address(name).unwrap());
    let transfer = transfer(SocketAddrV4::new(left, 50_000), SocketAddrV4::new(right, 443));
    let (sender, receiver) = ends(transfer);
    testbed.attach(left, sender).unwrap();
    testbed.attach(right, receiver).unwrap();
    let before = cpu_seconds();
    let outcome = testbed.run().unwrap();
    assert!(outcome.fault.is_none());
    let packets: f64 = outcome.results.flows.floats("sent_packets").unwrap().iter().sum();
    packets / (cpu_seconds() - before)
}

fn transfer(local: SocketAddrV4, remote: SocketAddrV4) -> Transfer {
    Transfer { local, remote, start: Time::ZERO, stop: Time::NEVER, size: None }
}

/// One direction.
#[derive(Default)]
struct Line {
    free: Time,
    /// With the times of their arrival.
    packets: VecDeque<(Time, Vec<u8>)>,
}

/// The hosts at the ends of two lines of the same rate, delay and buffer.
fn alone<H: Host>(ends: impl Fn(Transfer) -> (H, H)) -> f64 {
    let [local, remote] = [1, 2].map(|last| SocketAddrV4::new([198, 18, 0, last].into(), 443));
    let (sender, receiver) = ends(transfer(local, remote));
    let framing = sender.framing();
    let mut hosts = [(sender, Outbox::new(framing)), (receiver, Outbox::new(framing))];
    let mut lines: [Line; 2] = Default::default();
    let (mut now, mut packets) = (Time::ZERO, 0_u64);
    let before = cpu_seconds();
    while now < Time::ZERO + TimeDelta::from_millis(SECONDS * 1000) {
        for side in [0, 1] {
            let [(host, outbox), (_, peers)] = hosts.get_disjoint_mut([side, 1 - side]).unwrap();
            while let Some((_, packet)) = lines[1 - side].packets.pop_front_if(|(at, _)| *at <= now) {
                if let Some(datagram) = framing.datagram(&packet) {
                    host.receive(now, &datagram);
                    host.poll(now, outbox);
                }
                peers.recycle(packet);
            }
            host.poll(now, outbox);
            let Line { free, packets: line } = &mut lines[side];
            while let Some(packet) = outbox.take() {
                packets += 1;
                let begin = (*free).max(now);
                // A bit takes 10 ns; 20 ms of packets fit.
                if begin.since(now) < TimeDelta::from_millis(20) {
                    *free = begin + TimeDelta(packet.len() as u64 * 80_000);
                    line.push_back((*free + TimeDelta::from_millis(10), packet));
                } else {
                    outbox.recycle(packet);
                }
            }
        }
        let arrivals = lines.iter().filter_map(|line| line.packets.front().map(|(at, _)| *at));
        let deadlines = hosts.iter().filter_map(|(host, _)| host.deadline());
        now = arrivals.chain(deadlines).min().unwrap_or(Time::NEVER).max(now);
    }
    packets as f64 / (cpu_seconds() - before)
}

/// Time on a processor, as Linux counts it.
fn cpu_seconds() -> f64 {
    let text = read_to_string("/proc/self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}
