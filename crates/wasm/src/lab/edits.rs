//! Edits of a scenario's text: changes, adds or removes values and preserves the rest of the text, comments included.

use super::fault::Fault;
use super::knobs::{parsed, value_at, values};
use serde::Deserialize;
use serde_json::{Value, json};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A new value at a place.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
    /// Dotted path of an existing value, or of a new one in an existing table.
    at: String,
    /// `null` removes the value.
    value: Value,
}

/// The text after all edits, applied in order.
pub(super) fn edited(text: &str, edits: &[Edit]) -> Result<Value, Fault> {
    let text = edits.iter().try_fold(text.to_string(), |text, edit| edit.applied(&text))?;
    Ok(json!({"toml": text}))
}

/// The text with an additional entry of the timeline.
pub(super) fn with_change(text: &str, change: &Value) -> Result<Value, Fault> {
    let keys = change.as_object().ok_or_else(|| Fault::of_page("a change is a table"))?;
    let is_list = matches!(parsed(text)?.get_ref().get("timeline").map(Spanned::get_ref), Some(DeValue::Array(_)));
    let entry = |(key, value): (&String, &Value)| written(value).map(|value| format!("{key} = {value}"));
    let entries: Vec<String> = keys.iter().map(entry).collect::<Option<_>>().ok_or_else(|| Fault::of_page("no value"))?;
    if is_list && !text.contains("[[timeline]]") {
        return Err(Fault::whole(
            "the timeline of this scenario is an inline list",
            Some("timeline = [...]".into()),
            Some("an entry added to the text manually".into()),
        ));
    }
    Ok(json!({"toml": format!("{}\n\n[[timeline]]\n{}\n", text.trim_end(), entries.join("\n"))}))
}

/// A value in TOML syntax. Basic strings of TOML equal JSON strings, except for some escapes that the JSON writer never produces.
/// Tables are inline.
pub(super) fn written(value: &Value) -> Option<String> {
    match value {
        Value::String(_) | Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        Value::Object(table) => {
            let entry = |(key, value): (&String, &Value)| Some(format!("{key} = {}", written(value)?));
            let entries: Vec<String> = table.iter().map(entry).collect::<Option<_>>()?;
            Some(format!("{{{}}}", entries.join(", ")))
        }
        Value::Null | Value::Array(_) => None,
    }
}

impl Edit {
    /// Edits by the rules below may be misinterpreted where comments or keys are in unusual places. In that case nothing is
    /// changed.
    fn applied(&self, text: &str) -> Result<String, Fault> {
        let changed = self.tried(text)?;
        let others = |text: &str| -> Option<Vec<(String, Value)>> {
            let all = values(parsed(text).ok()?.get_ref());
            Some(all.into_iter().filter(|(at, value)| !self.concerns(at) && !value.is_null()).collect())
        };
        let there = |text: &str| parsed(text).ok().map(|table| value_at(table.get_ref(), &self.at).is_some());
        if others(&changed) != others(text) || there(&changed) != Some(!self.value.is_null()) {
            return Err(self.by_hand());
        }
        Ok(changed)
    }

    /// Whether a path is the one that changes, or is inside it.
    fn concerns(&self, at: &str) -> bool {
        at.strip_prefix(&self.at).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    }

    fn tried(&self, text: &str) -> Result<String, Fault> {
        let table = parsed(text)?;
        let there = value_at(table.get_ref(), &self.at).map(Spanned::span);
        if self.value.is_null() {
            let (parent, key) = self.ends();
            let keys = table_at(&table, parent).and_then(|(table, _)| table.get_key_value(key)).map(|(key, _)| key.span());
            let (Some(key), Some(value)) = (keys, there) else { return Ok(text.to_string()) };
            return Ok(without(text, key, value));
        }
        let value =
            written(&self.value).ok_or_else(|| Fault::of_page("a control is a number, a word, a choice or a table of these"))?;
        match there {
            Some(place) => Ok(spliced(text, place, &value)),
            None => self.added(text, &table, &value),
        }
    }

    /// The table and the key in it.
    fn ends(&self) -> (&str, &str) {
        self.at.rsplit_once('.').unwrap_or(("", &self.at))
    }

