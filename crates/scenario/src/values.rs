//! Plain values: Booleans, text, lists, names and numbers.

use crate::decode::{Decode, Decoder, kind};
use crate::problem::listed;
use crate::tree::Node;
use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use tailback_core::settings::PlainWords;

impl Decode for bool {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<bool> {
        match node {
            Node::Boolean(truth) => Some(*truth),
            _ => decoder.invalid_value(node, format!("must be true or false, not {}", kind(node))),
        }
    }

    fn expected() -> String {
        "true or false".into()
    }
}

/// One of the words that the core declares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Word<W>(pub W);

impl<W: PlainWords> Default for Word<W> {
    fn default() -> Word<W> {
        Word(W::ALL[0])
    }
}

impl<W: PlainWords> Decode for Word<W> {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Word<W>> {
        let word = decoder.word(node, W::WORDS.noun, &words_of::<W>())?;
        W::ALL.iter().copied().find(|known| known.word() == word).map(Word)
    }

    fn expected() -> String {
        listed(&words_of::<W>())
    }
}

impl<W: PlainWords> Serialize for Word<W> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.word())
    }
}

impl<W: PlainWords> JsonSchema for Word<W> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        W::WORDS.name.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"description": W::WORDS.summary, "enum": words_of::<W>()})
    }
}

fn words_of<W: PlainWords>() -> Vec<&'static str> {
    W::WORDS.words.iter().map(|(word, _)| *word).collect()
}

/// Free text, in a scenario's name.
impl Decode for String {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<String> {
        match node {
            Node::Text(text) => Some(text.clone()),
            _ => decoder.invalid_value(node, format!("must be text, not {}", kind(node))),
        }
    }

    fn expected() -> String {
        "text".into()
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Vec<T>> {
        let Node::List(items) = node else {
            return decoder.invalid_value(node, format!("must be a list, not {}", kind(node)));
        };
        decoder.entries(items, T::expected, T::decode)
    }

    fn expected() -> String {
        format!("a list, each entry {}", T::expected())
    }
}

/// A table of entries by name, in the order of the names.
impl<T: Decode> Decode for BTreeMap<Name, T> {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<BTreeMap<Name, T>> {
        Some(IndexMap::decode(node, decoder)?.into_iter().collect())
    }

    fn expected() -> String {
        IndexMap::<Name, T>::expected()
    }
}

/// A table of entries by name, in the order of the scenario.
impl<T: Decode> Decode for IndexMap<Name, T> {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<IndexMap<Name, T>> {
        let Node::Table(entries) = node else {
            decoder.not_a_table(node, Self::expected());
            return None;
        };
        let mut named = IndexMap::new();
        for (key, value) in entries {
            decoder.inside(key, |decoder| {
                let name = Name::of_key(key, decoder);
                let value = T::decode(value, decoder).unwrap_or_default();
                named.extend(name.map(|name| (name, value)));
            });
        }
        Some(named)
    }

    fn expected() -> String {
        "a table with one entry per name".into()
    }
}

/// A finite number without a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
#[serde(transparent)]
pub struct Number(pub f64);

impl Decode for Number {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Number> {
        real(node, f64::MIN..=f64::MAX, &Number::expected(), decoder).map(Number)
    }

    fn expected() -> String {
        "a finite number".into()
    }
}

impl JsonSchema for Number {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Number".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"type": "number"})
    }
}

/// The name of a node, link or flow group: letters, digits, `_` and `-`, so that dotted paths stay readable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(transparent)]
pub struct Name(String);

/// Pattern of names in the JSON Schema.
pub(crate) const NAME_PATTERN: &str = "^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$";

