//! The data-volume model: bounds of the bandwidth and of the data in flight that losses lower. Short-term bounds hold until the next probe
//! for bandwidth, the long-term bound until a probe raises it (5.5.2, 5.5.3).

use super::loss_round::LossRound;
use serde::{Deserialize, Serialize};

/// BBR.MinPipeCwnd.
pub(super) const MIN_PIPE_CWND: f64 = 4.0;

/// In segments and segments per second; infinite while there is no bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Bounds {
    pub bw_shortterm: f64,
    pub inflight_shortterm: f64,
    pub inflight_longterm: f64,
}

impl Default for Bounds {
    fn default() -> Bounds {
        let (bw_shortterm, inflight_shortterm) = (f64::INFINITY, f64::INFINITY);
        Bounds { bw_shortterm, inflight_shortterm, inflight_longterm: f64::INFINITY }
    }
}

/// Bandwidth and window from which short-term bounds start.
pub(super) struct Unbounded {
    pub bw: f64,
    pub window: f64,
}

impl Bounds {
    /// InitLowerBounds and LossLowerBounds of 5.5.10.3, after a round with losses: at most the fraction 1 - `beta` less, and no less than
    /// was delivered.
    #[inline]
    pub fn lower(&mut self, latest: &LossRound, start: &Unbounded, beta: f64) {
        let bw = if self.bw_shortterm.is_finite() { self.bw_shortterm } else { start.bw };
        let inflight = if self.inflight_shortterm.is_finite() { self.inflight_shortterm } else { start.window };
        self.bw_shortterm = latest.bw.max(beta * bw);
        self.inflight_shortterm = latest.inflight.max(beta * inflight);
    }

    /// ResetShortTermModel.
    #[inline]
    pub fn reset_short_term(&mut self) {
        *self = Bounds { inflight_longterm: self.inflight_longterm, ..Bounds::default() };
    }

    /// Returns to earlier bounds where they are higher.
    #[inline]
    pub fn raise_to(&mut self, earlier: &Bounds) {
        self.bw_shortterm = self.bw_shortterm.max(earlier.bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(earlier.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(earlier.inflight_longterm);
    }

    /// InflightWithHeadroom of 5.3.3.9: the long-term bound, less this fraction for other flows.
    #[inline]
    pub fn with_headroom(&self, headroom: f64) -> f64 {
        let unused = (headroom * self.inflight_longterm).max(1.0);
        if self.inflight_longterm.is_finite() { (self.inflight_longterm - unused).max(MIN_PIPE_CWND) } else { f64::INFINITY }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_lower_the_short_term_bounds_by_a_fraction_or_to_the_delivered_data() {
        let mut bounds = Bounds::default();
        let start = Unbounded { bw: 1000.0, window: 200.0 };
        let mut lower = |bw, inflight| {
            let mut latest = LossRound::default();
            (latest.bw, latest.inflight) = (bw, inflight);
            bounds.lower(&latest, &start, 0.7);
            (bounds.bw_shortterm, bounds.inflight_shortterm)
        };
        assert_eq!([lower(900.0, 100.0), lower(100.0, 130.0)], [(900.0, 140.0), (630.0, 130.0)]);
        bounds.inflight_longterm = 150.0;
        bounds.reset_short_term();
        assert_eq!(bounds, Bounds { inflight_longterm: 150.0, ..Bounds::default() });
    }

    #[test]
    fn earlier_bounds_return_only_where_they_are_higher() {
        let mut bounds = Bounds { bw_shortterm: 500.0, inflight_shortterm: 60.0, inflight_longterm: 70.0 };
        bounds.raise_to(&Bounds { bw_shortterm: 400.0, inflight_shortterm: 80.0, inflight_longterm: f64::INFINITY });
        assert_eq!(bounds, Bounds { bw_shortterm: 500.0, inflight_shortterm: 80.0, inflight_longterm: f64::INFINITY });
    }

    #[test]
    fn headroom_is_at_least_a_segment_and_leaves_four() {
        let headroom = |inflight_longterm| Bounds { inflight_longterm, ..Bounds::default() }.with_headroom(0.15);
        assert_eq!([120.0, 5.5, 4.5, f64::INFINITY].map(headroom), [102.0, 4.5, 4.0, f64::INFINITY]);
    }
}
