//! Tables of flows: `traffic = {table = "flows.csv"}`.
//!
//! The file name is relative to the directory of the scenario, or to the current directory if the scenario is in no file. The first line names
//! the columns: `source` and `sink` are nodes; `size` and `start` may be given here or in the group, with units in the cells or in the
//! column's name (`size_bytes`, `start_us`). Flows without a size are endless. Other columns are ignored. The content becomes part of the scenario.

use crate::decode::{Decode, Decoder, kind};
use crate::distribution::Transfer;
use crate::distribution::csv_column::{MAX_FLOWS, bytes_of, listed_columns, shown, unit_of, with_unit};
use crate::distribution::csv_rows::{Column, column};
use crate::nearest::nearest_word;
use crate::problem::RepeatedErrors;
use crate::quantity::Duration;
use crate::record::record;
use crate::tree::Node;
use crate::values::{Name, Number};
use csv::{ByteRecord, ReaderBuilder, Trim};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use std::borrow::Cow;

/// A table of flows.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[serde(transparent)]
pub struct FlowTable {
    pub(crate) columns: Columns,
    #[serde(skip)]
    rows: Rows,
}

record! {
    /// Columns of a flow table, with one value per flow.
    pub struct Columns {
        /// Sending node of each flow.
        source: Vec<Name>,
        /// Receiving node of each flow.
        sink: Vec<Name>,
        /// Payload of each flow, unless the group has `size`.
        size: Option<Vec<Transfer>>,
        /// Payload of each flow in bytes, as plain numbers.
        size_bytes: Option<Vec<Number>>,
        /// Start time of each flow, unless the group has `start`.
        start: Option<Vec<Duration>>,
        /// Start time of each flow in seconds, as plain numbers.
        start_s: Option<Vec<Number>>,
    }
}

/// Lines of the rows in a file. Two tables that differ only in this are equal.
#[derive(Clone, Debug, Default)]
struct Rows {
    /// The file, if there is one.
    file: String,
    /// Line of each flow.
    lines: Vec<u64>,
}

impl PartialEq for Rows {
    fn eq(&self, _: &Rows) -> bool {
        true
    }
}

impl FlowTable {
    pub(crate) fn flows(&self) -> usize {
        self.columns.source.len()
    }

    /// Path of a value of a flow, relative to that of the table.
    pub(crate) fn place(&self, column: &str, flow: usize) -> String {
        match self.rows.lines.get(flow) {
            Some(line) => format!("[{} line {line}].{column}", self.rows.file),
            None => format!(".{column}[{flow}]"),
        }
    }
}

impl Decode for FlowTable {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<FlowTable> {
        let table = match node {
            Node::Text(file) => {
                let bytes = bytes_of(file, decoder)?;
                read(&bytes, file, decoder)
            }
            Node::Table(_) => {
                let mut columns = Columns::decode(node, decoder)?;
                plain("size_bytes", columns.size_bytes.take(), &mut columns.size, decoder);
                plain("start_s", columns.start_s.take(), &mut columns.start, decoder);
                Some(FlowTable { columns, rows: Rows::default() })
            }
            _ => decoder.invalid_value(node, format!("must be a flow table, not {}", kind(node))),
        }?;
        let Columns { source, sink, size, start, .. } = &table.columns;
        let lengths = [Some(sink.len()), size.as_ref().map(Vec::len), start.as_ref().map(Vec::len)].into_iter().flatten();
        if let Some(other) = lengths.into_iter().find(|&length| length != source.len()).filter(|_| decoder.is_valid()) {
            decoder
                .wrong("has columns of different lengths")
                .given(format!("{} and {other}", source.len()))
                .expected("one value per flow");
            return None;
        }
        if source.is_empty() && decoder.is_valid() {
            decoder.wrong("has no flows").expected("a row for each flow");
            return None;
        }
        Some(table)
    }

    fn expected() -> String {
        "the name of a CSV file with columns `source`, `sink`, `size` and `start`, or a table of these lists (from Python and the command line also a Parquet file)"
            .into()
    }
}

impl JsonSchema for FlowTable {
    fn schema_name() -> Cow<'static, str> {
        "FlowTable".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let columns = generator.subschema_for::<Columns>();
        schemars::json_schema!({"description": FlowTable::expected(), "anyOf": [{"type": "string"}, columns]})
    }
}

