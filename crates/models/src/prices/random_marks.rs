//! Prices by the share of packets that are marked: REM and RAM.

use super::{Price, none_of};
use crate::model::{answers, models};
use crate::parameter::{Count, NonNegative, ParameterError, Positive};

answers! {
    /// How well the share of marked packets tells a sum of prices.
    pub struct RemError {
        /// q, the probability of a mark.
        marked: f64,
        /// Mean square error of the share of marked packets: q (1 - q) / k.
        share_mean_square: f64,
        /// Mean square error of the price that follows, to first order.
        price_mean_square: f64,
        /// Probability that all packets are marked, which says no more than that the price is large.
        all_marked: f64,
    }
}

models! {
    /// Error of REM: `packets` marked independently, with a probability that is exponential in the sum of the prices of a path.
    ///
    /// The error of the price is that of the share over the slope of the mapping, ln(phi) phi^-p; it is meant where `all_marked` is small.
    pub fn rem_error(
        /// p, the sum of the prices along the path, not mapped.
        price: NonNegative,
        /// phi, base of the mapping, above 1.
        phi: Positive,
        /// k, packets received.
        packets: Count,
    ) -> Result<RemError, ParameterError> {
        let (base, count) = (phi.get(), packets.get() as f64);
        if base <= 1.0 {
            return Err(ParameterError::new("phi", base, "a finite number above 1"));
        }
        let slope = libm::log1p(base - 1.0);
        let exponent = price.get() * slope;
        let marked = -libm::expm1(-exponent);
        let unmarked = libm::exp(-exponent);
        let price_mean_square = libm::expm1(exponent) / (count * slope * slope);
        if !price_mean_square.is_finite() {
            return Err(ParameterError::new("price", price.get(), "a smaller one: practically every packet is marked"));
        }
        Ok(RemError { marked, share_mean_square: marked * unmarked / count, price_mean_square, all_marked: none_of(unmarked, count) })
    }
    quantity: "error of REM";
    equation: "q = 1 - phi^-p; share: q (1 - q) / k; price: (phi^p - 1) / (k ln(phi)^2)";
    source: "cui-thesis, section 5.2.3 and equations (2.6) and (2.7)";
    assumes: ["every packet is marked independently of the others", "a price that stays"];
    refuses: "a base of 1 or less, and prices whose error no number holds";
    example: ">>> error = tb.models.rem_error(price=1.0, phi=2.0, packets=100)\n>>> error.marked, error.share_mean_square\n(0.5, 0.0025)";

    /// The base with which REM tells a sum of prices with the smallest error: it marks 80 % of the packets.
    pub fn rem_best_phi(
        /// p, the sum of the prices along the path, not mapped.
        price: Positive,
    ) -> Result<f64, ParameterError> {
        let phi = libm::exp(BEST_EXPONENT / price.get());
        match phi {
            _ if phi.is_finite() && phi > 1.0 => Ok(phi),
            _ => Err(ParameterError::new("price", price.get(), "one nearer to 1: the base is out of the range of numbers")),
        }
    }
    equation: "phi = e^(x/p) with x e^x = 2 (e^x - 1), x = 1.5936";
    source: "from the error of the price, by its derivative";
    assumes: ["every packet is marked independently of the others", "a price that stays"];
    refuses: "prices so small or so large that the base is out of the range of numbers";
    returns: "phi, without a unit.";

    /// Mean square error of RAM's estimate of the mean price of a path: `packets` marked independently, with that mean as their probability.
    ///
    /// With one hop and no price given it is 1/(6k), as figure 5.3 has it, also of the share of marked packets in REM. The mean of several
    /// uniform prices is nearer to 1/2, where marks tell least: 45 % more with ten hops.
    pub fn ram_error(
        /// k, packets received.
        packets: Count,
        /// n, routers on the path, with prices that are independent of each other.
        hops: Count = 1,
        /// The mean price of the path; prices uniform in 0 to 1 if not given.
        price: Option<Price>,
    ) -> f64 {
        let of_one = match price {
            Some(price) => price.get() * (1.0 - price.get()),
            None => 1.0 / 4.0 - 1.0 / (12.0 * hops.get() as f64),
        };
        of_one / packets.get() as f64
    }
    quantity: "error of RAM";
    equation: "q (1 - q) / k; of n uniform prices (1/4 - 1/(12 n)) / k, for one 1/(6k)";
    source: "cui-thesis, sections 2.3.4, 5.2.3 and 5.4";
    assumes: ["every packet is marked independently of the others", "a price that stays"];
    returns: "mean square error; that of the sum of prices is n^2 times as large.";
    example: ">>> round(tb.models.ram_error(packets=100), 6)\n0.001667";
}

