//! From a frame to its IP packet, for each link type (<https://www.tcpdump.org/linktypes.html>).

use crate::skipped::SkipReason;
use etherparse::{EtherType, Ethernet2HeaderSlice, SingleVlanHeaderSlice};

/// Header before a packet in a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkType {
    /// BSD loopback: the address family in the byte order of the capturing machine (`NULL`), or of the network (`LOOP`).
    Loopback,
    Ethernet,
    /// No header: the packet begins with its IP header.
    Raw,
    /// Linux's `any` device, and its second version.
    LinuxCooked,
    LinuxCooked2,
    /// PPP (RFC 1661), with or without its framing bytes (RFC 1662).
    Ppp,
    /// PPP over Ethernet, without the Ethernet header.
    PppOverEthernet,
    Other(u16),
}

/// An IP packet and, if the header contains them, the index of its underlying interface and its VLAN.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LinkPayload<'a> {
    pub(crate) ip: &'a [u8],
    pub(crate) header_bytes: usize,
    pub(crate) behind: Option<u32>,
    pub(crate) vlan: Option<Vlan>,
}

/// The tags of a frame, the outermost first (IEEE 802.1Q, 802.1ad).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Vlan {
    pub outer: u16,
    /// The second tag, if there are several.
    pub inner: Option<u16>,
}

impl<'a> LinkPayload<'a> {
    fn of(ip: &'a [u8], header_bytes: usize) -> LinkPayload<'a> {
        LinkPayload { ip, header_bytes, behind: None, vlan: None }
    }
}

impl Vlan {
    /// The tags of a frame with these and another one within.
    fn with(outside: Option<Vlan>, tag: u16) -> Vlan {
        match outside {
            None => Vlan { outer: tag, inner: None },
            Some(Vlan { outer, inner }) => Vlan { outer, inner: inner.or(Some(tag)) },
        }
    }
}

impl LinkType {
    pub fn of_number(number: u16) -> LinkType {
        match number {
            0 | 108 => LinkType::Loopback,
            1 => LinkType::Ethernet,
            // Some BSDs wrote 12 for 101.
            12 | 101 | 228 | 229 => LinkType::Raw,
            9 | 50 => LinkType::Ppp,
            51 => LinkType::PppOverEthernet,
            113 => LinkType::LinuxCooked,
            276 => LinkType::LinuxCooked2,
            other => LinkType::Other(other),
        }
    }

    #[inline]
    pub(crate) fn unwrap(self, frame: &[u8]) -> Result<LinkPayload<'_>, SkipReason> {
        match self {
            LinkType::Raw => Ok(LinkPayload::of(frame, 0)),
            LinkType::Ethernet => {
                let header = Ethernet2HeaderSlice::from_slice(frame).map_err(|_| SkipReason::LinkHeaderCut)?;
                within(header.ether_type(), frame, header.slice().len())
            }
            LinkType::LinuxCooked => within(EtherType(word(frame, 14)?), frame, 16),
            LinkType::LinuxCooked2 => {
                let behind = u32::from(word(frame, 4)?) << 16 | u32::from(word(frame, 6)?);
                within(EtherType(word(frame, 0)?), frame, 20).map(|inside| LinkPayload { behind: Some(behind), ..inside })
            }
            LinkType::Loopback => {
                let (high, low) = (word(frame, 0)?, word(frame, 2)?);
                // The family is below 256, so that one half is zero in either byte order. 2 is IPv4; IPv6 differs between
                // systems.
                let family = if high == 0 { low } else { high.swap_bytes() };
                match family {
                    2 | 10 | 24 | 28 | 30 => Ok(LinkPayload::of(&frame[4..], 4)),
                    _ => Err(SkipReason::NotIp),
                }
            }
            LinkType::Ppp => behind_ppp(frame, if frame.starts_with(&[0xff, 0x03]) { 2 } else { 0 }),
            LinkType::PppOverEthernet => behind_ppp(frame, PPPOE_HEADER),
            LinkType::Other(number) => Err(SkipReason::LinkType(number)),
        }
    }
}

/// RFC 2516 section 4.
const PPPOE_SESSION: EtherType = EtherType(0x8864);
const PPPOE_HEADER: usize = 6;

/// RFC 3032 sections 2.1 and 5.
const MPLS: [EtherType; 2] = [EtherType(0x8847), EtherType(0x8848)];

/// The packet after the protocol field of PPP at `protocol_at`, which may be compressed to one odd byte (RFC 1661 section 6.5).
fn behind_ppp(frame: &[u8], protocol_at: usize) -> Result<LinkPayload<'_>, SkipReason> {
    let first = *frame.get(protocol_at).ok_or(SkipReason::LinkHeaderCut)?;
    let (protocol, bytes) = if first % 2 == 1 { (first.into(), 1) } else { (word(frame, protocol_at)?, 2) };
    let header_bytes = protocol_at + bytes;
    match protocol {
        0x21 | 0x57 => Ok(LinkPayload::of(&frame[header_bytes..], header_bytes)),
        _ => Err(SkipReason::NotIp),
    }
}

/// The packet after a stack of MPLS labels, which does not say what it carries: IP begins with its version.
fn behind_labels(frame: &[u8], mut header_bytes: usize) -> Result<LinkPayload<'_>, SkipReason> {
    loop {
        let is_last = word(frame, header_bytes + 2)? & 0x100 != 0;
        header_bytes += 4;
        if is_last {
            let ip = &frame[header_bytes..];
            let version = ip.first().ok_or(SkipReason::LinkHeaderCut)? >> 4;
            return if [4, 6].contains(&version) { Ok(LinkPayload::of(ip, header_bytes)) } else { Err(SkipReason::NotIp) };
        }
    }
}

