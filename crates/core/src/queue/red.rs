//! RED, random early detection: marks at random, with a probability that grows with the average queue length, so that senders slow down
//! before the queue overflows, and not all at once (Floyd and Jacobson, "Random early detection gateways for congestion avoidance",
//! IEEE/ACM Transactions on Networking 1(4), 1993, figure 2). Names are from the paper.
//!
//! In bytes mode, the queue length is its bytes divided by the typical packet size, and the marking probability is proportional to the
//! packet size relative to the typical size (section 4 of the paper, which divides by the maximum packet size; Floyd, "RED: discussions of
//! byte and packet modes", 1997, distinguishes the two modes, which are combined here). RFC 7141, section 2.2, advises against it, because
//! it favours small packets.
//!
//! At a steady average with a probability of p_b, twice p_b is signalled, because the distances between marks are uniform over 1 to 1 / p_b
//! (section 7). The RED of ns-2 lets 1 / p_b packets pass first by default (`wait_`), and signals two thirds of p_b.
//!
//! Differs: idle time begins when the port has nothing more to send, which is when the last packet has left and not when its service
//! begins. In bytes mode, marks are spread over bytes as they otherwise are over packets: the count since the last mark is in typical
//! packets, too.

use super::support::{DropReason, Occupancy, Onset, OnsetThreshold, Policy, Unit, Verdict};
use crate::primitives::math;
use crate::primitives::random::{Draws, Stream};
use crate::primitives::units::{Bytes, Time, Units};
use crate::settings::{Kind, PACKET_BYTES, PlainWords, QueueLength, SettingConflict, Settings, conflicts, member, words};
use serde::{Deserialize, Serialize};

// The weight is from section 6 of the paper; the probability and `gentle` are Floyd's ("Recommendation on using the gentle variant of RED",
// 2000).
member! {
    /// Random early detection: marks or discards at random, with a probability that grows with the average queue length. Discards packets
    /// that cannot be marked.
    Red = "red", "Floyd and Jacobson, IEEE/ACM Transactions on Networking 1(4), 1993";

    pub struct RedSpec {
        /// Average queue length below which nothing is marked (min_th).
        min_threshold: QueueLength => Kind::QueueLength; "25 %",
        /// Average queue length at which the probability is `max_probability` (max_th). Above it the probability keeps growing (`gentle`)
        /// or is 1.
        max_threshold: QueueLength => Kind::QueueLength; "75 %",
        /// Marking probability as the average reaches `max_threshold` (max_p).
        max_probability: f64 = 0.1 => Kind::Probability,
        /// Weight of a new sample in the average (w_q).
        weight: f64 = 0.002 => Kind::Probability,
        /// Increase the probability linearly to 1 between `max_threshold` and twice `max_threshold`.
        gentle: bool = true => Kind::Boolean,
        /// Typical packet size. The average decays during idle time as if packets of this size had found the queue empty.
        mean_packet_size: u32 = 1000 => PACKET_BYTES,
        /// Unit of the average queue length. Thresholds keep the unit of the buffer; if the average is in bytes, a packet of a threshold
        /// has the size `mean_packet_size`.
        queue_unit: RedQueueUnit = RedQueueUnit::Packets => Kind::Words(&RedQueueUnit::WORDS),
        /// Number of queued packets or cells below which nothing is marked, whatever the average (2 in ns-2).
        min_queue: u32 = 0 => Kind::Integer { min: 0, max: 1_000_000 },
        /// How congestion is signalled.
        signals: RedSignals = RedSignals::Marks => Kind::Words(&RedSignals::WORDS),
    }
}

words! {
    /// Unit in which RED measures the average queue length.
    pub enum RedQueueUnit ("unit of the queue length") {
        /// Packets or cells of any size, all marked with the same probability.
        Packets = "packets",
        /// Bytes, in units of the typical packet; the marking probability is proportional to the packet's size.
        Bytes = "bytes",
    }
}

words! {
    /// How RED signals congestion.
    pub enum RedSignals ("congestion signal") {
        /// Mark the packet, or discard it if it is not ECN-capable.
        Marks = "marks",
        /// Discard the packet, even if it is ECN-capable.
        Drops = "drops",
    }
}

