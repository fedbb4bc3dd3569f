//! Real packets through a simulated network, in real time.
//!
//! [`Emulation`] drives an engine by a clock: what a host sends is handed to the engine at the instant at which it is read, and what the engine
//! lets arrive is written to its host at the instant that the engine has computed. Departures are never slept for, so errors of one packet
//! are not those of the next. From there down:
//!
//! * `pacer`: the emulation's own clock, which is set back where the machine has stood still, and how late things were
//! * `hosts`: where packets come from and go to: TUN devices, or what a test makes up
//! * `door`: how TUN devices are handed over
//! * `ip`: what has to be known of a packet: its addresses and its ECN field
//! * `in_flight`: the packets that are in the network
//! * `witness`: connections as the hosts see them, and a capture
//!
//! The engine knows none of this. Whoever makes hosts, processes and namespaces is in the Python package.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking"))]

mod door;
mod emulation;
mod hosts;
mod in_flight;
mod ip;
mod pacer;
mod witness;

pub use door::Door;
pub use emulation::{Control, Course, Emulation, Way};
pub use hosts::{Hosts, Tuns};
pub use pacer::{Clock, Monotonic};
pub use witness::Witness;

/// A fingerprint of the sources that this crate was built from.
pub const SOURCES: &str = env!("TAILBACK_SOURCES");
