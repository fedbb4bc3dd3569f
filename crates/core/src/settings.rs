//! What a member of a family (a controller, a queue policy, a source) says of itself, once and in its own file: its name, its source and its
//! settings. How a scenario writes them, their errors, the JSON Schema, the types in Python and the pages of settings are derived.
//!
//! A member is declared by `member!`, with a line of documentation, its name in a scenario and what it follows; then come its settings, if it
//! has any, each with a line of help, its type, its default unless it must be given, and what values fit; after a semicolon may stand a value to
//! begin with, for who is shown a new one that must be given:
//!
//! ```text
//! member! {
//!     /// A given number of segments in the queues (FAST TCP).
//!     Fast = "fast", "Cui's thesis, chapter 4";
//!
//!     pub struct FastSpec {
//!         /// Segments to keep in the queues.
//!         alpha: f64 = 200.0 => SEGMENTS_IN_QUEUES,
//!         /// Below this length nothing is marked.
//!         lower: u64 => Kind::QueueLength; "25 %",
//!         ...
//!     }
//! }
//! ```
//!
//! What its settings have to be to each other, and a few of them to test with, it says by [`Settings`].

use crate::primitives::units::{Rate, Span};

/// A member of a family, as users see it.
#[derive(Debug)]
pub struct Member {
    /// As a scenario writes it.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// What it follows: an RFC, a paper, a section of a document.
    pub source: &'static str,
    pub settings: &'static [Setting],
    /// What does not go together of these values, in the order of the settings.
    pub misfits: fn(&[Value]) -> Vec<Misfit>,
    /// A few that are legal.
    pub samples: fn() -> Vec<Vec<Value>>,
}

/// One setting of a member.
#[derive(Debug)]
pub struct Setting {
    pub key: &'static str,
    /// A line of help.
    pub help: &'static str,
    pub kind: Kind,
    /// `None`: it must be given.
    pub default: Option<fn() -> Value>,
    /// A value to begin with, as a scenario writes it, for a setting that must be given: where it has to lie below or above another, or be of a
    /// usual size.
    pub first: Option<&'static str>,
}

/// What values a setting takes, and how they are written.
#[derive(Debug)]
pub enum Kind {
    Truth,
    Whole {
        least: u64,
        most: u64,
    },
    /// A number of segments, of which there may be fractions.
    Segments {
        least: f64,
        most: f64,
    },
    /// A number without a unit.
    Number {
        least: f64,
        most: f64,
    },
    /// 0 to 1.
    Probability,
    Duration {
        least: Span,
    },
    Rate,
    Bytes {
        least: u64,
        most: u64,
    },
    /// Cells of the buffer, or a percentage of it; with `or_none` also the word `none`.
    Cells {
        or_none: bool,
    },
    /// A length of the queue in what the buffer is counted in, packets or cells, or a percentage of the buffer.
    QueueLength,
    Words(&'static Words),
}

/// 0 to a million segments.
pub const SEGMENTS_IN_QUEUES: Kind = Kind::Segments { least: 0.0, most: 1e6 };
/// Any duration above zero.
pub const ABOVE_ZERO: Kind = Kind::Duration { least: Span(1) };
/// A packet of 1 byte to 1 MB.
pub const PACKET_BYTES: Kind = Kind::Bytes { least: 1, most: 1_000_000 };

/// A choice between words.
#[derive(Debug)]
pub struct Words {
    /// Name of its type.
    pub name: &'static str,
    /// What the words are, for messages.
    pub noun: &'static str,
    pub summary: &'static str,
    /// Each with a line of help.
    pub words: &'static [(&'static str, &'static str)],
}

/// An enum of plain words; `words!` implements it.
pub trait PlainWords: Copy + std::fmt::Debug + PartialEq + 'static {
    const WORDS: Words;
    /// In the order of the words.
    const ALL: &'static [Self];

    /// As a scenario writes it.
    fn word(self) -> &'static str {
        let index = Self::ALL.iter().position(|known| *known == self);
        index.map_or("", |index| Self::WORDS.words[index].0)
    }
}

/// The value of a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// Of a setting that need not have one.
    Absent,
    Truth(bool),
    /// Also bytes, and lengths of the queue in packets or cells.
    Whole(u64),
    Number(f64),
    Duration(Span),
    Rate(Rate),
    Word(&'static str),
}

