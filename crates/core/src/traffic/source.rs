//! When a datagram source sends next, and how much.

use super::spec::{Arrivals, DatagramSpec, PacketSize};
use crate::base::random::{Purpose, Stream};
use crate::base::units::{Span, Time};
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
}

impl Source {
    pub(crate) fn new(seed: u64, group: &str, index: u64) -> Source {
        Source {
            gaps: Stream::new(seed, group, index, Purpose::Gap),
            sizes: Stream::new(seed, group, index, Purpose::PacketSize),
            periods: Stream::new(seed, group, index, Purpose::OnOff),
            sent: 0,
            sent_measured: 0,
            bursts: 0,
            on_until: Time::ZERO,
        }
    }

    /// When the first datagram leaves, for a source that starts at `start`; `None` if only the caller sends.
    pub(crate) fn first(&mut self, start: Time, spec: &DatagramSpec) -> Option<Time> {
        match spec.arrivals {
            Arrivals::Constant { .. } => Some(start),
            Arrivals::Poisson { mean_gap } => Some(start + self.gap(mean_gap, 0)),
            Arrivals::OnOff { mean_on, .. } => {
                self.on_until = start + self.period(mean_on, 0);
                Some(start)
            }
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

    fn spec(arrivals: Arrivals) -> DatagramSpec {
        DatagramSpec { arrivals, packet: PacketSize::Fixed(1000), header: 0 }
    }

    fn times(spec: &DatagramSpec, until: Time) -> Vec<Time> {
        let mut source = Source::new(3, "test", 0);
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
