//! The dumbbell of the benchmark: `n` greedy NewReno flows over one drop-tail bottleneck, as `bench/peers/` writes it for ns-2 and
//! ns-3. Prints what was carried and what it cost as one line of JSON.
//!
//!     cargo run --release --example dumbbell -- n=1 c=100 acc=1000 rmin=100 rmax=100 buf=1202 t=100 ss=2200 start=0
//!
//! | name       | meaning                                             | default |
//! |------------|-----------------------------------------------------|---------|
//! | n          | flows                                               | 100     |
//! | c          | bottleneck rate, Mbit/s                             | 1000    |
//! | acc        | access rate of each flow, Mbit/s                    | 100     |
//! | rmin, rmax | range of the two-way propagation times, ms          | 60, 180 |
//! | buf        | waiting places at the bottleneck, packets           | 10      |
//! | t          | simulated seconds                                   | 20      |
//! | ss         | initial slow-start threshold, packets               | 100     |
//! | iw         | initial window, packets                             | 10      |
//! | start      | flows start evenly over this many seconds           | 1       |
//! | sack       | 1: SACK (RFC 6675) instead of NewReno               | 0       |
//! | law        | 0: Reno, 1: FAST, 2: FAST as its module, 3: Vegas,   |         |
//! |            | 4: MaxNet by numbers, 5: MaxNet by marks of ADPM     | 0       |
//! | cells      | 1: packets travel in ATM cells, and `buf` is cells  | 0       |
//! | bpd        | 1: BPD with thresholds 40 % and 90 %, gap 25        | 0       |
//! | spd        | 1: SPD at 20 cells, above 20 %, EPD from 80 % on    | 0       |
//!
//! CPU seconds are the scheduler's own, user and system; where the kernel does not keep them they are 0.

#![expect(clippy::print_stdout, reason = "the line of results is what this program is for")]

use std::collections::HashMap;
use std::time::Duration;
use tailback_core::Engine;
use tailback_core::congestion::{ControllerSpec, FastSpec, MaxNetSourceSpec, UpdateForm, VegasSpec};
use tailback_core::network::{Aal5, Access, Buffer, Flow, Group, Network, Port, Record, Switching, Transport};
use tailback_core::price::{AdpmSpec, Mapping, PriceSpec, SchemeSpec};
use tailback_core::primitives::units::{Bytes, Rate, Segments, Span, Time};
use tailback_core::queue::{BpdSpec, MaxNetSpec, PolicySpec, SpdReading, SpdSpec};
use tailback_core::tcp::{Counting, Halves, Recovery, SlowStart, TcpSpec, TimerSpec, WindowValidation};

const MSS: Bytes = Bytes(1000);
const HEADER: Bytes = Bytes(40);
const RECEIVER_DELAY: Span = Span::from_millis(1);
const BOTTLENECK_DELAY: Span = Span::from_millis(10);

fn main() -> Result<(), String> {
    let settings = Settings::read(std::env::args().skip(1))?;
    let network = settings.network();
    let end = Time::ZERO + network.duration;
    let mut engine = Engine::new(network);

    let setup = cpu_seconds();
    engine.run_until(end);
    let run = cpu_seconds() - setup;

    let events = engine.events();
    let results = engine.results().map_err(|error| error.to_string())?;
    let bottleneck = |name: &str| results.queues.floats(name).and_then(|values| values.first().copied()).unwrap_or(f64::NAN);
    println!(
        "{{\"delivered\": {}, \"drops\": {}, \"utilisation\": {}, \"loss\": {:e}, \"setup_cpu_s\": {setup:.6}, \"run_cpu_s\": {run:.6}, \
         \"peak_rss_kb\": {}, \"events\": {events}}}",
        bottleneck("departed_units"),
        bottleneck("discarded_units"),
        bottleneck("utilisation"),
        bottleneck("loss_share"),
        peak_rss_kb(),
    );
    Ok(())
}

