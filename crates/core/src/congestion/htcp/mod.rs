//! H-TCP: the increase grows with the time since the last loss, so that a path with rare losses is filled soon; and a loss removes only the
//! queued part of the window (Leith and Shorten, H-TCP: TCP Congestion Control for High Bandwidth-Delay Product Paths,
//! draft-leith-tcp-htcp-06; H-TCP: TCP for high-speed and long-distance networks, PFLDnet 2004).
//!
//! Differs: the throughput before a loss is the data in flight over the last RTT. With RTT scaling no increase falls below Reno's. A loss
//! reduces the part of the window that was in flight, and idle time does not count.

mod linux;

use super::support::editions::{Edition, Editions};
use super::support::reno_like::{Avoidance, RenoLike};
use super::support::{Abilities, Ack, Congestion, RoundTrip, Start};
use crate::primitives::units::{Cwnd, Time, TimeDelta};
use crate::settings::{ABOVE_ZERO, Kind, PlainWords, Settings, member};
use serde::{Deserialize, Serialize};

member! {
    /// The increase grows with the time since the last loss, and a loss reduces the window by the queued data.
    HTcp = "htcp", "draft-leith-tcp-htcp-06";

    pub struct HTcpSpec {
        /// Time after a loss during which the flow behaves as Reno (Delta_L).
        delta_l: TimeDelta = TimeDelta::from_millis(1000) => ABOVE_ZERO,
        /// Adaptive backoff: a loss multiplies the window by the ratio of the minimum to the maximum RTT, limited to 0.5 to 0.8. If false,
        /// it halves the window.
        adaptive_backoff: bool = true => Kind::Boolean,
        /// RTT scaling: the increase is proportional to the RTT, 0.1 to 2 times the increase at 100 ms.
        rtt_scaling: bool = true => Kind::Boolean,
        /// Rules of the window: the draft's, or Linux's, in whole numbers and ticks of the kernel's clock (`timer.jiffy`).
        edition: Edition = Edition::Document => Kind::Words(&Edition::WORDS),
    }
}

impl Settings for HTcpSpec {
    fn samples() -> Vec<HTcpSpec> {
        let usual = HTcpSpec::default();
        let plain = HTcpSpec { delta_l: TimeDelta::from_millis(1), adaptive_backoff: false, rtt_scaling: false, ..usual };
        vec![usual, plain, HTcpSpec { edition: Edition::Linux, ..usual }]
    }
}

/// Minimum and maximum fraction kept by a loss, and the change of throughput above which the minimum applies.
const BETA_MIN: f64 = 0.5;
const BETA_MAX: f64 = 0.8;
const DELTA_B: f64 = 0.2;

/// RTT at which the increase is not scaled, and the bounds of scaling.
const REFERENCE_S: f64 = 0.1;
const SCALES: (f64, f64) = (0.1, 2.0);

pub type HTcp = RenoLike<Editions<HTcpLaw, linux::Linux>>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HTcpLaw {
    spec: HTcpSpec,
    /// Time of the last loss; before one, the start of congestion avoidance.
    since: Option<Time>,
    /// Fraction kept by the next loss, as determined at the last one.
    beta: f64,
    /// B: segments per second before the last loss.
    throughput: f64,
    last_rtt: TimeDelta,
    /// RTTs since the last loss.
    rtt_min: TimeDelta,
    rtt_max: TimeDelta,
    /// K of the scaling, from the minimum RTT of the flow.
    scale: f64,
    shortest: TimeDelta,
}

impl HTcp {
    pub(super) fn new(spec: &HTcpSpec, start: Start) -> HTcp {
        let law = HTcpLaw {
            spec: *spec,
            since: None,
            beta: BETA_MIN,
            throughput: 0.0,
            last_rtt: TimeDelta::ZERO,
            rtt_min: TimeDelta(u64::MAX),
            rtt_max: TimeDelta::ZERO,
            scale: 1.0,
            shortest: TimeDelta(u64::MAX),
        };
        let rules = match spec.edition {
            Edition::Document => Editions::Document(law),
            Edition::Linux => Editions::Linux(linux::Linux::new(spec, start.jiffy)),
        };
        RenoLike::of(rules, start)
    }
}

impl HTcpLaw {
    /// alpha(Delta), before adaptation to beta.
    fn alpha(&mut self, now: Time) -> f64 {
        let since = *self.since.get_or_insert(now);
        let beyond = now.since(since + self.spec.delta_l).seconds();
        if beyond <= 0.0 { 1.0 } else { (self.scale * (1.0 + 10.0 * beyond + 0.25 * beyond * beyond)).max(1.0) }
    }

    /// Computes the fraction kept by a loss, which is adaptive if the throughput is close to that at the previous loss.
    fn adapt(&mut self, throughput: f64) {
        let changed = (throughput - self.throughput).abs() > DELTA_B * self.throughput;
        let share = self.rtt_min.0 as f64 / self.rtt_max.0.max(1) as f64;
        self.beta = if changed || !self.spec.adaptive_backoff { BETA_MIN } else { share.clamp(BETA_MIN, BETA_MAX) };
        self.throughput = throughput;
    }
}

