//! RED, random early detection: mark at random, the likelier the longer the average queue, so that senders slow down before it
//! overflows, and not all at once (Floyd and Jacobson, "Random early detection gateways for congestion avoidance", IEEE/ACM Transactions on
//! Networking 1(4), 1993, figure 2).
//!
//! Differs: the queue is counted in packets (or cells), not in bytes; an idle time begins when the port has nothing more to send, which
//! is when the last packet has left and not when its service begins.

use super::{Occupancy, Policy, Unit, Verdict};
use crate::primitives::math;
use crate::primitives::random::{Draws, Stream};
use crate::primitives::units::{Bytes, Time};
use crate::settings::{Kind, Misfit, PACKET_BYTES, Settings, member};
use serde::{Deserialize, Serialize};

// The weight is that of section 6 of the paper, the probability and `gentle` are Floyd's ("Recommendation on using the gentle variant of
// RED", 2000).
member! {
    /// Random early detection: marks at random, with a probability that grows with the average queue. Discards packets that are
    /// not ECN-capable.
    Red = "red", "Floyd and Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993";

    pub struct RedSpec {
        /// Average queue below which nothing is marked (min_th).
        lower: u64 => Kind::QueueLength,
        /// Average queue at which the probability is `max_probability` (max_th); above that it keeps growing (`gentle`) or is 1.
        upper: u64 => Kind::QueueLength,
        /// Probability of a mark as the average reaches `upper` (max_p).
        max_probability: f64 = 0.1 => Kind::Probability,
        /// Weight of a new sample in the average (w_q).
        weight: f64 = 0.002 => Kind::Probability,
        /// Between `upper` and twice that, the probability grows to 1.
        gentle: bool = true => Kind::Truth,
        /// Typical packet: idle time counts as arrivals at an empty queue, as many as packets of this size could have been sent meanwhile.
        packet: u32 = 1000 => PACKET_BYTES,
    }
}

impl Settings for RedSpec {
    fn check(&self) -> Vec<Misfit> {
        let order = || Misfit::error(&["lower", "upper"], "thresholds out of order", "`lower` below `upper`");
        let never = |keys| Misfit::error(keys, "at 0 RED never marks", "above 0, at most 1");
        let weight = (self.weight == 0.0).then(|| never(&["weight"]));
        let probability = (self.max_probability == 0.0).then(|| never(&["max_probability"]));
        (self.lower >= self.upper).then(order).into_iter().chain(weight).chain(probability).collect()
    }

