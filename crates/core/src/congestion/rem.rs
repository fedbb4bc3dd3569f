//! A source of REM's utility maximisation: with logarithmic utility it sends at its weight divided by the sum of the path's prices, so that
//! rates are (weighted) proportionally fair (Athuraliya, Low, Li and Yin, IEEE Network 15(3), 2001; Low and Lapsley, "Optimization flow
//! control I", IEEE/ACM Transactions on Networking 7(6), 1999).

use super::support::priced::{Demand, Priced};
use crate::price::{Price, PriceMeaning};
use crate::primitives::units::Rate;
use crate::settings::{Kind, SettingConflict, Settings, conflicts, member};

member! {
    /// Source that maximises its utility, the logarithm of its rate, minus the cost of its path (the source of REM, NUM).
    Rem = "rem", "Low and Lapsley, IEEE/ACM Transactions on Networking 7(6), 1999; cui-thesis section 2.3.3";

    pub struct RemSourceSpec {
        /// Sending rate at a price of 1: the weight of the utility.
        weight: Rate = Rate(1_000_000) => Kind::Rate,
        /// Maximum sending rate, which is used at a price of 0.
        max_rate: Rate = Rate(1_000_000_000) => Kind::Rate,
        /// Limit window growth to a doubling per RTT while the price is being learnt.
        slow_start: bool = true => Kind::Boolean,
    }
}

impl Settings for RemSourceSpec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            warning if self.max_rate <= self.weight => ["max_rate", "weight"],
                "`max_rate` is not above `weight`: the source slows down only at prices above 1", "`max_rate` above `weight`";
        }
    }

    fn samples() -> Vec<RemSourceSpec> {
        let usual = RemSourceSpec::default();
        vec![usual, RemSourceSpec { weight: Rate(100_000), max_rate: Rate(5_000_000), slow_start: false }]
    }
}

pub type Rem = Priced<RemSourceSpec>;

impl Demand for RemSourceSpec {
    const PRICE_MEANING: PriceMeaning = PriceMeaning::Marginal;

    /// U'(x) = weight / x is the price.
    fn rate(&self, Price(price): Price) -> f64 {
        let max_rate = self.max_rate.0 as f64;
        if price > 0.0 { (self.weight.0 as f64 / price).min(max_rate) } else { max_rate }
    }

    fn starts_slowly(&self) -> bool {
        self.slow_start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marginal_utility_is_the_price() {
        let spec = RemSourceSpec { weight: Rate(1_000_000), max_rate: Rate(8_000_000), slow_start: true };
        assert_eq!([0.0, 0.1, 0.5, 4.0].map(|price| spec.rate(Price(price))), [8e6, 8e6, 2e6, 0.25e6]);
    }
}
