//! Special entries of the flat list of routes, in addition to port numbers.

use crate::primitives::ids::PortId;

/// End of a route in the flat list of routes.
pub(crate) const END: u32 = u32::MAX;
/// End of a route whose flows end in several domains.
pub(crate) const END_ANY_DOMAIN: u32 = u32::MAX - 1;
/// `END_IN_DOMAIN + N`: end of a route whose flows all end in domain N.
pub(crate) const END_IN_DOMAIN: u32 = u32::MAX << 16;
/// Entries from here on are not ports of the domain: each is an end, or `REMOTE` plus the port of another domain.
pub(crate) const REMOTE: u32 = 1 << 31;

/// The port of an entry, if it is one of the domain.
#[inline]
pub(crate) fn local_port(entry: u32) -> Option<PortId> {
    (entry < REMOTE).then_some(PortId(entry))
}

/// Whether the route ends with this entry.
#[inline]
pub(crate) fn is_end(entry: u32) -> bool {
    entry >= END_IN_DOMAIN
}
