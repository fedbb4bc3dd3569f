//! One value per flow from a column of a CSV file: `{csv = {file = "flows.csv", column = "size_bytes"}}`.
//!
//! The file name is relative to the directory of the scenario, or to the current directory if the scenario is in no file. The first line names
//! the columns. Values have units as in a scenario, or are plain numbers if the column's name ends in a unit, as in result tables.

use super::varied::Varied;
use crate::decode::{Decode, Decoder, entries};
use crate::nearest::nearest_word;
use crate::problem::RepeatedErrors;
use crate::tree::Node;
use csv::{ReaderBuilder, Trim};
use std::borrow::Cow;
use std::path::Path;

/// Suffixes of column names, as in result tables, with their units.
const ENDINGS: [(&str, &str); 9] = [
    ("_s", "s"),
    ("_ms", "ms"),
    ("_us", "us"),
    ("_ns", "ns"),
    ("_bytes", "B"),
    ("_bps", "bps"),
    ("_kbps", "kbps"),
    ("_Mbps", "Mbps"),
    ("_Gbps", "Gbps"),
];

/// Maximum size of a file. A larger one has more rows than a scenario can have flows.
const MAX_BYTES: u64 = 1 << 30;

/// Maximum number of flows of a scenario.
pub(crate) const MAX_FLOWS: usize = 4_000_000;

pub(super) fn read<Q: Varied>(node: &Node, decoder: &mut Decoder) -> Option<Vec<Q>> {
    let [file, column] = entries(node, ["file", "column"], decoder)?;
    let mut text = |key, node: Option<&Node>| -> Option<String> {
        node.and_then(|node| decoder.inside(key, |decoder| Decode::decode(node, decoder)))
    };
    let (file, column) = (text("file", file), text("column", column));
    let (file, column) = (file?, column?);
    let bytes = decoder.inside("file", |decoder| bytes_of(&file, decoder))?;
    values(&bytes, &file, &column, decoder)
}

/// Reads a file relative to the scenario's directory. Errors are reported.
pub(crate) fn bytes_of(file: &str, decoder: &mut Decoder) -> Option<Vec<u8>> {
    bytes_up_to(MAX_BYTES, file, "a CSV file, relative to the scenario's directory", decoder)
}

/// Reads a file of at most `max` bytes. `expected` describes it for messages.
pub(crate) fn bytes_up_to(max: u64, file: &str, expected: &str, decoder: &mut Decoder) -> Option<Vec<u8>> {
    decoder.note_file();
    let path = Path::new(decoder.report.file()).parent().unwrap_or(Path::new("")).join(file);
    match check_size(&path, max).and_then(|()| std::fs::read(&path).map_err(reason)) {
        Ok(bytes) => Some(bytes),
        Err(reason) => {
            decoder.fault(format!("`{file}` cannot be read: {reason}")).given(path.display().to_string()).expected(expected);
            None
        }
    }
}

/// The text of an error without its number.
fn reason(error: std::io::Error) -> String {
    error.to_string().split(" (os error").next().unwrap_or_default().to_string()
}

fn check_size(path: &Path, max: u64) -> Result<(), String> {
    match std::fs::metadata(path).map_err(reason)? {
        found if !found.is_file() => Err("it is not a file".into()),
        found if found.len() > max => Err(format!("it has {} bytes, more than {max}", found.len())),
        _ => Ok(()),
    }
}

/// Unit of plain numbers in this column.
pub(crate) fn unit_of(column: &str) -> Option<&'static str> {
    ENDINGS.iter().find(|(ending, _)| column.ends_with(ending)).map(|(_, unit)| *unit)
}

/// The names of columns for messages: those similar to a name that is sought, because a shared scenario may name any file of its reader.
pub(crate) fn shown<'n>(names: &'n [String], sought: &[&str]) -> Vec<&'n str> {
    let is_similar = |name: &&String| name.len() <= 64 && sought.iter().any(|sought| nearest_word(sought, &[name]).is_some());
    names.iter().filter(is_similar).map(String::as_str).collect()
}

/// Names of columns as a given value of messages.
pub(crate) fn listed_columns(shown: &[&str]) -> String {
    let quoted: Vec<String> = shown.iter().map(|name| format!("`{}`", name.escape_debug())).collect();
    if quoted.is_empty() { "no similar column".into() } else { quoted.join(", ") }
}

