//! Members of a family (queue policies, controllers) in a scenario: a table that is selected by a word, with the settings that the core
//! declares for that member. This module does not depend on any member.

use crate::decode::{Decode, Decoder, Table};
use crate::problem::{Report, listed};
use crate::quantity::{Duration, Probability, Rate, Size};
use crate::record::{Record, Shape, defined, joined, record};
use crate::threshold::{Counted, Places, Threshold};
use crate::tree::Node;
use crate::user_code;
use crate::values::{real, whole};
use schemars::{Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::json;
use std::fmt;
use std::ops::RangeInclusive;
use tailback_core::settings::{Kind, MemberInfo, Setting, SettingConflict, Severity, Value};

/// A family of members.
pub trait Family: Clone + fmt::Debug + PartialEq + 'static {
    /// The key that selects the member.
    const TAG: &'static str;
    /// The noun for a member.
    const NOUN: &'static str;
    /// The default member; `None` if the key is required.
    const DEFAULT: Option<&'static str>;
    /// Common keys of all members, which the core does not declare.
    #[allow(private_bounds, reason = "decoding is internal to this crate")]
    type Common: Record + Clone + fmt::Debug + PartialEq + Serialize;
    /// The table of user code in this family.
    type User: UserTable;

    fn members() -> Vec<&'static MemberInfo>;
}

/// The table of user code: `user:NAME` in the family's key, and its parameters.
#[allow(private_bounds, reason = "decoding is internal to this crate")]
pub trait UserTable: Record + Clone + fmt::Debug + PartialEq + Serialize {
    /// Whether the family supports user code.
    const EXISTS: bool = true;
}

record! {
    /// No further keys.
    pub struct Nothing {}
}

record! {
    /// No user code.
    pub struct Nobody {}
}

impl UserTable for Nobody {
    const EXISTS: bool = false;
}

/// A member of a family, or user code.
#[derive(Clone, Debug, PartialEq)]
pub enum Member<F: Family> {
    BuiltIn(MemberConfig, F::Common),
    User(F::User),
}

/// A member with its settings as in the scenario.
#[derive(Clone, Debug)]
pub struct MemberConfig {
    member: &'static MemberInfo,
    /// One entry per setting of the member.
    texts: Vec<SettingText>,
}

/// A setting as in the scenario.
#[derive(Clone, Copy, Debug, PartialEq)]
enum SettingText {
    /// The key is absent.
    Absent,
    Boolean(bool),
    Integer(u64),
    Number(f64),
    Duration(Duration),
    Rate(Rate),
    Size(Size),
    Threshold(Threshold),
    Word(&'static str),
}

const NONE: &str = "none";

impl<F: Family> Default for Member<F> {
    /// The default member, or a placeholder.
    fn default() -> Member<F> {
        let members = F::members();
        let default = members.iter().find(|member| Some(member.name) == F::DEFAULT);
        let member = *default.unwrap_or(&members[0]);
        let texts = member.settings.iter().map(|setting| setting.usual().unwrap_or(setting.kind.placeholder())).collect();
        Member::BuiltIn(MemberConfig { member, texts }, F::Common::default())
    }
}

impl<F: Family> Record for Member<F> {
    fn take(table: &mut Table, decoder: &mut Decoder) -> Member<F> {
        let members = F::members();
        let names: Vec<&'static str> = members.iter().map(|member| member.name).collect();
        let given = table.node(F::TAG);
        if let Some(node) = given.filter(|node| user_code::is_user_code(node)) {
            if F::User::EXISTS {
                return Member::User(F::User::take(table, decoder));
            }
            decoder.inside(F::TAG, |decoder| {
                _ = decoder.wrong("cannot be user code").given(node.to_string()).expected(listed(&names))
            });
            table.know_all();
            return Member::default();
        }
        let name = match given {
            Some(node) => decoder.inside(F::TAG, |decoder| decoder.word(node, F::NOUN, &names)),
            None => F::DEFAULT.or_else(|| {
                let message = format!("`{}` is missing", F::TAG);
                decoder.inside(F::TAG, |decoder| _ = decoder.fault(message).expected(listed(&names)));
                None
            }),
        };
        let Some(member) = members.into_iter().find(|member| Some(member.name) == name) else {
            // The valid keys are not known, so that none is reported as unknown.
            table.know_all();
            return Member::default();
        };
        let texts = member.settings.iter().map(|setting| setting.take(table, decoder)).collect();
        Member::BuiltIn(MemberConfig { member, texts }, F::Common::take(table, decoder))
    }

