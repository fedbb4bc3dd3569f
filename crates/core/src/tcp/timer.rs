//! The retransmission timer: RFC 6298 exactly, or in the integer ticks of BSD and of the NS simulator.

use super::spec::{TimerForm, TimerSpec};
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Time, TimeDelta};
use serde::{Deserialize, Serialize};

/// The retransmission timer of one flow, with the RTT estimate that determines it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Timer {
    /// Expiry; [`Time::NEVER`] while it is off.
    pub(crate) deadline: Time,
    pub(in crate::tcp) estimator: Estimator,
}

/// What determines the length of a timeout besides the RTT, and its start.
#[derive(Clone, Copy)]
pub(crate) struct Clock<'a> {
    pub(crate) now: Time,
    pub(crate) spec: &'a TimerSpec,
    /// Phase of the host's free-running clock (BSD form only).
    pub(crate) phase: TimeDelta,
}

impl Timer {
    pub(in crate::tcp) fn new() -> Timer {
        Timer { deadline: Time::NEVER, estimator: Estimator::new() }
    }

    #[inline(always)]
    pub(in crate::tcp) fn start(&mut self, clock: Clock) {
        let deadline = self.estimator.deadline(clock);
        self.deadline = if clock.spec.jiffy.0 == 0 { deadline } else { clock.spec.on_tick(clock.now, deadline.since(clock.now)) };
    }

    pub(in crate::tcp) fn stop(&mut self) {
        self.deadline = Time::NEVER;
    }
}

impl TimerSpec {
    /// Expiry of a timer that is set now, on ticks that are multiples of the period: the tick under way is not counted, so that no timer
    /// expires early. The ticks of long timers are coarser: each level of the wheel holds eight times longer ones than the level before.
    #[inline]
    pub(in crate::tcp) fn on_tick(&self, now: Time, delay: TimeDelta) -> Time {
        let jiffy = self.jiffy.0;
        if jiffy == 0 {
            return now + delay;
        }
        let ticks = delay.0.div_ceil(jiffy);
        let expires = now.0 / jiffy + ticks;
        let level = if ticks < FIRST_LEVEL { 0 } else { (ticks / FIRST_LEVEL).ilog2() / 3 + 1 };
        Time((((expires >> (3 * level)) + 1) << (3 * level)) * jiffy)
    }
}

/// Ticks from which on a timer is in the second level of the wheel, which has eight times coarser ticks.
const FIRST_LEVEL: u64 = 63;

/// Sequence numbers after an acknowledgement.
#[derive(Clone, Copy)]
pub(crate) struct Progress {
    pub(crate) snd_una: SegmentNumber,
    pub(crate) snd_nxt: SegmentNumber,
}

/// State of `peak_deviation`, in microseconds as in Linux.
#[derive(Clone, Copy)]
struct Peak {
    /// Mean deviation (mdev, in quarters).
    deviation: u32,
    /// Largest mean deviation of this round trip (mdev_max).
    largest: u32,
}

const MICROSECOND: TimeDelta = TimeDelta::from_micros(1);

fn micros(picoseconds: u64) -> u32 {
    u32::try_from(picoseconds / MICROSECOND.0).unwrap_or(u32::MAX)
}

/// RTT estimate and back-off of one flow.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Estimator {
    /// Smoothed RTT: picoseconds, or eighths of a tick in the coarse forms. Zero before the first sample.
    srtt: u64,
    /// Mean deviation: picoseconds, or quarters of a tick. With `peak_deviation`, the peaks of the last round trips.
    rttvar: u64,
    /// Factor on the timeout, a power of two.
    backoff: u32,
    /// Without timestamps, the segment being timed. With `peak_deviation`, the round trip ends with the acknowledgement of a segment after this
    /// one (rtt_seq).
    timed: SegmentNumber,
    timing: Timing,
}

/// A flow has one or the other, which share memory: millions of flows have to fit.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Timing(u64);

impl Timing {
    fn sent_at(now: Time) -> Timing {
        Timing(now.0)
    }

    /// Transmission time of the timed segment.
    fn sent(self) -> Time {
        Time(self.0)
    }

    fn peak(Peak { deviation, largest }: Peak) -> Timing {
        Timing(u64::from(largest) << 32 | u64::from(deviation))
    }

    fn deviations(self) -> Peak {
        Peak { deviation: self.0 as u32, largest: (self.0 >> 32) as u32 }
    }
}

impl Estimator {
    pub(crate) fn new() -> Estimator {
        Estimator { srtt: 0, rttvar: 0, backoff: 1, timed: SegmentNumber::NONE, timing: Timing(0) }
    }

