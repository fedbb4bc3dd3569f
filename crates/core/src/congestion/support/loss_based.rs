//! Common part of controllers that use Reno's slow start and differ in congestion avoidance: the increase per window, and the window after
//! a loss (RFC 5681 section 3.1 defines the rest).
//!
//! Where a document reduces the window, the part in flight is reduced, as in RFC 5681 equation (4), because the rest was not in use. No
//! acknowledgement opens the window further than slow start would.

use super::heap_state::HeapState;
use crate::congestion::{Abilities, Ack, Congestion, Controller, RoundTrip, Start};
use crate::primitives::units::{Cwnd, Time, TimeDelta};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// The congestion avoidance of such a controller.
pub trait Avoidance: Clone + Debug + Serialize + DeserializeOwned {
    /// Those of the controller, without its state outside the sender. [`Avoidance::process_ack`] is also called for duplicates and for
    /// acknowledgements during loss recovery if they are requested.
    const ABILITIES: Abilities = Abilities::NONE;

    /// See [`Controller::quantity`].
    fn quantity(&self, _index: usize) -> f64 {
        f64::NAN
    }

    /// See [`Controller::on_round_trip`].
    #[inline]
    fn measure(&mut self, _measured: &RoundTrip) {}

    /// Processes an acknowledgement before it opens the window. Returns a lower window if the delay requires a reduction without a loss.
    #[inline]
    fn process_ack(&mut self, _ack: &Ack, _window: Cwnd) -> Option<Cwnd> {
        None
    }

    /// Window increase per acknowledged segment in slow start.
    #[inline]
    fn start(&self) -> f64 {
        1.0
    }

    /// Upper bound of [`Avoidance::start`].
    fn max_slow_start_increment(&self) -> f64 {
        1.0
    }

    /// Window increase per acknowledged window in congestion avoidance, in segments: a(w).
    fn increase(&mut self, ack: &Ack, window: Cwnd) -> f64;

    /// The window after a loss with a window of this size, all of it in use; [`seen`](Congestion) has the details.
    fn reduce(&mut self, seen: &Congestion, window: Cwnd) -> f64;

    /// A timeout: earlier measurements may belong to another path.
    fn restart(&mut self, _now: Time) {}

    /// See [`Controller::on_idle`].
    fn pause(&mut self, _idle: TimeDelta) {}

    /// Limits the window to this value.
    fn limit(&mut self, _most: Cwnd) {}
}

#[derive(Clone, Debug, Serialize, serde::Deserialize)]
pub struct LossBasedMemory<A> {
    pub(in crate::congestion) ssthresh: f64,
    pub(in crate::congestion) avoidance: A,
}

pub type LossBased<A> = HeapState<LossBasedMemory<A>>;

impl<A: Avoidance> LossBased<A> {
    pub(in crate::congestion) fn of(avoidance: A, start: Start) -> LossBased<A> {
        HeapState::with(start, LossBasedMemory { ssthresh: start.ssthresh, avoidance })
    }

    /// With fewer than two segments, losses are detected only by the timer.
    fn reduce(&mut self, seen: &Congestion) -> f64 {
        // A fraction of a segment is never in flight.
        let in_flight = f64::from(seen.in_flight.0);
        let in_use = if in_flight + 1.0 > self.window { self.window } else { in_flight };
        let left = self.memory.avoidance.reduce(seen, Cwnd(in_use)).min(in_use);
        self.memory.ssthresh = left.max(2.0);
        left
    }

    fn decrease_window(&mut self, lower: Cwnd) {
        self.window = self.window.min(lower.0.max(2.0));
        self.memory.ssthresh = self.memory.ssthresh.min(self.window.max(2.0));
    }

    /// Returns the number of segments left for congestion avoidance.
    fn start_slowly(&mut self, ack: &Ack) -> f64 {
        let (opens, left) = ack.slow_start(self);
        let each = self.memory.avoidance.start();
        if each == 1.0 {
            self.window += opens;
            return left;
        }
        let max = (self.memory.ssthresh - self.window).min(self.window).min(f64::from(ack.in_flight.0)).max(opens);
        self.window += (opens * each).min(max);
        0.0
    }
}

impl<A: Avoidance> Controller for LossBased<A> {
    const ABILITIES: Abilities = Abilities { heap_bytes: Self::BYTES, ends_slow_start: true, ..A::ABILITIES };

    #[inline]
    fn window(&self) -> Cwnd {
        Cwnd(self.window)
    }

    fn ssthresh(&self) -> Cwnd {
        Cwnd(self.memory.ssthresh)
    }

    fn abilities(&self) -> Abilities {
        Abilities { max_increase: self.memory.avoidance.max_slow_start_increment(), ..Self::ABILITIES }
    }

    fn quantity(&self, index: usize, _: Time) -> f64 {
        self.memory.avoidance.quantity(index)
    }

    fn on_ack(&mut self, ack: &Ack) {
        if let Some(lower) = self.memory.avoidance.process_ack(ack, Cwnd(self.window)) {
            self.decrease_window(lower);
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
        if A::ABILITIES.subscriptions.other_acks {
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

    fn limit_window(&mut self, max: Cwnd) {
        self.window = self.window.min(max.0);
        self.memory.avoidance.limit(max);
    }

    fn on_idle(&mut self, idle: TimeDelta) {
        self.memory.avoidance.pause(idle);
    }

    fn raise_threshold(&mut self, min: Cwnd) {
        self.memory.ssthresh = self.memory.ssthresh.max(min.0);
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

    /// Three segments per RTT, a quarter at a loss; in slow start five segments for each.
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
    fn congestion_avoidance_adds_a_part_of_the_increase_and_no_more_than_was_acknowledged() {
        assert_eq!((sender(8.0, 2.0).ack(1), sender(8.0, 2.0).ack(2)), (8.375, 8.75));
        assert_eq!(sender(2.0, 2.0).ack(1), 3.0);
    }

    #[test]
    fn a_faster_slow_start_at_most_doubles_the_flight_size_and_ends_at_the_threshold() {
        assert_eq!((sender(8.0, 100.0).ack(1), sender(4.0, 100.0).ack(1), sender(8.0, 10.0).ack(1)), (13.0, 8.0, 10.0));
    }

    #[test]
    fn a_loss_removes_its_fraction_of_the_flight_size() {
        let mut sender = sender(20.5, 2.0);
        assert_eq!((sender.lose(20), sender.law.ssthresh().0), (15.375, 15.375));
        assert_eq!((sender.lose(7), sender.law.ssthresh().0), (5.25, 5.25));
        assert_eq!((sender.time_out(4), sender.law.ssthresh().0), (1.0, 3.0));
        assert_eq!((sender.time_out_again(1), sender.law.ssthresh().0), (1.0, 3.0));
    }

    #[test]
    fn the_window_is_at_least_two_after_a_loss() {
        let mut sender = sender(2.0, 2.0);
        assert_eq!((sender.lose(2), sender.law.ssthresh().0), (2.0, 2.0));
        assert_eq!((sender.mark(2), sender.law.ssthresh().0), (1.5, 2.0));
    }
}
