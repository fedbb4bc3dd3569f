//! The arrivals of one source: their number, their random draws, and the time of the next one.

use crate::primitives::random::{Entity, Purpose, Stream};
use crate::primitives::units::{Time, TimeDelta};
use serde::{Deserialize, Serialize};

/// The arrivals of one source. The caller decides whether they are datagrams or data for a transport.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Schedule {
    gaps: Stream,
    periods: Stream,
    /// Mean gap between arrivals while the source sends: the transmission time of a mean arrival at the source's rate.
    pub(super) gap: TimeDelta,
    /// Number of arrivals processed.
    taken: u32,
    /// Number of periods drawn.
    periods_drawn: u64,
    /// On-off sources: end of the present burst.
    pub(super) on_until: Time,
}

impl Schedule {
    /// `gap`: see the field; zero where only the caller sends.
    pub(crate) fn new(of: Entity, gap: TimeDelta) -> Schedule {
        Schedule {
            gaps: Stream::new(of, Purpose::Gap),
            periods: Stream::new(of, Purpose::OnOff),
            gap,
            taken: 0,
            periods_drawn: 0,
            on_until: Time::ZERO,
        }
    }

    /// Number of arrivals processed, including the caller's.
    pub(crate) fn taken(&self) -> u32 {
        self.taken
    }

    /// Counts an arrival. Returns its number.
    pub(crate) fn take(&mut self) -> u32 {
        self.taken += 1;
        self.taken - 1
    }

    /// Exponentially distributed time before the next arrival; one draw per arrival.
    pub(super) fn exponential(&self, mean: TimeDelta) -> TimeDelta {
        TimeDelta::from_seconds(self.gaps.exponential(self.taken.into()) * mean.seconds())
    }

    /// Exponential variable of mean 1 for an on or off period; the next draw.
    pub(super) fn standard_period(&mut self) -> f64 {
        self.periods_drawn += 1;
        self.periods.exponential(self.periods_drawn - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::units::Rate;
    use crate::settings::Settings;
    use crate::traffic::{ConstantSpec, OnOffSpec, PoissonSpec, ProcessSpec};

    /// The rate has no effect, because the gap is given.
    const RATE: Rate = Rate(1);

    fn times(process: &ProcessSpec, gap: TimeDelta, until: Time) -> Vec<Time> {
        let mut schedule = Schedule::new(Entity { seed: 3, name: "test", index: 0 }, gap);
        let mut times = Vec::new();
        let mut now = process.first(Time::ZERO, &mut schedule);
        while now < until {
            times.push(now);
            schedule.take();
            now = process.next(now, &mut schedule);
        }
        times
    }

    #[test]
    fn a_constant_source_sends_at_its_gap() {
        let process = ProcessSpec::Constant(ConstantSpec { rate: RATE });
        assert_eq!(times(&process, TimeDelta(10), Time(35)), [Time(0), Time(10), Time(20), Time(30)]);
    }

    #[test]
    fn gaps_of_a_poisson_source_are_exponential() {
        // 10,000 gaps of 1 ms: the standard error of mean and deviation is 1 % of the mean each.
        let process = ProcessSpec::Poisson(PoissonSpec { rate: RATE });
        let times = times(&process, TimeDelta::from_millis(1), Time(TimeDelta::from_millis(10_000).0));
        let gaps: Vec<f64> = times.windows(2).map(|pair| 1e3 * pair[1].since(pair[0]).seconds()).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
        assert!((mean - 1.0).abs() < 0.04 && (deviation - 1.0).abs() < 0.04, "{mean} {deviation}");
    }

    #[test]
    fn an_on_off_source_is_on_for_its_share_of_the_time() {
        let (gap, mean_on, mean_off) = (TimeDelta::from_micros(100), TimeDelta::from_millis(50), TimeDelta::from_millis(150));
        let spec = OnOffSpec::samples().remove(0);
        let process = ProcessSpec::OnOff(OnOffSpec { rate: RATE, mean_on, mean_off, ..spec });
        let times = times(&process, gap, Time(TimeDelta::from_millis(400_000).0));
        let share = times.len() as f64 * gap.seconds() / 400.0;
        // 2000 cycles: the standard error of the share is about 0.25 * sqrt(2 / 2000) = 0.008.
        assert!((share - 0.25).abs() < 0.032, "{share}");
        assert!(times.windows(2).all(|pair| pair[1].since(pair[0]) >= gap));
    }
}