    fn shapes(generator: &mut SchemaGenerator) -> Vec<Shape> {
        let mut shapes = Vec::new();
        for member in F::members() {
            let mut shape = Shape::default();
            for (index, setting) in member.settings.iter().enumerate() {
                let default = setting.usual().map(|usual| serde_json::to_value(usual).unwrap_or_default());
                let first = setting.first.map(|first| setting.kind.first(first));
                shape.property(setting.key, setting.kind.schema(generator), &described(member, index), default, first);
            }
            shapes.push(shape.tag(F::TAG, member.name, &[member.summary], F::DEFAULT).source(F::TAG, member.source));
        }
        shapes = joined::<F::Common>(shapes, generator);
        if F::User::EXISTS {
            shapes.extend(F::User::shapes(generator));
        }
        shapes
    }
}

impl<F: Family> Serialize for Member<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Member::User(user) => user.serialize(serializer),
            Member::BuiltIn(config, common) => {
                let given = config.pairs().filter(|(_, texts)| **texts != SettingText::Absent);
                let settings = given.map(|(setting, texts)| (setting.key, *texts));
                let tag = (F::TAG, SettingText::Word(config.member.name));
                MemberTable { own: Entries(std::iter::once(tag).chain(settings).collect()), common }.serialize(serializer)
            }
        }
    }
}

/// A member in the normalised form.
#[derive(Serialize)]
struct MemberTable<'a, C: Serialize> {
    /// Its word and its settings.
    #[serde(flatten)]
    own: Entries,
    #[serde(flatten)]
    common: &'a C,
}