/// A cell as in a scenario, with its unit.
pub(crate) fn with_unit(cell: &[u8], unit: Option<&str>) -> Node {
    let cell = String::from_utf8_lossy(cell).into_owned();
    let with_unit = unit.filter(|_| cell.parse::<f64>().is_ok()).map(|unit| format!("{cell} {unit}"));
    Node::Text(with_unit.unwrap_or(cell))
}

/// A cell as messages may quote it. Only numbers and their units are shown, because a shared scenario may name any file of its reader.
fn masked(cell: &[u8]) -> Cow<'_, [u8]> {
    const LONGEST: usize = 40;
    const LONGEST_UNIT: usize = 8;
    let number = cell.iter().take_while(|byte| byte.is_ascii_digit() || b"+-.,_' \t".contains(byte)).count();
    let unit = &cell[number..];
    let is_unit = unit.len() <= LONGEST_UNIT
        && unit.iter().all(|byte| byte.is_ascii_alphabetic() || b"%/+-".contains(byte) || byte.is_ascii_digit());
    let has_digit = cell[..number].iter().any(u8::is_ascii_digit);
    let is_quoted = cell.len() <= LONGEST && (cell.is_empty() || has_digit && is_unit);
    if is_quoted { Cow::Borrowed(cell) } else { Cow::Owned(format!("text of {} bytes", cell.len()).into_bytes()) }
}

fn values<Q: Varied>(bytes: &[u8], file: &str, column: &str, decoder: &mut Decoder) -> Option<Vec<Q>> {
    let mut reader = ReaderBuilder::new().trim(Trim::All).flexible(true).from_reader(bytes);
    let names: Vec<String> = reader.byte_headers().ok()?.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    if names.iter().filter(|name| *name == column).count() > 1 {
        decoder.inside("column", |decoder| _ = decoder.fault(format!("`{file}` has several columns `{column}`")).given(column));
        return None;
    }
    let Some(place) = names.iter().position(|name| name == column) else {
        decoder.inside("column", |decoder| {
            let problem = decoder.fault(format!("`{file}` has no column `{}`", column.escape_debug()));
            problem.given(listed_columns(&shown(&names, &[column]))).expected("the name of a column in its first line");
        });
        return None;
    };
    let unit = unit_of(column);
    let (mut values, mut faults) = (Vec::new(), RepeatedErrors::default());
    for (read, record) in reader.byte_records().enumerate() {
        if read >= MAX_FLOWS {
            decoder
                .fault(format!("`{file}` has more values than a scenario can have flows"))
                .given(file)
                .expected(format!("at most {MAX_FLOWS}"));
            return None;
        }
        let (line, cell) = match &record {
            Ok(record) => (record.position().map_or(0, csv::Position::line), record.get(place).unwrap_or_default()),
            Err(error) => (error.position().map_or(0, csv::Position::line), &[][..]),
        };
        let cell = with_unit(&masked(cell), unit);
        values.extend(decoder.among(&mut faults, &format!("[{file} line {line}]"), |decoder| Q::of_flow(&cell, decoder)));
    }
    if let Some(problem) = decoder.rest(&faults, "lines") {
        problem.given(file).expected(Q::expected_of_flow());
    }
    if values.is_empty() && !faults.any() {
        decoder.fault(format!("column `{column}` of `{file}` has no values")).given(file).expected("one line for each flow");
        return None;
    }
    (!faults.any()).then_some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_quote_numbers_and_units_only() {
        let shown = |cell: &str| String::from_utf8_lossy(&masked(cell.as_bytes())).into_owned();
        for cell in ["12", "-3.5 kB", "1e6", "1,500 B", "40 %", "7 parsecs", ""] {
            assert_eq!(shown(cell), cell);
        }
        assert_eq!(shown("hunter2"), "text of 7 bytes");
        assert_eq!(shown("1:root:x:0"), "text of 10 bytes");
        assert_eq!(shown(&"9".repeat(41)), "text of 41 bytes");
    }

    #[test]
    fn messages_quote_similar_columns_only() {
        let names = ["hunter2", "3d12f8a0c5", "sizes_bytes", "Sorce"].map(String::from);
        assert_eq!(shown(&names, &["source", "size_bytes"]), ["sizes_bytes", "Sorce"]);
        assert_eq!(listed_columns(&shown(&names, &["sink"])), "no similar column");
    }
}
