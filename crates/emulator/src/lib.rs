//! Real packets through a simulated network, in real time.
//!
//! [`Emulation`] drives an engine by a clock. A packet from a host enters the engine at the instant at which it is read, and is
//! written to its destination at the arrival time that the engine has computed. The emulator never sleeps for departures, so
//! that timing errors of one packet do not affect the next. Modules:
//!
//! * `pacer`: the emulation's own clock, which is set back after stalls of the machine, and its lateness
//! * `hosts`: sources and destinations of packets: TUN devices, or test doubles
//! * `door`: handover of TUN devices
//! * `ip`: addresses and ECN field of a packet
//! * `in_flight`: the packets in the network
//! * `segment_numbers`: the numbers of segments, for listed drops
//! * `observer`: TCP connections as measured at the hosts, and a capture
//!
//! The engine has no knowledge of the emulation. Hosts, processes and namespaces are created by the Python package.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking"))]

mod emulation;
mod hosts;
mod in_flight;
mod ip;
mod pacer;
mod packet_observer;
mod segment_numbers;
mod tun_device;

pub use emulation::{AddressPair, Emulation, EmulationControl, RunProperties};
pub use hosts::{Hosts, Tuns};
pub use pacer::{Clock, Monotonic};
pub use packet_observer::PacketObserver;
pub use segment_numbers::ListedSegments;
pub use tun_device::TunDevice;

/// A fingerprint of the sources from which this crate was built.
pub const SOURCES: &str = env!("TAILBACK_SOURCES");