/// Settings that do not go together, or that make the member another one than its name says.
#[derive(Clone, Debug, PartialEq)]
pub struct Misfit {
    /// The settings, the one to blame first.
    pub keys: &'static [&'static str],
    pub message: String,
    /// What would fit.
    pub expected: String,
    pub severity: Severity,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Nothing can run.
    Error,
    /// It runs, and is hardly what was meant.
    Warning,
}

impl Misfit {
    pub(crate) fn error(keys: &'static [&'static str], message: impl Into<String>, expected: impl Into<String>) -> Misfit {
        Misfit { keys, message: message.into(), expected: expected.into(), severity: Severity::Error }
    }

    pub(crate) fn warning(keys: &'static [&'static str], message: impl Into<String>, expected: impl Into<String>) -> Misfit {
        Misfit { severity: Severity::Warning, ..Misfit::error(keys, message, expected) }
    }
}

/// The keys of a member's settings; `member!` implements it.
pub trait Keys: Sized {
    const SETTINGS: &'static [Setting];

    /// From values in the order of the keys; `None` if their number or types are others.
    fn read(values: &[Value]) -> Option<Self>;

    /// In the order of the keys.
    fn values(&self) -> Vec<Value>;
}

/// What a member says of its settings beyond each one's own range.
pub trait Settings: Keys {
    /// What does not go together.
    fn check(&self) -> Vec<Misfit> {
        Vec::new()
    }

    /// A few that are legal and differ in what they do, for tests of all members.
    fn samples() -> Vec<Self>;
}

/// Of members without any.
impl Keys for () {
    const SETTINGS: &'static [Setting] = &[];

    fn read(values: &[Value]) -> Option<()> {
        values.is_empty().then_some(())
    }

    fn values(&self) -> Vec<Value> {
        Vec::new()
    }
}

impl Settings for () {
    fn samples() -> Vec<()> {
        vec![()]
    }
}

/// A type with a name in scenarios.
pub trait Named {
    const MEMBER: Member;
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

setting_type!(bool, Truth);
setting_type!(u32, Whole);
setting_type!(u64, Whole);
setting_type!(f64, Number);
setting_type!(Span, Duration);
setting_type!(Rate, Rate);

impl<T: SettingType> SettingType for Option<T> {
    fn of(value: Value) -> Option<Option<T>> {
        if value == Value::Absent { Some(None) } else { T::of(value).map(Some) }
    }

    fn value(&self) -> Value {
        self.as_ref().map_or(Value::Absent, T::value)
    }
}

/// Declares a member and its settings; the module says how.
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
        $crate::settings::defaults!($spec, $($key $(= $default)?,)+);