/// Keys with their values, in the order given.
struct Entries(Vec<(&'static str, SettingText)>);

impl Serialize for Entries {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl PartialEq for MemberConfig {
    fn eq(&self, other: &MemberConfig) -> bool {
        self.member.name == other.member.name && self.texts == other.texts
    }
}

impl MemberConfig {
    /// Converts values of the core to settings.
    pub(crate) fn of(member: &'static MemberInfo, values: &[Value]) -> MemberConfig {
        let texts = member.settings.iter().zip(values).map(|(setting, value)| setting.kind.texts(*value)).collect();
        MemberConfig { member, texts }
    }

    /// The rate in that key, if there is one.
    pub(crate) fn rate(&self, key: &str) -> Option<Rate> {
        self.pairs().find(|(setting, _)| setting.key == key).and_then(|(_, texts)| match texts {
            SettingText::Rate(rate) => Some(*rate),
            _ => None,
        })
    }

    pub fn name(&self) -> &'static str {
        self.member.name
    }

    /// Whether the member has no settings.
    pub(crate) fn is_bare(&self) -> bool {
        self.texts.iter().all(|texts| *texts == SettingText::Absent)
    }

    fn pairs(&self) -> impl Iterator<Item = (&'static Setting, &SettingText)> {
        self.member.settings.iter().zip(&self.texts)
    }

    /// Converts the settings for the core. Thresholds of a queue policy refer to `buffer`.
    pub(crate) fn values(&self, buffer: Option<Places>, report: &mut Report) -> Vec<Value> {
        let value = |(setting, texts): (&'static Setting, &SettingText)| match (*texts, &setting.kind, buffer) {
            (SettingText::Threshold(threshold), kind, Some(buffer)) => {
                Value::Integer(threshold.units(kind.counted(), buffer, setting.key, report))
            }
            (SettingText::Word(NONE), Kind::Cells { or_none: true }, _) => Value::Absent,
            (texts, ..) => texts.value(),
        };
        self.pairs().map(value).collect()
    }

    /// Reports conflicts of settings, unless one of them has an error. `values` are the settings as the core receives them, `also` is another
    /// key on which they depend.
    pub(crate) fn complain(
        &self,
        conflicts: Vec<SettingConflict>,
        values: &[Value],
        at: &str,
        also: Option<&str>,
        report: &mut Report,
    ) {
        for SettingConflict { keys, message, expected, severity } in conflicts {
            let places: Vec<String> = keys
                .iter()
                .copied()
                .chain(also)
                .map(|key| if at.is_empty() { key.to_string() } else { format!("{at}.{key}") })
                .collect();
            if !places.iter().all(|place| report.is_valid(place)) {
                continue;
            }
            let of = |key: &str| {
                let (index, (_, texts)) = self.pairs().enumerate().find(|(_, (setting, _))| setting.key == key)?;
                Some(match (texts, values.get(index)) {
                    (SettingText::Threshold(Threshold::Share(share)), Some(Value::Integer(count))) => {
                        format!("{share} ({count})")
                    }
                    _ => texts.to_string(),
                })
            };
            let given = match keys {
                [key] => of(key).unwrap_or_default(),
                _ => keys.iter().map(|key| format!("{key} = {}", of(key).unwrap_or_default())).collect::<Vec<_>>().join(", "),
            };
            let problem = match severity {
                Severity::Error => report.add(&places[0], message),
                Severity::Warning => report.warn(&places[0], message),
            };
            problem.given(given).expected(expected);
        }
    }
}

impl SettingText {
    /// Thresholds are resolved before.
    fn value(self) -> Value {
        match self {
            SettingText::Absent => Value::Absent,
            SettingText::Boolean(truth) => Value::Boolean(truth),
            SettingText::Integer(number) => Value::Integer(number),
            SettingText::Number(number) => Value::Number(number),
            SettingText::Duration(duration) => Value::Duration(duration.time_delta()),
            SettingText::Rate(rate) => Value::Rate(rate.rate()),
            SettingText::Size(size) => Value::Integer(size.bytes()),
            SettingText::Threshold(_) => Value::Integer(0),
            SettingText::Word(word) => Value::Word(word),
        }
    }
}

impl fmt::Display for SettingText {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingText::Absent => out.write_str("none"),
            SettingText::Boolean(truth) => truth.fmt(out),
            SettingText::Integer(number) => number.fmt(out),
            SettingText::Number(number) => number.fmt(out),
            SettingText::Duration(duration) => duration.fmt(out),
            SettingText::Rate(rate) => rate.fmt(out),
            SettingText::Size(size) => size.fmt(out),
            SettingText::Threshold(threshold) => threshold.fmt(out),
            SettingText::Word(word) => out.write_str(word),
        }
    }
}

impl Serialize for SettingText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            SettingText::Boolean(truth) => serializer.serialize_bool(*truth),
            SettingText::Integer(number) => serializer.serialize_u64(*number),
            SettingText::Number(number) => serializer.serialize_f64(*number),
            others => serializer.collect_str(others),
        }
    }
}

/// Decoding of a setting that the core declares.
trait Readable {
    /// The default; `None` if the setting is required.
    fn usual(&self) -> Option<SettingText>;
    fn take(&self, table: &mut Table, decoder: &mut Decoder) -> SettingText;
}

impl Readable for Setting {
    fn usual(&self) -> Option<SettingText> {
        self.default.map(|default| self.kind.texts(default()))
    }

    fn take(&self, table: &mut Table, decoder: &mut Decoder) -> SettingText {
        let read = match table.node(self.key) {
            Some(node) => decoder.inside(self.key, |decoder| self.kind.decode(node, decoder)),
            None => self.usual().or_else(|| {
                let message = format!("`{}` is missing", self.key);
                decoder.inside(self.key, |decoder| _ = decoder.fault(message).expected(self.kind.expected()));
                None
            }),
        };
        read.unwrap_or(self.kind.placeholder())
    }
}

/// Notation of the values of a kind.
trait Notation {
    fn decode(&self, node: &Node, decoder: &mut Decoder) -> Option<SettingText>;
    /// Valid values, for messages.
    fn expected(&self) -> String;
    fn schema(&self, generator: &mut SchemaGenerator) -> Schema;
    /// An example value, which the core has as text.
    fn first(&self, text: &str) -> serde_json::Value;
    /// Placeholder for a value with an error.
    fn placeholder(&self) -> SettingText;
    fn texts(&self, value: Value) -> SettingText;
    /// Unit of thresholds of this kind.
    fn counted(&self) -> Counted;
}