impl Settings for RedSpec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if !self.min_threshold.is_below(self.max_threshold) => ["min_threshold", "max_threshold"],
                "`min_threshold` is not below `max_threshold`", "`min_threshold` below `max_threshold`";
            error if self.weight == 0.0 => ["weight"], "`weight` of 0 marks no packets", "above 0, at most 1";
            error if self.max_probability == 0.0 => ["max_probability"],
                "`max_probability` of 0 marks no packets", "above 0, at most 1";
            error if matches!(self.min_threshold, QueueLength::Bytes(_)) && self.queue_unit == RedQueueUnit::Packets => ["queue_unit"],
                "`queue_unit` must be bytes for a buffer and thresholds in bytes", "`queue_unit = \"bytes\"`, or a `buffer` in packets";
        }
    }

    fn samples() -> Vec<RedSpec> {
        let (counts, signals) = (RedQueueUnit::Packets, RedSignals::Marks);
        let usual = RedSpec {
            min_threshold: 2.into(),
            max_threshold: 8.into(),
            max_probability: 0.5,
            weight: 0.1,
            gentle: true,
            mean_packet_size: 500,
            queue_unit: counts,
            min_queue: 0,
            signals,
        };
        vec![
            usual,
            RedSpec { gentle: false, signals: RedSignals::Drops, ..usual },
            RedSpec {
                min_threshold: QueueLength::Bytes(1000),
                max_threshold: QueueLength::Bytes(4000),
                queue_unit: RedQueueUnit::Bytes,
                ..usual
            },
            RedSpec { min_queue: 2, ..usual },
            RedSpec { min_threshold: 0.into(), max_threshold: 20.into(), max_probability: 0.02, weight: 0.002, ..usual },
            RedSpec {
                min_threshold: 4.into(),
                max_threshold: 5.into(),
                max_probability: 1.0,
                weight: 1.0,
                gentle: false,
                ..usual
            },
        ]
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Red {
    spec: RedSpec,
    /// Average queue length, in packets or typical packets.
    avg: f64,
    /// Packets or typical packets since the last mark; `None` while the average is below `min_threshold`.
    count: Option<f64>,
    draws: Draws,
}

impl Red {
    pub(super) fn new(spec: &RedSpec) -> Red {
        Red { spec: *spec, avg: 0.0, count: None, draws: Draws::default() }
    }

    /// The average after an arrival.
    fn updated_avg(&self, buffer: &Occupancy) -> f64 {
        let kept = 1.0 - self.spec.weight;
        if buffer.idle.0 == 0 {
            let queue = match self.spec.queue_unit {
                RedQueueUnit::Packets => buffer.units.0 as f64,
                RedQueueUnit::Bytes => self.typical(buffer.bytes),
            };
            return kept * self.avg + self.spec.weight * queue;
        }
        let missed = buffer.idle.0 as f64 / buffer.rate.time_to_send(Bytes(self.spec.mean_packet_size.into())).0 as f64;
        math::pow(kept, missed) * self.avg
    }

    /// Converts bytes to typical packets.
    fn typical(&self, bytes: Bytes) -> f64 {
        bytes.0 as f64 / f64::from(self.spec.mean_packet_size)
    }

    /// Converts a threshold to packets, or typical packets.
    fn typical_length(&self, threshold: QueueLength) -> f64 {
        threshold.typical(Bytes(u64::from(self.spec.mean_packet_size)))
    }

    /// Marking probability at this average, for a typical packet and before marks are spread; at 1 or more every packet is marked.
    fn p_b(&self) -> f64 {
        let RedSpec { max_probability, gentle, .. } = self.spec;
        let (lower, upper) = (self.typical_length(self.spec.min_threshold), self.typical_length(self.spec.max_threshold));
        match self.avg {
            avg if avg < upper => max_probability * (avg - lower) / (upper - lower),
            avg if gentle => max_probability + (1.0 - max_probability) * (avg - upper) / upper,
            _ => 1.0,
        }
    }

    /// Number of packets that the unit counts for.
    fn counts_for(&self, unit: &Unit) -> f64 {
        match self.spec.queue_unit {
            RedQueueUnit::Packets => 1.0,
            RedQueueUnit::Bytes => self.typical(unit.bytes),
        }
    }

    /// Probability that spreads marks evenly: each of the next 1 / p_b packets is equally likely to be marked.
    fn p_a(&self, unit: &Unit) -> f64 {
        let p_b = self.p_b();
        let (own, left) = (self.counts_for(unit) * p_b, 1.0 - self.count.unwrap_or(0.0) * p_b);
        // From 1 on every packet is marked, however small.
        if p_b < 1.0 && left > own { own / left } else { 1.0 }
    }
}

impl Policy for Red {
    type PerFlow = ();
    const TRACKS_FLOWS: bool = false;

    fn onset(&self) -> Onset {
        let threshold = OnsetThreshold { setting: "min_threshold", length: self.spec.min_threshold };
        Onset { threshold: Some(threshold), ..Onset::default() }
    }

    fn draw_from(&mut self, stream: Stream) {
        self.draws = Draws::new(stream);
    }

    fn on_arrival(&mut self, unit: &Unit, _flow: &mut (), buffer: &Occupancy, _now: Time) -> Verdict {
        self.avg = self.updated_avg(buffer);
        if self.avg < self.typical_length(self.spec.min_threshold) || buffer.units < Units(self.spec.min_queue.into()) {
            self.count = None;
            return Verdict::Accept;
        }
        self.count = Some(self.count.map_or(0.0, |count| count + self.counts_for(unit)));
        let p_a = self.p_a(unit);
        let signals = p_a >= 1.0 || self.draws.uniform() < p_a;
        if signals {
            self.count = Some(0.0);
        }
        match self.spec.signals {
            _ if !signals => Verdict::Accept,
            RedSignals::Marks => Verdict::Mark,
            RedSignals::Drops => Verdict::Discard(DropReason::Early),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::random::{Entity, Purpose};
    use crate::primitives::units::TimeDelta;

    const PACKET: Unit = Unit { bytes: Bytes(1000), is_last: true };

    fn of_size(bytes: u64) -> Unit {
        Unit { bytes: Bytes(bytes), ..PACKET }
    }

    /// Thresholds 5 and 15, a weight of one half, a probability of one tenth at the upper threshold.
    fn red(avg: f64, gentle: bool) -> Red {
        let (counts, signals) = (RedQueueUnit::Packets, RedSignals::Marks);
        let spec = RedSpec {
            min_threshold: 5.into(),
            max_threshold: 15.into(),
            weight: 0.5,
            max_probability: 0.1,
            gentle,
            mean_packet_size: 1000,
            queue_unit: counts,
            min_queue: 0,
            signals,
        };
        Red { avg, ..Red::new(&spec) }
    }

    /// A RED with probability 1/4, this many packets after a mark.
    fn quarter(count: f64) -> Red {
        let red = in_bytes(10.0);
        Red { spec: RedSpec { max_probability: 0.5, ..red.spec }, count: Some(count), ..red }
    }

    /// As [`red`], in bytes mode.
    fn in_bytes(avg: f64) -> Red {
        let red = red(avg, false);
        Red { spec: RedSpec { queue_unit: RedQueueUnit::Bytes, ..red.spec }, ..red }
    }

    /// Number of marks among these arrivals of this size, at a steady queue of ten typical packets.
    fn marks(mut red: Red, arrivals: u32, bytes: u64) -> usize {
        red.draw_from(Stream::new(Entity { seed: 1, name: "steady", index: 0 }, Purpose::Policy));
        let unit = of_size(bytes);
        // The queue holds units of the same size.
        let buffer = Occupancy::of(Units(10_000 / bytes), Bytes(10_000));
        (0..arrivals).filter(|_| red.on_arrival(&unit, &mut (), &buffer, Time::ZERO) == Verdict::Mark).count()
    }

    #[test]
    fn the_average_moves_by_its_weight_and_decays_while_idle() {
        // (8 + 4) / 2 = 6, busy. Three packets of 1 ms could have been sent in 3 ms: 8 / 2^3 = 1.
        assert_eq!(red(8.0, false).updated_avg(&Occupancy::of(Units(4), Bytes(4000))), 6.0);
        assert_eq!(
            red(8.0, false).updated_avg(&Occupancy { idle: TimeDelta::from_millis(3), ..Occupancy::of(Units(0), Bytes(0)) }),
            1.0
        );
    }

    #[test]
    fn the_probability_grows_linearly_between_the_thresholds() {
        let at = |avg, gentle| red(avg, gentle).p_b();
        assert_eq!((at(5.0, false), at(10.0, false), at(15.0, false)), (0.0, 0.05, 1.0));
        // Gentle: 0.1 at 15, 1 at 30, and 0.55 half-way.
        assert_eq!((at(15.0, true), at(22.5, true), at(30.0, true)), (0.1, 0.55, 1.0));
    }

    #[test]
    fn marks_are_spread_evenly_over_the_packets() {
        // Probability 1/4: 1/4, then 1/3 of the rest, 1/2, and the fourth with certainty.
        let at = |count| quarter(count).p_a(&PACKET);
        assert_eq!([0.0, 1.0, 2.0, 3.0, 4.0].map(at), [0.25, 1.0 / 3.0, 0.5, 1.0, 1.0]);
        // Halves of a packet: 1/8, 1/7, 1/6, 1/5 of the rest. Then one that is as large as five.
        let at = |count| quarter(count).p_a(&of_size(500));
        assert_eq!([0.0, 0.5, 1.0, 1.5].map(at), [1.0 / 8.0, 1.0 / 7.0, 1.0 / 6.0, 1.0 / 5.0]);
        assert_eq!(quarter(0.0).p_a(&of_size(5000)), 1.0);
        assert_eq!(in_bytes(15.0).p_a(&of_size(40)), 1.0);
    }

    #[test]
    fn below_the_lower_threshold_nothing_is_marked_and_from_the_upper_on_everything() {
        let mut red = Red { count: Some(7.0), ..red(0.0, false) };
        assert_eq!(red.on_arrival(&PACKET, &mut (), &Occupancy::of(Units(9), Bytes(9000)), Time::ZERO), Verdict::Accept);
        assert_eq!((red.avg, red.count), (4.5, None));
        assert_eq!(red.on_arrival(&PACKET, &mut (), &Occupancy::of(Units(26), Bytes(26_000)), Time::ZERO), Verdict::Mark);
        assert_eq!((red.avg, red.count), (15.25, Some(0.0)));
    }

    #[test]
    fn a_queue_shorter_than_the_minimum_is_treated_like_an_average_below_the_lower_threshold() {
        let red = red(40.0, false);
        let mut red = Red { spec: RedSpec { min_queue: 2, ..red.spec }, count: Some(7.0), ..red };
        let mut arrive = |waiting| red.on_arrival(&PACKET, &mut (), &Occupancy::of(Units(waiting), Bytes(0)), Time::ZERO);
        // Averages of 20.5 and 11.25 + 0.5: from 15 on, every packet is marked.
        assert_eq!((arrive(1), arrive(13)), (Verdict::Accept, Verdict::Mark));
    }

    #[test]
    fn at_a_steady_average_of_ten_one_packet_in_eleven_is_marked() {
        // p_b = 0.05. After a mark the count is 1 at the next packet (figure 2), so the distances between marks are uniform over 1 to 19:
        // 10 on average. 10,000 packets have 1000 marks, plus or minus 5 x sqrt(1000) x 5.48 / 10 = 87.
        let marks = marks(red(10.0, false), 10_000, 1000);
        assert!((913..=1087).contains(&marks), "{marks}");
    }

    #[test]
    fn in_bytes_mode_the_average_is_in_typical_packets() {
        // 40 acknowledgements of 50 bytes are two packets of 1000: (8 + 2) / 2.
        assert_eq!(in_bytes(8.0).updated_avg(&Occupancy::of(Units(40), Bytes(2000))), 5.0);
        // At an average of 10 a packet has 0.05 and one of half the size half of that, before marks are spread.
        assert_eq!(in_bytes(10.0).p_a(&of_size(500)), 0.025);
    }

    #[test]
    fn thresholds_in_bytes_are_typical_packets() {
        let red = in_bytes(10.0);
        let (lower, upper) = (QueueLength::Bytes(5000), QueueLength::Bytes(15_000));
        let of_bytes = Red { spec: RedSpec { min_threshold: lower, max_threshold: upper, ..red.spec }, ..red.clone() };
        assert_eq!((of_bytes.p_b(), red.p_b()), (0.05, 0.05));
        assert_eq!(marks(of_bytes, 1000, 500), marks(red, 1000, 500));
    }

    #[test]
    fn in_bytes_mode_the_fraction_of_marked_bytes_does_not_depend_on_the_packet_size() {
        // Typical packets as above. For packets of 500 bytes the distances between marks are 1 to 39, 20 on average: 20,000 have 1000
        // marks, plus or minus 5 x sqrt(1000) x 11.3 / 20 = 89. In packets mode the queue would be 20, where every packet is marked.
        assert_eq!(marks(in_bytes(10.0), 10_000, 1000), marks(red(10.0, false), 10_000, 1000));
        let found = marks(in_bytes(10.0), 20_000, 500);
        assert!((911..=1089).contains(&found), "{found}");
        assert_eq!(marks(red(20.0, false), 100, 500), 100);
    }

    #[test]
    fn packets_are_discarded_if_drops_signal_congestion() {
        let red = red(40.0, false);
        let mut red = Red { spec: RedSpec { signals: RedSignals::Drops, ..red.spec }, ..red };
        let mut arrive =
            |waiting| red.on_arrival(&PACKET, &mut (), &Occupancy::of(Units(waiting), Bytes(1000 * waiting)), Time::ZERO);
        // (40 + 10) / 2 = 25, then (25 + 4) / 2 = 14.5 where the packet may pass, then (14.5 + 1) / 2 = 7.75 and 4.375, below the
        // threshold.
        assert_eq!(arrive(10), Verdict::Discard(DropReason::Early));
        arrive(4);
        arrive(1);
        assert_eq!(arrive(1), Verdict::Accept);
    }
}
