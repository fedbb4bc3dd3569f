//! Mapping of rates and costs to prices of 0 to 1, or to integers, and back.

use super::Price;
use crate::model::{answers, arguments, models};
use crate::parameter::{Count, ParameterError, Positive, Scalar, arguments_of_one_number};
use crate::root::root;

/// A finite number, in the unit given by the field's name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost(f64);

impl Scalar for Cost {
    const HELP: &'static str = "";
    const RANGE: &'static str = "a finite number";

    fn of(name: &'static str, number: f64) -> Result<Cost, ParameterError> {
        if number.is_finite() { Ok(Cost(number)) } else { Err(ParameterError::new(name, number, Cost::RANGE)) }
    }
}

arguments_of_one_number!(Cost);

arguments! {
    /// The range of rates that prices represent.
    pub struct Rates {
        /// r_max, represented by a price of 0.
        max_rate_bps: Positive,
        /// r_min, represented by a price of 1.
        min_rate_bps: Positive,
    }
}

answers! {
    /// The number of prices that distinguish all rates.
    pub struct PriceLevels {
        /// Levels.
        levels: u64,
        /// Bits needed to number the levels.
        bits: u64,
        /// Thresholds with this number of bits.
        thresholds: u64,
    }
}

answers! {
    /// Relative error of a rate decoded from a price.
    pub struct RateError {
        /// Relative excess of the rate if the price is too low.
        over: f64,
        /// Relative shortfall of the rate if the price is too high.
        under: f64,
    }
}

answers! {
    /// A cost as encoded and as decoded.
    pub struct MaxnetPrice {
        /// Encoded cost.
        code: u64,
        /// Decoded cost, at least the original one.
        decoded: f64,
        /// Decoded less original cost.
        error: f64,
        /// The error over the cost: up to (q - 1) (1 + q/p). Undefined for a cost of 0 or less.
        relative_error: Option<f64>,
    }
}

answers! {
    /// Base of the cost encoding.
    pub struct MaxnetBase {
        /// q, base and offset.
        base: f64,
        /// q - 1, the relative error of large costs.
        granularity: f64,
    }
}

