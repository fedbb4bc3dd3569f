//! Queue added by late arrivals when very many flows were present before.

use super::few;
use crate::model::models;
use crate::parameter::{Count, ParameterError};
use crate::root::root;

models! {
    /// Coefficient of the square root of N in the queue that the `arrived`-th new flow adds, in units of `alpha`, when N flows
    /// know the base round trip: the limit of `fast_arrivals` for large `existing`.
    pub fn late_arrival_coefficient(
        /// i, index of the new flow: 1 is the first.
        arrived: Count,
    ) -> Result<f64, ParameterError> {
        let count = few(arrived)?;
        let mut since = vec![1.0];
        for arrival in 2..=count {
            let before = since[0];
            let excess = |a: f64| 1.0 / a + since.iter().map(|added| 1.0 / (a + added)).sum::<f64>() - (before + a);
            let a = root(excess, 1.0 / (before + 1.0), arrival as f64);
            since.iter_mut().for_each(|added| *added += a);
            since.push(a);
        }
        Ok(since[count - 1])
    }
    quantity: "queue added by late FAST flows";
    equation: "sum_j 1 / sum_(k = j..i) a_k = sum_(k = 1..i) a_k, a_1 = 1";
    source: "cui-thesis, equations (4.27) to (4.29) and (C.6) to (C.8), whose right side is printed with a wrong index";
    assumes: ["many flows that know the base RTT", "fewer arrivals than the square root of their number"];
    refuses: "more than 10,000 arrivals";
    returns: "a_i, dimensionless.";
    example: ">>> round(tb.models.late_arrival_coefficient(arrived=2), 6)\n0.801938";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delay_based::{Arrivals, fast_arrivals};
    use crate::parameter::Integer;

    #[test]
    fn the_second_coefficient_solves_the_cubic_of_4_27() -> Result<(), ParameterError> {
        let a = late_arrival_coefficient(Count::new("arrived", 2)?)?;
        assert!((2.0 * a + 1.0 - a * (a + 1.0) * (a + 1.0)).abs() < 4e-15);
        assert_eq!(late_arrival_coefficient(Count::ONE)?, 1.0);
        Ok(())
    }

    #[test]
    fn coefficients_are_the_limit_of_the_exact_steps() -> Result<(), ParameterError> {
        // The next term does not grow with N. It is 2.4 for the twentieth arrival.
        let existing = Integer::new(1_000_000_000_000);
        for index in [1, 2, 5, 20] {
            let arrived = Count::new("arrived", index)?;
            let step = fast_arrivals(Arrivals { existing, arrived, flow: Integer::new(1) })?.step;
            assert!((step / 1e6 - late_arrival_coefficient(arrived)?).abs() < 3e-6, "{index}");
        }
        Ok(())
    }
}
