//! One port under Poisson arrivals: what it loses, holds and delays.

mod erlang_b;
mod md1;
mod md1k;
mod mm1k;
mod mmck;

pub use erlang_b::erlang_b;
pub use md1::md1_mean_wait;
pub use md1k::md1k;
pub use mm1k::mm1k;
pub use mmck::mmck;

/// A port with limited room in equilibrium.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct FiniteQueue {
    /// Fraction of arrivals refused, 0 to 1.
    pub loss: f64,
    /// Mean number of units in the port, those in service included.
    pub mean_number: f64,
    /// Mean time that an accepted unit waits before its service begins, in mean service times.
    pub mean_wait: f64,
}
