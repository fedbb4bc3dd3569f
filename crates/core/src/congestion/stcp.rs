//! Scalable TCP: the window grows by a hundredth per RTT and is reduced by an eighth at a loss, so that the time between losses does not
//! depend on its size (Kelly, Scalable TCP: Improving Performance in Highspeed Wide Area Networks, ACM CCR 33(2), 2003).
//!
//! Differs: a loss reduces the part of the window that was in flight.

use super::support::editions::{Edition, Editions, whole};
use super::support::reno_like::{Avoidance, RenoLike};
use super::support::segment_count::SegmentCount;
use super::support::{Ack, Congestion, Start};
use crate::primitives::units::Cwnd;
use crate::settings::{Kind, PlainWords, SettingConflict, Settings, conflicts, member};
use serde::{Deserialize, Serialize};

member! {
    /// Both the increase per RTT and the reduction are proportional to the window.
    Scalable = "stcp", "Kelly, ACM CCR 33(2), 2003";

    pub struct ScalableSpec {
        /// Window increase per acknowledged segment, in segments.
        a: f64 = 0.01 => Kind::Probability,
        /// Fraction of the window removed by a loss.
        b: f64 = 0.125 => Kind::Probability,
        /// Window up to which the flow behaves as Reno.
        lwnd: f64 = 16.0 => Kind::Segments { min: 0.0, max: 1e9 },
        /// Rules of the window: the paper's, or Linux's, in whole segments, where the increase is at least Reno's and `lwnd` is ignored.
        edition: Edition = Edition::Document => Kind::Words(&Edition::WORDS),
    }
}

impl Settings for ScalableSpec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if self.a <= 0.0 => ["a"], "`a` of 0 never opens the window", "above 0, at most 1";
            error if self.b <= 0.0 || self.b >= 1.0 => ["b"], "`b` is out of range", "above 0, below 1";
        }
    }

    fn samples() -> Vec<ScalableSpec> {
        let usual = ScalableSpec::default();
        vec![usual, ScalableSpec { a: 1.0, b: 0.9, lwnd: 0.0, ..usual }, ScalableSpec { edition: Edition::Linux, ..usual }]
    }
}

pub type Scalable = RenoLike<Editions<ScalableSpec, InWholeSegments>>;

impl Scalable {
    pub(super) fn new(spec: &ScalableSpec, start: Start) -> Scalable {
        let rules = match spec.edition {
            Edition::Document => Editions::Document(*spec),
            Edition::Linux => Editions::Linux(InWholeSegments { spec: *spec, growth: SegmentCount::default() }),
        };
        RenoLike::of(rules, start)
    }
}

impl Avoidance for ScalableSpec {
    fn increase(&mut self, _: &Ack, Cwnd(window): Cwnd) -> f64 {
        if window > self.lwnd { self.a * window } else { 1.0 }
    }

    fn reduce(&mut self, _: &Congestion, Cwnd(window): Cwnd) -> f64 {
        let share = if window > self.lwnd { self.b } else { 0.5 };
        (1.0 - share) * window
    }
}

/// Linux 6.12, by its windows in virtual time: 1/a acknowledged segments open the window by one, or a window of them if it is smaller.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InWholeSegments {
    spec: ScalableSpec,
    growth: SegmentCount,
}

impl Avoidance for InWholeSegments {
    fn grow(&mut self, _: &Ack, window: Cwnd, counted: f64) -> f64 {
        self.growth.per_segment = window.0.min((1.0 / self.spec.a).round());
        self.growth.grow(window, counted)
    }

    fn reduce(&mut self, _: &Congestion, Cwnd(window): Cwnd) -> f64 {
        self.growth.clear();
        let window = window.floor();
        window - (self.spec.b * window).floor()
    }

    fn limit(&mut self, max: Cwnd) -> Cwnd {
        whole(max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::support::model_sender::ModelSender;

    fn sender(window: f64) -> ModelSender<Scalable> {
        ModelSender::new(Scalable::new(&ScalableSpec::default(), Start { window, ssthresh: 2.0, ..Start::default() }))
    }

    #[test]
    fn for_any_window_a_segment_opens_it_by_a_hundredth_and_a_loss_removes_an_eighth() {
        for window in [32.0, 800.0] {
            let mut sender = sender(window);
            assert_eq!(sender.ack(1), window + 0.01);
            assert_eq!(sender.lose(window as u32), 0.875 * (window + 0.01));
        }
    }

    #[test]
    fn up_to_sixteen_segments_it_is_reno() {
        let mut sender = sender(16.0);
        assert_eq!(sender.ack(1), 16.0625);
        assert_eq!(self::sender(16.0).lose(16), 8.0);
    }

    #[test]
    fn in_linux_a_hundred_segments_or_a_smaller_window_open_it_by_one() {
        for (window, segments, left) in [(64.0, 64, 57.0), (135.0, 100, 119.0)] {
            let spec = ScalableSpec { edition: Edition::Linux, ..ScalableSpec::default() };
            let mut sender = ModelSender::new(Scalable::new(&spec, Start { window, ssthresh: 2.0, ..Start::default() }));
            let grown = (1..200).find(|_| sender.ack(1) > window);
            assert_eq!((grown, sender.law.window), (Some(segments), window + 1.0));
            // 65 - 8, and 136 - 17.
            assert_eq!(sender.lose(window as u32 + 1), left);
        }
    }
}
