//! Westwood+ as in Linux 6.12, whose module is called `westwood`, by its windows in virtual time: a sample of the bandwidth over at least
//! 50 ms and an RTT, in ticks of the kernel's clock, and two filters in series with a weight of seven eighths. The minimum RTT is rounded down.
//! A loss halves the window as in Reno, and the end of recovery sets it to the bandwidth times the minimum RTT.
//!
//! Differs: a timeout halves the threshold, which the kernel sets to the bandwidth times the minimum RTT.

use crate::congestion::support::editions::whole;
use crate::congestion::support::jiffies::Jiffies;
use crate::congestion::support::reno_like::Avoidance;
use crate::congestion::support::segment_count::SegmentCount;
use crate::congestion::support::westwood_like::AckedCount;
use crate::congestion::support::window::Window;
use crate::congestion::support::{Ack, Congestion, RoundTrip, Subscriptions};
use crate::primitives::units::{Cwnd, Time, TimeDelta};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// Minimum duration of a sample.
const MIN_INTERVAL: TimeDelta = TimeDelta::from_millis(50);

/// Weight of the previous value in each filter.
const WEIGHT: f64 = 7.0 / 8.0;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Linux {
    jiffies: Jiffies,
    acked: AckedCount,
    /// Segments since this tick.
    delivered: f64,
    since: u64,
    /// Segments per tick after the first and the second filter.
    filtered: Option<(f64, f64)>,
    /// In ticks, rounded up, and its minimum, rounded down; zero before the first sample.
    rtt: u64,
    rtt_min: u64,
    growth: SegmentCount,
    is_recovering: bool,
}

impl Linux {
    pub(super) fn new(jiffy: TimeDelta) -> Linux {
        Linux {
            jiffies: Jiffies::of(jiffy),
            acked: AckedCount::default(),
            delivered: 0.0,
            since: 0,
            filtered: None,
            rtt: 0,
            rtt_min: 0,
            growth: SegmentCount::default(),
            is_recovering: false,
        }
    }

    fn filter(&mut self, sample: f64) {
        let passed = |before: f64, sample: f64| WEIGHT * before + (1.0 - WEIGHT) * sample;
        self.filtered = Some(match self.filtered {
            None => (sample, sample),
            Some((first, second)) => {
                let first = passed(first, sample);
                (first, passed(second, first))
            }
        });
    }

    /// Bandwidth times minimum RTT in whole segments, at least two.
    fn pipe(&self) -> f64 {
        let (_, bandwidth) = self.filtered.unwrap_or_default();
        (bandwidth * self.rtt_min as f64).floor().max(2.0)
    }
}

impl Avoidance for Linux {
    fn subscriptions(&self) -> Subscriptions {
        Subscriptions { newest_rtt: true, exact_rtt: true, other_acks: true, ..Subscriptions::NONE }
    }

    fn quantity(&self, index: usize) -> f64 {
        match (index, self.filtered) {
            (0, Some((_, bandwidth))) => bandwidth * self.jiffies.per_second() as f64,
            (0, None) => f64::NAN,
            _ => self.jiffies.span(self.rtt_min).seconds(),
        }
    }

    /// Duplicates, which have no average, do not count.
    fn measure(&mut self, measured: &RoundTrip) {
        if !self.is_recovering && measured.smoothed.is_some() {
            self.rtt = self.jiffies.in_span(measured.sample);
            let whole = self.jiffies.whole_in_span(measured.sample).max(1);
            self.rtt_min = if self.rtt_min == 0 { whole } else { self.rtt_min.min(whole) };
        }
    }

    fn observe(&mut self, ack: &Ack) {
        let now = self.jiffies.at(ack.now);
        let ticks = now.saturating_sub(self.since);
        if self.rtt > 0 && ticks > self.rtt.max(self.jiffies.in_span(MIN_INTERVAL)) {
            self.filter(self.delivered / ticks as f64);
            (self.delivered, self.since) = (0.0, now);
        }
        self.delivered += f64::from(self.acked.delivered(ack.acked));
    }

    fn adjust(&mut self, ack: &Ack, window: &mut Window<'_>) -> ControlFlow<()> {
        if std::mem::take(&mut self.is_recovering) {
            let before = *window.cwnd;
            // An unused window is not enlarged, and none more than doubled.
            let max = if ack.window_validated { 2.0 * before } else { before };
            *window.ssthresh = self.pipe();
            *window.cwnd = window.ssthresh.min(max);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn grow(&mut self, _: &Ack, window: Cwnd, counted: f64) -> f64 {
        self.growth.per_segment = window.0;
        self.growth.grow(window, counted)
    }

    fn reduce(&mut self, _: &Congestion, Cwnd(window): Cwnd) -> f64 {
        self.growth.clear();
        self.is_recovering = true;
        (window.floor() / 2.0).floor()
    }

    fn restart(&mut self, _: Time) {
        (self.is_recovering, self.rtt_min) = (false, 0);
    }

    fn limit(&mut self, max: Cwnd) -> Cwnd {
        whole(max)
    }
}

#[cfg(test)]
mod tests {
    use crate::congestion::support::editions::Edition;
    use crate::congestion::support::model_sender::ModelSender;
    use crate::congestion::{Start, WestwoodPlus, WestwoodPlusSpec};

    fn sender(window: f64) -> ModelSender<WestwoodPlus> {
        let spec = WestwoodPlusSpec { edition: Edition::Linux, ..WestwoodPlusSpec::default() };
        ModelSender::new(WestwoodPlus::new(&spec, Start { window, ssthresh: 2.0, ..Start::default() })).with_round_trip(40)
    }

    #[test]
    fn a_sample_takes_more_than_fifty_milliseconds_and_passes_two_filters() {
        let mut sender = sender(100.0);
        let mut after = |milliseconds: u64, acked: u32| {
            sender.wait(milliseconds);
            sender.ack(acked);
            sender.law.memory.avoidance.linux().filtered
        };
        assert_eq!((after(0, 101), after(50, 1)), (None, None));
        // 102 segments in 51 ms. The next 51 ms have the two of the acknowledgement that ended them, and none: 2 / 51.
        assert_eq!(after(1, 2), Some((2.0, 2.0)));
        let first = 7.0 / 8.0 * 2.0 + 2.0 / 51.0 / 8.0;
        assert_eq!(after(51, 1), Some((first, 7.0 / 8.0 * 2.0 + first / 8.0)));
    }

    #[test]
    fn a_loss_halves_the_window_and_the_end_of_recovery_sets_it_to_the_pipe() {
        let mut sender = sender(135.0);
        sender.law.memory.avoidance.linux().filtered = Some((0.0, 1.66));
        assert_eq!(sender.lose(135), 67.0);
        // 1.66 * 40 = 66.4
        assert_eq!((sender.ack(1), sender.law.memory.ssthresh), (66.0, 66.0));
        assert_eq!(sender.lose(66), 33.0);
        sender.law.memory.avoidance.linux().filtered = None;
        assert_eq!(sender.ack(1), 2.0);
    }
}
