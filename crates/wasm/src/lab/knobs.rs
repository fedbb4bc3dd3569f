//! The values of a scenario's text, with their places.

use super::fault::Fault;
use serde_json::{Value, json};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Maximum number of values that a page shows as controls.
const MAX: usize = 500;

/// Every value that is not a table, and every inline or empty table: its dotted path, its position in the text, and its content.
pub(super) fn all(text: &str) -> Result<Value, Fault> {
    let table = parsed(text)?;
    let mut found = Vec::new();
    walk(table.get_ref(), "", &mut |at, value| {
        let is_shown = match value.get_ref() {
            DeValue::Table(inner) => inner.is_empty() || text.get(value.span()).is_some_and(|around| around.starts_with('{')),
            DeValue::Array(_) => false,
            _ => true,
        };
        if is_shown && found.len() < MAX {
            found.push(json!({"at": at, "value": content(value.get_ref()), "from": value.span().start, "to": value.span().end}));
        }
    });
    Ok(json!({"knobs": found}))
}

/// All values except lists and non-empty tables, by path.
pub(super) fn values(table: &DeTable<'_>) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    walk(table, "", &mut |at, value| match value.get_ref() {
        DeValue::Table(inner) if !inner.is_empty() => {}
        DeValue::Array(_) => {}
        _ => found.push((at.to_string(), content(value.get_ref()))),
    });
    found
}

pub(super) fn parsed(text: &str) -> Result<Spanned<DeTable<'_>>, Fault> {
    DeTable::parse(text).map_err(|error| Fault::whole(&format!("the text is not valid TOML: {}", error.message()), None, None))
}

/// The content of a path: a value, a table or a list.
pub(super) fn value_at<'t, 'a>(table: &'t DeTable<'a>, at: &str) -> Option<&'t Spanned<DeValue<'a>>> {
    let mut steps = at.split('.').flat_map(|step| step.split('['));
    let first = table.get(steps.next()?)?;
    steps.try_fold(first, |value, step| match (value.get_ref(), step.strip_suffix(']')) {
        (DeValue::Array(items), Some(place)) => items.get(place.parse::<usize>().ok()?),
        (DeValue::Table(table), None) => table.get(step),
        _ => None,
    })
}

/// Visits each value with its path, and then its content.
fn walk<'a>(table: &DeTable<'a>, path: &str, see: &mut impl FnMut(&str, &Spanned<DeValue<'a>>)) {
    for (key, value) in table {
        let key = key.get_ref();
        let at = if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
        walk_value(value, &at, see);
    }
}

fn walk_value<'a>(value: &Spanned<DeValue<'a>>, at: &str, see: &mut impl FnMut(&str, &Spanned<DeValue<'a>>)) {
    see(at, value);
    match value.get_ref() {
        DeValue::Table(table) => walk(table, at, see),
        DeValue::Array(items) => {
            (0..).zip(items).for_each(|(place, item): (u32, _)| walk_value(item, &format!("{at}[{place}]"), see));
        }
        _ => {}
    }
}

fn content(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => json!(text),
        DeValue::Boolean(is) => json!(is),
        DeValue::Integer(number) => number.as_str().parse::<i64>().map_or_else(|_| json!(number.as_str()), Value::from),
        DeValue::Float(number) => number.as_str().parse::<f64>().map_or_else(|_| json!(number.as_str()), Value::from),
        DeValue::Datetime(date) => json!(date.to_string()),
        DeValue::Array(_) | DeValue::Table(_) => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "# What a buffer does.\nduration = \"10 s\" # long\n[links.a]\nrate = \"1 Mbps\"\nqueue = {buffer = \"9 packets\"}\n";

    #[test]
    fn every_value_has_its_place_in_the_order_of_the_text() {
        let found = all(TEXT).unwrap_or_else(|_| json!({}));
        let places: Vec<&str> = found["knobs"].as_array().into_iter().flatten().filter_map(|knob| knob["at"].as_str()).collect();
        assert_eq!(places, ["duration", "links.a.rate", "links.a.queue", "links.a.queue.buffer"]);
    }
}
