//! FAST TCP: the window moves towards the one that keeps `alpha` segments in the queues, by a share of the way (Y. Cui, *Three problems in TCP
//! performance analysis and congestion management*, chapter 4, after Jin, Wei and Low, "FAST TCP: motivation, architecture, algorithms,
//! performance", IEEE INFOCOM 2004). With `draining`, a new flow empties the queues once, so that all flows see the path's true round trip
//! (section 4.4.2).
//!
//! What the document leaves open: the weight of a sample in the averaged round trip (4.5) is 3 / window, at most 1/4, as in the paper by Jin and
//! others, unless `history_weight` is given. Algorithm 1 stops at its target instead of a part of a segment beyond it. With `alpha_return`,
//! alpha begins to return at the loss that has halved it; a timeout halves it, too. A window counts as stable, and draining begins, when at
//! two updates in a row it kept `alpha` in the queues, give or take a tenth, or rested below `beta`.
//! After a timeout the window grows from 1 as (4.1) has it: there is no slow-start threshold. Without timestamps there is a sample
//! in a round trip instead of one in each acknowledgement.

use super::support::beside::Beside;
use super::{Ack, AskedFor, Congestion, Controller, RoundTrip, Start};
use crate::primitives::math::exp;
use crate::primitives::units::{Cwnd, Segments, Span, Time};
use crate::settings::{Kind, Misfit, SEGMENTS_IN_QUEUES, Settings, member};
use serde::{Deserialize, Serialize};

// 200 segments as in section 4.3.1; one half as in the paper by Jin and others; every other round trip and no slow start as in sections
// 4.2.1 and 4.2.2.
member! {
    /// A given number of segments in the queues (FAST TCP).
    Fast = "fast", "Cui's thesis, chapter 4: equations (4.1), (4.5) and (4.32), Algorithm 1, and with `draining` the four phases of section 4.4.2";

    pub struct FastSpec {
        /// Segments to keep in the queues.
        alpha: f64 = 200.0 => SEGMENTS_IN_QUEUES,
        /// Fraction of the way to the new window that each update moves.
        gamma: f64 = 0.5 => Kind::Probability,
        /// Round trips from one update of the window to the next.
        round_trips: u32 = 2 => Kind::Whole { least: 1, most: 1000 },
        /// Slow start while the queueing delay is below this (MIthreshold).
        mi_threshold: Span = Span::ZERO => Kind::Duration { least: Span::ZERO },
        /// Factor by which a new flow slows down for a while, once it is stable, so that the queues drain (r).
        draining: Option<u32> = None => Kind::Whole { least: 2, most: 1_000_000 },
        /// The window rests while at least `alpha` segments are in the queues and fewer than this; `alpha` if not given.
        beta: Option<f64> = None => SEGMENTS_IN_QUEUES,
        /// The window shrinks by its share on each acknowledgement, so that sending does not pause (Algorithm 1).
        paced_decrease: bool = false => Kind::Truth,
        /// A loss, a mark or a first timeout halves `alpha`, down to a hundredth, and `beta` with it; it returns exponentially, at this rate per second (k of equation 4.32).
        alpha_return: Option<f64> = None => Kind::Number { least: 0.0, most: 1e6 },
        /// Weight of its history in the averaged round trip (4.5).
        history_weight: Option<f64> = None => Kind::Probability,
    }
}

