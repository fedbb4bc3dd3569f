//! What the flat list of routes says beside numbers of ports.

/// End of a route in the flat list of routes.
pub(crate) const END: u32 = u32::MAX;
/// The same, where the ends of its flows are of several domains.
pub(crate) const END_OF_ANY: u32 = u32::MAX - 1;
/// The same, where they all are of the domain with this number and this.
pub(crate) const END_IN: u32 = u32::MAX << 16;
/// An entry from here on is none of the domain's ports: it is an end, or another's port and this.
pub(crate) const ELSEWHERE: u32 = 1 << 31;

/// The route ends with this entry.
#[inline]
pub(crate) fn is_end(entry: u32) -> bool {
    entry >= END_IN
}
