//! `source = {...}`: datagrams, without a transport. The core declares the processes by which they are sent.

use crate::decode::{Decode, Decoder};
use crate::member::{Choice, Family, UserTable};
use crate::quantity::{Rate, Size};
use crate::record::record;
use crate::tree::Node;
use crate::user_code::{Parameters, UserName};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::json;
use tailback_core::settings::Member;
use tailback_core::traffic::ProcessSpec;

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

/// When a source sends.
pub type Arrivals = Choice<Sources>;

#[derive(Clone, Debug, PartialEq)]
pub struct Sources;

impl Family for Sources {
    const TAG: &'static str = "kind";
    const NOUN: &'static str = "kind of source";
    const DEFAULT: Option<&'static str> = None;
    type Common = Datagrams;
    type User = UserSource;

    fn members() -> Vec<&'static Member> {
        ProcessSpec::MEMBERS.iter().collect()
    }
}

record! {
    /// What sources that Tailback knows have in common.
    pub struct Datagrams {
        /// Payload of each datagram: fixed or exponential.
        packet_size: PacketBytes,
    }
}

record! {
    /// A source in Python, which says when it sends and how much.
    pub struct UserSource {
        /// `user:NAME`: a source in Python registered under that name.
        kind: UserName,
        /// Keyword arguments for the source's class (of `user:NAME`).
        parameters: Parameters = Parameters::default(),
    }
}

impl UserTable for UserSource {}

impl Arrivals {
    /// The rate that the scenario gives.
    pub(crate) fn rate(&self) -> Option<Rate> {
        match self {
            Choice::Member(chosen, _) => chosen.rate("rate"),
            Choice::User(_) => None,
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
