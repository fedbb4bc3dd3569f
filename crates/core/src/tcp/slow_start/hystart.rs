//! HyStart: slow start ends when the RTTs of a round's first segments exceed that of the path, or when its acknowledgements are closely
//! spaced for so long a time that the flight fills the forward path (Ha and Rhee, "Taming the elephants: new TCP slow start", Computer
//! Networks 55(9), 2011).
//!
//! Differs, as in Linux: the delay is compared with the minimum RTT of the flow, and with the threshold of RFC 9406 section 4.3, whereas the
//! paper compares with the previous round and uses a sixteenth; a delay is judged from the ninth RTT of a round by the least of all its RTTs;
//! bursts may lengthen a train by up to 1 ms, and pacing by half of the RTT. Linux 6.18, measured: after an acknowledgement per two segments
//! every 100 ms slow start ends at 36 segments; with one per segment at 30 over 20 Mbit/s and at 26 over 10 Mbit/s with an RTT of 10 ms.
//! Linux 5.16 to 6.13 began rounds only at [`LOW_WINDOW`], and so had 48 instead of 36 (`hystart_from_16`).

use super::decision::{AckSample, Decision};
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Cwnd, Segments, Time, TimeDelta};
use serde::{Deserialize, Serialize};

/// Below this window slow start does not end, and neither trains nor RTTs are observed.
const LOW_WINDOW: Cwnd = Cwnd(16.0);
/// A round's first RTTs, which do not suffice for a judgement.
const N_SAMPLING: u32 = 8;
/// Bounds of the threshold, an eighth of the minimum RTT.
const MIN_ETA: TimeDelta = TimeDelta::from_millis(4);
const MAX_ETA: TimeDelta = TimeDelta::from_millis(16);
/// Maximum gap between the acknowledgements of a train.
const TRAIN_GAP: TimeDelta = TimeDelta::from_millis(2);
/// A train may be longer by the time of this many bytes, four of the largest bursts, at two windows per RTT; at most by 1 ms.
const BURSTS: f64 = 4.0 * 65_536.0;
const MAX_BURST_TIME: TimeDelta = TimeDelta::from_millis(1);

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct HyStart {
    /// dMin: the minimum RTT.
    d_min: Option<TimeDelta>,
    round: Option<Round>,
    /// No round begins below [`LOW_WINDOW`].
    begins_at_low_window: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Round {
    /// SND.NXT at the start of the round: its acknowledgement ends the round.
    end: SegmentNumber,
    start: Time,
    /// Time of the last acknowledgement of its train.
    last_of_train: Time,
    /// The minimum of its RTTs.
    cur_rtt: Option<TimeDelta>,
    samples: u32,
}

impl HyStart {
    pub(super) fn from_low_window() -> HyStart {
        HyStart { begins_at_low_window: true, ..HyStart::default() }
    }

    /// Not in slow start: the next slow start begins with a new round.
    pub(super) fn interrupt(&mut self, counted: Segments) -> Decision {
        self.round = None;
        Decision::Grow(counted)
    }

    pub(super) fn process_ack(&mut self, sample: &AckSample) -> Decision {
        let shorter = |known: Option<TimeDelta>| known.into_iter().chain(sample.rtt).min();
        self.d_min = shorter(self.d_min);
        if self.begins_at_low_window && sample.window < LOW_WINDOW {
            return self.interrupt(sample.counted);
        }
        let round = self.round.take().filter(|round| sample.snd_una <= round.end);
        let round = self.round.insert(round.unwrap_or_else(|| Round::begin(sample)));
        if sample.window < LOW_WINDOW {
            return Decision::Grow(sample.counted);
        }
        if sample.now.since(round.last_of_train) <= TRAIN_GAP {
            round.last_of_train = sample.now;
        }
        if sample.rtt.is_some() {
            round.samples += 1;
            round.cur_rtt = shorter(round.cur_rtt);
        }
        let found = self.d_min.is_some_and(|d_min| round.has_filled(d_min, sample) || round.is_delayed(d_min));
        if found { Decision::Exit } else { Decision::Grow(sample.counted) }
    }
}

impl Round {
    fn begin(sample: &AckSample) -> Round {
        Round { end: sample.snd_nxt, start: sample.now, last_of_train: sample.now, cur_rtt: None, samples: 0 }
    }

    /// Whether the train is longer than the forward path, which is half of the minimum RTT.
    fn has_filled(&self, d_min: TimeDelta, sample: &AckSample) -> bool {
        let threshold = d_min + sample.burst_time();
        let threshold = if sample.is_paced { threshold } else { TimeDelta(threshold.0 / 2) };
        self.last_of_train.since(self.start) > threshold
    }

    fn is_delayed(&self, d_min: TimeDelta) -> bool {
        let rise = TimeDelta(d_min.0 / 8).clamp(MIN_ETA, MAX_ETA);
        self.samples > N_SAMPLING && self.cur_rtt.is_some_and(|cur_rtt| cur_rtt > d_min + rise)
    }
}

impl AckSample {
    fn burst_time(&self) -> TimeDelta {
        let flight = self.window.0 * self.mss.0 as f64;
        self.srtt
            .map_or(TimeDelta::ZERO, |srtt| TimeDelta::from_seconds(srtt.seconds() * BURSTS / (2.0 * flight)).min(MAX_BURST_TIME))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::segment_number::plain::n;
    use crate::primitives::units::Bytes;

    /// Acknowledgements of one segment each, at these milliseconds, with these RTTs; a window of 20, all of it in flight, which is large enough
    /// for bursts of no duration. Returns the number of acknowledgements before slow start ends.
    fn acks_before_exit(acks: &[(u64, u64)]) -> Option<usize> {
        exit_of(acks, &AckSample { mss: Bytes(u64::MAX), srtt: Some(TimeDelta::ZERO), ..AckSample::default() })
    }

    fn exit_of(acks: &[(u64, u64)], sender: &AckSample) -> Option<usize> {
        let mut slow_start_state = HyStart::default();
        let process_ack = |(snd_una, &(at, rtt)): (u32, &(u64, u64))| {
            let (now, rtt) = (Time(TimeDelta::from_millis(at).0), Some(TimeDelta::from_millis(rtt)));
            let (window, counted) = (Cwnd(20.0), Segments(1));
            slow_start_state.process_ack(&AckSample {
                now,
                snd_una: n(snd_una),
                snd_nxt: n(snd_una + 19),
                rtt,
                window,
                counted,
                ..*sender
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
    fn nine_rtts_that_are_longer_by_more_than_an_eighth_end_slow_start() {
        // 100 / 8 = 12.5 ms. Acknowledgements 3 ms apart are not a train. The second round begins with the 21st; its ninth is the 29th.
        assert_eq!((two_rounds(3, 112), two_rounds(3, 113)), (None, Some(28)));
        // A single short RTT, whichever in the round, is sufficient to go on until the next.
        let acks: Vec<(u64, u64)> =
            (0..60).map(|index| (100 + index * 3, if index < 20 || index == 25 { 100 } else { 113 })).collect();
        assert_eq!(acks_before_exit(&acks), Some(48));
    }

    #[test]
    fn the_rise_is_more_than_4_and_at_most_16_milliseconds() {
        let after = |base: u64, rise: u64| {
            acks_before_exit(
                &(0..40).map(|index| (100 + index * 5, base + if index < 20 { 0 } else { rise })).collect::<Vec<_>>(),
            )
        };
        assert_eq!((after(10, 4), after(10, 5), after(400, 16), after(400, 17)), (None, Some(28), None, Some(28)));
    }

    fn train(gap: u64, rtt: u64) -> Vec<(u64, u64)> {
        (0..20).map(|index| (100 + index * gap, rtt)).collect()
    }

    #[test]
    fn a_train_longer_than_half_the_rtt_ends_slow_start() {
        // 30 / 2 = 15 ms: the acknowledgements are at 0, 2, 4, ... 16 ms of the round.
        assert_eq!((acks_before_exit(&train(2, 30)), acks_before_exit(&train(3, 30))), (Some(8), None));
        // A gap of 3 ms before the ninth interrupts it for the rest of the round.
        let broken: Vec<(u64, u64)> = (0..20).map(|index| (100 + index * 2 + u64::from(index > 7), 30)).collect();
        assert_eq!(acks_before_exit(&broken), None);
    }

    #[test]
    fn bursts_and_pacing_lengthen_a_train() {
        let sender = |mss| AckSample {
            window: Cwnd(20.0),
            mss: Bytes(mss),
            srtt: Some(TimeDelta::from_millis(31)),
            ..AckSample::default()
        };
        // 262144 bytes at 2 * 20 * 1448 per 31 ms take 140 ms, and so 1 ms: 16 ms instead of 15.5, and 32 ms.
        assert_eq!(acks_before_exit(&train(2, 31)), Some(8));
        assert_eq!(exit_of(&train(2, 31), &sender(1448)), Some(9));
        assert_eq!(exit_of(&train(2, 31), &AckSample { is_paced: true, ..sender(1448) }), Some(17));
        // At 400 times that rate they take 0.35 ms.
        assert_eq!(sender(579_200).burst_time().0 / TimeDelta::from_micros(1).0, 350);
    }

    #[test]
    fn rounds_may_begin_at_16_segments() {
        // From a window of eleven on, an acknowledgement every 3 ms, whose RTT exceeds the first by more than an eighth.
        let exit = |mut hystart: HyStart| {
            (1..100).find(|&snd_una| {
                let (window, rtt) = (10 + snd_una, if snd_una == 1 { 100 } else { 120 });
                let sample = AckSample {
                    now: Time(TimeDelta::from_millis(3 * u64::from(snd_una)).0),
                    snd_una: n(snd_una),
                    snd_nxt: n(snd_una + window),
                    rtt: Some(TimeDelta::from_millis(rtt)),
                    window: Cwnd(f64::from(window)),
                    counted: Segments(1),
                    ..AckSample::default()
                };
                hystart.process_ack(&sample) == Decision::Exit
            })
        };
        // The first round ends with the acknowledgement of 12, before its ninth RTT, and the ninth of the second is the 21st.
        assert_eq!(exit(HyStart::default()), Some(21));
        // At 16 segments, the sixth, a round begins.
        assert_eq!(exit(HyStart::from_low_window()), Some(14));
    }

    #[test]
    fn slow_start_does_not_end_below_16_segments() {
        let answer = |window| {
            let mut slow_start_state = HyStart::default();
            let mut process_ack = |snd_una, at| {
                let now = Time(TimeDelta::from_millis(at).0);
                let (rtt, window) = (Some(TimeDelta::from_millis(2)), Cwnd(window));
                let counted = Segments(2);
                slow_start_state.process_ack(&AckSample {
                    now,
                    snd_una,
                    snd_nxt: n(20),
                    rtt,
                    window,
                    counted,
                    ..AckSample::default()
                })
            };
            (process_ack(n(1), 100), process_ack(n(3), 102))
        };
        assert_eq!(answer(15.0), (Decision::Grow(Segments(2)), Decision::Grow(Segments(2))));
        assert_eq!(answer(16.0), (Decision::Grow(Segments(2)), Decision::Exit));
    }
}
