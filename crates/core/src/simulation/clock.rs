//! The clock of a run: the time reached, the measurement interval, and how far senders may act ahead.

use super::measurement_interval::MeasurementInterval;
use crate::network::Network;
use crate::primitives::units::{Time, TimeDelta};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Clock {
    now: Time,
    interval: MeasurementInterval,
    /// How far ahead of an event a sender may act. This is about the longest round trip, so that the counters of an interrupted run are not
    /// far ahead of its time.
    ahead: TimeDelta,
}

impl Clock {
    /// `reach`: typical range of event times.
    pub(crate) fn new(network: &Network, reach: TimeDelta) -> Clock {
        let interval = MeasurementInterval { warmup: Time(network.warmup.0), end: Time(network.duration.0) };
        Clock { now: Time::ZERO, interval, ahead: TimeDelta(reach.0 / 2) }
    }

    #[inline]
    pub(crate) fn now(&self) -> Time {
        self.now
    }

    /// The time of the event that is handled next.
    #[inline]
    pub(crate) fn set(&mut self, now: Time) {
        self.now = now;
    }

    /// There are no events before this time.
    #[inline]
    pub(crate) fn advance(&mut self, time: Time) {
        self.now = self.now.max(time);
    }

    #[inline]
    pub(crate) fn interval(&self) -> &MeasurementInterval {
        &self.interval
    }

    /// End of the warm-up.
    #[inline]
    pub(crate) fn warmup(&self) -> Time {
        self.interval.warmup
    }

    /// End of the run.
    #[inline]
    pub(crate) fn end(&self) -> Time {
        self.interval.end
    }

    /// Latest time at which a sender may act ahead of its event.
    #[inline]
    pub(crate) fn horizon(&self) -> Time {
        self.interval.end.min(self.now + self.ahead)
    }

    /// Typical range of event times.
    pub(crate) fn reach(&self) -> TimeDelta {
        TimeDelta(2 * self.ahead.0)
    }

    /// Whether a time is within the measurement interval.
    #[inline]
    pub(crate) fn measures(&self, time: Time) -> bool {
        self.interval.measures(time)
    }

    #[inline]
    pub(crate) fn measures_all(&self, times: [Time; 2]) -> bool {
        self.interval.measures_all(times)
    }
}