models! {
    /// Number of price levels that distinguish rates whose ratio is 1 + `granularity`.
    pub fn price_levels(
        rates: Rates,
        /// epsilon, the largest relative difference of two rates with the same price.
        granularity: Positive,
    ) -> Result<PriceLevels, ParameterError> {
        let levels = upwards(rates.span()? / libm::log1p(granularity.get())).max(1.0);
        // Up to this number integers are exact.
        if levels > 4e15 {
            return Err(ParameterError::new("granularity", granularity.get(), "a coarser one: the number of levels is out of floating-point range"));
        }
        let levels = levels as u64;
        let bits = levels.next_power_of_two().ilog2();
        Ok(PriceLevels { levels, bits: bits.into(), thresholds: 1 << bits })
    }
    quantity: "number of price levels";
    equation: "ceil(log(r_max / r_min) / log(1 + epsilon))";
    source: "cui-thesis, section 5.3.2";
    assumes: ["the price is the logarithm of a rate"];
    refuses: "rates in the wrong order, and numbers of levels out of floating-point range";
    example: ">>> tb.models.price_levels(max_rate_bps=100e9, min_rate_bps=1e3, granularity=0.02).levels\n931";

    /// Price of an RCP rate: 0 for the largest and 1 for the smallest rate, so that the largest price of a path belongs to its
    /// smallest rate.
    pub fn rcp_price(
        rates: Rates,
        /// r, the rate that a router allows; rates outside the range map to 0 or 1.
        rate_bps: Positive,
    ) -> Result<f64, ParameterError> {
        let price = (libm::log(rates.max_rate_bps.get()) - libm::log(rate_bps.get())) / rates.span()?;
        Ok(price.clamp(0.0, 1.0))
    }
    quantity: "price of a rate";
    equation: "p = log(r_max / r) / log(r_max / r_min)";
    source: "cui-thesis, section 5.3.2, which has log(1/r), mapped to the unit interval";
    assumes: ["the price is the logarithm of a rate"];
    refuses: "rates in the wrong order";
    returns: "Price, 0 to 1.";

    /// Relative error of an RCP rate whose price is off by `error`; it is the same for every rate.
    pub fn rcp_rate_error(
        rates: Rates,
        /// Error of the price, in either direction.
        error: Price,
    ) -> Result<RateError, ParameterError> {
        let exponent = error.get() * rates.span()?;
        Ok(RateError { over: libm::expm1(exponent), under: -libm::expm1(-exponent) })
    }
    equation: "over (r_max / r_min)^e - 1, under 1 - (r_max / r_min)^-e";
    source: "cui-thesis, section 5.3.2";
    assumes: ["the price is the logarithm of a rate"];
    refuses: "rates in the wrong order";
    example: ">>> error = tb.models.rcp_rate_error(max_rate_bps=100e9, min_rate_bps=1e3, error=1 / 1024)\n>>> round(error.over, 5)\n0.01815";

    /// Integer code of a MaxNet cost, and the cost decoded from it.
    ///
    /// Costs of 0 down to 1 - q share the code of 0, and all lower costs that of 1 - q. Because q is an offset as well, the unit
    /// of cost determines the accuracy of small costs.
    pub fn maxnet_price(
        /// p, the cost, negative below the target rate.
        cost: Cost,
        /// q, base and offset, above 1.
        base: Positive,
    ) -> Result<MaxnetPrice, ParameterError> {
        let (cost, base) = (cost.0, base.get());
        if base <= 1.0 {
            return Err(ParameterError::new("base", base, "a finite number above 1"));
        }
        let code = upwards(libm::log((cost + base).max(1.0)) / libm::log(base));
        let decoded = libm::pow(base, code) - base;
        if !decoded.is_finite() || code > 9e15 {
            return Err(ParameterError::new("cost", cost, "a smaller one, or a base further from 1: the code is out of floating-point range"));
        }
        let error = decoded - cost;
        Ok(MaxnetPrice { code: code as u64, decoded, error, relative_error: (cost > 0.0).then_some(error / cost) })
    }
    quantity: "price of a cost in MaxNet";
    equation: "v = ceil(log_q(max(1, p + q))), read as q^v - q";
    source: "cui-thesis, section 5.3.2, which does not spell out the decoding";
    assumes: ["large costs: the offset q increases the relative error of small ones"];
    refuses: "a base of 1 or less, and codes out of floating-point range";
    example: ">>> price = tb.models.maxnet_price(cost=100, base=2)\n>>> price.code, price.decoded\n(7, 126.0)";

    /// Smallest base with which MaxNet encodes costs up to a largest one in a given number of codes.
    pub fn maxnet_base(
        /// The largest p, in the unit in which costs are encoded.
        max_cost: Positive,
        /// Codes, 0 among them; at least 3.
        levels: Count,
    ) -> Result<MaxnetBase, ParameterError> {
        let (largest, levels) = (max_cost.get(), levels.get());
        if levels < 3 {
            return Err(ParameterError::new("levels", levels, "at least 3: codes 0 and 1 represent costs of 0 and less"));
        }
        if !(1e-100..=1e100).contains(&largest) {
            return Err(ParameterError::new("max_cost", largest, "1e-100 to 1e100"));
        }
        let top = (levels - 1) as f64;
        // Solved for q - 1, which may be small. At the upper end q^v - q is at least q (q - 1), more than the cost.
        let excess = |granularity: f64| top * libm::log1p(granularity) - libm::log1p(granularity + largest);
        let granularity = root(excess, 0.0, largest);
        Ok(MaxnetBase { base: 1.0 + granularity, granularity })
    }
    equation: "q^(levels - 1) - q = p_max";
    source: "cui-thesis, section 5.3.2";
    assumes: ["costs of at least 0: all lower costs share a code"];
    refuses: "fewer than 3 codes, and costs outside 1e-100 to 1e100";
    example: ">>> round(tb.models.maxnet_base(max_cost=1e11, levels=1024).granularity, 4)\n0.0251";
}

impl Rates {
    /// log(r_max / r_min).
    fn span(self) -> Result<f64, ParameterError> {
        let (largest, smallest) = (self.max_rate_bps.get(), self.min_rate_bps.get());
        match largest / smallest {
            ratio if ratio > 1.0 && ratio.is_finite() => Ok(libm::log(largest) - libm::log(smallest)),
            _ => {
                let expected = format!("more than `min_rate_bps`, {smallest}, by a factor within floating-point range");
                Err(ParameterError::new("max_rate_bps", largest, expected))
            }
        }
    }
}

