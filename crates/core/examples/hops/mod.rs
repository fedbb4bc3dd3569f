//! Shared code of the multi-hop benchmarks: links, greedy senders, and the run.

use crate::measured::{self, Settings, cpu_seconds, peak_rss_kb};
use tailback_core::Engine;
use tailback_core::congestion::ControllerSpec;
use tailback_core::network::{Buffer, Group, Impairments, Network, Port, Switching, Transport};
use tailback_core::primitives::units::{Rate, Segments, Time, TimeDelta};
use tailback_core::queue::PolicySpec;
use tailback_core::tcp::{AckCounting, TcpSpec, TimerSpec, WindowValidation};

/// Run a network to its end. Returns a line of JSON: packets that left ports, drops, and the cost of the run.
pub fn run(network: Network, of: &Settings) -> Result<String, String> {
    let end = Time::ZERO + network.duration;
    let before = cpu_seconds();
    let engine = Engine::new(network);
    let built = cpu_seconds();
    let (engine, cost) = measured::run(engine, end, of.get("threads"));
    let results = engine.results().map_err(|error| error.to_string())?;
    let total = |name: &str| results.queues.floats(name).map_or(f64::NAN, |values| values.iter().sum::<f64>());
    Ok(format!(
        "{{\"hops\": {}, \"drops\": {}, \"setup_cpu_s\": {:.6}, {}, \"peak_rss_kb\": {}, \"events\": {}}}",
        total("departed_units"),
        total("dropped_units"),
        built - before,
        cost.json(),
        peak_rss_kb(),
        engine.events(),
    ))
}

/// A link's port with a drop-tail buffer.
pub fn drop_tail(name: String, rate: Rate, delay: TimeDelta, buffer: Buffer) -> Port {
    Port {
        name,
        rate,
        delay,
        transmitters: 1,
        switching: Switching::StoreAndForward,
        buffer,
        counts_in_service: false,
        policy: PolicySpec::DropTail(()),
        scheduling: None,
        shaper: None,
        random_loss: 0.0,
        listed_drops: Vec::new(),
        impairments: Impairments::default(),
        varying: None,
    }
}

/// Greedy Reno senders.
pub fn greedy(name: &str, tcp: TcpSpec) -> Group {
    Group {
        name: name.into(),
        class: 0,
        l4s: false,
        transport: Transport::Tcp(tcp, ControllerSpec::Reno(())),
        application: None,
        framing: None,
        abr: None,
        send_processing: None,
        receive_processing: None,
        jitter: TimeDelta::ZERO,
    }
}

/// NewReno over Ethernet frames, with the threshold `ss` and data-centre timers.
pub fn tcp(of: &Settings) -> TcpSpec {
    TcpSpec {
        initial_ssthresh: of.get("ss"),
        delayed_ack: None,
        window_validation: WindowValidation::None,
        ack_counting: AckCounting::Acknowledgements,
        abc_limit: Segments::UNLIMITED,
        timer: TimerSpec {
            min_rto: TimeDelta::from_millis(10),
            initial_rto: TimeDelta::from_millis(1_000),
            max_backoff: 64,
            ..TimerSpec::rfc6298()
        },
        ..TcpSpec::default()
    }
}
