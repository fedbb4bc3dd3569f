//! A UDP datagram (RFC 768).

use crate::flow_key::{Endpoint, FlowKey};
use crate::seen_packets::{REPEATED_WITHIN, SeenPacket, UNIDENTIFIED_WITHIN};
use crate::time::Timestamp;
use etherparse::IpEcn;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;
use tailback_core::primitives::units::Bytes;

/// A datagram, whose payload may be truncated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Datagram<'a> {
    pub(crate) from: Endpoint,
    pub(crate) to: Endpoint,
    pub(crate) ecn: IpEcn,
    /// Identification field of IPv4.
    pub(crate) identification: Option<u16>,
    pub(crate) payload: Bytes,
    /// The captured part.
    pub(crate) captured: &'a [u8],
}

const HEADER: usize = 8;

/// Bytes of the payload that distinguish two datagrams with the same identification.
const DISTINCT: usize = 64;

impl Datagram<'_> {
    /// Fingerprint of a datagram of a flow, which would be the same one if it were seen again. Without an identification, only payloads
    /// with different bytes identify it.
    pub(crate) fn fingerprint(&self, at: Timestamp, of: FlowKey) -> SeenPacket {
        let beginning = &self.captured[..self.captured.len().min(DISTINCT)];
        let within = match self.identification {
            Some(number) if number != 0 => REPEATED_WITHIN,
            _ if beginning.windows(2).any(|pair| pair[0] != pair[1]) => UNIDENTIFIED_WITHIN,
            _ => Duration::ZERO,
        };
        let mut hasher = DefaultHasher::new();
        (of, self.from.port, self.from.address, self.identification, self.payload.0, beginning).hash(&mut hasher);
        SeenPacket { at, hash: hasher.finish(), within }
    }
}

/// Ports, captured payload, and length of a datagram of `inside` bytes; `None` if its header is truncated or contradicts them.
pub(crate) fn parsed(bytes: &[u8], inside: u64) -> Option<([u16; 2], &[u8], Bytes)> {
    let header = bytes.first_chunk::<HEADER>()?;
    let word = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    // A length of 0 is that of a packet to be segmented (RFC 2675 section 4).
    let length = if word(4) == 0 { inside } else { u64::from(word(4)) };
    let payload = length.min(inside).checked_sub(HEADER as u64)?;
    let captured = &bytes[HEADER..];
    Some(([word(0), word(2)], &captured[..captured.len().min(usize::try_from(payload).unwrap_or(usize::MAX))], Bytes(payload)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_payload_is_that_of_the_length_field() {
        let bytes = [0, 80, 1, 187, 0, 12, 0, 0, 1, 2, 3, 4, 9, 9];
        assert_eq!(parsed(&bytes, 14), Some(([80, 443], &[1, 2, 3, 4][..], Bytes(4))));
        assert_eq!(parsed(&bytes[..10], 12), Some(([80, 443], &[1, 2][..], Bytes(4))));
        assert_eq!(parsed(&[0, 80, 1, 187, 0, 0, 0, 0, 1], 70_008), Some(([80, 443], &[1][..], Bytes(70_000))));
        assert_eq!((parsed(&bytes[..7], 14), parsed(&[0, 80, 1, 187, 0, 7, 0, 0], 8)), (None, None));
    }
}
