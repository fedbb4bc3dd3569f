//! Prague: DCTCP for the Internet, with packets identified as L4S. The sender responds to accurate counts of marks, grows by the unmarked
//! segments also while it reduces, paces, and after a number of RTTs grows and reduces as if its RTT were at least 25 ms, so that a short
//! path gives it little advantage over other flows (draft-briscoe-iccrg-prague-congestion-control-04, sections 2.3 and 2.4).
//!
//! Differs: it counts segments where the draft counts bytes. After a loss it behaves as Reno, also in its growth, where the draft has
//! CUBIC. It paces at one window per RTT, and in slow start at twice that rate; windows below two segments, and paths with a Classic queue
//! (RFC 9331 section 4.3), are not handled. During loss recovery, marks are counted without a response.

use super::support::reno_like::{Avoidance, Phase, RenoLike};
use super::support::window::Window;
use super::support::{Abilities, Ack, Cause, Congestion, RoundTrip, Start, Subscriptions};
use crate::primitives::units::{Bytes, Cwnd, Rate, Segments, Time, TimeDelta};
use crate::settings::{Kind, SettingConflict, Settings, conflicts, member};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

// Sections 2.3.2 and 2.4.4.
member! {
    /// For L4S queues: reduces the window in proportion to the fraction of marked segments, and paces. Requires `ecn` and a queue that
    /// marks, such as that of `dualpi2`.
    Prague = "prague", "draft-briscoe-iccrg-prague-congestion-control-04";

    pub struct PragueSpec {
        /// Weight of the newest round in the estimate of the marked fraction (g).
        gain: f64 = 0.0625 => Kind::Probability,
        /// Initial estimate of the marked fraction (alpha).
        initial_alpha: f64 = 1.0 => Kind::Probability,
        /// Minimum RTT that the flow emulates if its own is shorter (RTT_virt); 0 disables this.
        virtual_rtt: TimeDelta = TimeDelta::from_millis(25) => Kind::Duration { min: TimeDelta::ZERO },
        /// Number of RTTs after which a flow starts to emulate `virtual_rtt` (D).
        transition_rounds: u32 = 500 => Kind::Integer { min: 0, max: 1_000_000_000 },
    }
}

impl Settings for PragueSpec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if self.gain <= 0.0 => ["gain"], "`gain` of 0 never updates the estimate", "above 0, at most 1";
        }
    }

    fn samples() -> Vec<PragueSpec> {
        let usual = PragueSpec::default();
        vec![
            usual,
            PragueSpec { transition_rounds: 0, initial_alpha: 0.0, ..usual },
            PragueSpec { virtual_rtt: TimeDelta::ZERO, gain: 0.5, ..usual },
        ]
    }
}

pub type Prague = RenoLike<PragueLaw>;

/// In segments, with the names of the draft.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PragueLaw {
    spec: PragueSpec,
    /// A full packet, on the wire.
    packet: Bytes,
    alpha: f64,
    srtt: Option<TimeDelta>,
    acked: u64,
    /// Number of RTTs, and the acknowledged segments at the end of the present one.
    rounds: u32,
    round_end: u64,
    /// Round of the estimate of alpha.
    estimate: Round,
    acked_in_estimate: u32,
    marked_in_estimate: u32,
    /// Round since the last reduction.
    reduction: Round,
}

/// An RTT, either the flow's own or the virtual one.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Round {
    began: Time,
    /// The flow's own RTT is over when more than this is acknowledged.
    end: u64,
}

impl Prague {
    pub(super) fn new(spec: &PragueSpec, start: Start) -> Prague {
        let round = Round { began: Time::ZERO, end: 0 };
        let law = PragueLaw {
            spec: *spec,
            packet: start.packet,
            alpha: spec.initial_alpha,
            srtt: None,
            acked: 0,
            rounds: 0,
            round_end: 0,
            estimate: round,
            acked_in_estimate: 0,
            marked_in_estimate: 0,
            reduction: round,
        };
        RenoLike::of(law, start)
    }
}

impl PragueLaw {
    /// The flow's own RTT over the virtual one, where the latter is longer (section 2.4.4).
    fn shortness(&self) -> Option<f64> {
        let srtt = self.srtt.filter(|srtt| *srtt < self.spec.virtual_rtt && self.rounds >= self.spec.transition_rounds)?;
        Some(srtt.seconds() / self.spec.virtual_rtt.seconds())
    }

    fn is_over(&self, round: Round, now: Time) -> bool {
        match self.shortness() {
            Some(_) => now.since(round.began) >= self.spec.virtual_rtt,
            None => self.acked > round.end,
        }
    }

    /// A round that begins with this acknowledgement, which has been counted.
    fn round_from(&self, ack: &Ack) -> Round {
        Round { began: ack.now, end: self.acked + u64::from(ack.in_flight.0.saturating_sub(ack.acked.0)) }
    }

