//! `source = {...}`: datagrams without a transport protocol. The core declares the arrival processes.

use crate::decode::{Decode, Decoder};
use crate::member::{Family, Member, UserTable};
use crate::quantity::{Rate, Size};
use crate::record::record;
use crate::tree::Node;
use crate::user_code::{Parameters, UserName};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::json;
use tailback_core::settings::MemberInfo;
use tailback_core::traffic::ProcessSpec;

record! {
    /// A source of datagrams.
    pub struct Source {
        /// Headers of each datagram.
        header: Size = Size::new(0),
    }
    with
    /// Arrival process.
    arrivals: Arrivals
}

/// Arrival process of a source.
pub type Arrivals = Member<Sources>;

#[derive(Clone, Debug, PartialEq)]
pub struct Sources;

impl Family for Sources {
    const TAG: &'static str = "kind";
    const NOUN: &'static str = "kind of source";
    const DEFAULT: Option<&'static str> = None;
    type Common = Datagrams;
    type User = UserSource;

    fn members() -> Vec<&'static MemberInfo> {
        ProcessSpec::MEMBERS.iter().collect()
    }
}

record! {
    /// Settings of all built-in sources.
    pub struct Datagrams {
        /// Payload of each datagram: fixed or exponential.
        packet_size: PacketBytes,
    }
}

record! {
    /// Source in Python, which determines times and sizes.
    pub struct UserSource {
        /// `user:NAME`, where NAME is the registered name of the Python class.
        kind: UserName,
        /// Keyword arguments of the Python class.
        parameters: Parameters = Parameters::default(),
    }
}

impl UserTable for UserSource {}

impl Arrivals {
    /// The rate in the scenario.
    pub(crate) fn rate(&self) -> Option<Rate> {
        match self {
            Member::BuiltIn(config, _) => config.rate("rate"),
            Member::User(_) => None,
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
        format!("{}, or {{exponential = mean}}", Size::expected())
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
