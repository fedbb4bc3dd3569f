//! Reno: the window grows by one segment per RTT and is halved on congestion (RFC 5681 section 3.1).
//!
//! The window is real-valued and in segments. In congestion avoidance it opens by one segment per whole window (RFC 3465 section 2.1) or,
//! if acknowledgements are counted, by `1 / window` for each (equation (3) of the RFC).

use super::support::window::Window;
use super::support::{Abilities, Ack, AckCounting, Congestion, Controller, Start};
use crate::primitives::units::{Cwnd, Segments};
use crate::settings::member;
use serde::{Deserialize, Serialize};

member! {
    /// Increases the window by one segment per RTT, and halves it on congestion.
    Reno = "reno", "RFC 5681";
}

/// The window after this many acknowledged segments. It opens by one segment per whole window (RFC 3465 section 2.1). Its fraction
/// represents the acknowledged part of the next window, as does a fraction left by a reduction.
pub(super) fn whole_windows(Cwnd(window): Cwnd, counted: f64) -> f64 {
    if counted == 0.0 {
        return window;
    }
    let mut segments = window.floor().max(1.0);
    let mut acknowledged = ((window - segments) * segments).round().max(0.0) + counted;
    while acknowledged >= segments {
        acknowledged -= segments;
        segments += 1.0;
    }
    segments + acknowledged / segments
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(C)]
pub struct Reno {
    window: f64,
    ssthresh: f64,
    ack_counting: AckCounting,
}

impl Reno {
    pub(super) fn new(_: &(), start: Start) -> Reno {
        Reno { window: start.window, ssthresh: start.ssthresh, ack_counting: start.ack_counting }
    }

    /// RFC 3465.
    #[inline(never)]
    fn count_bytes(&mut self, counted: Segments) {
        let left = self.parts().slow_start(counted);
        self.window = whole_windows(Cwnd(self.window), left);
    }

    #[inline(always)]
    fn parts(&mut self) -> Window<'_> {
        Window { cwnd: &mut self.window, ssthresh: &mut self.ssthresh }
    }
}

impl Controller for Reno {
    const ABILITIES: Abilities = Abilities { ends_slow_start: true, ..Abilities::NONE };

    #[inline]
    fn window(&self) -> Cwnd {
        Cwnd(self.window)
    }

    #[inline]
    fn ssthresh(&self) -> Cwnd {
        Cwnd(self.ssthresh)
    }

    fn slow_start(&mut self) -> Option<Window<'_>> {
        Some(self.parts())
    }

    /// Slow start below the threshold, congestion avoidance above it.
    #[inline(always)]
    fn on_ack(&mut self, ack: &Ack) {
        if !ack.window_validated {
            return;
        }
        if self.ack_counting == AckCounting::Bytes {
            return self.count_bytes(ack.counted);
        }
        let mut counted = f64::from(ack.counted.0);
        if self.window < self.ssthresh {
            counted = self.parts().slow_start(ack.counted);
        }
        self.window += counted / self.window;
    }

    /// RFC 5681 equation (4).
    fn on_congestion(&mut self, seen: &Congestion) {
        self.parts().reduce_to(Cwnd(f64::from(seen.in_flight.0 / 2)), seen.min_window);
    }

    fn on_timeout(&mut self, seen: &Congestion) {
        if !seen.repeated {
            self.on_congestion(seen);
        }
        self.window = 1.0;
    }

    fn limit_window(&mut self, max: Cwnd) {
        self.parts().limit(max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::support::model_sender::ModelSender;

    fn sender(window: f64, ssthresh: f64) -> ModelSender<Reno> {
        ModelSender::new(Reno::new(&(), Start { window, ssthresh, ..Start::default() }))
    }

    #[test]
    fn slow_start_doubles_and_avoidance_adds_one_per_window() {
        let mut sender = sender(4.0, 8.0);
        assert_eq!((0..4).map(|_| sender.ack(1)).last(), Some(8.0));
        assert_eq!(sender.ack(1), 8.125);
    }

    #[test]
    fn the_acknowledged_segments_are_counted() {
        assert_eq!((sender(4.0, 8.0).ack(2), sender(8.0, 8.0).ack(2)), (6.0, 8.25));
        // One segment reaches the threshold, the other two count in congestion avoidance.
        assert_eq!(sender(7.0, 8.0).ack(3), 8.25);
        // A threshold between two windows is passed by less than a segment.
        assert_eq!(sender(7.0, 7.5).ack(2), 8.125);
    }

    #[test]
    fn a_window_opens_by_a_segment_when_all_of_it_is_acknowledged() {
        // 7 + 8 + 9 segments, two at a time: the segment missing from the eighth belongs to the window after it.
        let mut two_at_a_time = sender(7.0, 7.0);
        assert_eq!(
            (0..12).map(|_| two_at_a_time.ack(2).floor()).collect::<Vec<_>>(),
            [7., 7., 7., 8., 8., 8., 8., 9., 9., 9., 9., 10.]
        );
        // Rounding has no effect.
        let mut long = sender(49.0, 49.0);
        assert_eq!((49..1000).map(|window| (0..window).map(|_| long.ack(1)).last()).last(), Some(Some(1000.0)));
        // With equation (3) it takes longer.
        let start = Start { window: 7.0, ssthresh: 7.0, ack_counting: AckCounting::Acknowledgements, ..Start::default() };
        let mut by_acknowledgements = ModelSender::new(Reno::new(&(), start));
        assert!((7.9..8.0).contains(&(0..7).map(|_| by_acknowledgements.ack(1)).last().unwrap()));
    }

    #[test]
    fn congestion_halves_the_flight_size_and_never_below_two() {
        let mut sender = sender(9.0, 4.0);
        assert_eq!((sender.lose(9), sender.law.ssthresh().0), (4.0, 4.0));
        assert_eq!((sender.time_out(1), sender.law.ssthresh().0), (1.0, 2.0));
    }

    #[test]
    fn a_sender_that_does_not_fill_its_window_does_not_grow_it() {
        let mut sender = sender(4.0, 8.0);
        sender.window_validated = false;
        assert_eq!(sender.ack(1), 4.0);
    }
}
