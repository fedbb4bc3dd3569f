//! Bursts of evenly spaced arrivals, separated by silences.

use crate::primitives::math::exp;
use crate::primitives::units::{Rate, Time, TimeDelta};
use crate::settings::{ABOVE_ZERO, Kind, PlainWords, SettingConflict, Settings, conflicts, member, words};
use crate::traffic::arrival_process::Process;
use crate::traffic::schedule::Schedule;

pub struct OnOff;

words! {
    /// Distribution of the periods of an on-off source.
    pub enum Periods ("distribution of periods") {
        /// Exponential: bursts and silences without memory.
        Exponential = "exponential",
        /// Pareto with `shape`: many such sources together are self-similar.
        Pareto = "pareto",
        /// All periods have the mean duration.
        Constant = "constant",
    }
}

member! {
    /// Bursts of evenly spaced arrivals, separated by silences. Sources with Pareto periods of a shape from 1 to 2 together are self-similar
    /// traffic with H = (3 - shape) / 2 (Willinger, Taqqu, Sherman and Wilson, IEEE/ACM ToN 5(1), 1997).
    OnOff = "on_off", "common practice";

    pub struct OnOffSpec {
        /// Rate during a burst: for datagrams on the wire, headers included; for applications, of the payload.
        rate: Rate => Kind::Rate,
        /// Mean duration of a burst.
        mean_on: TimeDelta => ABOVE_ZERO; "1 s",
        /// Mean duration of a silence.
        mean_off: TimeDelta => ABOVE_ZERO; "1 s",
        /// Distribution of the durations of bursts.
        on_periods: Periods = Periods::Exponential => Kind::Words(&Periods::WORDS),
        /// Distribution of the durations of silences.
        off_periods: Periods = Periods::Exponential => Kind::Words(&Periods::WORDS),
        /// Shape of Pareto periods, above 1. The variance is infinite up to 2.
        shape: f64 = 1.5 => Kind::Number { min: 1.0, max: 100.0 },
    }
}

impl Settings for OnOffSpec {
    fn check(&self) -> Vec<SettingConflict> {
        let has_shape = [self.on_periods, self.off_periods].contains(&Periods::Pareto);
        conflicts! {
            error if has_shape && self.shape == 1.0 => ["shape"], "`shape` of 1 has no mean", "above 1";
            warning if !has_shape && self.shape != 1.5 => ["shape"], "`shape` has no effect: no periods are `pareto`", "`on_periods` or `off_periods` of \"pareto\"";
        }
    }

    fn samples() -> Vec<OnOffSpec> {
        let of = |(rate, off, on_periods, off_periods)| OnOffSpec {
            rate: Rate(rate),
            mean_on: TimeDelta::from_millis(20),
            mean_off: TimeDelta::from_millis(off),
            on_periods,
            off_periods,
            shape: 1.5,
        };
        [(9_000_000, 30, Periods::Exponential, Periods::Exponential), (4_000_000, 400, Periods::Pareto, Periods::Constant)]
            .map(of)
            .into()
    }
}

impl OnOffSpec {
    /// The next period with this mean.
    fn period(&self, of: Periods, mean: TimeDelta, schedule: &mut Schedule) -> TimeDelta {
        let drawn = match of {
            Periods::Constant => return mean,
            Periods::Exponential => schedule.standard_period(),
            // Minimum mean (a - 1) / a, times e to an exponential variable of mean 1 / a.
            Periods::Pareto => (self.shape - 1.0) / self.shape * exp(schedule.standard_period() / self.shape),
        };
        TimeDelta::from_seconds(drawn * mean.seconds())
    }
}

impl Process for OnOffSpec {
    const IS_RANDOM: bool = false;

    fn rate(&self) -> Rate {
        self.rate
    }

    fn first(&self, start: Time, schedule: &mut Schedule) -> Time {
        schedule.on_until = start + self.period(self.on_periods, self.mean_on, schedule);
        start
    }

    fn next(&self, now: Time, schedule: &mut Schedule) -> Time {
        let next = now + schedule.gap;
        if next < schedule.on_until {
            return next;
        }
        let start = schedule.on_until.max(now) + self.period(self.off_periods, self.mean_off, schedule);
        schedule.on_until = start + self.period(self.on_periods, self.mean_on, schedule);
        start.max(next)
    }

    fn per_second(&self, gap: TimeDelta) -> f64 {
        self.mean_on.seconds() / (self.mean_on.seconds() + self.mean_off.seconds()) / gap.seconds()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::random::Entity;

    fn periods(of: Periods, shape: f64, count: usize) -> Vec<f64> {
        let spec = OnOffSpec { shape, ..OnOffSpec::samples().remove(0) };
        let mut schedule = Schedule::new(Entity { seed: 3, name: "test", index: 0 }, TimeDelta(1));
        (0..count).map(|_| spec.period(of, TimeDelta::from_millis(1000), &mut schedule).seconds()).collect()
    }

    #[test]
    fn pareto_periods_have_their_mean_and_their_tail() {
        // Shape 3: minimum 2/3, variance mean^2 / (a (a - 2)) = 1/3, so that the standard error of 100,000 is 0.0018.
        let drawn = periods(Periods::Pareto, 3.0, 100_000);
        let mean = drawn.iter().sum::<f64>() / 1e5;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        assert!(drawn.iter().all(|&period| period > 0.666_666));
        // P(X > x) = (min / x)^a: an eighth beyond twice the minimum, with a standard error of 0.1 %.
        let beyond = drawn.iter().filter(|&&period| period > 4.0 / 3.0).count() as f64 / 1e5;
        assert!((beyond - 0.125).abs() < 0.005, "{beyond}");
    }

    #[test]
    fn constant_periods_do_not_vary() {
        assert_eq!(periods(Periods::Constant, 1.5, 3), [1.0; 3]);
    }

    #[test]
    fn constant_bursts_and_silences_alternate() {
        // 5 arrivals of 2 ms in each burst of 10 ms, then 20 ms of silence.
        let (mean_on, mean_off) = (TimeDelta::from_millis(10), TimeDelta::from_millis(20));
        let (on_periods, off_periods) = (Periods::Constant, Periods::Constant);
        let spec = OnOffSpec { rate: Rate(1), mean_on, mean_off, on_periods, off_periods, shape: 1.5 };
        let mut schedule = Schedule::new(Entity { seed: 3, name: "test", index: 0 }, TimeDelta::from_millis(2));
        let mut now = spec.first(Time::ZERO, &mut schedule);
        let mut times = Vec::new();
        for _ in 0..11 {
            times.push((now.seconds() * 1e3).round() as u64);
            now = spec.next(now, &mut schedule);
        }
        assert_eq!(times, [0, 2, 4, 6, 8, 30, 32, 34, 36, 38, 60]);
    }
}
