//! One port under Poisson arrivals: what it loses, holds and delays.

mod erlang_b;
mod md1;
mod md1k;
mod mm1k;
mod mmck;

use crate::model::{answers, family};

family! { mm1k, md1, md1k, mmck, erlang_b }

answers! {
    /// A port with limited room in equilibrium.
    pub struct FiniteQueue {
        /// Fraction of arrivals refused, 0 to 1.
        loss: f64,
        /// Mean number of units in the port, those in service included.
        mean_number: f64,
        /// Mean time that an accepted unit waits before its service begins, in mean service times.
        mean_wait: f64,
    }
}
