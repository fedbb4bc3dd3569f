//! When a source has something to send: the times of its arrivals.

use super::spec::Arrivals;
use crate::base::random::{Purpose, Stream};
use crate::base::units::{Span, Time};
use serde::{Deserialize, Serialize};

/// The arrivals of one source. What arrives, a datagram or data for a transport, is the caller's business.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Schedule {
    gaps: Stream,
    periods: Stream,
    /// Arrivals that were taken.
    taken: u32,
    /// On-off sources: bursts begun.
    bursts: u64,
    /// On-off sources: when the present burst ends.
    on_until: Time,
}

impl Schedule {
    pub(crate) fn new(seed: u64, group: &str, index: u64) -> Schedule {
        Schedule {
            gaps: Stream::new(seed, group, index, Purpose::Gap),
            periods: Stream::new(seed, group, index, Purpose::OnOff),
            taken: 0,
            bursts: 0,
            on_until: Time::ZERO,
        }
    }

    /// Arrivals that were taken, those of the caller included.
    pub(crate) fn taken(&self) -> u32 {
        self.taken
    }

    /// Count an arrival. Returns its number.
    pub(crate) fn take(&mut self) -> u32 {
        self.taken += 1;
        self.taken - 1
    }

    /// The first arrival at a source that starts at `start`; `None` if only the caller sends.
    pub(crate) fn first(&mut self, start: Time, arrivals: &Arrivals) -> Option<Time> {
        match *arrivals {
            Arrivals::Constant { .. } => Some(start),
            Arrivals::Poisson { mean_gap: gap } | Arrivals::Alternating { mean_idle: gap, .. } => Some(start + self.gap(gap, 0)),
            Arrivals::OnOff { mean_on, .. } => {
                self.on_until = start + self.period(mean_on, 0);
                Some(start)
            }
            Arrivals::External | Arrivals::User(_) => None,
        }
    }

    /// The arrival after the one that was taken at `now`, or of alternating sources had been sent by then.
    pub(crate) fn next(&mut self, now: Time, arrivals: &Arrivals) -> Option<Time> {
        match *arrivals {
            Arrivals::Constant { gap } => Some(now + gap),
            Arrivals::Poisson { mean_gap: gap } | Arrivals::Alternating { mean_idle: gap, .. } => {
                Some(now + self.gap(gap, u64::from(self.taken)))
            }
            Arrivals::OnOff { gap, mean_on, mean_off } => {
                let next = now + gap;
                if next < self.on_until {
                    return Some(next);
                }
                self.bursts += 1;
                let start = self.on_until.max(now) + self.period(mean_off, 2 * self.bursts - 1);
                self.on_until = start + self.period(mean_on, 2 * self.bursts);
                Some(start.max(next))
            }
            Arrivals::External | Arrivals::User(_) => None,
        }
    }

    fn gap(&self, mean: Span, n: u64) -> Span {
        Span::from_seconds(self.gaps.exponential(n) * mean.seconds())
    }

    fn period(&self, mean: Span, n: u64) -> Span {
        Span::from_seconds(self.periods.exponential(n) * mean.seconds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(arrivals: &Arrivals, until: Time) -> Vec<Time> {
        let mut schedule = Schedule::new(3, "test", 0);
        let mut times = Vec::new();
        let mut next = schedule.first(Time::ZERO, arrivals);
        while let Some(now) = next.filter(|&now| now < until) {
            times.push(now);
            schedule.take();
            next = schedule.next(now, arrivals);
        }
        times
    }

    #[test]
    fn a_constant_source_sends_at_its_gap() {
        assert_eq!(times(&Arrivals::Constant { gap: Span(10) }, Time(35)), [Time(0), Time(10), Time(20), Time(30)]);
    }

    #[test]
    fn gaps_of_a_poisson_source_are_exponential() {
        // 10,000 gaps of 1 ms: the standard error of mean and deviation is 1 % of the mean each.
        let times = times(&Arrivals::Poisson { mean_gap: Span::from_millis(1) }, Time(Span::from_millis(10_000).0));
        let gaps: Vec<f64> = times.windows(2).map(|pair| 1e3 * pair[1].since(pair[0]).seconds()).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let deviation = (gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64).sqrt();
        assert!((mean - 1.0).abs() < 0.04 && (deviation - 1.0).abs() < 0.04, "{mean} {deviation}");
    }

    #[test]
    fn an_on_off_source_is_on_for_its_share_of_the_time() {
        let (gap, mean_on, mean_off) = (Span::from_micros(100), Span::from_millis(50), Span::from_millis(150));
        let times = times(&Arrivals::OnOff { gap, mean_on, mean_off }, Time(Span::from_millis(400_000).0));
        let share = times.len() as f64 * gap.seconds() / 400.0;
        // 2000 cycles: the standard error of the share is about 0.25 * sqrt(2 / 2000) = 0.008.
        assert!((share - 0.25).abs() < 0.032, "{share}");
        assert!(times.windows(2).all(|pair| pair[1].since(pair[0]) >= gap));
    }
}
