//! YeAH as in Linux 6.12, by its windows in virtual time: a window of whole segments grows by one for 1/a acknowledged segments in fast mode,
//! or for a smaller window of them, and for each window of them in slow mode. Delays are in whole microseconds plus one. Rounds of one or two
//! RTT samples are not evaluated, and a loss removes the queue of the last evaluated one.
//!
//! Differs: RTTs measured during recovery do not count.

use super::YeahSpec;
use crate::congestion::support::editions::whole;
use crate::congestion::support::least_rtt::LeastRtt;
use crate::congestion::support::reno_like::Avoidance;
use crate::congestion::support::round::Round;
use crate::congestion::support::segment_count::SegmentCount;
use crate::congestion::support::window::Window;
use crate::congestion::support::{Ack, Congestion, RoundTrip, Subscriptions};
use crate::primitives::units::{Cwnd, Time};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// Minimum number of RTT samples of a round that counts.
const MIN_SAMPLES: u32 = 3;

/// Smallest window, also of the Reno flow that competition is compared with.
const MIN: f64 = 2.0;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Linux {
    spec: YeahSpec,
    rtts: LeastRtt,
    round: Round,
    growth: SegmentCount,
    /// RTTs in slow mode since the last in fast mode; RTTs in fast mode since the last loss.
    count_slow: u32,
    count_fast: u32,
    cwnd_reno: f64,
    /// Q of the last round, in whole segments.
    queue: f64,
    is_recovering: bool,
}

impl Linux {
    pub(super) fn new(spec: &YeahSpec) -> Linux {
        Linux {
            spec: *spec,
            rtts: LeastRtt::default(),
            round: Round::default(),
            growth: SegmentCount::default(),
            count_slow: 0,
            count_fast: 0,
            cwnd_reno: MIN,
            queue: 0.0,
            is_recovering: false,
        }
    }

    /// Once per RTT with this minimum.
    fn judge(&mut self, least: u64, window: &mut Window<'_>) {
        let YeahSpec { q_max, phi, epsilon, zeta, .. } = self.spec;
        let (base, delay) = (self.rtts.base, (least - self.rtts.base) as f64);
        self.queue = (*window.cwnd * delay / least as f64).floor();
        if self.queue <= q_max && delay <= (base as f64 / phi).floor() {
            self.count_fast = self.count_fast.saturating_add(1);
            if self.count_fast > zeta {
                (self.cwnd_reno, self.count_fast) = (MIN, 0);
            }
            self.count_slow = 0;
            return;
        }
        if self.queue > q_max && *window.cwnd > self.cwnd_reno {
            let taken = self.queue.min((epsilon * *window.cwnd).floor());
            *window.cwnd = (*window.cwnd - taken).max(self.cwnd_reno);
            *window.ssthresh = *window.cwnd;
        }
        self.cwnd_reno = if self.cwnd_reno <= MIN { (*window.cwnd / 2.0).floor().max(MIN) } else { self.cwnd_reno + 1.0 };
        self.count_slow = self.count_slow.saturating_add(1);
    }
}

impl Avoidance for Linux {
    fn subscriptions(&self) -> Subscriptions {
        Subscriptions { newest_rtt: true, exact_rtt: true, ..Subscriptions::NONE }
    }

    fn quantity(&self, index: usize) -> f64 {
        if index == 0 { self.cwnd_reno } else { self.rtts.base as f64 / 1e6 }
    }

    fn measure(&mut self, measured: &RoundTrip) {
        if !self.is_recovering {
            self.rtts.measure(measured);
        }
    }

    /// Opens the window, and evaluates a round at its end.
    fn adjust(&mut self, ack: &Ack, window: &mut Window<'_>) -> ControlFlow<()> {
        if std::mem::take(&mut self.is_recovering) {
            self.round.begin(ack.now);
            self.rtts.begin();
        }
        if !ack.window_validated {
            return ControlFlow::Break(());
        }
        let is_slow_start = window.cwnd < window.ssthresh;
        let left = if is_slow_start { window.slow_start(ack.counted) } else { f64::from(ack.counted.0) };
        if left > 0.0 {
            let is_fast = self.count_slow == 0;
            self.growth.per_segment = if is_fast { window.cwnd.min((1.0 / self.spec.a).round()) } else { *window.cwnd };
            *window.cwnd = self.growth.grow(Cwnd(*window.cwnd), left);
        }
        if self.round.ends_with(ack) {
            let (least, samples) = self.rtts.begin();
            if samples >= MIN_SAMPLES {
                self.judge(least, window);
            }
        }
        ControlFlow::Break(())
    }

