//! Round counter (5.5.1): a round ends with the first acknowledgement of data that was sent after the previous round had ended.

use crate::congestion::support::events::Ack;
use crate::primitives::signal::RateSample;
use crate::primitives::units::Segments;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Rounds {
    /// Segments delivered in total (C.delivered).
    pub delivered: u64,
    /// Number of rounds that have ended (BBR.round_count).
    pub count: u64,
    /// The latest acknowledgement has ended a round (BBR.round_start).
    pub started: bool,
    next_round_delivered: u64,
    /// Data sent before this many deliveries does not measure bandwidth.
    app_limited_until: u64,
}

impl Rounds {
    /// Counts the data that an acknowledgement reports as delivered. Returns the number of segments not reported before; a SYN, which was
    /// delivered before the first sample, is not one of them.
    #[inline]
    pub fn deliver(&mut self, ack: &Ack) -> u64 {
        let sample = ack.signal.delivered_rate;
        let before = match sample {
            Some(first) if self.delivered == 0 => first.prior_delivered,
            _ => self.delivered,
        };
        self.delivered = sample.map_or(before + u64::from(ack.acked.0), |sample| sample.delivered.max(before));
        self.delivered - before
    }

    /// UpdateRound, with the deliveries at the time when the acknowledged data was sent (P.delivered).
    #[inline]
    pub fn update(&mut self, prior_delivered: Option<u64>) {
        self.started = prior_delivered.is_some_and(|prior| prior >= self.next_round_delivered);
        if self.started {
            self.begin();
            self.count += 1;
        }
    }

    /// StartRound: the present round ends with the acknowledgement of data sent from now on.
    #[inline]
    pub fn begin(&mut self) {
        self.next_round_delivered = self.delivered;
    }

    /// The round that has just begun ends with the acknowledgement of data sent after this many deliveries.
    #[inline]
    pub fn end_after(&mut self, delivered: u64) {
        self.next_round_delivered = delivered;
    }

    /// MarkConnectionAppLimited (5.3.4.3): a low rate of data in flight now is not that of the path.
    #[inline]
    pub fn mark_app_limited(&mut self, in_flight: Segments) {
        self.app_limited_until = self.delivered + u64::from(in_flight.0);
    }

    /// Whether the rate was limited by missing data or by the sender itself, not by the path.
    #[inline]
    pub fn is_app_limited(&self, sample: &RateSample) -> bool {
        sample.app_limited || sample.prior_delivered < self.app_limited_until
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::signal::Signal;
    use crate::primitives::units::Time;

    fn sample(prior_delivered: u64, delivered: u64) -> RateSample {
        let (rate, in_flight) = (1.0, Segments(1));
        RateSample { rate, app_limited: false, delivered, prior_delivered, prior_lost: 0, in_flight, rtt: None }
    }

    #[test]
    fn a_round_ends_with_data_sent_after_the_end_of_the_previous_one() {
        let mut rounds = Rounds { delivered: 10, ..Rounds::default() };
        let mut ended = |delivered, prior| {
            rounds.delivered = delivered;
            rounds.update(prior);
            (rounds.started, rounds.count)
        };
        // The first round ends at 10 deliveries: data sent before them belongs to it.
        assert_eq!(ended(10, Some(0)), (true, 1));
        assert_eq!([ended(11, Some(9)), ended(12, None), ended(13, Some(10))], [(false, 1), (false, 1), (true, 2)]);
        rounds.delivered = 20;
        rounds.begin();
        rounds.update(Some(19));
        assert!(!rounds.started);
    }

    #[test]
    fn deliveries_are_those_of_the_sample_or_the_acknowledged_segments_and_never_decrease() {
        let mut rounds = Rounds::default();
        let mut delivered = |delivered_rate| {
            let signal = Signal { delivered_rate, ..Signal::default() };
            rounds.deliver(&Ack { acked: Segments(2), signal, ..Ack::of_one(Time::ZERO) })
        };
        assert_eq!([delivered(Some(sample(0, 5))), delivered(None), delivered(Some(sample(0, 6)))], [5, 2, 0]);
    }

    /// The first acknowledgement of BBR in Linux 6.12.117 opens its window by the segment that it acknowledges, from 10 to 11.
    #[test]
    fn a_syn_is_not_counted_as_data() {
        let signal = Signal { delivered_rate: Some(sample(1, 2)), ..Signal::default() };
        let mut rounds = Rounds::default();
        assert_eq!((rounds.deliver(&Ack { signal, ..Ack::of_one(Time::ZERO) }), rounds.delivered), (1, 2));
    }

    #[test]
    fn data_in_flight_at_the_mark_does_not_measure_bandwidth() {
        let mut rounds = Rounds { delivered: 100, ..Rounds::default() };
        rounds.mark_app_limited(Segments(4));
        assert_eq!([103, 104].map(|prior| rounds.is_app_limited(&sample(prior, 120))), [true, false]);
        assert!(rounds.is_app_limited(&RateSample { app_limited: true, ..sample(110, 120) }));
    }
}
