//! Data Center TCP: marks reduce the window in proportion to the fraction of marked segments, so that a low threshold keeps queues short
//! without emptying them (RFC 8257).
//!
//! Differs: the sender receives an accurate count of marked packets, as in RFC 9768, instead of deriving it from the echoes of a receiver
//! according to section 3.2 (`ecn_echo = "rfc8257"`, which the preset has, decides when acknowledgements leave); and it counts segments
//! where the RFC counts bytes. The reduction itself occurs once per window, with the echo,
//! as in section 3.3, and keeps at least two segments, as in Linux, because a single one would wait for the delayed acknowledgement.
//! Acknowledgements with the echo do not open the window (RFC 3168 section 6.1.2); with `ecn_echo = "rfc3168"`, the default
//! but for the preset `linux/dctcp`, it lasts until the receiver is notified of the reduction. Analytic models assume growth in every RTT; where most acknowledgements carry a mark, the window is about half of their result.
//!
//! Traffic in both directions compresses acknowledgements (Zhang, Shenker and Clark, SIGCOMM 1991), so queues run empty and flows keep different
//! shares: four flows in each direction of a link of 100 Mbit/s (RTT 1 ms, threshold 20 packets, five runs) use 93 % of it with a Jain index of
//! 0.82, as do those of Linux 6.18 with this law as a BPF program (93 %, 0.83). With a threshold of 65 packets it is 95 % and 0.82 (Linux 95 %,
//! 0.74, between 0.37 and 0.98). In one direction, simulated flows use all of the link, with an index of 1.

use super::cubic::Steps;
use super::reno::whole_windows;
use super::support::reno_like::{Avoidance, RenoLike};
use super::support::window::Window;
use super::support::{Abilities, Ack, Cause, Congestion, Start, Subscriptions};
use crate::primitives::units::{Cwnd, Segments};
use crate::settings::{Kind, PlainWords, SettingConflict, Settings, conflicts, member};
use serde::{Deserialize, Serialize};

// RFC 8257 sections 3.3 and 4.2.
member! {
    /// Reduces the window in proportion to the fraction of marked segments. Requires `ecn` and queues that mark, such as `threshold`.
    Dctcp = "dctcp", "RFC 8257";

    pub struct DctcpSpec {
        /// Weight of the newest window in the estimate of the marked fraction (g).
        gain: f64 = 0.0625 => Kind::Probability,
        /// Initial estimate of the marked fraction (DCTCP.Alpha).
        initial_alpha: f64 = 1.0 => Kind::Probability,
        /// Granularity of the window: real numbers, or whole segments, as in Linux, where a reduction is rounded down, the estimate is in parts
        /// of 1024, and an observation ends with the acknowledgement of WindowEnd instead of the one after it.
        steps: Steps = Steps::Fractions => Kind::Words(&Steps::WORDS),
    }
}

/// Parts of the estimate with whole segments (DCTCP_MAX_ALPHA).
const WHOLE: f64 = 1024.0;

impl Settings for DctcpSpec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if self.gain <= 0.0 => ["gain"], "`gain` of 0 never updates the estimate", "above 0, at most 1";
        }
    }

    fn samples() -> Vec<DctcpSpec> {
        let whole = DctcpSpec { steps: Steps::WholeSegments, ..DctcpSpec::default() };
        vec![DctcpSpec::default(), DctcpSpec { gain: 0.5, initial_alpha: 0.0, ..whole }, whole]
    }
}

pub type Dctcp = RenoLike<DctcpLaw>;

/// In segments, with the names of the RFC.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DctcpLaw {
    alpha: f64,
    g: f64,
    steps: Steps,
    /// Segments acknowledged, where the RFC has SND.UNA.
    acked: u64,
    /// The observation window ends when this many are acknowledged.
    window_end: u64,
    acked_in_window: u32,
    marked_in_window: u32,
}

impl Dctcp {
    pub(super) fn new(spec: &DctcpSpec, start: Start) -> Dctcp {
        let law = DctcpLaw {
            alpha: spec.initial_alpha,
            g: spec.gain,
            steps: spec.steps,
            acked: 0,
            window_end: 0,
            acked_in_window: 0,
            marked_in_window: 0,
        };
        RenoLike::of(law, start)
    }
}

impl DctcpLaw {
    /// Section 3.3, steps 1 to 9.
    fn count(&mut self, ack: &Ack) {
        let sent = self.acked + u64::from(ack.in_flight.0);
        self.acked += u64::from(ack.acked.0);
        self.acked_in_window = self.acked_in_window.saturating_add(ack.acked.0);
        self.marked_in_window = self.marked_in_window.saturating_add(ack.signal.marks);
        let is_within = match self.steps {
            Steps::Fractions => self.acked <= self.window_end,
            Steps::WholeSegments => self.acked < self.window_end,
        };
        if is_within || self.acked_in_window == 0 {
            return;
        }
        let share = (f64::from(self.marked_in_window) / f64::from(self.acked_in_window)).min(1.0);
        self.alpha = match self.steps {
            Steps::Fractions => self.alpha + self.g * (share - self.alpha),
            Steps::WholeSegments => self.whole_alpha(share),
        };
        (self.acked_in_window, self.marked_in_window) = (0, 0);
        self.window_end = sent;
    }
}

impl DctcpLaw {
    /// The estimate in whole parts; it reaches 0.
    fn whole_alpha(&self, share: f64) -> f64 {
        let alpha = (self.alpha * WHOLE).round();
        let less = (alpha * self.g).floor();
        let left = if less == 0.0 { 0.0 } else { alpha - less };
        (left + (share * WHOLE * self.g).floor()).min(WHOLE) / WHOLE
    }