impl Settings for FastSpec {
    fn check(&self) -> Vec<Misfit> {
        let still = |keys: &'static [&'static str], value, expected| {
            (value == 0.0).then(|| Misfit::error(keys, format!("a window that nothing moves: `{}` is 0", keys[0]), expected))
        };
        let FastSpec { alpha, beta, .. } = *self;
        let never = |keys: &'static [&'static str], value: Option<f64>, worst: f64, what: &str, expected: &str| {
            value.filter(|&value| value == worst).map(|_| Misfit::error(keys, what, expected))
        };
        let below = beta.filter(|&beta| beta < alpha);
        let misfits = [
            still(&["alpha"], alpha, "more than 0 segments"),
            still(&["gamma"], self.gamma, "more than 0, at most 1"),
            below.map(|_| Misfit::error(&["beta"], "`beta` is below `alpha`", format!("at least {alpha}"))),
            never(&["alpha_return"], self.alpha_return, 0.0, "an alpha that never returns", "more than 0 per second"),
            never(&["history_weight"], self.history_weight, 1.0, "an average that no sample moves", "less than 1"),
        ];
        misfits.into_iter().flatten().collect()
    }

    fn samples() -> Vec<FastSpec> {
        let usual = FastSpec { alpha: 5.0, round_trips: 1, ..FastSpec::default() };
        vec![
            usual,
            FastSpec { alpha: 200.0, gamma: 1.0, mi_threshold: Span::from_millis(1), ..usual },
            FastSpec { alpha: 3.0, round_trips: 2, ..usual },
            FastSpec { draining: Some(2), ..usual },
            FastSpec { beta: Some(8.0), paced_decrease: true, alpha_return: Some(0.1), history_weight: Some(0.9), ..usual },
        ]
    }
}

pub type Fast = Beside<FastMemory>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FastMemory {
    spec: FastSpec,
    /// d: the shortest round trip seen.
    base: Option<Span>,
    /// The averaged round trip in picoseconds.
    average: f64,
    /// Where the window is going, a segment for each acknowledgement.
    target: f64,
    /// By how much of a segment for each, on the way down.
    decrease: f64,
    /// What losses have made of alpha, and when.
    reduced_alpha: Option<(f64, Time)>,
    /// When it was last updated.
    updated: Time,
    phase: Phase,
}

/// Of a flow's life: the four phases of draining, and what is before and after them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Phase {
    /// Updates in a row that found the window stable.
    Converging {
        stable: u32,
    },
    /// `before`: the averaged round trip when it began.
    Reduction {
        began: Time,
        before: f64,
    },
    /// `fell`: when the base round trip last did, to `base`.
    Depletion {
        began: Time,
        before: f64,
        fell: Time,
        base: Option<Span>,
    },
    Refilling {
        target: f64,
    },
    Stabilisation {
        began: Time,
    },
    Drained,
}

impl Fast {
    pub(super) fn new(spec: &FastSpec, start: Start) -> Fast {
        let phase = if spec.draining.is_some() { Phase::Converging { stable: 0 } } else { Phase::Drained };
        let memory = FastMemory {
            spec: *spec,
            base: None,
            average: 0.0,
            target: start.window,
            decrease: 0.0,
            reduced_alpha: None,
            updated: Time::ZERO,
            phase,
        };
        Beside::with(start, memory)
    }

    fn set(&mut self, window: Cwnd) {
        self.window = window.0.max(1.0);
        self.memory.target = self.window;
    }

    /// An acknowledgement of a flow that is not draining.
    fn control(&mut self, ack: &Ack) {
        let is_due = ack.now.since(self.memory.updated).0 as f64 >= f64::from(self.memory.spec.round_trips) * self.memory.average;
        if is_due && let Some(base) = self.memory.base {
            self.update(ack.now, base);
        }
        let counted = f64::from(ack.counted.0);
        if !ack.window_validated {
            self.memory.target = self.memory.target.min(self.window);
        } else if self.memory.queueing_delay() < self.memory.spec.mi_threshold.0 as f64 {
            self.set(Cwnd(self.window + counted));
        } else if self.window <= self.memory.target {
            self.window = self.memory.target.min(self.window + counted);
        }
        if self.window > self.memory.target {
            let acked = f64::from(ack.acked.0);
            self.window = self.memory.target.max(self.window - self.memory.decrease * acked);
        }
    }

