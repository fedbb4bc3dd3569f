//! From a tree of values to typed ones, listing every fault on the way.
//!
//! Where something cannot be read, a placeholder takes its place and the walk goes on: the problems decide in the end.

use crate::problem::{Alike, Problem, Report, listed};
use crate::record::Record;
use crate::tree::Node;
use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator};

/// A type that a scenario can hold.
pub(crate) trait Decode: Sized + Default + JsonSchema {
    /// Reads the node; `None` if it was reported as a problem.
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self>;

    /// What fits here, for messages: "a rate such as ...".
    fn expected() -> String;

    /// The value of a key that was left out; `None` if it must be given.
    fn absent() -> Option<Self> {
        None
    }

    /// The schema of a value that is given.
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Self>()
    }

    /// Whether the value is written by leaving its key out.
    fn is_absent(&self) -> bool {
        false
    }
}

/// Walks the tree, knows where it is and collects problems.
pub(crate) struct Decoder<'a> {
    pub report: Report<'a>,
    path: String,
}

impl<'a> Decoder<'a> {
    pub fn new(report: Report<'a>) -> Decoder<'a> {
        Decoder { report, path: String::new() }
    }

    /// Reports a fault of this place.
    pub fn fault(&mut self, message: impl Into<String>) -> &mut Problem {
        self.report.add(self.path.clone(), message)
    }

    /// Whether nothing wrong was found at this place or inside it.
    pub fn is_sound(&self) -> bool {
        self.report.sound(&self.path)
    }

    /// Reports that this node is nothing that fits.
    pub fn misfit<T: Decode>(&mut self, node: &Node, message: impl Into<String>) -> Option<T> {
        self.fault(message).given(node.to_string()).expected(T::expected());
        None
    }

    /// Reads something inside this place.
    pub fn inside<T>(&mut self, key: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        if !self.path.is_empty() && !key.starts_with('[') {
            self.path.push('.');
        }
        self.path.push_str(key);
        let value = read(self);
        self.path.truncate(length);
        value
    }

    /// Reads something inside this place that is one of many which may be wrong in the same way.
    pub fn among<T>(&mut self, alike: &mut Alike, key: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.report.mark(alike);
        let value = self.inside(key, read);
        self.report.settle(before, alike);
        value
    }

    /// Tells how many of those were not told; `nouns`: what they are.
    pub fn rest(&mut self, alike: &Alike, nouns: &str) -> Option<&mut Problem> {
        alike.rest(self.path.clone(), nouns, &mut self.report)
    }

    /// Reads each entry of a list; `None` if one could not be read. `expected`: what each should be.
    pub fn entries<T>(
        &mut self,
        items: &[Node],
        expected: impl FnOnce() -> String,
        mut read: impl FnMut(&Node, &mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut alike = Alike::default();
        let mut values = Vec::with_capacity(items.len());
        // Every item is read, so that every fault is found.
        for (index, item) in items.iter().enumerate() {
            values.extend(self.among(&mut alike, &format!("[{index}]"), |decoder| read(item, decoder)));
        }
        if let Some(problem) = self.rest(&alike, "entries") {
            problem.expected(expected());
        }
        (values.len() == items.len()).then_some(values)
    }

    /// Reads a table of named keys; those that nobody asked for are reported.
    pub fn record<R: Record + Decode>(&mut self, node: &Node) -> Option<R> {
        let Node::Table(entries) = node else {
            return self.misfit(node, format!("not a table: {}", kind(node)));
        };
        let mut table = Table { entries, known: Vec::new(), knows_all: false };
        let record = R::take(&mut table, self);
        self.unknown_keys(entries.keys().filter(|_| !table.knows_all), &table.known);
        Some(record)
    }

    /// Reports keys of a table that are none of the known.
    pub fn unknown_keys<'k>(&mut self, keys: impl Iterator<Item = &'k String>, known: &[&str]) {
        let mut alike = Alike::default();
        for key in keys.filter(|key| !known.contains(&key.as_str())) {
            self.among(&mut alike, key, |decoder| decoder.unknown("key", key, known));
        }
        if let Some(problem) = self.rest(&alike, "keys") {
            problem.expected(listed(known));
        }
    }

    /// Reports a word of this place that is none of the known.
    pub fn unknown(&mut self, noun: &str, given: &str, known: &[&str]) {
        self.report.unknown(&self.path, noun, given, known.iter().copied());
    }

    /// Reads a table with exactly one key, which says what the value is.
    pub fn variant<'n, T: Decode>(&mut self, node: &'n Node, words: &[&'static str]) -> Option<(&'static str, &'n Node)> {
        let Node::Table(entries) = node else {
            return self.misfit::<T>(node, "this does not fit here").and(None);
        };
        let mut entries = entries.iter();
        let (Some((key, value)), None) = (entries.next(), entries.next()) else {
            return self.misfit::<T>(node, "a table with exactly one key is needed").and(None);
        };
        match words.iter().find(|word| *word == key) {
            Some(word) => Some((word, value)),
            None => {
                self.inside(key, |decoder| decoder.unknown("key", key, words));
                None
            }
        }
    }

    /// Reads a word of a list; `noun` is what the words are.
    pub fn word<'w>(&mut self, node: &Node, noun: &str, words: &[&'w str]) -> Option<&'w str> {
        let Node::Text(given) = node else {
            self.fault(format!("not a {noun}")).given(node.to_string()).expected(listed(words));
            return None;
        };
        let word = words.iter().find(|word| *word == given);
        if word.is_none() {
            self.unknown(noun, given, words);
        }
        word.copied()
    }

    /// Reads a list of exactly two.
    pub fn pair<Q: Decode + PartialOrd + ToString>(&mut self, node: &Node) -> Option<(Q, Q)> {
        let items = if let Node::List(items) = node { items.as_slice() } else { &[] };
        let [low, high] = items else {
            let expected = format!("[lowest, highest], each {}", Q::expected());
            self.fault("not a list of two").given(node.to_string()).expected(expected);
            return None;
        };
        let low = self.inside("[0]", |decoder| Q::decode(low, decoder));
        let high = self.inside("[1]", |decoder| Q::decode(high, decoder));
        let (low, high) = (low?, high?);
        if low > high {
            self.fault("a range with its bounds reversed")
                .given(format!("{} to {}", low.to_string(), high.to_string()))
                .expected("[lowest, highest]");
            return None;
        }
        Some((low, high))
    }
}

