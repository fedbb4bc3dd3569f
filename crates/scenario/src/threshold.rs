//! Thresholds of a queue in packets, cells, or percent of the buffer.

use crate::buffer::{Buffer, RANGES};
use crate::decode::Decoder;
use crate::problem::Report;
use crate::quantity::{CELL_UNITS, Complaint, PACKET_UNITS, Percent, cells, complaint, packets, pattern};
use crate::tree::Node;
use crate::unit_words;
use schemars::{Schema, SchemaGenerator};
use serde_json::json;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    Packets(u64),
    Cells(u64),
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
    /// The unit of the buffer (packets or cells), or percent.
    OfBuffer,
}

impl ThresholdUnits {
    pub fn expected(self) -> &'static str {
        match self {
            ThresholdUnits::Cells => "`480 cells` or `40 %` (of the buffer)",
            ThresholdUnits::CellsOrNone => "`20 cells`, `2 %` (of the buffer) or `none`",
            ThresholdUnits::OfBuffer => "`20 packets`, `400 cells` or `25 %` (of the buffer)",
        }
    }

    /// Decodes a threshold.
    pub fn decode(self, node: &Node, decoder: &mut Decoder) -> Option<Threshold> {
        let in_packets = |text| if self == ThresholdUnits::OfBuffer { packets(text) } else { None };
        let ranges = if self == ThresholdUnits::OfBuffer { RANGES } else { &RANGES[2..] };
        let complaint = match node {
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
            ThresholdUnits::OfBuffer => &["packets", "cells", "%"],
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
            ThresholdUnits::OfBuffer => ("QueueLength", text(&mut PACKET_UNITS.iter().map(|(unit, _)| *unit).chain(units))),
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
    /// The threshold in packets or cells. Conflicts with the buffer are reported.
    pub(crate) fn units(self, valid: ThresholdUnits, buffer: BufferSize, key: &str, report: &mut Report) -> u64 {
        let (place, buffer_at) = (format!("{}.{key}", buffer.at), format!("{}.buffer", buffer.at));
        let (true, true, Some(resolved)) = (report.is_valid(&place), report.is_valid(&buffer_at), buffer.resolved) else {
            return 0;
        };
        let found = match (valid, self, resolved) {
            // A buffer in bytes holds whole cells. A buffer in packets is reported elsewhere.
            (ThresholdUnits::Cells | ThresholdUnits::CellsOrNone, threshold, _) => match (threshold, resolved.cells()) {
                (Threshold::Share(share), Some(whole)) => (share.of(whole), Some(format!("{whole} cells")), whole),
                (Threshold::Share(_), None) => {
                    if resolved == Buffer::Unlimited {
                        let problem = report.add(place, format!("`{key}` is a percentage of an unlimited buffer"));
                        problem.given(self.to_string()).expected("a threshold in cells such as `480 cells`, or a finite buffer");
                    }
                    return 0;
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
            (ThresholdUnits::OfBuffer, _, Buffer::Bytes(_) | Buffer::Unlimited) => {
                let problem = report.add(buffer_at, "`buffer` must be in packets or cells for this policy");
                problem.given(buffer.written.to_string()).expected("a buffer in packets or cells such as `100 packets`");
                return 0;
            }
            (ThresholdUnits::OfBuffer, ..) => {
                let problem = report.add(place, format!("`{key}` and `buffer` have different units"));
                problem.given(format!("{self}, of {}", buffer.written)).expected("packets or cells for both");
                return 0;
            }
        };
        let (units, shown, whole) = found;
        if let Some(shown) = shown.filter(|_| units > whole) {
            let problem = report.add(place, format!("`{key}` exceeds the buffer"));
            problem.given(self.to_string()).expected(format!("at most the buffer, {shown}"));
        }
        units
    }
}

impl std::fmt::Display for Threshold {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Threshold::Packets(count) => write!(out, "{count} packets"),
            Threshold::Cells(count) => write!(out, "{count} cells"),
            Threshold::Share(share) => write!(out, "{share}"),
        }
    }
}
