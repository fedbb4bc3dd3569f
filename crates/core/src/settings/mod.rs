//! Declarations of the members of a family (controllers, queue policies, sources). Each member declares its name, source and settings once,
//! in its own file. Scenario parsing, errors, JSON Schema, Python types and the settings reference are derived from the declaration.
//!
//! `member!` declares a member with a line of documentation, its name in scenarios and its source. The settings follow, each with a line of
//! help, its type, its default (unless it is required) and its valid values. A semicolon may introduce an initial value, which is
//! suggested for a required setting:
//!
//! ```text
//! member! {
//!     /// Keeps a given number of segments queued (FAST TCP).
//!     Fast = "fast", "Cui's thesis, chapter 4";
//!
//!     pub struct FastSpec {
//!         /// Number of segments to keep queued.
//!         alpha: f64 = 200.0 => SEGMENTS_IN_QUEUES,
//!         /// Queue length below which nothing is marked.
//!         lower: QueueLength => Kind::QueueLength; "25 %",
//!         ...
//!     }
//! }
//! ```
//!
//! [`Settings`] defines the constraints between settings, and sample values for tests.
//!
//! `settings!` declares settings without a member, such as those of TCP. Fields after `with` are no settings.

mod dispatch;
mod kind;
mod path_facts;
mod queue_length;

use crate::primitives::units::{Bytes, Rate, Segments, TimeDelta};
pub(crate) use dispatch::dispatch;
pub use kind::{ABOVE_ZERO, Kind, PACKET_BYTES, PlainWords, SEGMENTS_IN_QUEUES, Words};
pub use path_facts::PathFacts;
pub(crate) use path_facts::microseconds;
pub use queue_length::QueueLength;

/// A member of a family, as users see it.
#[derive(Debug)]
pub struct MemberInfo {
    /// Name in scenarios.
    pub name: &'static str,
    /// One-line description.
    pub summary: &'static str,
    /// Source: an RFC, a paper, or a section of a document.
    pub source: &'static str,
    pub settings: &'static [Setting],
    /// Conflicts between these values, which are in the order of the settings.
    pub conflicts: fn(&[Value]) -> Vec<SettingConflict>,
    /// Some valid values.
    pub samples: fn() -> Vec<Vec<Value>>,
}

/// One setting of a member.
#[derive(Debug)]
pub struct Setting {
    pub key: &'static str,
    /// One-line description.
    pub help: &'static str,
    pub kind: Kind,
    /// `None` if the setting is required.
    pub default: Option<fn() -> Value>,
    /// Initial value of a required setting, as a scenario writes it, chosen to satisfy its constraints or as a usual size.
    pub first: Option<&'static str>,
}

/// The value of a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// No value of an optional setting.
    Absent,
    Boolean(bool),
    /// Also bytes, and queue lengths in packets or cells.
    Integer(u64),
    /// A queue length in bytes.
    QueueBytes(u64),
    Number(f64),
    Duration(TimeDelta),
    Rate(Rate),
    Word(&'static str),
}

/// A conflict between settings, or settings that turn the member into a different one.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingConflict {
    /// The settings; the first is the one to report.
    pub keys: &'static [&'static str],
    pub message: String,
    /// Valid values.
    pub expected: String,
    pub severity: Severity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The scenario cannot run.
    Error,
    /// The scenario runs, but probably not as intended.
    Warning,
}

impl SettingConflict {
    pub(crate) fn error(
        keys: &'static [&'static str],
        message: impl Into<String>,
        expected: impl Into<String>,
    ) -> SettingConflict {
        SettingConflict { keys, message: message.into(), expected: expected.into(), severity: Severity::Error }
    }

    pub(crate) fn warning(
        keys: &'static [&'static str],
        message: impl Into<String>,
        expected: impl Into<String>,
    ) -> SettingConflict {
        SettingConflict { severity: Severity::Warning, ..SettingConflict::error(keys, message, expected) }
    }
}

/// The conflicts whose conditions hold, each with its severity, keys (the first is the one to report), message and valid values.
macro_rules! conflicts {
    ($($severity:ident if $condition:expr => [$($key:literal),+], $message:expr, $expected:expr;)+) => {
        [$(($condition).then(|| $crate::settings::SettingConflict::$severity(&[$($key),+], $message, $expected))),+]
            .into_iter()
            .flatten()
            .collect()
    };
}
pub(crate) use conflicts;

/// Declared settings; `settings!` implements this trait.
pub trait Keys {
    const SETTINGS: &'static [Setting];

    /// Values in the order of the keys.
    fn values(&self) -> Vec<Value>;

    /// Replaces the settings by values in the order of the keys; `None` if their number or types do not match.
    fn set(&mut self, values: &[Value]) -> Option<()>;
}

