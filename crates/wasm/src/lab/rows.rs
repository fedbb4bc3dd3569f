//! Access to the rows of traces by column.

use tailback_core::record::{Column, Table};

/// A column of integers, or of indices of words.
pub(super) fn integers<'a>(table: &'a Table, name: &str) -> &'a [u64] {
    if let Some(Column::Integer(values)) = table.column(name) { values } else { &[] }
}

pub(super) fn floats<'a>(table: &'a Table, name: &str) -> &'a [f64] {
    if let Some(Column::Float(values)) = table.column(name) { values } else { &[] }
}

/// A column of words: their indices, and the words.
pub(super) fn words<'a>(table: &'a Table, name: &str) -> (&'a [u32], &'a [String]) {
    if let Some(Column::Word(values, words)) = table.column(name) { (values, words) } else { (&[], &[]) }
}

/// The word of a row.
pub(super) fn word<'a>((values, words): (&'a [u32], &'a [String]), row: usize) -> &'a str {
    values.get(row).and_then(|&value| words.get(value as usize)).map_or("", String::as_str)
}

/// Number of rows of a table that begins with times.
pub(super) fn count(table: &Table) -> usize {
    floats(table, "time_s").len()
}
