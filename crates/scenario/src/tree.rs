//! TOML and JSON as one tree of values, with the location of each place in the text.

use crate::location::{Focus, KeyValueSpans, Source, Text};
use crate::problem::{Errors, Problem, RepeatedErrors, Report};
use indexmap::IndexMap;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use std::fmt;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A value as it is written, before it is decoded into a type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Null,
    Boolean(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    /// A TOML date or time, which no key accepts.
    Date(String),
    List(Vec<Node>),
    /// In the order in which the keys were written.
    Table(IndexMap<String, Node>),
}

/// Maximum nesting, more than any scenario needs. It bounds the recursion of every function that walks the tree.
const DEEPEST: usize = 64;

/// Maximum length of a text, in bytes.
const LONGEST: usize = 64 << 20;

/// The tree of a TOML text, or its syntax errors.
pub(crate) fn from_toml(text: &str, file: &str) -> Result<(Node, Source), Errors> {
    check_length(text, file)?;
    let mut lines = Text::new(text);
    match DeTable::parse(text) {
        Ok(table) => {
            let mut reader = TomlReader { text: &mut lines, too_deep: None };
            let node = reader.table(table.into_inner(), "", 0);
            match reader.too_deep {
                Some(span) => Err(syntax(file, &lines, [(Some(span), TOO_DEEP.to_string())])),
                None => Ok((node, Source::new(file, Some(lines)))),
            }
        }
        Err(first) => {
            // The parser can go on after an error. On a long text of noise that would only list the noise.
            let all = if text.len() < 1 << 20 { DeTable::parse_recoverable(text).1 } else { vec![first] };
            let mut all: Vec<(Option<Range<usize>>, String)> =
                all.iter().map(|error| (error.span(), format!("the text is not valid TOML: {}", error.message()))).collect();
            // The parser often reports one mistake in a line several times.
            let line = |span: &Option<Range<usize>>| span.clone().map(|span| lines.location(span).line);
            all.sort_by_key(|(span, _)| line(span));
            all.dedup_by_key(|(span, _)| line(span));
            Err(syntax(file, &lines, all))
        }
    }
}

/// The tree of a JSON text, or its syntax error.
pub(crate) fn from_json(text: &str, file: &str) -> Result<(Node, Source), Errors> {
    check_length(text, file)?;
    let syntax = |span, message| syntax(file, &Text::new(text), [(span, message)]);
    match serde_json::from_str::<Node>(text) {
        Ok(node) if depth_exceeds(&node, DEEPEST) => Err(syntax(None, TOO_DEEP.to_string())),
        Ok(node) => Ok((node, Source::new(file, None))),
        Err(error) => {
            let offset = Text::new(text).offset(&error);
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            Err(syntax((error.line() > 0).then_some(offset..offset), format!("the text is not valid JSON: {message}")))
        }
    }
}

const TOO_DEEP: &str = "the scenario is nested deeper than 64 levels";

fn check_length(text: &str, file: &str) -> Result<(), Errors> {
    if text.len() > LONGEST {
        return Err(Errors::one(file, Problem::new("", "the text is too long for a scenario").expecting("at most 64 MiB")));
    }
    Ok(())
}

fn syntax(file: &str, text: &Text, errors: impl IntoIterator<Item = (Option<Range<usize>>, String)>) -> Errors {
    let source = Source::new(file, None);
    let mut report = Report::new(&source);
    let mut repeated = RepeatedErrors::default();
    let mut last = None;
    for (span, message) in errors {
        let location = span.map(|span| text.location(span));
        last.clone_from(&location);
        report.among(&mut repeated, |report| report.add("", message).location = location);
    }
    if let Some(problem) = repeated.rest("", "lines", &mut report) {
        problem.expected("TOML").location = last;
    }
    report.finish()
}

fn depth_exceeds(node: &Node, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else { return true };
    match node {
        Node::List(items) => items.iter().any(|item| depth_exceeds(item, below)),
        Node::Table(entries) => entries.values().any(|entry| depth_exceeds(entry, below)),
        _ => false,
    }
}

struct TomlReader<'a> {
    text: &'a mut Text,
    /// Where the nesting became too deep.
    too_deep: Option<Range<usize>>,
}

