//! What has to be known of a packet to carry it: whence, whither, and its ECN field. IPv4 (RFC 791) only: no other address has a host here.

use std::net::Ipv4Addr;

/// Whence and whither.
pub(crate) type Ends = (Ipv4Addr, Ipv4Addr);

/// The shortest header.
pub(crate) const HEADER: usize = 20;
/// The two low bits of the second byte (RFC 3168 section 5).
const ECN_FIELD: usize = 1;
const CHECKSUM: usize = 10;
const CONGESTION_EXPERIENCED: u8 = 0b11;

/// The addresses of a packet, if it is one of IPv4 with all of its header.
pub(crate) fn ends(packet: &[u8]) -> Option<Ends> {
    let address = |at: usize| packet.get(at..at + 4).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok()).map(Ipv4Addr::from);
    let is_ipv4 = packet.len() >= HEADER && packet[0] >> 4 == 4;
    if is_ipv4 { address(12).zip(address(16)) } else { None }
}

/// Whether queues may mark it: it says that its transport understands ECN. One that is marked already stays so.
pub(crate) fn is_capable(packet: &[u8]) -> bool {
    packet.get(ECN_FIELD).is_some_and(|field| field & CONGESTION_EXPERIENCED != 0)
}

/// Mark it (CE), and keep the header's checksum right (RFC 1624 section 3).
pub(crate) fn mark(packet: &mut [u8]) {
    let (Some(&version), Some(&field)) = (packet.first(), packet.get(ECN_FIELD)) else { return };
    if packet.len() < HEADER || field & CONGESTION_EXPERIENCED == CONGESTION_EXPERIENCED {
        return;
    }
    let marked = field | CONGESTION_EXPERIENCED;
    packet[ECN_FIELD] = marked;
    let checksum = u16::from_be_bytes([packet[CHECKSUM], packet[CHECKSUM + 1]]);
    let (before, after) = (u16::from_be_bytes([version, field]), u16::from_be_bytes([version, marked]));
    packet[CHECKSUM..CHECKSUM + 2].copy_from_slice(&updated(checksum, Word { before, after }).to_be_bytes());
}

/// A 16-bit word of a header that changes.
struct Word {
    before: u16,
    after: u16,
}

/// RFC 1624, equation 3: HC' = ~(~HC + ~m + m').
fn updated(checksum: u16, word: Word) -> u16 {
    let sum = u32::from(!checksum) + u32::from(!word.before) + u32::from(word.after);
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A packet of so many bytes with an ECN field and the checksum of RFC 791.
    pub(crate) fn packet(ends: Ends, length: u16, ecn: u8) -> Vec<u8> {
        let mut packet = vec![0; length.into()];
        packet[0] = 0x45;
        packet[ECN_FIELD] = ecn;
        packet[2..4].copy_from_slice(&length.to_be_bytes());
        packet[8] = 64;
        packet[9] = 6;
        packet[12..16].copy_from_slice(&ends.0.octets());
        packet[16..20].copy_from_slice(&ends.1.octets());
        let checksum = !sum(&packet);
        packet[CHECKSUM..CHECKSUM + 2].copy_from_slice(&checksum.to_be_bytes());
        packet
    }

    fn sum(packet: &[u8]) -> u16 {
        let words = packet[..HEADER].chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
        let sum: u32 = words.sum();
        ((sum & 0xffff) + (sum >> 16)) as u16
    }

    const ENDS: Ends = (Ipv4Addr::new(198, 18, 0, 1), Ipv4Addr::new(198, 19, 255, 2));

    #[test]
    fn a_marked_packet_has_a_right_checksum() {
        for ecn in [0b01, 0b10, 0b11] {
            for length in 20..2000 {
                let mut packet = packet(ENDS, length, 0xb8 | ecn);
                mark(&mut packet);
                assert_eq!((packet[ECN_FIELD], sum(&packet)), (0xbb, 0xffff));
            }
        }
    }

    #[test]
    fn what_is_no_packet_has_no_ends() {
        let whole = packet(ENDS, 40, 0b10);
        assert_eq!((ends(&whole), is_capable(&whole)), (Some(ENDS), true));
        assert_eq!(ends(&whole[..19]), None);
        assert_eq!(ends(&[0x60; 40]), None);
        mark(&mut []);
        assert!(!is_capable(&[]));
    }
}
