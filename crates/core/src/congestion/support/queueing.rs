//! Number of queued segments of a window, estimated from the RTT and its minimum, for delay-based controllers.

use crate::primitives::units::{Cwnd, TimeDelta};
use serde::{Deserialize, Serialize};

/// The minimum RTT since the last reset, and the present one.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Queueing {
    base: Option<TimeDelta>,
    present: TimeDelta,
}

impl Queueing {
    #[inline]
    pub fn measure(&mut self, sample: TimeDelta) {
        self.base = Some(self.base.map_or(sample, |base| base.min(sample)));
    }

    /// Sets the RTT to compare, which may be an average or a minimum of several.
    #[inline]
    pub fn judge_by(&mut self, round_trip: TimeDelta) {
        self.present = round_trip;
    }

    pub fn forget_base(&mut self) {
        self.base = None;
    }

    pub fn base(&self) -> Option<TimeDelta> {
        self.base
    }

    /// The queueing delay.
    #[inline]
    pub fn delay(&self) -> TimeDelta {
        self.present - self.base.unwrap_or(self.present)
    }

    /// Queued segments of a window: (w / base - w / present) * base, Vegas's Diff.
    #[inline]
    pub fn segments(&self, Cwnd(window): Cwnd) -> f64 {
        window * self.delay().0 as f64 / self.present.0.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queue_is_the_part_of_the_rtt_above_the_minimum() {
        let mut queueing = Queueing::default();
        let judged = |queueing: &mut Queueing, milliseconds| {
            queueing.judge_by(TimeDelta::from_millis(milliseconds));
            (queueing.delay().seconds(), queueing.segments(Cwnd(10.0)))
        };
        assert_eq!(judged(&mut queueing, 100), (0.0, 0.0));
        queueing.measure(TimeDelta::from_millis(100));
        queueing.measure(TimeDelta::from_millis(120));
        assert_eq!(judged(&mut queueing, 125), (0.025, 2.0));
        // An average may be below the minimum temporarily.
        assert_eq!(judged(&mut queueing, 90), (0.0, 0.0));
        queueing.forget_base();
        assert_eq!(judged(&mut queueing, 200), (0.0, 0.0));
    }
}
