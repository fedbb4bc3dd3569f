//! State of probing for bandwidth (5.3.3).

use crate::primitives::units::{Time, TimeDelta};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Phase {
    Down,
    Cruise,
    Refill,
    Up,
}

/// How acknowledgements relate to probing for bandwidth (BBR.ack_phase).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum AckPhase {
    #[default]
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// Probing for bandwidth: the latest probe, and the time of the next.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct BandwidthProbe {
    pub ack_phase: AckPhase,
    /// Losses now are those of data sent by the probe (BBR.bw_probe_samples).
    pub is_sample: bool,
    /// The latest probe ended with too many losses (BBR.prev_probe_too_high), or at the bound, before there were any.
    pub was_too_high: bool,
    pub was_precautionary: bool,
    /// When the cycle began (BBR.cycle_stamp), and the time from there to the next probe.
    pub began: Time,
    pub wait: TimeDelta,
    pub rounds_since_up: u64,
}
