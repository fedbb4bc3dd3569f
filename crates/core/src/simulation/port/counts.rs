//! Counters of a port.

use crate::primitives::units::TimeDelta;
use crate::queue::DropReason;
use crate::simulation::measurement_interval::PhaseCounts;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PortCounts {
    /// Accepted units, by time of arrival.
    pub(crate) accepted: PhaseCounts,
    pub(crate) departed: PhaseCounts,
    pub(crate) departed_bytes: PhaseCounts,
    /// Total busy time of the transmitters.
    pub(crate) busy: u128,
    /// Sum over packets of their time in the buffer, in picoseconds.
    pub(crate) held: u128,
    /// Waiting times of packets whose service began within the measurement interval.
    pub(crate) waited: u128,
    pub(crate) served: u64,
    pub(crate) max: u64,
    /// By reason, in the order of [`DropReason::ALL`].
    pub(crate) discarded: [PhaseCounts; DropReason::ALL.len()],
    /// Units of acknowledgements among the discarded ones, without RM cells.
    pub(crate) dropped_acks: PhaseCounts,
    /// Packets that the link has duplicated.
    pub(crate) duplicated: PhaseCounts,
    pub(crate) marked: PhaseCounts,
    /// Packets whose price was outside the mapping's range and was clamped to it.
    pub(crate) beyond_range: PhaseCounts,
}

/// Units and bytes of a flow that a port has sent.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct FlowTotals {
    pub(crate) units: PhaseCounts,
    pub(crate) bytes: PhaseCounts,
}

/// Counters of units that arrive at, are served by and leave a port computed ahead within the measurement interval. Nearly all units do.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct WarmCounts {
    pub(super) units: u64,
    pub(super) bytes: u64,
    /// With one transmitter, at most the measurement interval; with several, see `Equipment::fold_busy`.
    pub(super) busy: TimeDelta,
    pub(super) waited: u128,
    pub(super) max: u64,
}
