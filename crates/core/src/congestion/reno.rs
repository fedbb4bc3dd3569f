//! Reno: a segment more per round trip, half on congestion (RFC 5681 section 3.1).
//!
//! The window is real-valued and in segments; `window += 1 / window` per acknowledged segment is equation (3) of the RFC.

use super::{Ack, Congestion, Controller, Start};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(C)]
pub struct Reno {
    window: f64,
    ssthresh: f64,
}

impl Reno {
    pub(super) fn new(_: &(), start: Start) -> Reno {
        Reno { window: start.window, ssthresh: start.ssthresh }
    }

    /// RFC 5681 equation (4).
    fn halve(&mut self, in_flight: u32) {
        self.ssthresh = f64::from(in_flight / 2).max(2.0);
    }
}

impl Controller for Reno {
    #[inline]
    fn window(&self) -> f64 {
        self.window
    }

    #[inline]
    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    /// Equation (2) below the threshold (at most one segment per acknowledgement), equation (3) above it.
    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        if !ack.window_limited {
            return;
        }
        if self.window < self.ssthresh {
            self.window += 1.0;
        } else {
            self.window += 1.0 / self.window;
        }
    }

    fn on_congestion(&mut self, seen: &Congestion) {
        self.halve(seen.in_flight);
        self.window = self.ssthresh;
    }

    fn on_timeout(&mut self, seen: &Congestion) {
        if !seen.repeated {
            self.halve(seen.in_flight);
        }
        self.window = 1.0;
    }

    fn limit_window(&mut self, segments: f64) {
        self.window = self.window.min(segments);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack() -> Ack {
        Ack { in_flight: 8, ..Ack::of_one(Time::ZERO) }
    }

    use crate::base::units::Time;

    #[test]
    fn slow_start_doubles_and_avoidance_adds_one_per_window() {
        let mut law = Reno::new(&(), Start { window: 4.0, ssthresh: 8.0 });
        (0..4).for_each(|_| law.on_ack(&ack()));
        assert_eq!(law.window(), 8.0);
        law.on_ack(&ack());
        assert_eq!(law.window(), 8.125);
    }

    #[test]
    fn congestion_halves_what_was_in_flight_and_never_below_two() {
        let mut law = Reno::new(&(), Start { window: 9.0, ssthresh: 4.0 });
        law.on_congestion(&Congestion { now: Time::ZERO, in_flight: 9, repeated: false });
        assert_eq!((law.window(), law.ssthresh()), (4.0, 4.0));
        law.on_timeout(&Congestion { now: Time::ZERO, in_flight: 1, repeated: false });
        assert_eq!((law.window(), law.ssthresh()), (1.0, 2.0));
    }

    #[test]
    fn a_sender_that_does_not_fill_its_window_does_not_grow_it() {
        let mut law = Reno::new(&(), Start { window: 4.0, ssthresh: 8.0 });
        law.on_ack(&Ack { window_limited: false, ..ack() });
        assert_eq!(law.window(), 4.0);
    }
}