/// Converts plain numbers of a column whose name ends in a unit to quantities.
fn plain<Q: Decode>(key: &str, numbers: Option<Vec<Number>>, quantities: &mut Option<Vec<Q>>, decoder: &mut Decoder) {
    let Some(numbers) = numbers else { return };
    if quantities.is_some() {
        decoder.inside(key, |decoder| _ = decoder.wrong("is given twice").expected("one column, with units or without"));
        return;
    }
    let cells: Vec<Node> = numbers.iter().map(|number| with_unit(number.0.to_string().as_bytes(), unit_of(key))).collect();
    let read = decoder.inside(key, |decoder| decoder.entries(&cells, Q::expected, Q::decode));
    *quantities = Some(read.unwrap_or_default());
}

fn read(bytes: &[u8], file: &str, decoder: &mut Decoder) -> Option<FlowTable> {
    let mut reader = ReaderBuilder::new().trim(Trim::All).flexible(true).from_reader(bytes);
    let names: Vec<String> = match reader.byte_headers() {
        Ok(names) => names.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect(),
        Err(error) => {
            decoder.fault(format!("`{file}` cannot be read: {error}")).given(file).expected(FlowTable::expected());
            return None;
        }
    };
    let [source, sink, size, start] = ["source", "sink", "size", "start"].map(|name| column(name, &names, file, decoder));
    let known = shown(&names, &["source", "sink", "size", "start"]);
    for (name, found) in [("source", source), ("sink", sink)] {
        if found.is_none() {
            let problem = decoder.fault(format!("`{file}` has no column `{name}`"));
            problem.given(listed_columns(&known));
            problem.expected("`source` and `sink`, and `size` and `start` here or in the group");
            if let Some(near) = nearest_word(name, &known) {
                problem.hint(format!("did you mean the column `{near}`?"));
            }
        }
    }
    let is_odd = |of: &str, found: Option<Column>, name: &str| {
        name.starts_with(&format!("{of}_")) && found.is_none_or(|found| names[found.place] != name)
    };
    let odd: Vec<&String> = names.iter().filter(|name| is_odd("size", size, name) || is_odd("start", start, name)).collect();
    for name in &odd {
        let problem = decoder.fault(format!("column `{}` of `{file}` does not end in a unit", name.escape_debug()));
        problem.expected(
            "`size_bytes`, `start_s`, `start_ms`, `start_us` or `start_ns`; names of other columns must not begin with `size_` or `start_`",
        );
    }
    if !odd.is_empty() {
        return None;
    }
    let (source, sink) = (source?, sink?);
    let mut columns = Columns { size: size.map(|_| Vec::new()), start: start.map(|_| Vec::new()), ..Columns::default() };
    let mut rows = Rows { file: file.into(), lines: Vec::new() };
    let mut faults = RepeatedErrors::default();
    for (read, record) in reader.byte_records().enumerate() {
        if read >= MAX_FLOWS {
            decoder
                .fault(format!("`{file}` has more rows than a scenario can have flows"))
                .given(file)
                .expected(format!("at most {MAX_FLOWS}"));
            return None;
        }
        let empty = ByteRecord::new();
        let (line, record) = match &record {
            Ok(record) => (record.position().map_or(0, csv::Position::line), record),
            Err(error) => (error.position().map_or(0, csv::Position::line), &empty),
        };
        let cell = |column: Column| with_unit(record.get(column.place).unwrap_or_default(), column.unit);
        let row = |decoder: &mut Decoder| {
            if record.len() > names.len() {
                let problem = decoder.fault("the line has more cells than columns");
                problem
                    .given(format!("{} for {} columns", record.len(), names.len()))
                    .expected("one cell per column; a cell that contains a comma must be quoted");
                return;
            }
            let source = value::<Name>("source", cell(source), decoder);
            let sink = value::<Name>("sink", cell(sink), decoder);
            let size = size.map(|column| value::<Transfer>("size", cell(column), decoder));
            let start = start.map(|column| value::<Duration>("start", cell(column), decoder));
            columns.source.extend(source);
            columns.sink.extend(sink);
            columns.size.iter_mut().for_each(|sizes| sizes.extend(size.flatten()));
            columns.start.iter_mut().for_each(|starts| starts.extend(start.flatten()));
        };
        decoder.among(&mut faults, &format!("[{file} line {line}]"), row);
        rows.lines.push(line);
    }
    if let Some(problem) = decoder.rest(&faults, "lines") {
        problem.given(file).expected("a valid value in each column");
    }
    (!faults.any()).then_some(FlowTable { columns, rows })
}

fn value<T: Decode>(column: &str, cell: Node, decoder: &mut Decoder) -> Option<T> {
    decoder.inside(column, |decoder| T::decode(&cell, decoder))
}
