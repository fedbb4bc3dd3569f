//! The dumbbell benchmark: `n` greedy NewReno flows over one drop-tail bottleneck, as in the ns-2 and ns-3 versions in `bench/peers/`.
//! Prints the carried traffic and the cost of the run as one line of JSON.
//!
//!     cargo run --release --example dumbbell -- n=1 c=100 acc=1000 rmin=100 rmax=100 buf=1202 t=100 ss=2200 start=0
//!
//! | Name       | Description                                         | Default |
//! |------------|-----------------------------------------------------|---------|
//! | n          | number of flows                                     | 100     |
//! | c          | bottleneck rate, Mbit/s                             | 1000    |
//! | acc        | access rate of each flow, Mbit/s                    | 100     |
//! | rmin, rmax | range of the two-way propagation times, ms          | 60, 180 |
//! | buf        | buffer of the bottleneck, packets                   | 10      |
//! | t          | simulated seconds                                   | 20      |
//! | ss         | initial slow-start threshold, packets               | 100     |
//! | iw         | initial window, packets                             | 10      |
//! | start      | flows start evenly over this many seconds           | 1       |
//! | sack       | 1: SACK (RFC 6675), 2: RACK-TLP (RFC 8985), instead |         |
//! |            | of NewReno                                          | 0       |
//! | law        | 0: Reno, 1: FAST, 2: FAST as its module, 3: Vegas,   |         |
//! |            | 4: MaxNet with exact prices, 5: MaxNet with ADPM    |         |
//! |            | marks; 100, 101, ...: that controller of `laws`     | 0       |
//! | cells      | 1: packets travel in ATM cells, and `buf` is cells  | 0       |
//! | bpd        | 1: BPD with thresholds 40 % and 90 %, gap 25        | 0       |
//! | spd        | 1: SPD at 20 cells, above 20 %, EPD from 80 % on    | 0       |
//! | codel      | 1: CoDel; 2: FQ-CoDel, a hash of 1024 queues        | 0       |
//! | threads    | number of threads of the run                        | 1       |
//! | trace      | bottleneck: 1: drops, 2: queue; every flow: 3: cwnd,| 0       |
//! |            | ssthresh, rtt, in_flight and state, 4: cwnd, rtt,   |         |
//! |            | in_flight, segments and acks; 5: 3 of one flow      |         |
//!
//! `dumbbell laws` prints the names of all controllers that need no prices, as a JSON list.
//!
//! CPU seconds are the scheduler's, user and system; 0 if the kernel does not record them.

#![expect(clippy::print_stdout, reason = "the program prints a line of results")]

#[path = "measured/mod.rs"]
mod measured;

use measured::{Settings, cpu_seconds, peak_rss_kb};
use tailback_core::Engine;
use tailback_core::congestion::{ControllerSpec, FastSpec, MaxNetSourceSpec, UpdateForm, VegasSpec};
use tailback_core::network::{
    Aal5, AccessLink, Buffer, Flow, Group, GroupId, Impairments, Network, Port, PortId, Queues, Recording, Scheduling, Switching,
    Trace, TraceKind, Transport,
};
use tailback_core::price::{AdpmSpec, Mapping, PriceSpec, SchemeSpec};
use tailback_core::primitives::units::{Bytes, Rate, Segments, Time, TimeDelta};
use tailback_core::queue::{BpdSpec, CodelSpec, MaxNetSpec, PolicySpec, SpdSpec, SpdVariant};
use tailback_core::schedule::{FlowQueueSpec, SchedulerSpec};
use tailback_core::tcp::{AckCounting, Recovery, TcpSpec, TimerSpec, WindowValidation};

const MSS: Bytes = Bytes(1000);
const HEADER: Bytes = Bytes(40);
const RECEIVER_DELAY: TimeDelta = TimeDelta::from_millis(1);
/// Traces of a sender's state, and of its traffic.
const STATE: [TraceKind; 5] = [TraceKind::Cwnd, TraceKind::Ssthresh, TraceKind::Rtt, TraceKind::InFlight, TraceKind::State];
const TRAFFIC: [TraceKind; 5] = [TraceKind::Cwnd, TraceKind::Rtt, TraceKind::InFlight, TraceKind::Segments, TraceKind::Acks];
/// `law` of the first controller of `laws`.
const FIRST_LAW: f64 = 100.0;
const BOTTLENECK_DELAY: TimeDelta = TimeDelta::from_millis(10);

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["laws"] {
        let names: Vec<String> = laws().iter().filter_map(ControllerSpec::name).map(|name| format!("\"{name}\"")).collect();
        println!("[{}]", names.join(", "));
        return Ok(());
    }
    let settings = read(arguments.into_iter())?;
    let network = settings.network();
    let end = Time::ZERO + network.duration;
    let engine = Engine::new(network);

    let setup = cpu_seconds();
    let (engine, cost) = measured::run(engine, end, settings.0.get("threads"));

    let events = engine.events();
    let before = cpu_seconds();
    let results = engine.results().map_err(|error| error.to_string())?;
    let results_took = cpu_seconds() - before;
    let bottleneck = |name: &str| results.queues.floats(name).and_then(|values| values.first().copied()).unwrap_or(f64::NAN);
    println!(
        "{{\"delivered\": {}, \"drops\": {}, \"utilisation\": {}, \"loss\": {:e}, \"setup_cpu_s\": {setup:.6}, {}, \
         \"results_cpu_s\": {results_took:.6}, \"peak_rss_kb\": {}, \"events\": {events}}}",
        bottleneck("departed_units"),
        bottleneck("dropped_units"),
        bottleneck("utilisation"),
        bottleneck("loss_rate"),
        cost.json(),
        peak_rss_kb(),
    );
    Ok(())
}

