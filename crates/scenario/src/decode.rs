//! Decodes a tree of values into types, and collects every error.
//!
//! A value that cannot be decoded is replaced by a placeholder, so that decoding goes on. The scenario is refused in the end.

use crate::misplaced::{lines_for_key, table_for};
use crate::nearest::nearest_word;
use crate::problem::{self, Problem, RepeatedErrors, Report, listed};
use crate::tree::Node;
use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator};

/// A type that a scenario can hold.
pub(crate) trait Decode: Sized + Default + JsonSchema {
    /// Decodes the node; `None` if an error was reported.
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self>;

    /// The valid values, for messages: "a rate such as ...".
    fn expected() -> String;

    /// The value of a key that was left out; `None` if the key is required.
    fn absent() -> Option<Self> {
        None
    }

    /// The schema of a given value.
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Self>()
    }

    /// Whether the normalised form leaves the key out.
    fn is_absent(&self) -> bool {
        false
    }
}

/// Walks the tree with the path of the current node, and collects errors.
pub(crate) struct Decoder<'a> {
    pub report: Report<'a>,
    /// Paths of the values that were read from files.
    pub from_files: Vec<String>,
    path: String,
}

impl<'a> Decoder<'a> {
    pub fn new(report: Report<'a>) -> Decoder<'a> {
        Decoder { report, from_files: Vec::new(), path: String::new() }
    }

    /// The key of this place, in backticks.
    pub fn key(&self) -> String {
        problem::key(&self.path)
    }

    /// Reports an error in this place. The message continues a clause that begins with its key: "is out of range".
    pub fn wrong(&mut self, predicate: impl AsRef<str>) -> &mut Problem {
        let message = format!("{} {}", self.key(), predicate.as_ref());
        self.fault(message)
    }

    /// Reports an error in this place with the whole message.
    pub fn fault(&mut self, message: impl Into<String>) -> &mut Problem {
        self.report.add(self.path.clone(), message)
    }

    /// Notes that the value in this place is the content of a file.
    pub fn note_file(&mut self) {
        self.from_files.push(self.path.clone());
    }

    /// Whether no error was found at this place or inside it.
    pub fn is_valid(&self) -> bool {
        self.report.is_valid(&self.path)
    }

    /// Reports that this node is not valid here; the message as in [`Decoder::wrong`].
    pub fn invalid_value<T: Decode>(&mut self, node: &Node, predicate: impl AsRef<str>) -> Option<T> {
        self.wrong(predicate).given(node.to_string()).expected(T::expected());
        None
    }

    /// Decodes a value inside this place.
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

    /// Decodes one of many values inside this place that may have the same error.
    pub fn among<T>(&mut self, repeated: &mut RepeatedErrors, key: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.report.mark(repeated);
        let value = self.inside(key, read);
        self.report.settle(before, repeated);
        value
    }

    /// Reports how many of those errors were left out; `nouns` names the values.
    pub fn rest(&mut self, repeated: &RepeatedErrors, nouns: &str) -> Option<&mut Problem> {
        repeated.rest(self.path.clone(), nouns, &mut self.report)
    }

    /// Decodes each entry of a list; `None` if one has an error. `expected` describes a valid entry.
    pub fn entries<T>(
        &mut self,
        items: &[Node],
        expected: impl FnOnce() -> String,
        mut read: impl FnMut(&Node, &mut Self) -> Option<T>,
    ) -> Option<Vec<T>> {
        let mut repeated = RepeatedErrors::default();
        let mut values = Vec::with_capacity(items.len());
        // Every item is decoded, so that every error is found.
        for (index, item) in items.iter().enumerate() {
            values.extend(self.among(&mut repeated, &format!("[{index}]"), |decoder| read(item, decoder)));
        }
        if let Some(problem) = self.rest(&repeated, "entries") {
            problem.expected(expected());
        }
        (values.len() == items.len()).then_some(values)
    }

    /// Reports that this place is an unknown key of its table, with this value.
    pub fn unknown_key(&mut self, key: &str, value: &Node, known: &[&str]) {
        self.report.unknown_key(&self.path, key, known).hint_if(lines_for_key(key, value, known));
    }

    /// Reports that this node is not a table.
    pub fn not_a_table(&mut self, node: &Node, expected: impl Into<String>) {
        let hint = table_for(&self.key(), node);
        self.wrong(format!("must be a table, not {}", kind(node))).given(node.to_string()).expected(expected).hint_if(hint);
    }

    /// Reports that the key in this place is not valid.
    pub fn invalid_key(&mut self, message: impl Into<String>) -> &mut Problem {
        self.report.add_key(&self.path, message)
    }

    /// Reports an unknown word in this place.
    pub fn unknown(&mut self, noun: &str, given: &str, known: &[&str]) {
        self.unknown_of_many(noun, given, known.iter().copied());
    }

    /// The same for words that are only collected if the error is shown.
    pub fn unknown_of_many<'w>(&mut self, noun: &str, given: &str, known: impl IntoIterator<Item = &'w str>) {
        self.report.unknown(&self.path, noun, given, known);
    }

