//! Prices estimated from the fraction of marked packets: REM and RAM.

use super::{Price, none_of};
use crate::model::{answers, models};
use crate::parameter::{Count, NonNegative, ParameterError, Positive};

answers! {
    /// Accuracy of a sum of prices estimated from the fraction of marked packets.
    pub struct RemError {
        /// q, the probability of a mark.
        marked: f64,
        /// Mean square error of the fraction of marked packets: q (1 - q) / k.
        share_mean_square: f64,
        /// Mean square error of the price derived from it, to first order.
        price_mean_square: f64,
        /// Probability that all packets are marked, in which case the price is known only to be large.
        all_marked: f64,
    }
}

models! {
    /// Error of REM: `packets` are marked independently, with a probability that is exponential in the sum of the prices of a
    /// path.
    ///
    /// The error of the price is the error of the fraction over the slope of the mapping, ln(phi) phi^-p. It is valid where
    /// `all_marked` is small.
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
            return Err(ParameterError::new("price", price.get(), "a smaller one: practically every packet would be marked"));
        }
        Ok(RemError { marked, share_mean_square: marked * unmarked / count, price_mean_square, all_marked: none_of(unmarked, count) })
    }
    quantity: "error of REM";
    equation: "q = 1 - phi^-p; share: q (1 - q) / k; price: (phi^p - 1) / (k ln(phi)^2)";
    source: "cui-thesis, section 5.2.3 and equations (2.6) and (2.7)";
    assumes: ["every packet is marked independently of the others", "a constant price"];
    refuses: "a base of 1 or less, and prices whose error is out of floating-point range";
    example: ">>> error = tb.models.rem_error(price=1.0, phi=2.0, packets=100)\n>>> error.marked, error.share_mean_square\n(0.5, 0.0025)";

    /// Base with which REM estimates a sum of prices with the smallest error: it marks 80 % of the packets.
    pub fn rem_best_phi(
        /// p, the sum of the prices along the path, not mapped.
        price: Positive,
    ) -> Result<f64, ParameterError> {
        let phi = libm::exp(BEST_EXPONENT / price.get());
        match phi {
            _ if phi.is_finite() && phi > 1.0 => Ok(phi),
            _ => Err(ParameterError::new("price", price.get(), "one closer to 1: the base is out of floating-point range")),
        }
    }
    equation: "phi = e^(x/p) with x e^x = 2 (e^x - 1), x = 1.5936";
    source: "minimum of the price's error, by its derivative";
    assumes: ["every packet is marked independently of the others", "a constant price"];
    refuses: "prices for which the base is out of floating-point range";
    returns: "phi, dimensionless.";

    /// Mean square error of the RAM estimate of the mean price of a path: `packets` are marked independently, each with that mean
    /// as its probability.
    ///
    /// For one hop without a given price it is 1/(6k), as in figure 5.3, which also holds for the fraction of marked packets in
    /// REM. The mean of several uniform prices is closer to 1/2, where marks carry least information: the error is 45 % larger
    /// with ten hops.
    pub fn ram_error(
        /// k, packets received.
        packets: Count,
        /// n, routers on the path, with independent prices.
        hops: Count = 1,
        /// Mean price of the path; if omitted, prices are uniform in 0 to 1.
        price: Option<Price>,
    ) -> f64 {
        let of_one = match price {
            Some(price) => price.get() * (1.0 - price.get()),
            None => 1.0 / 4.0 - 1.0 / (12.0 * hops.get() as f64),
        };
        of_one / packets.get() as f64
    }
    quantity: "error of RAM";
    equation: "q (1 - q) / k; for n uniform prices (1/4 - 1/(12 n)) / k, for one 1/(6k)";
    source: "cui-thesis, sections 2.3.4, 5.2.3 and 5.4";
    assumes: ["every packet is marked independently of the others", "a constant price"];
    returns: "Mean square error; the error of the sum of prices is n^2 times as large.";
    example: ">>> round(tb.models.ram_error(packets=100), 6)\n0.001667";
}

/// Minimum of (e^x - 1) / x^2.
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
        // phi = 2, p = 2: three quarters are marked; 3/16 over 100; divided by the squared slope, (ln 2 / 4)^2.
        let found = rem(2.0, 2.0, 100)?;
        assert!((found.marked - 0.75).abs() < 1e-15 && (found.share_mean_square - 3.0 / 1600.0).abs() < 1e-17);
        let slope = std::f64::consts::LN_2 / 4.0;
        assert!((found.price_mean_square - 3.0 / 1600.0 / slope / slope).abs() < 1e-14);
        assert!((found.all_marked / 0.75f64.powi(100) - 1.0).abs() < 1e-12);
        assert!(rem(2.0, 1.0, 100).is_err() && rem(1e6, 2.0, 100).is_err());
        Ok(())
    }

    #[test]
    fn the_first_order_matches_the_error_under_the_binomial_distribution() -> Result<(), ParameterError> {
        // All numbers of marks among 20,000 packets except 20,000, which has probability 2^-20000 and no estimate.
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
    fn no_base_beats_the_best_one() -> Result<(), ParameterError> {
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
    fn ram_has_a_mean_square_error_of_one_sixth_over_k_for_one_hop_and_more_for_ten() -> Result<(), ParameterError> {
        let of =
            |hops, price| Ok::<f64, ParameterError>(ram_error(Count::new("packets", 100)?, Count::new("hops", hops)?, price));
        // Integral of q (1 - q) over one uniform price; over the mean of two.
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