const DEFAULTS: [(&str, f64); 18] = [
    ("n", 100.0),
    ("c", 1000.0),
    ("acc", 100.0),
    ("rmin", 60.0),
    ("rmax", 180.0),
    ("buf", 10.0),
    ("t", 20.0),
    ("ss", 100.0),
    ("iw", 10.0),
    ("start", 1.0),
    ("sack", 0.0),
    ("law", 0.0),
    ("cells", 0.0),
    ("bpd", 0.0),
    ("spd", 0.0),
    ("codel", 0.0),
    ("trace", 0.0),
    ("threads", 1.0),
];

fn read(arguments: impl Iterator<Item = String>) -> Result<Dumbbell, String> {
    let settings = Settings::read(&DEFAULTS, arguments)?;
    match settings.get("rmin") {
        shortest if shortest >= 22.0 => Ok(Dumbbell(settings)),
        shortest => Err(format!("rmin={shortest}: bottleneck and receiver links alone have a round-trip time of 22 ms")),
    }
}

/// The default settings of each controller that needs no prices.
fn laws() -> Vec<ControllerSpec> {
    let mut laws = ControllerSpec::samples();
    laws.dedup_by_key(|law| law.name());
    laws.retain(|law| law.name().is_some() && law.abilities().price_meaning.is_none());
    laws
}

/// The network that the settings describe.
struct Dumbbell(Settings);

impl Dumbbell {
    fn network(&self) -> Network {
        let Dumbbell(of) = self;
        let bottleneck = mbps(of.get("c"));
        let port = |name: &str, buffer| Port {
            name: name.into(),
            rate: bottleneck,
            delay: BOTTLENECK_DELAY,
            transmitters: 1,
            switching: Switching::StoreAndForward,
            buffer,
            // ns-2 discards the packet that would fill the buffer, so that `buf` includes the one in service.
            counts_in_service: true,
            policy: PolicySpec::DropTail(()),
            scheduling: None,
            shaper: None,
            random_loss: 0.0,
            listed_drops: Vec::new(),
            impairments: Impairments::default(),
            varying: None,
        };
        let places = of.get("buf") as u64;
        let bpd = BpdSpec { lower_threshold: places * 4 / 10, upper_threshold: places * 9 / 10, gap: 25 };
        let spd = SpdSpec {
            dropping_threshold: Some(20),
            epd_threshold: places * 8 / 10,
            congestion_threshold: places / 5,
            variant: SpdVariant::Corrected,
        };
        let policy = match (of.get("bpd"), of.get("spd")) {
            _ if [4.0, 5.0].contains(&of.get("law")) => PolicySpec::MaxNet(MaxNetSpec::default()),
            _ if of.get("codel") != 0.0 => PolicySpec::Codel(CodelSpec::default()),
            (0.0, 0.0) => PolicySpec::DropTail(()),
            (0.0, _) => PolicySpec::Spd(spd),
            _ => PolicySpec::Bpd(bpd),
        };
        let flow_queue =
            || Scheduling { scheduler: SchedulerSpec::FlowQueue(FlowQueueSpec::default()), queues: Queues::Hashed(1024) };
        let scheduling = (of.get("codel") == 2.0).then(|| Box::new(flow_queue()));
        let forth = Port { policy, scheduling, ..port("bottleneck", Buffer::Units(places)) };
        Network {
            ports: vec![forth, port("bottleneck.reverse", Buffer::Unlimited)],
            paths: vec![vec![PortId(0)], vec![PortId(1)]],
            groups: vec![Group {
                name: "greedy".into(),
                class: 0,
                l4s: false,
                transport: Transport::Tcp(self.tcp(), self.controller()),
                application: None,
                abr: None,
                framing: (of.get("cells") != 0.0).then_some(Aal5 {
                    overhead: Bytes(8),
                    segmentation: TimeDelta::ZERO,
                    reassembly: TimeDelta::ZERO,
                }),
                send_processing: None,
                receive_processing: None,
                jitter: TimeDelta::ZERO,
            }],
            flows: (0..of.get("n") as u64).map(|index| self.flow(index)).collect(),
            messages: Default::default(),
            changes: Vec::new(),
            duration: TimeDelta::from_seconds(of.get("t")),
            warmup: TimeDelta::ZERO,
            seed: 1,
            record: self.record(),
            stepped: false,
            prices: self.prices(),
        }
    }

