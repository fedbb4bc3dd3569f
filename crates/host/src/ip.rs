//! The IPv4 (RFC 791) header fields that the loop uses: source, destination and ECN field. Hosts have no other addresses.

use etherparse::IpEcn;
use std::net::Ipv4Addr;

/// Source and destination.
pub(crate) type Addresses = (Ipv4Addr, Ipv4Addr);

/// Length of the shortest header.
pub(crate) const HEADER: usize = 20;
/// Length of the longest packet.
pub(crate) const LONGEST: usize = 65_535;
/// Index of the byte whose two low bits are the ECN field (RFC 3168 section 5).
const ECN_FIELD: usize = 1;
const PROTOCOL: usize = 9;
const TCP: u8 = 6;
const UDP: u8 = 17;
/// In the byte of a TCP header that has the flags.
const SYN: u8 = 2;
const CHECKSUM: usize = 10;
const CONGESTION_EXPERIENCED: u8 = 0b11;

/// The addresses of a packet, if it is an IPv4 packet with a complete header.
pub(crate) fn ends(packet: &[u8]) -> Option<Addresses> {
    let address = |at: usize| packet.get(at..at + 4).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok()).map(Ipv4Addr::from);
    let is_ipv4 = packet.len() >= HEADER && packet[0] >> 4 == 4;
    if is_ipv4 { address(12).zip(address(16)) } else { None }
}

/// A pair of addresses as one number.
pub(crate) fn number((from, to): Addresses) -> u64 {
    u64::from(u32::from(from)) << 32 | u64::from(u32::from(to))
}

/// The ECN field of an IP header (RFC 3168 section 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnField {
    #[default]
    NotEct,
    /// RFC 9331: the sender's controller reacts as L4S requires.
    Ect1,
    Ect0,
    /// A queue has marked the packet.
    Ce,
}

impl EcnField {
    /// The field in the two low bits of the traffic class.
    pub fn of(bits: u8) -> EcnField {
        match bits & 3 {
            0 => EcnField::NotEct,
            1 => EcnField::Ect1,
            2 => EcnField::Ect0,
            _ => EcnField::Ce,
        }
    }

    pub(crate) fn codepoint(self) -> IpEcn {
        IpEcn::try_new(self as u8).unwrap_or_default()
    }
}

/// The ECN field.
pub(crate) fn ecn(packet: &[u8]) -> EcnField {
    packet.get(ECN_FIELD).map_or(EcnField::NotEct, |&field| EcnField::of(field))
}

/// The part of a TCP header that places a segment in its stream (RFC 9293 section 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TcpSegment {
    pub(crate) sequence: u32,
    pub(crate) is_syn: bool,
    /// Bytes.
    pub(crate) payload: usize,
}

fn is_first_fragment(packet: &[u8]) -> bool {
    word(packet, 6) & 0x1fff == 0
}

/// The segment in an IPv4 packet, if it is one of TCP and not a later fragment.
pub(crate) fn tcp_segment(packet: &[u8]) -> Option<TcpSegment> {
    ends(packet).filter(|_| packet[PROTOCOL] == TCP && is_first_fragment(packet))?;
    let segment = packet.get(4 * usize::from(packet[0] & 0xf)..)?;
    let sequence = u32::from_be_bytes(segment.get(4..8)?.try_into().ok()?);
    let header = 4 * usize::from(*segment.get(12)? >> 4);
    Some(TcpSegment { sequence, is_syn: *segment.get(13)? & SYN != 0, payload: segment.len().saturating_sub(header) })
}

/// A port in the header of UDP (RFC 768) or TCP (RFC 9293).
#[derive(Clone, Copy, Debug)]
pub(crate) enum PortField {
    Source,
    Destination,
}

/// Positions of a port and of the checksum in a packet with ports.
fn positions(packet: &[u8], field: PortField) -> Option<(usize, usize)> {
    ends(packet).filter(|_| is_first_fragment(packet))?;
    let transport = 4 * usize::from(packet[0] & 0xf);
    let checksum = match packet[PROTOCOL] {
        UDP => transport + 6,
        TCP => transport + 16,
        _ => return None,
    };
    (packet.len() >= checksum + 2).then_some((transport + 2 * field as usize, checksum))
}

fn word(packet: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([packet[at], packet[at + 1]])
}

/// The port of a packet of UDP or TCP that is not a later fragment.
pub(crate) fn port(packet: &[u8], field: PortField) -> Option<u16> {
    positions(packet, field).map(|(at, _)| word(packet, at))
}

