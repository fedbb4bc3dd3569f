//! The phases of draining (section 4.4.2).

use crate::primitives::units::{Time, TimeDelta};
use serde::{Deserialize, Serialize};

/// Maximum relative deviation of a stable flow's queue from `alpha`.
pub(super) const STABLE: f64 = 0.1;

/// Phases of a flow: the four phases of draining, and the phases before and after them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Phase {
    /// Number of consecutive updates with a stable window.
    Converging {
        stable: u32,
    },
    /// `before`: the averaged RTT when the phase began.
    Reduction {
        began: Time,
        before: f64,
    },
    /// `fell`: time at which the base RTT last fell, to `base`.
    Depletion {
        began: Time,
        before: f64,
        fell: Time,
        base: Option<TimeDelta>,
    },
    Refilling {
        target: f64,
    },
    Stabilisation {
        began: Time,
    },
    Drained {
        since: Time,
    },
}

impl Phase {
    /// Phase of a new flow.
    pub(super) fn of(draining: Option<u32>) -> Phase {
        if draining.is_some() { Phase::Converging { stable: 0 } } else { Phase::Drained { since: Time::ZERO } }
    }

    /// Phase after an update. `average`: the averaged RTT.
    pub(super) fn after_update(self, found: Found, now: Time, average: f64) -> Phase {
        match self {
            Phase::Converging { .. } if found == Found::Moving => Phase::Converging { stable: 0 },
            Phase::Converging { stable: 0 } => Phase::Converging { stable: 1 },
            Phase::Converging { .. } => Phase::Reduction { began: now, before: average },
            _ => self,
        }
    }

    /// 1 to 4, in the order of section 4.4.2; 0 before draining, 5 after it or without it.
    pub(super) fn number(self) -> f64 {
        match self {
            Phase::Converging { .. } => 0.0,
            Phase::Reduction { .. } => 1.0,
            Phase::Depletion { .. } => 2.0,
            Phase::Refilling { .. } => 3.0,
            Phase::Stabilisation { .. } => 4.0,
            Phase::Drained { .. } => 5.0,
        }
    }
}

/// Result of an update of the window.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    Stable,
    Moving,
}
