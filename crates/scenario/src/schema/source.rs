//! `source = {...}`: datagrams, without a transport.

use crate::decode::{Decode, Decoder};
use crate::quantity::{Duration, Rate, Size};
use crate::record::{record, tagged};
use crate::tree::Node;
use crate::user_code::{Parameters, UserName};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::json;

record! {
    /// A source of datagrams.
    pub struct Source {
        /// Bytes of headers that each datagram carries.
        header: Size = Size::new(0),
    }
    with
    /// When it sends.
    arrivals: Arrivals
}

tagged! {
    /// When a source sends.
    pub enum Arrivals ("kind of source") by "kind" {
        "constant" => Constant,
        "poisson" => Poisson,
        "on_off" => OnOff,
        "alternating" => Alternating,
        user UserSource,
    }
}

record! {
    /// Evenly spaced.
    pub struct Constant {
        /// Mean rate on the wire, headers included; of `on_off` and `alternating`, while it sends.
        rate: Rate,
        /// Payload of each datagram: fixed or exponential.
        packet: PacketBytes,
    }
}

record! {
    /// Exponential gaps.
    pub struct Poisson {
        /// Mean rate on the wire, headers included; of `on_off` and `alternating`, while it sends.
        rate: Rate,
        /// Payload of each datagram: fixed or exponential.
        packet: PacketBytes,
    }
}

record! {
    /// Bursts of evenly spaced datagrams and silences, both exponential.
    pub struct OnOff {
        /// Mean rate on the wire, headers included; of `on_off` and `alternating`, while it sends.
        rate: Rate,
        /// Payload of each datagram: fixed or exponential.
        packet: PacketBytes,
        /// Mean length of a burst.
        mean_on: Duration,
        /// Mean length of a silence.
        mean_off: Duration,
    }
}

record! {
    /// One datagram after another, with an exponential idle time between the end of one and the beginning of the next: the input port of
    /// a switch.
    pub struct Alternating {
        /// Mean rate on the wire, headers included; of `on_off` and `alternating`, while it sends.
        rate: Rate,
        /// Payload of each datagram: fixed or exponential.
        packet: PacketBytes,
        /// Mean idle time (of `alternating`).
        mean_idle: Duration,
    }
}

record! {
    /// A source in Python, which says when it sends and how much.
    pub struct UserSource {
        /// `user:NAME`: a source in Python that is registered by that name.
        kind: UserName,
        /// What the source is made with (of `user:NAME`).
        parameters: Parameters = Parameters::default(),
    }
}

impl Arrivals {
    /// The rate that the scenario gives.
    pub(crate) fn rate(&self) -> Option<Rate> {
        match self {
            Arrivals::Constant(Constant { rate, .. })
            | Arrivals::Poisson(Poisson { rate, .. })
            | Arrivals::OnOff(OnOff { rate, .. })
            | Arrivals::Alternating(Alternating { rate, .. }) => Some(*rate),
            Arrivals::UserSource(_) => None,
        }
    }
}

/// Payload bytes of a datagram: fixed, or exponential with a mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PacketBytes {
    Exponential(Size),
    #[serde(untagged)]
    Fixed(Size),
}

impl Default for PacketBytes {
    fn default() -> PacketBytes {
        PacketBytes::Fixed(Size::new(1500))
    }
}

impl Decode for PacketBytes {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<PacketBytes> {
        if !matches!(node, Node::Table(_)) {
            return Size::decode(node, decoder).map(PacketBytes::Fixed);
        }
        let (word, value) = decoder.variant::<Self>(node, &["exponential"])?;
        decoder.inside(word, |decoder| Size::decode(value, decoder).map(PacketBytes::Exponential))
    }

    fn expected() -> String {
        "a size such as `1000 B`, or {exponential = mean}".into()
    }
}

impl JsonSchema for PacketBytes {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PacketBytes".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let size = generator.subschema_for::<Size>();
        schemars::json_schema!({
            "description": "Payload of a datagram.",
            "anyOf": [
                size,
                json!({
                    "type": "object",
                    "properties": {"exponential": size},
                    "required": ["exponential"],
                    "additionalProperties": false,
                }),
            ],
        })
    }
}
