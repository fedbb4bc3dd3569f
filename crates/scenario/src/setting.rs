//! Settings that the core declares: their decoding, notation and JSON Schema, by kind.

use crate::decode::{Decode, Decoder, Table};
use crate::probability::Probability;
use crate::problem::listed;
use crate::quantity::{Duration, Rate, Size};
use crate::record::{Shape, defined};
use crate::segments::Segments;
use crate::threshold::{Threshold, ThresholdUnits};
use crate::tree::Node;
use crate::values::{real, whole};
use crate::window_size::WindowSize;
use schemars::{Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value as Json, json};
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use tailback_core::primitives::units;
use tailback_core::settings::{Kind, Setting, Value, Words};

/// The word for no value.
pub(crate) const NONE: &str = "none";

/// A setting as in a scenario: a value of the core, or one that depends on other parts of the scenario.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SettingText {
    Value(Value),
    /// Relative to the buffer.
    Threshold(ThresholdUnits, Threshold),
    /// Relative to the segment size.
    WindowBytes(Size),
}

/// Notation of the values of a kind.
pub(crate) trait Notation {
    fn decode(&self, node: &Node, decoder: &mut Decoder) -> Option<SettingText>;
    /// Valid values, for messages.
    fn expected(&self) -> String;
    fn schema(&self, generator: &mut SchemaGenerator) -> Schema;
    /// A value as in a scenario.
    fn json(&self, value: Value) -> Json;
    /// Placeholder for a value with an error.
    fn placeholder(&self) -> Value;

    /// A value of the core.
    fn text(&self, value: Value) -> SettingText {
        SettingText::Value(value)
    }

    /// Both ends of the range, each with its adjacent value.
    fn ends(&self) -> Vec<[Value; 2]> {
        Vec::new()
    }
}

pub(crate) fn notation(kind: &'static Kind) -> Box<dyn Notation> {
    match kind {
        Kind::Boolean => Box::new(Plain::<bool>(PhantomData)),
        Kind::Probability => Box::new(Plain::<Probability>(PhantomData)),
        Kind::Rate => Box::new(Plain::<Rate>(PhantomData)),
        Kind::SegmentsOrUnlimited => Box::new(Plain::<Segments>(PhantomData)),
        Kind::Duration { min } => Box::new(DurationFrom(Duration::new(min.0))),
        Kind::Bytes { min, max } => Box::new(Bytes(Size::new(*min)..=Size::new(*max))),
        Kind::Integer { min, max } => Box::new(Whole(*min..=*max)),
        Kind::Segments { min, max } => Box::new(Real { noun: "a number of segments", range: *min..=*max }),
        Kind::Number { min, max } => Box::new(Real { noun: "a number", range: *min..=*max }),
        Kind::Cells { or_none: true } => Box::new(ThresholdUnits::CellsOrNone),
        Kind::Cells { or_none: false } => Box::new(ThresholdUnits::Cells),
        Kind::QueueLength => Box::new(ThresholdUnits::OfBuffer),
        Kind::SegmentsOrBytes => Box::new(WindowNotation),
        Kind::IntegerOrFalse { name, noun, min, max } => Box::new(WholeOrFalse { name, noun, range: *min..=*max }),
        Kind::Words(words) => Box::new(*words),
    }
}

/// The default of a setting; `None` if it is required.
pub(crate) fn default_of(setting: &'static Setting) -> Option<SettingText> {
    setting.default.map(|default| notation(&setting.kind).text(default()))
}

/// Placeholder for a setting with an error.
pub(crate) fn placeholder(setting: &'static Setting) -> SettingText {
    SettingText::Value(notation(&setting.kind).placeholder())
}

/// Decodes a setting if the table has it. An error is reported and gives a placeholder.
pub(crate) fn take(setting: &'static Setting, table: &mut Table, decoder: &mut Decoder) -> Option<SettingText> {
    let node = table.node(setting.key)?;
    let decoded = decoder.inside(setting.key, |decoder| notation(&setting.kind).decode(node, decoder));
    Some(decoded.unwrap_or(placeholder(setting)))
}

