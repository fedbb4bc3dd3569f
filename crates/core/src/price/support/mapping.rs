//! Mapping of a queue's price to the range 0 to 1, which schemes encode, and back. Schemes that encode a sum require a mapping that
//! preserves sums (cui-thesis section 5.2.3).

use crate::primitives::math;
use crate::settings::words;
use serde::{Deserialize, Serialize};

words! {
    /// How a price is mapped to the range 0 to 1.
    pub enum MappingKind ("mapping") {
        /// Linear between the minimum and the maximum price.
        Linear = "linear",
        /// Linear in the logarithm of the price, so that errors are relative. For RCP, whose price is the inverse of a rate, this is the
        /// document's log(1/r).
        Logarithmic = "logarithmic",
        /// The logarithm of the magnitude relative to `scale`, with the price's sign: errors are relative for prices of either sign that
        /// are large compared with `scale`.
        Signed = "signed",
    }
}

/// A price between 0 and 1, as schemes encode it.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
pub struct MappedPrice(pub f64);

/// A mapping and its range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mapping {
    pub kind: MappingKind,
    /// The price that is mapped to 0.
    pub min: f64,
    /// The price that is mapped to 1.
    pub max: f64,
    /// Signed mapping: prices up to about this magnitude are mapped linearly.
    pub scale: f64,
}

impl Mapping {
    /// Identity mapping, for prices between 0 and 1.
    pub const UNIT: Mapping = Mapping { kind: MappingKind::Linear, min: 0.0, max: 1.0, scale: 1.0 };

    /// The price on the scale that is divided evenly.
    fn bent(&self, price: f64) -> f64 {
        match self.kind {
            MappingKind::Linear => price,
            MappingKind::Logarithmic => math::ln(price),
            MappingKind::Signed => math::ln(1.0 + price.abs() / self.scale).copysign(price),
        }
    }

    /// Whether the price is within the range.
    pub fn covers(&self, price: f64) -> bool {
        (self.min..=self.max).contains(&price)
    }

    /// Maps a price. Prices outside the range are clamped to it.
    pub fn mapped(&self, price: f64) -> MappedPrice {
        let (min, max) = (self.bent(self.min), self.bent(self.max));
        MappedPrice((self.bent(price.clamp(self.min, self.max)) - min) / (max - min))
    }

    /// Inverse mapping. A sum of mapped prices may exceed 1.
    pub fn price(&self, mapped: MappedPrice) -> f64 {
        let (min, max) = (self.bent(self.min), self.bent(self.max));
        let bent = min + mapped.0 * (max - min);
        match self.kind {
            MappingKind::Linear => bent,
            MappingKind::Logarithmic => math::exp(bent),
            MappingKind::Signed => (self.scale * (math::exp(bent.abs()) - 1.0)).copysign(bent),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mapping_is_invertible_and_clamps_prices_outside_the_range() {
        let range = |kind, min, max| Mapping { kind, min, max, scale: 10.0 };
        for (mapping, prices) in [
            (range(MappingKind::Linear, -5.0, 20.0), [-5.0, 0.0, 7.5, 20.0]),
            (range(MappingKind::Logarithmic, 1e-11, 1e-3), [1e-11, 1e-9, 5e-6, 1e-3]),
            (range(MappingKind::Signed, -1e5, 1e5), [-1e5, -3.0, 0.0, 2e3]),
        ] {
            for price in prices {
                let back = mapping.price(mapping.mapped(price));
                assert!(
                    (back - price).abs() <= 1e-12 * price.abs().max(1e-12) + 1e-18 * mapping.max,
                    "{mapping:?}: {price} {back}"
                );
            }
            assert_eq!((mapping.mapped(mapping.min), mapping.mapped(2.0 * mapping.max)), (MappedPrice(0.0), MappedPrice(1.0)));
        }
    }

    #[test]
    fn an_error_of_the_mapped_price_is_a_relative_error_of_the_rate() {
        // 1 kbit/s to 100 Gbit/s over 1024 levels: ln(1e8) / 1024 = 1.8 % per level, as in cui-thesis section 5.3.2.
        let mapping = Mapping { kind: MappingKind::Logarithmic, min: 1e-11, max: 1e-3, scale: 1.0 };
        for rate in [2e3, 1e6, 5e10] {
            let shifted = mapping.price(MappedPrice(mapping.mapped(1.0 / rate).0 + 1.0 / 1024.0));
            assert!((shifted * rate - 1.01815).abs() < 1e-4, "{}", shifted * rate);
        }
    }
}
