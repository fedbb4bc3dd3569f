//! What the detailed model leaves open.

use crate::model::{Arguments, Asked, Choice, Given, Parameter, Word, describe_choice, unknown};
use crate::parameter::ParameterError;

/// How long a packet takes to leave that had to wait; section 3.6.1 does not say. One that need not wait leaves as it comes. Without
/// a buffer there is no difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// As long as it took to come, as a packet of some length does.
    OwnLength,
    /// An exponential time drawn anew; its input link receives on for as long as it would have.
    Fresh,
    /// An exponential time drawn anew, at whose end its input link has received it too, if it had not before.
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
            Reading::OwnLength => "as long as it took to come",
            Reading::Fresh => "an exponential time drawn anew",
            Reading::Coupled => "the same, and if it is still coming then, it has come, too",
        };
        Reading::ALL.map(|reading| Word { word: reading.name(), title: reading.name(), help: help(reading), source: "" }).into()
    }

    fn named(word: &str) -> Result<Reading, ParameterError> {
        let reading = Reading::ALL.into_iter().find(|reading| reading.name() == word);
        reading.ok_or_else(|| unknown::<Reading>("reading", word))
    }
}

impl Arguments for Reading {
    fn describe(asked: Asked, parameters: &mut Vec<Parameter>) {
        describe_choice::<Reading>(&asked, parameters);
    }

    fn read(name: &'static str, given: &mut Given) -> Result<Reading, ParameterError> {
        Choice::named(given.word(name)?)
    }
}
