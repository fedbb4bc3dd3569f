//! Growth of the long-term bound while a probe uses it (5.3.3.6): exponential, by one segment for each round's part of the window, which
//! halves every round.

use crate::primitives::units::Cwnd;
use serde::{Deserialize, Serialize};

/// Bound of BBR.bw_probe_up_rounds.
const MAX_ROUNDS: u32 = 30;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Growth {
    /// Segments to acknowledge for one more in flight (BBR.probe_up_cnt).
    pub acked_per_inc: f64,
    acked: f64,
    rounds: u32,
}

impl Default for Growth {
    fn default() -> Growth {
        Growth { acked_per_inc: f64::INFINITY, acked: 0.0, rounds: 0 }
    }
}

impl Growth {
    /// No growth until the next probe.
    #[inline]
    pub fn stop(&mut self) {
        self.acked_per_inc = f64::INFINITY;
    }

    /// A probe will begin.
    #[inline]
    pub fn restart(&mut self) {
        (self.rounds, self.acked) = (0, 0.0);
    }

    /// RaiseInflightLongtermSlope, with this window.
    #[inline]
    pub fn raise_slope(&mut self, Cwnd(window): Cwnd) {
        let growth_this_round = f64::from(1u32 << self.rounds);
        self.rounds = (self.rounds + 1).min(MAX_ROUNDS);
        self.acked_per_inc = (window / growth_this_round).max(1.0);
    }

    /// The increase for this many acknowledged segments, in whole segments.
    #[inline]
    pub fn take(&mut self, newly_acked: f64) -> f64 {
        self.acked += newly_acked;
        if self.acked < self.acked_per_inc {
            return 0.0;
        }
        let delta = (self.acked / self.acked_per_inc).floor();
        self.acked -= delta * self.acked_per_inc;
        delta
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_increase_of_a_window_doubles_each_round() {
        let mut growth = Growth::default();
        assert_eq!(growth.take(1e9), 0.0);
        growth.restart();
        let grown = [0; 4].map(|_| {
            growth.raise_slope(Cwnd(80.0));
            (0..8).map(|_| growth.take(10.0)).sum::<f64>()
        });
        assert_eq!(grown, [1.0, 2.0, 4.0, 8.0]);
        growth.restart();
        growth.raise_slope(Cwnd(100.0));
        assert_eq!([growth.take(99.0), growth.take(151.0), growth.take(49.0), growth.take(1.0)], [0.0, 2.0, 0.0, 1.0]);
    }
}
