//! Congestion prices carried by packet marks: the accuracy of a receiver's estimate after a number of packets, and its response
//! to changes.
//!
//! Start in `fixed` for adaptive deterministic packet marking (ADPM), in `random_marks` for REM and RAM, in `binary` for schemes
//! with a fixed quantiser. Prices are mapped to 0 to 1, as in `mapping`. In ADPM a packet has a threshold, and routers mark it if
//! their price exceeds the threshold. The receiver, which knows the threshold, adopts it as its estimate if the estimate
//! contradicts the mark. A rising price is therefore always underestimated, and by symmetry a falling one is overestimated by the
//! same amount.

mod binary;
mod detection;
mod fixed;
mod keyword;
mod mapping;
mod ramp;
mod random_marks;
mod thresholds;

pub use thresholds::ProbeOrder;

use crate::model::family;
use crate::parameter::{ParameterError, Scalar, arguments_of_one_number, whole};

family! { fixed, detection, ramp, random_marks, binary, mapping }

/// A price, or another fraction, mapped to the unit interval: 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price(f64);

/// Size of a price change: above 0 and below 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PriceChange(f64);

/// Bits of a threshold: 1 to 16, because the IPid carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits(u32);

impl Price {
    /// `name` is the field for error messages.
    pub fn new(name: &'static str, value: f64) -> Result<Price, ParameterError> {
        match value {
            _ if (0.0..=1.0).contains(&value) => Ok(Price(value)),
            _ => Err(ParameterError::new(name, value, Price::RANGE)),
        }
    }

    pub fn get(self) -> f64 {
        self.0
    }
}

impl PriceChange {
    /// `name` is the field for error messages.
    pub fn new(name: &'static str, value: f64) -> Result<PriceChange, ParameterError> {
        match value {
            _ if value > 0.0 && value < 1.0 => Ok(PriceChange(value)),
            _ => Err(ParameterError::new(name, value, PriceChange::RANGE)),
        }
    }

    pub fn get(self) -> f64 {
        self.0
    }
}

impl Bits {
    /// `name` is the field for error messages.
    pub fn new(name: &'static str, value: u64) -> Result<Bits, ParameterError> {
        match value {
            1..=16 => Ok(Bits(value as u32)),
            _ => Err(ParameterError::new(name, value, Bits::RANGE)),
        }
    }

    /// Number of thresholds.
    pub(super) fn thresholds(self) -> usize {
        1 << self.0
    }

    /// The threshold of a counter in bit-reversed counting, R, in units of the smallest.
    pub(super) fn reversed(self, counter: usize) -> usize {
        let counter = (counter % self.thresholds()) as u32;
        (counter.reverse_bits() >> (u32::BITS - self.0)) as usize
    }
}

impl Scalar for Price {
    const HELP: &'static str = "";
    const RANGE: &'static str = "0 to 1";

    fn of(name: &'static str, number: f64) -> Result<Price, ParameterError> {
        Price::new(name, number)
    }
}

impl Scalar for PriceChange {
    const HELP: &'static str = "";
    const RANGE: &'static str = "above 0 and below 1";

    fn of(name: &'static str, number: f64) -> Result<PriceChange, ParameterError> {
        PriceChange::new(name, number)
    }
}

impl Scalar for Bits {
    const HELP: &'static str = "Bits of a threshold: there are 2^bits thresholds, and the IPid has 16 bits.";
    const RANGE: &'static str = "1 to 16";
    const WHOLE: bool = true;

    fn of(name: &'static str, number: f64) -> Result<Bits, ParameterError> {
        Bits::new(name, whole(name, number)?)
    }
}

arguments_of_one_number!(Price, PriceChange, Bits);

/// Gauss-Legendre quadrature with eight points on -1 to 1: the positive nodes, and their weights. Exact for polynomials of degree
/// 15.
const RULE: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_27),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

/// Integral of a function that is nearly a polynomial between `low` and `high`.
fn integral(function: impl Fn(f64) -> f64, low: f64, high: f64) -> f64 {
    let (middle, half) = ((low + high) / 2.0, (high - low) / 2.0);
    half * RULE.iter().map(|(at, weight)| weight * (function(middle - half * at) + function(middle + half * at))).sum::<f64>()
}

/// (1 - p)^k for a probability p and a number k.
fn none_of(share: f64, count: f64) -> f64 {
    match count {
        0.0 => 1.0,
        _ => libm::exp(count * libm::log1p(-share.min(1.0))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bit_reversed_counters_are_100_010_110_001_after_the_point() -> Result<(), ParameterError> {
        // Note N-12: R(1) is one half; the printed exponent would make it 1.
        let bits = Bits::new("bits", 3)?;
        let thresholds: Vec<usize> = (1..=9).map(|counter| bits.reversed(counter)).collect();
        assert_eq!(thresholds, [0b100, 0b010, 0b110, 0b001, 0b101, 0b011, 0b111, 0, 0b100]);
        Ok(())
    }

    #[test]
    fn integrals_of_polynomials_are_exact() {
        for power in 0..16 {
            let found = integral(|x| (0..power).fold(1.0, |product, _| product * x), 1.0, 2.0);
            let expected = (f64::from(1u32 << (power + 1)) - 1.0) / f64::from(power + 1);
            assert!((found / expected - 1.0).abs() < 1e-14, "{power}: {found}");
        }
    }

    #[test]
    fn each_range_includes_exactly_its_documented_ends() {
        assert!(Price::new("x", 0.0).is_ok() && Price::new("x", 1.0).is_ok() && Price::new("x", 1.1).is_err());
        assert!(PriceChange::new("x", 0.0).is_err() && PriceChange::new("x", 1.0).is_err() && PriceChange::new("x", 0.5).is_ok());
        assert!(Bits::new("x", 0).is_err() && Bits::new("x", 16).is_ok() && Bits::new("x", 17).is_err());
        assert!(Price::new("x", f64::NAN).is_err() && PriceChange::new("x", f64::NAN).is_err());
        assert_eq!((none_of(1.0, 0.0), none_of(1.0, 2.0), none_of(0.5, 2.0)), (1.0, 0.0, 0.25));
    }
}
