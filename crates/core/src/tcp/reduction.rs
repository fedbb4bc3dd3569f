//! Window reductions: by a loss, a mark or a timeout, each passed to the controller once.

use super::recovery::rack_tlp;
use super::sender::{Phase, Tcp};
use super::spec::{Recovery, SsthreshFrom};
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
    /// An acknowledgement up to `ack` that is about to be processed echoes a mark: congestion as if a segment were lost, but once per
    /// window of data. Data sent before the last reduction, for whatever reason, is covered by it. Returns the window that must not be
    /// exceeded afterwards (RFC 3168 section 6.1.2).
    ///
    /// Differs: with a window of one the RFC spaces segments by the timer; here, as in Linux, the window stays at one.
    #[cold]
    #[inline(never)]
    pub(in crate::tcp) fn on_echo(&mut self, ack: u32) -> Cwnd {
        let window = self.sender.controller.window();
        let is_by_time = self.spec.recovery == Recovery::RackTlp;
        // During recovery with PRR, marks of the data in flight have no further effect.
        let is_repairing = self.sender.phase != Phase::Open && ack <= self.sender.recovery_point;
        let is_late = ack < self.sender.snd_una;
        if ack <= self.sender.reduced_at || (is_by_time && (is_repairing || is_late)) {
            return window;
        }
        self.reduce(self.sender.in_flight(), Cause::Mark);
        if is_by_time {
            rack_tlp::on_reduced(self);
        } else {
            self.note_reduction();
        }
        Cwnd(window.0.min(self.sender.controller.window().0))
    }

    /// The window has been reduced, for a loss or for a mark: the next new segment reports it.
    pub(crate) fn note_reduction(&mut self) {
        self.sender.reduced_at = self.sender.snd_max;
        self.sender.is_reduced = true;
    }

    /// Notifies the controller of congestion other than a timeout. If the window was not in use, the part in use is reduced. `in_flight`:
    /// the outstanding data when the congestion occurred.
    pub(in crate::tcp) fn reduce(&mut self, in_flight: Segments, cause: Cause) {
        let in_use = validation::in_use(self, in_flight);
        if let Some(in_use) = in_use {
            self.sender.controller.limit_window(Cwnd(f64::from(in_use.0.max(1))));
        }
        let seen = Congestion { min_window: self.min_window(cause), cause, ..self.congestion(in_use.unwrap_or(in_flight)) };
        self.sender.controller.on_congestion(&seen);
        validation::on_reduced(self, in_use);
    }

    /// Lower bound of a reduction: one segment for a mark (RFC 3168 section 6.1.2, RFC 9438 section 4.6) if the threshold is that of RFC
    /// 5681, whose bound is two.
    fn min_window(&self, cause: Cause) -> Segments {
        let is_to_one = cause == Cause::Mark && self.spec.ssthresh_from == SsthreshFrom::FlightSize;
        Segments(if is_to_one { 1 } else { 2 })
    }

    /// The congestion event of a loss with this many segments outstanding.
    fn congestion(&self, in_flight: Segments) -> Congestion {
        let window = self.sender.window(self.spec);
        let in_flight = match self.spec.ssthresh_from {
            SsthreshFrom::Window => window,
            // Segments sent beyond the window by limited transmit or fast recovery do not count (RFC 5681 section 3.2 step 2): equation 4
            // is an upper bound, and a timeout must not raise a value lowered by the recovery before it.
            SsthreshFrom::FlightSize => in_flight.min(window).max(Segments(1)),
        };
        Congestion { pipe: self.pipe(), ..Congestion::of(self.now, in_flight) }
    }

    /// Notifies the controller of a timeout, or of an event treated like one. It reduces the outstanding data (RFC 5681 equation 4) or the
    /// window, in either case no more than the part in use.
    pub(in crate::tcp) fn restart(&mut self, is_repeated: Repeated) {
        if let Some(in_use) = validation::in_use(self, self.sender.in_flight()) {
            self.sender.controller.limit_window(Cwnd(f64::from(in_use.0.max(1))));
        }
        let seen = Congestion { repeated: is_repeated == Repeated::Yes, ..self.congestion(self.sender.in_flight()) };
        self.sender.controller.on_timeout(&seen);
        validation::on_restarted(self);
    }

    /// Whether a segment has timed out before and the repeated timeout leaves the threshold unchanged.
    pub(in crate::tcp) fn repeated(&self) -> Repeated {
        let keeps_threshold = self.spec.ssthresh_from == SsthreshFrom::FlightSize || self.spec.recovery == Recovery::RackTlp;
        if self.sender.timed_out && keeps_threshold { Repeated::Yes } else { Repeated::No }
    }
}
