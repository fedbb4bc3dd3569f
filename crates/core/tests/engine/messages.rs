//! Flows of messages, with times worked out by hand.

#![allow(clippy::expect_used, reason = "tests may panic")]

use crate::common::{flow, group, link, route, tcp};
use std::num::NonZeroUsize;
use tailback_core::congestion::ControllerSpec;
use tailback_core::network::{Buffer, Flow, FlowId, Group, GroupId, ListedDrop, Network, Port, PortId, Recording, Transport};
use tailback_core::price::PriceSpec;
use tailback_core::primitives::segment_number::SegmentNumber;
use tailback_core::primitives::units::{Bytes, Rate, Time, TimeDelta};
use tailback_core::record::Table;
use tailback_core::tcp::{Recovery, TcpSpec};
use tailback_core::traffic::{
    Adaptation, ApplicationSpec, Exchange, MessagesSpec, RequestsSpec, ResponsesSpec, ScriptSpec, ScriptedWrite, VideoSpec,
};
use tailback_core::{Engine, ParallelEngine, Results};

const MS: fn(u64) -> TimeDelta = TimeDelta::from_millis;

fn run(network: Network) -> Results {
    let mut engine = Engine::new(network);
    engine.run_until(Time::NEVER);
    engine.results().expect("conservation")
}

fn messages(results: &Results) -> &Table {
    results.messages.as_ref().expect("a table of messages")
}

fn column(results: &Results, name: &str) -> Vec<f64> {
    messages(results).floats(name).expect("a column of numbers")
}

fn near(seen: &[f64], expected: &[f64]) {
    let is_near = |(seen, expected): (&f64, &f64)| (seen - expected).abs() < 1e-12 || (seen.is_nan() && expected.is_nan());
    assert!(seen.len() == expected.len() && seen.iter().zip(expected).all(is_near), "{seen:?}, not {expected:?}");
}

/// Segments of 1000 bytes with 40 of header, 8 Mbit/s and 10 ms each way: a full packet takes 1.04 ms, an acknowledgement 0.04 ms.
fn spec() -> TcpSpec {
    TcpSpec { initial_window: 100.0, initial_ssthresh: 100.0, ..tcp(Recovery::NewReno) }
}

fn group_of_messages(name: &str, spec: TcpSpec) -> Group {
    let transport = Transport::Tcp(spec, ControllerSpec::Reno(()));
    Group { application: Some(ApplicationSpec::Messages), ..group(name, transport) }
}

fn network(groups: Vec<Group>, flows: Vec<Flow>, messages: Vec<MessagesSpec>) -> Network {
    let ports = ["there", "back"].map(|name| link(name, 8, MS(10), Buffer::Unlimited));
    Network {
        ports: ports.into(),
        paths: vec![route([0]), route([1])],
        groups,
        flows,
        messages: (0..).map(FlowId).zip(messages).collect(),
        changes: Vec::new(),
        duration: MS(2000),
        warmup: TimeDelta::ZERO,
        seed: 1,
        record: Recording::default(),
        stepped: false,
        prices: PriceSpec::default(),
    }
}

fn script(writes: &[(u64, u64)], repeat: Option<TimeDelta>, count: u32) -> Network {
    let writes: Vec<ScriptedWrite> = writes.iter().map(|&(at, size)| ScriptedWrite { at: MS(at), size: Bytes(size) }).collect();
    let script = ScriptSpec { writes: writes.into(), repeat, count };
    network(vec![group_of_messages("web", spec())], vec![flow(0, 0, 1)], vec![MessagesSpec::Script(script)])
}

#[test]
fn each_write_is_complete_when_its_last_segment_has_arrived() {
    // At 0, three segments, the last one of 500 bytes: 2 x 1.04 + 0.54 ms and 10 ms. At 1 ms, 200 bytes wait for these: 2.62 + 0.24 ms, less
    // 1 ms. At 100 ms, one full segment.
    let results = run(script(&[(0, 2500), (1, 200), (100, 1000)], None, 3));
    near(&column(&results, "start_s"), &[0.0, 0.001, 0.1]);
    near(&column(&results, "completion_time_s"), &[0.01262, 0.01186, 0.01104]);
    assert_eq!(column(&results, "size_bytes"), [2500.0, 200.0, 1000.0]);
    let flows = |name: &str| results.flows.floats(name).expect("a column")[0];
    assert_eq!((flows("delivered_packets"), flows("delivered_bytes")), (5.0, 3700.0));
    near(&[flows("completion_time_s")], &[0.11104]);
}

