//! Compound TCP: Reno's window plus a delay-based window, which grows with a power of the total window while the queue is empty and shrinks
//! with the queue (Tan, Song, Zhang and Sridharan, A Compound TCP Approach for High-speed and Long Distance Networks, INFOCOM 2006;
//! draft-sridharan-tcpm-ctcp-02).
//!
//! Differs: the increase of the delay-based window in one RTT is spread over the next. gamma is fixed, as in the paper; the draft's tuning
//! of it is not implemented. The smoothed RTT is that of the retransmission timer. A loss reduces the part of the window that was in
//! flight.

use super::support::queueing::Queueing;
use super::support::reno_like::{Avoidance, RenoLike};
use super::support::round::Round;
use super::support::window::Window;
use super::support::{Abilities, Ack, Congestion, RoundTrip, Start};
use crate::primitives::math::pow;
use crate::primitives::units::{Cwnd, Time};
use crate::settings::{Kind, SEGMENTS_IN_QUEUES, SettingConflict, Settings, conflicts, member};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

// Values of the paper, with k as rounded in its implementation.
member! {
    /// Reno plus a delay-based window.
    Compound = "compound", "Tan, Song, Zhang and Sridharan, INFOCOM 2006; draft-sridharan-tcpm-ctcp-02";

    pub struct CompoundSpec {
        /// Factor of the increase of the total window.
        alpha: f64 = 0.125 => Kind::Probability,
        /// Fraction of the total window removed by a loss.
        beta: f64 = 0.5 => Kind::Probability,
        /// Power of the total window in its increase.
        k: f64 = 0.75 => Kind::Probability,
        /// Number of queued segments from which the delay-based window shrinks.
        gamma: f64 = 30.0 => SEGMENTS_IN_QUEUES,
        /// Decrease of the delay-based window per queued segment.
        zeta: f64 = 1.0 => Kind::Number { min: 0.0, max: 100.0 },
    }
}

impl Settings for CompoundSpec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if self.beta <= 0.0 || self.beta >= 1.0 => ["beta"], "`beta` is out of range", "above 0, below 1";
        }
    }

    fn samples() -> Vec<CompoundSpec> {
        let usual = CompoundSpec::default();
        vec![usual, CompoundSpec { alpha: 1.0, beta: 0.1, k: 1.0, gamma: 0.0, zeta: 100.0 }]
    }
}

pub type Compound = RenoLike<CompoundLaw>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CompoundLaw {
    spec: CompoundSpec,
    /// The delay-based window; the rest is Reno's.
    dwnd: f64,
    /// Increase of the delay-based window in this RTT.
    step: f64,
    /// baseRTT, and the smoothed RTT.
    queueing: Queueing,
    round: Round,
}

impl Compound {
    pub(super) fn new(spec: &CompoundSpec, start: Start) -> Compound {
        let law = CompoundLaw { spec: *spec, dwnd: 0.0, step: 0.0, queueing: Queueing::default(), round: Round::default() };
        RenoLike::of(law, start)
    }
}

impl Avoidance for CompoundLaw {
    const ABILITIES: Abilities = Abilities { quantities: &["dwnd_packets", "base_rtt_s"], ..Abilities::NONE };

    fn quantity(&self, index: usize) -> f64 {
        if index == 0 { self.dwnd } else { self.queueing.base().map_or(f64::NAN, |base| base.seconds()) }
    }

    fn measure(&mut self, measured: &RoundTrip) {
        self.queueing.measure(measured.sample);
        self.queueing.judge_by(measured.smoothed.unwrap_or(measured.sample));
    }

    /// Updates the delay-based window once per RTT.
    fn adjust(&mut self, ack: &Ack, window: &mut Window<'_>) -> ControlFlow<()> {
        if !self.round.ends_with(ack) {
            return ControlFlow::Continue(());
        }
        let CompoundSpec { alpha, k, gamma, zeta, .. } = self.spec;
        let diff = self.queueing.segments(Cwnd(*window.cwnd));
        if diff < gamma {
            self.step = (alpha * pow(*window.cwnd, k) - 1.0).max(0.0);
            return ControlFlow::Continue(());
        }
        self.step = 0.0;
        let closes = (zeta * diff).min(self.dwnd);
        self.dwnd -= closes;
        if closes == 0.0 {
            return ControlFlow::Continue(());
        }
        window.decrease(Cwnd(*window.cwnd - closes));
        ControlFlow::Break(())
    }

