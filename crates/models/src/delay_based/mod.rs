//! FAST and Vegas: equilibrium windows, the rates of flows that arrive at a non-empty queue, and the time to drain a queue.
//!
//! The delays of arrivals are solved for the step that each arrival adds. Steps are positive, and so are all terms of their sums,
//! so that nothing cancels and a thousand arrivals are accurate to the last digits. If the equations were solved for the total
//! delay, each step would be the difference of two large numbers.

mod arrivals;
mod coefficients;
mod draining;
mod equilibrium;

use crate::model::{answers, family};
use crate::parameter::{Count, ParameterError};

family! { equilibrium, arrivals, coefficients, draining }

answers! {
    /// Equilibrium of flows that arrived one after the other, each after the flows before it had reached equilibrium.
    pub struct ArrivalEquilibrium {
        /// Queue added by the last arrival: packets over `alpha`, or for Vegas seconds over the base round trip.
        step: f64,
        /// The whole queue in the same unit.
        queue: f64,
        /// Rate of `flow` over the capacity.
        share: f64,
        /// Rate of `flow` over an equal share.
        relative_share: f64,
        /// Jain's index of all rates: (sum x)^2 / (n sum x^2).
        fairness: f64,
    }
}

/// A larger number takes too long: the time grows with its square.
const MAX_ARRIVALS: u64 = 10_000;

fn few(arrived: Count) -> Result<usize, ParameterError> {
    match arrived.get() {
        few @ ..=MAX_ARRIVALS => Ok(few as usize),
        many => Err(ParameterError::new("arrived", many, "at most 10000 arrivals")),
    }
}
