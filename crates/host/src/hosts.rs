//! Sources and destinations of packets, as the loop sees them.

use std::io;
use tailback_core::primitives::units::TimeDelta;

/// The hosts of a loop, by number.
pub trait Hosts {
    /// Replaces `packet` by the next one that a host has sent. Returns false if there is none now.
    ///
    /// # Errors
    /// The device failed.
    fn take(&mut self, host: usize, packet: &mut Vec<u8>) -> io::Result<bool>;

    /// Writes a packet to a host. Returns false if the host refuses it, in which case it is lost.
    ///
    /// # Errors
    /// The device failed.
    fn give(&mut self, host: usize, packet: &[u8]) -> io::Result<bool>;

    /// Waits until a host has sent a packet, or for at most this time; appends the hosts with packets to `ready`.
    ///
    /// # Errors
    /// A device failed.
    fn wait(&mut self, at_most: TimeDelta, ready: &mut Vec<usize>) -> io::Result<()>;
}
