//! A source of MaxNet: its demand falls exponentially with the largest congestion cost of its path, so that rates are (weighted) max-min
//! fair (Wydrowski and Zukerman, IEEE Communications Letters 6(11), 2002; Wydrowski, Andrew and Zukerman, "MaxNet: a congestion control
//! architecture for scalable networks", IEEE Communications Letters 7(10), 2003).
//!
//! Differs: all sources have the same demand at a given cost. The second paper divides the cost by the RTT, which is stable for any RTT but
//! makes shares depend on RTTs.

use super::support::priced::{Demand, Priced};
use crate::price::{Price, PriceMeaning};
use crate::primitives::math;
use crate::primitives::units::Rate;
use crate::settings::{Kind, SettingConflict, Settings, conflicts, member};

member! {
    /// MaxNet source: its rate falls exponentially with the largest congestion cost of its path.
    MaxNet = "maxnet", "Wydrowski and Zukerman, IEEE Communications Letters 6(11), 2002; cui-thesis section 5.3.2";

    pub struct MaxNetSourceSpec {
        /// Rate at a cost of 0, the maximum rate of a source of weight 1.
        max_rate: Rate = Rate(1_000_000_000) => Kind::Rate,
        /// Weight of the flow; the rate at a given cost is proportional to it.
        weight: f64 = 1.0 => Kind::Number { min: 0.0, max: 1e6 },
        /// Limit window growth to a doubling per RTT while the cost is being learnt.
        slow_start: bool = true => Kind::Boolean,
    }
}

impl Settings for MaxNetSourceSpec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if self.weight == 0.0 => ["weight"], "`weight` of 0 stops all sending", "above 0";
        }
    }

    fn samples() -> Vec<MaxNetSourceSpec> {
        let usual = MaxNetSourceSpec::default();
        vec![usual, MaxNetSourceSpec { max_rate: Rate(5_000_000), weight: 3.0, slow_start: false }]
    }
}

pub type MaxNet = Priced<MaxNetSourceSpec>;

impl Demand for MaxNetSourceSpec {
    const PRICE_MEANING: PriceMeaning = PriceMeaning::Cost;

    fn rate(&self, Price(price): Price) -> f64 {
        // A negative cost, which a queue may have (`signed`), has the same demand as 0.
        self.weight * self.max_rate.0 as f64 * math::exp(-price.clamp(0.0, 100.0))
    }

    fn starts_slowly(&self) -> bool {
        self.slow_start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demand_falls_by_the_same_factor_per_unit_of_cost() {
        let spec = MaxNetSourceSpec { max_rate: Rate(1_000_000), weight: 2.0, slow_start: true };
        assert_eq!(spec.rate(Price(0.0)), 2e6);
        assert!((spec.rate(Price(1.0)) / spec.rate(Price(2.0)) - std::f64::consts::E).abs() < 1e-12);
    }
}
