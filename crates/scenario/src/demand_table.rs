//! Demands between pairs of nodes: `traffic = {matrix = {table = "demands.csv"}}`.
//!
//! The file name is relative to the directory of the scenario, or to the current directory if the scenario is in no file. The first line names
//! the columns `source`, `sink` and `demand`. A demand is a rate, with its unit in the cell or in the column's name (`demand_Mbps`), or a
//! plain number in any unit. The content becomes part of the scenario.

use crate::decode::{Decode, Decoder, kind};
use crate::distribution::csv_rows;
use crate::quantity::{Quantity, Rate};
use crate::record::record;
use crate::tree::Node;
use crate::values::{Name, real};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::json;
use std::borrow::Cow;

/// A table of demands.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct DemandTable {
    pub(crate) columns: DemandColumns,
    #[serde(skip)]
    origin: Origin,
}

record! {
    /// Columns of a traffic matrix, with one value per pair of nodes.
    pub struct DemandColumns {
        /// Sending node of each pair.
        source: Vec<Name>,
        /// Receiving node of each pair.
        sink: Vec<Name>,
        /// Demand of each pair.
        demand: Vec<Demand>,
    }
}

/// A rate, or a number without a unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Demand {
    Rate(Rate),
    Weight(f64),
}

/// Lines of the rows in a file. Two tables that differ only in this are equal.
#[derive(Clone, Debug, Default)]
struct Origin {
    file: String,
    lines: Vec<u64>,
}

impl PartialEq for Origin {
    fn eq(&self, _: &Origin) -> bool {
        true
    }
}

impl Demand {
    pub(crate) fn value(self) -> f64 {
        match self {
            Demand::Rate(rate) => rate.base() as f64,
            Demand::Weight(weight) => weight,
        }
    }
}

impl Default for Demand {
    fn default() -> Demand {
        Demand::Weight(0.0)
    }
}

impl DemandTable {
    /// Path of a value of a pair, relative to that of the table.
    pub(crate) fn place(&self, column: &str, pair: usize) -> String {
        match self.origin.lines.get(pair) {
            Some(line) => format!("[{} line {line}].{column}", self.origin.file),
            None => format!(".{column}[{pair}]"),
        }
    }

    /// Sum of all demands in bit/s; `None` if they have no unit.
    pub(crate) fn total(&self) -> Option<f64> {
        let weighs = |demand: &Demand| matches!(demand, Demand::Weight(weight) if *weight > 0.0);
        let demands = &self.columns.demand;
        (!demands.iter().any(weighs)).then(|| demands.iter().map(|demand| demand.value()).sum())
    }
}

impl Decode for Demand {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Demand> {
        match csv_rows::number(node) {
            number @ (Node::Float(_) | Node::Integer(_)) => {
                real(&number, 0.0..=1e18, &Demand::expected(), decoder).map(Demand::Weight)
            }
            // A zero has any unit, and is not a rate of its own.
            Node::Text(text) if text.split_whitespace().next().and_then(|word| word.parse().ok()) == Some(0.0) => {
                Some(Demand::default())
            }
            _ => Rate::decode(node, decoder).map(Demand::Rate),
        }
    }

    fn expected() -> String {
        format!("{}, or a number from 0 to 1e18", Rate::expected())
    }
}

impl JsonSchema for Demand {
    fn schema_name() -> Cow<'static, str> {
        "Demand".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let rate = generator.subschema_for::<Rate>();
        let number = json!({"type": "number", "minimum": 0, "maximum": 1e18});
        schemars::json_schema!({"description": "A rate, or a number in any unit.", "anyOf": [rate, number]})
    }
}

impl Decode for DemandTable {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<DemandTable> {
        let table = match node {
            Node::Text(file) => {
                let rows = csv_rows::read_numbered(file, ["source", "sink", "demand"], &DemandTable::expected(), decoder, row)?;
                let mut table =
                    DemandTable { origin: Origin { file: file.clone(), lines: Vec::new() }, ..DemandTable::default() };
                for (line, (source, sink, demand)) in rows {
                    table.origin.lines.push(line);
                    table.columns.source.push(source);
                    table.columns.sink.push(sink);
                    table.columns.demand.push(demand);
                }
                table
            }
            Node::Table(_) => DemandTable { columns: DemandColumns::decode(node, decoder)?, origin: Origin::default() },
            _ => return decoder.invalid_value(node, format!("must be a table of demands, not {}", kind(node))),
        };
        if !decoder.is_valid() {
            return None;
        }
        let DemandColumns { source, sink, demand } = &table.columns;
        if source.len() != sink.len() || source.len() != demand.len() {
            let given = format!("{}, {} and {}", source.len(), sink.len(), demand.len());
            decoder.wrong("has columns of different lengths").given(given).expected("one value per pair of nodes");
            return None;
        }
        let positive = demand.iter().filter(|demand| demand.value() > 0.0);
        let (rates, weights): (Vec<&Demand>, Vec<&Demand>) = positive.partition(|demand| matches!(demand, Demand::Rate(_)));
        if !rates.is_empty() && !weights.is_empty() {
            let given = format!("{} demands with a unit, and {} without", rates.len(), weights.len());
            decoder.wrong("has demands with and without a unit").given(given).expected("a unit for all demands, or for none");
            return None;
        }
        if demand.iter().all(|demand| demand.value() <= 0.0) {
            decoder.wrong("has no demand above 0").expected("a pair of nodes with a demand");
            return None;
        }
        Some(table)
    }

    fn expected() -> String {
        "the name of a CSV file with columns `source`, `sink` and `demand`, or a table of these lists".into()
    }
}

impl JsonSchema for DemandTable {
    fn schema_name() -> Cow<'static, str> {
        "DemandTable".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let columns = generator.subschema_for::<DemandColumns>();
        schemars::json_schema!({"description": DemandTable::expected(), "anyOf": [{"type": "string"}, columns]})
    }
}

fn row([source, sink, demand]: [Node; 3], decoder: &mut Decoder) -> Option<(Name, Name, Demand)> {
    let source = decoder.inside("source", |decoder| Name::decode(&source, decoder));
    let sink = decoder.inside("sink", |decoder| Name::decode(&sink, decoder));
    let demand = decoder.inside("demand", |decoder| Demand::decode(&demand, decoder));
    Some((source?, sink?, demand?))
}