/// A setting as in the normalised form; null if it has no value.
pub(crate) fn json(setting: &'static Setting, text: SettingText) -> Json {
    match text {
        SettingText::Value(value) => notation(&setting.kind).json(value),
        SettingText::Threshold(_, threshold) => threshold.to_string().into(),
        SettingText::WindowBytes(size) => size.to_string().into(),
    }
}

/// A setting for messages.
pub(crate) fn shown(setting: &'static Setting, text: SettingText) -> String {
    match json(setting, text) {
        Json::Null => NONE.into(),
        Json::String(text) => text,
        Json::Number(number) if number.is_f64() => number.as_f64().unwrap_or_default().to_string(),
        other => other.to_string(),
    }
}

/// Adds the schema of a setting.
pub(crate) fn describe(
    setting: &'static Setting,
    help: &str,
    default: Option<Json>,
    shape: &mut Shape,
    generator: &mut SchemaGenerator,
) {
    let first = setting.first.map(|first| serde_json::from_str(first).unwrap_or(first.into()));
    shape.property(setting.key, notation(&setting.kind).schema(generator), help, default, first);
}

/// A type of a scenario for a kind of the core.
trait CoreValue: Decode + Serialize {
    /// Bounds that a member may refuse.
    const RANGE: Option<RangeInclusive<f64>> = None;

    fn value(self) -> Value;
    fn of(value: Value) -> Option<Self>;
}

/// Any value of a type.
struct Plain<Q>(PhantomData<Q>);

impl<Q: CoreValue> Notation for Plain<Q> {
    fn decode(&self, node: &Node, decoder: &mut Decoder) -> Option<SettingText> {
        Q::decode(node, decoder).map(|quantity| SettingText::Value(quantity.value()))
    }

    fn expected(&self) -> String {
        Q::expected()
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        Q::schema(generator)
    }

    fn json(&self, value: Value) -> Json {
        serde_json::to_value(Q::of(value)).unwrap_or_default()
    }

    fn placeholder(&self) -> Value {
        Q::default().value()
    }

    fn ends(&self) -> Vec<[Value; 2]> {
        Q::RANGE.map(ends_of).unwrap_or_default()
    }
}

macro_rules! core_value {
    ($type:ty, $variant:ident($inner:pat) => $of:expr, $value:expr) => {
        impl CoreValue for $type {
            fn value(self) -> Value {
                Value::$variant($value(self))
            }

            fn of(value: Value) -> Option<$type> {
                if let Value::$variant($inner) = value { Some($of) } else { None }
            }
        }
    };
}

core_value!(bool, Boolean(truth) => truth, |truth| truth);
core_value!(Rate, Rate(rate) => Rate::new(rate.0), Rate::rate);
core_value!(Duration, Duration(span) => Duration::new(span.0), Duration::time_delta);
core_value!(Size, Integer(bytes) => Size::new(bytes), Size::bytes);

impl CoreValue for Probability {
    const RANGE: Option<RangeInclusive<f64>> = Some(0.0..=1.0);

    fn value(self) -> Value {
        Value::Number(self.0)
    }

    fn of(value: Value) -> Option<Probability> {
        if let Value::Number(share) = value { Some(Probability(share)) } else { None }
    }
}

impl CoreValue for Segments {
    fn value(self) -> Value {
        Value::Number(self.count())
    }

    fn of(value: Value) -> Option<Segments> {
        match value {
            Value::Number(count) => Some(Segments::of(count)),
            Value::Integer(count) if count == u64::from(units::Segments::UNLIMITED.0) => Some(Segments::Unlimited),
            Value::Integer(count) => Some(Segments::of(count as f64)),
            _ => None,
        }
    }
}

/// A duration of at least this length.
struct DurationFrom(Duration);

