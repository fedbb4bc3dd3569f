//! One port with Poisson arrivals: loss, number in the system and waiting time.

mod erlang_b;
mod md1;
mod md1k;
mod mg1;
mod mm1k;
mod mmck;

use crate::model::{answers, family};

family! { mm1k, md1, md1k, mg1, mmck, erlang_b }

answers! {
    /// Equilibrium of a port with a limited buffer.
    pub struct FiniteQueue {
        /// Fraction of arrivals refused, 0 to 1.
        loss: f64,
        /// Mean number of units in the port, units in service included.
        mean_number: f64,
        /// Mean waiting time of an accepted unit before its service begins, in mean service times.
        mean_wait: f64,
    }
}