    fn added(&self, text: &str, root: &Spanned<DeTable<'_>>, value: &str) -> Result<String, Fault> {
        let (parent, key) = self.ends();
        let (table, span) = table_at(root, parent).ok_or_else(|| Fault::of_page(&format!("no table at {parent}")))?;
        let entry = format!("{key} = {value}");
        let around = text.get(span.clone()).unwrap_or("");
        if around.starts_with('{') && around.ends_with('}') {
            let inside = around[1..around.len() - 1].trim_end();
            let comma = if inside.trim_start().is_empty() || inside.ends_with(',') { "" } else { ", " };
            let at = span.start + 1 + inside.len();
            return Ok(spliced(text, at..at, &format!("{comma}{entry}")));
        }
        let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        // After the last of its values that is on its own line, with the same prefix, because its key may be dotted.
        let lines = table.iter().filter_map(|(key, value)| own_line(text, key.span(), value.span()));
        if let Some((line, prefix)) = lines.max_by_key(|(line, _)| line.end) {
            let before = if text[..line.end].ends_with('\n') { "" } else { end };
            return Ok(spliced(text, line.end..line.end, &format!("{before}{prefix}{entry}{end}")));
        }
        if around.starts_with('[') {
            let line = end_of_line(text, span.end);
            let at = if text[..line].ends_with('\r') { line - 1 } else { line };
            return Ok(spliced(text, at..at, &format!("{end}{entry}")));
        }
        Err(self.by_hand())
    }

    fn by_hand(&self) -> Fault {
        let done = if self.value.is_null() { "removed from" } else { "added to" };
        Fault::whole(&format!("this has to be {done} the text manually"), Some(self.at.clone()), None)
    }
}

/// An existing table, and its position in the text: its braces, or its header.
fn table_at<'t, 'a>(root: &'t Spanned<DeTable<'a>>, path: &str) -> Option<(&'t DeTable<'a>, Range<usize>)> {
    if path.is_empty() {
        return Some((root.get_ref(), 0..0));
    }
    let found = value_at(root.get_ref(), path)?;
    match found.get_ref() {
        DeValue::Table(table) => Some((table, found.span())),
        _ => None,
    }
}

/// The lines that contain only a key and its value, with the text before the key; `None` if they share a line with other values.
fn own_line(text: &str, key: Range<usize>, value: Range<usize>) -> Option<(Range<usize>, &str)> {
    let start = text.get(..key.start)?.rfind('\n').map_or(0, |at| at + 1);
    let end = end_of_line(text, value.end);
    let (before, after) = (&text[start..key.start], text.get(value.end..end)?.trim_start());
    let is_alone = !before.contains(['{', '[', ',', '=']) && (after.is_empty() || after.starts_with('#'));
    is_alone.then(|| (start..text.len().min(end + 1), before))
}

/// The text without a key and its value.
fn without(text: &str, key: Range<usize>, value: Range<usize>) -> String {
    if let Some((line, _)) = own_line(text, key.clone(), value.clone()) {
        return spliced(text, line, "");
    }
    // In an inline table: with the comma before it, or otherwise after it.
    let before = text[..key.start].trim_end();
    if let Some(rest) = before.strip_suffix(',') {
        return spliced(text, rest.len()..value.end, "");
    }
    let after = text[value.end..].trim_start();
    let end = after.strip_prefix(',').map_or(value.end, |rest| text.len() - rest.trim_start().len());
    spliced(text, key.start..end, "")
}

fn end_of_line(text: &str, from: usize) -> usize {
    text.get(from..).and_then(|rest| rest.find('\n')).map_or(text.len(), |at| from + at)
}

