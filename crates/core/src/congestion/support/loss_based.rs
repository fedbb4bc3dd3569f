//! What laws have in common that keep Reno's slow start and differ in what follows it: by how much an acknowledged window opens
//! the next one, and what a loss leaves of it (RFC 5681 section 3.1 has the rest).
//!
//! Where a document reduces the window, what was in flight of it is reduced, as RFC 5681 equation (4) has it: the rest was not in
//! use. And no acknowledgement opens the window further than slow start would.

use super::beside::Beside;
use crate::congestion::{Ack, Congestion, Controller, RoundTrip, Start, Subscriptions};
use crate::primitives::units::{Cwnd, Span, Time};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// What makes a law of this kind.
pub trait Avoidance: Clone + Debug + Serialize + DeserializeOwned {
    /// See [`Controller::QUANTITIES`].
    const QUANTITIES: &'static [&'static str] = &[];
    /// Whether it hears of duplicates, and of acknowledgements while losses are repaired ([`Avoidance::process_ack`]).
    const OBSERVES_ALL_ACKS: bool = false;

    /// See [`Controller::quantity`].
    fn quantity(&self, _index: usize) -> f64 {
        f64::NAN
    }

    /// See [`Controller::on_round_trip`].
    #[inline]
    fn measure(&mut self, _measured: &RoundTrip) {}

    /// An acknowledgement, before it opens the window. Returns the window to go down to, where delay asks for that before a loss
    /// does.
    #[inline]
    fn process_ack(&mut self, _ack: &Ack, _window: Cwnd) -> Option<Cwnd> {
        None
    }

    /// By how much an acknowledged segment opens the window in slow start.
    #[inline]
    fn start(&self) -> f64 {
        1.0
    }

    /// The most that is, ever.
    fn max_slow_start_increment(&self) -> f64 {
        1.0
    }

    /// By how many segments an acknowledged window opens it in congestion avoidance: a(w).
    fn increase(&mut self, ack: &Ack, window: Cwnd) -> f64;

    /// What a loss leaves of so large a window, all of it in use; [`seen`](Congestion) says the rest.
    fn reduce(&mut self, seen: &Congestion, window: Cwnd) -> f64;

    /// A timeout: what was learnt of the path may be of another one.
    fn restart(&mut self, _now: Time) {}

    /// See [`Controller::on_idle`].
    fn pause(&mut self, _idle: Span) {}

    /// The window may be no larger than this.
    fn limit(&mut self, _most: Cwnd) {}
}

#[derive(Clone, Debug, Serialize, serde::Deserialize)]
pub struct LossBasedMemory<A> {
    pub(in crate::congestion) ssthresh: f64,
    pub(in crate::congestion) avoidance: A,
}

pub type LossBased<A> = Beside<LossBasedMemory<A>>;

impl<A: Avoidance> LossBased<A> {
    pub(in crate::congestion) fn of(avoidance: A, start: Start) -> LossBased<A> {
        Beside::with(start, LossBasedMemory { ssthresh: start.ssthresh, avoidance })
    }

    /// Below two segments no loss is found but by the timer.
    fn reduce(&mut self, seen: &Congestion) -> f64 {
        // A fraction of a segment is never in flight.
        let in_flight = f64::from(seen.in_flight.0);
        let in_use = if in_flight + 1.0 > self.window { self.window } else { in_flight };
        let left = self.memory.avoidance.reduce(seen, Cwnd(in_use)).min(in_use);
        self.memory.ssthresh = left.max(2.0);
        left
    }

    fn go_down(&mut self, lower: Cwnd) {
        self.window = self.window.min(lower.0.max(2.0));
        self.memory.ssthresh = self.memory.ssthresh.min(self.window.max(2.0));
    }

    /// Returns how many segments are left for congestion avoidance.
    fn start_slowly(&mut self, ack: &Ack) -> f64 {
        let (opens, left) = ack.slow_start(self);
        let each = self.memory.avoidance.start();
        if each == 1.0 {
            self.window += opens;
            return left;
        }
        let most = (self.memory.ssthresh - self.window).min(self.window).min(f64::from(ack.in_flight.0)).max(opens);
        self.window += (opens * each).min(most);
        0.0
    }
}

