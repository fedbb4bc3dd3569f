//! The form `module`: FAST as the ns-2 module behind the figures of the document did it (version 1.1.3 by T. Cui and L. Andrew, 2007; its behaviour
//! was observed and is described here, none of its code is used). It measures at acknowledgements of new data outside recovery only; judges the
//! queue by what was in flight when the acknowledged segment left; updates the window often, but only in every other round trip; and spreads the
//! whole segments by which it grows over the time to the next update.
//!
//! Its first round trip was that of a handshake: shorter than any of data, so that it takes about one segment of its own for queue. Here the first
//! of data stands for it, less what a segment takes longer.
//!
//! Differs: no acknowledgement more than doubles the window, also where a round trip is shorter than 4 ms. After a timeout it went on without
//! backing its timer off, which is the timer's business (`timer.max_backoff = 1`).

use super::{Fast, FastMemory};
use crate::congestion::Ack;
use crate::primitives::units::{Cwnd, Segments, Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The least window, and that after a timeout.
pub(super) const LEAST: f64 = 2.0;
/// Up to this window all that it is to grow by comes at once.
const AT_ONCE: f64 = 4.0;
/// Round trips shorter than this are not paced.
const SHORT: Span = Span::from_millis(4);

/// What was in flight at acknowledgements, back to a round trip ago. While losses are repaired nothing is noted, so that what leaves then
/// remembers what was in flight before the loss.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Flights {
    changes: VecDeque<(Time, Segments)>,
}

impl Flights {
    pub(super) fn note(&mut self, ack: &Ack) {
        if self.changes.back().is_none_or(|last| last.1 != ack.in_flight) {
            self.changes.push_back((ack.now, ack.in_flight));
        }
        let Some(rtt) = ack.rtt else { return };
        // What was noted when a segment left, or before, is what it remembers.
        let sent = Time(ack.now.0.saturating_sub(rtt.0));
        while self.changes.get(1).is_some_and(|change| change.0 <= sent) {
            self.changes.pop_front();
        }
    }

    /// In flight when the segment left that the acknowledgement just noted acknowledges.
    pub(super) fn before(&self, ack: &Ack) -> f64 {
        f64::from(self.changes.front().map_or(ack.in_flight, |change| change.1).0)
    }
}

/// When it updates, and how it grows.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Pace {
    /// Round trips are active and frozen in turn. The handshake was in an active one, the first acknowledgement begins a frozen one.
    is_active: bool,
    began: Option<Time>,
    latest: Span,
    /// Acknowledgements in this round trip, and in the one before.
    acks: u32,
    acks_before: u32,
    /// Segments to grow by, one for so many acknowledgements, and how many have come since the last.
    pending: u32,
    spacing: u32,
    since: u32,
}

impl Pace {
    pub(super) fn forget(&mut self) {
        self.pending = 0;
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.latest = ack.rtt.unwrap_or(self.latest);
        match self.began {
            Some(began) if ack.now.since(began) < self.latest => {}
            began => {
                self.is_active = began.is_some() && !self.is_active;
                self.began = Some(ack.now);
                self.acks_before = std::mem::take(&mut self.acks);
            }
        }
        self.acks += 1;
    }

    /// To grow by so many segments until the next update. `period`: as a share of a round trip.
    fn grow(&mut self, Segments(segments): Segments, period: f64) {
        self.pending = segments;
        let acks_in_period = f64::from(self.acks_before) * period;
        self.spacing = (acks_in_period / f64::from(segments.max(1))) as u32;
    }

    /// By how many segments a window grows with this acknowledgement.
    fn due(&mut self, Cwnd(window): Cwnd) -> f64 {
        self.since += 1;
        let due = match () {
            () if self.pending == 0 => 0,
            () if window <= AT_ONCE => self.pending.min(window as u32),
            () if self.since >= self.spacing => 1,
            () => 0,
        };
        if due > 0 {
            self.since = 0;
        }
        self.pending -= due;
        f64::from(due)
    }
}

impl FastMemory {
    /// A sample weighs 1/256, and 3 over what is in flight beyond 768.
    pub(super) fn measure_as_module(&mut self, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            if self.average == 0.0 {
                self.measure(rtt - self.handshake_saves, 1.0);
            }
            self.measure(rtt, (3.0 / f64::from(ack.in_flight.0)).min(1.0 / 256.0));
        }
    }
}

impl Fast {
    /// An acknowledgement of a flow that is not draining.
    pub(super) fn control_as_module(&mut self, ack: &Ack) {
        self.memory.pace.on_ack(ack);
        let Some(base) = self.memory.base else { return };
        let growing = self.memory.queueing_delay() < self.memory.spec.mi_threshold.0 as f64;
        let is_due = ack.now.since(self.memory.updated) >= self.memory.spec.update_period;
        if growing {
            self.memory.pace.forget();
            self.memory.updated = ack.now;
        } else if self.memory.pace.is_active && is_due {
            self.update_as_module(ack, base);
        }
        let due = if growing { 1.0 } else { self.memory.pace.due(Cwnd(self.window)) };
        if ack.window_validated {
            self.window += due;
        }
        if growing {
            self.memory.target = self.window;
        }
        self.shrink(ack);
    }

