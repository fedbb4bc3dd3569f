//! Real hosts for [`tailback_host::Driver`], in real time: network stacks behind TUN devices, which another process hands over.
//!
//! A packet from a host enters the engine at the instant at which it is read, and is written to its destination at the arrival time that
//! the engine has computed. The loop never sleeps for departures, so that timing errors of one packet do not affect the next. Hosts,
//! processes and namespaces are created by the Python package.

mod tun_device;
mod tuns;

pub use tun_device::TunDevice;
pub use tuns::Tuns;

/// A fingerprint of the sources from which this crate was built.
pub const SOURCES: &str = env!("TAILBACK_SOURCES");
