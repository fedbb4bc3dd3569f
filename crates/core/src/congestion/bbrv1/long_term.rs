//! Long-term bandwidth of a path with a policer. A token bucket admits bursts at more than its rate, so that the maximum filter of the delivery
//! rate overestimates the path, and then discards whatever exceeds the rate (Flach et al., "An Internet-Wide Analysis of Traffic Policing",
//! SIGCOMM 2016). Two consecutive intervals of high loss and similar delivery rates reveal it; the flow then sends at their mean rate for a
//! while (Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016, "Token-bucket policers"; the numbers are those of
//! Linux).

use crate::congestion::support::Lost;
use crate::congestion::support::bbr::Rounds;
use crate::primitives::signal::RateSample;
use crate::primitives::units::{Bytes, Time, TimeDelta};
use serde::{Deserialize, Serialize};

/// Rounds of an interval at least and at most.
const MIN_ROUNDS: u32 = 4;
const MAX_ROUNDS: u32 = 16;
/// Lost segments per delivered segment at which an interval may end: about 20 %.
const LOSS_THRESHOLD: f64 = 50.0 / 256.0;
/// Difference of two similar rates, relative to the first and in bits per second.
const SIMILAR: f64 = 1.0 / 8.0;
const SIMILAR_BPS: f64 = 4000.0;
/// Rounds for which the long-term bandwidth is used.
const USED_ROUNDS: u32 = 48;
/// Minimum length of an interval.
const MIN_LENGTH: TimeDelta = TimeDelta::from_millis(1);

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct LongTerm {
    stage: Stage,
    packet: Bytes,
    /// Segments lost in total, now and at the previous delivery rate sample.
    lost: u64,
    lost_before: u64,
    /// Time of the last detected loss, and the number of losses detected at that instant.
    newly_lost: (Time, u32),
}

/// Bandwidths in segments per second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Stage {
    /// Until a loss.
    Waiting,
    /// In this interval, after one with this bandwidth.
    Sampling { interval: Interval, previous: Option<f64> },
    /// The path has a policer of this rate; rounds since its detection.
    Policed { bandwidth: f64, rounds: u32 },
}

/// An interval between two losses, and the totals at its start.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Interval {
    start: Time,
    delivered: u64,
    lost: u64,
    rounds: u32,
}

/// An acknowledgement with a delivery rate sample, or a timeout, which ends a round.
#[derive(Clone, Copy)]
pub(super) struct Progress {
    pub now: Time,
    /// Segments delivered and lost in total.
    pub delivered: u64,
    pub lost: u64,
    /// It reports a loss.
    pub has_loss: bool,
    /// It ends a round.
    pub ends_round: bool,
    /// Its delivery rate was limited by missing data.
    pub app_limited: bool,
    pub packet: Bytes,
}

impl LongTerm {
    pub(super) fn new(packet: Bytes) -> LongTerm {
        LongTerm { stage: Stage::Waiting, packet, lost: 0, lost_before: 0, newly_lost: (Time::ZERO, 0) }
    }

    pub(super) fn on_lost(&mut self, lost: &Lost) {
        self.lost = lost.lost;
        let (at, count) = self.newly_lost;
        self.newly_lost = (lost.now, if at == lost.now { count + 1 } else { 1 });
    }

    /// Segments found lost at this instant.
    pub(super) fn lost_at(&self, now: Time) -> u32 {
        let (at, count) = self.newly_lost;
        if at == now { count } else { 0 }
    }

    pub(super) fn bandwidth(&self) -> Option<f64> {
        match self.stage {
            Stage::Policed { bandwidth, .. } => Some(bandwidth),
            Stage::Waiting | Stage::Sampling { .. } => None,
        }
    }

    pub(super) fn on_ack(&mut self, now: Time, rounds: &Rounds, sample: &RateSample) -> Progress {
        let has_loss = self.lost > self.lost_before;
        self.lost_before = self.lost;
        let app_limited = rounds.is_app_limited(sample);
        Progress { has_loss, ends_round: rounds.started, app_limited, ..self.on_timeout(now, rounds) }
    }

    pub(super) fn on_timeout(&self, now: Time, rounds: &Rounds) -> Progress {
        let (delivered, lost, packet) = (rounds.delivered, self.lost, self.packet);
        Progress { now, delivered, lost, has_loss: true, ends_round: true, app_limited: false, packet }
    }

    /// Counts a round in ProbeBW. Returns whether probing for bandwidth begins again.
    pub(super) fn expires(&mut self) -> bool {
        let Stage::Policed { rounds, .. } = &mut self.stage else { return false };
        *rounds += 1;
        let is_over = *rounds >= USED_ROUNDS;
        if is_over {
            self.stage = Stage::Waiting;
        }
        is_over
    }

    pub(super) fn sample(&mut self, progress: &Progress) {
        self.stage.sample(progress);
    }
}

impl Stage {
    fn sample(&mut self, progress: &Progress) {
        *self = match *self {
            Stage::Waiting if progress.has_loss => {
                Stage::Sampling { interval: Interval::begin(progress), previous: None }.continued(progress)
            }
            other => other.continued(progress),
        };
    }