    /// Without timestamps, a new segment is sent: it is timed unless another one is.
    #[inline(always)]
    pub(in crate::tcp) fn on_new(&mut self, segment: SegmentNumber, now: Time) {
        if self.timed == SegmentNumber::NONE {
            self.timed = segment;
            self.timing = Timing::sent_at(now);
        }
    }

    /// Without timestamps, a segment is retransmitted, and its acknowledgement would be ambiguous (Karn).
    #[inline(always)]
    pub(in crate::tcp) fn on_resent(&mut self, segment: SegmentNumber) {
        if segment == self.timed {
            self.timed = SegmentNumber::NONE;
        }
    }

    /// No RTT of a segment in flight would be valid. Only without timestamps.
    pub(in crate::tcp) fn discard_timing(&mut self) {
        self.timed = SegmentNumber::NONE;
    }

    /// The RTT of the timed segment, if it is acknowledged.
    #[inline(always)]
    pub(in crate::tcp) fn timed_round_trip(&mut self, ack: SegmentNumber, now: Time) -> Option<TimeDelta> {
        if self.timed >= ack {
            return None;
        }
        self.timed = SegmentNumber::NONE;
        Some(now.since(self.timing.sent()))
    }

    /// Adds an RTT measured on a segment sent once (Karn) and clears the back-off.
    #[inline(always)]
    pub(crate) fn sample(&mut self, rtt: TimeDelta, at: Progress, spec: &TimerSpec) {
        self.backoff = 1;
        match spec.form {
            TimerForm::Exact { granularity } if spec.peak_deviation => self.sample_peak(rtt, at, granularity),
            TimerForm::Exact { .. } => self.sample_exact(rtt.0.max(1)),
            TimerForm::CoarseNs { tick } | TimerForm::CoarseBsd { tick } => {
                self.sample_coarse(((rtt.0 + tick.0 / 2) / tick.0).max(1));
            }
        }
    }

    /// RFC 6298 section 2, rules 2.2 and 2.3.
    #[inline(always)]
    fn sample_exact(&mut self, rtt: u64) {
        if self.srtt == 0 {
            self.srtt = rtt;
            self.rttvar = rtt / 2;
        } else {
            self.rttvar = self.rttvar - self.rttvar / 4 + self.srtt.abs_diff(rtt) / 4;
            self.srtt = self.srtt - self.srtt / 8 + rtt / 8;
        }
    }

    /// Sarolahti and Kuznetsov, "Congestion control in Linux TCP" (USENIX 2002), section 4: the variation is the largest mean deviation of a
    /// round trip, or the minimum; it rises at once and falls by a quarter of the difference per round trip. A shorter RTT than expected
    /// raises the mean deviation by an eighth only.
    #[inline]
    fn sample_peak(&mut self, rtt: TimeDelta, at: Progress, granularity: TimeDelta) {
        let min = granularity.0 / 4;
        if self.srtt == 0 {
            self.srtt = rtt.0.max(1);
            self.rttvar = (rtt.0 / 2).max(min);
            self.timing = Timing::peak(Peak { deviation: micros(rtt.0 / 2), largest: micros(self.rttvar) });
            self.timed = at.snd_nxt;
            return;
        }
        let Peak { mut deviation, mut largest } = self.timing.deviations();
        let error = micros(self.srtt.abs_diff(rtt.0));
        deviation = match error.checked_sub(deviation) {
            Some(above) if rtt.0 < self.srtt => deviation + above / 32,
            Some(above) => deviation + above / 4,
            None => deviation - (deviation - error) / 4,
        };
        self.srtt = self.srtt - self.srtt / 8 + rtt.0 / 8;
        largest = largest.max(deviation);
        let variation = u64::from(largest) * MICROSECOND.0;
        self.rttvar = self.rttvar.max(variation);
        if at.snd_una > self.timed {
            self.rttvar -= (self.rttvar - variation) / 4;
            (largest, self.timed) = (micros(min), at.snd_nxt);
        }
        self.timing = Timing::peak(Peak { deviation, largest });
    }

    /// Jacobson and Karels, "Congestion avoidance and control", appendix A, in scaled integers.
    fn sample_coarse(&mut self, ticks: u64) {
        if self.srtt == 0 {
            self.srtt = 8 * ticks;
            self.rttvar = 2 * ticks;
            return;
        }
        let error = ticks as i64 - (self.srtt >> 3) as i64;
        self.srtt = self.srtt.saturating_add_signed(error).max(1);
        let change = error.abs() - (self.rttvar >> 2) as i64;
        self.rttvar = self.rttvar.saturating_add_signed(change).max(1);
    }

