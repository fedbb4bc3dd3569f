//! Counters of a port.

use crate::primitives::units::{Time, TimeDelta};
use crate::queue::DropReason;
use crate::simulation::measurement_interval::{MeasurementInterval, PhaseCounts};
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
    /// Maximum number of units in the buffer after an arrival within the measurement interval.
    pub(crate) max: u64,
    /// Units in the buffer at the end of the warm-up, without those that are still queued at a stepped port.
    pub(crate) held_at_warmup: u64,
    /// Present at ports that have discarded, duplicated or marked a unit: most ports of a large network have not.
    exceptions: Option<Box<ExceptionCounts>>,
}

/// Counters of discarded, duplicated and marked units.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ExceptionCounts {
    /// By reason, in the order of [`DropReason::ALL`].
    pub(crate) discarded: [PhaseCounts; DropReason::ALL.len()],
    /// Units of acknowledgements among the discarded ones, without RM cells.
    pub(crate) dropped_acks: PhaseCounts,
    /// Units that arrived during the warm-up and were discarded within the measurement interval.
    pub(crate) discarded_of_warmup: u64,
    /// Packets that the link has duplicated.
    pub(crate) duplicated: PhaseCounts,
    pub(crate) marked: PhaseCounts,
    /// Packets whose price was outside the mapping's range and was clamped to it.
    pub(crate) beyond_range: PhaseCounts,
}

const NO_EXCEPTIONS: ExceptionCounts = ExceptionCounts {
    discarded: [PhaseCounts([0; 3]); DropReason::ALL.len()],
    dropped_acks: PhaseCounts([0; 3]),
    discarded_of_warmup: 0,
    duplicated: PhaseCounts([0; 3]),
    marked: PhaseCounts([0; 3]),
    beyond_range: PhaseCounts([0; 3]),
};

/// Times of a unit at a port that serves it.
#[derive(Clone, Copy)]
pub(super) struct ServiceTimes {
    pub(super) arrival: Time,
    /// When it leaves the buffer for a transmitter. At a shaper, the transmitter then waits for tokens.
    pub(super) taken: Time,
    /// Start of the transmission.
    pub(super) start: Time,
    pub(super) departure: Time,
}

impl PortCounts {
    pub(crate) fn exceptions(&self) -> &ExceptionCounts {
        self.exceptions.as_deref().unwrap_or(const { &NO_EXCEPTIONS })
    }

    #[inline]
    pub(super) fn exceptions_mut(&mut self) -> &mut ExceptionCounts {
        self.exceptions.get_or_insert_with(|| Box::new(NO_EXCEPTIONS))
    }

    /// Count a discard on arrival. A separate function, so that the path of other units stays short.
    #[inline(never)]
    pub(super) fn discard(&mut self, reason: DropReason, now: Time, interval: &MeasurementInterval) {
        self.exceptions_mut().discarded[reason as usize].add(interval.part(now), 1);
    }

    /// Count a discard at `now` of a unit that had been accepted at `arrival`.
    pub(super) fn discard_accepted(&mut self, reason: DropReason, [arrival, now]: [Time; 2], interval: &MeasurementInterval) {
        self.discard(reason, now, interval);
        self.exceptions_mut().discarded_of_warmup += u64::from(arrival < interval.warmup && interval.measures(now));
    }

    /// Add the time in the buffer of a unit.
    #[inline]
    pub(super) fn add_held(&mut self, [arrival, left]: [Time; 2], interval: &MeasurementInterval) {
        self.held += u128::from(interval.overlap(arrival, left).0);
        self.held_at_warmup += u64::from(arrival < interval.warmup && left > interval.warmup);
    }
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
