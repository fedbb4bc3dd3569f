//! Kinds of settings: valid values and their notation.

use crate::primitives::units::TimeDelta;

/// The values of a setting, and their notation.
#[derive(Debug)]
pub enum Kind {
    Boolean,
    Integer {
        min: u64,
        max: u64,
    },
    /// A number of segments, possibly fractional.
    Segments {
        min: f64,
        max: f64,
    },
    /// A number without a unit.
    Number {
        min: f64,
        max: f64,
    },
    /// 0 to 1.
    Probability,
    Duration {
        min: TimeDelta,
    },
    Rate,
    Bytes {
        min: u64,
        max: u64,
    },
    /// Cells of the buffer, or a percentage of it; with `or_none` also the word `none`.
    Cells {
        or_none: bool,
    },
    /// A queue length in the unit of the buffer (packets, cells or bytes), or a percentage of the buffer.
    QueueLength,
    Words(&'static Words),
    /// A number of segments, or the word `unlimited`.
    SegmentsOrUnlimited,
    /// A number of whole segments, or bytes, which are rounded down to whole segments.
    SegmentsOrBytes,
    /// A whole number, or `false`. `name` is that of its type, `noun` that for messages.
    IntegerOrFalse {
        name: &'static str,
        noun: &'static str,
        min: u64,
        max: u64,
    },
}

/// 0 to a million segments.
pub const SEGMENTS_IN_QUEUES: Kind = Kind::Segments { min: 0.0, max: 1e6 };
/// Any positive duration.
pub const ABOVE_ZERO: Kind = Kind::Duration { min: TimeDelta(1) };
/// A packet of 1 byte to 1 MB.
pub const PACKET_BYTES: Kind = Kind::Bytes { min: 1, max: 1_000_000 };

/// A choice between words.
#[derive(Debug)]
pub struct Words {
    /// Name of its type.
    pub name: &'static str,
    /// Noun for messages.
    pub noun: &'static str,
    pub summary: &'static str,
    /// Each word with its one-line description.
    pub words: &'static [(&'static str, &'static str)],
}

/// An enum of plain words; `words!` implements it.
pub trait PlainWords: Copy + std::fmt::Debug + PartialEq + 'static {
    const WORDS: Words;
    /// In the order of the words.
    const ALL: &'static [Self];

    /// Word in scenarios.
    fn word(self) -> &'static str {
        let index = Self::ALL.iter().position(|known| *known == self);
        index.map_or("", |index| Self::WORDS.words[index].0)
    }
}
