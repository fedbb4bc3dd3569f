//! From rates and costs to prices of 0 to 1, or to whole numbers, and back.

use super::Price;
use crate::model::{answers, arguments, models};
use crate::parameter::{Count, ParameterError, Positive, Scalar, arguments_of_one_number};
use crate::root::root;

/// A finite number, in the unit that its field names.
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
    /// The rates that a price may stand for.
    pub struct Rates {
        /// r_max, which a price of 0 stands for.
        largest_bps: Positive,
        /// r_min, which a price of 1 stands for.
        smallest_bps: Positive,
    }
}

answers! {
    /// How many prices tell all rates apart.
    pub struct PriceLevels {
        /// Levels.
        levels: u64,
        /// Binary digits that number them.
        bits: u64,
        /// Thresholds of so many digits.
        thresholds: u64,
    }
}

answers! {
    /// How far off a rate is that is read from a price.
    pub struct RateError {
        /// By which part the rate is too high if the price is too low.
        over: f64,
        /// By which part the rate is too low if the price is too high.
        under: f64,
    }
}

answers! {
    /// A cost as it is carried, and as it is read.
    pub struct MaxnetPrice {
        /// What is carried.
        code: u64,
        /// The cost that is read from it: not below what it was.
        decoded: f64,
        /// By how much that is more.
        error: f64,
        /// The same over the cost: up to (q - 1) (1 + q/p). None of a cost of 0 or less.
        relative_error: Option<f64>,
    }
}

answers! {
    /// A base for costs.
    pub struct MaxnetBase {
        /// q, base and offset.
        base: f64,
        /// q - 1, the relative error of large costs.
        granularity: f64,
    }
}

models! {
    /// Levels of a price that tell rates apart whose ratio is 1 + `granularity`.
    pub fn price_levels(
        rates: Rates,
        /// epsilon, the largest relative difference of two rates with the same price.
        granularity: Positive,
    ) -> Result<PriceLevels, ParameterError> {
        let levels = upwards(rates.span()? / libm::log1p(granularity.get())).max(1.0);
        // As far as whole numbers are exact.
        if levels > 4e15 {
            return Err(ParameterError::new("granularity", granularity.get(), "a coarser one: levels are out of the range of numbers"));
        }
        let levels = levels as u64;
        let bits = levels.next_power_of_two().ilog2();
        Ok(PriceLevels { levels, bits: bits.into(), thresholds: 1 << bits })
    }
    quantity: "levels of a price";
    equation: "ceil(log(r_max / r_min) / log(1 + epsilon))";
    source: "cui-thesis, section 5.3.2";
    assumes: ["the price is the logarithm of a rate"];
    refuses: "rates in the wrong order, and more levels than numbers hold";
    example: ">>> tb.models.price_levels(largest_bps=100e9, smallest_bps=1e3, granularity=0.02).levels\n931";

    /// The price that stands for a rate of RCP: 0 for the largest and 1 for the smallest, so that the largest price of a path is its smallest rate.
    pub fn rcp_price(
        rates: Rates,
        /// r, the rate that a router allows; what is outside is 0 or 1.
        rate_bps: Positive,
    ) -> Result<f64, ParameterError> {
        let price = (libm::log(rates.largest_bps.get()) - libm::log(rate_bps.get())) / rates.span()?;
        Ok(price.clamp(0.0, 1.0))
    }
    quantity: "price of a rate";
    equation: "p = log(r_max / r) / log(r_max / r_min)";
    source: "cui-thesis, section 5.3.2, which has log(1/r), mapped to 0 to 1";
    assumes: ["the price is the logarithm of a rate"];
    refuses: "rates in the wrong order";
    returns: "a price, 0 to 1.";

    /// How far off a rate of RCP is if its price is off by `error`: the same part of every rate.
    pub fn rcp_rate_error(
        rates: Rates,
        /// Of the price, either way.
        error: Price,
    ) -> Result<RateError, ParameterError> {
        let exponent = error.get() * rates.span()?;
        Ok(RateError { over: libm::expm1(exponent), under: -libm::expm1(-exponent) })
    }
    equation: "over (r_max / r_min)^e - 1, under 1 - (r_max / r_min)^-e";
    source: "cui-thesis, section 5.3.2";
    assumes: ["the price is the logarithm of a rate"];
    refuses: "rates in the wrong order";
    example: ">>> error = tb.models.rcp_rate_error(largest_bps=100e9, smallest_bps=1e3, error=1 / 1024)\n>>> round(error.over, 5)\n0.01815";

    /// A cost of MaxNet as a whole number, and what is read from that.
    ///
    /// Costs of 0 down to 1 - q are carried as those of 0, all below as 1 - q. What a cost of 1 is decides how close small ones come, for q is an
    /// offset as well.
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
            return Err(ParameterError::new("cost", cost, "a smaller one, or a base further from 1: the code is out of the range of numbers"));
        }
        let error = decoded - cost;
        Ok(MaxnetPrice { code: code as u64, decoded, error, relative_error: (cost > 0.0).then_some(error / cost) })
    }
    quantity: "price of a cost in MaxNet";
    equation: "v = ceil(log_q(max(1, p + q))), read as q^v - q";
    source: "cui-thesis, section 5.3.2, whose reading is not written out";
    assumes: ["large costs: of small ones the offset q hides which part they are off"];
    refuses: "a base of 1 or less, and codes that no number holds";
    example: ">>> price = tb.models.maxnet_price(cost=100, base=2)\n>>> price.code, price.decoded\n(7, 126.0)";

    /// The smallest base with which MaxNet carries costs up to a largest one in so many codes.
    pub fn maxnet_base(
        /// The largest p, in the unit in which costs are carried.
        largest_cost: Positive,
        /// Codes, 0 among them; at least 3.
        levels: Count,
    ) -> Result<MaxnetBase, ParameterError> {
        let (largest, levels) = (largest_cost.get(), levels.get());
        if levels < 3 {
            return Err(ParameterError::new("levels", levels, "at least 3: codes 0 and 1 are all costs of 0 and less"));
        }
        if !(1e-100..=1e100).contains(&largest) {
            return Err(ParameterError::new("largest_cost", largest, "1e-100 to 1e100"));
        }
        let top = (levels - 1) as f64;
        // In q - 1, which may be small. At the upper end q^v - q is at least q (q - 1), more than the cost.
        let excess = |granularity: f64| top * libm::log1p(granularity) - libm::log1p(granularity + largest);
        let granularity = root(excess, 0.0, largest);
        Ok(MaxnetBase { base: 1.0 + granularity, granularity })
    }
    equation: "q^(levels - 1) - q = p_max";
    source: "cui-thesis, section 5.3.2";
    assumes: ["costs down to 0: those below share a code"];
    refuses: "fewer than 3 codes, and costs that are hardly numbers";
    example: ">>> round(tb.models.maxnet_base(largest_cost=1e11, levels=1024).granularity, 4)\n0.0251";
}

