//! Illinois as in Linux 6.12, by its windows in virtual time: alpha in whole 128ths and beta in 64ths, delays in whole microseconds, and a
//! window of whole segments that grows when alpha times the segments acknowledged since then reach it. The acknowledgement that ends recovery
//! counts with all segments that it covers. Up to a first delay, a loss halves the window.
//!
//! The RTT of the handshake does not count.
//!
//! Differs: neither do RTTs measured during recovery, nor that of the first acknowledgement.

use super::IllinoisSpec;
use crate::congestion::support::editions::whole;
use crate::congestion::support::reno_like::Avoidance;
use crate::congestion::support::round::Round;
use crate::congestion::support::window::Window;
use crate::congestion::support::{Ack, Congestion, RoundTrip, Subscriptions};
use crate::primitives::units::{Cwnd, Time, TimeDelta};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// Units of alpha and beta.
const ALPHA_PARTS: f64 = 128.0;
const BETA_PARTS: f64 = 64.0;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Linux {
    spec: IllinoisSpec,
    /// In segments and as a fraction, rounded to their units.
    alpha: f64,
    beta: f64,
    round: Round,
    rtts: Rtts,
    /// The delay has exceeded the lowest threshold, and number of RTTs below it since.
    is_above: bool,
    rtt_low: u32,
    /// Samples do not count: of the handshake, and during recovery.
    is_paused: bool,
    /// Segments acknowledged since the window last grew.
    acked: f64,
    /// The window before the last reduction.
    reduced_from: f64,
}

/// In microseconds: the minimum and maximum of the flow, and the sum of this round.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Rtts {
    base: Option<u64>,
    longest: u64,
    sum: u64,
    samples: u64,
}

impl Linux {
    pub(super) fn new(spec: &IllinoisSpec) -> Linux {
        Linux {
            spec: *spec,
            alpha: spec.alpha_max,
            beta: spec.beta_max,
            round: Round::default(),
            rtts: Rtts::default(),
            is_above: false,
            rtt_low: 0,
            is_paused: true,
            acked: 0.0,
            reduced_from: 0.0,
        }
    }

    /// Once per RTT.
    fn judge(&mut self, Cwnd(window): Cwnd) {
        let Rtts { base, longest, sum, samples } = self.rtts;
        if window < self.spec.w_thresh {
            (self.alpha, self.beta) = (1.0, 0.5);
        } else if let (Some(base), Some(mean)) = (base, sum.checked_div(samples)) {
            let delay = Delay { average: mean.saturating_sub(base) as f64, largest: (longest - base) as f64 };
            self.alpha = self.increase(delay);
            self.beta = self.decrease(delay);
        }
        (self.rtts.sum, self.rtts.samples) = (0, 0);
    }

    fn increase(&mut self, Delay { average, largest }: Delay) -> f64 {
        let IllinoisSpec { alpha_min, alpha_max, eta_1, theta, .. } = self.spec;
        let threshold = (eta_1 * largest).floor();
        if average > threshold {
            self.is_above = true;
            let (most, least) = ((alpha_max * ALPHA_PARTS).floor(), (alpha_min * ALPHA_PARTS).floor());
            let (largest, average) = (largest - threshold, average - threshold);
            return (largest * most / (largest + (average * (most - least) / least).floor())).floor() / ALPHA_PARTS;
        }
        if self.is_above {
            self.rtt_low += 1;
            if self.rtt_low < theta {
                return self.alpha;
            }
            (self.rtt_low, self.is_above) = (0, false);
        }
        alpha_max
    }

    fn decrease(&self, Delay { average, largest }: Delay) -> f64 {
        let IllinoisSpec { beta_min, beta_max, eta_2, eta_3, .. } = self.spec;
        let (low, high) = ((eta_2 * largest).floor(), (eta_3 * largest).floor());
        if average <= low {
            return beta_min;
        }
        if average >= high || high <= low {
            return beta_max;
        }
        let (least, most) = (beta_min * BETA_PARTS, beta_max * BETA_PARTS);
        ((least * high - most * low + (most - least) * average) / (high - low)).floor() / BETA_PARTS
    }

    fn restart_round(&mut self) {
        (self.rtts.sum, self.rtts.samples) = (0, 0);
    }
}

/// The average queueing delay of an RTT, and the largest of the flow, in microseconds.
#[derive(Clone, Copy)]
struct Delay {
    average: f64,
    largest: f64,
}

impl Avoidance for Linux {
    fn subscriptions(&self) -> Subscriptions {
        Subscriptions { newest_rtt: true, exact_rtt: true, ..Subscriptions::NONE }
    }

