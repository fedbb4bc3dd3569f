//! What makes the window smaller: a loss, a mark or a timeout, each told to the controller once.

use super::recovery::rack_tlp;
use super::sender::{Phase, Tcp};
use super::spec::{Halves, Recovery};
use super::validation;
use crate::congestion::{Cause, Congestion, Controller};
use crate::primitives::units::{Cwnd, Segments};

/// Whether a segment has timed out before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) enum Repeated {
    Yes,
    No,
}

impl Tcp<'_> {
    /// An acknowledgement up to `ack` that is about to be heard echoes a mark: congestion as if a segment were lost, but once per window of
    /// data. What was sent before the last reduction, for whatever reason, has been answered by it. Returns the window that must not be
    /// exceeded afterwards (RFC 3168 section 6.1.2).
    ///
    /// Differs: with a window of one the RFC lets the timer space the segments out; here, as in Linux, the window stays at one.
    #[cold]
    #[inline(never)]
    pub(in crate::tcp) fn on_echo(&mut self, ack: u32) -> Cwnd {
        let window = self.sender.controller.window();
        let is_by_time = self.spec.recovery == Recovery::RackTlp;
        // While losses are repaired by PRR, marks of what is under way change nothing more.
        let is_repairing = self.sender.phase != Phase::Open && ack <= self.sender.recovery_point;
        let is_late = ack < self.sender.una;
        if ack <= self.sender.reduced_at || (is_by_time && (is_repairing || is_late)) {
            return Cwnd(window);
        }
        self.reduce(self.sender.in_flight(), Cause::Mark);
        if is_by_time {
            rack_tlp::on_reduced(self);
        } else {
            self.note_reduction();
        }
        Cwnd(window.min(self.sender.controller.window()))
    }

    /// The window has been reduced, for a loss or for a mark: the next new segment says so.
    pub(crate) fn note_reduction(&mut self) {
        self.sender.reduced_at = self.sender.high;
        self.sender.is_reduced = true;
    }

    /// The controller hears of congestion that is not a timeout. Of a window that was not in use, what was is reduced. `in_flight`: what was
    /// outstanding when it came about.
    pub(in crate::tcp) fn reduce(&mut self, in_flight: Segments, cause: Cause) {
        let in_use = validation::in_use(self, in_flight);
        if let Some(in_use) = in_use {
            self.sender.controller.limit_window(Cwnd(f64::from(in_use.0.max(1))));
        }
        let seen = Congestion { least_window: self.least_window(cause), cause, ..self.congestion(in_use.unwrap_or(in_flight)) };
        self.sender.controller.on_congestion(&seen);
        validation::on_reduced(self, in_use);
    }

    /// How far a reduction goes at most: for a mark to one segment (RFC 3168 section 6.1.2, RFC 9438 section 4.6), where the threshold is that of
    /// RFC 5681, whose bound is two.
    fn least_window(&self, cause: Cause) -> Segments {
        let is_to_one = cause == Cause::Mark && self.spec.halves == Halves::FlightSize;
        Segments(if is_to_one { 1 } else { 2 })
    }

    /// What the controller hears of a loss with so much outstanding.
    fn congestion(&self, in_flight: Segments) -> Congestion {
        let window = self.sender.window(self.spec);
        let in_flight = match self.spec.halves {
            Halves::Window => window,
            // What limited transmit or fast recovery sent beyond the window does not count (RFC 5681 section 3.2 step 2): equation
            // 4 is an upper bound, and a timeout must not raise what the recovery before it had lowered.
            Halves::FlightSize => in_flight.min(window).max(Segments(1)),
        };
        Congestion { pipe: self.pipe(), ..Congestion::of(self.now, in_flight) }
    }

    /// The controller hears of a timeout, or of what is treated like one. It takes its share of what is outstanding (RFC 5681 equation 4)
    /// or of the window, and not of more of that than was in use.
    pub(in crate::tcp) fn restart(&mut self, is_repeated: Repeated) {
        if let Some(in_use) = validation::in_use(self, self.sender.in_flight()) {
            self.sender.controller.limit_window(Cwnd(f64::from(in_use.0.max(1))));
        }
        let seen = Congestion { repeated: is_repeated == Repeated::Yes, ..self.congestion(self.sender.in_flight()) };
        self.sender.controller.on_timeout(&seen);
        validation::on_restarted(self);
    }

    /// Whether a timeout is of a segment that has timed out before, where that leaves the threshold.
    pub(in crate::tcp) fn repeated(&self) -> Repeated {
        let keeps_threshold = self.spec.halves == Halves::FlightSize || self.spec.recovery == Recovery::RackTlp;
        if self.sender.timed_out && keeps_threshold { Repeated::Yes } else { Repeated::No }
    }
}
