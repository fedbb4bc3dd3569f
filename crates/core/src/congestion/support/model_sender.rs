//! A sender for controller tests: a clock, acknowledgements of one segment each, and losses on demand.

use super::controller::Controller;
use super::events::{Ack, Cause, Congestion, RoundTrip};
use crate::primitives::units::{Segments, Time, TimeDelta};

pub(in crate::congestion) struct ModelSender<C: Controller> {
    pub law: C,
    pub now: Time,
    /// Segments in flight; one unless a test sets it.
    pub in_flight: u32,
    /// RTT sample provided by every acknowledgement, if any.
    pub round_trip: Option<TimeDelta>,
    /// Whether the window may open.
    pub window_validated: bool,
}

impl<C: Controller> ModelSender<C> {
    pub fn new(law: C) -> ModelSender<C> {
        ModelSender { law, now: Time::ZERO, in_flight: 1, round_trip: None, window_validated: true }
    }

    /// Adds an RTT of this many milliseconds.
    pub fn with_round_trip(mut self, milliseconds: u64) -> ModelSender<C> {
        self.measure(milliseconds);
        self
    }

    /// Provides a sample, which also becomes the timer's average.
    pub fn measure(&mut self, milliseconds: u64) {
        let sample = TimeDelta::from_millis(milliseconds);
        self.law.on_round_trip(&RoundTrip { sample, smoothed: Some(sample) });
    }

    pub fn wait(&mut self, milliseconds: u64) {
        self.now += TimeDelta::from_millis(milliseconds);
    }

    /// An acknowledgement after this many milliseconds. Returns the window.
    pub fn ack_after(&mut self, milliseconds: u64) -> f64 {
        self.wait(milliseconds);
        self.ack(1)
    }

    /// An acknowledgement of this many segments now. Returns the window.
    pub fn ack(&mut self, acked: u32) -> f64 {
        if let Some(sample) = self.round_trip {
            self.law.on_round_trip(&RoundTrip { sample, smoothed: Some(sample) });
        }
        let of_one = Ack::of_one(self.now);
        let ModelSender { in_flight, round_trip: rtt, window_validated, .. } = *self;
        let (acked, in_flight) = (Segments(acked), Segments(in_flight));
        self.law.on_ack(&Ack { acked, counted: acked, in_flight, rtt, window_validated, ..of_one });
        self.law.window().0
    }

    /// A loss with this many segments in flight. Returns the window.
    pub fn lose(&mut self, in_flight: u32) -> f64 {
        self.law.on_congestion(&self.congestion(in_flight));
        self.law.window().0
    }

    /// A mark with this many segments in flight, for a preset that follows the RFCs. Returns the window.
    pub fn mark(&mut self, in_flight: u32) -> f64 {
        self.law.on_congestion(&Congestion { min_window: Segments(1), cause: Cause::Mark, ..self.congestion(in_flight) });
        self.law.window().0
    }

    /// The first timeout of a segment. Returns the window.
    pub fn time_out(&mut self, in_flight: u32) -> f64 {
        self.law.on_timeout(&self.congestion(in_flight));
        self.law.window().0
    }

    /// A repeated timeout of the same segment. Returns the window.
    pub fn time_out_again(&mut self, in_flight: u32) -> f64 {
        self.law.on_timeout(&Congestion { repeated: true, ..self.congestion(in_flight) });
        self.law.window().0
    }

    fn congestion(&self, in_flight: u32) -> Congestion {
        Congestion::of(self.now, Segments(in_flight))
    }
}
