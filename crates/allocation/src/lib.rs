//! Fair shares of a network's capacity, exactly: what an ideal allocation would give to flows that take all they can get.
//!
//! Start in [`network`] for what is shared: links with capacities, and flows with routes and weights, checked once. [`max_min()`] fills the
//! network like water; [`proportional()`] maximises the sum of `w log x` and also finds the price of every link. Capacities and rates are in
//! any one unit.

#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test fails by panicking"))]

mod max_min;
mod network;
#[cfg(feature = "proportional")]
mod proportional;

pub use max_min::{MaxMin, max_min};
pub use network::{CAPACITIES, Error, Network, WEIGHTS};
#[cfg(feature = "proportional")]
pub use proportional::{OVERLOAD, Proportional, proportional};

/// A fingerprint of the sources that this was built from.
pub const SOURCES: &str = env!("TAILBACK_SOURCES");
