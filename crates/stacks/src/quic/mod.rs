//! QUIC (RFC 9000): quinn-proto and its fork noq-proto, which have the same interface except for details.
//!
//! `quinn.rs` and `noq.rs` contain the details. Each compiles the rest, `host.rs`, `law.rs` and `null_crypto.rs`, for its crate.

/// A controller's configuration, with an initial window in bytes or its default.
macro_rules! configured {
    ($config:ident, $window:expr) => {{
        let mut config = $config::default();
        $window.map(|bytes| config.initial_window(bytes));
        Arc::new(config)
    }};
}

pub mod noq;
pub mod quinn;
mod tls;

use serde::Deserialize;
use tailback_core::primitives::units::Bytes;

/// The protection of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Crypto {
    /// None, with packets of the same sizes.
    #[default]
    Null,
    /// TLS 1.3 of rustls: AES-256-GCM, and a fixed certificate that the client pins. "Random" bytes are constants.
    Rustls,
}

/// A slow-start threshold, which both crates set to the largest number while it limits nothing.
fn threshold(ssthresh: Option<u64>) -> Option<Bytes> {
    ssthresh.filter(|&bytes| bytes < u64::MAX).map(Bytes)
}

/// IPv4 (RFC 791) and UDP (RFC 768).
pub(crate) const HEADERS: u16 = 28;

/// Least UDP payload that a path must carry (RFC 9000 section 14).
const SMALLEST: u16 = 1200;

/// Default MTU of the interfaces: that of Ethernet.
const ETHERNET: u16 = 1500;

/// Most bytes of a UDP payload that MTU discovery tries. Both crates try 1452 by default, which fits Ethernet with IPv6. A larger MTU is meant
/// to be used.
const fn max_probe(mtu: u16) -> u16 {
    let (payload, default) = (mtu.saturating_sub(HEADERS), 1452);
    if mtu > ETHERNET || payload < default { payload } else { default }
}

/// Most bytes of a UDP payload that an end accepts (`max_udp_payload_size` of RFC 9000 section 18.2), for which both crates have a default of
/// 1472.
const fn max_received(mtu: u16) -> u16 {
    (if mtu > ETHERNET { mtu } else { ETHERNET }) - HEADERS
}

fn seed_bytes(seed: u64, of: u8) -> [u8; 32] {
    let mut bytes = [of; 32];
    bytes[..8].copy_from_slice(&seed.to_be_bytes());
    bytes
}
