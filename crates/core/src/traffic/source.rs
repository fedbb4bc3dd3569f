//! When a datagram source sends next, and how much.

use super::spec::{Arrivals, DatagramSpec, PacketSize};
use super::user::User;
use crate::base::random::{Draws, Purpose, Stream};
use crate::base::units::{Span, Time};
use crate::code::{Failure, Workshop};
use serde::{Deserialize, Serialize};

/// The state of one source.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Source {
    gaps: Stream,
    sizes: Stream,
    periods: Stream,
    /// Datagrams sent.
    pub(crate) sent: u32,
    /// Of these, within the measured part of the run.
    pub(crate) sent_measured: u32,
    /// On-off sources: bursts begun.
    bursts: u64,
    /// On-off sources: when the present burst ends.
    on_until: Time,
    user: Option<User>,
}

impl Source {
    pub(crate) fn new(spec: &DatagramSpec, seed: u64, group: &str, index: u64, workshop: &Workshop) -> Source {
        let gaps = Stream::new(seed, group, index, Purpose::Gap);
        let user = match &spec.arrivals {
            // The same draws as a Poisson source's gaps.
            Arrivals::User(code) => Some(User::of(workshop.make(code, |brought| brought.source(code, Draws::from(gaps, 0))))),
            _ => None,
        };
        Source {
            gaps,
            sizes: Stream::new(seed, group, index, Purpose::PacketSize),
            periods: Stream::new(seed, group, index, Purpose::OnOff),
            sent: 0,
            sent_measured: 0,
            bursts: 0,
            on_until: Time::ZERO,
            user,
        }
    }

    /// What became of user code.
    pub(crate) fn failure(&self, time: Time) -> Option<Failure> {
        self.user.as_ref().and_then(|user| user.instance().failure(time))
    }

    /// When the first datagram leaves, for a source that starts at `start`; `None` if there is none that the source itself sends.
    pub(crate) fn first(&mut self, start: Time, spec: &DatagramSpec) -> Option<Time> {
        match spec.arrivals {
            Arrivals::Constant { .. } => Some(start),
            Arrivals::Poisson { mean_gap } => Some(start + self.gap(mean_gap, 0)),
            Arrivals::OnOff { mean_on, .. } => {
                self.on_until = start + self.period(mean_on, 0);
                Some(start)
            }
            Arrivals::User(_) => self.user_next(start, spec),
            Arrivals::External => None,
        }
    }

    /// When the datagram after the one that left at `now` leaves.
    pub(crate) fn next(&mut self, now: Time, spec: &DatagramSpec) -> Option<Time> {
        match spec.arrivals {
            Arrivals::Constant { gap } => Some(now + gap),
            Arrivals::Poisson { mean_gap } => Some(now + self.gap(mean_gap, u64::from(self.sent))),
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
            Arrivals::User(_) => self.user_next(now, spec),
            Arrivals::External => None,
        }
    }

    /// Payload bytes of the next datagram; counts it as sent.
    pub(crate) fn take(&mut self, spec: &DatagramSpec) -> u32 {
        let n = u64::from(self.sent);
        self.sent += 1;
        match spec.packet {
            PacketSize::Fixed(bytes) => bytes,
            PacketSize::Exponential { mean, maximum } => ((self.sizes.exponential(n) * mean + 0.5) as u32).clamp(1, maximum),
            PacketSize::Given { maximum } => self.user.as_ref().map_or(1, User::due).min(maximum),
        }
    }

    fn user_next(&mut self, now: Time, spec: &DatagramSpec) -> Option<Time> {
        let most = if let PacketSize::Given { maximum } = spec.packet { maximum } else { 0 };
        let number = u64::from(self.sent);
        self.user.as_mut()?.next(now, number, most)
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
    use crate::code::{Alarm, NoCode};

    fn spec(arrivals: Arrivals) -> DatagramSpec {
        DatagramSpec { arrivals, packet: PacketSize::Fixed(1000), header: 0 }
    }

    fn times(spec: &DatagramSpec, until: Time) -> Vec<Time> {
        let workshop = Workshop { code: &NoCode, alarm: Alarm::default() };
        let mut source = Source::new(spec, 3, "test", 0, &workshop);
        let mut times = Vec::new();
        let mut next = source.first(Time::ZERO, spec);
        while let Some(now) = next.filter(|&now| now < until) {
            times.push(now);
            source.take(spec);
            next = source.next(now, spec);
        }
        times
    }

    #[test]
    fn a_constant_source_sends_at_its_gap() {
        let spec = spec(Arrivals::Constant { gap: Span(10) });
        assert_eq!(times(&spec, Time(35)), [Time(0), Time(10), Time(20), Time(30)]);
    }

    #[test]
    fn an_on_off_source_is_on_for_its_share_of_the_time() {
        let (gap, mean_on, mean_off) = (Span::from_micros(100), Span::from_millis(50), Span::from_millis(150));
        let times = times(&spec(Arrivals::OnOff { gap, mean_on, mean_off }), Time(Span::from_millis(400_000).0));
        let share = times.len() as f64 * gap.seconds() / 400.0;
        // 2000 cycles: the standard error of the share is about 0.25 * sqrt(2 / 2000) = 0.008.
        assert!((share - 0.25).abs() < 0.032, "{share}");
        assert!(times.windows(2).all(|pair| pair[1].since(pair[0]) >= gap));
    }
}
