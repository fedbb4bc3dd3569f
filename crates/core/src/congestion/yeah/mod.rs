//! YeAH: in its fast mode it grows like Scalable TCP; with its own queue it is Reno, and drains that queue before it overflows, unless
//! other flows keep the queue full (Baiocchi, Castellani and Vacirca, YeAH-TCP: Yet Another Highspeed TCP, PFLDnet 2007).
//!
//! Differs: in the fast mode a segment opens the window by a hundredth, or by Reno's increase if that is larger. The threshold after an
//! early decongestion is the window, so that congestion avoidance continues. A loss reduces the part of the window that was in flight.

mod linux;

use super::support::editions::{Edition, Editions};
use super::support::queueing::Queueing;
use super::support::reno_like::{Avoidance, RenoLike};
use super::support::round::Round;
use super::support::window::Window;
use super::support::{Abilities, Ack, Congestion, RoundTrip, Start};
use crate::primitives::units::{Cwnd, Time, TimeDelta};
use crate::settings::{Kind, PlainWords, SEGMENTS_IN_QUEUES, SettingConflict, Settings, conflicts, member};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

const ROUND_TRIPS: Kind = Kind::Integer { min: 1, max: 1_000_000 };

// All numbers are from the paper.
member! {
    /// Grows like Scalable TCP while its queue is short, and drains the queue when it is not.
    Yeah = "yeah", "Baiocchi, Castellani and Vacirca, PFLDnet 2007";

    pub struct YeahSpec {
        /// Number of queued segments from which the flow is in slow mode and drains its queue (Q_max).
        q_max: f64 = 80.0 => SEGMENTS_IN_QUEUES,
        /// The flow is also in slow mode while the queueing delay exceeds the minimum RTT divided by this value.
        phi: f64 = 8.0 => Kind::Number { min: 1e-3, max: 1e6 },
        /// Window increase per acknowledged segment in fast mode, in segments.
        a: f64 = 0.01 => Kind::Probability,
        /// Minimum fraction of the window removed by a loss.
        delta: f64 = 0.125 => Kind::Probability,
        /// Maximum fraction of the window removed by one early decongestion.
        epsilon: f64 = 0.5 => Kind::Probability,
        /// Number of consecutive RTTs in slow mode after which competing loss-based flows are assumed; a loss then halves the window.
        rho: u32 = 16 => ROUND_TRIPS,
        /// Number of RTTs in fast mode after which competing loss-based flows are no longer assumed.
        zeta: u32 = 50 => ROUND_TRIPS,
        /// Rules of the window: the paper's, or Linux's, in whole numbers.
        edition: Edition = Edition::Document => Kind::Words(&Edition::WORDS),
    }
}

impl Settings for YeahSpec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if self.delta <= 0.0 || self.delta > 0.5 => ["delta"],
                "`delta` is out of range", "above 0, at most 0.5, the maximum reduction by a loss";
            error if self.epsilon >= 1.0 => ["epsilon"], "`epsilon` of 1 removes the whole window", "below 1";
        }
    }

    fn samples() -> Vec<YeahSpec> {
        let usual = YeahSpec::default();
        let quick = YeahSpec { q_max: 2.0, phi: 1.0, a: 1.0, rho: 2, zeta: 1, ..usual };
        vec![usual, quick, YeahSpec { edition: Edition::Linux, ..quick }]
    }
}

pub type Yeah = RenoLike<Editions<YeahLaw, linux::Linux>>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct YeahLaw {
    spec: YeahSpec,
    /// RTT_base, and the minimum RTT of the last round, RTT_min.
    queueing: Queueing,
    round: Round,
    /// Minimum RTT of the present round.
    min: Option<TimeDelta>,
    is_fast: bool,
    /// The window that Reno would have in competition, once the flow was in slow mode. No decongestion goes below it.
    cwnd_reno: Option<f64>,
    /// Number of RTTs in each mode since the other.
    count_fast: u32,
    count_slow: u32,
}

impl Yeah {
    pub(super) fn new(spec: &YeahSpec, start: Start) -> Yeah {
        let law = YeahLaw {
            spec: *spec,
            queueing: Queueing::default(),
            round: Round::default(),
            min: None,
            is_fast: true,
            cwnd_reno: None,
            count_fast: 0,
            count_slow: 0,
        };
        let rules = match spec.edition {
            Edition::Document => Editions::Document(law),
            Edition::Linux => Editions::Linux(linux::Linux::new(spec)),
        };
        RenoLike::of(rules, start)
    }
}

impl YeahLaw {
    /// Once per RTT. Returns the window without its excess queue.
    fn judge(&mut self, min: TimeDelta, window: Cwnd) -> Option<Cwnd> {
        self.queueing.judge_by(min);
        // Q and L.
        let queue = self.queueing.segments(window);
        let is_late = self.queueing.delay().0 as f64 * self.spec.phi > self.queueing.base().unwrap_or(min).0 as f64;
        self.is_fast = queue < self.spec.q_max && !is_late;
        if self.is_fast {
            self.count_fast = self.count_fast.saturating_add(1);
            self.count_slow = 0;
            if self.count_fast > self.spec.zeta {
                (self.cwnd_reno, self.count_fast) = (None, 0);
            }
            return None;
        }
        let kept = self.cwnd_reno.unwrap_or(0.0);
        let decongested = (queue > self.spec.q_max && window.0 > kept)
            .then(|| Cwnd((window.0 - queue.min(self.spec.epsilon * window.0)).max(kept)));
        self.cwnd_reno = Some(self.cwnd_reno.map_or(window.0 / 2.0, |reno| reno + 1.0));
        self.count_slow = self.count_slow.saturating_add(1);
        decongested
    }
}

