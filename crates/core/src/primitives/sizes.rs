//! Sizes that are fixed: of a cell, and what fits in the numbers that count.

use super::units::Bytes;

/// The most that a packet may have on the wire.
pub const MAX_PACKET: Bytes = Bytes((1 << 24) - 1);
/// The most hops that all paths may have together, one more counted for each path.
pub const MAX_ROUTE_ENTRIES: usize = (1 << 24) - 1;
/// The most distinct rates that private access links may have.
pub const MAX_ACCESS_RATES: usize = u16::MAX as usize;
/// The most segments that a flow may send.
pub const MAX_SEGMENTS: u64 = 1 << 31;

/// A cell on the wire, and its payload.
pub const CELL_BYTES: Bytes = Bytes(53);
pub const CELL_PAYLOAD: Bytes = Bytes(48);
