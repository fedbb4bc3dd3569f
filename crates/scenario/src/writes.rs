//! The writes of a script: a list, or a CSV file with columns `at` and `size`.
//!
//! The file name is relative to the directory of the scenario, or to the current directory if the scenario is in no file. Cells have units, or
//! the names of the columns end in one (`at_s`, `size_bytes`). The content becomes part of the scenario.

use crate::decode::{Decode, Decoder, kind};
use crate::distribution::Transfer;
use crate::distribution::csv_rows;
use crate::quantity::{Duration, Size, pattern};
use crate::record::record;
use crate::tree::Node;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// Writes in the order of their times, at least one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Writes(pub(crate) Vec<Write>);

record! {
    /// One write of a script.
    pub struct Write {
        /// Time after the start of the flow, or of the repetition.
        at: Duration,
        /// Amount of data.
        size: WriteSize,
    }
}

/// Amount of data in full segments or bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WriteSize {
    Segments(u64),
    Bytes(Size),
}

/// Maximum number of segments of a write.
const MAX_SEGMENTS: u64 = 1_000_000_000;

impl Default for WriteSize {
    fn default() -> WriteSize {
        WriteSize::Segments(1)
    }
}

impl WriteSize {
    pub(crate) fn bytes(self, mss: u64) -> u64 {
        match self {
            WriteSize::Segments(count) => count.saturating_mul(mss),
            WriteSize::Bytes(size) => size.bytes(),
        }
    }
}

impl Decode for WriteSize {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<WriteSize> {
        let count = match node {
            Node::Text(text) => text.strip_suffix("segments").or_else(|| text.strip_suffix("segment")),
            _ => None,
        };
        let Some(count) = count else { return Transfer::decode(node, decoder).map(|Transfer(size)| WriteSize::Bytes(size)) };
        match count.trim_end().parse() {
            Ok(count @ 1..=MAX_SEGMENTS) => Some(WriteSize::Segments(count)),
            _ => decoder.invalid_value(node, "is not a number of segments"),
        }
    }

    fn expected() -> String {
        format!("`40 segments` (1 to {MAX_SEGMENTS}), or {}", Transfer::expected())
    }
}

impl Serialize for WriteSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            WriteSize::Segments(count) => serializer.collect_str(&format_args!("{count} segments")),
            WriteSize::Bytes(size) => size.serialize(serializer),
        }
    }
}

impl JsonSchema for WriteSize {
    fn schema_name() -> Cow<'static, str> {
        "WriteSize".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let size = generator.subschema_for::<Size>();
        let segments = serde_json::json!({"type": "string", "pattern": pattern(["segments", "segment"].into_iter())});
        schemars::json_schema!({"description": WriteSize::expected(), "anyOf": [segments, size]})
    }
}

impl Decode for Writes {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Writes> {
        let writes = match node {
            Node::Text(file) => csv_rows::read(file, ["at", "size"], &Writes::expected(), decoder, write),
            Node::List(_) => Vec::<Write>::decode(node, decoder),
            _ => decoder.invalid_value(node, format!("must be a list of writes, not {}", kind(node))),
        }?;
        if !decoder.is_valid() {
            return None;
        }
        if writes.is_empty() {
            decoder.wrong("has no writes").expected(Writes::expected());
            return None;
        }
        if let Some(late) = writes.windows(2).position(|pair| pair[1].at < pair[0].at) {
            let given = format!("write {} at {}, and write {} at {}", late, writes[late].at, late + 1, writes[late + 1].at);
            decoder.wrong("is not in the order of time").given(given).expected("ascending values of `at`");
            return None;
        }
        Some(Writes(writes))
    }

    fn expected() -> String {
        "a list such as `[{at = \"0 s\", size = \"40 segments\"}]`, or the name of a CSV file with columns `at` and `size`".into()
    }
}

impl JsonSchema for Writes {
    fn schema_name() -> Cow<'static, str> {
        "Writes".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let writes = generator.subschema_for::<Vec<Write>>();
        schemars::json_schema!({"description": Writes::expected(), "anyOf": [{"type": "string"}, writes]})
    }
}

fn write([at, size]: [Node; 2], decoder: &mut Decoder) -> Option<Write> {
    let at = decoder.inside("at", |decoder| Duration::decode(&at, decoder));
    let size = decoder.inside("size", |decoder| WriteSize::decode(&size, decoder));
    Some(Write { at: at?, size: size? })
}
