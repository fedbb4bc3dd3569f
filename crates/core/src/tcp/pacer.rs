//! Pacing: the earliest time of a sender's next transmission.

use super::spec::TcpSpec;
use super::timer::Estimator;
use crate::congestion::{Controller, Controllers};
use crate::primitives::units::{Time, TimeDelta};
use serde::{Deserialize, Serialize};

/// The pacer of one sender. It works at the controller's rate (while it has one) or because of the settings.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Pacer {
    /// Earliest next transmission, with [`Pacer::PASSED`] once that is not in the future. [`Pacer::OFF`] if transmissions are never paced.
    until: Time,
}

/// What determines the gap between transmissions.
#[derive(Clone, Copy)]
pub(in crate::tcp) struct Pace<'a> {
    pub(in crate::tcp) spec: &'a TcpSpec,
    pub(in crate::tcp) controller: &'a Controllers,
    pub(in crate::tcp) estimator: &'a Estimator,
}

impl Pacer {
    const OFF: Time = Time::ZERO;
    /// Flag of a time. No run is as long as half of the range of times.
    const PASSED: u64 = 1 << 63;

    pub(in crate::tcp) fn new(spec: &TcpSpec, controller: &Controllers) -> Pacer {
        Pacer { until: if spec.pacing || controller.abilities().may_pace { Time(Pacer::PASSED) } else { Pacer::OFF } }
    }

    /// The next transmission is permitted from this time on, which is not [`Pacer::OFF`].
    #[inline(always)]
    fn not_before(time: Time) -> Time {
        if time == Pacer::OFF { Time(Pacer::PASSED) } else { time.min(Time(Pacer::PASSED - 1)) }
    }

    /// Time at which the pacer permits the next transmission, if that is in the future.
    #[inline(always)]
    pub(crate) fn wakes_at(&self) -> Option<Time> {
        // Neither off nor passed, in one comparison.
        (self.until.0.wrapping_sub(1) < Pacer::PASSED - 1).then_some(self.until)
    }

    /// Time at which an event is needed for the pacer.
    #[inline(always)]
    pub(crate) fn wakes_after(&mut self, now: Time) -> Option<Time> {
        let wake = self.wakes_at()?;
        if wake <= now {
            self.until.0 |= Pacer::PASSED;
            return None;
        }
        Some(wake)
    }

    /// Whether the pacer prevents transmission now.
    #[inline(always)]
    pub(crate) fn is_held_back(&self, now: Time) -> bool {
        self.wakes_at().is_some_and(|wake| wake > now)
    }

    /// Time until the pacer permits the next transmission.
    #[inline]
    pub(in crate::tcp) fn delay(&self, now: Time) -> TimeDelta {
        if self.is_held_back(now) { self.until.since(now) } else { TimeDelta::ZERO }
    }

    /// A segment has left.
    #[inline(always)]
    pub(in crate::tcp) fn on_sent(&mut self, now: Time, pace: Pace) {
        if self.until != Pacer::OFF
            && let Some(gap) = pace.gap()
        {
            let credit = if pace.spec.pacing_credit { self.credit(now, gap) } else { TimeDelta::ZERO };
            self.until = Pacer::not_before(now + (gap - credit));
        }
    }

    /// Part of the gap that a late transmission has used: its delay, up to half of the gap.
    #[inline]
    fn credit(&self, now: Time, gap: TimeDelta) -> TimeDelta {
        now.since(Time(self.until.0 & !Pacer::PASSED)).min(TimeDelta(gap.0 / 2))
    }

    /// The rate has fallen now: the gap after the transmission at `last` becomes that of the new rate. RFC 9002 section 7.7 paces
    /// retransmissions, too: at the old rate, which has just filled the queue, the first one would be lost as well.
    pub(in crate::tcp) fn slow_down(&mut self, [last, now]: [Time; 2], pace: Pace) {
        if self.until != Pacer::OFF
            && let Some(gap) = pace.gap()
            && last + gap > now
        {
            self.until = Pacer::not_before(self.wakes_at().map_or(last + gap, |wake| wake.max(last + gap)));
        }
    }

    /// Whether transmissions are paced now.
    #[inline(always)]
    pub(in crate::tcp) fn paces(&self, pace: Pace) -> bool {
        self.until != Pacer::OFF && pace.gap().is_some()
    }
}

impl Pace<'_> {
    #[inline(always)]
    fn gap(self) -> Option<TimeDelta> {
        // Separate arguments, so that a sender without pacing need not store them in memory.
        gap(self.spec, self.controller, self.estimator)
    }
}

/// Gap between transmissions, if they are paced: at the controller's rate, or otherwise one window per RTT.
#[inline(never)]
fn gap(spec: &TcpSpec, controller: &Controllers, estimator: &Estimator) -> Option<TimeDelta> {
    if let Some(rate) = controller.pacing() {
        return Some(rate.time_to_send(spec.mss + spec.header));
    }
    if !spec.pacing {
        return None;
    }
    let over_window = |rtt: TimeDelta| TimeDelta((rtt.0 as f64 / controller.window().0.max(1.0)) as u64);
    Some(estimator.round_trip(&spec.timer).map_or(TimeDelta::ZERO, over_window))
}

#[cfg(test)]
mod tests {
    use crate::congestion::Start;
    use crate::primitives::units::{Time, TimeDelta};
    use crate::tcp::TcpSpec;
    use crate::tcp::bench::{SenderHarness, plain};

    /// Linux 6.12.117 with BBR sends the initial window of ten segments within 2 us.
    #[test]
    fn as_in_linux_the_first_ten_segments_are_not_paced_and_a_late_one_shortens_the_next_gap() {
        let spec = TcpSpec { pacing: true, pacing_credit: true, ..plain() };
        let mut bench = SenderHarness::new(spec, Start { window: 20.0, ssthresh: 8.0, ..Start::default() }, 100);
        let spec = bench.spec.clone();
        bench.sender.adopt_handshake(TimeDelta::from_millis(200), &spec);
        assert_eq!(bench.send().len(), 10);
        // Twenty segments in 200 ms: every 10 ms. A segment that is 3 ms late is followed after 7 ms, one that is 20 ms late after 5 ms.
        let sent = [9, 10, 23, 29, 30, 60, 64, 65].map(|ms| bench.at(ms).send().len());
        assert_eq!(sent, [0, 1, 1, 0, 1, 1, 0, 1]);
        assert_eq!(bench.sender.pacer.wakes_at(), Some(Time(TimeDelta::from_millis(75).0)));
    }
}
