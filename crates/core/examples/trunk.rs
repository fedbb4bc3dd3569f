//! The trunk benchmark (cui-thesis, section 3.2): edge routers with unlimited buffers, a bufferless optical switch, channels that can each
//! carry any packet, and paced NewReno flows, each with a share of 10 Mbit/s. Prints the carried traffic and the cost of the run as one
//! line of JSON.
//!
//!     cargo run --release --example trunk -- inputs=40 channels=10 rate=400 flows=400 t=2
//!
//! | Name     | Description                                              | Default |
//! |----------|----------------------------------------------------------|---------|
//! | inputs   | edge routers; flows are assigned to them in turn         | 40      |
//! | channels | channels of the trunk                                    | 10      |
//! | rate     | rate of each channel and each input, Mbit/s              | 400     |
//! | flows    | number of flows                                          | 400     |
//! | places   | shared buffer of the channels, packets                   | 0       |
//! | ss       | initial slow-start threshold, packets                    | 100     |
//! | t        | simulated seconds                                        | 2       |
//! | threads  | number of threads of the run                             | 1       |
//!
//! CPU seconds are the scheduler's, user and system; 0 if the kernel does not record them.

#![expect(clippy::print_stdout, reason = "the program prints a line of results")]

#[path = "hops/mod.rs"]
mod hops;
#[path = "measured/mod.rs"]
mod measured;

use hops::{drop_tail, greedy, tcp};
use measured::Settings;
use tailback_core::network::{AccessLink, Buffer, Flow, GroupId, Network, Port, PortId, Recording};
use tailback_core::price::PriceSpec;
use tailback_core::primitives::random::{Entity, Purpose, Stream};
use tailback_core::primitives::units::{Bytes, Rate, Time, TimeDelta};
use tailback_core::tcp::{TcpSpec, TimerSpec};

const DEFAULTS: [(&str, f64); 8] = [
    ("inputs", 40.0),
    ("channels", 10.0),
    ("rate", 400.0),
    ("flows", 400.0),
    ("places", 0.0),
    ("ss", 100.0),
    ("t", 2.0),
    ("threads", 1.0),
];
const SEED: u64 = 1;
/// Access links as in the document.
const ACCESS: Rate = Rate(100_000_000);

fn main() -> Result<(), String> {
    let settings = Settings::read(&DEFAULTS, std::env::args().skip(1))?;
    println!("{}", hops::run(network(&settings), &settings)?);
    Ok(())
}

fn network(of: &Settings) -> Network {
    let (inputs, flows) = (of.get("inputs") as u32, of.get("flows") as u32);
    let rate = Rate((of.get("rate") * 1e6) as u64);
    let trunk = |name: &str, buffer| Port {
        transmitters: of.get("channels") as u32,
        ..drop_tail(name.into(), rate, TimeDelta::ZERO, buffer)
    };
    let trunks = [trunk("trunk", Buffer::Units(of.get("places") as u64)), trunk("trunk back", Buffer::Unlimited)];
    // Port 2 + 2i leads from edge router i to the switch, port 3 + 2i back.
    let input = |index: u32| drop_tail(format!("input{index}"), rate, TimeDelta::ZERO, Buffer::Unlimited);
    let paths = (0..inputs).flat_map(|input| [vec![PortId(2 + 2 * input), PortId(0)], vec![PortId(1), PortId(3 + 2 * input)]]);
    let tcp = TcpSpec {
        mss: Bytes(1000),
        initial_window: 2.0,
        pacing: true,
        timer: TimerSpec { min_rto: TimeDelta::from_millis(1000), ..TimerSpec::rfc6298() },
        ..tcp(of)
    };
    let flow = |index: u32| {
        let draws = Stream::new(Entity { seed: SEED, name: "tcp", index: u64::from(index) }, Purpose::Start);
        // Round-trip times from 60 to 180 ms.
        let delay = TimeDelta::from_seconds(0.03 + 0.06 * draws.uniform(0));
        Flow {
            group: GroupId(0),
            forward: 2 * (index % inputs),
            backward: 2 * (index % inputs) + 1,
            sender_access: AccessLink { rate: Some(ACCESS), delay },
            receiver_access: AccessLink { rate: None, delay: TimeDelta::ZERO },
            interface: None,
            start: Time::ZERO + TimeDelta::from_seconds(0.2 * draws.uniform(1)),
            stop: Time::NEVER,
            size: None,
        }
    };
    Network {
        ports: trunks.into_iter().chain((0..2 * inputs).map(input)).collect(),
        paths: paths.collect(),
        groups: vec![greedy("tcp", tcp)],
        flows: (0..flows).map(flow).collect(),
        messages: Default::default(),
        changes: Vec::new(),
        duration: TimeDelta::from_seconds(of.get("t")),
        warmup: TimeDelta::ZERO,
        seed: SEED,
        record: Recording::default(),
        stepped: false,
        prices: PriceSpec::default(),
    }
}
