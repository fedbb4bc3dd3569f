//! `queue = {...}`: the buffer of a port, and the policy that guards it.
//!
//! A policy's settings are its record here, one line in [`Policy`], and one line in [`Policy::spec`].

use crate::decode::{Decode, Decoder};
use crate::quantity::{Duration, PACKET_UNITS, Percent, Size, complaint, packets, pattern};
use crate::record::{record, tagged};
use crate::tree::Node;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use tailback_core::queue::PolicySpec;

record! {
    /// A queue.
    pub struct Queue {
        /// Waiting places: packets, bytes, `unlimited`, or a percentage of rate times `bdp_rtt`. `0 packets` means no waiting.
        buffer: Buffer,
        /// Whether the packet being sent holds a waiting place.
        counts_in_service: bool = false,
        /// Round-trip time that a `buffer` in percent refers to.
        bdp_rtt: Option<Duration>,
        /// Packet size that a `buffer` in percent is counted in.
        bdp_packet: Size = Size::new(1500),
    }
    with
    /// What decides which packets may enter.
    policy: Policy
}

tagged! {
    /// Queue policy.
    pub enum Policy ("queue policy") by "policy" = "drop_tail" {
        "drop_tail" => DropTail,
    }
}

record! {
    /// Accepts whatever fits.
    pub struct DropTail {}
}

impl Policy {
    /// As the core takes it.
    pub(crate) fn spec(&self) -> PolicySpec {
        match self {
            Policy::DropTail(DropTail {}) => PolicySpec::DropTail(()),
        }
    }
}

/// Waiting places of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Buffer {
    Packets(u64),
    Cells(u64),
    Bytes(Size),
    /// Of rate times `bdp_rtt`.
    Share(Percent),
    #[default]
    Unlimited,
}

impl Buffer {
    /// Whether it can only hold packets.
    pub(crate) fn is_in_packets(self) -> bool {
        matches!(self, Buffer::Packets(_))
    }

    /// Whether it can only hold cells.
    pub(crate) fn is_in_cells(self) -> bool {
        matches!(self, Buffer::Cells(_))
    }
}

impl Decode for Buffer {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Buffer> {
        match node {
            Node::Text(text) if text == "unlimited" => Some(Buffer::Unlimited),
            Node::Text(text) if packets(text).is_some() => packets(text).map(Buffer::Packets),
            Node::Text(text) if text.ends_with(" cells") => text.trim_end_matches(" cells").parse().ok().map(Buffer::Cells),
            Node::Text(text) if Percent::read(text).is_some() => Percent::read(text).map(Buffer::Share),
            Node::Text(text) if text.ends_with('B') => Size::decode(node, decoder).map(Buffer::Bytes),
            Node::Text(text) => {
                let complaint = complaint(text, "a buffer", RANGES);
                let problem = decoder.fault(complaint.message).given(node.to_string());
                let unit = complaint.unit.unwrap_or_default();
                problem.one_of(unit, ["packets", "kB", "%", "unlimited"]);
                problem.expected(complaint.range.map_or_else(Buffer::expected, String::from));
                None
            }
            Node::Integer(_) | Node::Float(_) => decoder.misfit(node, "a buffer without a unit"),
            _ => decoder.misfit(node, "not a buffer"),
        }
    }

    fn expected() -> String {
        "`100 packets`, `50 kB`, `50 %` (of rate times `bdp_rtt`) or `unlimited`".into()
    }
}

const RANGES: &[(&str, &str)] =
    &[("packets", "0 to 1000000000000 packets"), ("packet", "0 to 1000000000000 packets"), ("%", "0 to 100000 %")];

impl std::fmt::Display for Buffer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Buffer::Packets(count) => write!(out, "{count} packets"),
            Buffer::Cells(count) => write!(out, "{count} cells"),
            Buffer::Bytes(size) => write!(out, "{size}"),
            Buffer::Share(share) => write!(out, "{share}"),
            Buffer::Unlimited => out.write_str("unlimited"),
        }
    }
}

impl Serialize for Buffer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Buffer {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Buffer".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let units = PACKET_UNITS.iter().map(|(unit, _)| *unit).chain(["%"]);
        schemars::json_schema!({
            "description": Buffer::expected(),
            "anyOf": [
                {"const": "unlimited"},
                {"type": "string", "pattern": pattern(units)},
                generator.subschema_for::<Size>(),
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use tailback_core::queue::POLICY_NAMES;

    #[test]
    fn every_policy_of_the_core_can_be_written() {
        let schema = serde_json::to_string(&crate::json_schema()).unwrap();
        for name in POLICY_NAMES {
            assert!(schema.contains(&format!("\"const\":\"{name}\"")), "{name}");
        }
    }
}
