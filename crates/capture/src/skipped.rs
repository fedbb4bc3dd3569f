//! Reasons why packets were not analysed, with counts.

use std::collections::BTreeMap;
use std::fmt;

/// Reason why a packet was not analysed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
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
    UdpHeaderDamaged,
    Icmp,
    /// By protocol number.
    OtherProtocol(u8),
    TcpHeaderCut,
    TcpHeaderDamaged,
    /// The same packet was captured before, as by a mirror port or on both sides of a router.
    Repeated,
}

impl fmt::Display for SkipReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SkipReason::LinkType(number) => write!(out, "unsupported link type {number}"),
            SkipReason::UnknownInterface => out.write_str("undefined interface"),
            SkipReason::NoTime => out.write_str("no timestamp"),
            SkipReason::TimeOutOfRange => out.write_str("timestamp out of range"),
            SkipReason::UnknownBlock(number) => write!(out, "unsupported block type {number:#x}"),
            SkipReason::LinkHeaderCut => out.write_str("truncated link header"),
            SkipReason::NotIp => out.write_str("not IP"),
            SkipReason::IpHeaderCut => out.write_str("truncated IP header"),
            SkipReason::IpHeaderDamaged => out.write_str("damaged IP header"),
            SkipReason::Fragment => out.write_str("a fragment"),
            SkipReason::UdpHeaderDamaged => out.write_str("truncated or damaged UDP header"),
            SkipReason::Icmp => out.write_str("ICMP"),
            SkipReason::OtherProtocol(number) => write!(out, "IP protocol {number}"),
            SkipReason::TcpHeaderCut => out.write_str("truncated TCP header"),
            SkipReason::Repeated => out.write_str("captured before"),
            SkipReason::TcpHeaderDamaged => out.write_str("damaged TCP header"),
        }
    }
}

/// Counts by reason.
#[derive(Clone, Debug, Default)]
pub struct Skipped(BTreeMap<SkipReason, u64>);

impl Skipped {
    pub fn add(&mut self, reason: SkipReason) {
        *self.0.entry(reason).or_default() += 1;
    }

    /// In a fixed order.
    pub fn counts(&self) -> impl Iterator<Item = (SkipReason, u64)> {
        self.0.iter().map(|(&reason, &count)| (reason, count))
    }
}
