//! Reasons why packets were not analysed, with counts.

use std::collections::BTreeMap;
use std::fmt;

/// Reason why a packet was not analysed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// Its interface has an unsupported link type.
    LinkType(u16),
    /// Refers to an interface that the file does not describe.
    UnknownInterface,
    /// No timestamp, as in a simple packet block.
    NoTime,
    /// The timestamp does not fit in 64 bits of nanoseconds.
    TimeOutOfRange,
    /// In an obsolete or unknown block type; counts blocks.
    UnknownBlock(u32),
    LinkHeaderCut,
    /// ARP and similar.
    NotIp,
    IpHeaderCut,
    IpHeaderDamaged,
    Fragment,
    Udp,
    Icmp,
    /// By protocol number.
    OtherProtocol(u8),
    TcpHeaderCut,
    TcpHeaderDamaged,
}

impl fmt::Display for Reason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::LinkType(number) => write!(out, "unsupported link type {number}"),
            Reason::UnknownInterface => out.write_str("undefined interface"),
            Reason::NoTime => out.write_str("no timestamp"),
            Reason::TimeOutOfRange => out.write_str("timestamp out of range"),
            Reason::UnknownBlock(number) => write!(out, "unsupported block type {number:#x}"),
            Reason::LinkHeaderCut => out.write_str("truncated link header"),
            Reason::NotIp => out.write_str("not IP"),
            Reason::IpHeaderCut => out.write_str("truncated IP header"),
            Reason::IpHeaderDamaged => out.write_str("damaged IP header"),
            Reason::Fragment => out.write_str("a fragment"),
            Reason::Udp => out.write_str("UDP"),
            Reason::Icmp => out.write_str("ICMP"),
            Reason::OtherProtocol(number) => write!(out, "IP protocol {number}"),
            Reason::TcpHeaderCut => out.write_str("truncated TCP header"),
            Reason::TcpHeaderDamaged => out.write_str("damaged TCP header"),
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
