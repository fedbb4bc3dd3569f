//! HyStart: slow start ends when the RTTs of a round's first segments exceed that of the path, or when its acknowledgements are closely
//! spaced for so long a time that the flight fills the forward path (Ha and Rhee, "Taming the elephants: new TCP slow start", Computer
//! Networks 55(9), 2011).
//!
//! Differs: the delay is compared with the minimum RTT of the flow, and with the threshold of RFC 9406 section 4.3 and of kernels, whereas
//! the paper compares with the previous round and uses a sixteenth.

use super::decision::{AckSample, Decision};
use crate::primitives::units::{Cwnd, Segments, Time, TimeDelta};
use serde::{Deserialize, Serialize};

/// Slow start does not end below this window.
const LOW_WINDOW: Cwnd = Cwnd(16.0);
/// Samples per round.
const N_SAMPLING: u32 = 8;
/// Bounds of the threshold, an eighth of the minimum RTT.
const MIN_ETA: TimeDelta = TimeDelta::from_millis(4);
const MAX_ETA: TimeDelta = TimeDelta::from_millis(16);
/// Maximum gap between the acknowledgements of a train.
const TRAIN_GAP: TimeDelta = TimeDelta::from_millis(2);

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct HyStart {
    /// dMin: the minimum RTT.
    d_min: Option<TimeDelta>,
    round: Option<Round>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Round {
    /// SND.NXT at the start of the round: its acknowledgement ends the round.
    end: u32,
    start: Time,
    /// Time of the last acknowledgement of its train.
    last_of_train: Time,
    /// The minimum of its first RTTs.
    cur_rtt: Option<TimeDelta>,
    samples: u32,
}

impl HyStart {
    /// Not in slow start: the next slow start begins with a new round.
    pub(super) fn interrupt(&mut self, counted: Segments) -> Decision {
        self.round = None;
        Decision::Grow(counted)
    }

    pub(super) fn process_ack(&mut self, sample: &AckSample) -> Decision {
        let shorter = |known: Option<TimeDelta>| known.into_iter().chain(sample.rtt).min();
        self.d_min = shorter(self.d_min);
        let round = self.round.take().filter(|round| sample.snd_una <= round.end);
        let round = self.round.insert(round.unwrap_or_else(|| Round::begin(sample)));
        if sample.now.since(round.last_of_train) <= TRAIN_GAP {
            round.last_of_train = sample.now;
        }
        if sample.rtt.is_some() && round.samples < N_SAMPLING {
            round.samples += 1;
            round.cur_rtt = shorter(round.cur_rtt);
        }
        let found = self.d_min.is_some_and(|d_min| round.has_filled(d_min) || round.is_delayed(d_min));
        if found && sample.window >= LOW_WINDOW { Decision::Exit } else { Decision::Grow(sample.counted) }
    }
}

impl Round {
    fn begin(sample: &AckSample) -> Round {
        Round { end: sample.snd_nxt, start: sample.now, last_of_train: sample.now, cur_rtt: None, samples: 0 }
    }

    /// Whether the train is longer than the forward path, which is half of the minimum RTT.
    fn has_filled(&self, d_min: TimeDelta) -> bool {
        self.last_of_train.since(self.start) > TimeDelta(d_min.0 / 2)
    }

    fn is_delayed(&self, d_min: TimeDelta) -> bool {
        let rise = TimeDelta(d_min.0 / 8).clamp(MIN_ETA, MAX_ETA);
        self.samples >= N_SAMPLING && self.cur_rtt.is_some_and(|cur_rtt| cur_rtt >= d_min + rise)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Acknowledgements of one segment each, at these milliseconds, with these RTTs; a window of 20, all of it in flight. Returns the
    /// number of acknowledgements before slow start ends.
    fn acks_before_exit(acks: &[(u64, u64)]) -> Option<usize> {
        let mut slow_start_state = HyStart::default();
        let process_ack = |(snd_una, &(at, rtt)): (u32, &(u64, u64))| {
            let (now, rtt) = (Time(TimeDelta::from_millis(at).0), Some(TimeDelta::from_millis(rtt)));
            slow_start_state.process_ack(&AckSample {
                now,
                snd_una,
                snd_nxt: snd_una + 19,
                rtt,
                window: Cwnd(20.0),
                counted: Segments(1),
            })
        };
        (1..).zip(acks).map(process_ack).position(|answer| answer == Decision::Exit)
    }

    /// Two rounds of twenty acknowledgements with this gap: one with the RTT of the empty path, and one with this RTT.
    fn two_rounds(gap: u64, rtt: u64) -> Option<usize> {
        let acks: Vec<(u64, u64)> = (0..40).map(|index| (100 + index * gap, if index < 20 { 100 } else { rtt })).collect();
        acks_before_exit(&acks)
    }

    #[test]
    fn eight_rtts_that_are_an_eighth_longer_end_slow_start() {
        // 100 / 8 = 12.5 ms. Acknowledgements 3 ms apart are not a train. The second round begins with the 21st; its eighth is the 28th.
        assert_eq!((two_rounds(3, 112), two_rounds(3, 113)), (None, Some(27)));
    }

    #[test]
    fn the_rise_is_at_least_4_and_at_most_16_milliseconds() {
        let after = |base: u64, rise: u64| {
            acks_before_exit(
                &(0..40).map(|index| (100 + index * 5, base + if index < 20 { 0 } else { rise })).collect::<Vec<_>>(),
            )
        };
        assert_eq!((after(10, 3), after(10, 4), after(400, 15), after(400, 16)), (None, Some(27), None, Some(27)));
    }

    #[test]
    fn a_train_longer_than_half_the_rtt_ends_slow_start() {
        // 30 / 2 = 15 ms: the acknowledgements are at 0, 2, 4, ... 16 ms of the round.
        let train = |gap: u64| acks_before_exit(&(0..20).map(|index| (100 + index * gap, 30)).collect::<Vec<_>>());
        assert_eq!((train(2), train(3)), (Some(8), None));
        // A gap of 3 ms before the ninth interrupts it for the rest of the round.
        let broken: Vec<(u64, u64)> = (0..20).map(|index| (100 + index * 2 + u64::from(index > 7), 30)).collect();
        assert_eq!(acks_before_exit(&broken), None);
    }

    #[test]
    fn slow_start_does_not_end_below_16_segments() {
        let answer = |window| {
            let mut slow_start_state = HyStart::default();
            let mut process_ack = |snd_una, at| {
                let now = Time(TimeDelta::from_millis(at).0);
                let (rtt, window) = (Some(TimeDelta::from_millis(2)), Cwnd(window));
                slow_start_state.process_ack(&AckSample { now, snd_una, snd_nxt: 20, rtt, window, counted: Segments(2) })
            };
            (process_ack(1, 100), process_ack(3, 102))
        };
        assert_eq!(answer(15.0), (Decision::Grow(Segments(2)), Decision::Grow(Segments(2))));
        assert_eq!(answer(16.0), (Decision::Grow(Segments(2)), Decision::Exit));
    }
}