impl Rates {
    /// log(r_max / r_min).
    fn span(self) -> Result<f64, ParameterError> {
        let (largest, smallest) = (self.largest_bps.get(), self.smallest_bps.get());
        match largest / smallest {
            ratio if ratio > 1.0 && ratio.is_finite() => Ok(libm::log(largest) - libm::log(smallest)),
            _ => {
                let expected = format!("more than `smallest_bps`, {smallest}, by a factor within the range of numbers");
                Err(ParameterError::new("largest_bps", largest, expected))
            }
        }
    }
}

/// The next whole number, but for what rounding adds to one.
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
        Ok(Rates { largest_bps: positive(largest)?, smallest_bps: positive(smallest)? })
    }

    #[test]
    fn the_documents_931_levels_are_ten_bits() -> Result<(), ParameterError> {
        let found = price_levels(rates(100e9, 1e3)?, positive(0.02)?)?;
        assert_eq!((found.levels, found.bits, found.thresholds), (931, 10, 1024));
        // Three doublings exactly; hardly more is a fourth.
        assert_eq!(price_levels(rates(8e3, 1e3)?, positive(1.0)?)?.levels, 3);
        assert_eq!(price_levels(rates(8.001e3, 1e3)?, positive(1.0)?)?.levels, 4);
        assert_eq!(price_levels(rates(1.5e3, 1e3)?, positive(1.0)?)?.bits, 0);
        assert!(
            price_levels(rates(1e3, 1e3)?, positive(1.0)?).is_err() && price_levels(rates(1e9, 1e3)?, positive(1e-18)?).is_err()
        );
        Ok(())
    }

    #[test]
    fn a_price_is_read_as_its_rate_and_off_by_the_part_that_is_said() -> Result<(), ParameterError> {
        let of = |rate| rcp_price(rates(1e11, 1e3)?, positive(rate)?);
        assert!((of(1e7)? - 0.5).abs() < 1e-15);
        assert_eq!((of(1e12)?, of(1e2)?), (0.0, 1.0));
        // A price that is too low by 1/8 is ten times the rate: eight powers of ten.
        let found = rcp_rate_error(rates(1e11, 1e3)?, Price::new("error", 0.125)?)?;
        assert!((found.over - 9.0).abs() < 1e-12 && (found.under - 0.9).abs() < 1e-14);
        assert!((of(1e6)? - of(1e7)? - 0.125).abs() < 1e-14);
        Ok(())
    }

    #[test]
    fn a_cost_by_hand_and_every_code_is_read_and_carried_as_itself() -> Result<(), ParameterError> {
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
    fn with_the_smallest_base_the_largest_cost_has_the_last_code() -> Result<(), ParameterError> {
        for (largest, levels) in [(1.0, 3), (100.0, 8), (1e11, 1024), (1e8, 931), (1e-3, 5)] {
            let base = maxnet_base(positive(largest)?, Count::new("levels", levels)?)?.base;
            let last = maxnet_price(Cost(largest), positive(base)?)?;
            assert_eq!(last.code, levels - 1, "{largest}");
            assert!((last.decoded / largest - 1.0).abs() < 1e-8, "{largest}: {}", last.decoded);
        }
        // q^2 - q = 2 has the root 2.
        assert!((maxnet_base(positive(2.0)?, Count::new("levels", 3)?)?.base - 2.0).abs() < 1e-14);
        assert!(maxnet_base(positive(1.0)?, Count::new("levels", 2)?).is_err());
        assert!(maxnet_base(positive(5e-324)?, Count::new("levels", 5)?).is_err_and(|error| error.name == "largest_cost"));
        Ok(())
    }
}
