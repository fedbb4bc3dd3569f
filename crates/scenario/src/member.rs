//! Members of a family (queue policies, controllers) in a scenario: a table that is selected by a word, with the settings that the core
//! declares for that member. This module does not depend on any member.

use crate::decode::{Decoder, Table};
use crate::problem::{Report, listed};
use crate::quantity::{Rate, Size};
use crate::record::{Record, Shape, joined, record};
use crate::setting::{NONE, SettingText, default_of, describe, json, notation, placeholder, shown, take};
use crate::threshold::{BufferSize, Threshold};
use crate::tree::Node;
use crate::user_code;
use indexmap::IndexMap;
use schemars::SchemaGenerator;
use serde::{Serialize, Serializer};
use serde_json::Value as Json;
use std::fmt;
use tailback_core::settings::{MemberInfo, Setting, SettingConflict, Severity, Value};

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

impl<F: Family> Default for Member<F> {
    /// The default member, or a placeholder.
    fn default() -> Member<F> {
        let members = F::members();
        let default = members.iter().find(|member| Some(member.name) == F::DEFAULT);
        let member = *default.unwrap_or(&members[0]);
        let texts = member.settings.iter().map(|setting| default_of(setting).unwrap_or(placeholder(setting))).collect();
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
            Some(node @ Node::Table(settings)) => {
                let merged = table.merged(F::TAG, settings, &names).map_or(String::new(), |table| format!(": `{table}`"));
                decoder.inside(F::TAG, |decoder| {
                    let problem = decoder.wrong(format!("is not a {}", F::NOUN)).given(node.to_string()).expected(listed(&names));
                    problem.hint(format!("settings are written next to `{}`{merged}", F::TAG));
                });
                None
            }
            Some(node) => decoder.inside(F::TAG, |decoder| decoder.word(node, F::NOUN, &names)),
            None => F::DEFAULT.or_else(|| {
                table.missing(F::TAG, listed(&names));
                None
            }),
        };
        let Some(member) = members.into_iter().find(|member| Some(member.name) == name) else {
            // The valid keys are not known, so that none is reported as unknown.
            table.know_all();
            return Member::default();
        };
        let texts = member.settings.iter().map(|setting| take_or_default(setting, table, decoder)).collect();
        Member::BuiltIn(MemberConfig { member, texts }, F::Common::take(table, decoder))
    }

    fn shapes(generator: &mut SchemaGenerator) -> Vec<Shape> {
        let mut shapes = Vec::new();
        for member in F::members() {
            let mut shape = Shape::default();
            for (index, setting) in member.settings.iter().enumerate() {
                let default = default_of(setting).map(|default| match json(setting, default) {
                    Json::Null => NONE.into(),
                    value => value,
                });
                describe(setting, &described(member, index), default, &mut shape, generator);
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
                let settings = config.pairs().map(|(setting, text)| (setting.key, json(setting, text)));
                let given = settings.filter(|(_, value)| !value.is_null());
                let tag = (F::TAG, Json::from(config.member.name));
                MemberTable { own: std::iter::once(tag).chain(given).collect(), common }.serialize(serializer)
            }
        }
    }
}

/// A member in the normalised form.
#[derive(Serialize)]
struct MemberTable<'a, C: Serialize> {
    /// Its word and its settings.
    #[serde(flatten)]
    own: IndexMap<&'static str, Json>,
    #[serde(flatten)]
    common: &'a C,
}

impl PartialEq for MemberConfig {
    fn eq(&self, other: &MemberConfig) -> bool {
        self.member.name == other.member.name && self.texts == other.texts
    }
}

impl MemberConfig {
    /// Converts values of the core to settings.
    pub(crate) fn of(member: &'static MemberInfo, values: &[Value]) -> MemberConfig {
        let texts = member.settings.iter().zip(values).map(|(setting, value)| notation(&setting.kind).text(*value)).collect();
        MemberConfig { member, texts }
    }

    /// The rate in that key, if there is one.
    pub(crate) fn rate(&self, key: &str) -> Option<Rate> {
        self.pairs().find(|(setting, _)| setting.key == key).and_then(|(_, texts)| match texts {
            SettingText::Value(Value::Rate(rate)) => Some(Rate::new(rate.0)),
            _ => None,
        })
    }

    /// Whether a threshold is in bytes.
    pub(crate) fn has_thresholds_in_bytes(&self) -> bool {
        self.pairs().any(|(_, text)| matches!(text, SettingText::Threshold(_, Threshold::Bytes(_))))
    }

    pub fn name(&self) -> &'static str {
        self.member.name
    }

    /// Whether the member has no settings.
    pub(crate) fn is_bare(&self) -> bool {
        self.pairs().all(|(setting, text)| json(setting, text).is_null())
    }

    fn pairs(&self) -> impl Iterator<Item = (&'static Setting, SettingText)> {
        self.member.settings.iter().zip(self.texts.iter().copied())
    }

    /// Converts the settings for the core. Thresholds of a queue policy refer to `buffer`.
    pub(crate) fn values(&self, buffer: Option<BufferSize>, report: &mut Report) -> Vec<Value> {
        let value = |(setting, text): (&'static Setting, SettingText)| match (text, buffer) {
            (SettingText::Value(value), _) => value,
            (SettingText::Threshold(counted, threshold), Some(buffer)) => threshold.value(counted, buffer, setting.key, report),
            _ => Value::Integer(0),
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
                let (index, (setting, text)) = self.pairs().enumerate().find(|(_, (setting, _))| setting.key == key)?;
                Some(match (text, values.get(index)) {
                    (SettingText::Threshold(_, Threshold::Share(share)), Some(Value::Integer(count))) => {
                        format!("{share} ({count})")
                    }
                    (SettingText::Threshold(_, Threshold::Share(share)), Some(Value::QueueBytes(bytes))) => {
                        format!("{share} ({})", Size::new(*bytes))
                    }
                    _ => shown(setting, text),
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
    let of_itself = notation(&setting.kind).ends().into_iter().filter(|[end, inside]| refuses(*end) && !refuses(*inside));
    of_itself.map(|[end, _]| shown(setting, SettingText::Value(end))).collect()
}

/// Decodes a setting or takes its default. A missing required setting is reported and gets a placeholder.
fn take_or_default(setting: &'static Setting, table: &mut Table, decoder: &mut Decoder) -> SettingText {
    take(setting, table, decoder).or_else(|| default_of(setting)).unwrap_or_else(|| {
        table.missing(setting.key, notation(&setting.kind).expected());
        placeholder(setting)
    })
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
