//! M/D/1: packets of one size and an unlimited buffer.

use crate::model::models;
use crate::parameter::StableLoad;

models! {
    /// M/D/1: mean waiting time of a unit before its service begins, in service times.
    ///
    /// The mean number waiting is `load` times this.
    pub fn md1_mean_wait(load: StableLoad) -> f64 {
        // load (1 + v) / (2 (1 - load)) with the squared coefficient of variation v = 0.
        load.get() / (2.0 * (1.0 - load.get()))
    }
    quantity: "M/D/1 mean wait";
    equation: "load / (2 (1 - load))";
    source: "Pollaczek-Khinchine: Kleinrock, Queueing Systems 1, 1975, section 5.6";
    assumes: ["Poisson arrivals", "packets of one size", "unlimited buffer"];
    returns: "Service times.";
    example: ">>> tb.models.md1_mean_wait(0.5)\n0.5";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::ParameterError;

    #[test]
    fn half_load_waits_half_a_service_time_and_four_fifths_wait_two() -> Result<(), ParameterError> {
        assert_eq!(md1_mean_wait(StableLoad::new(0.5)?), 0.5);
        assert!((md1_mean_wait(StableLoad::new(0.8)?) - 2.0).abs() < 1e-12);
        Ok(())
    }
}
