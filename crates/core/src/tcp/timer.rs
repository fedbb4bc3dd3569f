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

/// RTT estimate and back-off of one flow.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Estimator {
    /// Smoothed RTT: picoseconds, or eighths of a tick in the coarse forms. Zero before the first sample.
    srtt: u64,
    /// Mean deviation: picoseconds, or quarters of a tick.
    rttvar: u64,
    /// Factor on the timeout, a power of two.
    backoff: u32,
    /// The segment being timed, without timestamps.
    timed: SegmentNumber,
    timed_at: Time,
}

impl Estimator {
    pub(crate) fn new() -> Estimator {
        Estimator { srtt: 0, rttvar: 0, backoff: 1, timed: SegmentNumber::NONE, timed_at: Time::ZERO }
    }

    /// A new segment is sent: it is timed unless another one is.
    #[inline(always)]
    pub(in crate::tcp) fn on_new(&mut self, segment: SegmentNumber, now: Time) {
        if self.timed == SegmentNumber::NONE {
            self.timed = segment;
            self.timed_at = now;
        }
    }

    /// A segment is retransmitted, and its acknowledgement would be ambiguous (Karn).
    #[inline(always)]
    pub(in crate::tcp) fn on_resent(&mut self, segment: SegmentNumber) {
        if segment == self.timed {
            self.timed = SegmentNumber::NONE;
        }
    }

    /// No RTT of a segment in flight would be valid.
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
        Some(now.since(self.timed_at))
    }

    /// Adds an RTT measured on a segment sent once (Karn) and clears the back-off.
    #[inline(always)]
    pub(crate) fn sample(&mut self, rtt: TimeDelta, spec: &TimerSpec) {
        self.backoff = 1;
        match spec.form {
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

    fn spec(form: TimerForm, min_rto: TimeDelta) -> TimerSpec {
        TimerSpec { form, min_rto, ..TimerSpec::coarse(TimeDelta::from_millis(1)) }
    }

    fn after(estimator: &Estimator, spec: &TimerSpec) -> TimeDelta {
        estimator.deadline(Clock { now: Time::ZERO, spec, phase: TimeDelta::ZERO }).since(Time::ZERO)
    }

    #[test]
    fn the_exact_form_follows_rfc_6298_by_hand() {
        let spec = spec(TimerForm::Exact { granularity: TimeDelta::from_millis(1) }, TimeDelta::ZERO);
        let mut estimator = Estimator::new();
        assert_eq!(after(&estimator, &spec), TimeDelta::from_millis(3000));
        estimator.sample(TimeDelta::from_millis(100), &spec);
        assert_eq!(after(&estimator, &spec), TimeDelta::from_millis(100 + 4 * 50));
        // var = 3/4 * 50 + 1/4 * 80 = 57.5, srtt = 7/8 * 100 + 1/8 * 180 = 110
        estimator.sample(TimeDelta::from_millis(180), &spec);
        assert_eq!(after(&estimator, &spec), TimeDelta::from_millis(110 + 230));
        estimator.back_off(&spec);
        estimator.back_off(&spec);
        assert_eq!(after(&estimator, &spec), TimeDelta::from_millis(4 * 340));
    }

    #[test]
    fn a_steady_rtt_below_one_tick_yields_three_ticks() {
        let tick = TimeDelta::from_millis(100);
        let spec = spec(TimerForm::CoarseNs { tick }, TimeDelta::from_millis(200));
        let mut estimator = Estimator::new();
        (0..50).for_each(|_| estimator.sample(TimeDelta::from_millis(18), &spec));
        assert_eq!(after(&estimator, &spec), TimeDelta::from_millis(300));
    }

    #[test]
    fn the_bsd_form_fires_on_the_hosts_own_tick() {
        let tick = TimeDelta::from_millis(500);
        let spec = spec(TimerForm::CoarseBsd { tick }, TimeDelta::from_millis(1000));
        let mut estimator = Estimator::new();
        estimator.sample(TimeDelta::from_millis(18), &spec);
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
        estimator.sample(TimeDelta::from_millis(1), &spec);
        (0..40).for_each(|_| estimator.back_off(&spec));
        assert_eq!(after(&estimator, &spec), TimeDelta::from_millis(6400));
    }
}
