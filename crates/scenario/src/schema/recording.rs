//! `[record]`: recordings in addition to the counters, which are always on.

use crate::decode::{Decode, Decoder, kind};
use crate::quantity::Duration;
use crate::record::{record, words};
use crate::tree::Node;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::json;

record! {
    /// Recordings in addition to the counters.
    pub struct Record {
        /// Traces: a list of kinds, each for all flows and all links except reverse ones, or a table with flows or links for each kind.
        traces: Option<Traces>,
        /// Record percentiles of the delay per queue and per flow group.
        delay_percentiles: bool = false,
        /// Count the packets of each flow at each queue (table `queue_flows`).
        queue_flows: bool = false,
    }
}

words! {
    /// Kinds of traces.
    pub enum TraceWord ("trace") {
        Cwnd = "cwnd",
        Ssthresh = "ssthresh",
        Rtt = "rtt",
        Rto = "rto",
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

/// Traces as a list of kinds, or as a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Traces {
    /// For all flows and links.
    All(Vec<TraceWord>),
    Some(Box<TraceTable>),
}

impl Default for Traces {
    fn default() -> Traces {
        Traces::All(Vec::new())
    }
}

record! {
    /// Traces with the flows or links to record: groups (`web`), flows (`web[0]`) or links (`NAME`, `NAME.reverse`).
    pub struct TraceTable {
        /// Congestion window at each change, in packets.
        cwnd: FlowTraces = FlowTraces::default(),
        /// Slow-start threshold at each change, in packets.
        ssthresh: FlowTraces = FlowTraces::default(),
        /// Round-trip samples.
        rtt: FlowTraces = FlowTraces::default(),
        /// Retransmission timeout at each change, with its backoff.
        rto: FlowTraces = FlowTraces::default(),
        /// Packets in flight.
        in_flight: FlowTraces = FlowTraces::default(),
        /// Transmissions of data segments.
        segments: FlowTraces = FlowTraces::default(),
        /// Arrivals of acknowledgements at the sender.
        acks: FlowTraces = FlowTraces::default(),
        /// Changes of state: slow start, congestion avoidance, recovery and timeout.
        state: FlowTraces = FlowTraces::default(),
        /// Further state of the controller, at each change: thresholds and round trips of FAST and Vegas, the curve of CUBIC.
        controller: FlowTraces = FlowTraces::default(),
        /// Delivered payload per bin.
        throughput: Option<Throughput>,
        /// Packets in a queue, at each change.
        queue: FlowTraces = FlowTraces::default(),
        /// Packets discarded at a queue.
        drops: FlowTraces = FlowTraces::default(),
        /// Departures from a queue with packet sizes, from which Mahimahi traces are written.
        departures: FlowTraces = FlowTraces::default(),
        /// Packets sent and received by senders, with all header fields, from which captures are written.
        packets: FlowTraces = FlowTraces::default(),
    }
}

/// Names of flow groups, flows or links.
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

/// Default bin of a throughput trace.
pub(crate) const DEFAULT_BIN: Duration = Duration::new(100_000_000_000);

impl Decode for Traces {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Traces> {
        match node {
            Node::List(_) => Vec::decode(node, decoder).map(Traces::All),
            Node::Table(_) => TraceTable::decode(node, decoder).map(|table| Traces::Some(Box::new(table))),
            _ => decoder.invalid_value(node, format!("cannot be {}", kind(node))),
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
            "description": "Traces, for all flows and all links except reverse ones, or for some.",
            "anyOf": [json!({"type": "array", "items": word}), table],
        })
    }
}
