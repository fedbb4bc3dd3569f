//! Rows of some columns of a CSV file, whose first line names the columns.

use super::csv_column::{MAX_FLOWS, bytes_of, listed_columns, shown, unit_of, with_unit};
use crate::decode::Decoder;
use crate::problem::RepeatedErrors;
use crate::tree::Node;
use csv::{ByteRecord, ReaderBuilder, Trim};

/// Position of a column in the file, and the unit of its plain numbers.
#[derive(Clone, Copy)]
pub(crate) struct Column {
    pub(crate) place: usize,
    pub(crate) unit: Option<&'static str>,
}

/// The column of that name, with or without a unit; `None` if there is none. Duplicates are reported.
pub(crate) fn column(name: &str, names: &[String], file: &str, decoder: &mut Decoder) -> Option<Column> {
    let fits = |known: &str| {
        known == name
            || known.strip_prefix(name).is_some_and(|ending| unit_of(known).is_some() && unit_of(ending) == unit_of(known))
    };
    let mut places = (0..names.len()).filter(|&place| fits(&names[place]));
    let place = places.next()?;
    if let Some(other) = places.next() {
        let problem = decoder.fault(format!("`{file}` has several columns for `{name}`"));
        problem.given(format!("`{}` and `{}`", names[place].escape_debug(), names[other].escape_debug())).expected("one column");
    }
    Some(Column { place, unit: unit_of(&names[place]) })
}

/// A cell without a unit as a number, where it is one.
pub(crate) fn number(cell: &Node) -> Node {
    match cell {
        Node::Text(text) => text.parse().map_or_else(|_| cell.clone(), Node::Float),
        _ => cell.clone(),
    }
}

/// Columns by name, of which a file may lack the optional ones.
pub(crate) struct Names<'n, const N: usize, const M: usize> {
    pub(crate) required: [&'n str; N],
    pub(crate) optional: [&'n str; M],
}

/// Reads these columns, with units in the cells or in the column's name. `expected` describes the file for messages.
pub(crate) fn read<const N: usize, T>(
    file: &str,
    names: [&str; N],
    expected: &str,
    decoder: &mut Decoder,
    row: impl FnMut([Node; N], &mut Decoder) -> Option<T>,
) -> Option<Vec<T>> {
    read_numbered(file, names, expected, decoder, row).map(|rows| rows.into_iter().map(|(_, value)| value).collect())
}

/// The same with the line of each row.
pub(crate) fn read_numbered<const N: usize, T>(
    file: &str,
    names: [&str; N],
    expected: &str,
    decoder: &mut Decoder,
    mut row: impl FnMut([Node; N], &mut Decoder) -> Option<T>,
) -> Option<Vec<(u64, T)>> {
    let names = Names { required: names, optional: [] };
    read_some(file, names, expected, decoder, |cells, [], decoder| row(cells, decoder))
}

/// The same with optional columns, of which all rows have cells or none.
pub(crate) fn read_some<const N: usize, const M: usize, T>(
    file: &str,
    names: Names<'_, N, M>,
    expected: &str,
    decoder: &mut Decoder,
    mut row: impl FnMut([Node; N], [Option<Node>; M], &mut Decoder) -> Option<T>,
) -> Option<Vec<(u64, T)>> {
    let bytes = bytes_of(file, decoder)?;
    let mut reader = ReaderBuilder::new().trim(Trim::All).flexible(true).from_reader(&bytes[..]);
    let titles: Vec<String> = match reader.byte_headers() {
        Ok(titles) => titles.iter().map(|title| String::from_utf8_lossy(title).into_owned()).collect(),
        Err(error) => {
            decoder.fault(format!("`{file}` cannot be read: {error}")).given(file).expected(expected);
            return None;
        }
    };
    let found = names.required.map(|name| {
        let found = column(name, &titles, file, decoder);
        if found.is_none() {
            let problem = decoder.fault(format!("`{file}` has no column `{name}`"));
            problem.given(listed_columns(&shown(&titles, &names.required)));
            problem.expected(expected);
        }
        found
    });
    let optional = names.optional.map(|name| column(name, &titles, file, decoder));
    if found.iter().any(Option::is_none) {
        return None;
    }
    let columns = found.map(|column| column.unwrap_or(Column { place: 0, unit: None }));
    let (mut rows, mut faults) = (Vec::new(), RepeatedErrors::default());
    for (index, record) in reader.byte_records().enumerate() {
        if index >= MAX_FLOWS {
            decoder.fault(format!("`{file}` has too many rows")).given(file).expected(format!("at most {MAX_FLOWS}"));
            return None;
        }
        let empty = ByteRecord::new();
        let (line, record) = match &record {
            Ok(record) => (record.position().map_or(0, csv::Position::line), record),
            Err(error) => (error.position().map_or(0, csv::Position::line), &empty),
        };
        let cell = |column: Column| with_unit(record.get(column.place).unwrap_or_default(), column.unit);
        let (cells, others) = (columns.map(cell), optional.map(|column| column.map(cell)));
        let read = decoder.among(&mut faults, &format!("[{file} line {line}]"), |decoder| row(cells, others, decoder));
        rows.extend(read.map(|row| (line, row)));
    }
    if let Some(problem) = decoder.rest(&faults, "lines") {
        problem.given(file).expected("a valid value in each column");
    }
    (!faults.any()).then_some(rows)
}
