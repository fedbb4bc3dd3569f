//! H-TCP as in Linux 6.12, by its windows in virtual time: times and RTTs in ticks of the kernel's clock, alpha and beta in 128ths. The
//! increase is truncated twice, before and after it is scaled by the RTT, and is computed again only when the window grows; time counts from
//! the end of recovery.
//!
//! The minimum RTT is rounded down and the maximum up: at 20 Mbit/s with 40 ms, losses keep 100, 85 and 77 of 128 parts with 17, 33 and 45
//! packets, 40 ticks over 51, 60 and 66.
//!
//! The throughput is measured once per window and RTT, smoothed by a quarter, except within three RTTs after a loss. Its maxima of the
//! periods between losses decide whether the backoff is adaptive. The minimum RTT is that of the flow, and each loss reduces the excess of the
//! maximum RTT by a twentieth. A maximum grows by at most 20 ms at a time.

use super::HTcpSpec;
use crate::congestion::support::editions::whole;
use crate::congestion::support::jiffies::Jiffies;
use crate::congestion::support::reno_like::Avoidance;
use crate::congestion::support::window::Window;
use crate::congestion::support::{Ack, Congestion, RoundTrip, Subscriptions};
use crate::primitives::units::{Cwnd, Time, TimeDelta};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// Unit of alpha and beta.
const PARTS: u64 = 128;

/// Minimum and maximum fraction kept by a loss.
const BETA_MIN: u64 = 64;
const BETA_MAX: u64 = 102;

/// Shortest minimum RTT with adaptive backoff, and the largest growth of the maximum RTT.
const MIN_RTT: TimeDelta = TimeDelta::from_millis(10);
const MAX_GROWTH: TimeDelta = TimeDelta::from_millis(20);

/// Reference RTT in tenths of a second, and bounds of the inverse scale, in eighths.
const EIGHTHS: u64 = 8;
const INVERSE_SCALES: (u64, u64) = (4, 80);

/// RTTs after a loss in which the throughput is not smoothed.
const SETTLING_RTTS: u64 = 3;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Linux {
    spec: HTcpSpec,
    jiffies: Jiffies,
    /// In 128ths.
    alpha: u64,
    beta: u64,
    /// The last loss did not change the throughput much.
    is_steady: bool,
    /// The reduction is under way.
    is_recovering: bool,
    /// End of the last recovery, in ticks.
    since: u64,
    /// RTTs in ticks; zero before the first.
    rtt_min: u64,
    rtt_max: u64,
    throughput: Throughput,
    /// Segments acknowledged since the window last grew.
    acked: u64,
}

/// Segments per second.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Throughput {
    /// Segments acknowledged since this tick.
    delivered: u64,
    since: u64,
    /// B, with its minimum and maximum since the last loss, and the maximum before that.
    b: u64,
    min: u64,
    max: u64,
    max_before: u64,
}

impl Linux {
    pub(super) fn new(spec: &HTcpSpec, jiffy: TimeDelta) -> Linux {
        Linux {
            spec: *spec,
            jiffies: Jiffies::of(jiffy),
            alpha: PARTS,
            beta: BETA_MIN,
            is_steady: false,
            is_recovering: false,
            since: 0,
            rtt_min: 0,
            rtt_max: 0,
            throughput: Throughput::default(),
            acked: 0,
        }
    }

    /// Measures the throughput, except during recovery.
    fn deliver(&mut self, ack: &Ack, Cwnd(window): Cwnd) {
        let now = self.jiffies.at(ack.now);
        let throughput = &mut self.throughput;
        if self.is_recovering {
            (self.is_recovering, self.since) = (false, now);
            (throughput.delivered, throughput.since) = (0, now);
            return;
        }
        throughput.delivered += u64::from(ack.acked.0);
        let ticks = now.saturating_sub(throughput.since);
        let enough = (window as u64).saturating_sub((self.alpha / PARTS).max(1));
        if throughput.delivered < enough || ticks < self.rtt_min || ticks == 0 || self.rtt_min == 0 {
            return;
        }
        let sample = throughput.delivered.saturating_mul(self.jiffies.per_second()) / ticks;
        if now.saturating_sub(self.since) / self.rtt_min <= SETTLING_RTTS {
            (throughput.b, throughput.min, throughput.max) = (sample, sample, sample);
        } else {
            throughput.b = (throughput.b.saturating_mul(3).saturating_add(sample)) / 4;
            throughput.max = throughput.max.max(throughput.b);
            throughput.min = throughput.min.min(throughput.max);
        }
        (throughput.delivered, throughput.since) = (0, now);
    }

