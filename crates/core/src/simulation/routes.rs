//! The flat list of routes: the ports of each route, and its end.

use crate::primitives::ids::PortId;
use serde::{Deserialize, Serialize};

/// Whether the route of a flow changes during the run, in which case its packets may arrive out of order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    Fixed,
    Changing,
}

/// A port, or the end of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct RouteEntry(u32);

/// The port belongs to another domain. Ends have this bit, too.
const REMOTE: u32 = 1 << 31;
/// Arrivals at the port are events, so that they are queued without access to the port's memory.
const BY_EVENT: u32 = 1 << 30;
/// `END_IN_DOMAIN + N`: end of a route whose flows all end in domain N.
const END_IN_DOMAIN: u32 = u32::MAX << 16;

impl RouteEntry {
    pub(crate) const END: RouteEntry = RouteEntry(u32::MAX);
    /// End of a route whose flows end in several domains.
    pub(crate) const END_ANY_DOMAIN: RouteEntry = RouteEntry(u32::MAX - 1);

    pub(crate) fn end_in(domain: u16) -> RouteEntry {
        RouteEntry(END_IN_DOMAIN + u32::from(domain))
    }

    /// A port at which arrivals need no event.
    pub(crate) fn immediate(port: PortId) -> RouteEntry {
        RouteEntry(port.0)
    }

    /// A port at which arrivals are events.
    pub(crate) fn by_event(port: PortId) -> RouteEntry {
        RouteEntry(port.0 | BY_EVENT)
    }

    /// The same port, as part of another domain.
    pub(crate) fn in_other_domain(self) -> RouteEntry {
        RouteEntry(self.0 | REMOTE)
    }

    /// The same port or end in a run without domains.
    pub(crate) fn without_domains(self) -> RouteEntry {
        if self.is_end() { RouteEntry::END } else { RouteEntry(self.0 & !REMOTE) }
    }

    #[inline]
    pub(crate) fn is_end(self) -> bool {
        self.0 >= END_IN_DOMAIN
    }

    /// The domain of the end, if it is known.
    #[inline]
    pub(crate) fn domain_of_end(self) -> Option<u16> {
        (self.is_end() && self.0 < RouteEntry::END_ANY_DOMAIN.0).then(|| (self.0 - END_IN_DOMAIN) as u16)
    }

    /// The port, if it belongs to the domain.
    #[inline]
    pub(crate) fn local_port(self) -> Option<PortId> {
        (self.0 < REMOTE).then_some(PortId(self.0 & !BY_EVENT))
    }

    /// The port of any domain.
    #[inline]
    pub(crate) fn port(self) -> Option<PortId> {
        (!self.is_end()).then_some(PortId(self.0 & !(REMOTE | BY_EVENT)))
    }

    /// Whether arrivals at the port are events.
    #[inline]
    pub(crate) fn needs_event(self) -> bool {
        self.0 & BY_EVENT != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_their_port_and_its_kind_in_every_domain() {
        for (entry, kind) in [(RouteEntry::immediate(PortId(7)), false), (RouteEntry::by_event(PortId(7)), true)] {
            assert_eq!((entry.local_port(), entry.port(), entry.needs_event()), (Some(PortId(7)), Some(PortId(7)), kind));
            let remote = entry.in_other_domain();
            assert_eq!((remote.local_port(), remote.port(), remote.is_end()), (None, Some(PortId(7)), false));
            assert_eq!((remote.needs_event(), remote.without_domains()), (kind, entry));
        }
        let ends = [RouteEntry::END, RouteEntry::END_ANY_DOMAIN, RouteEntry::end_in(3)];
        assert_eq!(ends.map(RouteEntry::domain_of_end), [None, None, Some(3)]);
        assert!(ends.iter().all(|end| end.is_end() && end.port().is_none() && end.without_domains() == RouteEntry::END));
    }
}