    fn reduce(&mut self, _: &Congestion, Cwnd(window): Cwnd) -> f64 {
        let window = window.floor();
        let half = (window / 2.0).floor().max(MIN);
        let taken = match self.count_slow < self.spec.rho {
            true => self.queue.min(half).max((self.spec.delta * window).floor()),
            false => half,
        };
        self.count_fast = 0;
        self.cwnd_reno = (self.cwnd_reno / 2.0).floor().max(MIN);
        self.growth.clear();
        self.is_recovering = true;
        window - taken
    }

    fn restart(&mut self, now: Time) {
        self.is_recovering = false;
        self.round.begin(now);
        self.rtts.begin();
    }

    fn limit(&mut self, max: Cwnd) -> Cwnd {
        whole(max)
    }
}

#[cfg(test)]
mod tests {
    use crate::congestion::support::editions::Edition;
    use crate::congestion::support::model_sender::ModelSender;
    use crate::congestion::{Start, Yeah, YeahSpec};
    use crate::primitives::units::TimeDelta;

    fn sender(window: f64) -> ModelSender<Yeah> {
        let spec = YeahSpec { edition: Edition::Linux, ..YeahSpec::default() };
        let law = Yeah::new(&spec, Start { window, ssthresh: 2.0, ..Start::default() });
        let mut sender = ModelSender::new(law).with_round_trip(100);
        sender.law.memory.avoidance.linux().rtts.begin();
        sender
    }

    /// A round of three acknowledgements with this RTT; the last one, a second later, ends it. Returns the window.
    fn round(sender: &mut ModelSender<Yeah>, milliseconds: u64) -> f64 {
        sender.round_trip = Some(TimeDelta::from_millis(milliseconds));
        sender.ack(1);
        sender.ack(1);
        sender.ack_after(1000)
    }

    /// Number of acknowledgements of one segment until the window grows.
    fn until_growth(sender: &mut ModelSender<Yeah>) -> usize {
        let before = sender.law.window;
        1 + (0..1000).take_while(|_| sender.ack(1) == before).count()
    }

    #[test]
    fn in_fast_mode_a_hundred_segments_or_a_smaller_window_open_it_and_in_slow_mode_a_window() {
        assert_eq!([60.0, 150.0].map(|window| until_growth(&mut sender(window))), [60, 100]);
        let mut slow = sender(150.0);
        // 13 ms are more than an eighth of 100 ms. Three segments are counted.
        round(&mut slow, 113);
        assert_eq!(until_growth(&mut slow), 147);
    }

    #[test]
    fn more_than_eighty_queued_segments_are_drained() {
        let mut sender = sender(500.0);
        // 500 * 25 / 125 = 100, 99 in whole segments of whole microseconds plus one.
        assert_eq!((round(&mut sender, 125), sender.law.memory.ssthresh), (401.0, 401.0));
        // No further than the Reno flow, whose window is half of that.
        sender.law.window = 300.0;
        assert_eq!(round(&mut sender, 200), 200.0);
    }

    #[test]
    fn a_loss_removes_the_queue_of_the_last_round_at_least_an_eighth_and_after_sixteen_slow_rtts_half() {
        let mut fast = sender(64.0);
        assert_eq!(fast.lose(64), 56.0);
        let mut slow = sender(100.0);
        // 100 * 20 / 120
        round(&mut slow, 120);
        assert_eq!(slow.lose(100), 84.0);
        // The last acknowledgement of a recovery begins a round.
        for _ in 0..16 {
            round(&mut slow, 120);
        }
        slow.law.window = 84.0;
        assert_eq!(slow.lose(84), 42.0);
    }
}
