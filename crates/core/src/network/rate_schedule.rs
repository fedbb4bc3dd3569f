//! Rate schedules: the rate of a link as a function of time.

use crate::primitives::units::{Bytes, PICOSECONDS_PER_SECOND, Rate, Time, TimeDelta};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

/// A rate that changes at given times and repeats after a period. A unit in service at a change continues at the new rate, and at rate 0 it
/// waits.
///
/// Copies of a schedule share its data.
#[derive(Clone, PartialEq)]
pub struct RateSchedule(Arc<ScheduleData>);

#[derive(PartialEq)]
struct ScheduleData {
    steps: Vec<RateStep>,
    period: TimeDelta,
    /// Capacity before each step, and in a period.
    before: Vec<Capacity>,
    /// The rate of each step, or in a pause that of the step before it.
    latest: Vec<Rate>,
}

/// A rate from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateStep {
    /// Since the start of the schedule.
    pub at: TimeDelta,
    /// 0 in a pause.
    pub rate: Rate,
}

/// An amount of data in units of 1 bit/s times 1 ps, of which every step has a whole number.
pub type Capacity = u128;

/// Reasons why steps are not a valid schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleFault {
    /// The first step is not at 0.
    NoStart,
    /// A step, or the end of the period, is not later than the step before it.
    Unsorted,
    /// No rate is above 0.
    NoRate,
}

impl RateSchedule {
    /// # Errors
    /// The reason why the steps are not a valid schedule.
    pub fn new(steps: Vec<RateStep>, period: TimeDelta) -> Result<RateSchedule, ScheduleFault> {
        let ends = || steps.iter().skip(1).map(|step| step.at).chain([period]);
        let fault = match () {
            () if steps.first().is_none_or(|first| first.at != TimeDelta::ZERO) => Some(ScheduleFault::NoStart),
            () if steps.iter().zip(ends()).any(|(step, end)| end <= step.at) => Some(ScheduleFault::Unsorted),
            () if steps.iter().all(|step| step.rate == Rate(0)) => Some(ScheduleFault::NoRate),
            () => None,
        };
        if let Some(fault) = fault {
            return Err(fault);
        }
        let mut before = vec![0];
        for (step, end) in steps.iter().zip(ends()) {
            before.push(before[before.len() - 1] + capacity(step.rate, TimeDelta(end.0 - step.at.0)));
        }
        // The pass before the first one ends with the last rate.
        let mut rate = steps.iter().rev().map(|step| step.rate).find(|&rate| rate > Rate(0)).unwrap_or(Rate(1));
        let mut follow = |step: &RateStep| {
            rate = if step.rate > Rate(0) { step.rate } else { rate };
            rate
        };
        let latest = steps.iter().map(&mut follow).collect();
        Ok(RateSchedule(Arc::new(ScheduleData { steps, period, before, latest })))
    }

    /// Capacity of a number of bytes.
    pub fn capacity_of(Bytes(bytes): Bytes) -> Capacity {
        u128::from(bytes) * 8 * u128::from(PICOSECONDS_PER_SECOND)
    }

    /// Mean rate over a period, rounded down, at least 1 bit/s.
    pub fn mean_rate(&self) -> Rate {
        Rate(((self.of_period() / u128::from(self.0.period.0)) as u64).max(1))
    }

    pub fn highest_rate(&self) -> Rate {
        self.0.steps.iter().map(|step| step.rate).max().unwrap_or(Rate(1))
    }

    /// The rate at this time, or in a pause that before it.
    pub fn rate_at(&self, time: Time) -> Rate {
        self.0.latest[self.step_at(time.0 % self.0.period.0)]
    }

    /// Capacity from the start of the run to this time.
    pub fn capacity_before(&self, time: Time) -> Capacity {
        let (passes, within) = (time.0 / self.0.period.0, time.0 % self.0.period.0);
        let index = self.step_at(within);
        let step = &self.0.steps[index];
        u128::from(passes) * self.of_period() + self.0.before[index] + capacity(step.rate, TimeDelta(within - step.at.0))
    }

    /// The first time before which there is this capacity, which is above 0, rounded up to whole picoseconds.
    pub fn time_of(&self, capacity: Capacity) -> Time {
        let (passes, within) = ((capacity - 1) / self.of_period(), (capacity - 1) % self.of_period());
        let index = self.0.before.partition_point(|&before| before <= within) - 1;
        let step = &self.0.steps[index];
        let served = (within + 1 - self.0.before[index]).div_ceil(step.rate.0.into());
        let time = passes.saturating_mul(self.0.period.0.into()).saturating_add(u128::from(step.at.0) + served);
        Time(u64::try_from(time).unwrap_or(u64::MAX))
    }

    /// Memory in bytes.
    pub fn memory(&self) -> u64 {
        (self.0.steps.len() * (size_of::<RateStep>() + size_of::<Capacity>() + size_of::<Rate>())) as u64
    }

    /// Whether the two are copies of one schedule.
    pub fn shares_data_with(&self, other: &RateSchedule) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn step_at(&self, within: u64) -> usize {
        self.0.steps.partition_point(|step| step.at.0 <= within) - 1
    }

