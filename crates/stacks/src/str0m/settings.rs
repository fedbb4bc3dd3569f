//! The settings of both ends, and the sizes and sources of their packets.

use str0m::DATAGRAM_MTU_TARGET;

/// Settings that both ends have. All others are str0m's defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Determines all random numbers.
    pub seed: u64,
    /// First estimate, in bit/s.
    pub initial: u64,
    /// Rates of the encoder, in bit/s. The estimator probes for `max`.
    pub min: u64,
    pub max: u64,
    /// Frames per second.
    pub frame_rate: u64,
    /// Bytes of the largest packet, with its IP header.
    pub mtu: usize,
}

impl Default for Settings {
    /// The rates are libwebrtc's for a video of 1280 x 720 pixels.
    fn default() -> Settings {
        Settings { seed: 1, initial: 300_000, min: 30_000, max: 2_500_000, frame_rate: 30, mtu: 1500 }
    }
}

/// IPv4 (RFC 791) and UDP (RFC 768).
pub(super) const HEADERS: usize = 28;

/// The streams of the media.
pub(super) const VIDEO: u32 = 1;
pub(super) const RETRANSMISSIONS: u32 = 2;

/// Bytes of the largest UDP payload of media.
pub(super) fn datagram(mtu: usize) -> usize {
    DATAGRAM_MTU_TARGET.min(mtu - HEADERS)
}
