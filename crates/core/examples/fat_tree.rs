//! The fat tree of the benchmark: k-ary, full bisection, one greedy or finite NewReno flow per host to the host half of them further on, over a
//! path drawn for each way (equal-cost multipath by hand). Host links are ports like all others. Prints what was carried and what it cost as
//! one line of JSON.
//!
//!     cargo run --release --example fat_tree -- k=8 size=1048576 buf=200 ss=45 t=10
//!
//! | name | meaning                                          | default |
//! |------|--------------------------------------------------|---------|
//! | k    | ports of a switch: k^3/4 hosts                   | 8       |
//! | rate | of every link, Gbit/s                            | 100     |
//! | size | of each flow, bytes; 0: endless                  | 1048576 |
//! | buf  | places of a switch port's queue, packets         | 200     |
//! | ss   | initial slow-start threshold, packets            | 45      |
//! | t    | simulated seconds at most                        | 10      |
//!
//! CPU seconds are the scheduler's own, user and system; where the kernel does not keep them they are 0.

#![expect(clippy::print_stdout, reason = "the line of results is what this program is for")]

#[path = "measured/mod.rs"]
mod measured;

use measured::{Settings, cpu_seconds, peak_rss_kb};
use tailback_core::Engine;
use tailback_core::congestion::ControllerSpec;
use tailback_core::network::{Access, Buffer, Flow, Group, Network, Port, Record, Switching, Transport};
use tailback_core::price::PriceSpec;
use tailback_core::primitives::units::{Bytes, Rate, Segments, Span, Time};
use tailback_core::queue::PolicySpec;
use tailback_core::tcp::{Counting, Halves, Recovery, SlowStart, TcpSpec, TimerSpec, WindowValidation};

const DEFAULTS: [(&str, f64); 6] =
    [("k", 8.0), ("rate", 100.0), ("size", 1_048_576.0), ("buf", 200.0), ("ss", 45.0), ("t", 10.0)];

fn main() -> Result<(), String> {
    let settings = Settings::read(&DEFAULTS, std::env::args().skip(1))?;
    let network = network(&settings);
    let end = Time::ZERO + network.duration;
    let before = cpu_seconds();
    let mut engine = Engine::new(network);
    let setup = cpu_seconds();
    engine.run_until(end);
    let run = cpu_seconds() - setup;
    let events = engine.events();
    let results = engine.results().map_err(|error| error.to_string())?;
    let total = |name: &str| results.queues.floats(name).map_or(f64::NAN, |values| values.iter().sum::<f64>());
    let hops = total("departed_units");
    println!(
        "{{\"hops\": {hops}, \"drops\": {}, \"setup_cpu_s\": {:.6}, \"run_cpu_s\": {run:.6}, \"peak_rss_kb\": {}, \"events\": {events}}}",
        total("discarded_units"),
        setup - before,
        peak_rss_kb(),
    );
    Ok(())
}

/// Where the ports of each layer begin, in a k-ary fat tree: of each link first the way up, then the way down.
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

    /// Links of a layer: host to edge, edge to aggregation, aggregation to core.
    fn up(&self, layer: u32, link: u32) -> u32 {
        2 * (layer * self.hosts() + link)
    }

    fn down(&self, layer: u32, link: u32) -> u32 {
        self.up(layer, link) + 1
    }

    /// From host to host over the aggregation switch and the core switch with these numbers, if they are needed.
    fn path(&self, from: u32, to: u32, aggregation: u32, core: u32) -> Vec<u32> {
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
        Port {
            name: format!("port{index}"),
            rate: Rate((of.get("rate") * 1e9) as u64),
            delay: Span::from_micros(1),
            transmitters: 1,
            switching: Switching::StoreAndForward,
            buffer: if leaves_host { Buffer::Unlimited } else { Buffer::Units(of.get("buf") as u64) },
            counts_in_service: false,
            policy: PolicySpec::DropTail(()),
            random_loss: 0.0,
            listed_drops: Vec::new(),
        }
    };
    // A multiplicative hash of Knuth's, in place of a drawn path.
    let drawn = |index: u32, way: u32| (u64::from(2 * index + way) * 2_654_435_761 >> 8) % (half * half);
    let path = |host: u32, way: u32| {
        let ends = (host, (host + hosts / 2) % hosts);
        let (from, to) = if way == 0 { ends } else { (ends.1, ends.0) };
        let core = drawn(host, way);
        tree.path(from, to, (core / half) as u32, (core % half) as u32)
    };
    let nowhere = Access { rate: None, delay: Span::ZERO };
    let flow = |host: u32| Flow {
        group: 0,
        forward: 2 * host,
        backward: 2 * host + 1,
        sender_access: nowhere,
        receiver_access: nowhere,
        start: Time(u64::from(host)),
        stop: Time::NEVER,
        size: (of.get("size") > 0.0).then_some(Bytes(of.get("size") as u64)),
    };
    Network {
        ports: (0..6 * hosts).map(port).collect(),
        paths: (0..hosts).flat_map(|host| [path(host, 0), path(host, 1)]).collect(),
        groups: vec![Group {
            name: "transfers".into(),
            transport: Transport::Tcp(tcp(of), ControllerSpec::Reno(())),
            application: None,
            framing: None,
            send_processing: None,
            receive_processing: None,
            jitter: Span::ZERO,
        }],
        flows: (0..hosts).map(flow).collect(),
        changes: Vec::new(),
        duration: Span::from_seconds(of.get("t")),
        warmup: Span::ZERO,
        seed: 1,
        record: Record::default(),
        stepped: false,
        prices: PriceSpec::default(),
    }
}

fn tcp(of: &Settings) -> TcpSpec {
    TcpSpec {
        recovery: Recovery::NewReno,
        mss: Bytes(1460),
        header: Bytes(40),
        ack_size: Bytes(40),
        initial_window: 10.0,
        handshake: false,
        initial_ssthresh: of.get("ss"),
        receiver_window: Segments(1_000_000),
        fast_retransmit: Some(3),
        limited_transmit: true,
        timestamps: false,
        sack_blocks: 3,
        delayed_ack: None,
        ecn: false,
        pacing: false,
        window_validation: WindowValidation::None,
        halves: Halves::FlightSize,
        counting: Counting::Acknowledgements,
        slow_start_limit: Segments::UNLIMITED,
        slow_start: SlowStart::Standard,
        timer: TimerSpec {
            min_rto: Span::from_millis(10),
            initial_rto: Span::from_millis(1_000),
            max_backoff: 64,
            ..TimerSpec::rfc6298()
        },
    }
}
