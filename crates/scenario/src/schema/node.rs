//! `[nodes.NAME]`

use crate::decode::{Decode, Decoder, entries};
use crate::quantity::Duration;
use crate::record::{record, words};
use crate::tree;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::json;
use tailback_core::network::Delay;

words! {
    /// Kind of a node: routers forward packets, hosts only send and receive.
    pub enum NodeKind ("kind of node") {
        Router = "router",
        Host = "host",
    }
}

record! {
    /// A node. Nodes named by links or flows must be declared here, unless a topology creates them.
    pub struct Node {
        /// Kind of the node. Routes never lead through a `host`.
        kind: NodeKind = NodeKind::Router,
        /// Hosts only: processing time of each data packet before it is sent. Each flow has its own FIFO server.
        send_processing: Option<Processing>,
        /// Hosts only: processing time of each data packet or datagram that arrives, before it is received. Each flow has its own FIFO server.
        receive_processing: Option<Processing>,
    }
}

/// A delay per packet: fixed, uniform between two bounds, exponential with a mean, or normal.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Processing {
    Uniform(Duration, Duration),
    Exponential(Duration),
    /// Truncated at zero.
    Normal {
        mean: Duration,
        deviation: Duration,
    },
    #[serde(untagged)]
    Fixed(Duration),
}

impl Processing {
    /// Converts the delay for the core.
    pub(crate) fn delay(self) -> Delay {
        match self {
            Processing::Fixed(delay) => Delay::Fixed(delay.time_delta()),
            Processing::Uniform(low, high) => Delay::Uniform(low.time_delta(), high.time_delta()),
            Processing::Exponential(mean) => Delay::Exponential(mean.time_delta()),
            Processing::Normal { mean, deviation } => Delay::Normal(mean.time_delta(), deviation.time_delta()),
        }
    }
}

impl Default for Processing {
    fn default() -> Processing {
        Processing::Fixed(Duration::default())
    }
}

impl Decode for Processing {
    fn decode(node: &tree::Node, decoder: &mut Decoder) -> Option<Processing> {
        if !matches!(node, tree::Node::Table(_)) {
            return Duration::decode(node, decoder).map(Processing::Fixed);
        }
        let (word, value) = decoder.variant::<Self>(node, &["uniform", "exponential", "normal"])?;
        decoder.inside(word, |decoder| match word {
            "uniform" => decoder.pair(value).map(|(low, high)| Processing::Uniform(low, high)),
            "exponential" => Duration::decode(value, decoder).map(Processing::Exponential),
            _ => {
                let [mean, deviation] = entries(value, ["mean", "deviation"], decoder)?;
                let mut read = |key, node: Option<&tree::Node>| decoder.inside(key, |decoder| Duration::decode(node?, decoder));
                let (mean, deviation) = (read("mean", mean), read("deviation", deviation));
                Some(Processing::Normal { mean: mean?, deviation: deviation? })
            }
        })
    }

    fn expected() -> String {
        format!(
            "{}, {{uniform = [lowest, highest]}}, {{exponential = mean}} or {{normal = {{mean, deviation}}}}",
            Duration::expected()
        )
    }
}

impl JsonSchema for Processing {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Processing".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let duration = generator.subschema_for::<Duration>();
        let normal = json!({
            "type": "object",
            "properties": {"mean": duration, "deviation": duration},
            "required": ["mean", "deviation"],
            "additionalProperties": false,
        });
        let pair = json!({"type": "array", "items": duration, "minItems": 2, "maxItems": 2});
        schemars::json_schema!({
            "description": "Delay per packet: fixed, uniform, exponential or normal (truncated at zero).",
            "anyOf": [
                duration,
                {"type": "object", "properties": {"uniform": pair}, "required": ["uniform"], "additionalProperties": false},
                {
                    "type": "object",
                    "properties": {"exponential": duration},
                    "required": ["exponential"],
                    "additionalProperties": false,
                },
                {"type": "object", "properties": {"normal": normal}, "required": ["normal"], "additionalProperties": false},
            ],
        })
    }
}