        $(#[doc = $doc])*
        #[doc = concat!("Settings of `", $name, "`.")]
        #[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct $spec {
            $($(#[doc = $help])+ pub $key: $type,)+
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

            fn read(values: &[$crate::settings::Value]) -> Option<$spec> {
                let mut values = values.iter();
                let read = $spec { $($key: $crate::settings::SettingType::of(*values.next()?)?),+ };
                values.next().is_none().then_some(read)
            }

            fn values(&self) -> Vec<$crate::settings::Value> {
                vec![$($crate::settings::SettingType::value(&self.$key)),+]
            }
        }
    };
}

/// The name of a member, with the type of its settings.
macro_rules! named {
    ([$($summary:literal),+] $member:ident, $name:literal, $source:literal, $spec:ty) => {
        impl $crate::settings::Named for $member {
            const MEMBER: $crate::settings::Member = $crate::settings::Member {
                name: $name,
                summary: $crate::settings::line!($($summary),+),
                source: $source,
                settings: <$spec as $crate::settings::Keys>::SETTINGS,
                misfits: $crate::settings::misfits_of::<$member>,
                samples: $crate::settings::values_of_samples::<$member>,
            };
            type Spec = $spec;
        }
    };
}

/// `Default`, where every setting has one.
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

/// What the settings of every family have: its list of members, and reading, writing, checking and samples by it. `nameless`: variants that
/// are no members, such as user code.
macro_rules! family {
    ($spec:ident { $($member:ident),+ } nameless { $($(#[$when:meta])? $nameless:ident),* }) => {
        impl $spec {
            /// All that have a name.
            pub const MEMBERS: &[$crate::settings::Member] = &[$(<$member as $crate::settings::Named>::MEMBER),+];

            /// A member of that name with these settings, in the order of their keys; `None` if there is none or they do not fit.
            pub fn read(name: &str, values: &[$crate::settings::Value]) -> Option<$spec> {
                $(if name == <$member as $crate::settings::Named>::MEMBER.name {
                    return $crate::settings::Keys::read(values).map($spec::$member);
                })+
                None
            }

            /// As a scenario writes it; `None` of user code.
            pub fn name(&self) -> Option<&'static str> {
                match self {
                    $($spec::$member(_) => Some(<$member as $crate::settings::Named>::MEMBER.name),)+
                    $($(#[$when])? $spec::$nameless(_) => None,)*
                }
            }

            /// Its settings in the order of their keys; none of user code.
            pub fn values(&self) -> Vec<$crate::settings::Value> {
                match self {
                    $($spec::$member(spec) => $crate::settings::Keys::values(spec),)+
                    $($(#[$when])? $spec::$nameless(_) => Vec::new(),)*
                }
            }

            /// What is wrong with its settings together.
            pub fn check(&self) -> Vec<$crate::settings::Misfit> {
                match self {
                    $($spec::$member(spec) => $crate::settings::Settings::check(spec),)+
                    $($(#[$when])? $spec::$nameless(_) => Vec::new(),)*
                }
            }

            /// A few of each member, for tests of all.
            pub fn samples() -> Vec<$spec> {
                let mut samples = Vec::new();
                $(samples.extend($crate::settings::samples_of::<$member>().into_iter().map($spec::$member));)+
                samples
            }
        }
    };
}

/// Of one member; none of values of other types.
pub(crate) fn misfits_of<M: Named>(values: &[Value]) -> Vec<Misfit> {
    M::Spec::read(values).map(|spec| spec.check()).unwrap_or_default()
}

/// Of one member.
pub(crate) fn values_of_samples<M: Named>() -> Vec<Vec<Value>> {
    M::Spec::samples().iter().map(Keys::values).collect()
}

/// Of one member.
pub(crate) fn samples_of<M: Named>() -> Vec<M::Spec> {
    M::Spec::samples()
}

/// Lines of a comment as one.
macro_rules! line {
    ($first:literal $(, $next:literal)*) => {
        concat!($first $(, $next)*).trim_ascii_start()
    };
}

/// An enum of plain words that a setting chooses between.
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

pub(crate) use {default, defaults, family, first, line, member, named, words};

#[cfg(test)]
mod tests {
    use super::*;

    struct Kettle;

    member! {
        /// Boils water.
        Kettle = "kettle", "RFC 2324";

        pub struct KettleSpec {
            /// How much,
            /// in cups.
            cups: u32 = 2 => Kind::Whole { least: 1, most: 9 },
            /// Whether it whistles.
            whistles: Option<bool> = None => Kind::Truth,
            /// What with.
            fuel: Fuel = Fuel::Gas => Kind::Words(&Fuel::WORDS),
        }
    }

    impl Settings for KettleSpec {
        fn samples() -> Vec<KettleSpec> {
            vec![KettleSpec::default()]
        }
    }

    words! {
        /// What burns.
        pub enum Fuel ("fuel") {
            /// From a pipe.
            Gas = "gas",
            /// From a mine.
            Coal = "coal",
        }
    }

    #[test]
    fn a_member_is_declared_once() {
        let Member { name, summary, source, settings, .. } = Kettle::MEMBER;
        assert_eq!((name, summary, source), ("kettle", "Boils water.", "RFC 2324"));
        let helped: Vec<_> = settings.iter().map(|setting| (setting.key, setting.help)).collect();
        assert_eq!(helped, [("cups", "How much, in cups."), ("whistles", "Whether it whistles."), ("fuel", "What with.")]);
        let defaults: Vec<_> = settings.iter().filter_map(|setting| setting.default).map(|default| default()).collect();
        assert_eq!(defaults, KettleSpec::default().values());
    }

    #[test]
    fn values_are_read_as_they_are_written() {
        let values = [Value::Whole(3), Value::Absent, Value::Word("coal")];
        let spec = KettleSpec::read(&values).unwrap();
        assert_eq!(spec, KettleSpec { cups: 3, whistles: None, fuel: Fuel::Coal });
        assert_eq!(spec.values(), values);
        assert_eq!(KettleSpec::read(&values[..2]), None);
        assert_eq!(KettleSpec::read(&[Value::Truth(true), Value::Absent, Value::Word("coal")]), None);
    }
}