impl<A: Avoidance> Controller for LossBased<A> {
    const HEAP_BYTES: usize = Self::BYTES;
    const ENDS_SLOW_START: bool = true;
    const QUANTITIES: &'static [&'static str] = A::QUANTITIES;

    #[inline]
    fn window(&self) -> f64 {
        self.window
    }

    fn ssthresh(&self) -> f64 {
        self.memory.ssthresh
    }

    fn subscriptions(&self) -> Subscriptions {
        Subscriptions { other_acks: A::OBSERVES_ALL_ACKS, ..Subscriptions::default() }
    }

    fn opens(&self) -> f64 {
        self.memory.avoidance.max_slow_start_increment()
    }

    fn quantity(&self, index: usize, _: Time) -> f64 {
        self.memory.avoidance.quantity(index)
    }

    fn on_ack(&mut self, ack: &Ack) {
        if let Some(lower) = self.memory.avoidance.process_ack(ack, Cwnd(self.window)) {
            self.go_down(lower);
            return;
        }
        if !ack.window_validated {
            return;
        }
        let mut counted = f64::from(ack.counted.0);
        if self.window < self.memory.ssthresh {
            counted = self.start_slowly(ack);
        }
        if counted > 0.0 {
            let increase = self.memory.avoidance.increase(ack, Cwnd(self.window));
            self.window += counted * (increase / self.window).min(1.0);
        }
    }

    fn on_other_ack(&mut self, ack: &Ack) {
        if A::OBSERVES_ALL_ACKS {
            self.memory.avoidance.process_ack(ack, Cwnd(self.window));
        }
    }

    #[inline]
    fn on_round_trip(&mut self, measured: &RoundTrip) {
        self.memory.avoidance.measure(measured);
    }

    fn on_congestion(&mut self, seen: &Congestion) {
        self.window = self.reduce(seen).max(f64::from(seen.min_window.0));
    }

    fn on_timeout(&mut self, seen: &Congestion) {
        if !seen.repeated {
            self.reduce(seen);
        }
        self.memory.avoidance.restart(seen.now);
        self.window = 1.0;
    }

    fn limit_window(&mut self, most: Cwnd) {
        self.window = self.window.min(most.0);
        self.memory.avoidance.limit(most);
    }

    fn on_idle(&mut self, idle: Span) {
        self.memory.avoidance.pause(idle);
    }

    fn raise_threshold(&mut self, least: Cwnd) {
        self.memory.ssthresh = self.memory.ssthresh.max(least.0);
    }

    fn end_slow_start(&mut self) {
        self.memory.ssthresh = self.window;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::support::model_sender::ModelSender;
    use serde::Deserialize;

    /// Three segments a round trip, a quarter at a loss; in slow start five segments for each.
    #[derive(Clone, Debug, Serialize, Deserialize)]
    struct Quick;

    impl Avoidance for Quick {
        fn start(&self) -> f64 {
            5.0
        }

        fn max_slow_start_increment(&self) -> f64 {
            5.0
        }

        fn increase(&mut self, _: &Ack, _: Cwnd) -> f64 {
            3.0
        }

        fn reduce(&mut self, _: &Congestion, Cwnd(window): Cwnd) -> f64 {
            0.75 * window
        }
    }

    fn sender(window: f64, ssthresh: f64) -> ModelSender<LossBased<Quick>> {
        let mut sender = ModelSender::new(LossBased::of(Quick, Start { window, ssthresh, ..Start::default() }));
        sender.in_flight = window as u32;
        sender
    }

    #[test]
    fn congestion_avoidance_adds_its_share_of_the_increase_and_no_more_than_was_acknowledged() {
        assert_eq!((sender(8.0, 2.0).ack(1), sender(8.0, 2.0).ack(2)), (8.375, 8.75));
        assert_eq!(sender(2.0, 2.0).ack(1), 3.0);
    }

    #[test]
    fn a_faster_slow_start_at_most_doubles_what_is_in_flight_and_ends_at_the_threshold() {
        assert_eq!((sender(8.0, 100.0).ack(1), sender(4.0, 100.0).ack(1), sender(8.0, 10.0).ack(1)), (13.0, 8.0, 10.0));
    }

    #[test]
    fn a_loss_takes_its_share_of_what_was_in_flight() {
        let mut sender = sender(20.5, 2.0);
        assert_eq!((sender.lose(20), sender.law.ssthresh()), (15.375, 15.375));
        assert_eq!((sender.lose(7), sender.law.ssthresh()), (5.25, 5.25));
        assert_eq!((sender.time_out(4), sender.law.ssthresh()), (1.0, 3.0));
        assert_eq!((sender.time_out_again(1), sender.law.ssthresh()), (1.0, 3.0));
    }

    #[test]
    fn no_window_that_losses_are_found_in_is_below_two() {
        let mut sender = sender(2.0, 2.0);
        assert_eq!((sender.lose(2), sender.law.ssthresh()), (2.0, 2.0));
        assert_eq!((sender.mark(2), sender.law.ssthresh()), (1.5, 2.0));
    }
}
