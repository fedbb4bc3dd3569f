//! HyStart++: when the RTTs of a round exceed those of the previous round, slow start continues at a quarter of its pace (CSS, conservative
//! slow start), until five rounds confirm the delay, or one refutes it (RFC 9406 section 4.2). Names are from the RFC.
//!
//! Its L, the maximum number of segments for which an acknowledgement opens the window, is the flow's `abc_limit`.

use super::decision::{AckSample, Decision};
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Segments, TimeDelta};
use serde::{Deserialize, Serialize};

// Section 4.3.
const MIN_RTT_THRESH: TimeDelta = TimeDelta::from_millis(4);
const MAX_RTT_THRESH: TimeDelta = TimeDelta::from_millis(16);
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u32 = 8;
const CSS_GROWTH_DIVISOR: u32 = 4;
const CSS_ROUNDS: u32 = 5;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct HyStartPlusPlus {
    /// SND.NXT at the start of the round: its acknowledgement ends the round.
    window_end: SegmentNumber,
    last_round_min_rtt: Option<TimeDelta>,
    current_round_min_rtt: Option<TimeDelta>,
    rtt_sample_count: u32,
    css: Option<Css>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Css {
    css_baseline_min_rtt: TimeDelta,
    /// Completed rounds, including the one in which it began.
    css_rounds: u32,
    /// Counted segments that have not opened the window.
    remainder: u32,
}

impl HyStartPlusPlus {
    pub(super) fn process_ack(&mut self, sample: &AckSample) -> Decision {
        if sample.snd_una > self.window_end {
            if let Some(css) = &mut self.css {
                css.css_rounds += 1;
                if css.css_rounds == CSS_ROUNDS {
                    return Decision::Exit;
                }
            }
            self.window_end = sample.snd_nxt;
            self.last_round_min_rtt = self.current_round_min_rtt.take();
            self.rtt_sample_count = 0;
        }
        let opens = self.css.as_mut().map_or(sample.counted, |css| css.open(sample.counted));
        if let Some(rtt) = sample.rtt {
            self.current_round_min_rtt = Some(self.current_round_min_rtt.map_or(rtt, |min| min.min(rtt)));
            self.rtt_sample_count += 1;
        }
        self.judge();
        Decision::Grow(opens)
    }

    /// Once a round has enough samples: whether CSS begins, or was entered in error.
    fn judge(&mut self) {
        let Some(current) = self.current_round_min_rtt.filter(|_| self.rtt_sample_count >= N_RTT_SAMPLE) else { return };
        match (&self.css, self.last_round_min_rtt) {
            (Some(css), _) if current < css.css_baseline_min_rtt => self.css = None,
            (None, Some(last)) if current >= last + rtt_thresh(last) => {
                self.css = Some(Css { css_baseline_min_rtt: current, css_rounds: 0, remainder: 0 });
            }
            _ => {}
        }
    }
}

/// Rise of the minimum RTT that begins CSS.
fn rtt_thresh(last_round_min_rtt: TimeDelta) -> TimeDelta {
    TimeDelta(last_round_min_rtt.0 / MIN_RTT_DIVISOR).clamp(MIN_RTT_THRESH, MAX_RTT_THRESH)
}

impl Css {
    fn open(&mut self, Segments(counted): Segments) -> Segments {
        let all = self.remainder + counted;
        self.remainder = all % CSS_GROWTH_DIVISOR;
        Segments(all / CSS_GROWTH_DIVISOR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::random::{Entity, Purpose, Stream};
    use crate::primitives::segment_number::plain::n;
    use crate::primitives::units::{Cwnd, Time};

    /// Section 4.2, sentence by sentence: windows and numbers in segments (SMSS is 1), times in ms, and infinity where the text has it.
    struct Rfc9406 {
        cwnd: f64,
        ssthresh: f64,
        in_css: bool,
        css_rounds: u32,
        window_end: f64,
        last_round_min_rtt: f64,
        current_round_min_rtt: f64,
        css_baseline_min_rtt: f64,
        rtt_sample_count: u32,
    }

    impl Rfc9406 {
        const L: f64 = 8.0;

        fn new(cwnd: f64) -> Rfc9406 {
            Rfc9406 {
                cwnd,
                ssthresh: f64::INFINITY,
                in_css: false,
                css_rounds: 0,
                window_end: 0.0,
                last_round_min_rtt: f64::INFINITY,
                current_round_min_rtt: f64::INFINITY,
                css_baseline_min_rtt: f64::INFINITY,
                rtt_sample_count: 0,
            }
        }

        fn on_ack(&mut self, Arriving { ack, n, rtt, snd_nxt }: Arriving) {
            // "Define windowEnd as a sequence number initialized to SND.NXT. When windowEnd is ACKed, the current round ends
            // and windowEnd is set to SND.NXT."
            if ack > self.window_end {
                self.window_end = snd_nxt;
                if self.in_css {
                    // "CSS lasts at most CSS_ROUNDS rounds. If the transition into CSS happens in the middle of a round, that
                    // partial round counts towards the limit." "If CSS_ROUNDS rounds are complete, enter congestion avoidance by
                    // setting the ssthresh to the current cwnd."
                    self.css_rounds += 1;
                    if self.css_rounds == 5 {
                        self.ssthresh = self.cwnd;
                        return;
                    }
                }
                // "At the start of each round during standard slow start and CSS, initialize the variables"
                self.last_round_min_rtt = self.current_round_min_rtt;
                self.current_round_min_rtt = f64::INFINITY;
                self.rtt_sample_count = 0;
            }
            let was_in_css = self.in_css;
            if !was_in_css {
                self.cwnd += n.min(Self::L);
            } else {
                self.cwnd += n.min(Self::L) / 4.0;
            }
            if let Some(rtt) = rtt {
                self.current_round_min_rtt = self.current_round_min_rtt.min(rtt);
                self.rtt_sample_count += 1;
            }
            if self.rtt_sample_count < 8 || self.current_round_min_rtt == f64::INFINITY {
                return;
            }
            if !was_in_css && self.last_round_min_rtt < f64::INFINITY {
                let rtt_thresh = (self.last_round_min_rtt / 8.0).clamp(4.0, 16.0);
                if self.current_round_min_rtt >= self.last_round_min_rtt + rtt_thresh {
                    self.css_baseline_min_rtt = self.current_round_min_rtt;
                    self.in_css = true;
                    self.css_rounds = 0;
                }
            } else if was_in_css && self.current_round_min_rtt < self.css_baseline_min_rtt {
                self.css_baseline_min_rtt = f64::INFINITY;
                self.in_css = false;
            }
        }
    }

    /// An acknowledgement for the model.
    #[derive(Clone, Copy)]
    struct Arriving {
        ack: f64,
        n: f64,
        rtt: Option<f64>,
        snd_nxt: f64,
    }

    #[test]
    fn it_matches_the_text_of_the_rfc_for_any_rtts() {
        let (mut conservative, mut resumed, mut ended) = (0, 0, 0);
        for seed in 0..500 {
            let stream = Stream::new(Entity { seed, name: "hystart++", index: 0 }, Purpose::Policy);
            let mut drawn = 0;
            let mut draw = |max: u64| {
                drawn += 1;
                stream.bits(drawn) % (max + 1)
            };
            let (mut slow_start_state, mut model) = (HyStartPlusPlus::default(), Rfc9406::new(10.0));
            // Whole segments by which the window has opened in CSS, and the fractions that the model has lost by leaving CSS.
            let (mut window, mut lost) = (10, 0.0);
            let (mut snd_una, mut snd_nxt, mut level) = (0, 10, 20 + draw(200));
            for _ in 0..600 {
                let n = 1 + draw(u64::min(9, (snd_nxt - snd_una - 1).into())) as u32;
                snd_una += n;
                // The path changes occasionally; one sample in four is missing.
                if draw(40) == 0 {
                    level = (level + draw(40)).saturating_sub(15).max(5);
                }
                let rtt = (draw(3) > 0).then(|| level + draw(5));
                let was_in_css = model.in_css;
                let remainder = slow_start_state.css.as_ref().map_or(0, |css| css.remainder);
                model.on_ack(Arriving {
                    ack: snd_una.into(),
                    n: n.into(),
                    rtt: rtt.map(|rtt| rtt as f64),
                    snd_nxt: snd_nxt.into(),
                });
                let sample = AckSample {
                    now: Time::ZERO,
                    snd_una: SegmentNumber(snd_una),
                    snd_nxt: SegmentNumber(snd_nxt),
                    rtt: rtt.map(TimeDelta::from_millis),
                    window: Cwnd(window.into()),
                    counted: Segments(n.min(8)),
                    ..AckSample::default()
                };
                let answer = slow_start_state.process_ack(&sample);
                assert_eq!(answer == Decision::Exit, model.ssthresh.is_finite(), "{seed}");
                let Decision::Grow(opens) = answer else {
                    ended += 1;
                    break;
                };
                window += opens.0;
                conservative += u32::from(!was_in_css && model.in_css);
                if was_in_css && !model.in_css {
                    resumed += 1;
                    lost += f64::from((remainder + n.min(8)) % 4) / 4.0;
                }
                assert_eq!(slow_start_state.css.is_some(), model.in_css, "{seed}");
                let kept = slow_start_state.css.as_ref().map_or(0.0, |css| f64::from(css.remainder) / 4.0);
                assert_eq!(f64::from(window) + kept + lost, model.cwnd, "{seed}");
                snd_nxt = snd_nxt.max(snd_una + window.min(100));
            }
        }
        assert!(conservative > 100 && resumed > 20 && ended > 100, "{conservative}, {resumed}, {ended}");
    }

    /// The answers to rounds of ten acknowledgements of one segment each, with one RTT per round in ms.
    fn rounds(rtts: &[u64]) -> Vec<Decision> {
        let mut slow_start_state = HyStartPlusPlus::default();
        let process_ack = |snd_una: u32| {
            let rtt = Some(TimeDelta::from_millis(rtts[(snd_una as usize - 1) / 10]));
            let snd_nxt = (snd_una - 1) / 10 * 10 + 10;
            slow_start_state.process_ack(&AckSample {
                now: Time::ZERO,
                snd_una: n(snd_una),
                snd_nxt: n(snd_nxt),
                rtt,
                window: Cwnd(20.0),
                counted: Segments(1),
                ..AckSample::default()
            })
        };
        (1..=10 * rtts.len() as u32).map(process_ack).collect()
    }

    #[test]
    fn five_rounds_at_a_quarter_of_the_pace_follow_a_longer_rtt() {
        // 40 / 8 = 5 ms. The eighth sample of the second round begins CSS; that round is the first of five.
        let answers = rounds(&[40, 45, 45, 45, 45, 45, 45]);
        let opens = |answer: &Decision| if let Decision::Grow(Segments(count)) = answer { *count } else { 100 };
        assert_eq!(answers[..18].iter().map(opens).sum::<u32>(), 18);
        assert_eq!(answers[18..60].iter().map(opens).sum::<u32>(), 42 / 4);
        assert_eq!(answers[60], Decision::Exit);
        assert!(rounds(&[40, 44, 48, 52]).iter().all(|&answer| answer == Decision::Grow(Segments(1))));
    }

    #[test]
    fn slow_start_resumes_when_the_rtt_falls_below_the_first_of_css() {
        // The eighth sample of the third round is below 45 ms.
        let answers = rounds(&[40, 45, 44, 44]);
        assert!(answers[28..].iter().all(|&answer| answer == Decision::Grow(Segments(1))));
        assert_eq!(answers[18..28].iter().filter(|&&answer| answer == Decision::Grow(Segments(1))).count(), 10 / 4);
    }

    #[test]
    fn a_round_of_fewer_than_eight_samples_is_inconclusive() {
        let mut slow_start_state = HyStartPlusPlus::default();
        for snd_una in 1..40u32 {
            let rtt = Some(TimeDelta::from_millis(40 * u64::from(1 + snd_una / 7)));
            let snd_nxt = snd_una.div_ceil(7) * 7;
            let (window, counted) = (Cwnd(20.0), Segments(1));
            let sample = AckSample { snd_una: n(snd_una), snd_nxt: n(snd_nxt), rtt, window, counted, ..AckSample::default() };
            assert_eq!(slow_start_state.process_ack(&sample), Decision::Grow(Segments(1)));
        }
    }
}
