//! M/D/1: packets of one size and room for all of them.

use crate::parameter::StableLoad;

/// Mean time that a unit waits before its service begins, in service times.
///
/// Source: the Pollaczek-Khinchine mean-value formula, load (1 + v) / (2 (1 - load)) with squared coefficient of variation v = 0
/// (Kleinrock, Queueing Systems 1, 1975, section 5.6). The mean number waiting is `load` times this.
pub fn md1_mean_wait(load: StableLoad) -> f64 {
    load.get() / (2.0 * (1.0 - load.get()))
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
