//! Hybla as in Linux 6.12, by its windows in virtual time. The window is in whole segments and grows with every acknowledgement, whatever
//! that covers; increases are whole 128ths of a segment. rho is the smoothed RTT over RTT_0 in whole eighths.
//!
//! At 20 Mbit/s and 40 ms, rho is 12/8, and an acknowledgement opens a window of w by floor(288 / w) 128ths: between 67 and 134 segments by
//! 4 to 2, where the paper has 4.3 to 2.1 for each of its two segments.
//!
//! Differs: the first window is that of the flow; the kernel's is rho.

use super::HyblaSpec;
use crate::congestion::support::editions::whole;
use crate::congestion::support::reno_like::Avoidance;
use crate::congestion::support::window::Window;
use crate::congestion::support::{Ack, Congestion, RoundTrip};
use crate::primitives::math::pow;
use crate::primitives::units::{Cwnd, TimeDelta};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

/// Parts of a segment in which increases are counted, and the unit of rho.
const PARTS: f64 = 128.0;
const EIGHTHS: f64 = 8.0;

/// Maximum rho in slow start.
const MAX_RHO: f64 = 16.0;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Linux {
    spec: HyblaSpec,
    /// Minimum of the smoothed RTT.
    shortest: TimeDelta,
    /// In eighths, at least 8.
    rho: f64,
    /// Parts of a segment by which the window has still to grow, and acknowledgements that added less than a segment.
    parts: f64,
    small_increases: f64,
}

impl Linux {
    pub(super) fn new(spec: &HyblaSpec) -> Linux {
        Linux { spec: *spec, shortest: TimeDelta(u64::MAX), rho: EIGHTHS, parts: 0.0, small_increases: 0.0 }
    }

    /// 2^rho - 1 segments in slow start, otherwise rho^2 / w, in whole parts.
    fn increase_by(&self, window: &Window<'_>) -> f64 {
        if *window.cwnd >= *window.ssthresh {
            return (self.rho * self.rho * PARTS / (EIGHTHS * EIGHTHS) / *window.cwnd).floor();
        }
        let (segments, eighths) = ((self.rho / EIGHTHS).floor().min(MAX_RHO), self.rho % EIGHTHS);
        let increase = pow(2.0, segments) * (PARTS * pow(2.0, eighths / EIGHTHS)).floor() - PARTS;
        increase.min(self.spec.max_slow_start_increment * PARTS)
    }
}

impl Avoidance for Linux {
    fn quantity(&self, _index: usize) -> f64 {
        self.rho / EIGHTHS
    }

    fn measure(&mut self, measured: &RoundTrip) {
        if let Some(smoothed) = measured.smoothed
            && smoothed < self.shortest
        {
            self.shortest = smoothed;
            let rho = EIGHTHS * smoothed.0 as f64 / self.spec.rtt_0.0.max(1) as f64;
            self.rho = rho.floor().max(EIGHTHS);
        }
    }

    fn max_slow_start_increment(&self) -> f64 {
        self.spec.max_slow_start_increment
    }

    /// Opens the window.
    fn adjust(&mut self, ack: &Ack, window: &mut Window<'_>) -> ControlFlow<()> {
        if !ack.window_validated {
            return ControlFlow::Break(());
        }
        let is_slow_start = window.cwnd < window.ssthresh;
        let increase = self.increase_by(window);
        if increase < PARTS {
            self.small_increases += 1.0;
        }
        let before = *window.cwnd;
        let parts = self.parts + increase % PARTS;
        if parts >= PARTS {
            self.small_increases = 0.0;
        }
        self.parts = parts % PARTS;
        let mut opens = (increase / PARTS).floor() + (parts / PARTS).floor();
        if increase == 0.0 && self.small_increases >= before {
            // As Reno, by acknowledgements.
            opens += 1.0;
            self.small_increases = 0.0;
        }
        // No acknowledgement more than doubles the window.
        let opened = before + opens.min(before);
        *window.cwnd = if is_slow_start { opened.min(*window.ssthresh) } else { opened };
        ControlFlow::Break(())
    }

    fn reduce(&mut self, _: &Congestion, Cwnd(window): Cwnd) -> f64 {
        self.small_increases = 0.0;
        (window.floor() / 2.0).floor()
    }

    fn limit(&mut self, max: Cwnd) -> Cwnd {
        whole(max)
    }
}

#[cfg(test)]
mod tests {
    use crate::congestion::support::editions::Edition;
    use crate::congestion::support::model_sender::ModelSender;
    use crate::congestion::{Hybla, HyblaSpec, Start};

    fn sender(window: f64, ssthresh: f64, milliseconds: u64) -> ModelSender<Hybla> {
        let spec = HyblaSpec { edition: Edition::Linux, max_slow_start_increment: 1000.0, ..HyblaSpec::default() };
        let law = Hybla::new(&spec, Start { window, ssthresh, ..Start::default() });
        ModelSender::new(law).with_round_trip(milliseconds)
    }

    /// Number of acknowledgements until the window grows.
    fn until_growth(sender: &mut ModelSender<Hybla>, acked: u32) -> usize {
        let before = sender.law.window;
        1 + (0..10_000).take_while(|_| sender.ack(acked) == before).count()
    }

    #[test]
    fn the_increase_is_in_whole_128ths_per_acknowledgement() {
        // At 40 ms rho is 12.8 eighths, 12 in whole ones: floor(288 / 100) = 2 of 128 parts, whatever is acknowledged.
        assert_eq!([1, 2].map(|acked| until_growth(&mut sender(100.0, 2.0, 40), acked)), [64, 64]);
        // floor(288 / 60) = 4
        assert_eq!(until_growth(&mut sender(60.0, 2.0, 40), 2), 32);
    }

    #[test]
    fn a_window_too_large_for_a_128th_grows_once_per_window_of_acknowledgements() {
        assert_eq!(until_growth(&mut sender(300.0, 2.0, 40), 2), 300);
    }

    #[test]
    fn in_slow_start_an_acknowledgement_opens_two_to_the_rho_less_one() {
        // rho = 12/8: 2 * 181 - 128 = 234 of 128 parts. Two of them are 468 parts, 3 segments and 84 parts.
        let mut slow = sender(10.0, 100.0, 40);
        assert_eq!((slow.ack(2), slow.ack(2)), (11.0, 13.0));
        // rho = 4: 15 segments, and at most the window and the threshold.
        assert_eq!(sender(64.0, 1000.0, 100).ack(1), 79.0);
        assert_eq!((sender(10.0, 1000.0, 100).ack(1), sender(64.0, 70.0, 100).ack(1)), (20.0, 70.0));
    }

    #[test]
    fn a_loss_leaves_half_of_the_window_in_whole_segments() {
        assert_eq!(sender(135.0, 2.0, 40).lose(135), 67.0);
    }
}