impl Name {
    /// A name that the program generates.
    pub(crate) fn made(name: impl Into<String>) -> Name {
        Name(name.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name, if the text is one.
    pub(crate) fn of(text: &str) -> Option<Name> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        let is_name = !text.is_empty() && text.len() <= 64 && text.bytes().all(plain) && !text.starts_with('-');
        is_name.then(|| Name(text.into()))
    }

    /// The name that a key of a table is; otherwise an error is reported.
    fn of_key(key: &str, decoder: &mut Decoder) -> Option<Name> {
        let name = Name::of(key);
        if name.is_none() {
            let problem = decoder.invalid_key(format!("`{}` is not a valid name", key.escape_debug()));
            problem.given(Node::Text(key.into()).to_string()).expected(Name::expected());
        }
        name
    }

    fn read(text: &str, decoder: &mut Decoder) -> Option<Name> {
        Name::of(text).or_else(|| decoder.invalid_value(&Node::Text(text.into()), "is not a valid name"))
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
            _ => decoder.invalid_value(node, format!("must be a name, not {}", kind(node))),
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

/// Decodes a number within bounds.
pub(crate) fn real(node: &Node, bounds: RangeInclusive<f64>, expected: &str, decoder: &mut Decoder) -> Option<f64> {
    let number = match node {
        Node::Integer(number) => *number as f64,
        Node::Float(number) => *number,
        _ => {
            decoder.wrong(format!("must be a number, not {}", kind(node))).given(node.to_string()).expected(expected);
            return None;
        }
    };
    if bounds.contains(&number) {
        return Some(number);
    }
    decoder.wrong("is out of range").given(node.to_string()).expected(expected);
    None
}

/// Decodes a whole number within bounds.
pub(crate) fn whole(node: &Node, bounds: RangeInclusive<u64>, decoder: &mut Decoder) -> Option<u64> {
    let predicate = match node {
        Node::Integer(number) => match u64::try_from(*number) {
            Ok(number) if bounds.contains(&number) => return Some(number),
            _ => "is out of range",
        },
        Node::Float(number) if number.fract() == 0.0 && !(*bounds.start() as f64..=*bounds.end() as f64).contains(number) => {
            "is out of range"
        }
        _ => "is not a whole number",
    };
    let expected = format!("a whole number from {} to {}", bounds.start(), bounds.end());
    decoder.wrong(predicate).given(node.to_string()).expected(expected);
    None
}

/// A whole number from `LOW` to `HIGH`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(transparent)]
pub struct Integer<const LOW: u64, const HIGH: u64>(pub u64);

impl<const LOW: u64, const HIGH: u64> Default for Integer<LOW, HIGH> {
    fn default() -> Self {
        Integer(LOW)
    }
}

impl<const LOW: u64, const HIGH: u64> Decode for Integer<LOW, HIGH> {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        whole(node, LOW..=HIGH, decoder).map(Integer)
    }

    fn expected() -> String {
        format!("a whole number from {LOW} to {HIGH}")
    }
}

impl<const LOW: u64, const HIGH: u64> JsonSchema for Integer<LOW, HIGH> {
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

/// A flow of a group, counted from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(transparent)]
pub struct FlowIndex(Integer<0, 3_999_999>);

impl FlowIndex {
    pub fn number(self) -> u64 {
        self.0.0
    }
}

impl Decode for FlowIndex {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<FlowIndex> {
        if matches!(node, Node::Text(_)) {
            let problem = decoder.wrong("is not the number of a flow").given(node.to_string()).expected(FlowIndex::expected());
            problem.hint("to name a flow group, use the key `group`");
            return None;
        }
        Integer::decode(node, decoder).map(FlowIndex)
    }

    fn expected() -> String {
        Integer::<0, 3_999_999>::expected()
    }
}

impl JsonSchema for FlowIndex {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "FlowIndex".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Integer::<0, 3_999_999>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::location::Source;
    use crate::problem::Report;

    #[test]
    fn names_are_plain_words() {
        for bad in ["", "a.b", "-x", "ä", "a b", &"x".repeat(65)] {
            let source = Source::default();
            let mut decoder = Decoder::new(Report::new(&source));
            assert_eq!(Name::read(bad, &mut decoder), None, "{bad}");
        }
    }
}
