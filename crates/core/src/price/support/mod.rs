//! Shared parts of price schemes: averages, identifications, mappings of prices, their way back to the sender, and schemes without a network.

pub(super) mod average;
pub(super) mod identification;
pub(super) mod mapping;
pub mod stream;
pub(super) mod way_back;
