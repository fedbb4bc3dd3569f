//! What the flat list of routes says beside numbers of ports.

/// End of a route in the flat list of routes.
pub(crate) const END: u32 = u32::MAX;
/// The same, where the flow's end there may be another domain's.
pub(crate) const END_OF_ANY: u32 = u32::MAX - 1;
/// An entry from here on is none of the domain's ports: it is an end, or another's port and this.
pub(crate) const ELSEWHERE: u32 = 1 << 31;
