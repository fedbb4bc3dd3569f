//! What the processing of a packet takes into account. The common cases cost nothing for the others: each is compiled separately.

/// The units that cross the network.
pub(crate) trait Carriage {
    /// Some packets travel in cells.
    const CELLS: bool;
    /// All groups are [`plain`](super::group_profile::GroupProfile::plain).
    const PLAIN: bool;
}

pub(crate) struct PlainPackets;
pub(crate) struct WholePackets;
pub(crate) struct PacketsAndCells;

impl Carriage for PlainPackets {
    const CELLS: bool = false;
    const PLAIN: bool = true;
}

impl Carriage for WholePackets {
    const CELLS: bool = false;
    const PLAIN: bool = false;
}

impl Carriage for PacketsAndCells {
    const CELLS: bool = true;
    const PLAIN: bool = false;
}

/// What a receiver does with a packet.
pub(crate) trait Reception {
    /// No more than [`GroupProfile::plain`](super::group_profile::GroupProfile::plain) allows.
    const PLAIN: bool;
}

pub(crate) struct Plain;
pub(crate) struct Complete;

impl Reception for Plain {
    const PLAIN: bool = true;
}

impl Reception for Complete {
    const PLAIN: bool = false;
}
