//! The form `module`: FAST as implemented in the ns-2 module behind the figures of the document (version 1.1.3 by T. Cui and L. Andrew,
//! 2007; its behaviour was observed and is described here, none of its code is used). It measures only at acknowledgements of new data
//! outside recovery; estimates the queue from the data in flight when the acknowledged segment left; updates the window often, but only in
//! every other RTT; and spreads growth by whole segments over the time to the next update.
//!
//! Its first RTT was that of a handshake, which is shorter than any RTT of data, so that it counts about one of its own segments as queued.
//! Here the first RTT of data is used instead, less the additional time of a segment. If the initial window is one segment and its
//! acknowledgement is delayed, the average, in which a sample has little weight, falls slowly: 10 Mbit/s with 40 ms and an `alpha` of three
//! segments are not filled within 20 s. `handshake = true` avoids this.
//!
//! Differs: no acknowledgement more than doubles the window, even where an RTT is shorter than 4 ms. After a timeout the module continued
//! without timer backoff, which is a setting of the timer (`timer.max_backoff = 1`).

use super::pace::MIN;
use super::{Fast, FastMemory};
use crate::congestion::support::Ack;
use crate::primitives::units::{Cwnd, Segments, TimeDelta};

/// Shorter RTTs are not paced.
const SHORT: TimeDelta = TimeDelta::from_millis(4);

impl FastMemory {
    /// A sample has the weight 1/256, and 3 over the data in flight if that exceeds 768.
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

    fn update_as_module(&mut self, ack: &Ack, base: TimeDelta) {
        self.memory.target = self.wanted(ack, base).max(MIN);
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

    /// The data in flight equals the previous window.
    fn ack(sender: &mut ModelSender<Fast>, milliseconds: u64) -> f64 {
        let window = sender.ack_after(milliseconds);
        sender.in_flight = window as u32;
        window
    }

    #[test]
    fn a_small_window_doubles_with_each_acknowledgement_and_a_larger_one_per_rtt() {
        // The first RTT of data is frozen; 2 becomes 8 with two acknowledgements, as observed; then one segment per acknowledgement.
        let mut sender = sender(2.0, MODULE);
        assert_eq!([0, 0].map(|after| ack(&mut sender, after)), [2.0, 2.0]);
        assert_eq!([100, 0].map(|after| ack(&mut sender, after)), [4.0, 8.0]);
        // Frozen: growth that was decided before continues.
        assert_eq!([100, 0, 0, 0, 0, 0, 0, 0].map(|after| ack(&mut sender, after))[7], 16.0);
    }

    #[test]
    fn between_updates_it_grows_by_evenly_spaced_whole_segments() {
        let mut sender = sender(100.0, FastSpec { alpha: 20.9, ..MODULE });
        (0..100).for_each(|_| assert_eq!(ack(&mut sender, 0), 100.0));
        // 0.5 * 20.9 = 10.45: ten segments within 10 ms, at 100 acknowledgements per RTT of 100 ms one per acknowledgement.
        let windows: Vec<f64> = (0..12).map(|step| ack(&mut sender, if step == 0 { 100 } else { 0 })).collect();
        assert_eq!((windows[0], windows[9], windows[11]), (101.0, 110.0, 110.0));
        // 10 ms later, with 110 in flight, the empty queue is estimated from the 100 of one RTT ago: half of the way from 110 to 120.9.
        assert_eq!(sender.law.memory.target, 110.45);
        ack(&mut sender, 10);
        assert_eq!((sender.law.memory.target, sender.law.memory.pace.pending), (0.5 * 110.0 + 0.5 * 120.9, 4));
    }

    #[test]
    fn a_decrease_is_immediate_and_only_in_active_rtts() {
        let mut sender = sender(300.0, FastSpec { alpha: 50.0, ..MODULE });
        ack(&mut sender, 0);
        sender.law.memory.average = ms(200).0 as f64;
        sender.round_trip = Some(ms(200));
        // 0.5 * 300 + 0.5 * (100 / 200 * 300 + 50) = 250, then 225 towards 200.
        assert_eq!([199, 1].map(|after| ack(&mut sender, after)), [300.0, 250.0]);
        assert_eq!([9, 1].map(|after| ack(&mut sender, after)), [250.0, 225.0]);
        // A frozen RTT begins at 200 ms and leaves the window unchanged.
        assert_eq!([189, 1, 199].map(|after| ack(&mut sender, after)), [212.5; 3]);
    }

    #[test]
    fn after_a_loss_the_window_returns_to_the_remembered_one() {
        let after_a_loss = |lagged_window| {
            let mut sender = sender(1402.0, FastSpec { lagged_window, ..MODULE });
            ack(&mut sender, 0);
            // Recovery: no acknowledgement is processed for an RTT.
            assert_eq!(sender.lose(1402), 701.0);
            sender.in_flight = 701;
            ack(&mut sender, 100);
            sender.law.memory.target
        };
        // Half of the way from 701 to 1402 + 200, or half of the way to 701 + 200.
        assert_eq!((after_a_loss(None), after_a_loss(Some(false))), (1151.5, 801.0));
    }

    #[test]
    fn the_first_rtt_is_that_of_a_handshake() {
        let start = Start { window: 2.0, handshake_saves: ms(3), ..Start::default() };
        let mut sender = ModelSender::new(Fast::new(&MODULE, start));
        (sender.round_trip, sender.in_flight) = (Some(ms(100)), 2);
        ack(&mut sender, 100);
        let FastMemory { base, average, .. } = &*sender.law.memory;
        assert_eq!((*base, average.round()), (Some(ms(97)), (ms(97).0 as f64 + ms(3).0 as f64 / 256.0).round()));
    }

    #[test]
    fn a_sample_has_weight_1_over_256_and_three_over_the_flight_size_beyond_768() {
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