    fn update_as_module(&mut self, ack: &Ack, base: Span) {
        self.memory.target = self.wanted(ack, base).max(LEAST);
        self.memory.pace.forget();
        self.begin_to_shrink();
        let wanted = self.memory.target - self.window;
        if base < SHORT && ack.window_validated {
            self.window = self.memory.target.min(2.0 * self.window);
        } else if wanted >= 1.0 {
            let period = self.memory.spec.update_period.0 as f64 / self.memory.average;
            self.memory.pace.grow(Segments(wanted as u32), period);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Start;
    use crate::congestion::fast::bench::{SPEC, ms};
    use crate::congestion::fast::{FastSpec, UpdateForm};
    use crate::congestion::support::model_sender::ModelSender;

    const MODULE: FastSpec = FastSpec { update: UpdateForm::Module, alpha: 200.0, ..SPEC };

    fn sender(window: f64, spec: FastSpec) -> ModelSender<Fast> {
        let mut sender = ModelSender::new(Fast::new(&spec, Start { window, ..Start::default() }));
        sender.wait(100);
        (sender.round_trip, sender.in_flight) = (Some(ms(100)), window as u32);
        sender
    }

    /// In flight is what the window was.
    fn ack(sender: &mut ModelSender<Fast>, milliseconds: u64) -> f64 {
        let window = sender.ack_after(milliseconds);
        sender.in_flight = window as u32;
        window
    }

    #[test]
    fn a_small_window_doubles_with_each_acknowledgement_and_a_larger_one_in_each_round_trip() {
        // The first round trip of data is frozen; 2 becomes 8 with two acknowledgements, as observed; then a segment for each.
        let mut sender = sender(2.0, MODULE);
        assert_eq!([0, 0].map(|after| ack(&mut sender, after)), [2.0, 2.0]);
        assert_eq!([100, 0].map(|after| ack(&mut sender, after)), [4.0, 8.0]);
        // Frozen: what was decided before still comes.
        assert_eq!([100, 0, 0, 0, 0, 0, 0, 0].map(|after| ack(&mut sender, after))[7], 16.0);
    }

    #[test]
    fn between_updates_it_grows_by_whole_segments_at_even_distances() {
        let mut sender = sender(100.0, FastSpec { alpha: 20.9, ..MODULE });
        (0..100).for_each(|_| assert_eq!(ack(&mut sender, 0), 100.0));
        // 0.5 * 20.9 = 10.45: ten segments within 10 ms, of 100 acknowledgements in a round trip of 100 ms one for each.
        let windows: Vec<f64> = (0..12).map(|step| ack(&mut sender, if step == 0 { 100 } else { 0 })).collect();
        assert_eq!((windows[0], windows[9], windows[11]), (101.0, 110.0, 110.0));
        // 10 ms later 110 in flight at an empty queue are judged by the 100 of a round trip ago: half of the way from 110 to 120.9.
        assert_eq!(sender.law.memory.target, 110.45);
        ack(&mut sender, 10);
        assert_eq!((sender.law.memory.target, sender.law.memory.pace.pending), (0.5 * 110.0 + 0.5 * 120.9, 4));
    }

    #[test]
    fn a_decrease_comes_at_once_and_in_active_round_trips_only() {
        let mut sender = sender(300.0, FastSpec { alpha: 50.0, ..MODULE });
        ack(&mut sender, 0);
        sender.law.memory.average = ms(200).0 as f64;
        sender.round_trip = Some(ms(200));
        // 0.5 * 300 + 0.5 * (100 / 200 * 300 + 50) = 250, then 225 towards 200.
        assert_eq!([199, 1].map(|after| ack(&mut sender, after)), [300.0, 250.0]);
        assert_eq!([9, 1].map(|after| ack(&mut sender, after)), [250.0, 225.0]);
        // A frozen round trip begins at 200 ms, which leaves the window as it is.
        assert_eq!([189, 1, 199].map(|after| ack(&mut sender, after)), [212.5; 3]);
    }

    #[test]
    fn after_a_loss_the_window_returns_to_what_is_remembered() {
        let after_a_loss = |remembered_window| {
            let mut sender = sender(1402.0, FastSpec { remembered_window, ..MODULE });
            ack(&mut sender, 0);
            // Recovery: no acknowledgement is heard of for a round trip.
            assert_eq!(sender.lose(1402), 701.0);
            sender.in_flight = 701;
            ack(&mut sender, 100);
            sender.law.memory.target
        };
        // Half of the way from 701 to 1402 + 200 against half of the way to 701 + 200.
        assert_eq!((after_a_loss(None), after_a_loss(Some(false))), (1151.5, 801.0));
    }

    #[test]
    fn the_first_round_trip_is_that_of_a_handshake() {
        let start = Start { window: 2.0, handshake_saves: ms(3), ..Start::default() };
        let mut sender = ModelSender::new(Fast::new(&MODULE, start));
        (sender.round_trip, sender.in_flight) = (Some(ms(100)), 2);
        ack(&mut sender, 100);
        let FastMemory { base, average, .. } = &*sender.law.memory;
        assert_eq!((*base, average.round()), (Some(ms(97)), (ms(97).0 as f64 + ms(3).0 as f64 / 256.0).round()));
    }

    #[test]
    fn a_sample_weighs_a_256th_and_three_over_what_is_in_flight_beyond_768() {
        for (in_flight, weight) in [(100.0, 1.0 / 256.0), (1000.0, 0.003)] {
            let mut sender = sender(in_flight, MODULE);
            ack(&mut sender, 0);
            sender.round_trip = Some(ms(200));
            ack(&mut sender, 0);
            let seen = sender.law.memory.average / ms(100).0 as f64 - 1.0;
            assert!((seen - weight).abs() < 1e-12, "{seen} {weight}");
        }
    }
}