    fn of_period(&self) -> Capacity {
        self.0.before[self.0.steps.len()]
    }
}

fn capacity(Rate(rate): Rate, TimeDelta(span): TimeDelta) -> Capacity {
    u128::from(rate) * u128::from(span)
}

impl fmt::Debug for RateSchedule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "RateSchedule({} steps in {} s)", self.0.steps.len(), self.0.period.seconds())
    }
}

impl Serialize for RateSchedule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.0.steps, self.0.period).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RateSchedule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RateSchedule, D::Error> {
        let (steps, period) = Deserialize::deserialize(deserializer)?;
        RateSchedule::new(steps, period).map_err(|fault| serde::de::Error::custom(format!("{fault:?}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MBPS: u64 = 1_000_000;

    fn schedule(steps: &[(u64, u64)], period: u64) -> Result<RateSchedule, ScheduleFault> {
        let step = |&(ms, rate): &(u64, u64)| RateStep { at: TimeDelta::from_millis(ms), rate: Rate(rate) };
        RateSchedule::new(steps.iter().map(step).collect(), TimeDelta::from_millis(period))
    }

    /// End of the service of these bytes from this time on, in microseconds.
    fn end(schedule: &RateSchedule, from: u64, bytes: u64) -> f64 {
        let start = Time(TimeDelta::from_micros(from).0);
        schedule.time_of(schedule.capacity_before(start) + RateSchedule::capacity_of(Bytes(bytes))).0 as f64 / 1e6
    }

    #[test]
    fn a_unit_is_served_at_the_rate_of_each_step_that_it_crosses() {
        // 12 Mbit/s, from 3 ms on 0, from 5 ms on 6 Mbit/s until 7 ms, and again.
        let schedule = schedule(&[(0, 12 * MBPS), (3, 0), (5, 6 * MBPS)], 7).unwrap();
        assert_eq!(end(&schedule, 0, 1500), 1000.0);
        // Half at 12 Mbit/s until the pause, which ends at 5 ms, and half at 6 Mbit/s.
        assert_eq!(end(&schedule, 2500, 1500), 6000.0);
        // It ends exactly at the pause.
        assert_eq!(end(&schedule, 2000, 1500), 3000.0);
        assert_eq!(end(&schedule, 3000, 1), 5001.333334);
        // A third at 6 Mbit/s until 7 ms, and two thirds at 12 Mbit/s.
        assert_eq!(end(&schedule, 6334, 1500), 7667.0);
        // A period has 36 + 12 kbit: after ten of them, at 70 ms, a packet takes a millisecond.
        assert_eq!(end(&schedule, 0, 60_000 + 1500), 71_000.0);
        // 48 kbit in 7 ms.
        assert_eq!((schedule.mean_rate(), schedule.highest_rate()), (Rate(6_857_142), Rate(12 * MBPS)));
    }

    #[test]
    fn equal_steps_are_a_constant_rate_to_the_picosecond() {
        // Neither the period nor the transmission times are whole numbers of each other.
        let rate = Rate(1_234_567);
        let steps = vec![RateStep { at: TimeDelta::ZERO, rate }, RateStep { at: TimeDelta(777_777_777), rate }];
        let schedule = RateSchedule::new(steps, TimeDelta(1_000_000_007)).unwrap();
        for (number, bytes) in (0..1000).zip([40, 1500, 9000].into_iter().cycle()) {
            let start = Time(number * 123_456_789);
            let end = schedule.time_of(schedule.capacity_before(start) + RateSchedule::capacity_of(Bytes(bytes)));
            assert_eq!(end, start + rate.time_to_send(Bytes(bytes)));
        }
    }

    #[test]
    fn a_pause_has_the_rate_before_it() {
        let schedule = schedule(&[(0, 0), (3, 7), (5, 0), (6, 9)], 8).unwrap();
        let at = |ms: u64| schedule.rate_at(Time(TimeDelta::from_millis(ms).0)).0;
        assert_eq!([0, 2, 3, 5, 6, 7, 8, 11].map(at), [9, 9, 7, 7, 9, 9, 9, 7]);
    }

    #[test]
    fn invalid_schedules_are_rejected() {
        assert_eq!(schedule(&[], 1).err(), Some(ScheduleFault::NoStart));
        assert_eq!(schedule(&[(1, 1)], 2).err(), Some(ScheduleFault::NoStart));
        assert_eq!(schedule(&[(0, 1), (2, 1), (2, 1)], 3).err(), Some(ScheduleFault::Unsorted));
        assert_eq!(schedule(&[(0, 1), (2, 1)], 2).err(), Some(ScheduleFault::Unsorted));
        assert_eq!(schedule(&[(0, 0)], 2).err(), Some(ScheduleFault::NoRate));
    }

    #[test]
    fn times_beyond_the_range_do_not_wrap() {
        let schedule = schedule(&[(0, 1), (1, 0)], 1_000_000_000).unwrap();
        assert_eq!(schedule.time_of(RateSchedule::capacity_of(Bytes(1 << 30))), Time::NEVER);
    }
}