    /// Equation (4.1). A smaller window is taken at once or, by Algorithm 1, in a round trip, a larger one at a segment for each acknowledgement.
    fn update(&mut self, now: Time, base: Span) {
        self.memory.updated = now;
        let FastSpec { gamma, beta, paced_decrease, .. } = self.memory.spec;
        let alpha = self.memory.alpha(now);
        let share = self.memory.empty_share(base);
        let queued = self.window * (1.0 - share);
        // A reduced alpha takes beta with it.
        let most = beta.map(|beta| beta * alpha / self.memory.spec.alpha);
        let rests = most.is_some_and(|most| (alpha..most).contains(&queued));
        let wanted = (2.0 * self.window).min((1.0 - gamma) * self.window + gamma * (share * self.window + alpha)).max(1.0);
        self.memory.target = if rests { self.window } else { wanted };
        if !paced_decrease {
            self.window = self.window.min(self.memory.target);
        }
        self.memory.decrease = (self.window - self.memory.target) / self.window;
        if let Phase::Converging { stable } = self.memory.phase {
            let is_stable = rests || (queued - alpha).abs() <= STABLE * alpha;
            self.memory.phase = match (is_stable, stable) {
                (false, _) => Phase::Converging { stable: 0 },
                (true, 0) => Phase::Converging { stable: 1 },
                (true, _) => Phase::Reduction { began: now, before: self.memory.average },
            };
        }
    }

    /// Section 4.4.2. `r`: how many times slower the flow sends.
    fn drain(&mut self, ack: &Ack, r: f64) {
        let since = |began: Time| ack.now.since(began).0 as f64;
        match self.memory.phase {
            Phase::Reduction { began, before } if since(began) >= before => {
                self.memory.phase = Phase::Depletion { began: ack.now, before, fell: ack.now, base: self.memory.base };
            }
            // One segment for r acknowledgements.
            Phase::Reduction { .. } => self.set(Cwnd(self.window - (r - 1.0) / r)),
            Phase::Depletion { began, before, fell, base } => {
                let fell = if self.memory.base < base { ack.now } else { fell };
                let round_trip = self.memory.average;
                let ends = since(fell) >= round_trip || since(began) >= 2.0 * round_trip;
                self.memory.phase = match ends {
                    true => self.memory.refilling(ack.now, before),
                    false => Phase::Depletion { began, before, fell, base: self.memory.base },
                };
            }
            Phase::Refilling { target } if self.window < target && ack.window_validated => {
                self.set(Cwnd(target.min(self.window + r - 1.0)));
            }
            Phase::Refilling { .. } => self.memory.phase = Phase::Stabilisation { began: ack.now },
            Phase::Stabilisation { began } if since(began) >= self.memory.average => self.memory.phase = Phase::Drained,
            _ => {}
        }
        self.memory.updated = ack.now;
    }

    /// Congestion is answered, and whatever the flow was doing is over.
    fn reduce(&mut self, seen: &Congestion, window: Cwnd) {
        let now = seen.now;
        self.set(window);
        if self.memory.spec.alpha_return.is_some() && !seen.repeated {
            let least = LEAST_ALPHA * self.memory.spec.alpha;
            self.memory.reduced_alpha = Some(((self.memory.alpha(now) / 2.0).max(least), now));
        }
        self.memory.updated = now;
        self.memory.phase = match self.memory.phase {
            Phase::Converging { .. } => Phase::Converging { stable: 0 },
            _ => Phase::Drained,
        };
    }
}

/// How far from `alpha` the queue of a stable flow may be.
const STABLE: f64 = 0.1;
/// The floor of section 4.5: a hundredth of alpha.
const LEAST_ALPHA: f64 = 0.01;

impl FastMemory {
    /// d over the averaged round trip: what is left of the round trip without queues.
    fn empty_share(&self, base: Span) -> f64 {
        (base.0 as f64 / self.average).min(1.0)
    }