/// The packet after a header of `header_bytes` bytes and any VLAN tags.
fn within(mut of: EtherType, frame: &[u8], mut header_bytes: usize) -> Result<LinkPayload<'_>, SkipReason> {
    let mut vlan = None;
    let inside = loop {
        let rest = frame.get(header_bytes..).ok_or(SkipReason::LinkHeaderCut)?;
        match of {
            EtherType::IPV4 | EtherType::IPV6 => break LinkPayload::of(rest, header_bytes),
            EtherType::VLAN_TAGGED_FRAME | EtherType::PROVIDER_BRIDGING | EtherType::VLAN_DOUBLE_TAGGED_FRAME => {
                let tag = SingleVlanHeaderSlice::from_slice(rest).map_err(|_| SkipReason::LinkHeaderCut)?;
                of = tag.ether_type();
                vlan = Some(Vlan::with(vlan, tag.vlan_identifier().value()));
                header_bytes += tag.slice().len();
            }
            PPPOE_SESSION => break behind_ppp(frame, header_bytes + PPPOE_HEADER)?,
            label if MPLS.contains(&label) => break behind_labels(frame, header_bytes)?,
            _ => return Err(SkipReason::NotIp),
        }
    };
    Ok(LinkPayload { vlan, ..inside })
}

/// Two bytes in network byte order.
fn word(frame: &[u8], at: usize) -> Result<u16, SkipReason> {
    let bytes = frame.get(at..at + 2).ok_or(SkipReason::LinkHeaderCut)?;
    Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(link: LinkType, header: &[u8]) -> Result<Vec<u8>, SkipReason> {
        let frame = [header, b"packet"].concat();
        link.unwrap(&frame).map(|inside| {
            assert_eq!(inside.header_bytes, header.len());
            inside.ip.to_vec()
        })
    }

    #[test]
    fn the_packet_is_found_after_each_kind_of_header() {
        let packet = Ok(b"packet".to_vec());
        assert_eq!(found(LinkType::Raw, &[]), packet);
        assert_eq!(found(LinkType::Ethernet, &[[0; 12].as_slice(), &[0x08, 0]].concat()), packet);
        let tagged = [[0; 12].as_slice(), &[0x88, 0xa8, 0, 1, 0x81, 0, 0, 2, 0x86, 0xdd]].concat();
        assert_eq!(found(LinkType::Ethernet, &tagged), packet);
        let vlan = LinkType::Ethernet.unwrap(&tagged).unwrap().vlan;
        assert_eq!(vlan, Some(Vlan { outer: 1, inner: Some(2) }));
        assert_eq!(found(LinkType::LinuxCooked, &[[0; 14].as_slice(), &[0x08, 0]].concat()), packet);
        assert_eq!(found(LinkType::LinuxCooked2, &[[0x08, 0].as_slice(), &[0; 18]].concat()), packet);
        assert_eq!(found(LinkType::Loopback, &[2, 0, 0, 0]), packet);
        assert_eq!(found(LinkType::Loopback, &[0, 0, 0, 30]), packet);
    }

    #[test]
    fn the_packet_is_found_after_ppp_and_labels() {
        let packet = Ok(b"packet".to_vec());
        for header in [&[0xff, 0x03, 0, 0x21][..], &[0, 0x57], &[0x21]] {
            assert_eq!(found(LinkType::Ppp, header), packet);
        }
        let session = [0x11, 0, 0, 1, 0, 8, 0, 0x21];
        assert_eq!(found(LinkType::PppOverEthernet, &session), packet);
        assert_eq!(found(LinkType::Ethernet, &[&[0; 12][..], &[0x88, 0x64], &session].concat()), packet);
        assert_eq!(found(LinkType::Ppp, &[0xc0, 0x21]), Err(SkipReason::NotIp));
        // Two labels. The version of IP is in the first byte, which `p` is not.
        let labels = [&[0; 12][..], &[0x88, 0x47, 0, 1, 0, 64, 0, 2, 1, 64]].concat();
        assert_eq!(found(LinkType::Ethernet, &labels), Err(SkipReason::NotIp));
        let ip = [&labels[..], &[0x45]].concat();
        assert_eq!(LinkType::Ethernet.unwrap(&ip).unwrap().ip, [0x45]);
    }

    #[test]
    fn the_second_cooked_header_contains_the_underlying_interface() {
        let frame = [[0x08, 0, 0, 0, 0, 0, 0, 7].as_slice(), &[0; 12]].concat();
        assert_eq!(LinkType::LinuxCooked2.unwrap(&frame).unwrap().behind, Some(7));
    }

    #[test]
    fn frames_without_ip_report_the_reason() {
        assert_eq!(found(LinkType::Ethernet, &[[0; 12].as_slice(), &[0x08, 0x06]].concat()), Err(SkipReason::NotIp));
        assert_eq!(found(LinkType::Loopback, &[0, 0, 0, 7]), Err(SkipReason::NotIp));
        assert_eq!(found(LinkType::Other(127), &[]), Err(SkipReason::LinkType(127)));
        assert_eq!(LinkType::Ethernet.unwrap(&[0; 13]), Err(SkipReason::LinkHeaderCut));
        assert_eq!(LinkType::LinuxCooked2.unwrap(&[0x08, 0, 0]), Err(SkipReason::LinkHeaderCut));
        assert_eq!(LinkType::Ethernet.unwrap(&[[0; 12].as_slice(), &[0x81, 0, 0]].concat()), Err(SkipReason::LinkHeaderCut));
    }
}