fn spliced(text: &str, place: Range<usize>, with: &str) -> String {
    format!("{}{with}{}", &text[..place.start], &text[place.end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# What a buffer does.\nduration = \"10 s\" # long\n[links.a]\nrate = \"1 Mbps\"\nqueue = {buffer = \"9 packets\", policy = \"red\", min_threshold = \"2 packets\"}\n\
                        [links.a.loss]\n[links.b]\nqueue.buffer = \"3 packets\"\n";

    fn after(edits: &[(&str, Value)]) -> String {
        let edits: Vec<Edit> = edits.iter().map(|(at, value)| Edit { at: (*at).to_string(), value: value.clone() }).collect();
        match edited(TEXT, &edits) {
            Ok(answer) => answer["toml"].as_str().unwrap_or_default().to_string(),
            Err(fault) => format!("{:?}", fault),
        }
    }

    #[test]
    fn a_control_changes_only_its_value() {
        let changed = TEXT.replace("\"9 packets\"", "\"3 \\\"packets\\\"\"");
        assert_eq!(after(&[("links.a.queue.buffer", json!("3 \"packets\""))]), changed);
    }

    #[test]
    fn new_values_follow_the_existing_ones_of_their_table() {
        let in_braces = TEXT.replace("\"2 packets\"}", "\"2 packets\", max_threshold = 3}");
        assert_eq!(after(&[("links.a.queue.max_threshold", json!(3))]), in_braces);
        let with_a_header = TEXT.replace("[links.a.loss]\n", "[links.a.loss]\nprobability = 0.1\n");
        assert_eq!(after(&[("links.a.loss.probability", json!(0.1))]), with_a_header);
        let table = TEXT.replace("[links.a.loss]\n", "delay = {uniform = {from = 1}}\n[links.a.loss]\n");
        assert_eq!(after(&[("links.a.delay", json!({"uniform": {"from": 1}}))]), table);
        let dotted = TEXT.replace("queue.buffer = \"3 packets\"\n", "queue.buffer = \"3 packets\"\nqueue.policy = \"codel\"\n");
        assert_eq!(after(&[("links.b.queue.policy", json!("codel"))]), dotted);
        let at_the_top = TEXT.replace("# long\n", "# long\nseed = 7\n");
        assert_eq!(after(&[("seed", json!(7))]), at_the_top);
        let of_a_link = TEXT.replace("\"2 packets\"}\n", "\"2 packets\"}\ndelay = \"1 ms\"\n");
        assert_eq!(after(&[("links.a.delay", json!("1 ms"))]), of_a_link);
    }

    #[test]
    fn removed_values_take_their_comma_or_line_with_them() {
        let last = TEXT.replace(", min_threshold = \"2 packets\"", "");
        assert_eq!(after(&[("links.a.queue.min_threshold", Value::Null)]), last);
        let first = TEXT.replace("buffer = \"9 packets\", ", "");
        assert_eq!(after(&[("links.a.queue.buffer", Value::Null)]), first);
        assert_eq!(after(&[("links.b.queue.buffer", Value::Null)]), TEXT.replace("queue.buffer = \"3 packets\"\n", ""));
        assert_eq!(after(&[("duration", Value::Null)]), TEXT.replace("duration = \"10 s\" # long\n", ""));
        assert_eq!(after(&[("links.a.queue.max_threshold", Value::Null)]), TEXT);
    }

    #[test]
    fn ambiguous_edits_are_left_to_the_user() {
        let refused = |text: &str, at: &str, value: Value| {
            let given = edited(text, &[Edit { at: at.into(), value }]);
            given.map_err(|fault| fault.problems[0].message.clone())
        };
        let after_a_comment = "q = {\n a = 1 # last\n}\n";
        assert_eq!(refused(after_a_comment, "q.b", json!(2)), Err("this has to be added to the text manually".into()));
        for (text, at) in [("[x]\na.b = 1\n", "x.a"), ("[x. y ]\nb = 1\n", "x.y"), ("q = {a = 1, # a, comma,\nb = 2}\n", "q.b")] {
            assert_eq!(refused(text, at, Value::Null), Err("this has to be removed from the text manually".into()), "{text}");
        }
        let lines = TEXT.replace('\n', "\r\n");
        let added = edited(&lines, &[Edit { at: "links.a.loss.probability".into(), value: json!(0.1) }]).map_err(|_| ());
        let wanted = lines.replace("[links.a.loss]\r\n", "[links.a.loss]\r\nprobability = 0.1\r\n");
        assert_eq!(added, Ok(json!({"toml": wanted})));
    }

    #[test]
    fn edits_are_applied_in_order() {
        let wanted = TEXT.replace("\"red\", min_threshold = \"2 packets\"", "\"rem\", target = \"20 %\"");
        let edits = [
            ("links.a.queue.policy", json!("rem")),
            ("links.a.queue.min_threshold", Value::Null),
            ("links.a.queue.target", json!("20 %")),
        ];
        assert_eq!(after(&edits), wanted);
    }

    #[test]
    fn a_change_comes_last() {
        let text = with_change(TEXT, &json!({"at": "2 s", "link": "a", "rate": "2 Mbps"})).map(|answer| answer["toml"].clone());
        let expected = format!("{}\n\n[[timeline]]\nat = \"2 s\"\nlink = \"a\"\nrate = \"2 Mbps\"\n", TEXT.trim_end());
        assert_eq!(text.ok(), Some(json!(expected)));
    }
}
