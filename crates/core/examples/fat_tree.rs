//! The fat-tree benchmark: k-ary, full bisection bandwidth, one greedy or finite NewReno flow per host to the host half of the hosts
//! further on. Each direction has a randomly assigned path (equal-cost multipath by hand). Host links are ports like all others. Prints the
//! carried traffic and the cost of the run as one line of JSON.
//!
//!     cargo run --release --example fat_tree -- k=8 size=1048576 buf=200 ss=45 t=10
//!
//! | Name | Description                                      | Default |
//! |------|--------------------------------------------------|---------|
//! | k    | ports per switch: k^3/4 hosts                    | 8       |
//! | rate | rate of every link, Gbit/s                       | 100     |
//! | size | size of each flow, bytes; 0: endless             | 1048576 |
//! | buf  | buffer of a switch port, packets                 | 200     |
//! | ss   | initial slow-start threshold, packets            | 45      |
//! | t    | maximum simulated seconds                        | 10      |
//! | mixed | 1: pseudo-random pairs and paths, so that flows share links | 0 |
//! | threads | number of threads of the run                  | 1       |
//!
//! CPU seconds are the scheduler's, user and system; 0 if the kernel does not record them.

#![expect(clippy::print_stdout, reason = "the program prints a line of results")]

#[path = "hops/mod.rs"]
mod hops;
#[path = "measured/mod.rs"]
mod measured;

use hops::{drop_tail, greedy, tcp};
use measured::Settings;
use tailback_core::network::{AccessLink, Buffer, Flow, GroupId, Network, PortId, Recording};
use tailback_core::price::PriceSpec;
use tailback_core::primitives::units::{Bytes, Rate, Time, TimeDelta};

const DEFAULTS: [(&str, f64); 8] = [
    ("k", 8.0),
    ("rate", 100.0),
    ("size", 1_048_576.0),
    ("buf", 200.0),
    ("ss", 45.0),
    ("t", 10.0),
    ("mixed", 0.0),
    ("threads", 1.0),
];

fn main() -> Result<(), String> {
    let settings = Settings::read(&DEFAULTS, std::env::args().skip(1))?;
    println!("{}", hops::run(network(&settings), &settings)?);
    Ok(())
}

/// Port numbers of a k-ary fat tree, by layer: for each link first the upward port, then the downward one.
struct Tree {
    k: u32,
}

impl Tree {
    fn half(&self) -> u32 {
        self.k / 2
    }

    fn hosts(&self) -> u32 {
        self.k * self.k * self.k / 4
    }

    /// The upward port of a link in a layer: host to edge, edge to aggregation, aggregation to core.
    fn up(&self, layer: u32, link: u32) -> PortId {
        PortId(2 * (layer * self.hosts() + link))
    }

    fn down(&self, layer: u32, link: u32) -> PortId {
        PortId(self.up(layer, link).0 + 1)
    }

    /// The path between two hosts over the aggregation switch and the core switch with these numbers, if they are needed.
    fn path(&self, from: u32, to: u32, aggregation: u32, core: u32) -> Vec<PortId> {
        let half = self.half();
        let (edge_from, edge_to) = (from / half, to / half);
        let (pod_from, pod_to) = (edge_from / half, edge_to / half);
        let mut path = vec![self.up(0, from)];
        if edge_from != edge_to {
            path.push(self.up(1, edge_from * half + aggregation));
            if pod_from != pod_to {
                path.push(self.up(2, (pod_from * half + aggregation) * half + core));
                path.push(self.down(2, (pod_to * half + aggregation) * half + core));
            }
            path.push(self.down(1, edge_to * half + aggregation));
        }
        path.push(self.down(0, to));
        path
    }
}

fn network(of: &Settings) -> Network {
    let tree = Tree { k: of.get("k") as u32 };
    let (hosts, half) = (tree.hosts(), u64::from(tree.half()));
    let port = |index: u32| {
        let leaves_host = index < 2 * hosts && index.is_multiple_of(2);
        let buffer = if leaves_host { Buffer::Unlimited } else { Buffer::Units(of.get("buf") as u64) };
        drop_tail(format!("port{index}"), Rate((of.get("rate") * 1e9) as u64), TimeDelta::from_micros(1), buffer)
    };
    let is_mixed = of.get("mixed") > 0.0;
    // Knuth's multiplicative hash in place of a random path. It is so regular that few flows share a link.
    let regular = |number: u64| (number * 2_654_435_761) >> 8;
    let drawn = |index: u32, way: u32| {
        let number = regular(u64::from(2 * index + way));
        (if is_mixed { regular(number ^ (number >> 15)) } else { number }) % (half * half)
    };
    let path = |host: u32, way: u32| {
        // An odd factor and an odd summand: every host is used once, and no host is its own destination.
        let other = if is_mixed { 7919 * u64::from(host) + 4241 } else { u64::from(host + hosts / 2) };
        let ends = (host, (other % u64::from(hosts)) as u32);
        let (from, to) = if way == 0 { ends } else { (ends.1, ends.0) };
        let core = drawn(host, way);
        tree.path(from, to, (core / half) as u32, (core % half) as u32)
    };
    let nowhere = AccessLink { rate: None, delay: TimeDelta::ZERO };
    let flow = |host: u32| Flow {
        group: GroupId(0),
        forward: 2 * host,
        backward: 2 * host + 1,
        sender_access: nowhere,
        receiver_access: nowhere,
        interface: None,
        start: Time(u64::from(host)),
        stop: Time::NEVER,
        size: (of.get("size") > 0.0).then_some(Bytes(of.get("size") as u64)),
    };
    Network {
        ports: (0..6 * hosts).map(port).collect(),
        paths: (0..hosts).flat_map(|host| [path(host, 0), path(host, 1)]).collect(),
        groups: vec![greedy("transfers", tcp(of))],
        flows: (0..hosts).map(flow).collect(),
        messages: Default::default(),
        changes: Vec::new(),
        duration: TimeDelta::from_seconds(of.get("t")),
        warmup: TimeDelta::ZERO,
        seed: 1,
        record: Recording::default(),
        stepped: false,
        prices: PriceSpec::default(),
    }
}
