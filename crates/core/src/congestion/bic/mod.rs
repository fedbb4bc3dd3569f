//! BIC: a binary search for the window, which halves the interval between the window after a loss and the one before it in steps of bounded
//! size. Beyond the old window the steps grow again (Xu, Harfoush and Rhee, Binary Increase Congestion Control for Fast, Long Distance
//! Networks, INFOCOM 2004, according to its pseudo-code).
//!
//! Differs: as in the pseudo-code, each acknowledgement moves the lower end of the interval, so only the upper end is stored. Where half of
//! the interval is less than S_min the step is S_min, as in the text, so that the search ends. A loss reduces the part of the window that
//! was in flight.

mod linux;

use super::support::editions::{Edition, Editions};
use super::support::reno_like::{Avoidance, RenoLike};
use super::support::{Abilities, Ack, Congestion, Start};
use crate::primitives::units::Cwnd;
use crate::settings::{Kind, PlainWords, SettingConflict, Settings, conflicts, member};
use serde::{Deserialize, Serialize};

const STEP: Kind = Kind::Segments { min: 0.0, max: 1e6 };

// All numbers are from the paper.
member! {
    /// Binary search for the window, with bounded steps.
    Bic = "bic", "Xu, Harfoush and Rhee, INFOCOM 2004";

    pub struct BicSpec {
        /// Maximum window increase per RTT, in segments (S_max).
        s_max: f64 = 32.0 => STEP,
        /// Minimum window increase per RTT, in segments (S_min).
        s_min: f64 = 0.01 => STEP,
        /// Fraction of the window removed by a loss.
        beta: f64 = 0.125 => Kind::Probability,
        /// Window below which the flow behaves as Reno.
        low_window: f64 = 14.0 => Kind::Segments { min: 0.0, max: 1e9 },
        /// Fast convergence: a flow that loses again before it has regained its previous maximum window releases bandwidth to others.
        fast_convergence: bool = true => Kind::Boolean,
        /// Rules of the window: the paper's, or Linux's, where a quarter of the distance is covered per RTT, and five RTTs add a segment
        /// near the old window, instead of `s_min`.
        edition: Edition = Edition::Document => Kind::Words(&Edition::WORDS),
    }
}

impl Settings for BicSpec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if self.s_min <= 0.0 => ["s_min"], "`s_min` of 0 never ends the search", "above 0";
            error if self.s_max < self.s_min => ["s_max"], "`s_max` is below `s_min`", format!("at least {}", self.s_min);
            error if self.beta <= 0.0 || self.beta >= 1.0 => ["beta"], "`beta` is out of range", "above 0, below 1";
        }
    }

    fn samples() -> Vec<BicSpec> {
        let usual = BicSpec::default();
        let quick = BicSpec { s_max: 200.0, s_min: 1.0, beta: 0.5, low_window: 2.0, fast_convergence: false, ..usual };
        vec![usual, quick, BicSpec { edition: Edition::Linux, ..quick }]
    }
}

pub type Bic = RenoLike<Editions<BicLaw, linux::Linux>>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BicLaw {
    spec: BicSpec,
    stage: Stage,
}

/// In segments, with the names of the paper.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Stage {
    /// Up to the window before the last reduction.
    Search { max_win: f64 },
    /// Beyond that window: steps that double each RTT up to S_max. The present step ends at `ss_target`.
    SlowStart { ss_cwnd: f64, ss_target: f64 },
}

impl Bic {
    pub(super) fn new(spec: &BicSpec, start: Start) -> Bic {
        let rules = match spec.edition {
            Edition::Document => Editions::Document(BicLaw { spec: *spec, stage: Stage::Search { max_win: 0.0 } }),
            Edition::Linux => Editions::Linux(linux::Linux::new(spec, start.jiffy)),
        };
        RenoLike::of(rules, start)
    }
}

impl BicLaw {
    /// The largest window known to be too large, if any.
    fn max_win(&self) -> Option<f64> {
        if let Stage::Search { max_win } = self.stage { Some(max_win) } else { None }
    }
}

impl Avoidance for BicLaw {
    const ABILITIES: Abilities = Abilities { quantities: &["max_win_packets"], ..Abilities::NONE };

