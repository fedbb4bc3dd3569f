//! TOML and JSON as one tree of values, with the line of each place beside it.

use crate::problem::{Alike, Errors, Report, Source};
use indexmap::IndexMap;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use toml::de::{DeTable, DeValue};

/// A value as it was written, before anybody knows what it should be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Null,
    Boolean(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    /// A TOML date or time: nothing here takes one.
    Date(String),
    List(Vec<Node>),
    /// In the order in which the keys were written.
    Table(IndexMap<String, Node>),
}

/// Deeper nesting than any scenario has; bounds the recursion of everything that walks the tree.
const DEEPEST: usize = 64;

/// Longest text that is read, in bytes.
const LONGEST: usize = 64 << 20;

/// The tree of a TOML text, or what is wrong with its syntax.
pub(crate) fn from_toml(text: &str, file: &str) -> Result<(Node, Source), Errors> {
    let mut source = Source { file: file.into(), lines: BTreeMap::new() };
    check_length(text, file)?;
    let lines = Lines::new(text);
    match DeTable::parse(text) {
        Ok(table) => {
            let mut reader = TomlReader { lines: &lines, found: &mut source.lines, too_deep: None };
            let node = reader.table(table.into_inner(), "", 0);
            match reader.too_deep {
                Some(line) => Err(syntax(file, [(Some(line), TOO_DEEP.to_string())])),
                None => Ok((node, source)),
            }
        }
        Err(first) => {
            // The parser can go on after an error; on a long text of noise that would only list the noise.
            let all = if text.len() < 1 << 20 { DeTable::parse_recoverable(text).1 } else { vec![first] };
            let mut all: Vec<(Option<u32>, String)> =
                all.iter().map(|error| (error.span().map(|span| lines.at(span.start)), error.message().to_string())).collect();
            // One fault of a line often looks like several.
            all.sort_by_key(|(line, _)| *line);
            all.dedup_by_key(|(line, _)| *line);
            Err(syntax(file, all))
        }
    }
}

/// The tree of a JSON text, or what is wrong with its syntax.
pub(crate) fn from_json(text: &str, file: &str) -> Result<(Node, Source), Errors> {
    check_length(text, file)?;
    match serde_json::from_str::<Node>(text) {
        Ok(node) if depth_exceeds(&node, DEEPEST) => Err(syntax(file, [(None, TOO_DEEP.to_string())])),
        Ok(node) => Ok((node, Source { file: file.into(), lines: BTreeMap::new() })),
        Err(error) => {
            let line = u32::try_from(error.line()).ok().filter(|&line| line > 0);
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default().to_string();
            Err(syntax(file, [(line, message)]))
        }
    }
}

const TOO_DEEP: &str = "nested deeper than 64 levels";

fn check_length(text: &str, file: &str) -> Result<(), Errors> {
    if text.len() > LONGEST {
        return Err(Errors::of_file(file, "the text is too long to be a scenario", "at most 64 MiB"));
    }
    Ok(())
}

fn syntax(file: &str, faults: impl IntoIterator<Item = (Option<u32>, String)>) -> Errors {
    let source = Source { file: file.into(), lines: BTreeMap::new() };
    let mut report = Report::new(&source);
    let mut alike = Alike::default();
    for (line, message) in faults {
        report.among(&mut alike, |report| report.add("", format!("this cannot be read: {message}")).line = line);
    }
    if let Some(problem) = alike.rest("", "lines", &mut report) {
        problem.expected("TOML");
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

/// Line numbers of byte offsets.
struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    fn new(text: &str) -> Lines {
        let after_breaks = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n').map(|(index, _)| index + 1);
        Lines { starts: std::iter::once(0).chain(after_breaks).collect() }
    }

    /// Counted from 1.
    fn at(&self, offset: usize) -> u32 {
        self.starts.partition_point(|&start| start <= offset) as u32
    }
}

struct TomlReader<'a> {
    lines: &'a Lines,
    found: &'a mut BTreeMap<String, u32>,
    /// The line where the nesting became too deep.
    too_deep: Option<u32>,
}