    /// The window that a mark leaves.
    fn kept(&self, Cwnd(window): Cwnd) -> f64 {
        match self.steps {
            Steps::Fractions => window * (1.0 - self.alpha / 2.0),
            Steps::WholeSegments => window.floor() - (window.floor() * self.alpha / 2.0).floor(),
        }
    }
}

impl Avoidance for DctcpLaw {
    const ABILITIES: Abilities = Abilities {
        requires_ecn: true,
        quantities: &["alpha"],
        subscriptions: Subscriptions { marks: true, ..Subscriptions::NONE },
        ..Abilities::NONE
    };

    fn quantity(&self, _index: usize) -> f64 {
        self.alpha
    }

    #[inline]
    fn observe(&mut self, ack: &Ack) {
        self.count(ack);
    }

    fn grow(&mut self, _: &Ack, Cwnd(window): Cwnd, counted: f64) -> f64 {
        match self.steps {
            Steps::Fractions => window + counted / window,
            Steps::WholeSegments => whole_windows(Cwnd(window), counted),
        }
    }

    /// A loss halves the window (section 3.5).
    fn respond(&mut self, seen: &Congestion, window: &mut Window<'_>) {
        match seen.cause {
            Cause::Mark => {
                *window.cwnd = self.kept(Cwnd(*window.cwnd)).max(2.0).min(*window.cwnd);
                window.end_slow_start();
            }
            Cause::Loss => window.reduce_to(Cwnd((f64::from(seen.in_flight.0) / 2.0).floor()), Segments(2)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Controller;
    use crate::congestion::support::model_sender::ModelSender;
    use crate::primitives::signal::Signal;

    fn sender(window: f64) -> ModelSender<Dctcp> {
        let start = Start { window, ssthresh: 2.0, ..Start::default() };
        ModelSender::new(Dctcp::new(&DctcpSpec::default(), start))
    }

    /// Acknowledgements of one segment each, with this many in flight; the first `marked` of them carry a mark.
    fn acks(sender: &mut ModelSender<Dctcp>, count: u32, marked: u32, in_flight: u32) {
        for number in 0..count {
            let signal = Signal { marks: u32::from(number < marked), ..Signal::default() };
            sender.law.on_ack(&Ack {
                signal,
                in_flight: Segments(in_flight),
                window_validated: false,
                ..Ack::of_one(sender.now)
            });
        }
    }

    #[test]
    fn alpha_moves_by_a_sixteenth_of_the_difference_once_per_window() {
        let mut sender = sender(10.0);
        // The first acknowledgement is beyond WindowEnd, which is SND.UNA at the start: 1 - 1/16.
        acks(&mut sender, 1, 0, 10);
        assert_eq!(sender.law.memory.avoidance.alpha, 0.9375);
        // Ten were in flight then; nine more acknowledgements complete them, and the next is beyond: four of ten are marked.
        acks(&mut sender, 9, 4, 10);
        assert_eq!(sender.law.memory.avoidance.alpha, 0.9375);
        acks(&mut sender, 1, 0, 10);
        assert_eq!(sender.law.memory.avoidance.alpha, 0.9375 + 0.0625 * (0.4 - 0.9375));
    }

    /// Linux 6.12.117 keeps 8 of 15 segments at the first mark, so that every other acknowledgement of the reduction sends a segment, from the
    /// second on.
    #[test]
    fn with_whole_segments_a_reduction_is_rounded_down_and_the_estimate_reaches_zero() {
        let spec = DctcpSpec { steps: Steps::WholeSegments, ..DctcpSpec::default() };
        let mut sender = ModelSender::new(Dctcp::new(&spec, Start { window: 15.0, ssthresh: 20.0, ..Start::default() }));
        assert_eq!((sender.mark(15), sender.law.ssthresh().0), (8.0, 8.0));
        // 1024 - 64 after one unmarked window, and then (960 - 60) + 64 / 4 with a quarter of marks.
        let law = &mut sender.law.memory.avoidance;
        law.alpha = law.whole_alpha(0.0);
        law.alpha = law.whole_alpha(0.25);
        assert_eq!(law.alpha * WHOLE, 916.0);
        law.alpha = 15.0 / WHOLE;
        assert_eq!([law.whole_alpha(0.0), law.whole_alpha(1.0) * WHOLE], [0.0, 64.0]);
    }

    #[test]
    fn a_mark_removes_half_of_alpha_and_a_loss_one_half() {
        let mut sender = sender(40.0);
        sender.law.memory.avoidance.alpha = 0.25;
        assert_eq!((sender.mark(40), sender.law.ssthresh().0), (35.0, 35.0));
        assert_eq!((sender.lose(35), sender.law.ssthresh().0), (17.0, 17.0));
        assert_eq!((sender.time_out(17), sender.law.ssthresh().0), (1.0, 8.0));
        assert_eq!((sender.time_out_again(1), sender.law.ssthresh().0), (1.0, 8.0));
    }

    #[test]
    fn without_marks_alpha_decays_and_growth_is_that_of_reno() {
        let mut sender = sender(20.0);
        sender.in_flight = 20;
        for _ in 0..16 {
            acks(&mut sender, 21, 0, 20);
        }
        assert!(sender.law.memory.avoidance.alpha < 0.37, "{}", sender.law.memory.avoidance.alpha);
        assert_eq!(sender.ack(1), 20.0 + 1.0 / 20.0);
    }
}
