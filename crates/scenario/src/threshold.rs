//! Thresholds of a queue in packets, cells, bytes, or percent of the buffer.

use crate::buffer::{Buffer, RANGES};
use crate::decode::{Decode, Decoder};
use crate::problem::Report;
use crate::quantity::{CELL_UNITS, Complaint, PACKET_UNITS, Percent, Size, cells, complaint, packets, pattern};
use crate::tree::Node;
use crate::unit_words;
use schemars::{Schema, SchemaGenerator};
use serde_json::json;
use tailback_core::settings::Value;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    Packets(u64),
    Cells(u64),
    Bytes(Size),
    /// Percentage of the buffer.
    Share(Percent),
}

/// Valid units of a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThresholdUnits {
    /// Cells or percent.
    Cells,
    /// Cells, percent, or the word `none`.
    CellsOrNone,
    /// The unit of the buffer (packets, cells or bytes), or percent.
    OfBuffer,
}

impl ThresholdUnits {
    pub fn expected(self) -> &'static str {
        match self {
            ThresholdUnits::Cells => "`480 cells` or `40 %` (of the buffer)",
            ThresholdUnits::CellsOrNone => "`20 cells`, `2 %` (of the buffer) or `none`",
            ThresholdUnits::OfBuffer => "`20 packets`, `400 cells`, `30 kB` or `25 %` (of the buffer)",
        }
    }

    /// Decodes a threshold.
    pub fn decode(self, node: &Node, decoder: &mut Decoder) -> Option<Threshold> {
        let in_packets = |text| if self == ThresholdUnits::OfBuffer { packets(text) } else { None };
        let ranges = if self == ThresholdUnits::OfBuffer { RANGES } else { &RANGES[2..] };
        let complaint = match node {
            Node::Text(text) if self == ThresholdUnits::OfBuffer && text.ends_with('B') => {
                return Size::decode(node, decoder).map(Threshold::Bytes);
            }
            Node::Text(text) => {
                let threshold = in_packets(text).map(Threshold::Packets).or_else(|| cells(text).map(Threshold::Cells));
                match threshold.or_else(|| Percent::read(text).map(Threshold::Share)) {
                    Some(threshold) => return Some(threshold),
                    None => complaint(text, "a threshold", ranges),
                }
            }
            Node::Integer(_) | Node::Float(_) => Complaint { predicate: "has no unit".into(), unit: None, range: None },
            _ => Complaint { predicate: "is not a threshold".into(), unit: None, range: None },
        };
        let words: &[&str] = match self {
            ThresholdUnits::Cells => &["cells", "%"],
            ThresholdUnits::CellsOrNone => &["cells", "%", "none"],
            ThresholdUnits::OfBuffer => &["packets", "cells", "kB", "%"],
        };
        let problem = decoder.wrong(complaint.predicate).given(node.to_string());
        problem.nearest(complaint.unit.unwrap_or_default(), words);
        problem.hint_if(unit_words::of_notation(node.as_text().unwrap_or_default()));
        problem.expected(complaint.range.unwrap_or(self.expected()));
        None
    }

    pub fn schema(self, generator: &mut SchemaGenerator) -> Schema {
        let units = CELL_UNITS.iter().map(|(unit, _)| *unit).chain(["%"]);
        let text = |units: &mut dyn Iterator<Item = &'static str>| json!({"type": "string", "pattern": pattern(units)});
        let (name, mut schema) = match self {
            ThresholdUnits::Cells => ("Threshold", text(&mut units.into_iter())),
            ThresholdUnits::CellsOrNone => {
                let threshold = ThresholdUnits::Cells.schema(generator);
                ("DroppingThreshold", json!({"anyOf": [threshold, {"const": "none"}]}))
            }
            ThresholdUnits::OfBuffer => {
                let counted = text(&mut PACKET_UNITS.iter().map(|(unit, _)| *unit).chain(units));
                ("QueueLength", json!({"anyOf": [counted, generator.subschema_for::<Size>()]}))
            }
        };
        schema["description"] = self.expected().into();
        crate::record::defined(name, schema, generator)
    }
}