    /// Decodes a table with exactly one key, which selects the kind of the value.
    pub fn variant<'n, T: Decode>(&mut self, node: &'n Node, words: &[&'static str]) -> Option<(&'static str, &'n Node)> {
        let Node::Table(entries) = node else {
            return self.invalid_value::<T>(node, format!("cannot be {}", kind(node))).and(None);
        };
        let mut entries = entries.iter();
        let (Some((key, value)), None) = (entries.next(), entries.next()) else {
            return self.invalid_value::<T>(node, "must be a table with exactly one key").and(None);
        };
        match words.iter().find(|word| *word == key) {
            Some(word) => Some((word, value)),
            None => {
                self.inside(key, |decoder| decoder.unknown_key(key, value, words));
                None
            }
        }
    }

    /// Decodes one of several words; `noun` describes them.
    pub fn word<'w>(&mut self, node: &Node, noun: &str, words: &[&'w str]) -> Option<&'w str> {
        let Node::Text(given) = node else {
            self.wrong(format!("is no {noun}")).given(node.to_string()).expected(listed(words));
            return None;
        };
        let word = words.iter().find(|word| *word == given);
        if word.is_none() {
            self.unknown(noun, given, words);
        }
        word.copied()
    }

    /// Decodes a range: a list of exactly two.
    pub fn pair<Q: Decode + PartialOrd + ToString>(&mut self, node: &Node) -> Option<(Q, Q)> {
        let items = if let Node::List(items) = node { items.as_slice() } else { &[] };
        let [low, high] = items else {
            let expected = format!("[lowest, highest], each {}", Q::expected());
            self.wrong("must be a list of two values").given(node.to_string()).expected(expected);
            return None;
        };
        let low = self.inside("[0]", |decoder| Q::decode(low, decoder));
        let high = self.inside("[1]", |decoder| Q::decode(high, decoder));
        let (low, high) = (low?, high?);
        if low > high {
            self.wrong("has its bounds reversed")
                .given(format!("{} to {}", low.to_string(), high.to_string()))
                .expected("[lowest, highest]");
            return None;
        }
        Some((low, high))
    }
}

/// The kind of a node, with an article.
pub(crate) fn kind(node: &Node) -> &'static str {
    match node {
        Node::Null => "null",
        Node::Boolean(_) => "a Boolean",
        Node::Integer(_) | Node::Float(_) => "a number",
        Node::Text(_) => "text",
        Node::Date(_) => "a date or time",
        Node::List(_) => "a list",
        Node::Table(_) => "a table",
    }
}

/// The values of a table with exactly these required keys.
pub(crate) fn entries<'n, const N: usize>(
    node: &'n Node,
    keys: [&'static str; N],
    decoder: &mut Decoder,
) -> Option<[Option<&'n Node>; N]> {
    let expected = format!("a table with `{}`", keys.join("`, `"));
    let Node::Table(entries) = node else {
        decoder.not_a_table(node, expected);
        return None;
    };
    let mut table = Table::new(entries);
    let found = keys.map(|key| {
        let found = table.node(key);
        if found.is_none() {
            table.missing(key, expected.clone());
        }
        found
    });
    table.finish(decoder);
    Some(found)
}

