//! The values that stand in a scenario's text, each with its place, and the text with another value there: what else stands in it, comments
//! included, stays as it is.

use super::fault::Fault;
use serde_json::{Value, json};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Values that a page can show as knobs.
const MOST: usize = 500;

/// Each value that is no table: its dotted place, its text and what it says.
pub(super) fn all(text: &str) -> Result<Value, Fault> {
    let mut found = Vec::new();
    walk(parsed(text)?.get_ref(), "", &mut |at, value| {
        if found.len() < MOST {
            found.push(json!({"at": at, "value": said(value.get_ref()), "from": value.span().start, "to": value.span().end}));
        }
    });
    Ok(json!({"knobs": found}))
}

/// The text with this value at the place, which has one.
pub(super) fn turned(text: &str, at: &str, value: &Value) -> Result<Value, Fault> {
    let table = parsed(text)?;
    let mut place: Option<Range<usize>> = None;
    walk(table.get_ref(), "", &mut |known, value| {
        if known == at {
            place = Some(value.span());
        }
    });
    let place = place.ok_or_else(|| Fault::of_page(&format!("no value at {at}")))?;
    let written = written(value).ok_or_else(|| Fault::of_page("a knob is a number, a word or a choice"))?;
    Ok(json!({"toml": format!("{}{written}{}", &text[..place.start], &text[place.end..])}))
}

/// The text with an entry of the timeline after it.
pub(super) fn with_change(text: &str, change: &Value) -> Result<Value, Fault> {
    let keys = change.as_object().ok_or_else(|| Fault::of_page("a change is a table"))?;
    let is_list = matches!(parsed(text)?.get_ref().get("timeline").map(Spanned::get_ref), Some(DeValue::Array(_)));
    let entry = |(key, value): (&String, &Value)| written(value).map(|value| format!("{key} = {value}"));
    let entries: Vec<String> = keys.iter().map(entry).collect::<Option<_>>().ok_or_else(|| Fault::of_page("no value"))?;
    if is_list && !text.contains("[[timeline]]") {
        return Err(Fault::whole(
            "the changes of this scenario stand in a list",
            Some("timeline = [...]".into()),
            Some("an entry that is added to it by hand, in the text".into()),
        ));
    }
    Ok(json!({"toml": format!("{}\n\n[[timeline]]\n{}\n", text.trim_end(), entries.join("\n"))}))
}

fn parsed(text: &str) -> Result<Spanned<DeTable<'_>>, Fault> {
    DeTable::parse(text).map_err(|error| Fault::whole(&format!("this cannot be read: {}", error.message()), None, None))
}

/// Shows each value that is no table with its place.
fn walk<'a>(table: &DeTable<'a>, path: &str, see: &mut impl FnMut(&str, &Spanned<DeValue<'a>>)) {
    for (key, value) in table {
        let key = key.get_ref();
        let at = if path.is_empty() { key.to_string() } else { format!("{path}.{key}") };
        walk_value(value, &at, see);
    }
}

fn walk_value<'a>(value: &Spanned<DeValue<'a>>, at: &str, see: &mut impl FnMut(&str, &Spanned<DeValue<'a>>)) {
    match value.get_ref() {
        DeValue::Table(table) => walk(table, at, see),
        DeValue::Array(items) => {
            (0..).zip(items).for_each(|(place, item): (u32, _)| walk_value(item, &format!("{at}[{place}]"), see));
        }
        _ => see(at, value),
    }
}

fn said(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => json!(text),
        DeValue::Boolean(is) => json!(is),
        DeValue::Integer(number) => number.as_str().parse::<i64>().map_or_else(|_| json!(number.as_str()), Value::from),
        DeValue::Float(number) => number.as_str().parse::<f64>().map_or_else(|_| json!(number.as_str()), Value::from),
        DeValue::Datetime(date) => json!(date.to_string()),
        DeValue::Array(_) | DeValue::Table(_) => Value::Null,
    }
}

/// As TOML writes it: basic strings are those of JSON but for some escapes that JSON's writer never makes.
fn written(value: &Value) -> Option<String> {
    match value {
        Value::String(_) | Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        _ => None,
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
        assert_eq!(places, ["duration", "links.a.rate", "links.a.queue.buffer"]);
    }

    #[test]
    fn a_turned_knob_changes_its_value_and_nothing_else() {
        let text = turned(TEXT, "links.a.queue.buffer", &json!("3 \"packets\"")).map(|answer| answer["toml"].clone());
        assert_eq!(text.ok(), Some(json!(TEXT.replace("\"9 packets\"", "\"3 \\\"packets\\\"\""))));
    }

    #[test]
    fn a_change_comes_last() {
        let text = with_change(TEXT, &json!({"at": "2 s", "link": "a", "rate": "2 Mbps"})).map(|answer| answer["toml"].clone());
        let expected = format!("{}\n\n[[timeline]]\nat = \"2 s\"\nlink = \"a\"\nrate = \"2 Mbps\"\n", TEXT.trim_end());
        assert_eq!(text.ok(), Some(json!(expected)));
    }
}
