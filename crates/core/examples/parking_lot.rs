//! The parking-lot benchmark: bottlenecks in a row, some greedy NewReno flows over all of them, and the same number over each one. Lines
//! thus merge at each bottleneck. Prints the carried traffic and the cost of the run as one line of JSON.
//!
//!     cargo run --release --example parking_lot -- n=20 flows=5 rate=1000 buf=100 t=10
//!
//! | Name  | Description                                  | Default |
//! |-------|----------------------------------------------|---------|
//! | n     | bottlenecks in a row                         | 20      |
//! | flows | flows over all of them, and over each        | 5       |
//! | rate  | rate of each bottleneck, Mbit/s              | 1000    |
//! | buf   | buffer of each bottleneck, packets           | 100     |
//! | ss    | initial slow-start threshold, packets        | 64      |
//! | t     | simulated seconds                            | 10      |
//! | threads | number of threads of the run               | 1       |
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
use tailback_core::primitives::units::{Rate, Time, TimeDelta};

const DEFAULTS: [(&str, f64); 7] =
    [("n", 20.0), ("flows", 5.0), ("rate", 1000.0), ("buf", 100.0), ("ss", 64.0), ("t", 10.0), ("threads", 1.0)];

fn main() -> Result<(), String> {
    let settings = Settings::read(&DEFAULTS, std::env::args().skip(1))?;
    println!("{}", hops::run(network(&settings), &settings)?);
    Ok(())
}

fn network(of: &Settings) -> Network {
    let (bottlenecks, flows) = (of.get("n") as u32, of.get("flows") as u32);
    let rate = Rate((of.get("rate") * 1e6) as u64);
    let delay = TimeDelta::from_millis(1);
    // Port 2i leads forward from router i, port 2i + 1 back.
    let port = |index: u32| {
        let buffer = if index.is_multiple_of(2) { Buffer::Units(of.get("buf") as u64) } else { Buffer::Unlimited };
        drop_tail(format!("port{index}"), rate, delay, buffer)
    };
    let forth = |first: u32, behind: u32| (first..behind).map(|link| PortId(2 * link)).collect();
    let back = |first: u32, behind: u32| (first..behind).rev().map(|link| PortId(2 * link + 1)).collect();
    let over_all = [forth(0, bottlenecks), back(0, bottlenecks)];
    let over_each = (0..bottlenecks).flat_map(|link| [forth(link, link + 1), back(link, link + 1)]);
    let flow = |(index, group, path): (u32, u32, u32)| Flow {
        group: GroupId(group),
        forward: 2 * path,
        backward: 2 * path + 1,
        // All round-trip times differ, so that flows do not synchronise.
        sender_access: AccessLink { rate: Some(rate), delay: TimeDelta::from_micros(1000 + 37 * u64::from(index)) },
        receiver_access: AccessLink { rate: Some(rate), delay: TimeDelta::from_micros(100) },
        interface: None,
        start: Time(u64::from(index) * 1_000_000_000),
        stop: Time::NEVER,
        size: None,
    };
    let long = (0..flows).map(|index| (index, 0, 0));
    let cross = (0..bottlenecks * flows).map(|index| (flows + index, 1, 1 + index / flows));
    Network {
        ports: (0..2 * bottlenecks).map(port).collect(),
        paths: over_all.into_iter().chain(over_each).collect(),
        groups: vec![greedy("long", tcp(of)), greedy("cross", tcp(of))],
        flows: long.chain(cross).map(flow).collect(),
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
