//! From a tree of values to typed records, listing every fault on the way.
//!
//! The `record!` macro makes a struct together with its reading, writing and JSON Schema, so that a table's keys, defaults and
//! descriptions stand in one place. `tagged!` does the same for tables that one of their words tells apart, `words!` for plain
//! words. Where something cannot be read, a placeholder takes its place and the walk goes on: the problems decide in the end.

use crate::problem::{Problem, Report, listed};
use crate::tree::Node;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

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

/// A type that is read from the keys of a table, alone or beside others.
pub(crate) trait Record: Sized + Default {
    fn take(table: &mut Table, decoder: &mut Decoder) -> Self;

    /// The tables that fit: one for a record, one per word for a tagged choice.
    fn shapes(generator: &mut SchemaGenerator) -> Vec<Shape>;
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

    /// Reads a table of named keys; those that nobody asked for are reported.
    pub fn record<R: Record + Decode>(&mut self, node: &Node) -> Option<R> {
        let Node::Table(entries) = node else {
            return self.misfit(node, format!("not a table: {}", kind(node)));
        };
        let mut table = Table { entries, known: Vec::new() };
        let record = R::take(&mut table, self);
        self.unknown_keys(&table);
        Some(record)
    }

    fn unknown_keys(&mut self, table: &Table) {
        for key in table.entries.keys().filter(|key| !table.known.contains(&key.as_str())) {
            self.inside(key, |decoder| {
                decoder.fault(format!("unknown key `{key}`")).one_of(key, table.known.iter().copied()).line
            });
        }
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
                self.inside(key, |decoder| decoder.fault(format!("unknown key `{key}`")).one_of(key, words.iter().copied()).line);
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
            self.fault(format!("unknown {noun} `{}`", given.escape_debug())).one_of(given, words.iter().copied());
        }
        word.copied()
    }

    /// Reads a list of exactly two.
    pub fn pair<Q: Decode + PartialOrd + ToString>(&mut self, node: &Node) -> Option<(Q, Q)> {
        let Node::List(items) = node else {
            self.fault("not a list of two")
                .given(node.to_string())
                .expected(format!("[lowest, highest], each {}", Q::expected()));
            return None;
        };
        let [low, high] = items.as_slice() else {
            self.fault("not a list of two")
                .given(node.to_string())
                .expected(format!("[lowest, highest], each {}", Q::expected()));
            return None;
        };
        let low = self.inside("[0]", |decoder| Q::decode(low, decoder));
        let high = self.inside("[1]", |decoder| Q::decode(high, decoder));
        let (low, high) = (low?, high?);
        if low > high {
            self.fault("a range upside down")
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
    entries: &'n BTreeMap<String, Node>,
    known: Vec<&'static str>,
}

impl<'n> Table<'n> {
    pub fn node(&mut self, key: &'static str) -> Option<&'n Node> {
        self.known.push(key);
        self.entries.get(key)
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

/// One table that fits, for the JSON Schema.
#[derive(Default)]
pub(crate) struct Shape {
    properties: Map<String, Value>,
    required: Vec<String>,
}

impl Shape {
    /// Adds a key with its description and, unless it must be given, its default.
    pub fn key<T: Decode + serde::Serialize>(
        &mut self,
        generator: &mut SchemaGenerator,
        name: &str,
        lines: &[&str],
        default: Option<T>,
    ) {
        let mut property = T::schema(generator);
        property.insert("description".into(), prose(lines).into());
        match default {
            Some(value) => {
                property.insert("default".into(), serde_json::to_value(value).unwrap_or(Value::Null));
            }
            None if T::absent().is_none() => self.required.push(name.into()),
            None => {}
        }
        self.properties.insert(name.into(), property.to_value());
    }

    /// Adds the word that tells tables apart.
    pub fn tag(mut self, name: &str, word: &str, lines: &[&str], default: bool) -> Shape {
        self.properties.insert(name.into(), json!({"const": word, "description": prose(lines)}));
        if !default {
            self.required.push(name.into());
        }
        self
    }

    pub fn join(mut self, other: &Shape) -> Shape {
        self.properties.extend(other.properties.clone());
        self.required.extend(other.required.iter().cloned());
        self
    }

    fn schema(self) -> Value {
        json!({"type": "object", "properties": self.properties, "required": self.required, "additionalProperties": false})
    }
}

/// The schema of a record.
pub(crate) fn record_schema<R: Record>(lines: &[&str], generator: &mut SchemaGenerator) -> Schema {
    let mut schemas: Vec<Value> = R::shapes(generator).into_iter().map(Shape::schema).collect();
    let mut schema = match schemas.len() {
        1 => schemas.remove(0),
        _ => json!({"oneOf": schemas}),
    };
    schema["description"] = prose(lines).into();
    schema.try_into().unwrap_or_default()
}

/// Comment lines as a description.
pub(crate) fn prose(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// A struct, its reading, its writing and its schema. `= default` makes a key optional, and so does `Option`; a part after `with`
/// is a tagged choice whose keys stand in the same table.
macro_rules! record {
    (
        $(#[doc = $doc:literal])*
        pub struct $name:ident {
            $($(#[doc = $field_doc:literal])* $field:ident: $type:ty $(= $default:expr)?,)*
        }
        $(with $(#[doc = $part_doc:literal])* $part:ident: $part_type:ty)?
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
        pub struct $name {
            $(
                $(#[doc = $field_doc])*
                #[serde(skip_serializing_if = "crate::decode::Decode::is_absent")]
                pub $field: $type,
            )*
            $($(#[doc = $part_doc])* #[serde(flatten)] pub $part: $part_type,)?
        }

        impl crate::decode::Record for $name {
            #[allow(unused_variables, reason = "a record without keys reads nothing")]
            fn take(table: &mut crate::decode::Table, decoder: &mut crate::decode::Decoder) -> $name {
                $name {
                    $($field: table.field(stringify!($field), crate::decode::default_of!($($default)?), decoder),)*
                    $($part: crate::decode::Record::take(table, decoder),)?
                }
            }

            #[allow(unused_variables, unused_mut, reason = "a record without keys has an empty shape")]
            fn shapes(generator: &mut schemars::SchemaGenerator) -> Vec<crate::decode::Shape> {
                let mut shape = crate::decode::Shape::default();
                $(
                    let default: Option<$type> = crate::decode::default_of!($($default)?);
                    shape.key(generator, stringify!($field), &[$($field_doc),*], default);
                )*
                $(
                    if true {
                        let parts = <$part_type as crate::decode::Record>::shapes(generator);
                        return parts.into_iter().map(|part| part.join(&shape)).collect();
                    }
                )?
                vec![shape]
            }
        }

        crate::decode::table!($name, $($doc),*);
    };
}

/// An enum of records, told apart by a word under the key `by`; a word after `=` is the default. Each word is one line.
macro_rules! tagged {
    (
        $(#[doc = $doc:literal])*
        pub enum $name:ident ($noun:literal) by $tag:literal $(= $default:literal)? {
            $($word:literal => $variant:ident,)+
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize)]
        #[serde(tag = $tag)]
        pub enum $name {
            $(#[serde(rename = $word)] $variant($variant),)+
        }

        impl Default for $name {
            fn default() -> $name {
                let first = [$(|| $name::$variant($variant::default())),+][0];
                first()
            }
        }

        impl crate::decode::Record for $name {
            fn take(table: &mut crate::decode::Table, decoder: &mut crate::decode::Decoder) -> $name {
                let words = [$($word),+];
                let default: Option<&str> = crate::decode::default_of!($($default)?);
                let word = match table.node($tag) {
                    Some(node) => decoder.inside($tag, |decoder| decoder.word(node, $noun, &words)),
                    None => default.or_else(|| {
                        let expected = crate::problem::listed(&words);
                        decoder.inside($tag, |decoder| decoder.fault(concat!("`", $tag, "` is missing")).expected(expected).line);
                        None
                    }),
                };
                match word {
                    $(Some($word) => $name::$variant(crate::decode::Record::take(table, decoder)),)+
                    _ => {
                        // Which keys belong here is not known: none is called unknown.
                        table.know_all();
                        $name::default()
                    }
                }
            }

            fn shapes(generator: &mut schemars::SchemaGenerator) -> Vec<crate::decode::Shape> {
                let default: Option<&str> = crate::decode::default_of!($($default)?);
                [$(($word, <$variant as crate::decode::Record>::shapes(generator))),+]
                    .into_iter()
                    .flat_map(|(word, shapes)| shapes.into_iter().map(move |shape| (word, shape)))
                    .map(|(word, shape)| shape.tag($tag, word, &[$($doc),*], default == Some(word)))
                    .collect()
            }
        }
    };
}

/// Reading and schema of a type that is a table of its own.
macro_rules! table {
    ($name:ident, $($doc:literal),*) => {
        impl crate::decode::Decode for $name {
            fn decode(node: &crate::tree::Node, decoder: &mut crate::decode::Decoder) -> Option<$name> {
                decoder.record(node)
            }

            fn expected() -> String {
                use crate::decode::Record as _;
                let shapes = $name::shapes(&mut schemars::SchemaGenerator::default());
                crate::decode::keys(&shapes)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                crate::decode::record_schema::<$name>(&[$($doc),*], generator)
            }
        }
    };
}

/// An enum of plain words; the first is the default of a field that has none of its own.
macro_rules! words {
    (
        $(#[doc = $doc:literal])*
        pub enum $name:ident ($noun:literal) {
            $($(#[doc = $word_doc:literal])* $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
        pub enum $name {
            $($(#[doc = $word_doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            pub const WORDS: &'static [&'static str] = &[$($word),+];
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// As a scenario writes it.
            pub fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word),+
                }
            }
        }

        impl Default for $name {
            fn default() -> $name {
                $name::ALL[0]
            }
        }

        impl crate::decode::Decode for $name {
            fn decode(node: &crate::tree::Node, decoder: &mut crate::decode::Decoder) -> Option<$name> {
                let word = decoder.word(node, $noun, $name::WORDS)?;
                $name::WORDS.iter().position(|known| *known == word).map(|index| $name::ALL[index])
            }

            fn expected() -> String {
                crate::problem::listed($name::WORDS)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({"description": crate::decode::prose(&[$($doc),*]), "enum": $name::WORDS})
            }
        }
    };
}

macro_rules! default_of {
    () => {
        None
    };
    ($default:expr) => {
        Some($default)
    };
}

pub(crate) use {default_of, record, table, tagged, words};

impl Table<'_> {
    /// Calls no key of this table unknown.
    pub fn know_all(&mut self) {
        self.entries = const { &BTreeMap::new() };
    }
}

/// "a table with `rate`, `delay` (and `queue`)": keys that must be given, then those that may.
pub(crate) fn keys(shapes: &[Shape]) -> String {
    let Some(shape) = shapes.first() else { return "a table".into() };
    let (needed, others): (Vec<&String>, Vec<&String>) = shape.properties.keys().partition(|key| shape.required.contains(key));
    let quoted = |keys: Vec<&String>| keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
    match (needed.is_empty(), others.is_empty()) {
        (true, true) => "a table".into(),
        (false, true) => format!("a table with {}", quoted(needed)),
        (true, false) => format!("a table with any of {}", quoted(others)),
        (false, false) => format!("a table with {} and any of {}", quoted(needed), quoted(others)),
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

impl Decode for bool {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<bool> {
        match node {
            Node::Boolean(truth) => Some(*truth),
            _ => decoder.misfit(node, format!("not a truth value: {}", kind(node))),
        }
    }

    fn expected() -> String {
        "true or false".into()
    }
}

/// Free text, in a scenario's name.
impl Decode for String {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<String> {
        match node {
            Node::Text(text) => Some(text.clone()),
            _ => decoder.misfit(node, format!("not text: {}", kind(node))),
        }
    }

    fn expected() -> String {
        "text".into()
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Vec<T>> {
        let Node::List(items) = node else {
            return decoder.misfit(node, format!("not a list: {}", kind(node)));
        };
        let read = |(index, item)| decoder.inside(&format!("[{index}]"), |decoder| T::decode(item, decoder));
        // Every item is read, so that every fault is found.
        let items: Vec<Option<T>> = items.iter().enumerate().map(read).collect();
        items.into_iter().collect()
    }

    fn expected() -> String {
        format!("a list, each entry {}", T::expected())
    }
}

/// A table whose keys are names that the scenario gives.
impl<T: Decode> Decode for BTreeMap<Name, T> {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<BTreeMap<Name, T>> {
        let Node::Table(entries) = node else {
            return decoder.misfit(node, format!("not a table: {}", kind(node)));
        };
        let mut named = BTreeMap::new();
        for (key, value) in entries {
            decoder.inside(key, |decoder| {
                let name = Name::read(key, decoder);
                let value = T::decode(value, decoder).unwrap_or_default();
                named.extend(name.map(|name| (name, value)));
            });
        }
        Some(named)
    }

    fn expected() -> String {
        "a table of names".into()
    }
}

/// The name of a node, link or flow group: letters, digits, `_` and `-`, so that dotted paths stay readable.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(transparent)]
pub struct Name(String);

/// Also the pattern of the JSON Schema.
const NAME_PATTERN: &str = "^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$";

impl Name {
    /// A name that the program itself makes.
    pub(crate) fn made(name: impl Into<String>) -> Name {
        Name(name.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn read(text: &str, decoder: &mut Decoder) -> Option<Name> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if !text.is_empty() && text.len() <= 64 && text.bytes().all(plain) && !text.starts_with('-') {
            return Some(Name(text.into()));
        }
        decoder.misfit(&Node::Text(text.into()), "not a name")
    }
}

impl std::borrow::Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

impl Decode for Name {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Name> {
        match node {
            Node::Text(text) => Name::read(text, decoder),
            _ => decoder.misfit(node, format!("not a name: {}", kind(node))),
        }
    }

    fn expected() -> String {
        "a name of at most 64 letters, digits, `_` and `-`".into()
    }
}

impl JsonSchema for Name {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Name".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"type": "string", "pattern": NAME_PATTERN})
    }
}

/// Reads a number within bounds.
pub(crate) fn real(node: &Node, bounds: RangeInclusive<f64>, expected: &str, decoder: &mut Decoder) -> Option<f64> {
    let number = match node {
        Node::Integer(number) => *number as f64,
        Node::Float(number) => *number,
        _ => {
            decoder.fault(format!("not a number: {}", kind(node))).given(node.to_string()).expected(expected);
            return None;
        }
    };
    if bounds.contains(&number) {
        return Some(number);
    }
    decoder.fault("a number out of range").given(node.to_string()).expected(expected);
    None
}

/// A whole number from `LOW` to `HIGH`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(transparent)]
pub struct Whole<const LOW: u64, const HIGH: u64>(pub u64);

impl<const LOW: u64, const HIGH: u64> Default for Whole<LOW, HIGH> {
    fn default() -> Self {
        Whole(LOW)
    }
}

impl<const LOW: u64, const HIGH: u64> Decode for Whole<LOW, HIGH> {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        match node {
            Node::Integer(number) => match u64::try_from(*number) {
                Ok(number) if (LOW..=HIGH).contains(&number) => Some(Whole(number)),
                _ => decoder.misfit(node, "a number out of range"),
            },
            _ => decoder.misfit(node, "not a whole number"),
        }
    }

    fn expected() -> String {
        format!("a whole number from {LOW} to {HIGH}")
    }
}

impl<const LOW: u64, const HIGH: u64> JsonSchema for Whole<LOW, HIGH> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Whole{LOW}To{HIGH}").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"type": "integer", "minimum": LOW, "maximum": HIGH})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Errors, Source};

    record! {
        /// A thing.
        pub struct Thing {
            /// How many.
            count: Whole<1, 9>,
            /// Whether it is on.
            on: bool = true,
            /// What it is called.
            name: Option<Name>,
        }
        with
        /// What moves it.
        motor: Motor
    }

    tagged! {
        /// Its motor.
        pub enum Motor ("motor") by "motor" = "none" {
            "none" => Still,
            "steam" => Steam,
        }
    }

    record! {
        /// No motor.
        pub struct Still {}
    }

    record! {
        /// A steam engine.
        pub struct Steam {
            /// Its boilers.
            boilers: Whole<1, 3>,
        }
    }

    fn read(json: &str) -> (Option<Thing>, Errors) {
        let (node, source) = crate::tree::from_json(json, "").unwrap();
        let mut decoder = Decoder::new(Report::new(&source));
        let thing = Thing::decode(&node, &mut decoder);
        (thing, decoder.report.finish())
    }

    #[test]
    fn defaults_and_choices_are_read_and_written() {
        let (thing, errors) = read(r#"{"count": 3, "motor": "steam", "boilers": 2}"#);
        assert!(errors.list.is_empty());
        assert_eq!(serde_json::to_string(&thing).unwrap(), r#"{"count":3,"on":true,"motor":"steam","boilers":2}"#);
    }

    #[test]
    fn every_fault_of_a_table_is_found_in_one_pass() {
        let (_, errors) = read(r#"{"on": 1, "boilers": 2, "naem": "x"}"#);
        let found: Vec<_> = errors.list.iter().map(|problem| (problem.at.as_str(), problem.message.as_str())).collect();
        assert_eq!(
            found,
            [
                ("count", "`count` is missing"),
                ("on", "not a truth value: a number"),
                ("boilers", "unknown key `boilers`"),
                ("naem", "unknown key `naem`"),
            ]
        );
        assert_eq!(errors.list[3].hint.as_deref(), Some("did you mean `name`?"));
    }

    #[test]
    fn an_unknown_word_does_not_make_its_neighbours_unknown() {
        let (_, errors) = read(r#"{"count": 3, "motor": "staem", "boilers": 2}"#);
        assert_eq!(errors.list.len(), 1);
        assert_eq!(errors.list[0].message, "unknown motor `staem`");
        assert_eq!(errors.list[0].hint.as_deref(), Some("did you mean `steam`?"));
    }

    #[test]
    fn the_schema_has_one_shape_per_word() {
        let schema = SchemaGenerator::default().into_root_schema_for::<Thing>().to_value();
        assert_eq!(schema["oneOf"][0]["required"], json!(["count"]));
        assert_eq!(schema["oneOf"][1]["required"], json!(["boilers", "motor", "count"]));
        assert_eq!(schema["oneOf"][1]["additionalProperties"], json!(false));
        assert_eq!(schema["oneOf"][0]["properties"]["on"]["default"], json!(true));
    }

    #[test]
    fn names_are_plain_words() {
        for bad in ["", "a.b", "-x", "ä", "a b", &"x".repeat(65)] {
            let source = Source::default();
            let mut decoder = Decoder::new(Report::new(&source));
            assert_eq!(Name::read(bad, &mut decoder), None, "{bad}");
        }
    }
}
