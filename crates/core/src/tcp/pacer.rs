//! Departures of a sender that are spread over time: when it may send again, and whether an event is to come that looks.

use super::sender::Sender;
use super::spec::TcpSpec;
use crate::congestion::{Controller, Controllers};
use crate::primitives::units::{Span, Time};
use serde::{Deserialize, Serialize};

/// Whether departures are spread, at the controller's rate (while it has one) or because the settings ask for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::tcp) enum Pacer {
    Off,
    On,
    /// And an event is to come at which it is looked at.
    Awaited,
}

impl Pacer {
    pub(in crate::tcp) fn new(spec: &TcpSpec, controller: &Controllers) -> Pacer {
        if spec.pacing || controller.may_pace() { Pacer::On } else { Pacer::Off }
    }
}

impl Sender {
    /// When its pacer lets it send again, if that is to come.
    #[inline(always)]
    pub(crate) fn wakes_at(&self) -> Option<Time> {
        (self.paced_until > Time::ZERO).then_some(self.paced_until)
    }

    /// When something has to look at its pacer, if nothing does before.
    #[inline(always)]
    pub(crate) fn sets_alarm(&mut self, now: Time) -> Option<Time> {
        let wake = self.wakes_at()?;
        if wake <= now {
            self.paced_until = Time::ZERO;
            return None;
        }
        (std::mem::replace(&mut self.pacer, Pacer::Awaited) == Pacer::On).then_some(wake)
    }

    /// The event at which its pacer is looked at has come.
    pub(crate) fn on_alarm(&mut self) {
        if self.pacer == Pacer::Awaited {
            self.pacer = Pacer::On;
        }
    }

    /// It may not send yet.
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

    /// From one departure to the next, if they are spread: at the controller's rate, or else a window over the round trip.
    #[inline(always)]
    fn gap(&self, spec: &TcpSpec) -> Option<Span> {
        if self.pacer == Pacer::Off { None } else { self.paced_gap(spec) }
    }

    #[inline(never)]
    fn paced_gap(&self, spec: &TcpSpec) -> Option<Span> {
        if let Some(rate) = self.controller.pacing() {
            return Some(rate.time_to_send(spec.mss + spec.header));
        }
        if !spec.pacing {
            return None;
        }
        let over_window = |rtt: Span| Span((rtt.0 as f64 / self.controller.window().max(1.0)) as u64);
        Some(self.round_trip(spec).map_or(Span::ZERO, over_window))
    }

    /// Whether departures are spread now.
    #[inline(always)]
    pub(in crate::tcp) fn paces(&self, spec: &TcpSpec) -> bool {
        self.pacer != Pacer::Off && self.paced_gap(spec).is_some()
    }
}
