//! Results as named columns. Other crates convert them to Arrow, JSON or text.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One table of a result: `flows`, `queues`, or a trace under its own name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Table {
    pub name: String,
    /// Names with a unit suffix (`goodput_bps`, `time_s`), and the values. All columns have the same length.
    pub columns: Vec<(String, Column)>,
}

/// The values of a column. Missing floats are NaN.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Column {
    Float(Vec<f64>),
    Integer(Vec<u64>),
    /// Indices into a list of words.
    Word(Vec<u32>, Arc<Vec<String>>),
}

impl Table {
    /// The column of that name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|(column, _)| column == name).map(|(_, values)| values)
    }

    /// A float or integer column as floats.
    pub fn floats(&self, name: &str) -> Option<Vec<f64>> {
        match self.column(name)? {
            Column::Float(values) => Some(values.clone()),
            Column::Integer(values) => Some(values.iter().map(|&value| value as f64).collect()),
            Column::Word(..) => None,
        }
    }

    /// A column of words, row by row; `None` if there is no such column of words.
    pub fn words(&self, name: &str) -> Option<Vec<&str>> {
        match self.column(name)? {
            Column::Word(values, words) => Some(values.iter().map(|&value| words[value as usize].as_str()).collect()),
            Column::Float(_) | Column::Integer(_) => None,
        }
    }

    /// Keep only the rows whose flag is set.
    pub fn keep(&mut self, rows: &[bool]) {
        fn kept<T: Copy>(values: &mut Vec<T>, rows: &[bool]) {
            *values = values.iter().zip(rows).filter(|(_, keep)| **keep).map(|(value, _)| *value).collect();
        }
        for (_, column) in &mut self.columns {
            match column {
                Column::Float(values) => kept(values, rows),
                Column::Integer(values) => kept(values, rows),
                Column::Word(values, _) => kept(values, rows),
            }
        }
    }

    /// Rows in the table.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |(_, values)| values.len())
    }

    /// All bytes of the table in a fixed order, for golden hashes and comparisons.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = self.name.clone().into_bytes();
        for (name, values) in &self.columns {
            out.extend(name.as_bytes());
            match values {
                Column::Float(values) => out.extend(values.iter().flat_map(|value| value.to_bits().to_le_bytes())),
                Column::Integer(values) => out.extend(values.iter().flat_map(|value| value.to_le_bytes())),
                Column::Word(values, words) => {
                    out.extend(values.iter().flat_map(|&value| words[value as usize].bytes().chain([0])));
                }
            }
        }
        out
    }
}

impl Column {
    pub fn len(&self) -> usize {
        match self {
            Column::Float(values) => values.len(),
            Column::Integer(values) => values.len(),
            Column::Word(values, _) => values.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A table. Missing values get one bit pattern, because the sign of a computed NaN differs between processors.
pub(crate) fn named(name: &str, columns: Vec<(&'static str, Column)>) -> Table {
    let one_nan = |column: Column| match column {
        Column::Float(values) if values.iter().any(|value| value.is_nan()) => {
            Column::Float(values.into_iter().map(|value| if value.is_nan() { f64::NAN } else { value }).collect())
        }
        other => other,
    };
    Table {
        name: name.to_string(),
        columns: columns.into_iter().map(|(name, values)| (name.to_string(), one_nan(values))).collect(),
    }
}