impl TomlReader<'_> {
    fn table(&mut self, table: DeTable<'_>, path: &str, depth: usize) -> Node {
        let mut entries = IndexMap::new();
        for (key, value) in table {
            let line = self.lines.at(key.span().start);
            if depth == DEEPEST {
                self.too_deep = Some(line);
                break;
            }
            let key = key.into_inner().into_owned();
            let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let value = self.value(value.into_inner(), &path, depth + 1);
            self.found.insert(path, line);
            entries.insert(key, value);
        }
        Node::Table(entries)
    }

    fn value(&mut self, value: DeValue<'_>, path: &str, depth: usize) -> Node {
        match value {
            DeValue::String(text) => Node::Text(text.into_owned()),
            DeValue::Integer(digits) => match i128::from_str_radix(digits.as_str(), digits.radix()) {
                Ok(number) => Node::Integer(number),
                // As JSON has it: larger than any bound, and only the message shows it.
                Err(_) => float(digits.as_str()),
            },
            DeValue::Float(digits) => float(digits.as_str()),
            DeValue::Boolean(truth) => Node::Boolean(truth),
            DeValue::Datetime(date) => Node::Date(date.to_string()),
            DeValue::Table(table) => self.table(table, path, depth),
            DeValue::Array(items) => {
                let mut nodes = Vec::with_capacity(items.len());
                for (index, item) in items.into_iter().enumerate() {
                    let line = self.lines.at(item.span().start);
                    if depth == DEEPEST {
                        self.too_deep = Some(line);
                        break;
                    }
                    let path = format!("{path}[{index}]");
                    nodes.push(self.value(item.into_inner(), &path, depth + 1));
                    // A list of millions has its line; so has each of the first entries.
                    if index < 1000 {
                        self.found.insert(path, line);
                    }
                }
                Node::List(nodes)
            }
        }
    }
}

fn float(digits: &str) -> Node {
    digits.parse().map_or(Node::Text(digits.into()), Node::Float)
}

/// Where a place such as `flows.web.size`, or the nearest one around it, stands in a TOML text; `None` if it cannot be read.
pub fn line_of(text: &str, at: &str) -> Option<u32> {
    from_toml(text, "").ok()?.1.line(at)
}

/// The values of a TOML text as JSON, in their order; `None` if it cannot be read. Dates are words, and so is what JSON has no number for.
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

/// Own visitor, because `serde_json::Value` would let the last of two equal keys win.
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

/// As it stands in the file, shortened.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toml_and_json_give_the_same_tree() {
        let (toml, source) = from_toml("a = 1\n\n[links.x]\nrate = \"1 Mbps\"\nlist = [1.5,\n  true]\n", "f.toml").unwrap();
        let (json, _) = from_json(r#"{"a": 1, "links": {"x": {"rate": "1 Mbps", "list": [1.5, true]}}}"#, "").unwrap();
        assert_eq!(toml, json);
        assert_eq!(source.lines["links.x.rate"], 4);
        assert_eq!(source.lines["links.x.list[1]"], 6);
    }

    #[test]
    fn a_place_has_the_line_of_the_nearest_one_around_it() {
        let text = "a = 1\n[links.x]\nrate = \"1 Mbps\"\n";
        let lines = ["links.x.rate", "links.x.queue.policy", "links.x.rate[3]", "flows"].map(|at| line_of(text, at));
        assert_eq!(lines, [Some(3), Some(2), Some(3), None]);
        assert_eq!(line_of("= 1", "a"), None);
    }

    #[test]
    fn syntax_errors_are_listed_with_their_lines() {
        let errors = from_toml("a = \nb = 1\nc = = 2\n", "f.toml").unwrap_err();
        assert_eq!(errors.list.iter().map(|problem| problem.line).collect::<Vec<_>>(), [Some(1), Some(3)]);
        let errors = from_json("{\"a\": 1,\n \"a\": 2}", "f.json").unwrap_err();
        assert_eq!(errors.list[0].line, Some(2));
        assert!(errors.list[0].message.contains("duplicate key `a`"));
    }

    /// The stack of a test thread is 2 MiB: an unbounded recursion would overflow it.
    #[test]
    fn nesting_without_end_is_refused_not_followed() {
        let many = 200_000;
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
