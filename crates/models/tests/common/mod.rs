//! What the tests of theory share: networks of one link, runs of them, and readings.

#![allow(dead_code, reason = "each test file uses its part")]

pub mod statistics;

use tailback_core::base::units::{Rate, Span, Time};
use tailback_core::congestion::ControllerSpec;
use tailback_core::network::{Access, Buffer, Flow, Group, Network, Port, Record, Switching, Transport};
use tailback_core::queue::PolicySpec;
use tailback_core::record::Table;
use tailback_core::tcp::{Halves, RecoveryKind, TcpSpec, TimerForm, TimerSpec};
use tailback_core::{Engine, Results};

/// Run a network to its end.
pub fn run(network: Network) -> Results {
    let seed = network.seed;
    let mut engine = Engine::new(network);
    engine.run_until(Time::NEVER);
    engine.results().unwrap_or_else(|violation| panic!("seed {seed}: {violation}"))
}

/// The first row of a numeric column.
pub fn first(table: &Table, column: &str) -> f64 {
    floats(table, column).first().copied().unwrap_or_else(|| panic!("table `{}` has no row", table.name))
}

/// A numeric column.
pub fn floats(table: &Table, column: &str) -> Vec<f64> {
    table.floats(column).unwrap_or_else(|| panic!("table `{}` has no numbers `{column}`", table.name))
}

/// A trace of a run by its name.
pub fn trace<'a>(results: &'a Results, name: &str) -> &'a Table {
    results.traces.iter().find(|table| table.name == name).unwrap_or_else(|| panic!("`{name}` was not traced"))
}

/// A port with one transmitter, room for everything and no loss.
pub fn port(name: &str, rate: Rate, delay: Span) -> Port {
    Port {
        name: name.to_string(),
        rate,
        delay,
        transmitters: 1,
        switching: Switching::StoreAndForward,
        buffer: Buffer::Unlimited,
        counts_in_service: false,
        policy: PolicySpec::DropTail(()),
        random_loss: 0.0,
        listed_drops: Vec::new(),
    }
}

pub fn group(name: &str, transport: Transport) -> Group {
    Group {
        name: name.to_string(),
        transport,
        application: None,
        framing: None,
        send_processing: None,
        receive_processing: None,
        jitter: Span::ZERO,
    }
}

/// Greedy, from time 0, over the first path and back over the second, without private links.
pub fn flow() -> Flow {
    Flow {
        group: 0,
        forward: 0,
        backward: 1,
        sender_access: Access::default(),
        receiver_access: Access::default(),
        start: Time::ZERO,
        stop: Time::NEVER,
        size: None,
    }
}

/// Flows of one group over the first port and back over the second, measured from the beginning, with seed 1.
pub fn one_link(ports: [Port; 2], group: Group, flows: Vec<Flow>, duration: Span) -> Network {
    Network {
        ports: ports.into(),
        paths: vec![vec![0], vec![1]],
        groups: vec![group],
        flows,
        changes: Vec::new(),
        duration,
        warmup: Span::ZERO,
        seed: 1,
        record: Record::default(),
        stepped: false,
    }
}

/// One segment of 1000 bytes on the wire, acknowledgements of 40; an exact timer of at least 1 s; nothing that a paper of 2001 does
/// not have.
pub fn tcp(recovery: RecoveryKind) -> TcpSpec {
    TcpSpec {
        recovery,
        mss: 1000,
        header: 0,
        ack_size: 40,
        initial_window: 1.0,
        initial_ssthresh: f64::INFINITY,
        receiver_window: 1_000_000,
        fast_retransmit: Some(3),
        limited_transmit: false,
        timestamps: false,
        sack_blocks: 3,
        delayed_ack: None,
        ecn: false,
        pacing: false,
        restart_after_idle: false,
        timer: TimerSpec {
            form: TimerForm::Exact { granularity: Span::from_millis(1) },
            min_rto: Span::from_millis(1000),
            max_rto: Span::from_millis(64_000),
            initial_rto: Span::from_millis(1000),
            max_backoff: 64,
        },
        halves: Halves::Window,
    }
}

/// A sender in congestion avoidance that begins with a window of `window` segments.
pub fn steady(recovery: RecoveryKind, window: u32) -> TcpSpec {
    TcpSpec { initial_window: window.into(), initial_ssthresh: window.into(), ..tcp(recovery) }
}

pub fn reno(spec: TcpSpec) -> Transport {
    Transport::Tcp(spec, ControllerSpec::Reno(()))
}