    fn flow(&self, index: u64) -> Flow {
        let Dumbbell(of) = self;
        let (flows, access) = (of.get("n"), mbps(of.get("acc")));
        let place = (index * 7919 % flows as u64) as f64;
        let rtt_ms = of.get("rmin") + (of.get("rmax") - of.get("rmin")) * (place + 0.5) / flows;
        // The peers exchange a SYN first: data starts one round trip of two small packets later.
        let small_packet = 8.0 * HEADER.0 as f64 * (2.0 / access.0 as f64 + 1.0 / (of.get("c") * 1e6));
        let handshake = rtt_ms * 1e-3 + 2.0 * small_packet;
        Flow {
            group: GroupId(0),
            forward: 0,
            backward: 1,
            sender_access: AccessLink {
                rate: Some(access),
                delay: TimeDelta::from_seconds(rtt_ms / 2e3) - BOTTLENECK_DELAY - RECEIVER_DELAY,
            },
            receiver_access: AccessLink { rate: Some(access), delay: RECEIVER_DELAY },
            interface: None,
            start: Time::ZERO + TimeDelta::from_seconds(of.get("start") * index as f64 / flows + handshake),
            stop: Time::NEVER,
            size: None,
        }
    }

    fn record(&self) -> Recording {
        let all: Vec<u32> = (0..self.0.get("n") as u32).collect();
        let (kinds, of): (&[TraceKind], _) = match self.0.get("trace") {
            1.0 => (&[TraceKind::Drops], vec![0]),
            2.0 => (&[TraceKind::Queue], vec![0]),
            3.0 => (&STATE, all),
            4.0 => (&TRAFFIC, all),
            5.0 => (&STATE, vec![0]),
            _ => (&[], all),
        };
        let traces = kinds.iter().map(|&kind| Trace { kind, of: of.clone() }).collect();
        Recording { traces, ..Recording::default() }
    }

    fn controller(&self) -> ControllerSpec {
        match self.0.get("law") {
            1.0 => ControllerSpec::Fast(FastSpec::default()),
            2.0 => ControllerSpec::Fast(FastSpec { update: UpdateForm::Module, ..FastSpec::default() }),
            3.0 => ControllerSpec::Vegas(VegasSpec::default()),
            4.0 | 5.0 => ControllerSpec::MaxNet(MaxNetSourceSpec {
                max_rate: mbps(self.0.get("acc") / 5.0),
                ..MaxNetSourceSpec::default()
            }),
            law => {
                laws().get((law - FIRST_LAW) as usize).filter(|_| law >= FIRST_LAW).cloned().unwrap_or(ControllerSpec::Reno(()))
            }
        }
    }

    fn prices(&self) -> PriceSpec {
        let marks = PriceSpec {
            scheme: SchemeSpec::Adpm(AdpmSpec::default()),
            mapping: Mapping { max: 10.0, ..Mapping::UNIT },
            ..PriceSpec::default()
        };
        if self.0.get("law") == 5.0 { marks } else { PriceSpec::default() }
    }

    fn tcp(&self) -> TcpSpec {
        let Dumbbell(of) = self;
        TcpSpec {
            recovery: [Recovery::NewReno, Recovery::Sack, Recovery::RackTlp][of.get("sack") as usize % 3],
            mss: MSS,
            header: HEADER,
            ack_size: HEADER,
            initial_window: of.get("iw"),
            initial_ssthresh: of.get("ss"),
            delayed_ack: None,
            window_validation: WindowValidation::None,
            // As in ns-2, which is the reference of the comparison.
            ack_counting: AckCounting::Acknowledgements,
            abc_limit: Segments::UNLIMITED,
            timer: TimerSpec {
                min_rto: TimeDelta::from_millis(200),
                initial_rto: TimeDelta::from_millis(3_000),
                max_backoff: 64,
                ..TimerSpec::rfc6298()
            },
            ..TcpSpec::default()
        }
    }
}

fn mbps(megabits: f64) -> Rate {
    Rate((megabits * 1e6) as u64)
}