    fn adapt_beta(&mut self) {
        let Throughput { max, max_before, .. } = self.throughput;
        self.throughput.max_before = max;
        let is_unchanged = (max_before.saturating_mul(4)..=max_before.saturating_mul(6)).contains(&max.saturating_mul(5));
        self.beta = match () {
            () if !self.spec.adaptive_backoff || !is_unchanged => BETA_MIN,
            () if self.is_steady && self.jiffies.span(self.rtt_min) > MIN_RTT && self.rtt_max > 0 => {
                (self.rtt_min.saturating_mul(PARTS) / self.rtt_max).clamp(BETA_MIN, BETA_MAX)
            }
            () => BETA_MIN,
        };
        self.is_steady = is_unchanged;
    }

    fn adapt_alpha(&mut self, now: Time) {
        let per_second = self.jiffies.per_second();
        let beyond = self.jiffies.at(now).saturating_sub(self.since).saturating_sub(self.jiffies.in_span(self.spec.delta_l));
        let half = beyond / 2;
        let mut factor = 1;
        if beyond > 0 {
            factor += beyond.saturating_mul(10).saturating_add(half.saturating_mul(half) / per_second) / per_second;
        }
        if self.spec.rtt_scaling && self.rtt_min > 0 {
            let inverse =
                (EIGHTHS.saturating_mul(per_second) / self.rtt_min.saturating_mul(10)).clamp(INVERSE_SCALES.0, INVERSE_SCALES.1);
            factor = (factor.saturating_mul(EIGHTHS) / inverse).max(1);
        }
        self.alpha = factor.saturating_mul(2 * (PARTS - self.beta));
    }
}

impl Avoidance for Linux {
    fn subscriptions(&self) -> Subscriptions {
        Subscriptions { newest_rtt: true, exact_rtt: true, ..Subscriptions::NONE }
    }

    fn quantity(&self, _index: usize) -> f64 {
        self.beta as f64 / PARTS as f64
    }

    /// Duplicates, which have no average, do not count.
    fn measure(&mut self, measured: &RoundTrip) {
        if self.is_recovering || measured.smoothed.is_none() {
            return;
        }
        let ticks = self.jiffies.in_span(measured.sample);
        let whole = self.jiffies.whole_in_span(measured.sample).max(1);
        self.rtt_min = if self.rtt_min == 0 { whole } else { self.rtt_min.min(whole) };
        self.rtt_max = self.rtt_max.max(self.rtt_min);
        if ticks <= self.rtt_max.saturating_add(self.jiffies.in_span(MAX_GROWTH)) {
            self.rtt_max = self.rtt_max.max(ticks);
        }
    }

    fn adjust(&mut self, ack: &Ack, window: &mut Window<'_>) -> ControlFlow<()> {
        self.deliver(ack, Cwnd(*window.cwnd));
        ControlFlow::Continue(())
    }

    fn grow(&mut self, ack: &Ack, Cwnd(window): Cwnd, _: f64) -> f64 {
        if self.acked.saturating_mul(self.alpha) / PARTS >= window as u64 {
            self.acked = 0;
            self.adapt_alpha(ack.now);
            return window + 1.0;
        }
        self.acked += u64::from(ack.acked.0);
        window
    }

    fn reduce(&mut self, seen: &Congestion, Cwnd(window): Cwnd) -> f64 {
        self.adapt_beta();
        self.adapt_alpha(seen.now);
        if self.rtt_min > 0 && self.rtt_max > self.rtt_min {
            self.rtt_max = self.rtt_min + (self.rtt_max - self.rtt_min).saturating_mul(95) / 100;
        }
        (self.acked, self.is_recovering) = (0, true);
        (window as u64 * self.beta / PARTS) as f64
    }

