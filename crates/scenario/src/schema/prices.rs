//! `[prices]`: how congestion prices are sent. The core declares the schemes and their settings.

use crate::member::{Family, Member, Nobody, Nothing};
use crate::quantity::Rate;
use crate::record::record;
use crate::values::{Number, Word};
use tailback_core::price::{Feedback, Identification, MappingKind, SchemeSpec};
use tailback_core::settings::MemberInfo;

record! {
    /// Encoding of congestion prices between queues, receivers and senders.
    pub struct Prices {
        /// Mapping of prices to 0 to 1, if they are not sent as numbers. Default: linear, or logarithmic between `min_rate` and
        /// `max_rate`.
        mapping: Option<Word<MappingKind>>,
        /// Price that is mapped to 0.
        min_price: Option<Number>,
        /// Price that is mapped to 1.
        max_price: Option<Number>,
        /// Instead of `max_price`, if prices are inverse rates (`rcp`): the minimum rate.
        min_rate: Option<Rate>,
        /// Instead of `min_price`, if prices are inverse rates (`rcp`): the maximum rate.
        max_rate: Option<Rate>,
        /// Signed mapping only: prices up to about this absolute value are mapped linearly, larger ones by their logarithm.
        scale: Option<Number>,
        /// Identification of packets, from which probes are derived.
        identification: Word<Identification> = Word(Identification::Counting),
        /// Feedback of the price from the receiver to the sender.
        feedback: Word<Feedback> = Word(Feedback::Exact),
    }
    with
    /// Encoding of the price by queues.
    scheme: Scheme
}

/// Encoding of the price by queues.
pub type Scheme = Member<Schemes>;

#[derive(Clone, Debug, PartialEq)]
pub struct Schemes;

impl Family for Schemes {
    const TAG: &'static str = "scheme";
    const NOUN: &'static str = "price scheme";
    const DEFAULT: Option<&'static str> = Some("exact");
    type Common = Nothing;
    type User = Nobody;

    fn members() -> Vec<&'static MemberInfo> {
        SchemeSpec::MEMBERS.iter().collect()
    }
}
