//! Common part of Westwood and Westwood+: a loss sets the window to the estimated bandwidth times the minimum RTT. They differ in the
//! bandwidth estimate.

use super::abilities::{Abilities, Subscriptions};
use super::controller::Start;
use super::events::{Ack, Congestion, RoundTrip};
use super::reno_like::{Avoidance, RenoLike};
use crate::primitives::units::{Cwnd, Segments, TimeDelta};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// A bandwidth estimate from acknowledgements.
pub trait Bandwidth: Clone + Debug + Serialize + DeserializeOwned {
    /// Adds the segments delivered according to an acknowledgement that has just arrived.
    fn deliver(&mut self, delivered: Segments, ack: &Ack);

    /// Segments per second (BWE); `None` before the first sample.
    fn estimate(&self) -> Option<f64>;
}

pub type WestwoodLike<B> = RenoLike<Estimated<B>>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Estimated<B> {
    bandwidth: B,
    acked: AckedCount,
    rtt_min: Option<TimeDelta>,
}

impl<B: Bandwidth> WestwoodLike<B> {
    pub(in crate::congestion) fn estimating(bandwidth: B, start: Start) -> WestwoodLike<B> {
        RenoLike::of(Estimated::by(bandwidth), start)
    }
}

/// AckedCount of section 2.3 of the paper of 2001.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct AckedCount {
    /// Segments counted for duplicates, before an acknowledgement of new data reports them again.
    accounted: u32,
}

impl AckedCount {
    /// A duplicate counts as one segment. An acknowledgement of several segments counts those that were not counted before, at least one; a
    /// delayed acknowledgement of two counts as two.
    pub fn delivered(&mut self, Segments(acked): Segments) -> u32 {
        match acked {
            0 => {
                self.accounted = self.accounted.saturating_add(1);
                1
            }
            1 => 1,
            _ if self.accounted >= acked => {
                self.accounted -= acked;
                1
            }
            _ => acked - std::mem::take(&mut self.accounted),
        }
    }
}

impl<B: Bandwidth> Estimated<B> {
    pub(in crate::congestion) fn by(bandwidth: B) -> Estimated<B> {
        Estimated { bandwidth, acked: AckedCount::default(), rtt_min: None }
    }

    /// BWE * RTTmin in segments.
    fn pipe(&self) -> Option<f64> {
        Some(self.bandwidth.estimate()? * self.rtt_min?.seconds())
    }
}

impl<B: Bandwidth> Avoidance for Estimated<B> {
    const ABILITIES: Abilities = Abilities {
        quantities: &["BWE (segments/s)", "RTT_min_s"],
        subscriptions: Subscriptions { other_acks: true, ..Subscriptions::NONE },
        ..Abilities::NONE
    };

    fn quantity(&self, index: usize) -> f64 {
        let quantity = if index == 0 { self.bandwidth.estimate() } else { self.rtt_min.map(TimeDelta::seconds) };
        quantity.unwrap_or(f64::NAN)
    }

    fn measure(&mut self, measured: &RoundTrip) {
        self.rtt_min = Some(self.rtt_min.map_or(measured.sample, |min| min.min(measured.sample)));
    }

    fn observe(&mut self, ack: &Ack) {
        let delivered = Segments(self.acked.delivered(ack.acked));
        self.bandwidth.deliver(delivered, ack);
    }

    /// Half, as in Reno, while no bandwidth is known.
    fn reduce(&mut self, _: &Congestion, Cwnd(window): Cwnd) -> f64 {
        self.pipe().unwrap_or(window / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::support::model_sender::ModelSender;

    /// A thousand segments per second, and the number of delivered segments.
    #[derive(Clone, Debug, Default, Serialize, Deserialize)]
    struct Known {
        delivered: u32,
        is_known: bool,
    }

    impl Bandwidth for Known {
        fn deliver(&mut self, Segments(delivered): Segments, _: &Ack) {
            self.delivered += delivered;
        }

        fn estimate(&self) -> Option<f64> {
            self.is_known.then_some(1000.0)
        }
    }

    fn sender(window: f64, is_known: bool) -> ModelSender<WestwoodLike<Known>> {
        let start = Start { window, ssthresh: 2.0, ..Start::default() };
        ModelSender::new(WestwoodLike::estimating(Known { is_known, ..Known::default() }, start))
    }

    #[test]
    fn a_loss_sets_the_window_to_the_bandwidth_times_the_minimum_rtt() {
        let mut sender = sender(80.0, true);
        // Half, because no RTT has been measured.
        assert_eq!(sender.lose(80), 40.0);
        sender.measure(70);
        sender.measure(30);
        sender.measure(50);
        assert_eq!((sender.lose(40), sender.law.memory.ssthresh), (30.0, 30.0));
        // A smaller window stays.
        sender.law.window = 20.0;
        assert_eq!((sender.lose(20), sender.law.memory.ssthresh), (20.0, 20.0));
        assert_eq!(self::sender(80.0, false).with_round_trip(30).lose(80), 40.0);
    }

    #[test]
    fn segments_counted_for_duplicates_are_not_counted_again() {
        let mut count = AckedCount::default();
        // Three duplicates; a partial acknowledgement of one, one of eleven with three already counted, and a delayed one.
        let counts = [0, 0, 0, 1, 11, 2, 0, 0, 0, 2].map(|acked| count.delivered(Segments(acked)));
        assert_eq!(counts, [1, 1, 1, 1, 8, 2, 1, 1, 1, 1]);
        assert_eq!(count.accounted, 1);
    }
}