impl Notation for Kind {
    fn decode(&self, node: &Node, decoder: &mut Decoder) -> Option<SettingText> {
        match self {
            Kind::Boolean => bool::decode(node, decoder).map(SettingText::Boolean),
            Kind::Integer { min, max } => whole(node, *min..=*max, decoder).map(SettingText::Integer),
            Kind::Segments { min, max } | Kind::Number { min, max } => {
                real(node, *min..=*max, &self.expected(), decoder).map(SettingText::Number)
            }
            Kind::Probability => Probability::decode(node, decoder).map(|probability| SettingText::Number(probability.0)),
            Kind::Duration { min } => {
                let duration = Duration::decode(node, decoder)?;
                if duration.time_delta() < *min {
                    let (predicate, expected) = match min.0 {
                        1 => ("is zero", "more than 0 ms".into()),
                        min => ("is too short", format!("at least {}", Duration::new(min))),
                    };
                    decoder.wrong(predicate).given(duration.to_string()).expected(expected);
                    return None;
                }
                Some(SettingText::Duration(duration))
            }
            Kind::Rate => Rate::decode(node, decoder).map(SettingText::Rate),
            Kind::Bytes { min, max } => {
                let size = Size::decode(node, decoder)?;
                if !(*min..=*max).contains(&size.bytes()) {
                    let expected = format!("{} to {}", Size::new(*min), Size::new(*max));
                    decoder.wrong("is out of range").given(size.to_string()).expected(expected);
                    return None;
                }
                Some(SettingText::Size(size))
            }
            Kind::Cells { or_none: true } if matches!(node, Node::Text(text) if text == NONE) => Some(SettingText::Word(NONE)),
            Kind::Cells { .. } | Kind::QueueLength => self.counted().decode(node, decoder).map(SettingText::Threshold),
            Kind::Words(words) => {
                let known: Vec<&'static str> = words.words.iter().map(|(word, _)| *word).collect();
                decoder.word(node, words.noun, &known).map(SettingText::Word)
            }
        }
    }