    fn quantity(&self, _index: usize) -> f64 {
        self.max_win().unwrap_or(f64::NAN)
    }

    fn increase(&mut self, _: &Ack, Cwnd(window): Cwnd) -> f64 {
        let BicSpec { s_max, s_min, low_window, .. } = self.spec;
        if window < low_window {
            return 1.0;
        }
        match &mut self.stage {
            Stage::Search { max_win } if window < *max_win => ((*max_win - window) / 2.0).max(s_min).min(s_max),
            Stage::Search { .. } => {
                let step = s_max.min(1.0);
                self.stage = Stage::SlowStart { ss_cwnd: step, ss_target: window + step };
                step
            }
            Stage::SlowStart { ss_cwnd, ss_target } => {
                if window >= *ss_target {
                    *ss_cwnd = (2.0 * *ss_cwnd).min(s_max);
                    *ss_target = window + *ss_cwnd;
                }
                *ss_cwnd
            }
        }
    }

    fn reduce(&mut self, _: &Congestion, Cwnd(window): Cwnd) -> f64 {
        let BicSpec { beta, low_window, fast_convergence, .. } = self.spec;
        if window < low_window {
            return window / 2.0;
        }
        let left = (1.0 - beta) * window;
        let gives_way = fast_convergence && self.max_win().is_some_and(|before| window < before);
        self.stage = Stage::Search { max_win: if gives_way { (window + left) / 2.0 } else { window } };
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Controller;
    use crate::congestion::support::model_sender::ModelSender;
    use crate::primitives::units::Time;

    fn sender(window: f64) -> ModelSender<Bic> {
        ModelSender::new(Bic::new(&BicSpec::default(), Start { window, ssthresh: 2.0, ..Start::default() }))
    }

    /// The window after one RTT in which all of it is acknowledged.
    fn round(sender: &mut ModelSender<Bic>) -> f64 {
        (0..sender.law.window().0 as u32).map(|_| sender.ack(1)).last().unwrap_or_default()
    }

    #[test]
    fn below_the_low_window_it_is_reno() {
        let mut sender = sender(10.0);
        assert_eq!((sender.ack(1), sender.lose(10)), (10.1, 5.05));
    }

    #[test]
    fn it_recovers_in_steps_of_s_max_and_then_by_half_of_the_distance() {
        let mut sender = sender(1600.0);
        assert_eq!((sender.lose(1600), sender.law.quantity(0, Time::ZERO)), (1400.0, 1600.0));
        // 200 segments are missing: steps of 32 until 64 are missing, less the percentage by which the window grows meanwhile.
        let windows: Vec<f64> = (0..4).map(|_| round(&mut sender)).collect();
        for (found, expected) in windows.iter().zip([1432.0, 1464.0, 1496.0, 1528.0]) {
            assert!((expected - 1.5..expected).contains(found), "{windows:?}");
        }
        // Each acknowledgement adds a part of half of the distance: e^(-1/2) of the distance remains.
        assert!((1600.0 - round(&mut sender) - 72.0 * 0.62).abs() < 2.0);
        // The distance at which steps equal S_min is 0.02 segments: 200 / e^(t/2) after five rounds.
        let rounds = (0..100).take_while(|_| 1600.0 - round(&mut sender) > 0.02).count();
        assert!((14..=16).contains(&rounds), "{rounds}");
    }

    #[test]
    fn beyond_the_old_window_the_steps_double_up_to_s_max() {
        let mut sender = sender(10_000.0);
        let windows: Vec<f64> = (0..8).map(|_| round(&mut sender)).collect();
        let steps: Vec<f64> = windows.windows(2).map(|pair| (pair[1] - pair[0]).round()).collect();
        assert_eq!(steps, [2.0, 4.0, 8.0, 16.0, 32.0, 32.0, 32.0]);
    }

    #[test]
    fn a_flow_that_loses_before_it_has_recovered_releases_bandwidth() {
        let mut sender = sender(1600.0);
        sender.lose(1600);
        // An eighth of 1400 is 175; half of it is released.
        assert_eq!((sender.lose(1400), sender.law.quantity(0, Time::ZERO)), (1225.0, 1312.5));
    }
}