impl Notation for DurationFrom {
    fn decode(&self, node: &Node, decoder: &mut Decoder) -> Option<SettingText> {
        let duration = Duration::decode(node, decoder)?;
        if duration < self.0 {
            let (predicate, expected) = match self.0.time_delta().0 {
                1 => ("is zero", "more than 0 ms".into()),
                _ => ("is too short", format!("at least {}", self.0)),
            };
            decoder.wrong(predicate).given(duration.to_string()).expected(expected);
            return None;
        }
        Some(SettingText::Value(duration.value()))
    }

    fn expected(&self) -> String {
        Duration::expected()
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        Duration::schema(generator)
    }

    fn json(&self, value: Value) -> Json {
        Plain::<Duration>(PhantomData).json(value)
    }

    fn placeholder(&self) -> Value {
        self.0.value()
    }
}

/// A number of bytes.
struct Bytes(RangeInclusive<Size>);

impl Notation for Bytes {
    fn decode(&self, node: &Node, decoder: &mut Decoder) -> Option<SettingText> {
        let size = Size::decode(node, decoder)?;
        if !self.0.contains(&size) {
            let expected = format!("{} to {}", self.0.start(), self.0.end());
            decoder.wrong("is out of range").given(size.to_string()).expected(expected);
            return None;
        }
        Some(SettingText::Value(size.value()))
    }

    fn expected(&self) -> String {
        Size::expected()
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        Size::schema(generator)
    }

    fn json(&self, value: Value) -> Json {
        Plain::<Size>(PhantomData).json(value)
    }

    fn placeholder(&self) -> Value {
        self.0.start().value()
    }
}

struct Whole(RangeInclusive<u64>);

impl Notation for Whole {
    fn decode(&self, node: &Node, decoder: &mut Decoder) -> Option<SettingText> {
        whole(node, self.0.clone(), decoder).map(|number| SettingText::Value(Value::Integer(number)))
    }

    fn expected(&self) -> String {
        format!("a whole number from {} to {}", self.0.start(), self.0.end())
    }

    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"type": "integer", "minimum": self.0.start(), "maximum": self.0.end()})
    }

    fn json(&self, value: Value) -> Json {
        if let Value::Integer(number) = value { number.into() } else { Json::Null }
    }

    fn placeholder(&self) -> Value {
        Value::Integer(*self.0.start())
    }

    fn ends(&self) -> Vec<[Value; 2]> {
        let (min, max) = self.0.clone().into_inner();
        vec![[min, min + 1].map(Value::Integer), [max, max - 1].map(Value::Integer)]
    }
}

/// A whole number, or `false`.
struct WholeOrFalse {
    name: &'static str,
    noun: &'static str,
    range: RangeInclusive<u64>,
}

impl Notation for WholeOrFalse {
    fn decode(&self, node: &Node, decoder: &mut Decoder) -> Option<SettingText> {
        match node {
            Node::Boolean(false) => return Some(SettingText::Value(Value::Absent)),
            Node::Integer(number) if u64::try_from(*number).is_ok_and(|number| self.range.contains(&number)) => {
                return Some(SettingText::Value(Value::Integer(*number as u64)));
            }
            _ => {}
        }
        decoder.wrong(format!("is not a {}", self.noun)).given(node.to_string()).expected(self.expected());
        None
    }

    fn expected(&self) -> String {
        format!("a whole number from {} to {}, or false", self.range.start(), self.range.end())
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        let number = Whole(self.range.clone()).schema(generator);
        defined(self.name, json!({"description": self.expected(), "anyOf": [number, {"const": false}]}), generator)
    }

    fn json(&self, value: Value) -> Json {
        if let Value::Integer(number) = value { number.into() } else { false.into() }
    }

    fn placeholder(&self) -> Value {
        Value::Absent
    }
}

/// A number that may be fractional.
struct Real {
    noun: &'static str,
    range: RangeInclusive<f64>,
}