    fn samples() -> Vec<RedSpec> {
        let usual = RedSpec { lower: 2, upper: 8, max_probability: 0.5, weight: 0.1, gentle: true, packet: 500 };
        vec![
            usual,
            RedSpec { gentle: false, ..usual },
            RedSpec { lower: 0, upper: 20, max_probability: 0.02, weight: 0.002, ..usual },
            RedSpec { lower: 4, upper: 5, max_probability: 1.0, weight: 1.0, gentle: false, ..usual },
        ]
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Red {
    spec: RedSpec,
    /// Of the queue, in packets (avg).
    average: f64,
    /// Packets since the last mark (count); `None` while the average is below `lower`.
    since_mark: Option<u64>,
    draws: Draws,
}

impl Red {
    pub(super) fn new(spec: &RedSpec) -> Red {
        Red { spec: *spec, average: 0.0, since_mark: None, draws: Draws::default() }
    }

    /// The average after an arrival.
    fn averaged(&self, buffer: &Occupancy) -> f64 {
        let kept = 1.0 - self.spec.weight;
        if buffer.idle.0 == 0 {
            return kept * self.average + self.spec.weight * buffer.units.0 as f64;
        }
        let missed = buffer.idle.0 as f64 / buffer.rate.time_to_send(Bytes(self.spec.packet.into())).0 as f64;
        math::pow(kept, missed) * self.average
    }

    /// The probability at this average, before marks are spread out (p_b); 1 or more marks everything.
    fn raw_probability(&self) -> f64 {
        let RedSpec { max_probability, gentle, .. } = self.spec;
        let (lower, upper) = (self.spec.lower as f64, self.spec.upper as f64);
        match self.average {
            average if average < upper => max_probability * (average - lower) / (upper - lower),
            average if gentle => max_probability + (1.0 - max_probability) * (average - upper) / upper,
            _ => 1.0,
        }
    }
}

/// The probability that spreads marks evenly: each of the next 1 / `raw` packets is equally likely to be the one (p_a).
fn spread(raw: f64, since_mark: u64) -> f64 {
    let left = 1.0 - since_mark as f64 * raw;
    if left > raw { raw / left } else { 1.0 }
}

impl Policy for Red {
    type PerFlow = ();
    const SEES_FLOWS: bool = false;

    fn draw_from(&mut self, stream: Stream) {
        self.draws = Draws::new(stream);
    }

    fn on_arrival(&mut self, _unit: &Unit, _flow: &mut (), buffer: &Occupancy, _now: Time) -> Verdict {
        self.average = self.averaged(buffer);
        if self.average < self.spec.lower as f64 {
            self.since_mark = None;
            return Verdict::Accept;
        }
        let since_mark = self.since_mark.map_or(0, |since| since + 1);
        let probability = spread(self.raw_probability(), since_mark);
        let marks = probability >= 1.0 || self.draws.uniform() < probability;
        self.since_mark = Some(if marks { 0 } else { since_mark });
        if marks { Verdict::Mark } else { Verdict::Accept }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::random::{Entity, Purpose};
    use crate::primitives::units::{Span, Units};

    const PACKET: Unit = Unit { bytes: Bytes(1000), is_last: true, hears_prices: false };

    /// Thresholds 5 and 15, half of each sample, one in ten at the upper threshold.
    fn red(average: f64, gentle: bool) -> Red {
        let spec = RedSpec { lower: 5, upper: 15, weight: 0.5, max_probability: 0.1, gentle, packet: 1000 };
        Red { average, ..Red::new(&spec) }
    }

    #[test]
    fn the_average_moves_by_its_weight_and_forgets_while_idle() {
        // (8 + 4) / 2 = 6, busy. Three packets of 1 ms could have been sent in 3 ms: 8 / 2^3 = 1.
        assert_eq!(red(8.0, false).averaged(&Occupancy::of(Units(4), Bytes(4000))), 6.0);
        assert_eq!(red(8.0, false).averaged(&Occupancy { idle: Span::from_millis(3), ..Occupancy::of(Units(0), Bytes(0)) }), 1.0);
    }

    #[test]
    fn the_probability_grows_linearly_between_the_thresholds() {
        let at = |average, gentle| red(average, gentle).raw_probability();
        assert_eq!((at(5.0, false), at(10.0, false), at(15.0, false)), (0.0, 0.05, 1.0));
        // Gentle: 0.1 at 15, 1 at 30, and half-way 0.55.
        assert_eq!((at(15.0, true), at(22.5, true), at(30.0, true)), (0.1, 0.55, 1.0));
    }

    #[test]
    fn marks_are_spread_evenly_over_the_packets() {
        // One in four: 1/4, then 1/3 of what is left, 1/2, and the fourth surely.
        assert_eq!([0, 1, 2, 3, 4].map(|since| spread(0.25, since)), [0.25, 1.0 / 3.0, 0.5, 1.0, 1.0]);
    }

    #[test]
    fn below_the_lower_threshold_nothing_is_marked_and_from_the_upper_on_everything() {
        let mut red = Red { since_mark: Some(7), ..red(0.0, false) };
        assert_eq!(red.on_arrival(&PACKET, &mut (), &Occupancy::of(Units(9), Bytes(9000)), Time::ZERO), Verdict::Accept);
        assert_eq!((red.average, red.since_mark), (4.5, None));
        assert_eq!(red.on_arrival(&PACKET, &mut (), &Occupancy::of(Units(26), Bytes(26_000)), Time::ZERO), Verdict::Mark);
        assert_eq!((red.average, red.since_mark), (15.25, Some(0)));
    }

    #[test]
    fn at_a_steady_average_of_ten_one_packet_in_eleven_is_marked() {
        // p_b = 0.05. After a mark the count is 1 at the next packet (figure 2), so that the marks are 1 to 19 packets apart, each as likely:
        // 10 on average. 10,000 packets hold 1000 marks, give or take 5 x sqrt(1000) x 5.48 / 10 = 87.
        let mut red = red(10.0, false);
        red.draw_from(Stream::new(Entity { seed: 1, name: "steady", index: 0 }, Purpose::Policy));
        let mut arrive =
            |_: &u32| red.on_arrival(&PACKET, &mut (), &Occupancy::of(Units(10), Bytes(10_000)), Time::ZERO) == Verdict::Mark;
        let marks = (0..10_000).filter(|packet| arrive(packet)).count();
        assert!((913..=1087).contains(&marks), "{marks}");
    }
}
