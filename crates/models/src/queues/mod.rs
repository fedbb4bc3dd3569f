//! One port under Poisson arrivals: what it loses, holds and delays.

mod erlang_b;
mod md1;
mod md1k;
mod mm1k;
mod mmck;

pub use erlang_b::*;
pub use md1::*;
pub use md1k::*;
pub use mm1k::*;
pub use mmck::*;

use crate::model::{Model, answers};

pub(crate) const MODELS: &[&[Model]] = &[mm1k::MODELS, md1::MODELS, md1k::MODELS, mmck::MODELS, erlang_b::MODELS];

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