/// Where (e^x - 1) / x^2 is least.
const BEST_EXPONENT: f64 = 1.593_624_260_040_04;

#[cfg(test)]
mod tests {
    use super::*;

    fn rem(price: f64, phi: f64, packets: u64) -> Result<RemError, ParameterError> {
        let phi = Positive::new("phi", phi)?;
        rem_error(NonNegative::new("price", price)?, phi, Count::new("packets", packets)?)
    }

    #[test]
    fn rem_by_hand() -> Result<(), ParameterError> {
        // phi = 2, p = 2: three quarters are marked; 3/16 over 100; over the slope (ln 2 / 4)^2.
        let found = rem(2.0, 2.0, 100)?;
        assert!((found.marked - 0.75).abs() < 1e-15 && (found.share_mean_square - 3.0 / 1600.0).abs() < 1e-17);
        let slope = std::f64::consts::LN_2 / 4.0;
        assert!((found.price_mean_square - 3.0 / 1600.0 / slope / slope).abs() < 1e-14);
        assert!((found.all_marked / 0.75f64.powi(100) - 1.0).abs() < 1e-12);
        assert!(rem(2.0, 1.0, 100).is_err() && rem(1e6, 2.0, 100).is_err());
        Ok(())
    }

    #[test]
    fn the_first_order_is_the_error_of_the_estimates_of_the_binomial_distribution() -> Result<(), ParameterError> {
        // All numbers of marks of 20,000 packets but that of all, 2^-20000, which has no estimate.
        let (packets, found) = (20_000u64, rem(1.0, 2.0, 20_000)?);
        let ln_factorial = |n: u64| libm::lgamma(n as f64 + 1.0);
        let mut square = 0.0;
        for marks in 0..packets {
            let chance =
                (ln_factorial(packets) - ln_factorial(marks) - ln_factorial(packets - marks) - packets as f64 * 2f64.ln()).exp();
            let price = -(1.0 - marks as f64 / packets as f64).log2();
            square += chance * (price - 1.0) * (price - 1.0);
        }
        assert!((square / found.price_mean_square - 1.0).abs() < 3e-4, "{square}");
        Ok(())
    }

    #[test]
    fn no_base_is_better_than_the_best() -> Result<(), ParameterError> {
        for price in [0.1, 1.0, 30.0] {
            let best = rem_best_phi(Positive::new("price", price)?)?;
            let error = |phi| rem(price, phi, 100).map(|error| error.price_mean_square);
            assert!(error(best)? < error(1.0 + (best - 1.0) * 1.01)? && error(best)? < error(1.0 + (best - 1.0) * 0.99)?);
            assert!((rem(price, best, 1)?.marked - 0.7968).abs() < 1e-4);
        }
        assert!(rem_best_phi(Positive::new("price", 1e-9)?).is_err());
        Ok(())
    }

    #[test]
    fn ram_averages_to_a_sixth_of_a_packet_for_one_hop_and_more_for_ten() -> Result<(), ParameterError> {
        let of =
            |hops, price| Ok::<f64, ParameterError>(ram_error(Count::new("packets", 100)?, Count::new("hops", hops)?, price));
        // Integral of q (1 - q) over one uniform price; over two, that of their mean.
        assert!((of(1, None)? - 1.0 / 600.0).abs() < 1e-17);
        let steps = 1000;
        let mean = |step: i32| (f64::from(step) + 0.5) / f64::from(steps);
        let pairs = (0..steps).flat_map(|a| (0..steps).map(move |b| (mean(a) + mean(b)) / 2.0));
        let two = pairs.map(|q| q * (1.0 - q)).sum::<f64>() / f64::from(steps * steps) / 100.0;
        assert!((of(2, None)? / two - 1.0).abs() < 1e-6);
        assert!((of(10, None)? / of(1, None)? - 1.45).abs() < 1e-12);
        assert_eq!(of(7, Some(Price::new("price", 0.5)?))?, 0.0025);
        Ok(())
    }
}
