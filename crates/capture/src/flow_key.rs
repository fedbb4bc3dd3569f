//! Points of capture, ends of connections, and the keys by which flows are found.

use crate::link::Vlan;
use std::net::IpAddr;

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Endpoint {
    pub(crate) address: IpAddr,
    pub(crate) port: u16,
}

/// A point of capture. A packet that passes two points is observed twice, and belongs to a separate connection at each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CapturePoint {
    pub interface: u32,
    /// The underlying interface, if the captured one represents several (such as Linux's `any`).
    pub behind: Option<u32>,
    /// A router forwards packets from one VLAN to another through the same interface.
    pub vlan: Option<Vlan>,
}

/// A point and two ends, the lower first, as integers: the lookup key of every packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FlowKey([u64; 6]);

impl FlowKey {
    pub(crate) fn new(point: CapturePoint, from: Endpoint, to: Endpoint) -> FlowKey {
        let (low, high) = if from <= to { (from, to) } else { (to, from) };
        let number = |end: Endpoint| match end.address {
            IpAddr::V4(address) => u128::from(address.to_bits()),
            IpAddr::V6(address) => address.to_bits(),
        };
        let (first, second) = (number(low), number(high));
        let kind = u64::from(low.address.is_ipv6()) << 33 | u64::from(point.behind.is_some()) << 32;
        let vlan = point.vlan.map_or(0, |vlan| 1 << 24 | u64::from(vlan.outer) << 12 | vlan.inner.map_or(0, u64::from));
        let ports = vlan << 34 | kind | u64::from(low.port) << 16 | u64::from(high.port);
        let place = u64::from(point.interface) << 32 | u64::from(point.behind.unwrap_or(0));
        FlowKey([(first >> 64) as u64, first as u64, (second >> 64) as u64, second as u64, ports, place])
    }
}
