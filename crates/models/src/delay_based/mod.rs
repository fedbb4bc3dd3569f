//! FAST and Vegas: where delay keeps windows, what a flow takes that arrives at a full queue, and how long draining takes.
//!
//! Delays of arrivals are solved for the step that each adds, which is positive, and sums of steps are sums of positive numbers: nothing cancels,
//! and a thousand arrivals are known to the last digits. Solved for the whole delay, each step would be the difference of two large numbers.

mod arrivals;
mod coefficients;
mod draining;
mod equilibrium;

use crate::model::{answers, family};
use crate::parameter::{Count, ParameterError};

family! { equilibrium, arrivals, coefficients, draining }

answers! {
    /// An equilibrium of flows that arrived one after the other, each once those before it were in theirs.
    pub struct Arrived {
        /// By how much the last arrival lengthened the queue: packets over `alpha`, or of Vegas seconds over the base round trip.
        step: f64,
        /// The whole queue in the same unit.
        queue: f64,
        /// Rate of the flow that was asked for, over the capacity.
        share: f64,
        /// The same over an equal share.
        relative_share: f64,
        /// Jain's index of all rates: (sum x)^2 / (n sum x^2).
        fairness: f64,
    }
}

/// More take too long: the time grows with their square.
const MOST_ARRIVALS: u64 = 10_000;

fn few(arrived: Count) -> Result<usize, ParameterError> {
    match arrived.get() {
        few @ ..=MOST_ARRIVALS => Ok(few as usize),
        many => Err(ParameterError::new("arrived", many, "at most 10000 arrivals")),
    }
}