    fn continued(self, progress: &Progress) -> Stage {
        let Stage::Sampling { mut interval, previous } = self else { return self };
        interval.rounds += u32::from(progress.ends_round);
        // Without data the rate would be underestimated; a long interval mixes different rates.
        if progress.app_limited || interval.rounds > MAX_ROUNDS {
            return Stage::Waiting;
        }
        // It ends with a loss: then the tokens are exhausted.
        let bandwidth = (interval.rounds >= MIN_ROUNDS && progress.has_loss).then(|| interval.bandwidth(progress)).flatten();
        match (bandwidth, previous) {
            (None, _) => Stage::Sampling { interval, previous },
            (Some(bandwidth), Some(previous)) if are_similar([previous, bandwidth], progress.packet) => {
                Stage::Policed { bandwidth: (bandwidth + previous) / 2.0, rounds: 0 }
            }
            (Some(bandwidth), _) => Stage::Sampling { interval: Interval::begin(progress), previous: Some(bandwidth) },
        }
    }
}

impl Interval {
    fn begin(progress: &Progress) -> Interval {
        Interval { start: progress.now, delivered: progress.delivered, lost: progress.lost, rounds: 0 }
    }

    /// Its delivery rate, if it is long enough and has enough losses.
    fn bandwidth(&self, progress: &Progress) -> Option<f64> {
        let (delivered, lost) = ((progress.delivered - self.delivered) as f64, (progress.lost - self.lost) as f64);
        let length = progress.now.since(self.start);
        (delivered > 0.0 && lost >= LOSS_THRESHOLD * delivered && length >= MIN_LENGTH).then(|| delivered / length.seconds())
    }
}

fn are_similar([previous, bandwidth]: [f64; 2], packet: Bytes) -> bool {
    let difference = (bandwidth - previous).abs();
    difference <= SIMILAR * previous || difference * 8.0 * packet.0 as f64 <= SIMILAR_BPS
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow with an RTT of 100 ms, and its losses.
    struct Flow {
        now: Time,
        delivered: u64,
        lost: u64,
        long_term: LongTerm,
    }

    impl Flow {
        /// With a first loss, which begins an interval.
        fn sampling() -> Flow {
            let mut flow = Flow { now: Time::ZERO, delivered: 0, lost: 0, long_term: LongTerm::new(Bytes(1250)) };
            flow.round(0, 0);
            assert_eq!(flow.long_term.stage, Stage::Waiting);
            flow.round(0, 1);
            flow
        }

        /// A round, with these totals at its end.
        fn round(&mut self, delivered: u64, lost: u64) {
            self.now += TimeDelta::from_millis(100);
            self.delivered += delivered;
            self.lost += lost;
            self.long_term.sample(&self.progress(lost));
        }

        fn progress(&self, new_losses: u64) -> Progress {
            Progress {
                now: self.now,
                delivered: self.delivered,
                lost: self.lost,
                has_loss: new_losses > 0,
                ends_round: true,
                app_limited: false,
                packet: Bytes(1250),
            }
        }

        /// An interval of this many rounds with these deliveries in each, whose last has these losses.
        fn interval(&mut self, rounds: u32, delivered: u64, lost: u64) {
            (1..rounds).for_each(|_| self.round(delivered, 0));
            self.round(delivered, lost);
        }
    }

    #[test]
    fn two_intervals_of_four_rounds_with_high_loss_and_similar_rates_are_a_policer() {
        // The round of the first loss counts, so that three more suffice: 30 segments in 300 ms; 20 % of 30 are 6.
        let mut flow = Flow::sampling();
        flow.interval(3, 10, 6);
        assert_eq!(flow.long_term.bandwidth(), None);
        // 44 in 400 ms: 110 per second, a tenth more. The mean is 105.
        flow.interval(4, 11, 9);
        assert_eq!(flow.long_term.bandwidth(), Some(105.0));
    }

    #[test]
    fn an_interval_goes_on_until_a_loss_with_enough_losses() {
        let mut flow = Flow::sampling();
        flow.interval(3, 10, 6);
        // 7 of 40 are 17.5 %; in the next round, 10 of 50 are 20 %.
        flow.interval(4, 10, 7);
        assert_eq!(flow.long_term.bandwidth(), None);
        flow.round(10, 3);
        assert_eq!(flow.long_term.bandwidth(), Some(100.0));
    }

    #[test]
    fn rates_that_differ_by_more_than_an_eighth_are_compared_with_the_next() {
        let mut flow = Flow::sampling();
        flow.interval(3, 100, 60);
        flow.interval(4, 113, 100);
        assert_eq!(flow.long_term.bandwidth(), None);
        flow.interval(4, 113, 100);
        assert_eq!(flow.long_term.bandwidth(), Some(1130.0));
        // Below 4 kbit/s, which is 0.4 segments per second, every difference is small.
        assert_eq!([0.39, 0.41].map(|difference| are_similar([1.0, 1.0 + difference], Bytes(1250))), [true, false]);
    }

    #[test]
    fn missing_data_and_more_than_sixteen_rounds_end_the_search() {
        let mut flow = Flow::sampling();
        (0..15).for_each(|_| flow.round(10, 0));
        assert!(matches!(flow.long_term.stage, Stage::Sampling { .. }));
        flow.round(10, 50);
        assert_eq!(flow.long_term.stage, Stage::Waiting);
        let mut flow = Flow::sampling();
        flow.long_term.sample(&Progress { app_limited: true, ..flow.progress(0) });
        assert_eq!(flow.long_term.stage, Stage::Waiting);
    }

    #[test]
    fn the_rate_is_used_for_48_rounds() {
        let stage = Stage::Policed { bandwidth: 100.0, rounds: 0 };
        let mut long_term = LongTerm { stage, ..LongTerm::new(Bytes(1250)) };
        assert_eq!((1..=48).position(|_| long_term.expires()), Some(47));
        assert_eq!((long_term.stage, long_term.expires()), (Stage::Waiting, false));
    }
}
