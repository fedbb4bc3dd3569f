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
    Other(u16),
}

/// An IP packet, and the index of its underlying interface if the header contains it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LinkPayload<'a> {
    pub(crate) ip: &'a [u8],
    pub(crate) header_bytes: usize,
    pub(crate) behind: Option<u32>,
}

impl LinkType {
    pub fn of_number(number: u16) -> LinkType {
        match number {
            0 | 108 => LinkType::Loopback,
            1 => LinkType::Ethernet,
            // Some BSDs wrote 12 for 101.
            12 | 101 | 228 | 229 => LinkType::Raw,
            113 => LinkType::LinuxCooked,
            276 => LinkType::LinuxCooked2,
            other => LinkType::Other(other),
        }
    }

    #[inline]
    pub(crate) fn unwrap(self, frame: &[u8]) -> Result<LinkPayload<'_>, SkipReason> {
        match self {
            LinkType::Raw => Ok(LinkPayload { ip: frame, header_bytes: 0, behind: None }),
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
                    2 | 10 | 24 | 28 | 30 => Ok(LinkPayload { ip: &frame[4..], header_bytes: 4, behind: None }),
                    _ => Err(SkipReason::NotIp),
                }
            }
            LinkType::Other(number) => Err(SkipReason::LinkType(number)),
        }
    }
}

/// The packet after a header of `header_bytes` bytes and any VLAN tags.
fn within(mut of: EtherType, frame: &[u8], mut header_bytes: usize) -> Result<LinkPayload<'_>, SkipReason> {
    loop {
        let rest = frame.get(header_bytes..).ok_or(SkipReason::LinkHeaderCut)?;
        match of {
            EtherType::IPV4 | EtherType::IPV6 => return Ok(LinkPayload { ip: rest, header_bytes, behind: None }),
            EtherType::VLAN_TAGGED_FRAME | EtherType::PROVIDER_BRIDGING | EtherType::VLAN_DOUBLE_TAGGED_FRAME => {
                let tag = SingleVlanHeaderSlice::from_slice(rest).map_err(|_| SkipReason::LinkHeaderCut)?;
                of = tag.ether_type();
                header_bytes += tag.slice().len();
            }
            _ => return Err(SkipReason::NotIp),
        }
    }
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
        assert_eq!(found(LinkType::LinuxCooked, &[[0; 14].as_slice(), &[0x08, 0]].concat()), packet);
        assert_eq!(found(LinkType::LinuxCooked2, &[[0x08, 0].as_slice(), &[0; 18]].concat()), packet);
        assert_eq!(found(LinkType::Loopback, &[2, 0, 0, 0]), packet);
        assert_eq!(found(LinkType::Loopback, &[0, 0, 0, 30]), packet);
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
