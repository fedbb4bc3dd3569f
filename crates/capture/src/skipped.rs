//! Why a packet was not analysed, and how many there were of each.

use std::collections::BTreeMap;
use std::fmt;

/// Why a packet was not analysed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// Of an interface of a link type that is not read.
    LinkType(u16),
    /// Refers to an interface that the file does not describe.
    UnknownInterface,
    /// Has no time, as in a simple packet block.
    NoTime,
    /// Its time does not fit in 64 bits of nanoseconds.
    TimeOutOfRange,
    /// In a block that is obsolete or of no known type: counted in blocks.
    UnknownBlock(u32),
    LinkHeaderCut,
    /// ARP and the like.
    NotIp,
    IpHeaderCut,
    IpHeaderDamaged,
    Fragment,
    Udp,
    Icmp,
    /// By number of protocol.
    OtherProtocol(u8),
    TcpHeaderCut,
    TcpHeaderDamaged,
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::LinkType(number) => write!(out, "link type {number}, which is not read"),
            Reason::UnknownInterface => out.write_str("an interface that the file does not describe"),
            Reason::NoTime => out.write_str("no time"),
            Reason::TimeOutOfRange => out.write_str("a time out of range"),
            Reason::UnknownBlock(number) => write!(out, "block of type {number:#x}, which is not read"),
            Reason::LinkHeaderCut => out.write_str("cut within the link's header"),
            Reason::NotIp => out.write_str("not IP"),
            Reason::IpHeaderCut => out.write_str("cut within the IP header"),
            Reason::IpHeaderDamaged => out.write_str("a damaged IP header"),
            Reason::Fragment => out.write_str("a fragment"),
            Reason::Udp => out.write_str("UDP"),
            Reason::Icmp => out.write_str("ICMP"),
            Reason::OtherProtocol(number) => write!(out, "IP protocol {number}"),
            Reason::TcpHeaderCut => out.write_str("cut within the TCP header"),
            Reason::TcpHeaderDamaged => out.write_str("a damaged TCP header"),
        }
    }
}

/// Counts by reason.
#[derive(Clone, Debug, Default)]
pub struct Skipped(BTreeMap<Reason, u64>);

impl Skipped {
    pub fn add(&mut self, reason: Reason) {
        *self.0.entry(reason).or_default() += 1;
    }

    /// In a fixed order.
    pub fn counts(&self) -> impl Iterator<Item = (Reason, u64)> {
        self.0.iter().map(|(&reason, &count)| (reason, count))
    }
}
