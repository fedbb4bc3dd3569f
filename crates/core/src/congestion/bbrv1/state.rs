//! The states of version 1 and their pacing gains.

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

/// Pacing gains of the first two states.
#[derive(Clone, Copy)]
pub(super) struct FirstGains {
    pub startup: f64,
    pub drain: f64,
}

impl State {
    pub(super) fn pacing_gain(self, first: FirstGains) -> f64 {
        match self {
            State::Startup => first.startup,
            State::Drain => first.drain,
            State::ProbeBw { phase, .. } => CYCLE[usize::from(phase)],
            State::ProbeRtt(_) => 1.0,
        }
    }
}
