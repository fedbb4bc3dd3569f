//! HighSpeed TCP: a larger window grows faster and is reduced less by a loss, so that a large window does not require an extremely low loss
//! rate; up to `low_window` it is Reno (RFC 3649).
//!
//! Differs: a loss reduces the data in flight (RFC 5681 equation (4)) where the RFC reduces the window, which may not have been used.
//! Limited slow start (RFC 3742) is a separate document and is not implemented.

mod linux;

use super::support::editions::{Edition, Editions};
use super::support::reno_like::{Avoidance, RenoLike};
use super::support::window::Window;
use super::support::{Ack, Congestion, Start};
use crate::primitives::math::{ln, pow};
use crate::primitives::units::{Cwnd, Segments};
use crate::settings::{Kind, PlainWords, SettingConflict, Settings, conflicts, member};

const WINDOWS: Kind = Kind::Segments { min: 2.0, max: 1e9 };

// All numbers are the defaults of the RFC.
member! {
    /// The window grows faster and is reduced less the larger it is.
    HighSpeed = "hstcp", "RFC 3649";

    pub struct HighSpeedSpec {
        /// Window up to which the flow behaves as Reno (Low_Window).
        low_window: f64 = 38.0 => WINDOWS,
        /// Loss rate at which the mean window is `low_window` (Low_P).
        low_p: f64 = 1e-3 => Kind::Probability,
        /// Mean window at a loss rate of `high_p` (High_Window).
        high_window: f64 = 83_000.0 => WINDOWS,
        /// Loss rate at which the mean window is `high_window` (High_P).
        high_p: f64 = 1e-7 => Kind::Probability,
        /// Fraction of the window removed by a loss at `high_window` (High_Decrease).
        high_decrease: f64 = 0.1 => Kind::Probability,
        /// Rules of the window: the RFC's, or Linux's, where increases are per acknowledgement and in the steps of appendix B.
        edition: Edition = Edition::Document => Kind::Words(&Edition::WORDS),
    }
}

impl Settings for HighSpeedSpec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if self.low_window >= self.high_window => ["low_window", "high_window"],
                "`low_window` is not below `high_window`", "`low_window` below `high_window`";
            error if self.high_p <= 0.0 || self.high_p >= self.low_p => ["high_p", "low_p"],
                "`high_p` is 0 or not below `low_p`", "`high_p` above 0 and below `low_p`";
            error if self.high_decrease <= 0.0 || self.high_decrease > 0.5 => ["high_decrease"],
                "`high_decrease` is out of range", "above 0, at most 0.5, which is Reno's";
        }
    }

    fn samples() -> Vec<HighSpeedSpec> {
        let usual = HighSpeedSpec::default();
        let low = HighSpeedSpec { low_window: 4.0, high_window: 60.0, ..usual };
        vec![usual, low, HighSpeedSpec { edition: Edition::Linux, ..low }]
    }
}

pub type HighSpeed = RenoLike<Editions<HighSpeedSpec, linux::Linux>>;

impl HighSpeed {
    pub(super) fn new(spec: &HighSpeedSpec, start: Start) -> HighSpeed {
        let rules = match spec.edition {
            Edition::Document => Editions::Document(*spec),
            Edition::Linux => Editions::Linux(linux::Linux::new(spec)),
        };
        RenoLike::of(rules, start)
    }
}

impl HighSpeedSpec {
    /// Position of a window between the low and the high window on a logarithmic scale: 0 to 1 between them.
    fn place(&self, window: Cwnd) -> f64 {
        ln(window.0 / self.low_window) / ln(self.high_window / self.low_window)
    }

    /// b(w), the fraction removed by a loss.
    fn decrease(&self, window: Cwnd) -> f64 {
        let place = self.place(Cwnd(window.0.clamp(self.low_window, self.high_window)));
        0.5 + (self.high_decrease - 0.5) * place
    }

    /// a(w), the increase per RTT in segments that balances b(w) at the loss rate p(w) of the response function.
    fn per_window(&self, window: Cwnd) -> f64 {
        if window.0 <= self.low_window {
            return 1.0;
        }
        let loss = self.low_p * pow(self.high_p / self.low_p, self.place(window));
        let decrease = self.decrease(window);
        (window.0 * window.0 * loss * 2.0 * decrease / (2.0 - decrease)).max(1.0)
    }
}

impl Avoidance for HighSpeedSpec {
    fn grow(&mut self, _: &Ack, Cwnd(window): Cwnd, counted: f64) -> f64 {
        window + counted * self.per_window(Cwnd(window)) / window
    }

    fn respond(&mut self, seen: &Congestion, window: &mut Window<'_>) {
        let kept = 1.0 - self.decrease(Cwnd(*window.cwnd));
        window.reduce_to(Cwnd((f64::from(seen.in_flight.0) * kept).floor()), Segments(2));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Controller;
    use crate::congestion::support::model_sender::ModelSender;

    #[test]
    fn increase_and_decrease_are_those_of_appendix_b() {
        // The windows at which a(w) reaches the next whole number, and b(w) to two decimals.
        let rows = [(118.0, 2.0, 0.44), (221.0, 3.0, 0.41), (347.0, 4.0, 0.38), (495.0, 5.0, 0.37), (1058.0, 8.0, 0.33)];
        let spec = HighSpeedSpec::default();
        for (window, increase, decrease) in rows {
            let found = (spec.per_window(Cwnd(window)).floor(), (100.0 * spec.decrease(Cwnd(window))).round() / 100.0);
            assert_eq!(found, (increase, decrease), "{window}");
        }
        // The RFC: 72 segments per RTT and a tenth at 83,000.
        assert_eq!(spec.per_window(Cwnd(83_000.0)).floor(), 72.0);
        assert!((spec.decrease(Cwnd(83_000.0)) - 0.1).abs() < 1e-12);
    }

    #[test]
    fn up_to_the_low_window_it_is_reno() {
        let start = |window| Start { window, ssthresh: 10.0, ..Start::default() };
        let mut fast = ModelSender::new(HighSpeed::new(&HighSpeedSpec::default(), start(20.0)));
        assert_eq!(fast.ack(1), 20.0 + 1.0 / 20.0);
        assert_eq!((fast.lose(20), fast.law.ssthresh().0), (10.0, 10.0));
        assert_eq!((fast.time_out(9), fast.law.ssthresh().0), (1.0, 4.0));
        assert_eq!((fast.ack(1), fast.time_out_again(1), fast.law.ssthresh().0), (2.0, 1.0, 4.0));
    }

    #[test]
    fn a_large_window_loses_less_and_grows_faster() {
        let mut sender = ModelSender::new(HighSpeed::new(
            &HighSpeedSpec::default(),
            Start { window: 83_000.0, ssthresh: 2.0, ..Start::default() },
        ));
        // 0.9 * 83,000
        assert_eq!(sender.lose(83_000), 74_700.0);
        let before = sender.law.window().0;
        let grown = (0..74_700).map(|_| sender.ack(1)).last().unwrap_or_default();
        assert!((grown - before - HighSpeedSpec::default().per_window(Cwnd(74_700.0))).abs() < 0.1, "{grown}");
    }
}