    /// The timer expired (RFC 6298 rule 5.5).
    pub(crate) fn back_off(&mut self, spec: &TimerSpec) {
        self.backoff = (self.backoff * 2).min(spec.max_backoff);
    }

    /// Smoothed RTT, once there is a sample.
    #[inline]
    pub(crate) fn round_trip(&self, spec: &TimerSpec) -> Option<TimeDelta> {
        match (self.srtt, spec.form) {
            (0, _) => None,
            (srtt, TimerForm::Exact { .. }) => Some(TimeDelta(srtt)),
            (srtt, TimerForm::CoarseNs { tick } | TimerForm::CoarseBsd { tick }) => Some(TimeDelta(srtt * tick.0 / 8)),
        }
    }

    /// Expiry of a timer that is started now.
    #[inline(always)]
    pub(crate) fn deadline(&self, Clock { now, spec, phase }: Clock) -> Time {
        let timeout = self.timeout(spec);
        match spec.form {
            TimerForm::Exact { .. } | TimerForm::CoarseNs { .. } => now + timeout,
            TimerForm::CoarseBsd { tick } => {
                // The n-th tick boundary after now, n = timeout in ticks: between n - 1 and n ticks from now.
                let passed = now.since(Time(phase.0)).0 / tick.0;
                let behind = if now.0 < phase.0 { 0 } else { passed + 1 };
                Time(phase.0 + (behind + timeout.0.div_ceil(tick.0) - 1) * tick.0)
            }
        }
    }

    /// The timeout in force.
    #[inline(always)]
    pub(crate) fn timeout(&self, spec: &TimerSpec) -> TimeDelta {
        let base = self.timeout_without_back_off(spec);
        TimeDelta(base.0.saturating_mul(u64::from(self.backoff)).min(spec.max_rto.0))
    }