/// The settings of a member; `member!` implements this trait.
pub trait MemberSettings: Keys + Sized {
    /// Reads values in the order of the keys; `None` if their number or types do not match.
    fn read(values: &[Value]) -> Option<Self>;
}

/// Constraints between a member's settings, beyond the range of each one.
pub trait Settings: MemberSettings {
    /// The conflicts between the settings.
    fn check(&self) -> Vec<SettingConflict> {
        Vec::new()
    }

    /// Whether [`Settings::check_path`] may report anything.
    const DEPENDS_ON_PATH: bool = false;

    /// Controllers: the settings that do not suit a path, with the values to use. A key that is not a setting of the controller is one of
    /// TCP.
    fn check_path(&self, _path: &PathFacts) -> Vec<SettingConflict> {
        Vec::new()
    }

    /// Some valid settings that differ in their effects, for tests that cover all members.
    fn samples() -> Vec<Self>;
}

/// Settings of members without any.
impl Keys for () {
    const SETTINGS: &'static [Setting] = &[];

    fn values(&self) -> Vec<Value> {
        Vec::new()
    }

    fn set(&mut self, values: &[Value]) -> Option<()> {
        values.is_empty().then_some(())
    }
}

impl MemberSettings for () {
    fn read(values: &[Value]) -> Option<()> {
        values.is_empty().then_some(())
    }
}

impl Settings for () {
    fn samples() -> Vec<()> {
        vec![()]
    }
}

/// A type with a name in scenarios.
pub trait Named {
    const MEMBER: MemberInfo;
    type Spec: Settings;
}

/// A type that a setting can have.
pub(crate) trait SettingType: Sized {
    fn of(value: Value) -> Option<Self>;
    fn value(&self) -> Value;
}

macro_rules! setting_type {
    ($type:ty, $variant:ident) => {
        impl SettingType for $type {
            fn of(value: Value) -> Option<$type> {
                if let Value::$variant(value) = value { value.try_into().ok() } else { None }
            }

            fn value(&self) -> Value {
                Value::$variant((*self).into())
            }
        }
    };
}

setting_type!(bool, Boolean);
setting_type!(u32, Integer);
setting_type!(u64, Integer);
setting_type!(f64, Number);
setting_type!(TimeDelta, Duration);
setting_type!(Rate, Rate);

impl SettingType for Bytes {
    fn of(value: Value) -> Option<Bytes> {
        u64::of(value).map(Bytes)
    }

    fn value(&self) -> Value {
        Value::Integer(self.0)
    }
}

impl SettingType for QueueLength {
    fn of(value: Value) -> Option<QueueLength> {
        match value {
            Value::Integer(units) => Some(QueueLength::Units(units)),
            Value::QueueBytes(bytes) => Some(QueueLength::Bytes(bytes)),
            _ => None,
        }
    }

    fn value(&self) -> Value {
        match *self {
            QueueLength::Units(units) => Value::Integer(units),
            QueueLength::Bytes(bytes) => Value::QueueBytes(bytes),
        }
    }
}

impl SettingType for Segments {
    fn of(value: Value) -> Option<Segments> {
        match value {
            Value::Integer(count) => count.try_into().ok().map(Segments),
            Value::Number(count) if count.is_finite() => Some(Segments(count as u32)),
            Value::Number(_) => Some(Segments::UNLIMITED),
            _ => None,
        }
    }

    fn value(&self) -> Value {
        Value::Integer(self.0.into())
    }
}

impl<T: SettingType> SettingType for Option<T> {
    fn of(value: Value) -> Option<Option<T>> {
        if value == Value::Absent { Some(None) } else { T::of(value).map(Some) }
    }

    fn value(&self) -> Value {
        self.as_ref().map_or(Value::Absent, T::value)
    }
}