    /// Section 2.3.2.
    fn count(&mut self, ack: &Ack) {
        self.acked += u64::from(ack.acked.0);
        self.acked_in_estimate = self.acked_in_estimate.saturating_add(ack.acked.0);
        self.marked_in_estimate = self.marked_in_estimate.saturating_add(ack.signal.marks);
        if self.acked > self.round_end {
            self.rounds = self.rounds.saturating_add(1);
            self.round_end = self.round_from(ack).end;
        }
        if self.acked_in_estimate > 0 && self.is_over(self.estimate, ack.now) {
            let share = (f64::from(self.marked_in_estimate) / f64::from(self.acked_in_estimate)).min(1.0);
            self.alpha += self.spec.gain * (share - self.alpha);
            (self.acked_in_estimate, self.marked_in_estimate) = (0, 0);
            self.estimate = self.round_from(ack);
        }
    }
}

impl Avoidance for PragueLaw {
    const ABILITIES: Abilities = Abilities {
        is_l4s: true,
        requires_ecn: true,
        may_pace: true,
        quantities: &["alpha"],
        subscriptions: Subscriptions { marks: true, handles_marks: true, ..Subscriptions::NONE },
        ..Abilities::NONE
    };

    fn quantity(&self, _index: usize) -> f64 {
        self.alpha
    }

    fn pacing(&self, Cwnd(window): Cwnd, phase: Phase) -> Option<Rate> {
        let hastens = if phase == Phase::SlowStart { 2.0 } else { 1.0 };
        let bits = hastens * window * 8.0 * self.packet.0 as f64 / self.srtt?.seconds();
        Some(Rate((bits as u64).max(1)))
    }

    fn measure(&mut self, measured: &RoundTrip) {
        self.srtt = measured.smoothed.filter(|smoothed| *smoothed > TimeDelta::ZERO).or(self.srtt);
    }

    fn observe(&mut self, ack: &Ack) {
        self.count(ack);
    }

    /// The reduction of section 2.4: once per RTT, for the first mark after its end.
    fn adjust(&mut self, ack: &Ack, window: &mut Window<'_>) -> ControlFlow<()> {
        if ack.signal.marks > 0 && self.is_over(self.reduction, ack.now) {
            let kept = *window.cwnd * (1.0 - self.alpha / 2.0);
            *window.cwnd = kept.max(2.0).min(*window.cwnd);
            *window.ssthresh = window.cwnd.max(2.0);
            self.reduction = self.round_from(ack);
        }
        ControlFlow::Continue(())
    }

    /// Unmarked segments open the window, also on acknowledgements that report marks (section 2.4).
    fn grow(&mut self, ack: &Ack, Cwnd(window): Cwnd, counted: f64) -> f64 {
        let unmarked = (counted - f64::from(ack.signal.marks)).max(0.0);
        let shortness = self.shortness().unwrap_or(1.0);
        window + unmarked * shortness * shortness / window
    }

