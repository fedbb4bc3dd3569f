//! Two editions of a controller with Reno's slow start: that of its document, and that of Linux.

use super::abilities::{Abilities, Subscriptions};
use super::events::{Ack, Congestion, RoundTrip};
use super::reno_like::{Avoidance, Phase};
use super::window::Window;
use crate::primitives::units::{Cwnd, Rate, Time, TimeDelta};
use crate::settings::words;
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;

words! {
    /// Edition of a controller.
    pub enum Edition ("edition") {
        /// The controller's document.
        Document = "document",
        /// The congestion module of Linux 6.12: a window of whole segments, and integer arithmetic. The settings are those of the document.
        Linux = "linux",
    }
}

/// The rules of one of two editions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Editions<D, L> {
    Document(D),
    Linux(L),
}

#[cfg(test)]
impl<D, L> Editions<D, L> {
    pub fn document(&mut self) -> &mut D {
        match self {
            Editions::Document(rules) => rules,
            Editions::Linux(_) => panic!("the rules are those of Linux"),
        }
    }

    pub fn linux(&mut self) -> &mut L {
        match self {
            Editions::Linux(rules) => rules,
            Editions::Document(_) => panic!("the rules are those of the document"),
        }
    }
}

/// Calls the edition's function.
macro_rules! either {
    ($editions:expr, $rules:ident => $call:expr) => {
        match $editions {
            Editions::Document($rules) => $call,
            Editions::Linux($rules) => $call,
        }
    };
}

impl<D: Avoidance, L: Avoidance> Avoidance for Editions<D, L> {
    /// Both editions have the same quantities.
    const ABILITIES: Abilities = D::ABILITIES;

    fn subscriptions(&self) -> Subscriptions {
        either!(self, rules => rules.subscriptions())
    }

    fn quantity(&self, index: usize) -> f64 {
        either!(self, rules => rules.quantity(index))
    }

    fn pacing(&self, window: Cwnd, phase: Phase) -> Option<Rate> {
        either!(self, rules => rules.pacing(window, phase))
    }

    #[inline]
    fn measure(&mut self, measured: &RoundTrip) {
        either!(self, rules => rules.measure(measured));
    }

    #[inline]
    fn observe(&mut self, ack: &Ack) {
        either!(self, rules => rules.observe(ack));
    }

    #[inline]
    fn adjust(&mut self, ack: &Ack, window: &mut Window<'_>) -> ControlFlow<()> {
        either!(self, rules => rules.adjust(ack, window))
    }

    #[inline]
    fn start(&self) -> f64 {
        either!(self, rules => rules.start())
    }

    fn max_slow_start_increment(&self) -> f64 {
        either!(self, rules => rules.max_slow_start_increment())
    }

    fn increase(&mut self, ack: &Ack, window: Cwnd) -> f64 {
        either!(self, rules => rules.increase(ack, window))
    }

    #[inline]
    fn grow(&mut self, ack: &Ack, window: Cwnd, counted: f64) -> f64 {
        either!(self, rules => rules.grow(ack, window, counted))
    }

    fn reduce(&mut self, seen: &Congestion, window: Cwnd) -> f64 {
        either!(self, rules => rules.reduce(seen, window))
    }

    fn respond(&mut self, seen: &Congestion, window: &mut Window<'_>) {
        either!(self, rules => rules.respond(seen, window));
    }

    fn undo(&mut self, before: Self) {
        match (self, before) {
            (Editions::Document(rules), Editions::Document(before)) => rules.undo(before),
            (Editions::Linux(rules), Editions::Linux(before)) => rules.undo(before),
            // A flow keeps its edition.
            (rules, before) => *rules = before,
        }
    }

    fn restart(&mut self, now: Time) {
        either!(self, rules => rules.restart(now));
    }

    fn pause(&mut self, idle: TimeDelta) {
        either!(self, rules => rules.pause(idle));
    }

    fn limit(&mut self, max: Cwnd) -> Cwnd {
        either!(self, rules => rules.limit(max))
    }
}

/// A limit of a window of whole segments.
pub fn whole(Cwnd(max): Cwnd) -> Cwnd {
    Cwnd(max.floor().max(1.0))
}