/// The buffer that thresholds refer to.
#[derive(Clone, Copy)]
pub(crate) struct BufferSize<'a> {
    /// As in the scenario.
    pub written: Buffer,
    /// In packets, cells or bytes, with percentages converted; `None` if it has an error.
    pub resolved: Option<Buffer>,
    /// Path of the queue.
    pub at: &'a str,
}

impl Threshold {
    /// The threshold in packets, cells or bytes. Conflicts with the buffer are reported.
    pub(crate) fn value(self, valid: ThresholdUnits, buffer: BufferSize, key: &str, report: &mut Report) -> Value {
        let (place, buffer_at) = (format!("{}.{key}", buffer.at), format!("{}.buffer", buffer.at));
        let (true, true, Some(resolved)) = (report.is_valid(&place), report.is_valid(&buffer_at), buffer.resolved) else {
            return Value::Integer(0);
        };
        let found = match (valid, self, resolved) {
            // A buffer in bytes holds whole cells. A buffer in packets is reported elsewhere. These thresholds are never in bytes.
            (ThresholdUnits::Cells | ThresholdUnits::CellsOrNone, threshold, _) => match (threshold, resolved.cells()) {
                (Threshold::Bytes(_), _) => return Value::Integer(0),
                (Threshold::Share(share), Some(whole)) => (share.of(whole), Some(format!("{whole} cells")), whole),
                (Threshold::Share(_), None) => {
                    if resolved == Buffer::Unlimited {
                        let problem = report.add(place, format!("`{key}` is a percentage of an unlimited buffer"));
                        problem.given(self.to_string()).expected("a threshold in cells such as `480 cells`, or a finite buffer");
                    }
                    return Value::Integer(0);
                }
                (Threshold::Packets(count) | Threshold::Cells(count), whole) => {
                    (count, whole.map(|whole| format!("{whole} cells")), whole.unwrap_or(u64::MAX))
                }
            },
            (ThresholdUnits::OfBuffer, Threshold::Packets(count), Buffer::Packets(whole))
            | (ThresholdUnits::OfBuffer, Threshold::Cells(count), Buffer::Cells(whole)) => {
                (count, Some(resolved.to_string()), whole)
            }
            (ThresholdUnits::OfBuffer, Threshold::Share(share), Buffer::Packets(whole) | Buffer::Cells(whole)) => {
                (share.of(whole), Some(resolved.to_string()), whole)
            }
            (ThresholdUnits::OfBuffer, Threshold::Bytes(size), Buffer::Bytes(whole)) => {
                (size.bytes(), Some(resolved.to_string()), whole.bytes())
            }
            (ThresholdUnits::OfBuffer, Threshold::Bytes(size), Buffer::Unlimited) => (size.bytes(), None, u64::MAX),
            (ThresholdUnits::OfBuffer, Threshold::Share(share), Buffer::Bytes(whole)) => {
                (share.of(whole.bytes()), Some(resolved.to_string()), whole.bytes())
            }
            (ThresholdUnits::OfBuffer, _, Buffer::Unlimited) => {
                let problem = report.add(buffer_at, "`buffer` must be in packets, cells or bytes for this policy");
                problem
                    .given(buffer.written.to_string())
                    .expected("a finite buffer such as `100 packets`, or thresholds in bytes");
                return Value::Integer(0);
            }
            (ThresholdUnits::OfBuffer, ..) => {
                let problem = report.add(place, format!("`{key}` and `buffer` have different units"));
                problem.given(format!("{self}, of {}", buffer.written)).expected("packets, cells or bytes for both");
                return Value::Integer(0);
            }
        };
        let (units, shown, whole) = found;
        if let Some(shown) = shown.filter(|_| units > whole) {
            let problem = report.add(place, format!("`{key}` exceeds the buffer"));
            problem.given(self.to_string()).expected(format!("at most the buffer, {shown}"));
        }
        match (valid, resolved) {
            (ThresholdUnits::OfBuffer, Buffer::Bytes(_) | Buffer::Unlimited) => Value::QueueBytes(units),
            _ => Value::Integer(units),
        }
    }
}

impl std::fmt::Display for Threshold {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Threshold::Packets(count) => write!(out, "{count} packets"),
            Threshold::Cells(count) => write!(out, "{count} cells"),
            Threshold::Bytes(size) => write!(out, "{size}"),
            Threshold::Share(share) => write!(out, "{share}"),
        }
    }
}