/// What a node is, in words.
pub(crate) fn kind(node: &Node) -> &'static str {
    match node {
        Node::Null => "null",
        Node::Boolean(_) => "a truth value",
        Node::Integer(_) | Node::Float(_) => "a number",
        Node::Text(_) => "text",
        Node::Date(_) => "a date or time",
        Node::List(_) => "a list",
        Node::Table(_) => "a table",
    }
}

/// The keys of a table that is being read.
pub(crate) struct Table<'n> {
    entries: &'n IndexMap<String, Node>,
    known: Vec<&'static str>,
    /// No key is called unknown.
    knows_all: bool,
}

impl<'n> Table<'n> {
    pub fn node(&mut self, key: &'static str) -> Option<&'n Node> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        self.entries.get(key)
    }

    /// Calls no key of this table unknown.
    pub fn know_all(&mut self) {
        self.knows_all = true;
    }

    /// The value of a key, its default, or a reported placeholder.
    pub fn field<T: Decode>(&mut self, key: &'static str, default: Option<T>, decoder: &mut Decoder) -> T {
        match self.node(key) {
            Some(node) => decoder.inside(key, |decoder| T::decode(node, decoder)).unwrap_or_default(),
            None => default.or_else(T::absent).unwrap_or_else(|| {
                decoder.inside(key, |decoder| decoder.fault(format!("`{key}` is missing")).expected(T::expected()).line);
                T::default()
            }),
        }
    }
}

impl<T: Decode> Decode for Option<T> {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Option<T>> {
        // What is there and wrong is not the same as what is not there.
        Some(Some(T::decode(node, decoder).unwrap_or_default()))
    }

    fn expected() -> String {
        T::expected()
    }

    fn absent() -> Option<Option<T>> {
        Some(None)
    }

    /// Not nullable: a key without a value is left out.
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        T::schema(generator)
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}
