//! Packets of a host: IPv4 (RFC 791) with UDP (RFC 768), or IPv4 packets that the host has made itself.

use crate::ip::{self, EcnField};
use etherparse::{IpHeaders, Ipv4Header, Ipv4Slice, PacketBuilder, UdpSlice, ip_number};
use std::net::SocketAddrV4;

/// A payload between two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram<'a> {
    pub source: SocketAddrV4,
    pub destination: SocketAddrV4,
    pub ecn: EcnField,
    pub payload: &'a [u8],
}

/// The payloads of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// UDP payloads. Packets get headers of 28 bytes.
    #[default]
    Udp,
    /// Whole IPv4 packets, which contain the addresses and the ECN field. Ports in a [`Datagram`] are 0, and only its payload is read.
    Ip,
}

const TIME_TO_LIVE: u8 = 64;

impl Framing {
    /// Replaces the contents of a buffer by the packet of a datagram. One that is too long for IPv4 becomes a packet that no interface sends.
    pub(crate) fn write(self, datagram: &Datagram<'_>, packet: &mut Vec<u8>) {
        let Datagram { source, destination, ecn, payload } = *datagram;
        packet.clear();
        if self == Framing::Ip {
            packet.extend_from_slice(payload);
            return;
        }
        let (from, to) = (source.ip().octets(), destination.ip().octets());
        let header = Ipv4Header {
            ecn: ecn.codepoint(),
            dont_fragment: true,
            ..Ipv4Header::new(0, TIME_TO_LIVE, ip_number::UDP, from, to).unwrap_or_default()
        };
        let builder = PacketBuilder::ip(IpHeaders::Ipv4(header, Default::default())).udp(source.port(), destination.port());
        packet.reserve(builder.size(payload.len()));
        if builder.write(packet, payload).is_err() {
            packet.resize(ip::LONGEST + 1, 0);
        }
    }

    #[cfg(test)]
    pub(crate) fn packet(self, datagram: &Datagram<'_>) -> Vec<u8> {
        let mut packet = Vec::new();
        self.write(datagram, &mut packet);
        packet
    }

    /// The datagram in a packet; `None` if the packet is not of this kind.
    pub fn datagram(self, packet: &[u8]) -> Option<Datagram<'_>> {
        let ip = Ipv4Slice::from_slice(packet).ok()?;
        let header = ip.header();
        let ecn = EcnField::of(header.ecn().value());
        let (source, destination) = (header.source_addr(), header.destination_addr());
        match self {
            Framing::Ip => Some(Datagram {
                source: SocketAddrV4::new(source, 0),
                destination: SocketAddrV4::new(destination, 0),
                ecn,
                payload: packet,
            }),
            Framing::Udp => {
                let payload = ip.payload();
                let udp = (payload.ip_number == ip_number::UDP).then(|| UdpSlice::from_slice(payload.payload).ok()).flatten()?;
                Some(Datagram {
                    source: SocketAddrV4::new(source, udp.source_port()),
                    destination: SocketAddrV4::new(destination, udp.destination_port()),
                    ecn,
                    payload: udp.payload(),
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    #[test]
    fn a_datagram_survives_its_packet_and_marks_are_seen() {
        let end = |last, port| SocketAddrV4::new(Ipv4Addr::new(198, 18, 0, last), port);
        for (ecn, marked) in
            [(EcnField::NotEct, EcnField::NotEct), (EcnField::Ect0, EcnField::Ce), (EcnField::Ect1, EcnField::Ce)]
        {
            let sent = Datagram { source: end(1, 1000), destination: end(2, 443), ecn, payload: &[1, 2, 3] };
            let mut packet = Framing::Udp.packet(&sent);
            assert_eq!(packet.len(), 31);
            assert_eq!(Framing::Udp.datagram(&packet), Some(sent));
            if ecn != EcnField::NotEct {
                ip::mark(&mut packet);
            }
            assert_eq!(Framing::Udp.datagram(&packet), Some(Datagram { ecn: marked, ..sent }));
            let whole = Datagram { source: end(1, 0), destination: end(2, 0), ecn: marked, payload: &packet };
            assert_eq!(Framing::Ip.datagram(&packet), Some(whole));
            assert_eq!(Framing::Ip.packet(&whole), packet);
        }
    }

    #[test]
    fn other_packets_have_no_datagram() {
        for packet in [&[][..], &[0x60; 60], &[0x45; 19]] {
            assert_eq!((Framing::Udp.datagram(packet), Framing::Ip.datagram(packet)), (None, None));
        }
    }
}
