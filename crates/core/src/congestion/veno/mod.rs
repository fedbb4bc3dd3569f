//! Veno: Reno combined with Vegas's estimate of queued segments, which shows whether the network is congested. If not, a loss was random
//! and removes only a fifth; if so, the window opens half as fast (Fu and Liew, TCP Veno: TCP Enhancement for Transmission over Wireless
//! Access Networks, IEEE JSAC 21(2), 2003).
//!
//! Differs: in the congestive state every acknowledgement opens the window by half as much, whereas in the paper every other one opens it.
//! A loss reduces the part of the window that was in flight.

mod linux;

use super::support::editions::{Edition, Editions};
use super::support::queueing::Queueing;
use super::support::reno_like::{Avoidance, RenoLike};
use super::support::{Ack, Congestion, RoundTrip, Start};
use crate::primitives::units::{Cwnd, Time};
use crate::settings::{Kind, PlainWords, SEGMENTS_IN_QUEUES, Settings, member};
use serde::{Deserialize, Serialize};

member! {
    /// Reno, except that a loss without a queue removes a fifth of the window, and with a queue the window opens half as fast.
    Veno = "veno", "Fu and Liew, IEEE JSAC 21(2), 2003";

    pub struct VenoSpec {
        /// Number of queued segments from which the path counts as congested.
        beta: f64 = 3.0 => SEGMENTS_IN_QUEUES,
        /// Rules of the window: the paper's, or Linux's, in whole numbers.
        edition: Edition = Edition::Document => Kind::Words(&Edition::WORDS),
    }
}

impl Settings for VenoSpec {
    fn samples() -> Vec<VenoSpec> {
        let usual = VenoSpec::default();
        vec![usual, VenoSpec { beta: 0.0, ..usual }, VenoSpec { edition: Edition::Linux, ..usual }]
    }
}

pub type Veno = RenoLike<Editions<VenoLaw, linux::Linux>>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VenoLaw {
    spec: VenoSpec,
    /// BaseRTT since the last loss, and the smoothed RTT.
    queueing: Queueing,
}

impl Veno {
    pub(super) fn new(spec: &VenoSpec, start: Start) -> Veno {
        let rules = match spec.edition {
            Edition::Document => Editions::Document(VenoLaw { spec: *spec, queueing: Queueing::default() }),
            Edition::Linux => Editions::Linux(linux::Linux::new(spec)),
        };
        RenoLike::of(rules, start)
    }
}

impl VenoLaw {
    /// Compares N, the queued segments, with its threshold.
    fn is_congested(&self, window: Cwnd) -> bool {
        self.queueing.segments(window) >= self.spec.beta
    }
}

impl Avoidance for VenoLaw {
    fn measure(&mut self, measured: &RoundTrip) {
        self.queueing.measure(measured.sample);
        self.queueing.judge_by(measured.smoothed.unwrap_or(measured.sample));
    }

    fn increase(&mut self, _: &Ack, window: Cwnd) -> f64 {
        if self.is_congested(window) { 0.5 } else { 1.0 }
    }

    /// Each loss resets BaseRTT, because routes change.
    fn reduce(&mut self, _: &Congestion, window: Cwnd) -> f64 {
        let left = if self.is_congested(window) { 0.5 } else { 0.8 };
        self.queueing.forget_base();
        left * window.0
    }

    /// A timeout resets BaseRTT as well.
    fn restart(&mut self, _: Time) {
        self.queueing.forget_base();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Controller;
    use crate::congestion::support::model_sender::ModelSender;

    /// With a window of 40, this RTT corresponds to 40 (1 - 100 / rtt) queued segments.
    fn sender(milliseconds: u64) -> ModelSender<Veno> {
        let law = Veno::new(&VenoSpec::default(), Start { window: 40.0, ssthresh: 2.0, ..Start::default() });
        let mut sender = ModelSender::new(law).with_round_trip(100);
        sender.measure(milliseconds);
        sender
    }

    #[test]
    fn without_a_queue_it_opens_like_reno_and_a_loss_removes_a_fifth() {
        // 40 * 5 / 105 = 1.9
        assert_eq!((sender(105).ack(1), sender(105).lose(40)), (40.025, 32.0));
    }

    #[test]
    fn with_three_queued_segments_it_opens_half_as_fast_and_a_loss_removes_half() {
        // 40 * 10 / 110 = 3.6
        assert_eq!((sender(110).ack(1), sender(110).lose(40)), (40.0125, 20.0));
    }

    #[test]
    fn a_timeout_is_classified_like_a_loss_and_resets_the_minimum_rtt() {
        let mut sender = sender(105);
        assert_eq!((sender.time_out(40), sender.law.ssthresh().0), (1.0, 32.0));
        assert_eq!(sender.law.memory.avoidance.document().queueing.base(), None);
    }
}
