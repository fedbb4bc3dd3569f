//! What a resource management cell of the available bit rate service says (ATM Forum TM 4.0, section 5.10.3).

use super::units::Rate;

/// The fields of an RM cell that sources, switches and destinations go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RmCell {
    /// Current cell rate: ACR of the source as it sent the cell.
    pub ccr: Rate,
    /// Explicit rate: what the source asked for, or less by what switches have written; 0 is nothing at all.
    pub er: Rate,
    /// Congestion indication.
    pub ci: bool,
    /// No increase.
    pub ni: bool,
}
