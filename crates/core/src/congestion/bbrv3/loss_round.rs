//! Rounds of loss response (5.5.10.3): the deliveries and losses of a round, which begins with the first loss after the previous response.

use super::sample::Sample;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct LossRound {
    /// Maximum delivery rate, and number of segments delivered in a sample, of the round (BBR.bw_latest, BBR.inflight_latest).
    pub bw: f64,
    pub inflight: f64,
    /// Data sent after this many deliveries ends the round (BBR.loss_round_delivered).
    delivered: u64,
    /// Ranges of lost segments since the first loss of the round.
    pub ranges: u32,
    /// The latest acknowledgement has ended a round (BBR.loss_round_start).
    pub started: bool,
    /// BBR.loss_in_round.
    pub has_loss: bool,
}

impl LossRound {
    /// A loss, after this many deliveries. The first one begins the round.
    #[inline]
    pub fn note_loss(&mut self, delivered: u64) {
        if !self.has_loss {
            (self.delivered, self.ranges, self.has_loss) = (delivered, 0, true);
        }
    }

    /// UpdateLatestDeliverySignals, after this many deliveries.
    #[inline]
    pub fn update(&mut self, rs: &Sample, delivered: u64) {
        self.bw = self.bw.max(rs.delivery_rate);
        self.inflight = self.inflight.max(rs.delivered);
        self.started = rs.prior_delivered.is_some_and(|prior| prior >= self.delivered);
        if self.started {
            self.delivered = delivered;
        }
    }

    /// AdvanceLatestDeliverySignals.
    #[inline]
    pub fn advance(&mut self, rs: &Sample) {
        if self.started {
            (self.bw, self.inflight) = (rs.delivery_rate, rs.delivered);
        }
    }

    /// ResetCongestionSignals.
    #[inline]
    pub fn reset(&mut self) {
        (self.has_loss, self.bw, self.inflight) = (false, 0.0, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(delivery_rate: f64, prior_delivered: u64) -> Sample {
        Sample { delivery_rate, delivered: delivery_rate / 10.0, prior_delivered: Some(prior_delivered), ..Sample::default() }
    }

    #[test]
    fn a_round_ends_with_data_sent_after_its_first_loss_and_has_the_maxima_since_the_previous_one() {
        let mut round = LossRound::default();
        round.note_loss(100);
        round.ranges = 2;
        round.note_loss(110);
        assert_eq!((round.delivered, round.ranges), (100, 2));
        let mut after = |rate, prior| {
            round.update(&sample(rate, prior), 120);
            let seen = (round.started, round.bw, round.inflight);
            round.advance(&sample(rate, prior));
            seen
        };
        assert_eq!(
            [after(900.0, 99), after(800.0, 100), after(700.0, 119)],
            [(false, 900.0, 90.0), (true, 900.0, 90.0), (false, 800.0, 80.0)]
        );
        round.reset();
        assert_eq!((round.has_loss, round.bw), (false, 0.0));
    }
}
