//! The core of Tailback: ports, queue policies, TCP and traffic under one event loop, without I/O and without a clock.
//!
//! Start at [`Engine`]: it takes a [`network::Network`], runs to any time in any steps, and gives [`Results`]. From there down:
//!
//! * `simulation`: who gets which event, what is computed ahead, conservation, results, estimates
//! * `tcp`: sender, receiver, retransmission timer, loss recovery
//! * `abr`: at which rate the source of an available bit rate service sends
//! * `congestion`: control laws, one file each
//! * `queue`: queue policies, one file each
//! * `price`: price schemes, one file each
//! * `schedule`: which of a port's queues is served next, one file each
//! * `traffic`: sources without a transport
//! * `record`: tables and traces
//! * `user_code`: code that a network names and the core does not know
//! * `settings`: what a member of a family says of itself
//! * `primitives`: units, random streams, packets, signals of congestion, the calendar
//!
//! Imports run downwards only: `tests/layers.rs` holds the order.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

// What the tests share in `tests/common` names the crate from outside.
#[cfg(test)]
extern crate self as tailback_core;

pub mod abr;
pub mod congestion;
pub mod network;
pub mod price;
pub mod primitives;
pub mod queue;
pub mod record;
pub mod schedule;
pub mod settings;
mod simulation;
pub mod tcp;
pub mod traffic;
pub mod user_code;

pub use simulation::{
    Became, Code, ConservationError, Engine, Fate, Indivisible, MemoryEstimate, ParallelEngine, Place, PortState, Results, Seen,
    SenderState, memory_estimate, trace_rows,
};

/// A fingerprint of the sources that this core was built from. Two cores with one fingerprint give the same results.
pub const SOURCES: &str = env!("TAILBACK_SOURCES");
