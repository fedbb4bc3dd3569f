//! M/D/1/K: packets of one size and a limited buffer.
//!
//! This is the chain embedded at departures. Let a(k) be the Poisson probability of k arrivals in a service time and A(k) the
//! probability of more than k. Departures cross from above state j to it as often as services lift the number from at most j to
//! above it: a(0) v(j+1) = v(0) A(j) + sum over i = 1..j of v(i) A(j - i + 1). All terms are positive, so nothing cancels. The
//! time-stationary states are p(j) = v(j) / (v(0) + load) for j < K, and the loss is p(K) = 1 - 1 / (v(0) + load).

use super::FiniteQueue;
use crate::model::models;
use crate::parameter::{Load, ParameterError, Places};

const MAX_PLACES: u32 = 10_000;
/// Above this load a(0) leaves floating-point range.
const MAX_LOAD: f64 = 500.0;

models! {
    /// M/D/1/K: Poisson arrivals, units of one size, one transmitter.
    ///
    /// Exact apart from rounding: losses below about 1e-15 are returned as 0. Run time is proportional to `places` squared.
    pub fn md1k(load: Load, places: Places) -> Result<FiniteQueue, ParameterError> {
        if places.get() > MAX_PLACES {
            return Err(ParameterError::new("places", places.get(), "at most 10000 units in this model"));
        }
        if load.get() > MAX_LOAD {
            return Err(ParameterError::new("load", load.get(), "at most 500 in this model"));
        }
        if places.get() == 0 {
            return Ok(FiniteQueue { loss: 1.0, mean_number: 0.0, mean_wait: 0.0 });
        }
        let load = load.get();
        let left_behind = departure_states(load, places.get() as usize);
        let cycle = left_behind[0] + load;
        let loss = (1.0 - 1.0 / cycle).max(0.0);
        let held: f64 = left_behind.iter().enumerate().map(|(units, probability)| units as f64 * probability).sum();
        let mean_number = held / cycle + f64::from(places.get()) * loss;
        let carried = load / cycle;
        let mean_wait = if carried > 0.0 { mean_number / carried - 1.0 } else { 0.0 };
        Ok(FiniteQueue { loss, mean_number, mean_wait: mean_wait.max(0.0) })
    }
    quantity: "M/D/1/K loss, number, wait";
    equation: "loss = 1 - 1 / (v(0) + load), v(0) the fraction of departures that leave the port empty";
    source: "Cooper, Introduction to Queueing Theory, 2nd ed., 1981, chapter 5: the chain embedded at departures";
    assumes: ["Poisson arrivals", "packets of one size"];
    refuses: "more than 10,000 places or a load above 500";
    example: ">>> tb.models.md1k(load=0.8, places=10).loss < tb.models.mm1k(load=0.8, places=10).loss\nTrue";
}

/// v(0..K): distribution of the number of units that a departing unit leaves behind. Scaled at every step, so that no weight
/// overflows.
fn departure_states(load: f64, places: usize) -> Vec<f64> {
    let none = libm::exp(-load);
    let more = more_arrivals_than(load, places);
    let mut states = vec![1.0];
    for top in 0..places - 1 {
        let lifted: f64 = (1..=top).map(|from| states[from] * more[top - from + 1]).sum();
        states.push((states[0] * more[top] + lifted) / none);
        let total: f64 = states.iter().sum();
        states.iter_mut().for_each(|state| *state /= total);
    }
    states
}

/// A(0..count): the probability of more than k arrivals in one service time, summed from the smallest term.
fn more_arrivals_than(load: f64, count: usize) -> Vec<f64> {
    // Beyond this number of arrivals the remaining probability is below 1e-18 for every valid load.
    let end = count.max((load + 12.0 * load.sqrt() + 40.0) as usize);
    let mut probability = libm::exp(-load);
    let mut exactly = Vec::with_capacity(end + 1);
    for arrivals in 1..=end + 1 {
        exactly.push(probability);
        probability *= load / arrivals as f64;
    }
    let mut more = vec![0.0; end + 1];
    for arrivals in (0..end).rev() {
        more[arrivals] = more[arrivals + 1] + exactly[arrivals + 1];
    }
    more.truncate(count.max(1));
    more
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::StableLoad;
    use crate::queues::{md1_mean_wait, mm1k};

    fn port(load: f64, places: u64) -> Result<FiniteQueue, ParameterError> {
        md1k(Load::new(load)?, Places::new(places)?)
    }

    #[test]
    fn one_place_is_erlang_loss() -> Result<(), ParameterError> {
        let port = port(0.5, 1)?;
        assert!((port.loss - 1.0 / 3.0).abs() < 1e-15);
        assert!((port.mean_number - 1.0 / 3.0).abs() < 1e-15);
        assert!(port.mean_wait < 1e-15);
        Ok(())
    }

    #[test]
    fn two_places_at_load_one() -> Result<(), ParameterError> {
        // v(0) = e^-1, so loss = 1 - 1 / (e^-1 + 1) = 0.268941; p(0) = p(2), hence a mean of 1.
        let port = port(1.0, 2)?;
        assert!((port.loss - 0.268_941).abs() < 1e-6);
        assert!((port.mean_number - 1.0).abs() < 1e-12);
        Ok(())
    }

    #[test]
    fn three_places_at_load_one() -> Result<(), ParameterError> {
        // Weights 1, e - 1, e (e - 2) = 1.952492: v(0) = 1 / 4.670774 = 0.214097 and loss = 1 - 1 / 1.214097.
        assert!((port(1.0, 3)?.loss - 0.176_343).abs() < 1e-6);
        Ok(())
    }

    #[test]
    fn with_a_large_buffer_waits_match_the_unlimited_queue() -> Result<(), ParameterError> {
        for load in [0.1, 0.5, 0.9] {
            let unlimited = md1_mean_wait(StableLoad::new(load)?);
            assert!((port(load, 500)?.mean_wait - unlimited).abs() < 1e-9, "load {load}");
        }
        Ok(())
    }

    #[test]
    fn packets_of_one_size_lose_less_than_exponential_ones() -> Result<(), ParameterError> {
        for load in [0.3, 0.8, 1.0, 1.2] {
            assert!(port(load, 8)?.loss < mm1k(Load::new(load)?, Places::new(8)?).loss, "load {load}");
        }
        Ok(())
    }

    #[test]
    fn overload_loses_the_excess_and_never_overflows() -> Result<(), ParameterError> {
        assert!((port(500.0, 2_000)?.loss - (1.0 - 1.0 / 500.0)).abs() < 1e-12);
        assert!((port(2.0, 2_000)?.loss - 0.5).abs() < 1e-12);
        Ok(())
    }

    #[test]
    fn invalid_parameters_are_refused_by_name() {
        assert_eq!(port(500.1, 5).map_err(|error| error.name), Err("load"));
        assert_eq!(port(0.5, 10_001).map_err(|error| error.name), Err("places"));
    }
}
