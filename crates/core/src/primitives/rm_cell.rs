//! Fields of a resource management cell of the available bit rate service (ATM Forum TM 4.0, section 5.10.3).

use super::units::Rate;

/// The fields of an RM cell that sources, switches and destinations use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RmCell {
    /// Current cell rate: ACR of the source when it sent the cell.
    pub ccr: Rate,
    /// Explicit rate: requested by the source, and possibly lowered by switches; 0 allows nothing.
    pub er: Rate,
    /// Congestion indication.
    pub ci: bool,
    /// No increase.
    pub ni: bool,
}