impl Avoidance for HTcpLaw {
    const ABILITIES: Abilities = Abilities { quantities: &["beta"], ..Abilities::NONE };

    fn quantity(&self, _index: usize) -> f64 {
        self.beta
    }

    fn measure(&mut self, measured: &RoundTrip) {
        let sample = measured.sample;
        self.last_rtt = sample;
        (self.rtt_min, self.rtt_max) = (self.rtt_min.min(sample), self.rtt_max.max(sample));
        if self.spec.rtt_scaling && sample < self.shortest {
            self.shortest = sample;
            self.scale = (sample.seconds() / REFERENCE_S).clamp(SCALES.0, SCALES.1);
        }
    }

    /// 2 (1 - beta) alpha: as fast as an increase of alpha with a reduction by half.
    fn increase(&mut self, ack: &Ack, _: Cwnd) -> f64 {
        2.0 * (1.0 - self.beta) * self.alpha(ack.now)
    }

    fn reduce(&mut self, seen: &Congestion, Cwnd(window): Cwnd) -> f64 {
        self.adapt(window / self.last_rtt.seconds().max(1e-9));
        self.since = Some(seen.now);
        (self.rtt_min, self.rtt_max) = (self.last_rtt, self.last_rtt);
        self.beta * window
    }

    fn restart(&mut self, now: Time) {
        self.since = Some(now);
        (self.beta, self.throughput) = (BETA_MIN, 0.0);
    }

    fn pause(&mut self, idle: TimeDelta) {
        self.since = self.since.map(|since| since + idle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::support::model_sender::ModelSender;

    fn sender(spec: HTcpSpec) -> ModelSender<HTcp> {
        ModelSender::new(HTcp::new(&spec, Start { window: 1000.0, ssthresh: 2.0, ..Start::default() })).with_round_trip(100)
    }

    /// Increase per window if it were acknowledged now.
    fn increase(sender: &mut ModelSender<HTcp>) -> f64 {
        let window = sender.law.window;
        (sender.ack(1) - window) * window
    }

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6 * expected.abs().max(1.0), "{found}, not {expected}");
    }

    #[test]
    fn it_is_reno_for_a_second_after_a_loss_and_then_grows_with_the_square_of_time() {
        let mut sender = sender(HTcpSpec { adaptive_backoff: false, ..HTcpSpec::default() });
        assert_eq!(sender.lose(1000), 500.0);
        sender.wait(1000);
        near(increase(&mut sender), 1.0);
        sender.wait(2000);
        // 1 + 10 * 2 + 0.25 * 4
        near(increase(&mut sender), 22.0);
        // A loss restarts the growth.
        sender.lose(500);
        sender.wait(900);
        near(increase(&mut sender), 1.0);
    }

    #[test]
    fn with_a_steady_throughput_a_loss_keeps_the_minimum_rtt_over_the_maximum() {
        let mut sender = sender(HTcpSpec::default());
        // 1000 in 160 ms differ from zero before; 500 in 160 ms are half of that.
        let mut lose = |window: f64, shortest: u64| {
            sender.measure(shortest);
            sender.measure(160);
            sender.law.window = window;
            sender.lose(window as u32)
        };
        assert_eq!((lose(1000.0, 100), lose(500.0, 100)), (500.0, 250.0));
        // A change of a fifth counts as unchanged: 100 / 160. At least half and at most 0.8 is kept.
        near(lose(600.0, 100), 375.0);
        near(lose(600.0, 70), 300.0);
        near(lose(600.0, 155), 480.0);
        // 2 (1 - 0.8)
        near(increase(&mut sender), 0.4);
    }

    #[test]
    fn the_increase_is_proportional_to_the_rtt() {
        for (milliseconds, expected) in [(100, 11.0), (50, 5.5), (4, 1.1), (400, 22.0)] {
            let spec = HTcpSpec { adaptive_backoff: false, ..HTcpSpec::default() };
            let law = HTcp::new(&spec, Start { window: 1000.0, ssthresh: 2.0, ..Start::default() });
            let mut sender = ModelSender::new(law).with_round_trip(milliseconds);
            near(increase(&mut sender), 1.0);
            sender.wait(2000);
            // 1 + 10 and a quarter, scaled.
            near(increase(&mut sender), expected * 11.25 / 11.0);
        }
    }

    #[test]
    fn idle_time_does_not_count_as_time_since_a_loss() {
        use crate::congestion::Controller;
        let mut sender = sender(HTcpSpec { adaptive_backoff: false, ..HTcpSpec::default() });
        near(increase(&mut sender), 1.0);
        sender.wait(5000);
        sender.law.on_idle(TimeDelta::from_millis(4500));
        near(increase(&mut sender), 1.0);
    }
}
