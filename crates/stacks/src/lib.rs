//! Real transports as hosts of a simulated network ([`tailback_host::Testbed`]).
//!
//! * [`library`]: all for scenarios, as a library with a C interface
//! * [`quinn`], [`noq`]: QUIC of `quinn-proto` and of its fork `noq-proto`, with TLS, or cryptography that encrypts nothing
//! * [`smoltcp`]: TCP of `smoltcp`
//! * [`str0m`]: video over WebRTC of `str0m`
//!
//! A sender opens one connection and sends a number of bytes, or as much as it can; a receiver reads everything. All random numbers of the
//! stacks follow from a seed.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking"))]

mod end;
pub mod library;
mod quic;
mod s2n;
pub mod smoltcp;
pub mod str0m;

pub use quic::{noq, quinn};

use std::net::SocketAddrV4;
use tailback_core::primitives::units::{Bytes, Time};

/// What a sender transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    pub local: SocketAddrV4,
    pub remote: SocketAddrV4,
    /// The time at which it opens the connection.
    pub start: Time,
    /// The time at which the application gives up the transfer, with the data that it has written ahead; [`Time::NEVER`] without a stop.
    pub stop: Time,
    /// `None`: it always has data to send.
    pub size: Option<Bytes>,
}

/// Data that applications send.
static ZEROS: [u8; 65_536] = [0; 65_536];

/// The part of a transfer that has been handed to the transport.
#[derive(Clone, Copy, Debug)]
struct Written {
    size: Option<Bytes>,
    stop: Time,
    bytes: u64,
    /// Bytes that the application has written, at most the size; without an application, everything is available from the start.
    offered: u64,
}

impl Written {
    fn none_of(transfer: &Transfer) -> Written {
        Written { size: transfer.size, stop: transfer.stop, bytes: 0, offered: u64::MAX }
    }

    /// Whether everything has been handed to the transport.
    fn is_complete(&self) -> bool {
        self.size.is_some_and(|size| self.bytes >= size.0)
    }

    /// The next bytes; empty at the end, and until the application writes more.
    fn next(&self) -> &'static [u8] {
        let left = self.size.map_or(u64::MAX, |size| size.0).min(self.offered).saturating_sub(self.bytes);
        &ZEROS[..left.min(ZEROS.len() as u64) as usize]
    }
}
