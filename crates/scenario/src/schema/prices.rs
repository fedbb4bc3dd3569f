//! `[prices]`: how prices of congestion travel. The core declares the schemes and their settings.

use crate::member::{Choice, Family, Nobody, Nothing};
use crate::quantity::Rate;
use crate::record::record;
use crate::values::{Number, Word};
use tailback_core::price::{Feedback, Identification, MappingKind, SchemeSpec};
use tailback_core::settings::Member;

record! {
    /// How queues that tell prices, receivers and senders that go by them understand one another.
    pub struct Prices {
        /// How a price is mapped to 0 to 1, where it does not travel as a number: linearly, if nothing says otherwise, and by its logarithm
        /// between `min_rate` and `max_rate`.
        mapping: Option<Word<MappingKind>>,
        /// Price that is mapped to 0.
        min_price: Option<Number>,
        /// Price that is mapped to 1.
        max_price: Option<Number>,
        /// Instead of `max_price`, where prices are one over a rate (`rcp`): the least rate.
        min_rate: Option<Rate>,
        /// Instead of `min_price`, where prices are one over a rate (`rcp`): the largest rate.
        max_rate: Option<Rate>,
        /// Of the signed mapping: prices up to about this size are mapped linearly, larger ones by their logarithm.
        scale: Option<Number>,
        /// How senders identify packets, of which probes are made.
        identification: Word<Identification> = Word(Identification::Counting),
        /// How the price comes from the receiver to the sender.
        feedback: Word<Feedback> = Word(Feedback::Exact),
    }
    with
    /// How queues tell the price.
    scheme: Scheme
}

/// How queues tell the price.
pub type Scheme = Choice<Schemes>;

#[derive(Clone, Debug, PartialEq)]
pub struct Schemes;

impl Family for Schemes {
    const TAG: &'static str = "scheme";
    const NOUN: &'static str = "price scheme";
    const DEFAULT: Option<&'static str> = Some("exact");
    type Common = Nothing;
    type User = Nobody;

    fn members() -> Vec<&'static Member> {
        SchemeSpec::MEMBERS.iter().collect()
    }
}