    /// Marks from the same time as a loss carry no additional information.
    fn respond(&mut self, seen: &Congestion, window: &mut Window<'_>) {
        if seen.cause == Cause::Loss {
            window.reduce_to(Cwnd((f64::from(seen.in_flight.0) / 2.0).floor()), Segments(2));
            self.reduction = Round { began: seen.now, end: self.acked + u64::from(seen.in_flight.0) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Controller;
    use crate::congestion::support::model_sender::ModelSender;
    use crate::primitives::signal::Signal;

    const MS: TimeDelta = TimeDelta::from_millis(1);

    fn near(found: f64, by_hand: f64) {
        assert!((found - by_hand).abs() < 1e-9, "{found}, not {by_hand}");
    }

    /// In congestion avoidance, with this window and estimate, after an RTT of this many milliseconds.
    fn sender(window: f64, alpha: f64, milliseconds: u64) -> ModelSender<Prague> {
        let start = Start { window, ssthresh: 2.0, packet: Bytes(1000), ..Start::default() };
        let spec = PragueSpec { initial_alpha: alpha, transition_rounds: 0, ..PragueSpec::default() };
        let mut sender = ModelSender::new(Prague::new(&spec, start)).with_round_trip(milliseconds);
        (sender.law.memory.avoidance.reduction.end, sender.law.memory.avoidance.estimate.end) = (0, u64::MAX);
        sender
    }

    /// An acknowledgement of a segment, marked or not, with this many in flight. Returns the window.
    fn ack(sender: &mut ModelSender<Prague>, marks: u32, in_flight: u32) -> f64 {
        let signal = Signal { marks, ..Signal::default() };
        sender.law.on_ack(&Ack { signal, in_flight: Segments(in_flight), ..Ack::of_one(sender.now) });
        sender.law.window
    }

    #[test]
    fn a_mark_removes_half_of_alpha_once_per_rtt_and_unmarked_segments_add() {
        let mut sender = sender(40.0, 0.2, 30);
        near(ack(&mut sender, 1, 40), 36.0);
        // Some of the 39 other segments of the RTT are marked, too: they add nothing, the others 1 / window each.
        near(ack(&mut sender, 1, 39), 36.0);
        near(ack(&mut sender, 0, 38), 36.0 + 1.0 / 36.0);
        let before = (0..37).map(|_| ack(&mut sender, 0, 36)).last().unwrap();
        // All data outstanding at the reduction is acknowledged: the next mark takes effect.
        near(ack(&mut sender, 1, 36), before * 0.9);
    }

    #[test]
    fn alpha_moves_by_a_sixteenth_of_the_difference_once_per_rtt() {
        let mut sender = sender(10.0, 0.5, 30);
        sender.law.memory.avoidance.estimate.end = 0;
        ack(&mut sender, 0, 10);
        near(sender.law.memory.avoidance.alpha, 0.5 * 15.0 / 16.0);
        // Nine of ten were left: four of ten are marked when the tenth arrives.
        for number in 0..10 {
            near(sender.law.memory.avoidance.alpha, 0.46875);
            ack(&mut sender, u32::from(number < 4), 10);
        }
        near(sender.law.memory.avoidance.alpha, 0.46875 + 0.0625 * (0.4 - 0.46875));
    }

    #[test]
    fn on_a_short_path_growth_scales_with_the_square_of_the_rtt_over_25_ms_and_it_reduces_once_per_25_ms() {
        // 5 ms: a 25th of a segment per window.
        let mut sender = sender(10.0, 0.2, 5);
        near(ack(&mut sender, 0, 10), 10.0 + 0.04 / 10.0);
        // 25 ms later one of two was marked: alpha is 0.2 + (0.5 - 0.2) / 16, and half of it is removed.
        sender.now += TimeDelta(25 * MS.0);
        near(ack(&mut sender, 1, 10), 10.004 * (1.0 - 0.21875 / 2.0));
        let window = sender.law.window;
        // It does not reduce again before 25 ms are over, although several windows have passed. All segments were marked by then.
        sender.now += TimeDelta(24 * MS.0);
        (0..20).for_each(|_| near(ack(&mut sender, 1, 10), window));
        sender.now += MS;
        let alpha = 0.21875 + (1.0 - 0.21875) / 16.0;
        near(ack(&mut sender, 1, 10), window * (1.0 - alpha / 2.0));
    }

    #[test]
    fn for_its_first_rtts_it_uses_its_own_rtt() {
        let mut sender = sender(10.0, 0.2, 5);
        sender.law.memory.avoidance.spec.transition_rounds = 3;
        // One segment each.
        let grown: Vec<f64> = (0..4).map(|_| -sender.law.window + ack(&mut sender, 0, 1)).collect();
        near(grown[0], 0.1);
        assert!(grown[1] > 0.09 && grown[2] < 0.005 && grown[3] < 0.005, "{grown:?}");
    }

    #[test]
    fn it_paces_one_window_per_rtt_and_two_in_slow_start() {
        let mut sender = sender(40.0, 0.2, 20);
        // 40 segments of 1000 bytes in 20 ms.
        assert_eq!(sender.law.pacing(), Some(Rate(16_000_000)));
        sender.law.memory.ssthresh = 50.0;
        assert_eq!(sender.law.pacing(), Some(Rate(32_000_000)));
    }

    #[test]
    fn a_loss_halves_as_in_reno_and_marks_of_the_same_window_have_no_effect() {
        let mut sender = sender(40.0, 0.2, 30);
        assert_eq!((sender.lose(40), sender.law.ssthresh().0), (20.0, 20.0));
        assert_eq!(ack(&mut sender, 1, 40), 20.0);
        assert_eq!((sender.time_out(20), sender.law.ssthresh().0), (1.0, 10.0));
    }

    #[test]
    fn slow_start_ends_at_the_first_mark() {
        let start = Start { window: 10.0, ..Start::default() };
        let mut sender = ModelSender::new(Prague::new(&PragueSpec::default(), start)).with_round_trip(30);
        assert_eq!(ack(&mut sender, 0, 10), 11.0);
        // One segment of the second RTT: alpha is 1 - 1/16 since the first acknowledgement.
        (0..9).for_each(|_| {
            ack(&mut sender, 0, 10);
        });
        let window = sender.law.window;
        let alpha = sender.law.memory.avoidance.alpha;
        near(ack(&mut sender, 1, 10), window * (1.0 - sender.law.memory.avoidance.alpha / 2.0));
        assert!(alpha > 0.85 && sender.law.ssthresh().0 == sender.law.window().0);
    }
}