impl Avoidance for YeahLaw {
    const ABILITIES: Abilities = Abilities { quantities: &["cwnd_reno_packets", "base_rtt_s"], ..Abilities::NONE };

    fn quantity(&self, index: usize) -> f64 {
        let base = self.queueing.base().map(TimeDelta::seconds);
        (if index == 0 { self.cwnd_reno } else { base }).unwrap_or(f64::NAN)
    }

    fn measure(&mut self, measured: &RoundTrip) {
        self.queueing.measure(measured.sample);
        self.min = Some(self.min.map_or(measured.sample, |min| min.min(measured.sample)));
    }

    fn adjust(&mut self, ack: &Ack, window: &mut Window<'_>) -> ControlFlow<()> {
        if self.round.ends_with(ack)
            && let Some(min) = self.min.take()
            && let Some(lower) = self.judge(min, Cwnd(*window.cwnd))
        {
            window.decrease(lower);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    fn increase(&mut self, _: &Ack, Cwnd(window): Cwnd) -> f64 {
        if self.is_fast { (self.spec.a * window).max(1.0) } else { 1.0 }
    }

    /// Without flows that keep it full, the queue consists of this flow's excess.
    fn reduce(&mut self, seen: &Congestion, window: Cwnd) -> f64 {
        let taken = if self.count_slow < self.spec.rho {
            self.queueing.segments(window).max(self.spec.delta * window.0).min(window.0 / 2.0)
        } else {
            window.0 / 2.0
        };
        self.cwnd_reno = self.cwnd_reno.map(|reno| (reno / 2.0).max(2.0));
        self.count_fast = 0;
        self.round.begin(seen.now);
        self.min = None;
        window.0 - taken
    }

    fn restart(&mut self, now: Time) {
        self.round.begin(now);
        (self.min, self.cwnd_reno) = (None, None);
        (self.count_fast, self.count_slow) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Controller;
    use crate::congestion::support::model_sender::ModelSender;

    fn sender(window: f64) -> ModelSender<Yeah> {
        let law = Yeah::new(&YeahSpec::default(), Start { window, ssthresh: 2.0, ..Start::default() });
        let mut sender = ModelSender::new(law).with_round_trip(100);
        sender.law.memory.avoidance.document().min = None;
        sender
    }

    /// An acknowledgement with this RTT, the minimum of its round, one second later.
    fn round(sender: &mut ModelSender<Yeah>, milliseconds: u64) -> f64 {
        sender.round_trip = Some(TimeDelta::from_millis(milliseconds));
        sender.wait(1000);
        sender.ack(1)
    }

    #[test]
    fn with_a_short_queue_it_is_scalable_tcp_and_never_slower_than_reno() {
        assert_eq!((round(&mut sender(400.0), 110), round(&mut sender(50.0), 110)), (400.01, 50.02));
    }

    #[test]
    fn a_delay_above_an_eighth_makes_it_reno() {
        // 400 * 20 / 120 = 67 segments, and a fifth of the RTT.
        assert_eq!(round(&mut sender(400.0), 120), 400.0 + 1.0 / 400.0);
    }

    #[test]
    fn eighty_queued_segments_are_drained_and_the_window_stays_at_least_that_of_reno() {
        let mut sender = sender(500.0);
        // 500 * 25 / 125 = 100 segments.
        assert_eq!((round(&mut sender, 125), sender.law.ssthresh().0), (400.0, 2.0));
        assert_eq!(sender.law.memory.avoidance.document().cwnd_reno, Some(250.0));
        // 400 * 100 / 200 = 200 would be half; no further than Reno.
        sender.law.window = 400.0;
        assert_eq!((round(&mut sender, 200), sender.law.memory.avoidance.document().cwnd_reno), (250.0, Some(251.0)));
    }

    #[test]
    fn a_loss_removes_the_queue_at_least_an_eighth_and_half_in_competition() {
        let mut sender = sender(400.0);
        assert_eq!(sender.lose(400), 350.0);
        sender.law.window = 400.0;
        round(&mut sender, 118);
        sender.law.window = 236.0;
        // 236 * 18 / 118
        assert_eq!(sender.lose(236), 200.0);
        // Sixteen consecutive RTTs in slow mode.
        for _ in 0..16 {
            round(&mut sender, 120);
        }
        sender.law.window = 100.0;
        assert_eq!(sender.lose(100), 50.0);
    }

    #[test]
    fn fifty_fast_rtts_end_the_assumption_of_competing_flows() {
        let mut sender = sender(500.0);
        round(&mut sender, 125);
        for _ in 0..50 {
            round(&mut sender, 100);
        }
        assert!(sender.law.memory.avoidance.document().cwnd_reno.is_some());
        round(&mut sender, 100);
        assert_eq!(sender.law.memory.avoidance.document().cwnd_reno, None);
    }
}