/// Declares a member and its settings; see the module documentation.
macro_rules! member {
    ($(#[doc = $summary:literal])+ $member:ident = $name:literal, $source:literal;) => {
        $crate::settings::named!([$($summary),+] $member, $name, $source, ());
    };
    (
        $(#[doc = $summary:literal])+
        $member:ident = $name:literal, $source:literal;

        $(#[doc = $doc:literal])*
        pub struct $spec:ident {
            $($(#[doc = $help:literal])+ $key:ident: $type:ty $(= $default:expr)? => $kind:expr $(; $first:literal)?,)+
        }
    ) => {
        $crate::settings::named!([$($summary),+] $member, $name, $source, $spec);

        $crate::settings::settings! {
            $(#[doc = $doc])*
            #[doc = concat!("Settings of `", $name, "`.")]
            #[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
            pub struct $spec {
                $($(#[doc = $help])+ $key: $type $(= $default)? => $kind $(; $first)?,)+
            }
        }

        impl $crate::settings::MemberSettings for $spec {
            fn read(values: &[$crate::settings::Value]) -> Option<$spec> {
                let mut values = values.iter();
                let read = $spec { $($key: $crate::settings::SettingType::of(*values.next()?)?),+ };
                values.next().is_none().then_some(read)
            }
        }
    };
}

/// Declares settings; see the module documentation.
macro_rules! settings {
    (
        $(#[$attribute:meta])*
        pub struct $spec:ident {
            $($(#[doc = $help:literal])+ $key:ident: $type:ty $(= $default:expr)? => $kind:expr $(; $first:literal)?,)+
        }
        $(with $($(#[doc = $part_help:literal])+ $part:ident: $part_type:ty = $part_default:expr,)+)?
    ) => {
        $crate::settings::defaults!($spec, $($key $(= $default)?,)+ $($($part = $part_default,)+)?);

        $(#[$attribute])*
        pub struct $spec {
            $($(#[doc = $help])+ pub $key: $type,)+
            $($($(#[doc = $part_help])+ pub $part: $part_type,)+)?
        }

        impl $crate::settings::Keys for $spec {
            const SETTINGS: &'static [$crate::settings::Setting] = &[
                $($crate::settings::Setting {
                    key: stringify!($key),
                    help: $crate::settings::line!($($help),+),
                    kind: $kind,
                    default: $crate::settings::default!($type $(, $default)?),
                    first: $crate::settings::first!($($first)?),
                }),+
            ];

            fn values(&self) -> Vec<$crate::settings::Value> {
                vec![$($crate::settings::SettingType::value(&self.$key)),+]
            }

            fn set(&mut self, values: &[$crate::settings::Value]) -> Option<()> {
                let mut values = values.iter();
                $(self.$key = $crate::settings::SettingType::of(*values.next()?)?;)+
                values.next().is_none().then_some(())
            }
        }
    };
}

/// The name of a member, with the type of its settings.
macro_rules! named {
    ([$($summary:literal),+] $member:ident, $name:literal, $source:literal, $spec:ty) => {
        impl $crate::settings::Named for $member {
            const MEMBER: $crate::settings::MemberInfo = $crate::settings::MemberInfo {
                name: $name,
                summary: $crate::settings::line!($($summary),+),
                source: $source,
                settings: <$spec as $crate::settings::Keys>::SETTINGS,
                conflicts: $crate::settings::conflicts_of::<$member>,
                samples: $crate::settings::values_of_samples::<$member>,
            };
            type Spec = $spec;
        }
    };
}

/// `Default`, if every setting has one.
macro_rules! defaults {
    ($spec:ident, $($key:ident = $default:expr,)+) => {
        impl Default for $spec {
            fn default() -> $spec {
                $spec { $($key: $default),+ }
            }
        }
    };
    ($($others:tt)*) => {};
}

macro_rules! first {
    () => {
        None
    };
    ($first:literal) => {
        Some($first)
    };
}

macro_rules! default {
    ($type:ty) => {
        None
    };
    ($type:ty, $default:expr) => {
        Some(|| {
            let default: $type = $default;
            $crate::settings::SettingType::value(&default)
        })
    };
}

/// The settings of a whole family: its list of members, and reading, writing, checking and samples by member. `nameless`: variants without
/// a name, such as user code.
macro_rules! family {
    ($spec:ident { $($member:ident),+ } nameless { $($(#[$when:meta])? $nameless:ident),* }) => {
        impl $spec {
            /// All members.
            pub const MEMBERS: &[$crate::settings::MemberInfo] = &[$(<$member as $crate::settings::Named>::MEMBER),+];

            /// The member of this name with these settings, in the order of their keys; `None` if there is none or they do not match.
            pub fn read(name: &str, values: &[$crate::settings::Value]) -> Option<$spec> {
                $(if name == <$member as $crate::settings::Named>::MEMBER.name {
                    return $crate::settings::MemberSettings::read(values).map($spec::$member);
                })+
                None
            }

            /// Name in scenarios; `None` for user code.
            pub fn name(&self) -> Option<&'static str> {
                match self {
                    $($spec::$member(_) => Some(<$member as $crate::settings::Named>::MEMBER.name),)+
                    $($(#[$when])? $spec::$nameless(_) => None,)*
                }
            }

            /// The settings in the order of their keys; none for user code.
            pub fn values(&self) -> Vec<$crate::settings::Value> {
                match self {
                    $($spec::$member(spec) => $crate::settings::Keys::values(spec),)+
                    $($(#[$when])? $spec::$nameless(_) => Vec::new(),)*
                }
            }

            /// The conflicts between the settings.
            pub fn check(&self) -> Vec<$crate::settings::SettingConflict> {
                match self {
                    $($spec::$member(spec) => $crate::settings::Settings::check(spec),)+
                    $($(#[$when])? $spec::$nameless(_) => Vec::new(),)*
                }
            }

            /// Some settings of each member, for tests that cover all members.
            pub fn samples() -> Vec<$spec> {
                let mut samples = Vec::new();
                $(samples.extend($crate::settings::samples_of::<$member>().into_iter().map($spec::$member));)+
                samples
            }
        }
    };
}

/// Conflicts between one member's values; none if the types do not match.
pub(crate) fn conflicts_of<M: Named>(values: &[Value]) -> Vec<SettingConflict> {
    M::Spec::read(values).map(|spec| spec.check()).unwrap_or_default()
}

/// Sample values of one member.
pub(crate) fn values_of_samples<M: Named>() -> Vec<Vec<Value>> {
    M::Spec::samples().iter().map(Keys::values).collect()
}

/// Sample settings of one member.
pub(crate) fn samples_of<M: Named>() -> Vec<M::Spec> {
    M::Spec::samples()
}

/// Joins the lines of a comment.
macro_rules! line {
    ($first:literal $(, $next:literal)*) => {
        concat!($first $(, $next)*).trim_ascii_start()
    };
}

/// An enum of plain words for a setting.
macro_rules! words {
    (
        $(#[doc = $summary:literal])+
        pub enum $name:ident ($noun:literal) {
            $($(#[doc = $help:literal])+ $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[doc = $summary])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[doc = $help])+ $variant,)+
        }

        impl $crate::settings::PlainWords for $name {
            const WORDS: $crate::settings::Words = $crate::settings::Words {
                name: stringify!($name),
                noun: $noun,
                summary: $crate::settings::line!($($summary),+),
                words: &[$(($word, $crate::settings::line!($($help),+))),+],
            };
            const ALL: &'static [$name] = &[$($name::$variant),+];
        }

        impl $crate::settings::SettingType for $name {
            fn of(value: $crate::settings::Value) -> Option<$name> {
                match value {
                    $($crate::settings::Value::Word($word) => Some($name::$variant),)+
                    _ => None,
                }
            }

            fn value(&self) -> $crate::settings::Value {
                match self {
                    $($name::$variant => $crate::settings::Value::Word($word)),+
                }
            }
        }
    };
}

pub(crate) use {default, defaults, family, first, line, member, named, settings, words};

#[cfg(test)]
mod tests {
    use super::*;

    struct Kettle;

    member! {
        /// Boils water.
        Kettle = "kettle", "RFC 2324";

        pub struct KettleSpec {
            /// Amount of water,
            /// in cups.
            cups: u32 = 2 => Kind::Integer { min: 1, max: 9 },
            /// Whether it whistles.
            whistles: Option<bool> = None => Kind::Boolean,
            /// Source of the heat.
            fuel: Fuel = Fuel::Gas => Kind::Words(&Fuel::WORDS),
        }
    }

    impl Settings for KettleSpec {
        fn samples() -> Vec<KettleSpec> {
            vec![KettleSpec::default()]
        }
    }

    words! {
        /// Fuels.
        pub enum Fuel ("fuel") {
            /// Piped gas.
            Gas = "gas",
            /// Mined coal.
            Coal = "coal",
        }
    }

    #[test]
    fn a_member_is_declared_once() {
        let MemberInfo { name, summary, source, settings, .. } = Kettle::MEMBER;
        assert_eq!((name, summary, source), ("kettle", "Boils water.", "RFC 2324"));
        let helped: Vec<_> = settings.iter().map(|setting| (setting.key, setting.help)).collect();
        assert_eq!(
            helped,
            [("cups", "Amount of water, in cups."), ("whistles", "Whether it whistles."), ("fuel", "Source of the heat.")]
        );
        let defaults: Vec<_> = settings.iter().filter_map(|setting| setting.default).map(|default| default()).collect();
        assert_eq!(defaults, KettleSpec::default().values());
    }

    #[test]
    fn values_are_read_as_they_are_written() {
        let values = [Value::Integer(3), Value::Absent, Value::Word("coal")];
        let spec = KettleSpec::read(&values).unwrap();
        assert_eq!(spec, KettleSpec { cups: 3, whistles: None, fuel: Fuel::Coal });
        assert_eq!(spec.values(), values);
        assert_eq!(KettleSpec::read(&values[..2]), None);
        assert_eq!(KettleSpec::read(&[Value::Boolean(true), Value::Absent, Value::Word("coal")]), None);
        let mut other = KettleSpec::default();
        assert_eq!((other.set(&values), other), (Some(()), spec));
        assert_eq!(other.set(&values[1..]), None);
    }
}
