//! Pacing: the earliest time of a sender's next transmission, and whether an event is pending for it.

use super::sender::Sender;
use super::spec::TcpSpec;
use crate::congestion::{Controller, Controllers};
use crate::primitives::units::{Time, TimeDelta};
use serde::{Deserialize, Serialize};

/// Whether transmissions are paced, at the controller's rate (while it has one) or because of the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::tcp) enum Pacer {
    Off,
    On,
    /// Paced, with a pending event.
    Awaited,
}

impl Pacer {
    pub(in crate::tcp) fn new(spec: &TcpSpec, controller: &Controllers) -> Pacer {
        if spec.pacing || controller.abilities().may_pace { Pacer::On } else { Pacer::Off }
    }
}

impl Sender {
    /// Time at which the pacer permits the next transmission, if that is in the future.
    #[inline(always)]
    pub(crate) fn wakes_at(&self) -> Option<Time> {
        (self.paced_until > Time::ZERO).then_some(self.paced_until)
    }

    /// Time at which an event is needed for the pacer, unless one is pending.
    #[inline(always)]
    pub(crate) fn sets_alarm(&mut self, now: Time) -> Option<Time> {
        let wake = self.wakes_at()?;
        if wake <= now {
            self.paced_until = Time::ZERO;
            return None;
        }
        (std::mem::replace(&mut self.pacer, Pacer::Awaited) == Pacer::On).then_some(wake)
    }

    /// The pending event has occurred.
    pub(crate) fn on_alarm(&mut self) {
        if self.pacer == Pacer::Awaited {
            self.pacer = Pacer::On;
        }
    }

    /// Whether the pacer prevents transmission now.
    #[inline(always)]
    pub(in crate::tcp) fn is_held_back(&self, now: Time) -> bool {
        self.pacer != Pacer::Off && self.paced_until > now
    }

    /// A segment has left.
    #[inline(always)]
    pub(in crate::tcp) fn pace(&mut self, spec: &TcpSpec, now: Time) {
        if let Some(gap) = self.gap(spec) {
            self.paced_until = now + gap;
        }
    }

    /// Gap between transmissions, if they are paced: at the controller's rate, or otherwise one window per RTT.
    #[inline(always)]
    fn gap(&self, spec: &TcpSpec) -> Option<TimeDelta> {
        if self.pacer == Pacer::Off { None } else { self.paced_gap(spec) }
    }

    #[inline(never)]
    fn paced_gap(&self, spec: &TcpSpec) -> Option<TimeDelta> {
        if let Some(rate) = self.controller.pacing() {
            return Some(rate.time_to_send(spec.mss + spec.header));
        }
        if !spec.pacing {
            return None;
        }
        let over_window = |rtt: TimeDelta| TimeDelta((rtt.0 as f64 / self.controller.window().0.max(1.0)) as u64);
        Some(self.round_trip(spec).map_or(TimeDelta::ZERO, over_window))
    }

    /// Whether transmissions are paced now.
    #[inline(always)]
    pub(in crate::tcp) fn paces(&self, spec: &TcpSpec) -> bool {
        self.pacer != Pacer::Off && self.paced_gap(spec).is_some()
    }
}