    /// alpha, on its way back from the last loss: equation (4.34).
    fn alpha(&self, now: Time) -> f64 {
        let whole = self.spec.alpha;
        let Some((k, (reduced, since))) = self.spec.alpha_return.zip(self.reduced_alpha) else { return whole };
        whole + (reduced - whole) * exp(-k * now.since(since).seconds())
    }

    /// In picoseconds.
    fn queueing_delay(&self) -> f64 {
        (self.average - self.base.map_or(0.0, |base| base.0 as f64)).max(0.0)
    }

    /// To the rate of the equilibrium, alpha / (D - d), over the round trip of the empty queue.
    fn refilling(&self, now: Time, before: f64) -> Phase {
        let base = self.base.unwrap_or(Span::ZERO).0 as f64;
        Phase::Refilling { target: self.alpha(now) * base / (before - base) }
    }
}

impl Controller for Fast {
    const BYTES_BESIDE: usize = Self::BYTES;

    #[inline]
    fn window(&self) -> f64 {
        self.window
    }

    fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }

    fn asks_for(&self) -> AskedFor {
        AskedFor { release: self.memory.spec.draining.is_some(), ..AskedFor::default() }
    }

    fn release(&self) -> Option<Segments> {
        let refills = matches!(self.memory.phase, Phase::Refilling { .. });
        self.memory.spec.draining.filter(|_| refills).map(Segments)
    }

    fn on_ack(&mut self, ack: &Ack) {
        match (self.memory.phase, self.memory.spec.draining) {
            (Phase::Converging { .. } | Phase::Drained, _) | (_, None) => self.control(ack),
            (_, Some(r)) => self.drain(ack, r.into()),
        }
    }

    /// Equation (4.5).
    fn on_round_trip(&mut self, measured: &RoundTrip) {
        let sample = measured.sample.0.max(1) as f64;
        let of_sample = self.memory.spec.history_weight.map_or((3.0 / self.window).min(0.25), |weight| 1.0 - weight);
        let weight = if self.memory.average > 0.0 { of_sample } else { 1.0 };
        self.memory.average += weight * (sample - self.memory.average);
        let falls = self.memory.base.is_none_or(|base| measured.sample < base);
        if falls {
            self.memory.base = Some(measured.sample);
        }
    }

    fn on_congestion(&mut self, seen: &Congestion) {
        self.reduce(seen, Cwnd(f64::from(seen.in_flight.0 / 2).max(2.0)));
    }

    fn on_timeout(&mut self, seen: &Congestion) {
        self.reduce(seen, Cwnd(1.0));
    }

    fn limit_window(&mut self, most: Cwnd) {
        self.window = self.window.min(most.0);
        self.memory.target = self.memory.target.min(most.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Counting;
    use crate::congestion::support::model_sender::ModelSender;

    fn ms(milliseconds: u64) -> Span {
        Span::from_millis(milliseconds)
    }

    /// An empty path of 100 ms.
    fn sender(window: f64, spec: FastSpec) -> ModelSender<Fast> {
        ModelSender::new(Fast::new(&spec, Start { window, ssthresh: f64::INFINITY, counting: Counting::Bytes }))
            .with_round_trip(100)
    }

    /// The same, with a steady round trip of so many milliseconds from now on.
    fn queued(window: f64, spec: FastSpec, milliseconds: u64) -> ModelSender<Fast> {
        let mut sender = sender(window, spec);
        sender.law.memory.average = ms(milliseconds).0 as f64;
        sender
    }

    const SPEC: FastSpec = FastSpec {
        alpha: 50.0,
        gamma: 0.5,
        round_trips: 1,
        mi_threshold: Span::ZERO,
        draining: None,
        beta: None,
        paced_decrease: false,
        alpha_return: None,
        history_weight: None,
    };

    #[test]
    fn a_window_too_small_grows_to_the_new_one_by_a_segment_for_each_acknowledgement() {
        // 0.5 * 100 + 0.5 * (100 / 125 * 100 + 50) = 115
        let mut sender = queued(100.0, SPEC, 125);
        assert_eq!(sender.ack_after(124), 100.0);
        assert_eq!(sender.ack_after(1), 101.0);
        let after: Vec<f64> = (0..20).map(|_| sender.ack_after(0)).collect();
        assert_eq!((after[0], after[13], after[19]), (102.0, 115.0, 115.0));
        assert_eq!(sender.law.memory.target, 115.0);
    }

    #[test]
    fn no_update_more_than_doubles_the_window() {
        // 0.5 * 10 + 0.5 * (10 + 200) = 110
        let mut sender = sender(10.0, FastSpec { alpha: 200.0, ..SPEC });
        sender.ack_after(100);
        assert_eq!(sender.law.memory.target, 20.0);
    }

    #[test]
    fn a_window_too_large_shrinks_at_once() {
        // 0.5 * 300 + 0.5 * (100 / 200 * 300 + 50) = 250
        let mut sender = queued(300.0, SPEC, 200);
        assert_eq!(sender.ack_after(200), 250.0);
        assert_eq!(sender.ack_after(199), 250.0);
    }

    #[test]
    fn by_algorithm_1_it_shrinks_by_its_share_on_each_acknowledgement() {
        // To 250, 50 / 300 at a time: 300 acknowledgements.
        let mut sender = queued(300.0, FastSpec { paced_decrease: true, ..SPEC }, 200);
        let first = sender.ack_after(200);
        let windows: Vec<f64> = (0..310).map(|_| sender.ack_after(0)).collect();
        assert!((first - (300.0 - 1.0 / 6.0)).abs() < 1e-9 && windows[297] > 250.0, "{first} {}", windows[297]);
        assert_eq!((windows[299], windows[309]), (250.0, 250.0));
    }

    #[test]
    fn between_alpha_and_beta_the_window_rests() {
        // Of 250 a fifth is in the queue: 50. At a round trip of 135 ms it is 65, at 150 ms 83.
        let after = |milliseconds| {
            let mut sender = queued(250.0, FastSpec { beta: Some(70.0), ..SPEC }, milliseconds);
            sender.ack_after(milliseconds)
        };
        assert_eq!((after(135), after(150)), (250.0, 0.5 * 250.0 + 0.5 * (250.0 / 1.5 + 50.0)));
    }

    #[test]
    fn a_loss_halves_alpha_which_returns_exponentially() {
        let mut sender = queued(300.0, FastSpec { alpha: 800.0, alpha_return: Some(0.1), ..SPEC }, 200);
        let alpha = |sender: &ModelSender<Fast>| sender.law.memory.alpha(sender.now);
        assert_eq!(alpha(&sender), 800.0);
        sender.lose(301);
        assert_eq!(alpha(&sender), 400.0);
        // 800 - 400 / e after ten seconds.
        sender.wait(10_000);
        assert!((alpha(&sender) - (800.0 - 400.0 / std::f64::consts::E)).abs() < 1e-9);
        sender.lose(301);
        assert!((alpha(&sender) - (400.0 - 200.0 / std::f64::consts::E)).abs() < 1e-9);
        // It never falls below a hundredth.
        (0..20).for_each(|_| {
            sender.lose(301);
        });
        assert_eq!(alpha(&sender), 8.0);
    }

    #[test]
    fn the_weight_of_history_may_be_given() {
        let mut sender = sender(30.0, FastSpec { history_weight: Some(0.75), ..SPEC });
        sender.law.on_round_trip(&RoundTrip { sample: ms(140), smoothed: None });
        assert_eq!(sender.law.memory.average, ms(110).0 as f64);
    }

    #[test]
    fn a_window_that_keeps_alpha_in_the_queues_stays() {
        // Equation (4.3): 125 / 25 * 50
        let mut sender = queued(250.0, SPEC, 125);
        assert!((0..10).all(|_| sender.ack_after(125) == 250.0));
    }

    #[test]
    fn updates_come_as_many_round_trips_apart_as_asked_for() {
        let mut sender = queued(300.0, FastSpec { round_trips: 2, ..SPEC }, 200);
        assert_eq!((sender.ack_after(200), sender.ack_after(199), sender.ack_after(1)), (300.0, 300.0, 250.0));
    }

    #[test]
    fn the_round_trip_is_averaged_with_a_weight_of_three_windowths_and_at_most_a_quarter() {
        for (window, average) in [(4.0, 110), (30.0, 104)] {
            let mut sender = sender(window, SPEC);
            sender.law.on_round_trip(&RoundTrip { sample: ms(140), smoothed: None });
            assert_eq!((sender.law.memory.average, sender.law.memory.base), (ms(average).0 as f64, Some(ms(100))));
        }
    }

    #[test]
    fn below_the_threshold_of_delay_it_starts_slowly() {
        let spec = FastSpec { mi_threshold: ms(10), ..SPEC };
        assert_eq!(queued(4.0, spec, 109).ack(1), 5.0);
        assert_eq!(queued(4.0, spec, 110).ack(1), 4.0);
    }

    #[test]
    fn a_loss_halves_what_was_in_flight_and_a_timeout_leaves_one_segment() {
        let mut sender = queued(300.0, SPEC, 200);
        sender.wait(150);
        assert_eq!(sender.lose(301), 150.0);
        // What was sent with the old window does not judge the new one: 0.5 * 150 + 0.5 * (75 + 50) = 137.5
        assert_eq!((sender.ack_after(199), sender.ack_after(1)), (150.0, 137.5));
        assert_eq!(sender.time_out(100), 1.0);
        assert_eq!((sender.ack_after(199), sender.ack_after(1), sender.ack_after(1)), (1.0, 2.0, 2.0));
    }

    #[test]
    fn a_new_flow_drains_the_queues_once_it_is_stable() {
        let mut sender = queued(250.0, FastSpec { draining: Some(10), ..SPEC }, 125);
        sender.ack_after(125);
        assert_eq!(sender.law.memory.phase, Phase::Converging { stable: 1 });
        sender.ack_after(125);
        assert!(matches!(sender.law.memory.phase, Phase::Reduction { .. }));
        // Nine tenths of a segment less for each acknowledgement: 250 in a round trip of 125 ms leave 25.
        let windows: Vec<f64> = (0..250).map(|step| sender.ack_after(u64::from(step % 2 == 1))).collect();
        assert!((windows[0] - 249.1).abs() < 1e-9 && (windows[247] - 26.8).abs() < 1e-9, "{} {}", windows[0], windows[247]);
        assert!(matches!(sender.law.memory.phase, Phase::Depletion { .. }));
        // The queue is shorter by 5 ms than what the flow took for an empty path: 95 ms at 20 ms, and a round trip later it is stable.
        sender.law.memory.average = ms(100).0 as f64;
        sender.ack_after(20);
        sender.law.memory.base = Some(ms(95));
        let reduced = sender.ack_after(0);
        assert_eq!((sender.ack_after(99), sender.law.release()), (reduced, None));
        sender.ack_after(1);
        // 50 * 95 / (125 - 95), by nine more for each acknowledgement, which releases no more than ten.
        assert_eq!(sender.law.memory.phase, Phase::Refilling { target: 50.0 * 95.0 / 30.0 });
        assert_eq!((sender.ack_after(0), sender.law.release()), (reduced + 9.0, Some(Segments(10))));
        let refilled: Vec<f64> = (0..20).map(|_| sender.ack_after(0)).collect();
        assert_eq!(refilled[19], 50.0 * 95.0 / 30.0);
        assert!(matches!(sender.law.memory.phase, Phase::Stabilisation { .. }));
        assert_eq!((sender.ack_after(99), sender.law.release()), (refilled[19], None));
        sender.ack_after(1);
        assert_eq!(sender.law.memory.phase, Phase::Drained);
    }
}
