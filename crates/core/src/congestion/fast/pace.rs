//! The record of earlier windows, and the timing of updates and growth, in the form `module`.

use crate::congestion::support::Ack;
use crate::primitives::units::{Cwnd, Segments, Time, TimeDelta};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Minimum window, also used after a timeout.
pub(super) const MIN: f64 = 2.0;
/// Window up to which the whole increase is applied at once.
const AT_ONCE: f64 = 4.0;
/// Data in flight at acknowledgements, back to one RTT ago. Nothing is recorded during loss recovery, so segments sent then refer to the
/// data in flight before the loss.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Flights {
    changes: VecDeque<(Time, Segments)>,
}

impl Flights {
    pub fn note(&mut self, ack: &Ack) {
        if self.changes.back().is_none_or(|last| last.1 != ack.in_flight) {
            self.changes.push_back((ack.now, ack.in_flight));
        }
        let Some(rtt) = ack.rtt else { return };
        // A segment refers to the last record at or before its departure.
        let sent = Time(ack.now.0.saturating_sub(rtt.0));
        while self.changes.get(1).is_some_and(|change| change.0 <= sent) {
            self.changes.pop_front();
        }
    }

    /// Data in flight when the segment acknowledged by the last recorded acknowledgement left.
    pub fn before(&self, ack: &Ack) -> f64 {
        f64::from(self.changes.front().map_or(ack.in_flight, |change| change.1).0)
    }
}

/// Timing of updates and growth.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Pace {
    /// RTTs alternate between active and frozen. The handshake was an active one, and the first acknowledgement begins a frozen one.
    pub is_active: bool,
    began: Option<Time>,
    latest: TimeDelta,
    /// Acknowledgements in this RTT, and in the previous one.
    acks: u32,
    acks_before: u32,
    /// Segments to grow by, the number of acknowledgements per segment, and the number since the last increase.
    pub pending: u32,
    spacing: u32,
    since: u32,
}

impl Pace {
    pub fn forget(&mut self) {
        self.pending = 0;
    }

    pub fn on_ack(&mut self, ack: &Ack) {
        self.latest = ack.rtt.unwrap_or(self.latest);
        match self.began {
            Some(began) if ack.now.since(began) < self.latest => {}
            began => {
                self.is_active = began.is_some() && !self.is_active;
                self.began = Some(ack.now);
                self.acks_before = std::mem::take(&mut self.acks);
            }
        }
        self.acks += 1;
    }

    /// Sets the growth until the next update, in segments. `period`: as a fraction of an RTT.
    pub fn grow(&mut self, Segments(segments): Segments, period: f64) {
        self.pending = segments;
        let acks_in_period = f64::from(self.acks_before) * period;
        self.spacing = (acks_in_period / f64::from(segments.max(1))) as u32;
    }

    /// Growth of the window at this acknowledgement, in segments.
    pub fn due(&mut self, Cwnd(window): Cwnd) -> f64 {
        self.since += 1;
        let due = match () {
            () if self.pending == 0 => 0,
            () if window <= AT_ONCE => self.pending.min(window as u32),
            () if self.since >= self.spacing => 1,
            () => 0,
        };
        if due > 0 {
            self.since = 0;
        }
        self.pending -= due;
        f64::from(due)
    }
}