    /// Reno's segment, and the step.
    fn increase(&mut self, ack: &Ack, Cwnd(window): Cwnd) -> f64 {
        let counted = f64::from(ack.counted.0);
        let both = 1.0 + self.step;
        self.dwnd += counted * (both / window).min(1.0) * self.step / both;
        both
    }

    /// Reno's window is halved, and the delay-based one is set to the remainder of the total.
    fn reduce(&mut self, seen: &Congestion, Cwnd(window): Cwnd) -> f64 {
        let cwnd = (window - self.dwnd).max(0.0) / 2.0;
        let left = (1.0 - self.spec.beta) * window;
        self.dwnd = (left - cwnd).max(0.0);
        self.step = 0.0;
        self.round.begin(seen.now);
        left.max(cwnd)
    }

    fn restart(&mut self, now: Time) {
        (self.dwnd, self.step) = (0.0, 0.0);
        self.round.begin(now);
    }

    fn limit(&mut self, max: Cwnd) -> Cwnd {
        self.dwnd = self.dwnd.min((max.0 - 1.0).max(0.0));
        max
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::support::model_sender::ModelSender;
    use crate::primitives::units::TimeDelta;

    fn sender(window: f64) -> ModelSender<Compound> {
        let law = Compound::new(&CompoundSpec::default(), Start { window, ssthresh: 2.0, ..Start::default() });
        ModelSender::new(law).with_round_trip(100)
    }

    /// An acknowledgement with this RTT, one second later. Returns the total and the delay-based window.
    fn round(sender: &mut ModelSender<Compound>, milliseconds: u64) -> (f64, f64) {
        sender.round_trip = Some(TimeDelta::from_millis(milliseconds));
        sender.wait(1000);
        let window = sender.ack(1);
        (window, sender.law.memory.avoidance.dwnd)
    }

    #[test]
    fn with_an_empty_queue_a_window_adds_an_eighth_of_its_three_quarter_power() {
        // 256^(3/4) / 8 = 8, of them 1 from Reno.
        assert_eq!(round(&mut sender(256.0), 100), (256.0 + 8.0 / 256.0, 7.0 / 256.0));
        // 16^(3/4) / 8 = 1: up to this window it is Reno.
        assert_eq!(round(&mut sender(16.0), 100), (16.0625, 0.0));
    }

    #[test]
    fn a_queue_of_thirty_segments_shrinks_the_delay_based_window() {
        let mut sender = sender(256.0);
        (sender.law.window, sender.law.memory.avoidance.dwnd) = (400.0, 60.0);
        // 400 * 10 / 110 = 36.
        let (window, dwnd) = round(&mut sender, 110);
        assert!((window - (400.0 - 4000.0 / 110.0)).abs() < 1e-9 && (dwnd - (60.0 - 4000.0 / 110.0)).abs() < 1e-9);
        // The decrease is limited to the delay-based window; Reno's stays.
        (sender.law.window, sender.law.memory.avoidance.dwnd) = (400.0, 60.0);
        assert_eq!(round(&mut sender, 200), (340.0, 0.0));
        // From then on it is Reno.
        assert_eq!(round(&mut sender, 200), (340.0 + 1.0 / 340.0, 0.0));
    }

    #[test]
    fn a_loss_halves_both() {
        let mut sender = sender(400.0);
        sender.law.memory.avoidance.dwnd = 100.0;
        // From 300 and 100 to 150 and 50.
        assert_eq!((sender.lose(400), sender.law.memory.avoidance.dwnd), (200.0, 50.0));
        assert_eq!((sender.time_out(200), sender.law.memory.avoidance.dwnd), (1.0, 0.0));
    }
}