impl Notation for Real {
    fn decode(&self, node: &Node, decoder: &mut Decoder) -> Option<SettingText> {
        real(node, self.range.clone(), &self.expected(), decoder).map(|number| SettingText::Value(Value::Number(number)))
    }

    fn expected(&self) -> String {
        format!("{} from {} to {}", self.noun, self.range.start(), self.range.end())
    }

    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"type": "number", "minimum": self.range.start(), "maximum": self.range.end()})
    }

    fn json(&self, value: Value) -> Json {
        if let Value::Number(number) = value { number.into() } else { Json::Null }
    }

    fn placeholder(&self) -> Value {
        Value::Number(*self.range.start())
    }

    fn ends(&self) -> Vec<[Value; 2]> {
        ends_of(self.range.clone())
    }
}

fn ends_of(range: RangeInclusive<f64>) -> Vec<[Value; 2]> {
    let (min, max) = range.into_inner();
    vec![[min, min.next_up()].map(Value::Number), [max, max.next_down()].map(Value::Number)]
}

impl Notation for ThresholdUnits {
    fn decode(&self, node: &Node, decoder: &mut Decoder) -> Option<SettingText> {
        match node {
            Node::Text(text) if text == NONE && *self == ThresholdUnits::CellsOrNone => Some(SettingText::Value(Value::Absent)),
            _ => ThresholdUnits::decode(*self, node, decoder).map(|threshold| SettingText::Threshold(*self, threshold)),
        }
    }

    fn expected(&self) -> String {
        ThresholdUnits::expected(*self).into()
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        ThresholdUnits::schema(*self, generator)
    }

    fn json(&self, value: Value) -> Json {
        match value {
            Value::Integer(count) => Threshold::Cells(count).to_string().into(),
            Value::QueueBytes(bytes) => Threshold::Bytes(Size::new(bytes)).to_string().into(),
            _ if *self == ThresholdUnits::CellsOrNone => NONE.into(),
            _ => Json::Null,
        }
    }

    fn placeholder(&self) -> Value {
        Value::Integer(0)
    }

    fn text(&self, value: Value) -> SettingText {
        match value {
            Value::Integer(count) => SettingText::Threshold(*self, Threshold::Cells(count)),
            Value::QueueBytes(bytes) => SettingText::Threshold(*self, Threshold::Bytes(Size::new(bytes))),
            other => SettingText::Value(other),
        }
    }
}

/// A window in segments or bytes.
struct WindowNotation;

impl Notation for WindowNotation {
    fn decode(&self, node: &Node, decoder: &mut Decoder) -> Option<SettingText> {
        Some(match WindowSize::decode(node, decoder)? {
            WindowSize::Segments(count) => SettingText::Value(Value::Integer(count.into())),
            WindowSize::Bytes(size) => SettingText::WindowBytes(size),
        })
    }

    fn expected(&self) -> String {
        WindowSize::expected()
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        WindowSize::schema(generator)
    }

    fn json(&self, value: Value) -> Json {
        if let Value::Integer(count) = value { count.into() } else { Json::Null }
    }

    fn placeholder(&self) -> Value {
        Value::Integer(1)
    }
}

impl Notation for &'static Words {
    fn decode(&self, node: &Node, decoder: &mut Decoder) -> Option<SettingText> {
        decoder.word(node, self.noun, &known(self)).map(|word| SettingText::Value(Value::Word(word)))
    }

    fn expected(&self) -> String {
        listed(&known(self))
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        defined(self.name, json!({"description": self.summary, "enum": known(self)}), generator)
    }

    fn json(&self, value: Value) -> Json {
        if let Value::Word(word) = value { word.into() } else { Json::Null }
    }

    fn placeholder(&self) -> Value {
        Value::Word(self.words[0].0)
    }
}

fn known(words: &'static Words) -> Vec<&'static str> {
    words.words.iter().map(|(word, _)| *word).collect()
}
