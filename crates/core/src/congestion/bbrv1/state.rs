//! The states of version 1 and their pacing gains.

use super::Bbr1Edition;
use crate::congestion::support::bbr::ProbeRtt;
use crate::primitives::units::Time;
use serde::{Deserialize, Serialize};

/// 2 / ln 2: the smallest gain that doubles the rate in each round (4.3.2.1).
pub(super) const HIGH_GAIN: f64 = 2.885_390_081_777_927;
/// Pacing gains in ProbeBW (4.3.4.1).
pub(super) const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum State {
    Startup,
    Drain,
    /// In this phase of the cycle, since this time.
    ProbeBw {
        phase: u8,
        since: Time,
    },
    ProbeRtt(ProbeRtt),
}

impl Bbr1Edition {
    /// Gains of Startup and Drain: of the draft, or in Linux in parts of 256 (bbr_high_gain, bbr_drain_gain).
    pub(super) fn first_gains(self) -> (f64, f64) {
        match self {
            Bbr1Edition::Draft00 => (HIGH_GAIN, 1.0 / HIGH_GAIN),
            Bbr1Edition::Linux => (739.0 / 256.0, 88.0 / 256.0),
        }
    }
}

impl State {
    pub(super) fn pacing_gain(self, edition: Bbr1Edition) -> f64 {
        match self {
            State::Startup => edition.first_gains().0,
            State::Drain => edition.first_gains().1,
            State::ProbeBw { phase, .. } => CYCLE[usize::from(phase)],
            State::ProbeRtt(_) => 1.0,
        }
    }
}
