//! An application above TCP: hands over data at its own times, and TCP keeps what it may not send yet.

use super::schedule::Schedule;
use super::spec::ApplicationSpec;
use crate::base::sizes::MAX_SEGMENTS;
use crate::base::units::Time;
use serde::{Deserialize, Serialize};

/// The state of one application.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Application {
    schedule: Schedule,
    /// Segments that it has to hand over in all.
    total: u32,
}

impl Application {
    /// `total`: segments to hand over in all; the largest number if without end.
    pub(crate) fn new(seed: u64, group: &str, index: u64, total: u32) -> Application {
        Application { schedule: Schedule::new(seed, group, index), total }
    }

    /// When it first hands over data, if it starts at `start`.
    pub(crate) fn first(&mut self, start: Time, spec: &ApplicationSpec) -> Option<Time> {
        self.schedule.first(start, &spec.arrivals)
    }

    /// Hand over a burst, now. Returns when the next one comes, if any does.
    pub(crate) fn hand_over(&mut self, now: Time, spec: &ApplicationSpec) -> Option<Time> {
        self.schedule.take();
        if self.handed_over(spec) >= self.total {
            return None;
        }
        self.schedule.next(now, &spec.arrivals)
    }

    /// Segments handed over so far.
    pub(crate) fn handed_over(&self, spec: &ApplicationSpec) -> u32 {
        let most = u64::from(self.total).min(MAX_SEGMENTS);
        (u64::from(self.schedule.taken()) * u64::from(spec.burst)).min(most) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::Span;
    use crate::traffic::Arrivals;

    #[test]
    fn it_hands_over_bursts_until_all_is_handed_over() {
        let spec = ApplicationSpec { arrivals: Arrivals::Constant { gap: Span(10) }, burst: 3 };
        let mut application = Application::new(1, "test", 0, 8);
        let mut seen = Vec::new();
        let mut next = application.first(Time(5), &spec);
        while let Some(now) = next {
            next = application.hand_over(now, &spec);
            seen.push((now.0, application.handed_over(&spec)));
        }
        assert_eq!(seen, [(5, 3), (15, 6), (25, 8)]);
    }
}
