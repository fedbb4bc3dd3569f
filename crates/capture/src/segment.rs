//! From an IP packet to the headers of its TCP segment or UDP datagram.

use crate::datagram::{self, Datagram};
use crate::flow_key::Endpoint;
use crate::quic::QuicHeader;
use crate::skipped::SkipReason;
use etherparse::err::ip::{HeaderError, LaxHeaderSliceError};
use etherparse::{IpEcn, IpNumber, LaxIpSlice, TcpHeaderSlice, TcpOptionElement, TcpOptionsIterator};
use tailback_core::primitives::units::Bytes;

/// The three flags of a TCP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EcnFlags {
    /// Accurate ECN, formerly NS.
    pub(crate) ae: bool,
    pub(crate) cwr: bool,
    pub(crate) ece: bool,
}

impl EcnFlags {
    /// AE, CWR, ECE: the field ACE.
    pub(crate) fn bits(self) -> u8 {
        u8::from(self.ae) << 2 | u8::from(self.cwr) << 1 | u8::from(self.ece)
    }
}

/// An IP packet as captured.
#[derive(Clone, Copy, Debug)]
pub struct IpPacket<'a> {
    /// Starts at the first byte; the end may be missing.
    pub bytes: &'a [u8],
    /// Length on the wire. It matters only if the IP header has no length, as before segmentation by a network card.
    pub original: Bytes,
    /// A comment of the capture about it.
    pub comment: Option<&'a str>,
}

/// Maximum number of IP headers before that of the segment.
const MOST_TUNNELS: u32 = 4;

/// A TCP segment without its data.
#[derive(Debug)]
pub(crate) struct Segment<'a> {
    pub(crate) from: Endpoint,
    pub(crate) to: Endpoint,
    pub(crate) ecn: IpEcn,
    /// Identification field of IPv4.
    pub(crate) identification: Option<u16>,
    pub(crate) header: TcpHeaderSlice<'a>,
    pub(crate) payload: Bytes,
    pub(crate) comment: Option<&'a str>,
}

