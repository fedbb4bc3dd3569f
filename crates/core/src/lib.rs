//! The core of Tailback: ports, queue policies, TCP and traffic in one event-driven simulator, without I/O and without a wall clock.
//!
//! Start at [`Engine`]: it takes a [`network::Network`], runs to any time in any number of steps, and returns [`Results`]. The modules:
//!
//! * `simulation`: the event loop, hops computed ahead, conservation, results, memory estimates
//! * `tcp`: sender, receiver, retransmission timer, loss recovery
//! * `abr`: rate control of the source of an available bit rate service
//! * `congestion`: congestion controllers, one file each
//! * `queue`: queue policies, one file each
//! * `price`: price schemes, one file each
//! * `schedule`: schedulers of ports with several queues, one file each
//! * `traffic`: sources without a transport
//! * `record`: tables and traces
//! * `user_code`: user-supplied controllers, policies, sources and applications
//! * `settings`: declarations of the members of each family
//! * `primitives`: units, random streams, packets, congestion signals, the calendar
//!
//! Imports run downwards only; `tests/layers.rs` enforces the order.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

// The shared test code in `tests/common` refers to the crate by its external name.
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
    Code, ComparisonState, ConservationError, DatagramContents, DatagramOutcome, Engine, EventComparison, ExternalFlow,
    ExternalFlows, Fate, FullestPort, HeldIn, MemoryEstimate, NoTransports, NotParallel, PacketInFlight, PacketLocation,
    ParallelEngine, PortState, Results, RunEvent, SenderState, Transports, fullest_port, memory_estimate, trace_rows,
};

/// A hash of the sources that this core was built from. Cores with the same hash give the same results.
pub const SOURCES: &str = env!("TAILBACK_SOURCES");