impl TomlReader<'_> {
    fn table(&mut self, table: DeTable<'_>, path: &str, depth: usize) -> Node {
        let mut entries = IndexMap::new();
        for (key, value) in table {
            let key_span = key.span();
            if depth == DEEPEST {
                self.too_deep = Some(key_span);
                break;
            }
            let key = key.into_inner().into_owned();
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let spans = spans(Some(key_span), &value);
            let value = self.value(value.into_inner(), &path, depth + 1);
            self.text.add(path, spans);
            entries.insert(key, value);
        }
        Node::Table(entries)
    }

    fn value(&mut self, value: DeValue<'_>, path: &str, depth: usize) -> Node {
        match value {
            DeValue::String(text) => Node::Text(text.into_owned()),
            DeValue::Integer(digits) => match i128::from_str_radix(digits.as_str(), digits.radix()) {
                Ok(number) => Node::Integer(number),
                // As in JSON: beyond every bound, so that only the message shows it.
                Err(_) => float(digits.as_str()),
            },
            DeValue::Float(digits) => float(digits.as_str()),
            DeValue::Boolean(truth) => Node::Boolean(truth),
            DeValue::Datetime(date) => Node::Date(date.to_string()),
            DeValue::Table(table) => self.table(table, path, depth),
            DeValue::Array(items) => {
                let mut nodes = Vec::with_capacity(items.len());
                for (index, item) in items.into_iter().enumerate() {
                    if depth == DEEPEST {
                        self.too_deep = Some(item.span());
                        break;
                    }
                    let path = format!("{path}[{index}]");
                    let spans = spans(None, &item);
                    nodes.push(self.value(item.into_inner(), &path, depth + 1));
                    // Lists of millions of entries have locations for the first ones only.
                    if index < 1000 {
                        self.text.add(path, spans);
                    }
                }
                Node::List(nodes)
            }
        }
    }
}

fn spans(key: Option<Range<usize>>, value: &Spanned<DeValue<'_>>) -> KeyValueSpans {
    // Texts are shorter than 4 GiB.
    let short = |span: Range<usize>| span.start as u32..span.end as u32;
    KeyValueSpans { key: key.map(short), value: short(value.span()), is_table: value.get_ref().is_table() }
}

fn float(digits: &str) -> Node {
    digits.parse().map_or(Node::Text(digits.into()), Node::Float)
}