/// What the command line says, in the units of the table above.
struct Settings(HashMap<&'static str, f64>);

impl Settings {
    fn read(arguments: impl Iterator<Item = String>) -> Result<Settings, String> {
        let defaults = [
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
        ];
        let mut settings = HashMap::from(defaults);
        for argument in arguments {
            let (name, value) = argument.split_once('=').ok_or(format!("`{argument}` is not of the form name=value"))?;
            let value: f64 = value.parse().map_err(|_| format!("`{value}` is not a number"))?;
            let (_, setting) =
                settings.iter_mut().find(|(known, _)| **known == name).ok_or(format!("there is no setting `{name}`"))?;
            *setting = value;
        }
        match settings["rmin"] {
            shortest if shortest >= 22.0 => Ok(Settings(settings)),
            shortest => Err(format!("rmin={shortest}: bottleneck and receiver links alone take 22 ms there and back")),
        }
    }

    fn network(&self) -> Network {
        let Settings(of) = self;
        let bottleneck = mbps(of["c"]);
        let port = |name: &str, buffer| Port {
            name: name.into(),
            rate: bottleneck,
            delay: BOTTLENECK_DELAY,
            transmitters: 1,
            switching: Switching::StoreAndForward,
            buffer,
            // ns-2 refuses the packet that would take the last place, so that `buf` includes the one being sent.
            counts_in_service: true,
            policy: PolicySpec::DropTail(()),
            random_loss: 0.0,
            listed_drops: Vec::new(),
        };
        let places = of["buf"] as u64;
        let bpd = BpdSpec { lower: places * 4 / 10, upper: places * 9 / 10, gap: 25 };
        let spd = SpdSpec {
            dropping_threshold: Some(20),
            epd_threshold: places * 8 / 10,
            congestion_threshold: places / 5,
            reading: SpdReading::Corrected,
        };
        let policy = match (of["bpd"], of["spd"]) {
            _ if of["law"] >= 4.0 => PolicySpec::MaxNet(MaxNetSpec::default()),
            (0.0, 0.0) => PolicySpec::DropTail(()),
            (0.0, _) => PolicySpec::Spd(spd),
            _ => PolicySpec::Bpd(bpd),
        };
        let forth = Port { policy, ..port("bottleneck", Buffer::Units(places)) };
        Network {
            ports: vec![forth, port("bottleneck.reverse", Buffer::Unlimited)],
            paths: vec![vec![0], vec![1]],
            groups: vec![Group {
                name: "greedy".into(),
                transport: Transport::Tcp(self.tcp(), self.controller()),
                application: None,
                framing: (of["cells"] != 0.0).then_some(Aal5 {
                    overhead: Bytes(8),
                    segmentation: Span::ZERO,
                    reassembly: Span::ZERO,
                }),
                send_processing: None,
                receive_processing: None,
                jitter: Span::ZERO,
            }],
            flows: (0..of["n"] as u64).map(|index| self.flow(index)).collect(),
            changes: Vec::new(),
            duration: Span::from_seconds(of["t"]),
            warmup: Span::ZERO,
            seed: 1,
            record: Record::default(),
            stepped: false,
            prices: self.prices(),
        }
    }

    fn flow(&self, index: u64) -> Flow {
        let Settings(of) = self;
        let (flows, access) = (of["n"], mbps(of["acc"]));
        let place = (index * 7919 % flows as u64) as f64;
        let rtt_ms = of["rmin"] + (of["rmax"] - of["rmin"]) * (place + 0.5) / flows;
        // The peers exchange a SYN first: data starts one round trip of two small packets later.
        let small_packet = 8.0 * HEADER.0 as f64 * (2.0 / access.0 as f64 + 1.0 / (of["c"] * 1e6));
        let handshake = rtt_ms * 1e-3 + 2.0 * small_packet;
        Flow {
            group: 0,
            forward: 0,
            backward: 1,
            sender_access: Access {
                rate: Some(access),
                delay: Span::from_seconds(rtt_ms / 2e3) - BOTTLENECK_DELAY - RECEIVER_DELAY,
            },
            receiver_access: Access { rate: Some(access), delay: RECEIVER_DELAY },
            start: Time::ZERO + Span::from_seconds(of["start"] * index as f64 / flows + handshake),
            stop: Time::NEVER,
            size: None,
        }
    }

    fn controller(&self) -> ControllerSpec {
        match self.0["law"] {
            1.0 => ControllerSpec::Fast(FastSpec::default()),
            2.0 => ControllerSpec::Fast(FastSpec { update: UpdateForm::Module, ..FastSpec::default() }),
            3.0 => ControllerSpec::Vegas(VegasSpec::default()),
            4.0 | 5.0 => {
                ControllerSpec::MaxNet(MaxNetSourceSpec { fastest: mbps(self.0["acc"] / 5.0), ..MaxNetSourceSpec::default() })
            }
            _ => ControllerSpec::Reno(()),
        }
    }

    fn prices(&self) -> PriceSpec {
        let marks = PriceSpec {
            scheme: SchemeSpec::Adpm(AdpmSpec::default()),
            mapping: Mapping { most: 10.0, ..Mapping::UNIT },
            ..PriceSpec::default()
        };
        if self.0["law"] == 5.0 { marks } else { PriceSpec::default() }
    }

    fn tcp(&self) -> TcpSpec {
        let Settings(of) = self;
        TcpSpec {
            recovery: if of["sack"] == 0.0 { Recovery::NewReno } else { Recovery::Sack },
            mss: MSS,
            header: HEADER,
            ack_size: HEADER,
            initial_window: of["iw"],
            handshake: false,
            initial_ssthresh: of["ss"],
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
            // As ns-2's do, with which it is compared.
            counting: Counting::Acknowledgements,
            slow_start_limit: Segments::UNLIMITED,
            slow_start: SlowStart::Standard,
            timer: TimerSpec {
                min_rto: Span::from_millis(200),
                initial_rto: Span::from_millis(3_000),
                max_backoff: 64,
                ..TimerSpec::rfc6298()
            },
        }
    }
}

fn mbps(megabits: f64) -> Rate {
    Rate((megabits * 1e6) as u64)
}

/// CPU time of this process so far. The kernel brings it up to date when the process stops running: hence the nap.
fn cpu_seconds() -> f64 {
    std::thread::sleep(Duration::from_micros(1));
    let line = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = line.split(' ').next().and_then(|first| first.parse::<f64>().ok());
    nanoseconds.map_or(0.0, |nanoseconds| nanoseconds * 1e-9)
}

/// Most memory that this process has held, in kB of 1024 bytes; 0 where the kernel does not tell.
fn peak_rss_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
