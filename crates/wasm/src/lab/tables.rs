//! Tables as JSON: a name, columns, and null for missing values.

use serde_json::{Value, json};
use tailback_core::record::{Column, Table};

/// Maximum number of rows of a trace: more than a page can show.
const MAX: usize = 200_000;

pub(super) fn table(table: &Table) -> Value {
    let column = |values: &Column| match values {
        Column::Float(values) => json!(values.iter().take(MAX).collect::<Vec<_>>()),
        Column::Integer(values) => json!(values.iter().take(MAX).collect::<Vec<_>>()),
        Column::Word(values, words) => {
            json!(values.iter().take(MAX).map(|&value| words.get(value as usize)).collect::<Vec<_>>())
        }
    };
    // A list, because an object would not keep the order.
    let columns: Vec<(&str, Value)> = table.columns.iter().map(|(name, values)| (name.as_str(), column(values))).collect();
    json!({"name": table.name, "columns": columns})
}
