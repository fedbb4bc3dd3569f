//! Linux kernels as hosts of a simulated network.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking"))]

pub mod kernels;
pub mod sources;

/// A fingerprint of the sources from which this crate was built.
pub const SOURCES: &str = env!("TAILBACK_SOURCES");
