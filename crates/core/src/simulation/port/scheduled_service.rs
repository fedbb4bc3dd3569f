//! Service of a port that follows a rate schedule.

use crate::network::{Capacity, RateSchedule};
use crate::primitives::units::{Bytes, Rate, Time};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ScheduledService {
    schedule: RateSchedule,
    /// Start of the measurement interval.
    warmup: Time,
    /// Measured capacity that has been used, including that of the latest service, which may not have ended.
    used: Capacity,
    latest_end: Time,
}

impl ScheduledService {
    pub(super) fn new(schedule: &RateSchedule, warmup: Time) -> ScheduledService {
        ScheduledService { schedule: schedule.clone(), warmup, used: 0, latest_end: Time::ZERO }
    }

    /// Time at which the last byte of a unit is sent whose service starts now.
    pub(super) fn send(&mut self, bytes: Bytes, now: Time) -> Time {
        let end = self.schedule.time_of(self.schedule.capacity_before(now) + RateSchedule::capacity_of(bytes));
        self.used += self.measured(now, end);
        self.latest_end = end;
        end
    }

    pub(super) fn rate_at(&self, now: Time) -> Rate {
        self.schedule.rate_at(now)
    }

    /// Used share of the capacity from the start of the measurement interval to `until`.
    pub(super) fn used_share(&self, until: Time) -> f64 {
        let to_come = self.measured(until, self.latest_end.max(until));
        self.used.saturating_sub(to_come) as f64 / self.measured(Time::ZERO, until) as f64
    }

    /// Capacity in the part of this interval that is measured.
    fn measured(&self, begin: Time, end: Time) -> Capacity {
        let before = |time: Time| self.schedule.capacity_before(time.max(self.warmup));
        before(end) - before(begin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::RateStep;
    use crate::primitives::units::TimeDelta;

    fn millis(milliseconds: u64) -> Time {
        Time(TimeDelta::from_millis(milliseconds).0)
    }

    #[test]
    fn a_pause_is_not_part_of_the_capacity() {
        // 12 Mbit/s for 2 ms, and nothing for 2 ms; the measurement starts at 1 ms.
        let step = |ms, rate| RateStep { at: TimeDelta::from_millis(ms), rate: Rate(rate) };
        let schedule = RateSchedule::new(vec![step(0, 12_000_000), step(2, 0)], TimeDelta::from_millis(4)).unwrap();
        let mut service = ScheduledService::new(&schedule, millis(1));
        assert_eq!(service.send(Bytes(1500), millis(0)), millis(1));
        assert_eq!(service.send(Bytes(2250), millis(1)), Time(millis(4).0 + TimeDelta::from_micros(500).0));
        // By 3 ms all that is measured has been used, and by 5 ms three quarters of 24 kbit.
        assert_eq!([3, 5].map(|time| service.used_share(millis(time))), [1.0, 0.75]);
        assert!(service.used_share(millis(1)).is_nan());
    }
}