/// Changes the port and the checksum, if the packet has a port.
pub(crate) fn set_port(packet: &mut [u8], field: PortField, port: u16) {
    let Some((at, checksum_at)) = positions(packet, field) else { return };
    let (before, checksum) = (word(packet, at), word(packet, checksum_at));
    packet[at..at + 2].copy_from_slice(&port.to_be_bytes());
    // A datagram may have no checksum, which is 0; a computed 0 is sent as its complement (RFC 768).
    let is_absent = checksum == 0 && packet[PROTOCOL] == UDP;
    let checksum = match updated(checksum, HeaderWord { before, after: port }) {
        _ if is_absent => 0,
        0 if packet[PROTOCOL] == UDP => 0xffff,
        other => other,
    };
    packet[checksum_at..checksum_at + 2].copy_from_slice(&checksum.to_be_bytes());
}

/// Marks the packet (CE) and updates the header's checksum (RFC 1624 section 3).
pub(crate) fn mark(packet: &mut [u8]) {
    let (Some(&version), Some(&field)) = (packet.first(), packet.get(ECN_FIELD)) else { return };
    if packet.len() < HEADER || field & CONGESTION_EXPERIENCED == CONGESTION_EXPERIENCED {
        return;
    }
    let marked = field | CONGESTION_EXPERIENCED;
    packet[ECN_FIELD] = marked;
    let checksum = word(packet, CHECKSUM);
    let (before, after) = (u16::from_be_bytes([version, field]), u16::from_be_bytes([version, marked]));
    packet[CHECKSUM..CHECKSUM + 2].copy_from_slice(&updated(checksum, HeaderWord { before, after }).to_be_bytes());
}

/// A 16-bit word of a header that changes.
struct HeaderWord {
    before: u16,
    after: u16,
}

/// RFC 1624, equation 3: HC' = ~(~HC + ~m + m').
fn updated(checksum: u16, word: HeaderWord) -> u16 {
    let sum = u32::from(!checksum) + u32::from(!word.before) + u32::from(word.after);
    let folded = (sum & 0xffff) + (sum >> 16);
    !((folded & 0xffff) + (folded >> 16)) as u16
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use etherparse::PacketBuilder;

    /// A packet of `length` bytes with an ECN field and the checksum of RFC 791.
    pub(crate) fn packet(ends: Addresses, length: u16, ecn: u8) -> Vec<u8> {
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

    const ENDS: Addresses = (Ipv4Addr::new(198, 18, 0, 1), Ipv4Addr::new(198, 19, 255, 2));

    #[test]
    fn a_marked_packet_has_a_correct_checksum() {
        for ecn in [0b01, 0b10, 0b11] {
            for length in 20..2000 {
                let mut packet = packet(ENDS, length, 0xb8 | ecn);
                mark(&mut packet);
                assert_eq!((packet[ECN_FIELD], sum(&packet)), (0xbb, 0xffff));
            }
        }
    }

    #[test]
    fn a_packet_with_another_port_is_that_of_a_host_with_this_port() {
        let udp = |source, destination, payload: &[u8]| {
            let mut packet = Vec::new();
            let builder = PacketBuilder::ipv4(ENDS.0.octets(), ENDS.1.octets(), 64).udp(source, destination);
            builder.write(&mut packet, payload).unwrap();
            packet
        };
        let tcp = |source, destination, payload: &[u8]| {
            let mut packet = Vec::new();
            let builder = PacketBuilder::ipv4(ENDS.0.octets(), ENDS.1.octets(), 64).tcp(source, destination, 7, 8);
            builder.write(&mut packet, payload).unwrap();
            packet
        };
        // Some of these checksums are 0.
        for number in 0..70_000_u32 {
            let payload = &number.to_be_bytes()[2..];
            let mut packet = udp(1000, 443, payload);
            set_port(&mut packet, PortField::Source, 2000);
            assert_eq!((&packet, port(&packet, PortField::Destination)), (&udp(2000, 443, payload), Some(443)));
            set_port(&mut packet, PortField::Destination, 444);
            assert_eq!((&packet, port(&packet, PortField::Source)), (&udp(2000, 444, payload), Some(2000)));
        }
        let mut packet = tcp(1000, 443, &[1]);
        set_port(&mut packet, PortField::Source, 2000);
        assert_eq!(packet, tcp(2000, 443, &[1]));
        let mut without = udp(1000, 443, &[1]);
        without[26..28].fill(0);
        set_port(&mut without, PortField::Source, 2000);
        assert_eq!(without[26..28], [0, 0]);
        assert_eq!(port(&packet[..27], PortField::Source), None);
    }

    #[test]
    fn truncated_or_other_packets_have_no_ends() {
        let whole = packet(ENDS, 40, 0b10);
        assert_eq!((ends(&whole), ecn(&whole)), (Some(ENDS), EcnField::Ect0));
        assert_eq!(ends(&whole[..19]), None);
        assert_eq!(ends(&[0x60; 40]), None);
        mark(&mut []);
        assert_eq!(ecn(&[]), EcnField::NotEct);
    }
}