    fn expected(&self) -> String {
        match self {
            Kind::Boolean => bool::expected(),
            Kind::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Kind::Segments { min, max } => format!("a number of segments from {min} to {max}"),
            Kind::Number { min, max } => format!("a number from {min} to {max}"),
            Kind::Probability => Probability::expected(),
            Kind::Duration { .. } => Duration::expected(),
            Kind::Rate => Rate::expected(),
            Kind::Bytes { .. } => Size::expected(),
            Kind::Cells { .. } | Kind::QueueLength => self.counted().expected().into(),
            Kind::Words(words) => listed(&words.words.iter().map(|(word, _)| *word).collect::<Vec<_>>()),
        }
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Schema {
        match self {
            Kind::Boolean => bool::schema(generator),
            Kind::Integer { min, max } => schemars::json_schema!({"type": "integer", "minimum": min, "maximum": max}),
            Kind::Segments { min, max } | Kind::Number { min, max } => {
                schemars::json_schema!({"type": "number", "minimum": min, "maximum": max})
            }
            Kind::Probability => Probability::schema(generator),
            Kind::Duration { .. } => Duration::schema(generator),
            Kind::Rate => Rate::schema(generator),
            Kind::Bytes { .. } => Size::schema(generator),
            Kind::Cells { .. } | Kind::QueueLength => self.counted().schema(generator),
            Kind::Words(words) => {
                let known: Vec<&str> = words.words.iter().map(|(word, _)| *word).collect();
                defined(words.name, json!({"description": words.summary, "enum": known}), generator)
            }
        }
    }

    fn first(&self, text: &str) -> serde_json::Value {
        match self {
            Kind::Integer { .. } | Kind::Segments { .. } | Kind::Number { .. } => serde_json::from_str(text).unwrap_or_default(),
            _ => text.into(),
        }
    }

    fn placeholder(&self) -> SettingText {
        match self {
            Kind::Boolean => SettingText::Boolean(false),
            Kind::Integer { min, .. } => SettingText::Integer(*min),
            Kind::Segments { min, .. } | Kind::Number { min, .. } => SettingText::Number(*min),
            Kind::Probability => SettingText::Number(0.0),
            Kind::Duration { min } => SettingText::Duration(Duration::new(min.0)),
            Kind::Rate => SettingText::Rate(Rate::default()),
            Kind::Bytes { min, .. } => SettingText::Size(Size::new(*min)),
            Kind::Cells { .. } | Kind::QueueLength => SettingText::Threshold(Threshold::Cells(0)),
            Kind::Words(words) => SettingText::Word(words.words[0].0),
        }
    }

    fn texts(&self, value: Value) -> SettingText {
        match (self, value) {
            (Kind::Cells { or_none: true }, Value::Absent) => SettingText::Word(NONE),
            (_, Value::Absent) => SettingText::Absent,
            (_, Value::Boolean(truth)) => SettingText::Boolean(truth),
            (Kind::Bytes { .. }, Value::Integer(bytes)) => SettingText::Size(Size::new(bytes)),
            (Kind::Cells { .. } | Kind::QueueLength, Value::Integer(count)) => SettingText::Threshold(Threshold::Cells(count)),
            (_, Value::Integer(number)) => SettingText::Integer(number),
            (_, Value::Number(number)) => SettingText::Number(number),
            (_, Value::Duration(span)) => SettingText::Duration(Duration::new(span.0)),
            (_, Value::Rate(rate)) => SettingText::Rate(Rate::new(rate.0)),
            (_, Value::Word(word)) => SettingText::Word(word),
        }
    }

    fn counted(&self) -> Counted {
        match self {
            Kind::Cells { or_none: true } => Counted::InCellsOrNone,
            Kind::QueueLength => Counted::AsTheBuffer,
            _ => Counted::InCells,
        }
    }
}

/// The help of a setting, with the ends of its range that the member refuses.
fn described(member: &MemberInfo, index: usize) -> String {
    let help = member.settings[index].help;
    match &excluded(member, index)[..] {
        [] => help.into(),
        [end] => format!("{help} Must not be {end}."),
        ends => format!("{help} Must be neither {}.", ends.join(" nor ")),
    }
}

/// Ends of the range of a setting that the member refuses, although it accepts the adjacent values.
fn excluded(member: &MemberInfo, index: usize) -> Vec<String> {
    let setting = &member.settings[index];
    let refuses = |value: Value| {
        let refused = |mut values: Vec<Value>| {
            values[index] = value;
            let conflicts = (member.conflicts)(&values);
            conflicts.iter().any(|conflict| conflict.severity == Severity::Error && conflict.keys.first() == Some(&setting.key))
        };
        (member.samples)().into_iter().all(refused)
    };
    let ends = match setting.kind {
        Kind::Integer { min, max } => vec![[min, min + 1].map(Value::Integer), [max, max - 1].map(Value::Integer)],
        Kind::Segments { min, max } | Kind::Number { min, max } => of_numbers(min..=max),
        Kind::Probability => of_numbers(0.0..=1.0),
        _ => Vec::new(),
    };
    let of_itself = ends.into_iter().filter(|[end, inside]| refuses(*end) && !refuses(*inside));
    of_itself.map(|[end, _]| setting.kind.texts(end).to_string()).collect()
}

/// Both ends of a range, with their adjacent values.
fn of_numbers(range: RangeInclusive<f64>) -> Vec<[Value; 2]> {
    let (min, max) = range.into_inner();
    vec![[min, min.next_up()].map(Value::Number), [max, max.next_down()].map(Value::Number)]
}

#[cfg(test)]
mod tests {
    use super::described;
    use tailback_core::congestion::ControllerSpec;

    #[test]
    fn the_description_excludes_the_ends_that_a_member_refuses_and_no_others() {
        let description = |name: &str, key: &str| {
            let member = ControllerSpec::MEMBERS.iter().find(|member| member.name == name).unwrap();
            let index = member.settings.iter().position(|setting| setting.key == key).unwrap();
            described(member, index)
        };
        assert!(description("swift", "decrease").ends_with(" Must not be 0."));
        assert!(description("swift", "max_mdf").ends_with(" Must be neither 0 nor 1."));
        // A bound that depends on another setting is not an end of the range.
        assert!(!description("swift", "max_cwnd").contains("Must"));
        assert!(!description("ledbat", "min_cwnd").contains("Must"));
    }
}
