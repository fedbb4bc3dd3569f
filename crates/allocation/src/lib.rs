//! Exact fair shares of a network's capacity: the rates that an ideal allocation would give to greedy flows.
//!
//! Start in [`network`] for the input: links with capacities, and flows with routes and weights, checked once. [`max_min()`]
//! fills the network progressively; [`proportional()`] maximises the sum of `w log x` and also computes the price of every link.
//! Capacities and rates share one unit, which may be any.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod cholesky;
mod max_min;
mod network;
mod proportional;

pub use max_min::{MaxMin, max_min};
pub use network::{CAPACITIES, Error, Network, WEIGHTS};
pub use proportional::{OVERLOAD, Proportional, proportional};

/// A fingerprint of the sources from which this crate was built.
pub const SOURCES: &str = env!("TAILBACK_SOURCES");