/// The values of a TOML text as JSON, in their order; `None` if the text cannot be read. Dates and numbers that JSON does not have become
/// strings.
pub fn toml_as_json(text: &str) -> Option<String> {
    let (node, _) = from_toml(text, "").ok()?;
    serde_json::to_string(&node).ok()
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Node::Null => serializer.serialize_unit(),
            Node::Boolean(truth) => serializer.serialize_bool(*truth),
            Node::Integer(number) => serializer.serialize_i128(*number),
            Node::Float(number) if number.is_finite() => serializer.serialize_f64(*number),
            Node::Float(number) => serializer.collect_str(number),
            Node::Text(text) | Node::Date(text) => serializer.serialize_str(text),
            Node::List(items) => serializer.collect_seq(items),
            Node::Table(entries) => serializer.collect_map(entries),
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

/// Refuses duplicate keys. `serde_json::Value` would keep the last one.
struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E: Error>(self, truth: bool) -> Result<Node, E> {
        Ok(Node::Boolean(truth))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Node, E> {
        Ok(Node::Integer(number.into()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Node, E> {
        Ok(Node::Integer(number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Node, E> {
        Ok(Node::Float(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut nodes = Vec::new();
        while let Some(node) = items.next_element()? {
            nodes.push(node);
        }
        Ok(Node::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut nodes = IndexMap::new();
        while let Some((key, node)) = entries.next_entry::<String, Node>()? {
            if nodes.contains_key(&key) {
                return Err(A::Error::custom(format!("duplicate key `{key}`")));
            }
            nodes.insert(key, node);
        }
        Ok(Node::Table(nodes))
    }
}

/// As in the file, shortened.
impl fmt::Display for Node {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::Null => out.write_str("null"),
            Node::Boolean(truth) => write!(out, "{truth}"),
            Node::Integer(number) => write!(out, "{number}"),
            Node::Float(number) => out.write_str(&format!("{number:?}").to_lowercase()),
            Node::Text(text) if text.chars().count() > 60 => {
                write!(out, "\"{}...\"", text.chars().take(57).collect::<String>().escape_debug())
            }
            Node::Text(text) => write!(out, "\"{}\"", text.escape_debug()),
            Node::Date(text) => out.write_str(text),
            Node::List(items) => write!(out, "a list of {}", items.len()),
            Node::Table(entries) if entries.is_empty() => out.write_str("an empty table"),
            Node::Table(entries) => {
                let keys: Vec<&str> = entries.keys().take(5).map(String::as_str).collect();
                let more = if entries.len() > 5 { ", ..." } else { "" };
                write!(out, "a table with {}{more}", keys.join(", "))
            }
        }
    }
}

impl Problem {
    /// Adds the location that the place, or the nearest one around it, has in a TOML text.
    #[must_use]
    pub fn in_toml(mut self, text: &str) -> Problem {
        self.location = from_toml(text, "").ok().and_then(|(_, source)| source.locate(&self.at, Focus::Value));
        self
    }
}

impl Node {
    /// The text, if it is one.
    pub fn as_text(&self) -> Option<&str> {
        if let Node::Text(text) = self { Some(text) } else { None }
    }

    /// The value in TOML, on one line.
    pub fn to_toml(&self) -> String {
        let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
        let key = |key: &String| match key.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter)) {
            true if !key.is_empty() => key.clone(),
            _ => quoted(key),
        };
        match self {
            Node::Text(text) => quoted(text),
            Node::List(items) => format!("[{}]", items.iter().map(Node::to_toml).collect::<Vec<_>>().join(", ")),
            Node::Table(entries) => {
                let pairs = entries.iter().map(|(name, value)| format!("{} = {}", key(name), value.to_toml()));
                format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
            }
            others => others.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::location::Focus;

    #[test]
    fn toml_and_json_give_the_same_tree() {
        let (toml, source) = from_toml("a = 1\n\n[links.x]\nrate = \"1 Mbps\"\nlist = [1.5,\n  true]\n", "f.toml").unwrap();
        let (json, _) = from_json(r#"{"a": 1, "links": {"x": {"rate": "1 Mbps", "list": [1.5, true]}}}"#, "").unwrap();
        assert_eq!(toml, json);
        let line = |at| source.locate(at, Focus::Value).unwrap().line;
        assert_eq!((line("links.x.rate"), line("links.x.list[1]")), (4, 6));
    }

    #[test]
    fn a_value_is_written_as_toml_that_reads_the_same() {
        let text = r#"x = {a = 1, "b c" = ["\"é\"", 1.5, true, {}], d = 2024-01-01, e = {f = 1e30}}"#;
        let (node, _) = from_toml(text, "").unwrap();
        let Node::Table(entries) = &node else { panic!("{node}") };
        let (again, _) = from_toml(&format!("x = {}", entries["x"].to_toml()), "").unwrap();
        assert_eq!(again, node);
    }

    #[test]
    fn a_place_has_the_location_of_the_nearest_one_around_it() {
        let text = "a = 1\n[links.x]\nrate = \"1 Mbps\"\nlist = [1,\n  2]\nqueue.policy = {x = 1}\n[[timeline]]\nat = 1\n";
        let (_, source) = from_toml(text, "f.toml").unwrap();
        let found = |at, focus| source.locate(at, focus).map(|found| (found.line, found.column, found.end_column));
        let value = |at| found(at, Focus::Value);
        assert_eq!((value("links.x.rate"), found("links.x.rate", Focus::Key)), (Some((3, 8, 16)), Some((3, 1, 5))));
        assert_eq!(["links.x", "links", "links.x.delay"].map(value), [Some((2, 8, 9)), Some((2, 2, 7)), Some((2, 8, 9))]);
        // Inside a value that is no table, such as the name of a file, the value itself is marked.
        assert_eq!(
            ["links.x.rate[3]", "links.x.list[1]", "links.x.list[7]"].map(value),
            [Some((3, 8, 16)), Some((5, 3, 4)), Some((4, 8, 11))]
        );
        assert_eq!(
            ["links.x.queue", "links.x.queue.policy", "links.x.queue.policy.x"].map(value),
            [Some((6, 1, 6)), Some((6, 16, 23)), Some((6, 21, 22))]
        );
        assert_eq!(
            ["timeline", "timeline[0].at", "timeline[0].rate", "flows"].map(value),
            [Some((7, 3, 11)), Some((8, 6, 7)), Some((7, 1, 13)), None]
        );
    }

    #[test]
    fn syntax_errors_are_listed_with_their_lines() {
        let errors = from_toml("a = \nb = 1\nc = = 2\n", "f.toml").unwrap_err();
        assert_eq!(errors.list.iter().map(Problem::line).collect::<Vec<_>>(), [Some(1), Some(3)]);
        let errors = from_json("{\"a\": 1,\n \"a\": 2}", "f.json").unwrap_err();
        assert_eq!(errors.list[0].line(), Some(2));
        assert!(errors.list[0].message.contains("duplicate key `a`"));
    }

    /// The stack of a test thread is 2 MiB: an unbounded recursion would overflow it.
    #[test]
    fn nesting_without_end_is_refused_not_followed() {
        let many = 50_000;
        let tomls = [
            format!("a = {}", "[".repeat(many)),
            "[".repeat(many),
            format!("a = {}", "{a=".repeat(many)),
            format!("{}a = 1", "a.".repeat(many)),
            format!("[{}a]", "a.".repeat(many)),
            format!("{}1{}", format!("{}a = {{", "a.".repeat(70)).repeat(70), "}".repeat(70)),
        ];
        for text in tomls {
            assert!(!from_toml(&text, "").unwrap_err().list.is_empty());
        }
        for text in ["[".repeat(many), r#"{"a":"#.repeat(many), format!("{}{}", "[".repeat(100), "]".repeat(100))] {
            assert!(!from_json(&text, "").unwrap_err().list.is_empty());
        }
    }
}
