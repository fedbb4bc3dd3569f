//! Closed forms: what theory says of the quantities that the simulator measures.
//!
//! Start in [`queues`] for loss and waiting at one port, in [`trunk`] for the loss of many links that share a few wavelengths, in
//! [`tcp`] for what one transport can carry, in [`sizing`] for how much buffer a bottleneck needs. A model is a pure function of
//! checked parameters ([`parameter`]): once they exist it cannot fail. Queues are dimensionless: load is offered work over
//! capacity, and times are in mean service times, so that one number serves cells and packets alike. Transcendental functions come
//! from `libm`, so that every platform computes the same bits.

pub mod parameter;
pub mod queues;
mod root;
pub mod sizing;
pub mod tcp;
pub mod trunk;

pub use parameter::ParameterError;

/// A fingerprint of the sources that these models were built from.
pub const SOURCES: &str = env!("TAILBACK_SOURCES");
