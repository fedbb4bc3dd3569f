//! Variants of the detailed model where the document is ambiguous.

use crate::model::{Arguments, Inputs, Keyword, KeywordInfo, Parameter, ParameterSpec, describe_keyword, unknown_keyword};
use crate::parameter::ParameterError;

/// Transmission time of a packet that waited; section 3.6.1 does not specify it. A packet that does not wait is cut through.
/// Without a buffer all variants are equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrunkVariant {
    /// The time of its reception, as for a packet with a length.
    OwnLength,
    /// A new exponential time; its input link continues to receive as long as it would have.
    Fresh,
    /// A new exponential time, at whose end its reception ends as well, unless it has ended before.
    Coupled,
}

impl TrunkVariant {
    pub const ALL: [TrunkVariant; 3] = [TrunkVariant::OwnLength, TrunkVariant::Fresh, TrunkVariant::Coupled];

    pub fn name(self) -> &'static str {
        match self {
            TrunkVariant::OwnLength => "own_length",
            TrunkVariant::Fresh => "fresh",
            TrunkVariant::Coupled => "coupled",
        }
    }
}

impl Keyword for TrunkVariant {
    const NAME: &'static str = "TrunkVariant";

    fn words() -> Vec<KeywordInfo> {
        let help = |variant| match variant {
            TrunkVariant::OwnLength => "the time of its reception",
            TrunkVariant::Fresh => "a new exponential time",
            TrunkVariant::Coupled => "a new exponential time, with which its reception ends at the latest",
        };
        TrunkVariant::ALL
            .map(|variant| KeywordInfo { word: variant.name(), title: variant.name(), help: help(variant), source: "" })
            .into()
    }

    fn named(word: &str) -> Result<TrunkVariant, ParameterError> {
        let variant = TrunkVariant::ALL.into_iter().find(|variant| variant.name() == word);
        variant.ok_or_else(|| unknown_keyword::<TrunkVariant>("variant", word))
    }
}

impl Arguments for TrunkVariant {
    fn describe(asked: ParameterSpec, parameters: &mut Vec<Parameter>) {
        describe_keyword::<TrunkVariant>(&asked, parameters);
    }

    fn read(name: &'static str, given: &mut Inputs) -> Result<TrunkVariant, ParameterError> {
        Keyword::named(given.word(name)?)
    }
}
