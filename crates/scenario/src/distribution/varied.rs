//! Quantities that may differ from flow to flow.

use super::transfer::Transfer;
use crate::decode::{Decode, Decoder};
use crate::quantity::{Duration, Quantity, Size};
use crate::tree::Node;

const WORDS: &[&str] = &["uniform", "evenly", "exponential", "pareto", "lognormal", "bounded_pareto", "cdf", "weights", "csv"];
const WORDS_OF_SIZES: &[&str] =
    &["uniform", "evenly", "exponential", "pareto", "lognormal", "bounded_pareto", "cdf", "weights", "workload", "csv"];

/// A quantity that may differ from flow to flow.
pub(crate) trait Varied: Quantity {
    /// Valid keys of a table.
    const WORDS: &'static [&'static str];

    /// Decodes a value of a single flow, as opposed to a bound or mean.
    fn of_flow(node: &Node, decoder: &mut Decoder) -> Option<Self> {
        Self::decode(node, decoder)
    }

    /// Valid values of a single flow.
    fn expected_of_flow() -> String {
        Self::expected()
    }
}

impl Varied for Duration {
    const WORDS: &'static [&'static str] = WORDS;
}

impl Varied for Size {
    const WORDS: &'static [&'static str] = WORDS_OF_SIZES;

    fn of_flow(node: &Node, decoder: &mut Decoder) -> Option<Size> {
        Transfer::decode(node, decoder).map(|Transfer(size)| size)
    }

    fn expected_of_flow() -> String {
        Transfer::expected()
    }
}