    #[inline]
    fn timeout_without_back_off(&self, spec: &TimerSpec) -> TimeDelta {
        if self.srtt == 0 {
            return spec.initial_rto;
        }
        let timeout = match spec.form {
            TimerForm::Exact { granularity } => TimeDelta(self.srtt + granularity.0.max(4 * self.rttvar)),
            TimerForm::CoarseNs { tick } | TimerForm::CoarseBsd { tick } => {
                TimeDelta(((self.srtt >> 3) + self.rttvar).saturating_mul(tick.0))
            }
        };
        timeout.max(spec.min_rto)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::segment_number::plain::n;

    fn spec(form: TimerForm, min_rto: TimeDelta) -> TimerSpec {
        TimerSpec { form, min_rto, ..TimerSpec::coarse(TimeDelta::from_millis(1)) }
    }

    const START: Progress = Progress { snd_una: SegmentNumber::FIRST, snd_nxt: SegmentNumber::FIRST };

    fn after(estimator: &Estimator, spec: &TimerSpec) -> TimeDelta {
        estimator.deadline(Clock { now: Time::ZERO, spec, phase: TimeDelta::ZERO }).since(Time::ZERO)
    }

    #[test]
    fn the_exact_form_follows_rfc_6298_by_hand() {
        let spec = spec(TimerForm::Exact { granularity: TimeDelta::from_millis(1) }, TimeDelta::ZERO);
        let mut estimator = Estimator::new();
        assert_eq!(after(&estimator, &spec), TimeDelta::from_millis(3000));
        estimator.sample(TimeDelta::from_millis(100), START, &spec);
        assert_eq!(after(&estimator, &spec), TimeDelta::from_millis(100 + 4 * 50));
        // var = 3/4 * 50 + 1/4 * 80 = 57.5, srtt = 7/8 * 100 + 1/8 * 180 = 110
        estimator.sample(TimeDelta::from_millis(180), START, &spec);
        assert_eq!(after(&estimator, &spec), TimeDelta::from_millis(110 + 230));
        estimator.back_off(&spec);
        estimator.back_off(&spec);
        assert_eq!(after(&estimator, &spec), TimeDelta::from_millis(4 * 340));
    }

    /// A flow of Linux 6.12.117 with RTTs of 108.485 ms (SYN), 114.481 and 120.541 ms, the last two of one flight, resends a segment after 336 ms
    /// with the delay of its timer wheel.
    #[test]
    fn peaks_of_the_deviation_outlast_a_round_trip() {
        let granularity = TimeDelta::from_millis(200);
        let spec = TimerSpec { peak_deviation: true, ..spec(TimerForm::Exact { granularity }, granularity) };
        let mut estimator = Estimator::new();
        let mut timeout_us = |rtt_us, snd_una, snd_nxt| {
            estimator.sample(TimeDelta::from_micros(rtt_us), Progress { snd_una: n(snd_una), snd_nxt: n(snd_nxt) }, &spec);
            after(&estimator, &spec).0 / MICROSECOND.0
        };
        assert_eq!(timeout_us(108_485, 1, 1), 108_485 + 216_970);
        assert_eq!([timeout_us(114_481, 2, 5), timeout_us(120_541, 3, 5)], [326_204, 327_617]);
        // The next flight ends the round trip of the peak, whose difference from the minimum of 200 ms decreases by a quarter.
        assert_eq!(timeout_us(108_485, 6, 9), 110_377 + 212_727);
        // An RTT 70 ms shorter than expected raises the deviation by an eighth of the increase by one that is 70 ms longer.
        let deviation = |rtt_us| {
            let mut estimator = Estimator::new();
            for us in [100_000, rtt_us] {
                estimator.sample(TimeDelta::from_micros(us), START, &spec);
            }
            estimator.timing.deviations().deviation
        };
        assert_eq!([100_000, 30_000, 170_000].map(deviation), [37_500, 50_625, 55_000]);
    }

    #[test]
    fn a_steady_rtt_below_one_tick_yields_three_ticks() {
        let tick = TimeDelta::from_millis(100);
        let spec = spec(TimerForm::CoarseNs { tick }, TimeDelta::from_millis(200));
        let mut estimator = Estimator::new();
        (0..50).for_each(|_| estimator.sample(TimeDelta::from_millis(18), START, &spec));
        assert_eq!(after(&estimator, &spec), TimeDelta::from_millis(300));
    }

    #[test]
    fn the_bsd_form_fires_on_the_hosts_own_tick() {
        let tick = TimeDelta::from_millis(500);
        let spec = spec(TimerForm::CoarseBsd { tick }, TimeDelta::from_millis(1000));
        let mut estimator = Estimator::new();
        estimator.sample(TimeDelta::from_millis(18), START, &spec);
        // 1 + 2 = 3 ticks; the clock ticks at 120, 620, 1120, 1620 ms
        let phase = TimeDelta::from_millis(120);
        let at = |ms| estimator.deadline(Clock { now: Time(TimeDelta::from_millis(ms).0), spec: &spec, phase });
        assert_eq!(at(100), Time(TimeDelta::from_millis(1120).0));
        assert_eq!(at(121), Time(TimeDelta::from_millis(1620).0));
        assert_eq!(at(119), Time(TimeDelta::from_millis(1120).0));
    }

    #[test]
    fn a_delay_of_whole_jiffies_begins_with_the_next_one() {
        let at = |ms| Time(TimeDelta::from_millis(ms).0);
        let spec = TimerSpec { jiffy: TimeDelta::from_millis(4), ..TimerSpec::rfc6298() };
        // 7 ms are two jiffies of 4 ms, from the tick at 12 ms on.
        assert_eq!(spec.on_tick(at(11), TimeDelta::from_millis(7)), at(20));
        assert_eq!(spec.on_tick(at(8), TimeDelta::from_millis(8)), at(20));
        assert_eq!(TimerSpec::rfc6298().on_tick(at(11), TimeDelta::from_millis(7)), at(18));
    }

    /// With 1000 ticks per second, Linux 6.12.117 resends SYNs 1024 ms after one that a timer has sent, four times, and then after 2048 ms.
    #[test]
    fn long_delays_end_on_coarser_ticks() {
        let at = |ms| Time(TimeDelta::from_millis(ms).0);
        let spec = TimerSpec { jiffy: TimeDelta::from_millis(1), ..TimerSpec::rfc6298() };
        let expires = |delay| spec.on_tick(at(100), TimeDelta::from_millis(delay));
        assert_eq!([62, 63, 240, 503].map(expires), [163, 168, 344, 608].map(at));
        assert_eq!([504, 4031, 4032].map(expires), [640, 4160, 4608].map(at));
        let syn = |ms| spec.on_tick(at(1024), TimeDelta::from_millis(ms));
        assert_eq!([1000, 2000].map(syn), [2048, 3072].map(at));
    }

    #[test]
    fn back_off_stops_at_its_bound() {
        let spec = spec(TimerForm::Exact { granularity: TimeDelta::ZERO }, TimeDelta::from_millis(100));
        let mut estimator = Estimator::new();
        estimator.sample(TimeDelta::from_millis(1), START, &spec);
        (0..40).for_each(|_| estimator.back_off(&spec));
        assert_eq!(after(&estimator, &spec), TimeDelta::from_millis(6400));
    }
}
