//! HighSpeed TCP as in Linux 6.12, by its windows in virtual time: a(w) and b(w) are those of the next row of the RFC's appendix B, and each
//! acknowledgement, whatever it covers, counts a(w) towards the next segment. From 39 to 118 segments a window grows by 2 for each
//! acknowledged window of single segments, and a loss removes 0.44 of it, in 256ths.
//!
//! Differs: the rows are computed (by at most 0.2 % from those of the RFC) from its response function p(w) = 0.078 / w^1.2, whatever `low_p`
//! and `high_p` are.

use super::HighSpeedSpec;
use crate::congestion::support::editions::whole;
use crate::congestion::support::reno_like::Avoidance;
use crate::congestion::support::{Ack, Congestion};
use crate::primitives::math::pow;
use crate::primitives::units::Cwnd;
use serde::{Deserialize, Serialize};

/// Unit of b(w).
const PARTS: f64 = 256.0;

/// Response function of RFC 3649 section 5.
const RESPONSE: (f64, f64) = (0.078, -1.2);

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Linux {
    spec: HighSpeedSpec,
    /// a(w) of the last increase, which determines b(w).
    a: f64,
    /// Sum of a(w) since the window last grew.
    counted: f64,
}

impl Linux {
    pub(super) fn new(spec: &HighSpeedSpec) -> Linux {
        Linux { spec: *spec, a: 1.0, counted: 0.0 }
    }

    /// a(w) of section 5.
    fn per_window(&self, Cwnd(window): Cwnd) -> f64 {
        let (factor, exponent) = RESPONSE;
        let decrease = self.spec.decrease(Cwnd(window));
        window * window * factor * pow(window, exponent) * 2.0 * decrease / (2.0 - decrease)
    }

    /// b(w) of the row with `a`: the first window with that increase.
    fn decrease(&self) -> f64 {
        let (mut low, mut high) = (self.spec.low_window, self.spec.high_window);
        while high - low > 1.0 && self.a > 1.0 {
            let middle = ((low + high) / 2.0).floor();
            let is_reached = self.per_window(Cwnd(middle)) >= self.a;
            (low, high) = if is_reached { (low, middle) } else { (middle, high) };
        }
        let row = if self.a > 1.0 { high } else { low };
        (PARTS * self.spec.decrease(Cwnd(row))).floor() / PARTS
    }
}

impl Avoidance for Linux {
    fn grow(&mut self, _: &Ack, Cwnd(window): Cwnd, _: f64) -> f64 {
        let HighSpeedSpec { low_window, high_window, .. } = self.spec;
        let row_below = Cwnd((window - 1.0).min(high_window));
        self.a = if window > low_window { self.per_window(row_below).floor().max(1.0) + 1.0 } else { 1.0 };
        self.counted += self.a;
        if self.counted < window {
            return window;
        }
        self.counted -= window;
        window + 1.0
    }

    fn reduce(&mut self, _: &Congestion, Cwnd(window): Cwnd) -> f64 {
        self.counted = 0.0;
        let window = window.floor();
        window - (window * self.decrease()).floor()
    }

    fn limit(&mut self, max: Cwnd) -> Cwnd {
        whole(max)
    }
}

#[cfg(test)]
mod tests {
    use crate::congestion::support::editions::Edition;
    use crate::congestion::support::model_sender::ModelSender;
    use crate::congestion::{HighSpeed, HighSpeedSpec, Start};

    fn sender(window: f64) -> ModelSender<HighSpeed> {
        let spec = HighSpeedSpec { edition: Edition::Linux, ..HighSpeedSpec::default() };
        ModelSender::new(HighSpeed::new(&spec, Start { window, ssthresh: 2.0, ..Start::default() }))
    }

    /// Number of acknowledgements until the window grows.
    fn until_growth(window: f64, acked: u32) -> usize {
        let mut sender = sender(window);
        1 + (0..10_000).take_while(|_| sender.ack(acked) == window).count()
    }

    #[test]
    fn an_acknowledgement_counts_the_increase_of_the_next_row() {
        // 38 / 1; 100 / 2, for acknowledgements of one segment or two; 118 / 2; 119 / 3 and 221 / 3 rounded up.
        let cases = [(38.0, 1), (100.0, 1), (100.0, 2), (118.0, 2), (119.0, 2), (221.0, 2)];
        assert_eq!(cases.map(|(window, acked)| until_growth(window, acked)), [38, 50, 50, 59, 40, 74]);
    }

    #[test]
    fn a_loss_removes_the_fraction_of_that_row_in_256ths() {
        let after = |window: f64| {
            let mut sender = sender(window);
            sender.ack(1);
            sender.lose(window as u32)
        };
        // 112/256 of 100 are 43, and 104/256 of 200 are 81; 38 is halved.
        assert_eq!([38.0, 100.0, 200.0].map(after), [19.0, 57.0, 119.0]);
        // After slow start, a(w) is still 1.
        assert_eq!(sender(100.0).lose(100), 50.0);
    }
}
