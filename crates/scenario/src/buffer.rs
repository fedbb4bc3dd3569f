//! Sizes of buffers in packets, cells, bytes, or percent of the bandwidth-delay product.

use crate::decode::{Decode, Decoder};
use crate::quantity::{CELL_UNITS, Duration, PACKET_UNITS, Percent, Size, cells, complaint, packets, pattern};
use crate::tree::Node;
use crate::unit_words;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use tailback_core::network::{self, CELL_BYTES};

/// Valid range by unit.
pub(crate) const RANGES: &[(&str, &str)] = &[
    ("packets", "0 to 1000000000000 packets"),
    ("packet", "0 to 1000000000000 packets"),
    ("cells", "0 to 1000000000000 cells"),
    ("cell", "0 to 1000000000000 cells"),
    ("%", "0 to 100000 %"),
];

/// Size of a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Buffer {
    Packets(u64),
    Cells(u64),
    Bytes(Size),
    /// Percentage of rate times `bdp_rtt`.
    Share(Percent),
    /// Rate times this duration: the delay of the full buffer.
    Time(Duration),
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

    /// Capacity in whole cells; `None` if unlimited or in packets.
    pub(crate) fn cells(self) -> Option<u64> {
        match self {
            Buffer::Cells(count) => Some(count),
            Buffer::Bytes(size) => Some(size.bytes() / CELL_BYTES.0),
            Buffer::Packets(_) | Buffer::Share(_) | Buffer::Time(_) | Buffer::Unlimited => None,
        }
    }

    /// Whether its size depends on the rate of the link.
    pub(crate) fn is_relative(self) -> bool {
        matches!(self, Buffer::Share(_) | Buffer::Time(_))
    }

    /// Converts a buffer that does not depend on the rate for the core.
    pub(crate) fn core(self) -> network::Buffer {
        match self {
            Buffer::Packets(count) | Buffer::Cells(count) => network::Buffer::Units(count),
            Buffer::Bytes(size) => network::Buffer::Bytes(size.bytes()),
            Buffer::Unlimited | Buffer::Share(_) | Buffer::Time(_) => network::Buffer::Unlimited,
        }
    }
}

impl Decode for Buffer {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Buffer> {
        match node {
            Node::Text(text) if text == "unlimited" => Some(Buffer::Unlimited),
            Node::Text(text) if packets(text).is_some() => packets(text).map(Buffer::Packets),
            Node::Text(text) if cells(text).is_some() => cells(text).map(Buffer::Cells),
            Node::Text(text) if Percent::read(text).is_some() => Percent::read(text).map(Buffer::Share),
            Node::Text(text) if Duration::is_written(text) => Duration::decode(node, decoder).map(Buffer::Time),
            Node::Text(text) if text.ends_with('B') => Size::decode(node, decoder).map(Buffer::Bytes),
            Node::Text(text) => {
                let complaint = complaint(text, "a buffer", RANGES);
                let problem = decoder.wrong(complaint.predicate).given(node.to_string());
                let unit = complaint.unit.unwrap_or_default();
                problem.nearest(unit, &["packets", "cells", "kB", "%", "unlimited"]);
                problem.hint_if(unit_words::of_notation(text).or_else(|| unit_words::of_buffer(text, unit)));
                problem.expected(complaint.range.map_or_else(Buffer::expected, String::from));
                None
            }
            Node::Integer(_) | Node::Float(_) => {
                let problem = decoder.wrong("has no unit").given(node.to_string()).expected(Buffer::expected());
                problem.hint_if(unit_words::of_number(node, "packets"));
                None
            }
            _ => decoder.invalid_value(node, "is not a buffer"),
        }
    }

    fn expected() -> String {
        format!(
            "`100 packets`, `1200 cells`, {}, `100 ms` (times the rate), `50 %` (of rate times `bdp_rtt`) or `unlimited`",
            Size::expected()
        )
    }
}

impl std::fmt::Display for Buffer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Buffer::Packets(count) => write!(out, "{count} packets"),
            Buffer::Cells(count) => write!(out, "{count} cells"),
            Buffer::Bytes(size) => write!(out, "{size}"),
            Buffer::Share(share) => write!(out, "{share}"),
            Buffer::Time(time) => write!(out, "{time}"),
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
        let units = PACKET_UNITS.iter().chain(CELL_UNITS).map(|(unit, _)| *unit).chain(["%"]);
        schemars::json_schema!({
            "description": Buffer::expected(),
            "anyOf": [
                {"const": "unlimited"},
                {"type": "string", "pattern": pattern(units)},
                generator.subschema_for::<Size>(),
                generator.subschema_for::<Duration>(),
            ],
        })
    }
}
