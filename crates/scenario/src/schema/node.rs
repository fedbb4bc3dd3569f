//! `[nodes.NAME]`

use crate::decode::{Decode, Decoder};
use crate::quantity::Duration;
use crate::record::{record, words};
use crate::tree;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::json;

words! {
    /// What a node does: a router forwards, a host only begins and ends flows.
    pub enum NodeKind ("kind of node") {
        Router = "router",
        Host = "host",
    }
}

record! {
    /// A node. Every node that a link or a flow names must be declared, unless a topology helper makes it.
    pub struct Node {
        /// `router` forwards; a route never leads through a `host`.
        kind: NodeKind = NodeKind::Router,
        /// Hosts only: serial, order-preserving processing of each data packet before it is sent. Each flow has its own server.
        send_processing: Option<Processing>,
        /// Hosts only: the same for each packet received, before it is acknowledged.
        receive_processing: Option<Processing>,
    }
}

/// A delay per packet: fixed, uniform between two bounds, or exponential with a mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Processing {
    Uniform(Duration, Duration),
    Exponential(Duration),
    #[serde(untagged)]
    Fixed(Duration),
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
        let (word, value) = decoder.variant::<Self>(node, &["uniform", "exponential"])?;
        decoder.inside(word, |decoder| match word {
            "uniform" => decoder.pair(value).map(|(low, high)| Processing::Uniform(low, high)),
            _ => Duration::decode(value, decoder).map(Processing::Exponential),
        })
    }

    fn expected() -> String {
        "a duration such as `300 us`, {uniform = [lowest, highest]} or {exponential = mean}".into()
    }
}

impl JsonSchema for Processing {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Processing".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let duration = generator.subschema_for::<Duration>();
        let pair = json!({"type": "array", "items": duration, "minItems": 2, "maxItems": 2});
        schemars::json_schema!({
            "description": "A delay per packet.",
            "anyOf": [
                duration,
                {"type": "object", "properties": {"uniform": pair}, "required": ["uniform"], "additionalProperties": false},
                {
                    "type": "object",
                    "properties": {"exponential": duration},
                    "required": ["exponential"],
                    "additionalProperties": false,
                },
            ],
        })
    }
}
