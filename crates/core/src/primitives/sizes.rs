//! Fixed sizes: of a cell, and the ranges of counters.

use super::units::Bytes;

/// Maximum size of a packet on the wire.
pub const MAX_PACKET: Bytes = Bytes((1 << 24) - 1);
/// Maximum number of hops of all paths together, plus one per path.
pub const MAX_ROUTE_ENTRIES: usize = (1 << 24) - 1;
/// Maximum number of distinct access rates.
pub const MAX_ACCESS_RATES: usize = u16::MAX as usize;
/// Maximum number of segments of a flow.
pub const MAX_SEGMENTS: u64 = 1 << 31;

/// Size of a cell on the wire, and of its payload.
pub const CELL_BYTES: Bytes = Bytes(53);
pub const CELL_PAYLOAD: Bytes = Bytes(48);