/// The next whole number; rounding errors above a whole number are ignored.
fn upwards(number: f64) -> f64 {
    let nearest = number.round();
    if (number - nearest).abs() < 1e-12 * number { nearest } else { number.ceil() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positive(value: f64) -> Result<Positive, ParameterError> {
        Positive::new("value", value)
    }

    fn rates(largest: f64, smallest: f64) -> Result<Rates, ParameterError> {
        Ok(Rates { max_rate_bps: positive(largest)?, min_rate_bps: positive(smallest)? })
    }

    #[test]
    fn the_documents_931_levels_are_ten_bits() -> Result<(), ParameterError> {
        let found = price_levels(rates(100e9, 1e3)?, positive(0.02)?)?;
        assert_eq!((found.levels, found.bits, found.thresholds), (931, 10, 1024));
        // Three doublings exactly; slightly more needs a fourth level.
        assert_eq!(price_levels(rates(8e3, 1e3)?, positive(1.0)?)?.levels, 3);
        assert_eq!(price_levels(rates(8.001e3, 1e3)?, positive(1.0)?)?.levels, 4);
        assert_eq!(price_levels(rates(1.5e3, 1e3)?, positive(1.0)?)?.bits, 0);
        assert!(
            price_levels(rates(1e3, 1e3)?, positive(1.0)?).is_err() && price_levels(rates(1e9, 1e3)?, positive(1e-18)?).is_err()
        );
        Ok(())
    }

    #[test]
    fn a_price_decodes_to_its_rate_with_the_stated_relative_error() -> Result<(), ParameterError> {
        let of = |rate| rcp_price(rates(1e11, 1e3)?, positive(rate)?);
        assert!((of(1e7)? - 0.5).abs() < 1e-15);
        assert_eq!((of(1e12)?, of(1e2)?), (0.0, 1.0));
        // A price that is too low by 1/8 yields ten times the rate: the range is eight powers of ten.
        let found = rcp_rate_error(rates(1e11, 1e3)?, Price::new("error", 0.125)?)?;
        assert!((found.over - 9.0).abs() < 1e-12 && (found.under - 0.9).abs() < 1e-14);
        assert!((of(1e6)? - of(1e7)? - 0.125).abs() < 1e-14);
        Ok(())
    }

    #[test]
    fn a_cost_by_hand_and_every_code_survives_decoding_and_encoding() -> Result<(), ParameterError> {
        let of = |cost, base| maxnet_price(Cost(cost), positive(base)?);
        // 100 + 2 is above 64 and not above 128.
        let found = of(100.0, 2.0)?;
        assert_eq!((found.code, found.decoded, found.error, found.relative_error), (7, 126.0, 26.0, Some(0.26)));
        assert_eq!((of(0.0, 2.0)?.code, of(0.0, 2.0)?.decoded, of(0.0, 2.0)?.relative_error), (1, 0.0, None));
        assert_eq!((of(-0.5, 2.0)?.decoded, of(-1.0, 2.0)?.code, of(-1e9, 2.0)?.decoded), (0.0, 0, -1.0));
        for base in [1.0251f64, 1.3, 2.0, 10.0] {
            for code in 0..300u32 {
                let cost = base.powi(code as i32) - base;
                assert_eq!(of(cost, base)?.code, u64::from(code), "{base}");
                if code > 1 {
                    let within = of(cost * 0.999, base)?;
                    let relative = within.relative_error.unwrap_or(f64::NAN);
                    assert!(
                        relative >= 0.0 && relative <= (base - 1.0) * (1.0 + base / (cost * 0.999)) * 1.002,
                        "{base}, {code}: {relative}"
                    );
                }
            }
        }
        assert!(of(1.0, 1.0).is_err() && of(f64::MAX, 1.0 + 1e-15).is_err());
        Ok(())
    }

    #[test]
    fn the_largest_cost_has_the_last_code_with_the_smallest_base() -> Result<(), ParameterError> {
        for (largest, levels) in [(1.0, 3), (100.0, 8), (1e11, 1024), (1e8, 931), (1e-3, 5)] {
            let base = maxnet_base(positive(largest)?, Count::new("levels", levels)?)?.base;
            let last = maxnet_price(Cost(largest), positive(base)?)?;
            assert_eq!(last.code, levels - 1, "{largest}");
            assert!((last.decoded / largest - 1.0).abs() < 1e-8, "{largest}: {}", last.decoded);
        }
        // q^2 - q = 2 has the root 2.
        assert!((maxnet_base(positive(2.0)?, Count::new("levels", 3)?)?.base - 2.0).abs() < 1e-14);
        assert!(maxnet_base(positive(1.0)?, Count::new("levels", 2)?).is_err());
        assert!(maxnet_base(positive(5e-324)?, Count::new("levels", 5)?).is_err_and(|error| error.name == "max_cost"));
        Ok(())
    }
}