#[test]
fn a_script_repeats_until_its_count() {
    let results = run(script(&[(0, 1000), (2, 1000)], Some(MS(500)), 7));
    near(&column(&results, "start_s"), &[0.0, 0.002, 0.5, 0.502, 1.0, 1.002, 1.5]);
    near(&column(&results, "completion_time_s"), &[0.01104; 7]);
}

#[test]
fn a_write_waits_for_the_retransmission_of_an_earlier_one() {
    // Segment 0 is lost. Three of the five segments after it are duplicates that trigger its retransmission: segment 3 arrives at 4 x 1.04 +
    // 10 ms, its acknowledgement 10.04 ms later, and the retransmission after 1.04 + 10 ms.
    let network = script(&[(0, 1000), (0, 5000)], None, 2);
    let dropping = Port {
        listed_drops: vec![ListedDrop { flow: FlowId(0), segment: SegmentNumber::FIRST, transmission: 1, cell: None }],
        ..network.ports[PortId(0)].clone()
    };
    let results = run(Network { ports: vec![dropping, network.ports[PortId(1)].clone()], ..network });
    let repaired = 3.0 * 0.00104 + 0.01 + 0.01004 + 0.01104;
    near(&column(&results, "completion_time_s"), &[repaired; 2]);
}

fn conversation(exchanges: &[Exchange], parallel: u32, of_requests: TcpSpec) -> Network {
    let asks = Flow { group: GroupId(1), forward: 1, backward: 0, ..flow(0, 0, 1) };
    network(
        vec![group_of_messages("web", spec()), group_of_messages("web.requests", of_requests)],
        vec![flow(0, 0, 1), asks],
        vec![
            MessagesSpec::Responses(ResponsesSpec {
                exchanges: exchanges.into(),
                parallel,
                requests: FlowId(1),
                next_connection: None,
            }),
            MessagesSpec::Requests(RequestsSpec { exchanges: exchanges.into(), at_start: parallel, responses: FlowId(0) }),
        ],
    )
}

fn exchange(think_time: u64, server_time: u64) -> Exchange {
    Exchange { request: Bytes(260), response: Bytes(2000), think_time: MS(think_time), server_time: MS(server_time) }
}

/// The request takes 0.3 and 10 ms, the response 2 x 1.04 and 10 ms.
const ROUND: f64 = 0.0103 + 0.01208;

#[test]
fn a_response_takes_a_round_trip_with_both_transmission_times() {
    let results = run(conversation(&[exchange(0, 0), exchange(100, 7), exchange(0, 0)], 1, spec()));
    // A request that follows without thinking is ahead of the acknowledgement of the response before it.
    let starts = [0.0, ROUND + 0.1, 2.0 * ROUND + 0.107];
    near(&column(&results, "start_s"), &[starts, starts].concat());
    near(&column(&results, "completion_time_s"), &[ROUND, ROUND + 0.007, ROUND, 0.0103, 0.0103, 0.0103]);
    assert_eq!(messages(&results).words("group").expect("names")[..4], ["web", "web", "web", "web.requests"]);
}

#[test]
fn requests_in_parallel_share_the_link() {
    // Requests arrive one after another, each 0.3 ms after the one before it. A response waits for the ones before it, and for the
    // acknowledgement of each of their requests, 0.04 ms.
    let results = run(conversation(&[exchange(0, 0); 3], 3, spec()));
    let response = |number: f64| 0.0103 + 0.01 + 0.00208 * number + 0.00004 * (number - 1.0);
    near(&column(&results, "completion_time_s")[..3], &[response(1.0), response(2.0), response(3.0)]);
}

#[test]
fn a_handshake_precedes_the_first_request_only() {
    // A SYN and its acknowledgement take 0.04 and 10 ms each.
    let results = run(conversation(&[exchange(0, 0), exchange(1, 0)], 1, TcpSpec { handshake: true, ..spec() }));
    near(&column(&results, "completion_time_s")[..2], &[ROUND + 0.02008, ROUND]);
}

