//! Common part of controllers with Reno's slow start, timeouts and limits, which differ in congestion avoidance: the growth of the window,
//! and the reduction after congestion (RFC 5681 section 3.1 defines the rest).
//!
//! Where a document reduces the window, the part in flight is reduced, as in RFC 5681 equation (4), because the rest was not in use. No
//! acknowledgement opens the window further than slow start would.

use super::abilities::{Abilities, Subscriptions};
use super::controller::{Controller, Start};
use super::events::{Ack, Congestion, RoundTrip};
use super::heap_state::HeapState;
use super::window::Window;
use crate::primitives::units::{Cwnd, Rate, Time, TimeDelta};
use crate::settings::Settings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::ops::ControlFlow;

/// Congestion avoidance of such a controller. By default that of Reno.
pub trait Avoidance: Clone + Debug + Serialize + DeserializeOwned {
    /// Those of the controller, without its state outside the sender.
    const ABILITIES: Abilities = Abilities::NONE;

    /// Those with these settings.
    fn subscriptions(&self) -> Subscriptions {
        Self::ABILITIES.subscriptions
    }

    /// See [`Controller::quantity`].
    fn quantity(&self, _index: usize) -> f64 {
        f64::NAN
    }

    /// See [`Controller::pacing`].
    fn pacing(&self, _window: Cwnd, _phase: Phase) -> Option<Rate> {
        None
    }

    /// See [`Controller::on_round_trip`].
    #[inline]
    fn measure(&mut self, _measured: &RoundTrip) {}

    /// Every acknowledgement, before any other processing; duplicates, and acknowledgements during loss recovery, only if the controller
    /// requests anything.
    #[inline]
    fn observe(&mut self, _ack: &Ack) {}

    /// An acknowledgement of new data outside loss recovery. May reduce the window without a loss; after `Break` the acknowledgement does
    /// not open it.
    #[inline]
    fn adjust(&mut self, _ack: &Ack, _window: &mut Window<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
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
    fn increase(&mut self, _ack: &Ack, _window: Cwnd) -> f64 {
        1.0
    }

    /// The window after this many counted segments in congestion avoidance, if not by [`Avoidance::increase`].
    #[inline]
    fn grow(&mut self, ack: &Ack, Cwnd(window): Cwnd, counted: f64) -> f64 {
        window + counted * (self.increase(ack, Cwnd(window)) / window).min(1.0)
    }

    /// The window after a loss with a window of this size, all of it in use; [`seen`](Congestion) has the details.
    fn reduce(&mut self, _seen: &Congestion, Cwnd(window): Cwnd) -> f64 {
        window / 2.0
    }

    /// Reduces the window and the threshold after congestion, if not by [`Avoidance::reduce`].
    fn respond(&mut self, seen: &Congestion, window: &mut Window<'_>) {
        // A fraction of a segment is never in flight.
        let in_flight = f64::from(seen.in_flight.0);
        let in_use = if in_flight + 1.0 > *window.cwnd { *window.cwnd } else { in_flight };
        let left = self.reduce(seen, Cwnd(in_use)).min(in_use);
        window.reduce_to(Cwnd(left), seen.min_window);
    }

    /// A reduction was spurious, and the window and threshold before it are restored. `before` is the state before it.
    fn undo(&mut self, before: Self) {
        *self = before;
    }

    /// A timeout: earlier measurements may belong to another path.
    fn restart(&mut self, _now: Time) {}

    /// See [`Controller::on_idle`].
    fn pause(&mut self, _idle: TimeDelta) {}

    /// The window is limited. Returns the limit in the granularity of the window.
    fn limit(&mut self, max: Cwnd) -> Cwnd {
        max
    }
}

/// Phase of such a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    SlowStart,
    CongestionAvoidance,
}

#[derive(Clone, Debug, Serialize, serde::Deserialize)]
pub struct RenoLikeMemory<A> {
    pub(in crate::congestion) ssthresh: f64,
    pub(in crate::congestion) avoidance: A,
}

pub type RenoLike<A> = HeapState<RenoLikeMemory<A>>;

impl<A: Avoidance> RenoLike<A> {
    pub(in crate::congestion) fn of(avoidance: A, start: Start) -> RenoLike<A> {
        HeapState::with(start, RenoLikeMemory { ssthresh: start.ssthresh, avoidance })
    }