/// The keys of a table that is being decoded.
pub(crate) struct Table<'n> {
    entries: &'n IndexMap<String, Node>,
    known: Vec<&'static str>,
    /// Unknown keys are not reported.
    knows_all: bool,
    /// Required keys without a value, each with its valid values.
    missing: Vec<(&'static str, String)>,
}

impl<'n> Table<'n> {
    pub fn new(entries: &'n IndexMap<String, Node>) -> Table<'n> {
        Table { entries, known: Vec::new(), knows_all: false, missing: Vec::new() }
    }

    /// Reports the keys that were not decoded, and the missing ones unless an unknown key is their misspelling.
    pub fn finish(self, decoder: &mut Decoder) {
        let Table { entries, known, knows_all, missing } = self;
        let is_missing = |word: &str| missing.iter().any(|(key, _)| *key == word);
        let unknown = || entries.keys().filter(|key| !known.contains(&key.as_str()));
        // Unknown keys, each with the absent key that it misspells.
        let misspelt: IndexMap<&String, &str> = unknown()
            .take(RepeatedErrors::REPORTED)
            .filter_map(|key| Some((key, nearest_word(key, &known)?)))
            .filter(|(_, word)| is_missing(word) || !(knows_all || entries.contains_key(*word)))
            .collect();
        for word in misspelt.values() {
            decoder.inside(word, |decoder| decoder.report.invalidate(&decoder.path));
        }
        for (key, expected) in missing.iter().filter(|(key, _)| !misspelt.values().any(|word| word == key)) {
            decoder.inside(key, |decoder| _ = decoder.fault(format!("`{key}` is missing")).expected(expected));
        }
        let mut repeated = RepeatedErrors::default();
        for key in unknown().filter(|key| !knows_all || misspelt.contains_key(key)) {
            decoder.among(&mut repeated, key, |decoder| decoder.unknown_key(key, &entries[key], &known));
        }
        if let Some(problem) = decoder.rest(&repeated, "keys") {
            problem.expected(listed(&known));
        }
    }

    pub fn node(&mut self, key: &'static str) -> Option<&'n Node> {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
        self.entries.get(key)
    }

    /// This table with the settings of an inner one, which was given in place of a word, in TOML. `names` are the valid words.
    pub fn merged(&self, key: &str, inner: &IndexMap<String, Node>, names: &[&str]) -> Option<String> {
        let is_name = |node: &Node| matches!(node, Node::Text(word) if names.contains(&word.as_str()));
        let (tag, word) = inner.iter().find(|(_, node)| is_name(node))?;
        let mut merged = self.entries.clone();
        merged.insert(key.into(), word.clone());
        merged.extend(inner.iter().filter(|(name, _)| *name != tag).map(|(name, node)| (name.clone(), node.clone())));
        Some(Node::Table(merged).to_toml())
    }

    /// Reports no key of this table as unknown.
    pub fn know_all(&mut self) {
        self.knows_all = true;
    }

    /// Reports that a required key is missing, after all keys of the table are known.
    pub fn missing(&mut self, key: &'static str, expected: String) {
        self.missing.push((key, expected));
    }

    /// The value of a key, or its default. A missing required key is reported and gets a placeholder.
    pub fn field<T: Decode>(&mut self, key: &'static str, default: Option<T>, decoder: &mut Decoder) -> T {
        match self.node(key) {
            Some(node) => decoder.inside(key, |decoder| T::decode(node, decoder)).unwrap_or_default(),
            None => default.or_else(T::absent).unwrap_or_else(|| {
                self.missing(key, T::expected());
                T::default()
            }),
        }
    }
}

impl<T: Decode> Decode for Option<T> {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Option<T>> {
        // A value with an error is not absent.
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
