//! Variants of the detailed model where the document is ambiguous.

use crate::model::{Arguments, Choice, Inputs, Parameter, ParameterSpec, Word, describe_choice, unknown};
use crate::parameter::ParameterError;

/// Transmission time of a packet that waited; section 3.6.1 does not specify it. A packet that does not wait is cut through.
/// Without a buffer all variants are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The time of its reception, as for a packet with a length.
    OwnLength,
    /// A new exponential time; its input link continues to receive as long as it would have.
    Fresh,
    /// A new exponential time, at whose end its reception ends as well, unless it has ended before.
    Coupled,
}

impl Reading {
    pub const ALL: [Reading; 3] = [Reading::OwnLength, Reading::Fresh, Reading::Coupled];

    pub fn name(self) -> &'static str {
        match self {
            Reading::OwnLength => "own_length",
            Reading::Fresh => "fresh",
            Reading::Coupled => "coupled",
        }
    }
}

impl Choice for Reading {
    const NAME: &'static str = "Reading";

    fn words() -> Vec<Word> {
        let help = |reading| match reading {
            Reading::OwnLength => "the time of its reception",
            Reading::Fresh => "a new exponential time",
            Reading::Coupled => "a new exponential time, with which its reception ends at the latest",
        };
        Reading::ALL.map(|reading| Word { word: reading.name(), title: reading.name(), help: help(reading), source: "" }).into()
    }

    fn named(word: &str) -> Result<Reading, ParameterError> {
        let reading = Reading::ALL.into_iter().find(|reading| reading.name() == word);
        reading.ok_or_else(|| unknown::<Reading>("reading", word))
    }
}

impl Arguments for Reading {
    fn describe(asked: ParameterSpec, parameters: &mut Vec<Parameter>) {
        describe_choice::<Reading>(&asked, parameters);
    }

    fn read(name: &'static str, given: &mut Inputs) -> Result<Reading, ParameterError> {
        Choice::named(given.word(name)?)
    }
}
