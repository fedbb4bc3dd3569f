//! Pacing: the earliest time of a sender's next transmission.

use super::spec::TcpSpec;
use super::timer::Estimator;
use crate::congestion::{Controller, Controllers};
use crate::primitives::units::{Time, TimeDelta};
use serde::{Deserialize, Serialize};

/// The pacer of one sender. It works at the controller's rate (while it has one) or because of the settings.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Pacer {
    /// Earliest next transmission, while that is in the future; otherwise [`Pacer::FREE`]. [`Pacer::OFF`] if transmissions are never paced.
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
    const FREE: Time = Time(1);

    pub(in crate::tcp) fn new(spec: &TcpSpec, controller: &Controllers) -> Pacer {
        Pacer { until: if spec.pacing || controller.abilities().may_pace { Pacer::FREE } else { Pacer::OFF } }
    }

    /// Time at which the pacer permits the next transmission, if that is in the future.
    #[inline(always)]
    pub(crate) fn wakes_at(&self) -> Option<Time> {
        (self.until > Pacer::FREE).then_some(self.until)
    }

    /// Time at which an event is needed for the pacer.
    #[inline(always)]
    pub(crate) fn wakes_after(&mut self, now: Time) -> Option<Time> {
        let wake = self.wakes_at()?;
        if wake <= now {
            self.until = Pacer::FREE;
            return None;
        }
        Some(wake)
    }

    /// Whether the pacer prevents transmission now.
    #[inline(always)]
    pub(crate) fn is_held_back(&self, now: Time) -> bool {
        self.until > now && self.until > Pacer::FREE
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
            self.until = (now + gap).max(Pacer::FREE);
        }
    }

    /// The rate has fallen now: the gap after the transmission at `last` becomes that of the new rate. RFC 9002 section 7.7 paces
    /// retransmissions, too: at the old rate, which has just filled the queue, the first one would be lost as well.
    pub(in crate::tcp) fn slow_down(&mut self, [last, now]: [Time; 2], pace: Pace) {
        if self.until != Pacer::OFF
            && let Some(gap) = pace.gap()
            && last + gap > now
        {
            self.until = self.until.max(last + gap);
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
