//! An application above TCP that hands over bursts at its own times. TCP buffers the data that it may not send yet.

use super::schedule::Schedule;
use super::spec::BurstSpec;
use crate::primitives::random::Entity;
use crate::primitives::sizes::MAX_SEGMENTS;
use crate::primitives::units::{Bytes, Segments, Time};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// State of one application.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Application {
    schedule: Schedule,
    /// Total data to hand over.
    total: Segments,
}

impl Application {
    /// `total`: total data to hand over; the largest number if unlimited.
    pub(crate) fn new(schedule: Schedule, total: Segments) -> Application {
        Application { schedule, total }
    }

    /// Time of the first burst, if the application starts at `start`.
    pub(crate) fn first(&mut self, start: Time, spec: &BurstSpec) -> Time {
        spec.process.first(start, &mut self.schedule)
    }

    /// Hands over a burst now. Returns the time of the next burst, if there is one.
    pub(crate) fn hand_over(&mut self, now: Time, spec: &BurstSpec) -> Option<Time> {
        self.schedule.take();
        (self.handed_over(spec) < self.total).then(|| spec.process.next(now, &mut self.schedule))
    }

    /// Data handed over until now.
    pub(crate) fn handed_over(&self, spec: &BurstSpec) -> Segments {
        let max = u64::from(self.total.0).min(MAX_SEGMENTS);
        Segments((u64::from(self.schedule.taken()) * u64::from(spec.burst)).min(max) as u32)
    }
}

impl BurstSpec {
    /// Times of the writes of an application in `during`, with the bytes written until then: the ones that a simulation hands to TCP.
    ///
    /// `size`: total data; `None` if unlimited.
    pub fn writes(&self, of: Entity, mss: Bytes, size: Option<Bytes>, during: Range<Time>) -> Vec<(Time, Bytes)> {
        let segments = size.map_or(u32::MAX, |size| size.0.div_ceil(mss.0) as u32);
        let mut application = Application::new(Schedule::new(of, self.gap(mss)), Segments(segments));
        let mut writes = Vec::new();
        let mut next = Some(application.first(during.start, self));
        while let Some(now) = next.filter(|now| during.contains(now)) {
            next = application.hand_over(now, self);
            let written = Bytes(u64::from(application.handed_over(self).0) * mss.0);
            writes.push((now, size.map_or(written, |size| written.min(size))));
        }
        writes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::units::Rate;
    use crate::traffic::{ConstantSpec, ProcessSpec};

    #[test]
    fn it_hands_over_bursts_until_all_is_handed_over() {
        // Three segments of 1000 bytes at 2400 Gbit/s: 10 ns.
        let process = ProcessSpec::Constant(ConstantSpec { rate: Rate(2_400_000_000_000) });
        let spec = BurstSpec { process, burst: 3 };
        let mut application =
            Application::new(Schedule::new(Entity { seed: 1, name: "test", index: 0 }, spec.gap(Bytes(1000))), Segments(8));
        let mut seen = Vec::new();
        let mut next = Some(application.first(Time(5), &spec));
        while let Some(now) = next {
            next = application.hand_over(now, &spec);
            seen.push((now.0, application.handed_over(&spec).0));
        }
        assert_eq!(seen, [(5, 3), (10_005, 6), (20_005, 8)]);
        let entity = Entity { seed: 1, name: "test", index: 0 };
        let written = |size, end| spec.writes(entity, Bytes(1000), size, Time(5)..Time(end));
        assert_eq!(
            written(Some(Bytes(7_500)), 99_999),
            [(Time(5), Bytes(3000)), (Time(10_005), Bytes(6000)), (Time(20_005), Bytes(7500))]
        );
        assert_eq!(written(None, 20_005), [(Time(5), Bytes(3000)), (Time(10_005), Bytes(6000))]);
    }
}