    fn quantity(&self, index: usize) -> f64 {
        if index == 0 { self.alpha } else { self.beta }
    }

    /// Duplicates, which have no average, do not count.
    fn measure(&mut self, measured: &RoundTrip) {
        if self.is_paused || measured.smoothed.is_none() {
            return;
        }
        let sample = measured.sample.0 / TimeDelta::from_micros(1).0;
        let Rtts { base, longest, sum, samples } = &mut self.rtts;
        *base = Some(base.map_or(sample, |base| base.min(sample)));
        *longest = sample.max(*longest);
        *sum = sum.saturating_add(sample);
        *samples += 1;
    }

    fn adjust(&mut self, ack: &Ack, window: &mut Window<'_>) -> ControlFlow<()> {
        if std::mem::take(&mut self.is_paused) {
            // The acknowledgement that ends recovery covers the window in which the loss was.
            self.acked += self.reduced_from;
        }
        if self.round.ends_with(ack) {
            self.judge(Cwnd(*window.cwnd));
        }
        ControlFlow::Continue(())
    }

    fn grow(&mut self, ack: &Ack, Cwnd(window): Cwnd, counted: f64) -> f64 {
        self.acked += f64::from(ack.acked.0);
        let increase = (self.acked * self.alpha).floor();
        if increase < window {
            return window;
        }
        self.acked = 0.0;
        // No acknowledgement more than doubles the window, which slow start may have opened already.
        let before = window - (f64::from(ack.counted.0) - counted);
        (window + (increase / window).floor()).min((2.0 * before).max(window))
    }

    fn reduce(&mut self, _: &Congestion, Cwnd(window): Cwnd) -> f64 {
        let window = window.floor();
        (self.acked, self.is_paused, self.reduced_from) = (0.0, true, window);
        window - (window * self.beta).floor()
    }

    /// Behaves as Reno until delays are known again.
    fn restart(&mut self, now: Time) {
        (self.alpha, self.beta) = (1.0, 0.5);
        (self.is_above, self.rtt_low, self.is_paused) = (false, 0, false);
        self.restart_round();
        self.round.begin(now);
    }

    fn limit(&mut self, max: Cwnd) -> Cwnd {
        whole(max)
    }
}

#[cfg(test)]
mod tests {
    use super::{Delay, Linux};
    use crate::congestion::support::editions::Edition;
    use crate::congestion::support::model_sender::ModelSender;
    use crate::congestion::{Illinois, IllinoisSpec, Start};

    #[test]
    fn alpha_and_beta_are_rounded_down_to_their_units() {
        let mut rules = Linux::new(&IllinoisSpec::default());
        // A delay of 0.4 ms is low if 40 ms are the largest. 39600 * 1280 / (39600 + 19600 * 1242 / 38) = 74.5 for half of it, and 38.0 for all.
        let alpha = [400.0, 20_000.0, 40_000.0].map(|average| 128.0 * rules.increase(Delay { average, largest: 40_000.0 }));
        assert_eq!(alpha, [1280.0, 74.0, 38.0]);
        // 4 and 32 ms: (8 * 32 - 32 * 4 + 24 * 20) / 28 = 21.7.
        let beta = [4000.0, 20_000.0, 32_000.0].map(|average| 64.0 * rules.decrease(Delay { average, largest: 40_000.0 }));
        assert_eq!(beta, [8.0, 21.0, 32.0]);
    }

    #[test]
    fn five_low_rounds_restore_the_largest_increase() {
        let mut rules = Linux::new(&IllinoisSpec::default());
        let mut after = |average| {
            rules.alpha = rules.increase(Delay { average, largest: 40_000.0 });
            rules.alpha * 128.0
        };
        assert_eq!([40_000.0, 0.0, 0.0, 0.0, 0.0, 0.0].map(&mut after), [38.0, 38.0, 38.0, 38.0, 38.0, 1280.0]);
    }

    #[test]
    fn the_window_grows_when_alpha_times_the_acknowledged_segments_reach_it() {
        let spec = IllinoisSpec { edition: Edition::Linux, ..IllinoisSpec::default() };
        let mut sender = ModelSender::new(Illinois::new(&spec, Start { window: 100.0, ssthresh: 2.0, ..Start::default() }));
        // Ten segments with an alpha of 10; and a loss without any delay halves the window.
        assert_eq!((1..=11).map(|_| sender.ack(1)).position(|window| window > 100.0), Some(9));
        assert_eq!((sender.law.window, sender.lose(101)), (101.0, 51.0));
    }
}
