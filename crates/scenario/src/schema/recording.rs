//! `[record]`: what to keep beside the counters, which are always on.

use crate::decode::{Decode, Decoder, kind};
use crate::quantity::Duration;
use crate::record::{record, words};
use crate::tree::Node;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::json;

record! {
    /// What to keep in addition to the counters.
    pub struct Record {
        /// Traces: a list of kinds, each for everything, or a table of what to follow for each kind.
        traces: Option<Traces>,
        /// Keep percentiles of the delay per queue and per flow group.
        delay_percentiles: bool = false,
        /// Count what of each flow passes each queue: table `queue_flows`.
        queue_flows: bool = false,
    }
}

words! {
    /// Kinds of traces.
    pub enum TraceWord ("trace") {
        Cwnd = "cwnd",
        Ssthresh = "ssthresh",
        Rtt = "rtt",
        InFlight = "in_flight",
        Segments = "segments",
        Acks = "acks",
        State = "state",
        Law = "controller",
        Throughput = "throughput",
        Queue = "queue",
        Drops = "drops",
        Departures = "departures",
        Packets = "packets",
    }
}

/// A list of kinds, or a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Traces {
    /// Of all flows and links.
    All(Vec<TraceWord>),
    Some(Box<TraceTable>),
}

impl Default for Traces {
    fn default() -> Traces {
        Traces::All(Vec::new())
    }
}

record! {
    /// What to follow. Flow traces name groups (`web`) or single flows (`web[0]`), link traces links (`NAME`, `NAME.reverse`).
    pub struct TraceTable {
        /// Congestion window at each change, in packets.
        cwnd: FlowTraces = FlowTraces::default(),
        /// Slow-start threshold at each change, in packets.
        ssthresh: FlowTraces = FlowTraces::default(),
        /// Round-trip samples.
        rtt: FlowTraces = FlowTraces::default(),
        /// Packets sent and not yet acknowledged.
        in_flight: FlowTraces = FlowTraces::default(),
        /// Data segments as sent.
        segments: FlowTraces = FlowTraces::default(),
        /// Acknowledgements as they reach the sender.
        acks: FlowTraces = FlowTraces::default(),
        /// Changes between slow start, congestion avoidance, recovery and timeout.
        state: FlowTraces = FlowTraces::default(),
        /// What control laws go by beside the window, at each change: of FAST and Vegas thresholds and round trips, of CUBIC its curve.
        controller: FlowTraces = FlowTraces::default(),
        /// Delivered payload per bin.
        throughput: Option<Throughput>,
        /// Packets in a queue, at each change.
        queue: FlowTraces = FlowTraces::default(),
        /// Packets discarded at a queue.
        drops: FlowTraces = FlowTraces::default(),
        /// Packets that leave a queue, with their sizes: what a trace of Mahimahi's is written from.
        departures: FlowTraces = FlowTraces::default(),
        /// What senders send and hear, with all that headers would say: what a capture is written from.
        packets: FlowTraces = FlowTraces::default(),
    }
}

/// Names of what a trace follows.
pub type FlowTraces = Vec<String>;

record! {
    /// A throughput trace.
    pub struct Throughput {
        /// Width of a bin.
        bin: Duration = DEFAULT_BIN,
        /// Flow groups or flows.
        flows: FlowTraces,
    }
}

/// Bin of a throughput trace that names none.
pub(crate) const DEFAULT_BIN: Duration = Duration::new(100_000_000_000);

impl Decode for Traces {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Traces> {
        match node {
            Node::List(_) => Vec::decode(node, decoder).map(Traces::All),
            Node::Table(_) => TraceTable::decode(node, decoder).map(|table| Traces::Some(Box::new(table))),
            _ => decoder.misfit(node, format!("cannot be {}", kind(node))),
        }
    }

    fn expected() -> String {
        "a list such as [\"cwnd\", \"queue\"], or a table such as {cwnd = [\"web\"], queue = [\"bottleneck\"]}".into()
    }
}

impl JsonSchema for Traces {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Traces".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let word = generator.subschema_for::<TraceWord>();
        let table = generator.subschema_for::<TraceTable>();
        schemars::json_schema!({
            "description": "What to trace.",
            "anyOf": [json!({"type": "array", "items": word}), table],
        })
    }
}