#[test]
fn a_connection_follows_the_one_before_it() {
    let handshake = TcpSpec { handshake: true, ..spec() };
    let mut network = conversation(&[exchange(0, 0)], 1, handshake);
    let later = |of: &Flow| Flow { start: Time::NEVER, ..of.clone() };
    let [responses, requests] = [0, 1].map(|flow| network.flows[flow].clone());
    network.flows = vec![responses.clone(), later(&responses), requests.clone(), later(&requests)];
    let exchanges = vec![exchange(0, 0)];
    let of = |requests, next_connection| {
        MessagesSpec::Responses(ResponsesSpec { exchanges: exchanges.clone().into(), parallel: 1, requests, next_connection })
    };
    let asks =
        |responses, at_start| MessagesSpec::Requests(RequestsSpec { exchanges: exchanges.clone().into(), at_start, responses });
    network.messages = [of(FlowId(2), Some((FlowId(3), MS(50)))), of(FlowId(3), None), asks(FlowId(0), 1), asks(FlowId(1), 0)]
        .into_iter()
        .enumerate()
        .map(|(flow, messages)| (FlowId(flow as u32), messages))
        .collect();
    let results = run(network);
    let whole = ROUND + 0.02008;
    near(&column(&results, "start_s")[..2], &[0.0, whole + 0.05]);
    near(&column(&results, "completion_time_s")[..2], &[whole; 2]);
    near(&results.flows.floats("start_s").expect("a column"), &[0.0, whole + 0.05, 0.0, whole + 0.05]);
    near(&results.flows.floats("completion_time_s").expect("a column")[..2], &[whole; 2]);
    // Both transfer as much in as long a lifetime.
    let rates = results.flows.floats("transfer_rate_bps").expect("a column");
    assert!(rates[0] > 0.0 && rates[1] == rates[0], "{rates:?}");
}

#[test]
fn a_conversation_is_the_same_on_two_threads() {
    let network = conversation(&[exchange(3, 1); 20], 2, spec());
    let one = run(network.clone());
    let two = NonZeroUsize::new(2).expect("two");
    let mut parallel = ParallelEngine::new(Engine::new(network), two).expect("both links have a delay");
    parallel.run_until(Time::NEVER);
    assert_eq!(parallel.threads(), 2);
    assert_eq!(parallel.engine().results().expect("conservation").bytes(), one.bytes());
}

#[test]
fn video_takes_the_highest_rate_that_the_link_carries_and_then_waits_for_room() {
    // Chunks of 100 ms at 1, 4 or 16 Mbit/s are 12.5, 50 and 200 segments.
    let mut network = conversation(&[Exchange { response: Bytes(1), ..exchange(0, 0) }; 12], 1, spec());
    let video = VideoSpec {
        chunk: MS(100),
        ladder: [1, 4, 16].map(|megabit| Rate(1_000_000 * megabit)).into(),
        count: 12,
        start_buffer: MS(100),
        max_buffer: MS(300),
        adaptation: Adaptation::Throughput,
        requests: FlowId(1),
    };
    network.messages.insert(FlowId(0), MessagesSpec::Video(video));
    let results = run(network.clone());
    // The first chunk takes 12 x 1.04 + 0.54 and 10 ms after its request, and gives 3 Mbit/s, which is below 4. So do the following ones.
    let first = 0.0103 + 12.0 * 0.00104 + 0.00054 + 0.01;
    near(&column(&results, "completion_time_s")[..1], &[first]);
    assert!(column(&results, "size_bytes")[..12].iter().all(|&size| size == 12_500.0));
    let flows = |name: &str| results.flows.floats(name).expect("a column")[0];
    assert_eq!((flows("stalls"), flows("bitrate_switches"), flows("mean_bitrate_bps")), (0.0, 0.0, 1e6));
    near(&[flows("startup_s")], &[first]);
    // The payload of the video over its lifetime, not over the run.
    assert!(flows("completion_time_s") < 1.5);
    assert_eq!(flows("transfer_rate_bps"), 12.0 * 12_500.0 * 8.0 / flows("completion_time_s"));
    // After the third chunk the buffer has 0.23 s, and the next request waits until it has 0.2 s. Each further request follows 0.1 s after
    // the one before it.
    let starts = column(&results, "start_s");
    assert!((4..11).all(|chunk| (starts[chunk + 1] - starts[chunk] - 0.1).abs() < 1e-9), "{starts:?}");
    let stepped = run(Network { stepped: true, ..network });
    assert_eq!(stepped.bytes(), results.bytes());
}
