//! M/G/1: packets of any sizes and an unlimited buffer.

use crate::model::models;
use crate::parameter::{NonNegative, StableLoad};

models! {
    /// M/G/1: mean waiting time of a unit before its service begins, in mean service times (Pollaczek-Khinchine).
    ///
    /// The mean number waiting is `load` times this. For several kinds of packets, mean and variance are those of all packets.
    pub fn mg1_mean_wait(
        load: StableLoad,
        /// Variance of the service times over the square of their mean: 0 for one size, 1 for exponential sizes.
        squared_cv: NonNegative,
    ) -> f64 {
        load.get() * (1.0 + squared_cv.get()) / (2.0 * (1.0 - load.get()))
    }
    quantity: "M/G/1 mean wait";
    equation: "load (1 + squared_cv) / (2 (1 - load))";
    source: "Pollaczek-Khinchine: Kleinrock, Queueing Systems 1, 1975, section 5.6";
    assumes: ["Poisson arrivals", "packet sizes independent of each other", "unlimited buffer"];
    returns: "Mean service times.";
    example: ">>> tb.models.mg1_mean_wait(load=0.5, squared_cv=1)\n1.0";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::ParameterError;
    use crate::queues::md1_mean_wait;

    #[test]
    fn one_size_is_md1_and_exponential_sizes_wait_twice_as_long() -> Result<(), ParameterError> {
        let load = StableLoad::new(0.8)?;
        let of = |squared_cv| NonNegative::new("squared_cv", squared_cv).map(|squared_cv| mg1_mean_wait(load, squared_cv));
        assert_eq!(of(0.0)?, md1_mean_wait(load));
        // M/M/1: load / (1 - load).
        assert!((of(1.0)? - 4.0).abs() < 1e-12);
        Ok(())
    }
}
