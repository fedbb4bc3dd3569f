//! The interface of a scheme, and the forms of a price.

use super::mapping::MappedPrice;
use crate::primitives::random::Draws;
use crate::primitives::signal::Probe;
use crate::settings::words;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

words! {
    /// How a scheme combines the prices of a path.
    pub enum Combination ("combination") {
        /// The largest price, as max-min fairness requires.
        Largest = "largest",
        /// The sum of the prices, as utility maximisation requires.
        Sum = "sum",
    }
}

/// Kind of price. Queues that report prices and senders that use them must agree on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PriceMeaning {
    /// Congestion cost of MaxNet; the largest cost of a path applies.
    Cost,
    /// Price of REM; the sum over the path applies.
    Marginal,
    /// Inverse of RCP's rate, in seconds per bit; the largest value of a path applies.
    Rate,
    /// CLAMP's multiple of the queueing delay, in seconds; the sum over the path applies.
    Wait,
    /// XCP's change of the rate. It is not a price and is transmitted only as a number.
    Feedback,
}

impl PriceMeaning {
    /// How the prices of a path are combined.
    pub fn combines(self) -> Combination {
        match self {
            PriceMeaning::Marginal | PriceMeaning::Wait => Combination::Sum,
            PriceMeaning::Cost | PriceMeaning::Rate | PriceMeaning::Feedback => Combination::Largest,
        }
    }

    /// Noun phrase for messages.
    pub fn noun(self) -> &'static str {
        match self {
            PriceMeaning::Cost => "a congestion cost",
            PriceMeaning::Marginal => "a marginal cost",
            PriceMeaning::Rate => "one over a rate",
            PriceMeaning::Wait => "a queueing delay",
            PriceMeaning::Feedback => "a change of the rate",
        }
    }
}

/// The price of a path, in the unit of its [`PriceMeaning`].
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Price(pub f64);

/// A mapped price in the form that a scheme's queues use. It is computed when the price changes, not for each packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueuePrice(pub f64);

/// A price scheme. All queues and receivers share its settings.
pub trait Scheme {
    /// Receiver state per flow.
    type Estimator: Clone + Debug + Default + Serialize + DeserializeOwned;

    /// How the scheme combines the prices of a path; `None` if it supports both ways.
    const COMBINES: Option<Combination>;

    /// Whether a packet's identification determines its test.
    const USES_IDENTIFICATION: bool;

    /// Maximum number of mapped prices that receivers can distinguish.
    fn resolution(&self) -> f64;

    /// Number of packets of a flow after which every test has been made once, for schemes that need all of them; 0 for the others.
    fn cycle(&self) -> u32 {
        0
    }

    /// Maximum number of queues on a path that the scheme can distinguish.
    fn max_hops(&self) -> u8 {
        u8::MAX
    }

    /// Receiver state before the first probe.
    fn begin(&self) -> Self::Estimator {
        Self::Estimator::default()
    }

    /// Form of this price that a queue uses for marking; by default the price itself.
    fn queue_price(&self, price: MappedPrice) -> QueuePrice {
        QueuePrice(price.0)
    }

    /// Marks the probe, keeps its mark or clears it, at a queue with this price.
    fn mark(&self, probe: &mut Probe, price: QueuePrice, draws: &mut Draws);

    /// Updates the receiver state with an arrived probe.
    fn learn(&self, estimator: &mut Self::Estimator, probe: &Probe);

    /// The largest price or the sum of the prices. Requires at least one probe.
    fn estimate(&self, estimator: &Self::Estimator) -> f64;
}
