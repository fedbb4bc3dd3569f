//! Westwood+: Westwood with one bandwidth sample per RTT, the data delivered in it divided by its duration, so that bursts of
//! acknowledgements do not raise the estimate (Grieco and Mascolo, Performance Evaluation and Comparison of Westwood+, New Reno and Vegas
//! TCP Congestion Control, ACM CCR 34(2), 2004).

mod linux;

use super::support::editions::{Edition, Editions};
use super::support::reno_like::RenoLike;
use super::support::round::Round;
use super::support::westwood_like::{Bandwidth, Estimated};
use super::support::{Ack, Start};
use crate::primitives::units::{Segments, Time};
use crate::settings::{Kind, PlainWords, SettingConflict, Settings, conflicts, member};
use serde::{Deserialize, Serialize};

member! {
    /// A loss sets the window to the estimated bandwidth times the minimum RTT. The bandwidth is sampled once per RTT.
    WestwoodPlus = "westwood_plus", "Grieco and Mascolo, ACM CCR 34(2), 2004";

    pub struct WestwoodPlusSpec {
        /// Weight of the previous estimate in the bandwidth filter.
        alpha: f64 = 0.9 => Kind::Probability,
        /// Rules of the window: the paper's, or Linux's, with samples of at least 50 ms, two filters with a weight of 7/8 instead of
        /// `alpha`, and a window that is halved until recovery ends.
        edition: Edition = Edition::Document => Kind::Words(&Edition::WORDS),
    }
}

impl Settings for WestwoodPlusSpec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if self.alpha >= 1.0 => ["alpha"], "`alpha` of 1 never updates the estimate", "below 1";
        }
    }

    fn samples() -> Vec<WestwoodPlusSpec> {
        let usual = WestwoodPlusSpec::default();
        vec![usual, WestwoodPlusSpec { alpha: 0.0, ..usual }, WestwoodPlusSpec { edition: Edition::Linux, ..usual }]
    }
}

pub type WestwoodPlus = RenoLike<Editions<Estimated<OncePerRound>, linux::Linux>>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OncePerRound {
    alpha: f64,
    round: Round,
    /// Segments since the last sample.
    delivered: u32,
    since: Option<Time>,
    filtered: Option<f64>,
}

impl WestwoodPlus {
    pub(super) fn new(spec: &WestwoodPlusSpec, start: Start) -> WestwoodPlus {
        let filter = OncePerRound { alpha: spec.alpha, round: Round::default(), delivered: 0, since: None, filtered: None };
        let rules = match spec.edition {
            Edition::Document => Editions::Document(Estimated::by(filter)),
            Edition::Linux => Editions::Linux(linux::Linux::new(start.jiffy)),
        };
        RenoLike::of(rules, start)
    }
}

impl Bandwidth for OncePerRound {
    fn deliver(&mut self, Segments(delivered): Segments, ack: &Ack) {
        let Some(since) = self.since else {
            // The first acknowledgement does not end an interval.
            self.since = Some(ack.now);
            self.round.begin(ack.now);
            return;
        };
        self.delivered = self.delivered.saturating_add(delivered);
        if !self.round.ends_with(ack) || ack.now == since {
            return;
        }
        let sample = f64::from(self.delivered) / ack.now.since(since).seconds();
        self.filtered = Some(self.filtered.map_or(sample, |before| self.alpha * before + (1.0 - self.alpha) * sample));
        (self.delivered, self.since) = (0, Some(ack.now));
    }

    fn estimate(&self) -> Option<f64> {
        self.filtered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::units::TimeDelta;

    #[test]
    fn an_rtt_provides_one_sample_however_its_acknowledgements_are_spread() {
        let mut filter = OncePerRound { alpha: 0.9, round: Round::default(), delivered: 0, since: None, filtered: None };
        let mut process_ack = |milliseconds: u64, acked: u32| {
            let rtt = Some(TimeDelta::from_millis(100));
            let ack = Ack { rtt, ..Ack::of_one(Time(TimeDelta::from_millis(milliseconds).0)) };
            filter.deliver(Segments(acked), &ack);
            filter.estimate()
        };
        assert_eq!(
            (process_ack(0, 1), process_ack(50, 4), process_ack(51, 4), process_ack(100, 2)),
            (None, None, None, Some(100.0))
        );
        // 20 in 100 ms, in one burst.
        assert_eq!(
            (process_ack(199, 19), process_ack(200, 1)),
            (Some(100.0), Some(0.9 * 100.0 + 0.1 * 200.0).map(|rate: f64| rate))
        );
    }
}