    fn pause(&mut self, idle: TimeDelta) {
        self.since = self.since.saturating_add(self.jiffies.in_span(idle));
    }

    fn limit(&mut self, max: Cwnd) -> Cwnd {
        whole(max)
    }
}

#[cfg(test)]
mod tests {
    use crate::congestion::support::editions::Edition;
    use crate::congestion::support::model_sender::ModelSender;
    use crate::congestion::{HTcp, HTcpSpec, Start};
    use crate::primitives::units::TimeDelta;

    fn sender(window: f64, milliseconds: u64, jiffy: u64) -> ModelSender<HTcp> {
        let spec = HTcpSpec { edition: Edition::Linux, ..HTcpSpec::default() };
        let start = Start { window, ssthresh: 2.0, jiffy: TimeDelta::from_millis(jiffy), ..Start::default() };
        ModelSender::new(HTcp::new(&spec, start)).with_round_trip(milliseconds)
    }

    fn rules(sender: &mut ModelSender<HTcp>) -> &mut super::Linux {
        sender.law.memory.avoidance.linux()
    }

    /// alpha at the next growth, this time after the end of recovery.
    fn alpha_after(sender: &mut ModelSender<HTcp>, milliseconds: u64) -> u64 {
        sender.lose(100);
        sender.ack(1);
        sender.wait(milliseconds);
        rules(sender).acked = 1_000_000;
        sender.ack(1);
        rules(sender).alpha
    }

    #[test]
    fn the_increase_is_truncated_before_and_after_scaling() {
        // Up to a second alpha is 1, which is 2 * 64 parts. At 41 ticks the inverse scale is 8000 / 410 = 19 eighths.
        assert_eq!(alpha_after(&mut sender(100.0, 41, 1), 1000), 128);
        // 1.9 s: 1 + (9000 + 202) / 1000 = 10, and 80 / 19 = 4.
        assert_eq!(alpha_after(&mut sender(100.0, 41, 1), 1900), 4 * 128);
        // 1.2 s: 1 + 2010 / 1000 = 3, and 24 / 19 = 1.
        assert_eq!(alpha_after(&mut sender(100.0, 41, 1), 1200), 128);
        // With 250 ticks per second 41 ms are 11 ticks: 2000 / 110 = 18 eighths, and 80 / 18 = 4.
        assert_eq!(alpha_after(&mut sender(100.0, 41, 4), 1900), 4 * 128);
    }

    #[test]
    fn the_window_grows_when_alpha_times_the_acknowledged_segments_reach_it() {
        // The acknowledgement after 100 segments.
        let mut sender = sender(100.0, 41, 1);
        assert_eq!((0..102).map(|_| sender.ack(1)).position(|window| window == 101.0), Some(100));
    }

    #[test]
    fn a_third_steady_loss_keeps_the_minimum_rtt_over_the_maximum() {
        let mut sender = sender(100.0, 40, 1);
        sender.measure(60);
        let mut lose = |throughput: u64| {
            rules(&mut sender).throughput.max = throughput;
            sender.law.window = 100.0;
            let left = sender.lose(100);
            sender.ack(1);
            left
        };
        // A first maximum differs from none. The second is within a fifth of it, and the third is the second steady one: 40 * 128 / 59 = 86
        // after 60 and 59 ticks: 40 + 20 * 0.95 = 59, 40 + 19 * 0.95 = 58 and 40 * 128 / 58 = 88; 100 * 88 / 128 = 68.
        assert_eq!([1000, 1200, 1200, 800, 639].map(&mut lose), [50.0, 50.0, 68.0, 50.0, 50.0]);
    }

    #[test]
    fn a_sample_more_than_twenty_milliseconds_above_the_maximum_is_ignored() {
        let mut sender = sender(100.0, 40, 1);
        sender.measure(61);
        assert_eq!(rules(&mut sender).rtt_max, 40);
        sender.measure(60);
        sender.measure(61);
        assert_eq!(rules(&mut sender).rtt_max, 61);
    }
}
