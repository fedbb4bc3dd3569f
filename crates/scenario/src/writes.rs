//! The writes of a script: a list, or a CSV file with columns `at` and `size`.
//!
//! The file name is relative to the directory of the scenario, or to the current directory if the scenario is in no file. Cells have units, or
//! the names of the columns end in one (`at_s`, `size_bytes`). The content becomes part of the scenario.

use crate::decode::{Decode, Decoder, kind};
use crate::distribution::Transfer;
use crate::distribution::csv_column::{MAX_FLOWS, bytes_of, shown, with_unit};
use crate::flow_table::column;
use crate::problem::RepeatedErrors;
use crate::quantity::{Duration, Size, pattern};
use crate::record::record;
use crate::tree::Node;
use csv::{ReaderBuilder, Trim};
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
            Node::Text(file) => {
                let bytes = bytes_of(file, decoder)?;
                read(&bytes, file, decoder)
            }
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

fn read(bytes: &[u8], file: &str, decoder: &mut Decoder) -> Option<Vec<Write>> {
    let mut reader = ReaderBuilder::new().trim(Trim::All).flexible(true).from_reader(bytes);
    let names: Vec<String> = match reader.byte_headers() {
        Ok(names) => names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect(),
        Err(error) => {
            decoder.fault(format!("`{file}` cannot be read: {error}")).given(file).expected(Writes::expected());
            return None;
        }
    };
    let [at, size] = ["at", "size"].map(|name| {
        let found = column(name, &names, file, decoder);
        if found.is_none() {
            let problem = decoder.fault(format!("`{file}` has no column `{name}`"));
            let known: Vec<String> = shown(&names).iter().map(|name| format!("`{name}`")).collect();
            problem.given(if known.is_empty() { "no names of columns".into() } else { known.join(", ") });
            problem.expected("`at` and `size`, or with a unit: `at_s` and `size_bytes`");
        }
        found
    });
    let (at, size) = (at?, size?);
    let (mut writes, mut faults) = (Vec::new(), RepeatedErrors::default());
    for (index, record) in reader.byte_records().enumerate() {
        if index >= MAX_FLOWS {
            decoder.fault(format!("`{file}` has too many rows")).given(file).expected(format!("at most {MAX_FLOWS}"));
            return None;
        }
        let Ok(record) = record else { continue };
        let line = record.position().map_or(0, csv::Position::line);
        let write = decoder.among(&mut faults, &format!("[{file} line {line}]"), |decoder| {
            let cell = |place: usize, unit| with_unit(record.get(place).unwrap_or_default(), unit);
            let at = decoder.inside("at", |decoder| Duration::decode(&cell(at.place, at.unit), decoder));
            let size = decoder.inside("size", |decoder| WriteSize::decode(&cell(size.place, size.unit), decoder));
            Some(Write { at: at?, size: size? })
        });
        writes.extend(write);
    }
    if let Some(problem) = decoder.rest(&faults, "lines") {
        problem.given(file).expected("a valid value in each column");
    }
    (!faults.any()).then_some(writes)
}