/// The packet of a transport protocol.
#[derive(Debug)]
pub(crate) enum Transport<'a> {
    Tcp(Segment<'a>),
    Udp(Datagram<'a>),
}

impl<'a> Transport<'a> {
    /// Behind any IP headers in between (RFC 2003, RFC 2473).
    pub(crate) fn of(packet: &IpPacket<'a>) -> Result<Transport<'a>, SkipReason> {
        Transport::within(*packet, MOST_TUNNELS)
    }

    fn within(packet: IpPacket<'a>, tunnels: u32) -> Result<Transport<'a>, SkipReason> {
        let (ip, stopped) = LaxIpSlice::from_slice(packet.bytes).map_err(|error| match error {
            LaxHeaderSliceError::Len(_) => SkipReason::IpHeaderCut,
            LaxHeaderSliceError::Content(HeaderError::UnsupportedIpVersion { .. }) => SkipReason::NotIp,
            LaxHeaderSliceError::Content(_) => SkipReason::IpHeaderDamaged,
        })?;
        let (header_bytes, total, ecn, identification) = match &ip {
            LaxIpSlice::Ipv4(ip) => {
                let header = ip.header();
                let header_bytes = header.slice().len() + ip.extensions().auth.map_or(0, |auth| auth.slice().len());
                (header_bytes, u64::from(header.total_len()), header.ecn(), Some(header.identification()))
            }
            LaxIpSlice::Ipv6(ip) => {
                let header = ip.header();
                let length = u64::from(header.payload_length());
                let total = if length == 0 { 0 } else { header.slice().len() as u64 + length };
                (header.slice().len() + ip.extensions().slice().len(), total, header.ecn(), None)
            }
        };
        if ip.is_fragmenting_payload() {
            return Err(SkipReason::Fragment);
        }
        let total = if total == 0 { packet.original.0 } else { total };
        let inside = total.checked_sub(header_bytes as u64).ok_or(SkipReason::IpHeaderDamaged)?;
        match ip.payload_ip_number() {
            _ if stopped.is_some() => return Err(SkipReason::IpHeaderCut),
            IpNumber::TCP => {}
            IpNumber::UDP => {
                let ([from, to], captured, payload) =
                    datagram::parsed(ip.payload().payload, inside).ok_or(SkipReason::UdpHeaderDamaged)?;
                let from = Endpoint { address: ip.source_addr(), port: from };
                let to = Endpoint { address: ip.destination_addr(), port: to };
                return Ok(Transport::Udp(Datagram { from, to, ecn, identification, payload, captured }));
            }
            IpNumber::IPV4 | IpNumber::IPV6 if tunnels > 0 => {
                let inner = IpPacket { bytes: ip.payload().payload, original: Bytes(inside), comment: packet.comment };
                return Transport::within(inner, tunnels - 1);
            }
            IpNumber::ICMP | IpNumber::IPV6_ICMP => return Err(SkipReason::Icmp),
            IpNumber(other) => return Err(SkipReason::OtherProtocol(other)),
        }
        let header = TcpHeaderSlice::from_slice(ip.payload().payload).map_err(|error| match error {
            etherparse::err::tcp::HeaderSliceError::Len(_) => SkipReason::TcpHeaderCut,
            etherparse::err::tcp::HeaderSliceError::Content(_) => SkipReason::TcpHeaderDamaged,
        })?;
        let payload = inside.checked_sub(header.slice().len() as u64).ok_or(SkipReason::TcpHeaderDamaged)?;
        let from = Endpoint { address: ip.source_addr(), port: header.source_port() };
        let to = Endpoint { address: ip.destination_addr(), port: header.destination_port() };
        Ok(Transport::Tcp(Segment { from, to, ecn, identification, header, payload: Bytes(payload), comment: packet.comment }))
    }
}

/// Whether an IP packet begins with an Initial packet of QUIC (RFC 9000 section 17.2.2), which readers decrypt to recognise a
/// connection.
pub fn is_quic_initial(packet: &IpPacket<'_>) -> bool {
    let Ok(Transport::Udp(datagram)) = Transport::of(packet) else { return false };
    matches!(QuicHeader::of(datagram.captured), Some(QuicHeader::Long { is_initial: true, .. }))
}

impl Segment<'_> {
    #[inline]
    pub(crate) fn ecn_flags(&self) -> EcnFlags {
        EcnFlags { ae: self.header.ns(), cwr: self.header.cwr(), ece: self.header.ece() }
    }

    #[inline]
    pub(crate) fn options(&self) -> TcpOptions {
        TcpOptions::of(self.header.options())
    }
}

/// The options of a segment that are relevant for performance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TcpOptions {
    pub(crate) mss: Option<u16>,
    pub(crate) window_scale: Option<u8>,
    pub(crate) sack_permitted: bool,
    /// TSval and TSecr (RFC 7323 section 3.2).
    pub(crate) timestamp: Option<u32>,
    pub(crate) echo: Option<u32>,
    /// SACK blocks, if any.
    pub(crate) blocks: [Option<(u32, u32)>; 4],
}

impl TcpOptions {
    pub(crate) fn of(options: &[u8]) -> TcpOptions {
        let mut found = TcpOptions::default();
        let mut rest = options;
        while !rest.is_empty() {
            let mut next = TcpOptionsIterator::from_slice(rest);
            rest = match next.next() {
                None => break,
                Some(Ok(option)) => {
                    found.take(&option);
                    next.rest()
                }
                // The iterator stops at an unknown kind; the second byte is its length (RFC 9293 section 3.1).
                Some(Err(_)) => match rest {
                    &[_, length, ..] if length >= 2 => rest.get(usize::from(length)..).unwrap_or(&[]),
                    _ => break,
                },
            };
        }
        found
    }

    fn take(&mut self, option: &TcpOptionElement) {
        match *option {
            TcpOptionElement::MaximumSegmentSize(mss) => self.mss = Some(mss),
            TcpOptionElement::WindowScale(scale) => self.window_scale = Some(scale),
            TcpOptionElement::SelectiveAcknowledgementPermitted => self.sack_permitted = true,
            TcpOptionElement::Timestamp(value, echo) => (self.timestamp, self.echo) = (Some(value), Some(echo)),
            TcpOptionElement::SelectiveAcknowledgement(first, [second, third, fourth]) => {
                self.blocks = [Some(first), second, third, fourth];
            }
            TcpOptionElement::Noop => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{IpFragOffset, Ipv4Header, Ipv6FlowLabel, Ipv6Header, PacketBuilder};

    #[test]
    fn a_segment_is_found_within_another_ip_packet() {
        let inner = tcp_over_ipv4(&[], &[7; 30]);
        let mut outer =
            Ipv4Header::new(inner.len() as u16, 64, IpNumber::IPV4, [1, 1, 1, 1], [2, 2, 2, 2]).unwrap().to_bytes().to_vec();
        outer.extend(&inner);
        let found = segment(&outer).unwrap();
        assert_eq!((found.payload, found.from.address.to_string()), (Bytes(30), "10.0.0.1".to_string()));
    }

    fn tcp_over_ipv4(options: &[u8], payload: &[u8]) -> Vec<u8> {
        let mut packet = Vec::new();
        let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).tcp(1000, 2000, 7, 500);
        builder.options_raw(options).unwrap().write(&mut packet, payload).unwrap();
        packet
    }

    fn segment(bytes: &[u8]) -> Result<Segment<'_>, SkipReason> {
        of_length(bytes, bytes.len() as u64)
    }

    fn of_length(bytes: &[u8], length: u64) -> Result<Segment<'_>, SkipReason> {
        match Transport::of(&IpPacket { bytes, original: Bytes(length), comment: None })? {
            Transport::Tcp(segment) => Ok(segment),
            Transport::Udp(datagram) => panic!("{datagram:?}"),
        }
    }

    #[test]
    fn the_payload_follows_the_ip_header_however_much_was_captured() {
        let whole = tcp_over_ipv4(&[], &[1; 100]);
        for captured in [140, 60, 40] {
            let found = segment(&whole[..captured]).unwrap();
            assert_eq!((found.payload, found.from.port, found.to.port), (Bytes(100), 1000, 2000));
        }
        assert_eq!(segment(&whole[..39]).unwrap_err(), SkipReason::TcpHeaderCut);
        assert_eq!(segment(&whole[..19]).unwrap_err(), SkipReason::IpHeaderCut);
        // Link-layer padding of short frames is no payload.
        assert_eq!(segment(&[tcp_over_ipv4(&[], &[]).as_slice(), &[0; 6]].concat()).unwrap().payload, Bytes(0));
    }

    #[test]
    fn a_missing_ip_length_is_replaced_by_the_length_on_the_wire() {
        let mut packet = tcp_over_ipv4(&[], &[]);
        packet[2..4].fill(0);
        let found = of_length(&packet, 70_040).unwrap();
        assert_eq!(found.payload, Bytes(70_000));
    }

    #[test]
    fn ipv6_extension_headers_are_skipped() {
        let mut tcp = Vec::new();
        etherparse::TcpHeader::new(1000, 2000, 7, 500).write(&mut tcp).unwrap();
        // Destination options of 8 bytes: next header, length, padding of four.
        let inside = [&[6, 0, 1, 4, 0, 0, 0, 0], tcp.as_slice(), &[1; 10]].concat();
        let header = Ipv6Header {
            traffic_class: 3,
            flow_label: Ipv6FlowLabel::default(),
            payload_length: inside.len() as u16,
            next_header: IpNumber::IPV6_DESTINATION_OPTIONS,
            hop_limit: 64,
            source: [1; 16],
            destination: [2; 16],
        };
        let packet = [header.to_bytes().as_slice(), &inside].concat();
        let found = segment(&packet).unwrap();
        assert_eq!((found.payload, found.ecn), (Bytes(10), IpEcn::CongestionExperienced));
        assert_eq!(segment(&packet[..44]).unwrap_err(), SkipReason::IpHeaderCut);
    }

    #[test]
    fn other_or_damaged_packets_report_the_reason() {
        let mut header = Ipv4Header::new(40, 64, IpNumber::UDP, [1; 4], [2; 4]).unwrap();
        let packet = |header: &Ipv4Header| [header.to_bytes().as_slice(), &[0; 40]].concat();
        // The length of UDP is 0, and 20 bytes are there.
        assert!(matches!(
            Transport::of(&IpPacket { bytes: &packet(&header), original: Bytes(60), comment: None }),
            Ok(Transport::Udp(_))
        ));
        let cut = &packet(&header)[..27];
        let cut = IpPacket { bytes: cut, original: Bytes(60), comment: None };
        assert_eq!(Transport::of(&cut).unwrap_err(), SkipReason::UdpHeaderDamaged);
        header.protocol = IpNumber::GRE;
        assert_eq!(segment(&packet(&header)).unwrap_err(), SkipReason::OtherProtocol(47));
        header.protocol = IpNumber::TCP;
        assert_eq!(segment(&packet(&header)).unwrap_err(), SkipReason::TcpHeaderDamaged);
        header.fragment_offset = IpFragOffset::try_new(8).unwrap();
        assert_eq!(segment(&packet(&header)).unwrap_err(), SkipReason::Fragment);
        assert_eq!(segment(&[0x75; 40]).unwrap_err(), SkipReason::NotIp);
        assert_eq!(segment(&[0x42; 40]).unwrap_err(), SkipReason::IpHeaderDamaged);
        // A total length that ends within the headers.
        let mut short = tcp_over_ipv4(&[], &[]);
        short[3] = 30;
        assert!(matches!(segment(&short).unwrap_err(), SkipReason::TcpHeaderDamaged | SkipReason::TcpHeaderCut));
        assert_eq!(segment(&[]).unwrap_err(), SkipReason::IpHeaderCut);
    }

    #[test]
    fn options_after_an_unknown_one_are_read() {
        // Fast open (34) of four bytes, two SACK blocks, timestamps.
        let options =
            [&[34, 4, 1, 2][..], &[5, 18, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4], &[8, 10, 0, 0, 0, 9, 0, 0, 0, 8]]
                .concat();
        let packet = tcp_over_ipv4(&options, &[]);
        let found = segment(&packet).unwrap().options();
        assert_eq!(found.timestamp, Some(9));
        assert_eq!(found.blocks, [Some((1, 2)), Some((3, 4)), None, None]);
        // A length of 0 would cause an endless loop.
        assert_eq!(TcpOptions::of(&[34, 0, 8, 10]), TcpOptions::default());
        assert_eq!(TcpOptions::of(&[2, 4, 5, 180, 1, 3, 3, 7, 4, 2, 0, 0]).mss, Some(1460));
    }
}