    #[inline(always)]
    fn parts(&mut self) -> (Window<'_>, &mut A) {
        let RenoLikeMemory { ssthresh, avoidance } = &mut *self.memory;
        (Window { cwnd: &mut self.window, ssthresh }, avoidance)
    }

    /// Slow start with an increase of its own. No segments are left for congestion avoidance.
    fn start_by(&mut self, ack: &Ack, each: f64) -> f64 {
        let (mut window, _) = self.parts();
        let before = *window.cwnd;
        window.slow_start(ack.counted);
        let opens = *window.cwnd - before;
        let max = (*window.ssthresh - before).min(before).min(f64::from(ack.in_flight.0)).max(opens);
        *window.cwnd = before + (opens * each).min(max);
        0.0
    }
}

/// Laws without a state besides their settings.
impl<A: Avoidance + Settings + Copy> RenoLike<A> {
    pub(in crate::congestion) fn new(spec: &A, start: Start) -> RenoLike<A> {
        RenoLike::of(*spec, start)
    }
}

impl<A: Avoidance> Controller for RenoLike<A> {
    const ABILITIES: Abilities = Abilities { heap_bytes: Self::BYTES, ends_slow_start: true, ..A::ABILITIES };

    fn abilities(&self) -> Abilities {
        let avoidance = &self.memory.avoidance;
        let (max_increase, subscriptions) = (avoidance.max_slow_start_increment(), avoidance.subscriptions());
        Abilities { max_increase, subscriptions, ..Self::ABILITIES }
    }

    #[inline]
    fn window(&self) -> Cwnd {
        Cwnd(self.window)
    }

    fn ssthresh(&self) -> Cwnd {
        Cwnd(self.memory.ssthresh)
    }

    fn slow_start(&mut self) -> Option<Window<'_>> {
        Some(self.parts().0)
    }

    fn pacing(&self) -> Option<Rate> {
        let phase = if self.window < self.memory.ssthresh { Phase::SlowStart } else { Phase::CongestionAvoidance };
        self.memory.avoidance.pacing(Cwnd(self.window), phase)
    }

    fn quantity(&self, index: usize, _: Time) -> f64 {
        self.memory.avoidance.quantity(index)
    }

    fn on_ack(&mut self, ack: &Ack) {
        let (mut window, avoidance) = self.parts();
        avoidance.observe(ack);
        if avoidance.adjust(ack, &mut window).is_break() || !ack.window_validated {
            return;
        }
        let mut counted = f64::from(ack.counted.0);
        if window.cwnd < window.ssthresh {
            let each = avoidance.start();
            counted = if each == 1.0 { window.slow_start(ack.counted) } else { self.start_by(ack, each) };
        }
        if counted > 0.0 {
            self.window = self.memory.avoidance.grow(ack, Cwnd(self.window), counted);
        }
    }

    fn on_other_ack(&mut self, ack: &Ack) {
        self.memory.avoidance.observe(ack);
    }

    #[inline]
    fn on_round_trip(&mut self, measured: &RoundTrip) {
        self.memory.avoidance.measure(measured);
    }

    fn on_congestion(&mut self, seen: &Congestion) {
        let (mut window, avoidance) = self.parts();
        avoidance.respond(seen, &mut window);
    }

    fn on_timeout(&mut self, seen: &Congestion) {
        if !seen.repeated {
            self.on_congestion(seen);
        }
        self.memory.avoidance.restart(seen.now);
        self.window = 1.0;
    }

    fn undo_reduction(&mut self, before: RenoLike<A>) {
        let RenoLikeMemory { ssthresh, avoidance } = *before.memory;
        self.window = before.window;
        self.memory.ssthresh = ssthresh;
        self.memory.avoidance.undo(avoidance);
    }

    fn limit_window(&mut self, max: Cwnd) {
        let (mut window, avoidance) = self.parts();
        window.limit(avoidance.limit(max));
    }

    fn on_idle(&mut self, idle: TimeDelta) {
        self.memory.avoidance.pause(idle);
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

    fn sender(window: f64, ssthresh: f64) -> ModelSender<RenoLike<Quick>> {
        let mut sender = ModelSender::new(RenoLike::of(Quick, Start { window, ssthresh, ..Start::default() }));
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
