//! FAST TCP: the window moves a fraction of the distance towards the one that keeps `alpha` segments queued (Y. Cui, *Three problems in TCP
//! performance analysis and congestion management*, chapter 4, after Jin, Wei and Low, "FAST TCP: motivation, architecture, algorithms,
//! performance", IEEE INFOCOM 2004). With `draining`, a new flow empties the queues once, so that all flows measure the path's true RTT
//! (section 4.4.2).
//!
//! Details that the document does not specify: the weight of a sample in the averaged RTT (4.5) is 3 / window, at most 1/4, as in the paper
//! by Jin and others, unless `history_weight` is given. A sample is the RTT of the newest segment that an acknowledgement covers. Algorithm 1
//! stops at its target instead of a fraction of a segment beyond it. With `alpha_recovery_rate`, a timeout halves alpha, too. A window counts as
//! stable, and draining begins, when at two consecutive updates it kept `alpha` queued within a tenth, or stayed constant below `beta`. After a
//! timeout the window grows from 1 according to (4.1): there is no slow-start threshold. Both windows of (4.1) are the present one, as written;
//! the form `module` (`module.rs`) reproduces the ns-2 module behind the document's figures, and its remembered window is also available
//! separately.
//!
//! With delayed acknowledgements segments leave in pairs, and the second of a pair waits for the first: an `alpha` of one segment, less than a
//! pair, used 0.69 of a link of 10 Mbit/s with 50 ms, instead of 0.93.

mod draining;
mod module;
mod pace;
mod phase;

use self::pace::{Flights, MIN, Pace};
use self::phase::{Found, Phase, STABLE};

use super::support::heap_state::HeapState;
use super::support::{Abilities, Ack, Congestion, Controller, RoundTrip, Start, Subscriptions};
use crate::primitives::math::exp;
use crate::primitives::units::{Cwnd, Segments, Time, TimeDelta};
use crate::settings::{
    ABOVE_ZERO, Kind, PathFacts, PlainWords, SEGMENTS_IN_QUEUES, SettingConflict, Settings, conflicts, member, words,
};
use serde::{Deserialize, Serialize};

// 200 segments as in section 4.3.1; one half as in the paper by Jin and others; every other RTT and no slow start as in sections 4.2.1 and
// 4.2.2.
member! {
    /// Keeps a given number of segments queued (FAST TCP).
    Fast = "fast", "Cui's thesis, chapter 4: equations (4.1), (4.5) and (4.32), Algorithm 1, and with `draining` the four phases of section 4.4.2";

    pub struct FastSpec {
        /// Number of segments to keep queued; at most the buffer divided by the number of flows.
        alpha: f64 = 200.0 => SEGMENTS_IN_QUEUES,
        /// Fraction of the distance to the new window that each update covers.
        gamma: f64 = 0.5 => Kind::Probability,
        /// Form of the window update: its timing and equation.
        update: UpdateForm = UpdateForm::Thesis => Kind::Words(&UpdateForm::WORDS),
        /// Form `thesis`: RTTs between updates of the window.
        round_trips: u32 = 2 => Kind::Integer { min: 1, max: 1000 },
        /// Form `module`: time between updates of the window, in every other RTT.
        update_period: TimeDelta = UPDATE_PERIOD => ABOVE_ZERO,
        /// Estimate the queue from the window of one RTT ago and, after a loss, from the window before the loss. By default off in the form
        /// `thesis` and on in `module`. With this off, `module` does not converge, because it updates many times before it sees the effect
        /// of an update.
        lagged_window: Option<bool> = None => Kind::Boolean,
        /// Queueing delay below which the window grows as in slow start (MIthreshold).
        mi_threshold: TimeDelta = TimeDelta::ZERO => Kind::Duration { min: TimeDelta::ZERO },
        /// Factor by which a new flow, once stable, slows down for a while so that the queues drain (r).
        draining: Option<u32> = None => Kind::Integer { min: 2, max: 1_000_000 },
        /// With `draining`: time after which the flow discards its estimate of the propagation delay and drains again, so that a longer
        /// path is not mistaken for a queue.
        drain_interval: Option<TimeDelta> = None => ABOVE_ZERO,
        /// The window stays constant while at least `alpha` and fewer than this many segments are queued. Default: `alpha`.
        beta: Option<f64> = None => SEGMENTS_IN_QUEUES,
        /// Spread a window decrease over the acknowledgements in proportion, so that transmission does not pause (Algorithm 1).
        paced_decrease: bool = false => Kind::Boolean,
        /// Rate per second at which `alpha` recovers exponentially (k of equation 4.32). If given, each loss, mark or first timeout halves
        /// `alpha`, down to a hundredth of its value, and `beta` with it.
        alpha_recovery_rate: Option<f64> = None => Kind::Number { min: 0.0, max: 1e6 },
        /// Weight of the previous average in the averaged RTT (4.5).
        history_weight: Option<f64> = None => Kind::Probability,
    }
}

words! {
    /// Timing and equation of FAST's window updates.
    pub enum UpdateForm ("update form") {
        /// Equation (4.1), once every few RTTs.
        Thesis = "thesis",
        /// The ns-2 module behind the document's figures: every 10 ms in every other RTT, based on the window of one RTT ago.
        Module = "module",
    }
}

impl Settings for FastSpec {
    fn check(&self) -> Vec<SettingConflict> {
        let FastSpec { alpha, gamma, .. } = *self;
        let is_module = self.update == UpdateForm::Module;
        // The form `module` omits growth below one segment.
        conflicts! {
            error if self.drain_interval.is_some() && self.draining.is_none() => ["drain_interval"],
                "`drain_interval` requires `draining`", "`draining` as well";
            error if is_module && alpha > 0.0 && gamma > 0.0 && alpha * gamma <= 1.0 => ["alpha"],
                "`alpha` is too small: the form `module` grows by whole segments only", "`alpha` times `gamma` above 1";
            error if is_module && self.round_trips != FastSpec::default().round_trips => ["round_trips"],
                "`round_trips` applies only to the form `thesis`", "`update = \"thesis\"`";
            error if !is_module && self.update_period != UPDATE_PERIOD => ["update_period"],
                "`update_period` applies only to the form `module`", "`update = \"module\"`";
            error if alpha == 0.0 => ["alpha"], "`alpha` of 0 never moves the window", "more than 0 segments";
            error if gamma == 0.0 => ["gamma"], "`gamma` of 0 never moves the window", "more than 0, at most 1";
            error if self.beta.is_some_and(|beta| beta < alpha) => ["beta"],
                "`beta` is below `alpha`", format!("at least {alpha}");
            error if self.alpha_recovery_rate == Some(0.0) => ["alpha_recovery_rate"],
                "`alpha_recovery_rate` of 0 never restores `alpha`", "more than 0 per second";
            error if self.history_weight == Some(1.0) => ["history_weight"],
                "`history_weight` of 1 ignores every sample", "less than 1";
        }
    }

    const DEPENDS_ON_PATH: bool = true;

    fn check_path(&self, path: &PathFacts) -> Vec<SettingConflict> {
        conflicts! {
            warning if path.buffer.is_some_and(|places| self.alpha > places.0 as f64) => ["alpha"],
                format!("`alpha` exceeds the buffer of {} packets, so that the window is never in equilibrium", path.buffer.unwrap_or_default().0),
                "at most the buffer, divided by the number of flows";
        }
    }

    fn samples() -> Vec<FastSpec> {
        let usual = FastSpec { alpha: 5.0, round_trips: 1, ..FastSpec::default() };
        vec![
            usual,
            FastSpec { alpha: 200.0, gamma: 1.0, mi_threshold: TimeDelta::from_millis(1), ..usual },
            FastSpec { alpha: 3.0, round_trips: 2, ..usual },
            FastSpec { draining: Some(2), ..usual },
            FastSpec { draining: Some(4), drain_interval: Some(TimeDelta::from_millis(500)), ..usual },
            FastSpec { lagged_window: Some(true), ..usual },
            FastSpec { alpha: 20.0, update: UpdateForm::Module, ..FastSpec::default() },
            FastSpec {
                alpha: 20.0,
                update: UpdateForm::Module,
                beta: Some(25.0),
                mi_threshold: TimeDelta::from_millis(1),
                paced_decrease: true,
                alpha_recovery_rate: Some(0.1),
                draining: Some(4),
                ..FastSpec::default()
            },
            FastSpec {
                beta: Some(8.0),
                paced_decrease: true,
                alpha_recovery_rate: Some(0.1),
                history_weight: Some(0.9),
                ..usual
            },
        ]
    }
}

/// `cwnd_update_period_` of the module.
const UPDATE_PERIOD: TimeDelta = TimeDelta::from_millis(10);

pub type Fast = HeapState<FastMemory>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FastMemory {
    spec: FastSpec,
    /// d: the minimum RTT.
    base: Option<TimeDelta>,
    /// The averaged RTT in picoseconds.
    average: f64,
    /// Target of the window, approached by one segment per acknowledgement.
    target: f64,
    /// Decrease per acknowledged segment on the way down.
    decrease: f64,
    reduced_alpha: Option<ReducedAlpha>,
    /// Time of the last update.
    updated: Time,
    phase: Phase,
    /// Record of earlier windows.
    flights: Flights,
    pace: Pace,
    /// Difference between the first RTT and that of a handshake.
    handshake_saves: TimeDelta,
}

/// alpha after a loss.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct ReducedAlpha {
    alpha: f64,
    /// Time of the first acknowledgement in congestion avoidance; none during loss recovery.
    recovers_since: Option<Time>,
}

impl Fast {
    pub(super) fn new(spec: &FastSpec, start: Start) -> Fast {
        let memory = FastMemory {
            spec: *spec,
            base: None,
            average: 0.0,
            target: start.window,
            decrease: 0.0,
            reduced_alpha: None,
            updated: Time::ZERO,
            phase: Phase::of(spec.draining),
            flights: Flights::default(),
            pace: Pace::default(),
            handshake_saves: start.handshake_saves,
        };
        HeapState::with(start, memory)
    }

    /// Sets the window and cancels a pending change.
    fn set(&mut self, window: Cwnd) {
        self.window = window.0.max(1.0);
        self.memory.target = self.window;
        self.memory.pace.forget();
    }

    /// An acknowledgement of a flow that is not draining, in the form `thesis`.
    fn control(&mut self, ack: &Ack) {
        let is_due = ack.now.since(self.memory.updated).0 as f64 >= f64::from(self.memory.spec.round_trips) * self.memory.average;
        if is_due && let Some(base) = self.memory.base {
            self.update(ack, base);
        }
        let counted = f64::from(ack.counted.0);
        if !ack.window_validated {
            self.memory.target = self.memory.target.min(self.window);
        } else if self.memory.queueing_delay() < self.memory.spec.mi_threshold.0 as f64 {
            self.set(Cwnd(self.window + counted));
        } else if self.window <= self.memory.target {
            self.window = self.memory.target.min(self.window + counted);
        }
        self.shrink(ack);
    }

    /// Equation (4.1). A smaller window is adopted immediately or, with Algorithm 1, over an RTT; a larger one by one segment per
    /// acknowledgement.
    fn update(&mut self, ack: &Ack, base: TimeDelta) {
        let wanted = self.wanted(ack, base);
        self.memory.target = wanted.min(2.0 * self.window).max(1.0);
        self.begin_to_shrink();
    }

    /// The window of (4.1) without its bounds; the present one where it stays constant.
    fn wanted(&mut self, ack: &Ack, base: TimeDelta) -> f64 {
        let now = ack.now;
        self.memory.updated = now;
        // The window from which the queue is estimated.
        let judged = if self.memory.spec.remembers() { self.memory.flights.before(ack) } else { self.window };
        let FastSpec { gamma, beta, alpha: whole_alpha, .. } = self.memory.spec;
        let alpha = self.memory.alpha(now);
        let share = self.memory.empty_share(base);
        let queued = judged * (1.0 - share);
        // beta is reduced in proportion to alpha.
        let max = beta.map(|beta| beta * alpha / whole_alpha);
        let rests = max.is_some_and(|max| (alpha..max).contains(&queued));
        let is_stable = rests || (queued - alpha).abs() <= STABLE * alpha;
        let found = if is_stable { Found::Stable } else { Found::Moving };
        self.memory.phase = self.memory.phase.after_update(found, now, self.memory.average);
        if rests { self.window } else { (1.0 - gamma) * self.window + gamma * (share * judged + alpha) }
    }

    /// Starts the decrease to a new target.
    fn begin_to_shrink(&mut self) {
        if !self.memory.spec.paced_decrease {
            self.window = self.window.min(self.memory.target);
        }
        self.memory.decrease = (self.window - self.memory.target) / self.window;
    }

    /// Algorithm 1.
    fn shrink(&mut self, ack: &Ack) {
        if self.window > self.memory.target {
            let acked = f64::from(ack.acked.0);
            self.window = self.memory.target.max(self.window - self.memory.decrease * acked);
        }
    }

    /// Response to congestion; cancels draining and pending changes.
    fn reduce(&mut self, seen: &Congestion, window: Cwnd) {
        let now = seen.now;
        self.set(window);
        if self.memory.spec.alpha_recovery_rate.is_some() && !seen.repeated {
            let min = MIN_ALPHA * self.memory.spec.alpha;
            self.memory.reduced_alpha =
                Some(ReducedAlpha { alpha: (self.memory.alpha(now) / 2.0).max(min), recovers_since: None });
        }
        self.memory.updated = now;
        self.memory.phase = match self.memory.phase {
            Phase::Converging { .. } => Phase::Converging { stable: 0 },
            _ => Phase::Drained { since: now },
        };
    }
}

impl FastSpec {
    fn remembers(&self) -> bool {
        self.lagged_window.unwrap_or(self.update == UpdateForm::Module)
    }
}

/// The floor of section 4.5: a hundredth of alpha.
const MIN_ALPHA: f64 = 0.01;

impl FastMemory {
    /// d over the averaged RTT: the fraction of the RTT without queueing.
    fn empty_share(&self, base: TimeDelta) -> f64 {
        (base.0 as f64 / self.average).min(1.0)
    }

    /// alpha, recovering from the last loss since the flow returned to congestion avoidance: equation (4.34), section 4.5.4.
    fn alpha(&self, now: Time) -> f64 {
        let whole = self.spec.alpha;
        let Some((k, reduced)) = self.spec.alpha_recovery_rate.zip(self.reduced_alpha) else { return whole };
        let recovered = reduced.recovers_since.map_or(TimeDelta::ZERO, |since| now.since(since));
        whole + (reduced.alpha - whole) * exp(-k * recovered.seconds())
    }

    /// Equation (4.5). `of_sample`: the weight of a sample, unless the settings give the weight of the history.
    fn measure(&mut self, sample: TimeDelta, of_sample: f64) {
        let of_sample = self.spec.history_weight.map_or(of_sample, |weight| 1.0 - weight);
        let weight = if self.average > 0.0 { of_sample } else { 1.0 };
        self.average += weight * (sample.0.max(1) as f64 - self.average);
        self.base = Some(self.base.map_or(sample, |base| base.min(sample)));
    }

    /// In picoseconds.
    fn queueing_delay(&self) -> f64 {
        (self.average - self.base.map_or(0.0, |base| base.0 as f64)).max(0.0)
    }
}

impl Controller for Fast {
    const ABILITIES: Abilities = Abilities {
        heap_bytes: Self::BYTES,
        uses_start_details: true,
        targets_backlog: true,
        quantities: &["alpha_packets", "base_rtt_s", "average_rtt_s", "target_packets", "draining_phase"],
        ..Abilities::NONE
    };

    #[inline]
    fn window(&self) -> Cwnd {
        Cwnd(self.window)
    }

    fn abilities(&self) -> Abilities {
        let release = self.memory.spec.draining.is_some();
        Abilities { subscriptions: Subscriptions { newest_rtt: true, release, ..Subscriptions::NONE }, ..Self::ABILITIES }
    }

    fn quantity(&self, index: usize, now: Time) -> f64 {
        let memory = &self.memory;
        match index {
            0 => memory.alpha(now),
            1 => memory.base.map_or(f64::NAN, TimeDelta::seconds),
            2 => memory.base.map_or(f64::NAN, |_| TimeDelta(memory.average as u64).seconds()),
            3 => memory.target,
            4 => memory.phase.number(),
            _ => f64::NAN,
        }
    }

    fn release(&self) -> Option<Segments> {
        let refills = matches!(self.memory.phase, Phase::Refilling { .. });
        self.memory.spec.draining.filter(|_| refills).map(Segments)
    }

    fn on_ack(&mut self, ack: &Ack) {
        if let Some(ReducedAlpha { recovers_since: since @ None, .. }) = &mut self.memory.reduced_alpha {
            *since = Some(ack.now);
        }
        if self.memory.spec.update == UpdateForm::Module {
            self.memory.measure_as_module(ack);
        }
        if self.memory.spec.remembers() {
            self.memory.flights.note(ack);
        }
        self.memory.drain_again_if_due(ack.now);
        match (self.memory.phase, self.memory.spec.draining) {
            (Phase::Converging { .. } | Phase::Drained { .. }, _) | (_, None) => match self.memory.spec.update {
                UpdateForm::Thesis => self.control(ack),
                UpdateForm::Module => self.control_as_module(ack),
            },
            (_, Some(r)) => self.drain(ack, r.into()),
        }
    }

    fn on_round_trip(&mut self, measured: &RoundTrip) {
        if self.memory.spec.update == UpdateForm::Thesis {
            self.memory.measure(measured.sample, (3.0 / self.window).min(0.25));
        }
    }

    fn on_congestion(&mut self, seen: &Congestion) {
        let window = match self.memory.spec.update {
            UpdateForm::Thesis => f64::from(seen.in_flight.0 / 2).max(2.0),
            UpdateForm::Module => (self.window.floor() / 2.0).floor(),
        };
        self.reduce(seen, Cwnd(window));
    }

    fn on_timeout(&mut self, seen: &Congestion) {
        let window = match self.memory.spec.update {
            UpdateForm::Thesis => 1.0,
            UpdateForm::Module => MIN,
        };
        self.reduce(seen, Cwnd(window));
    }

    fn limit_window(&mut self, max: Cwnd) {
        if max.0 < self.memory.target {
            self.memory.pace.forget();
        }
        self.window = self.window.min(max.0);
        self.memory.target = self.memory.target.min(max.0);
    }
}

/// Senders for the tests of this folder.
#[cfg(test)]
mod bench {
    use super::*;
    use crate::congestion::support::model_sender::ModelSender;

    pub fn ms(milliseconds: u64) -> TimeDelta {
        TimeDelta::from_millis(milliseconds)
    }

    /// A sender on an empty path of 100 ms.
    pub fn sender(window: f64, spec: FastSpec) -> ModelSender<Fast> {
        ModelSender::new(Fast::new(&spec, Start { window, ..Start::default() })).with_round_trip(100)
    }

    /// The same sender, with a steady RTT of this many milliseconds from now on.
    pub fn queued(window: f64, spec: FastSpec, milliseconds: u64) -> ModelSender<Fast> {
        let mut sender = sender(window, spec);
        sender.law.memory.average = ms(milliseconds).0 as f64;
        sender
    }

    pub const SPEC: FastSpec = FastSpec {
        alpha: 50.0,
        gamma: 0.5,
        update: UpdateForm::Thesis,
        round_trips: 1,
        update_period: UPDATE_PERIOD,
        lagged_window: None,
        mi_threshold: TimeDelta::ZERO,
        draining: None,
        drain_interval: None,
        beta: None,
        paced_decrease: false,
        alpha_recovery_rate: None,
        history_weight: None,
    };
}

#[cfg(test)]
mod tests {
    use super::bench::{SPEC, ms, queued, sender};
    use super::*;
    use crate::congestion::support::model_sender::ModelSender;

    #[test]
    fn a_window_that_is_too_small_grows_by_one_segment_per_acknowledgement() {
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
    fn a_window_that_is_too_large_shrinks_immediately() {
        // 0.5 * 300 + 0.5 * (100 / 200 * 300 + 50) = 250
        let mut sender = queued(300.0, SPEC, 200);
        assert_eq!(sender.ack_after(200), 250.0);
        assert_eq!(sender.ack_after(199), 250.0);
    }

    #[test]
    fn with_algorithm_1_it_shrinks_in_proportion_to_each_acknowledgement() {
        // To 250, 50 / 300 at a time: 300 acknowledgements.
        let mut sender = queued(300.0, FastSpec { paced_decrease: true, ..SPEC }, 200);
        let first = sender.ack_after(200);
        let windows: Vec<f64> = (0..310).map(|_| sender.ack_after(0)).collect();
        assert!((first - (300.0 - 1.0 / 6.0)).abs() < 1e-9 && windows[297] > 250.0, "{first} {}", windows[297]);
        assert_eq!((windows[299], windows[309]), (250.0, 250.0));
    }

    #[test]
    fn between_alpha_and_beta_the_window_stays_constant() {
        // A fifth of 250 is queued: 50. At an RTT of 135 ms it is 65, at 150 ms 83.
        let after = |milliseconds| {
            let mut sender = queued(250.0, FastSpec { beta: Some(70.0), ..SPEC }, milliseconds);
            sender.ack_after(milliseconds)
        };
        assert_eq!((after(135), after(150)), (250.0, 0.5 * 250.0 + 0.5 * (250.0 / 1.5 + 50.0)));
    }

    #[test]
    fn a_loss_halves_alpha_which_returns_exponentially() {
        let mut sender = queued(300.0, FastSpec { alpha: 800.0, alpha_recovery_rate: Some(0.1), ..SPEC }, 200);
        let alpha = |sender: &ModelSender<Fast>| sender.law.memory.alpha(sender.now);
        assert_eq!(alpha(&sender), 800.0);
        sender.lose(301);
        assert_eq!(alpha(&sender), 400.0);
        // It stays during loss recovery, until the next acknowledgement in congestion avoidance.
        sender.wait(3_000);
        assert_eq!(alpha(&sender), 400.0);
        sender.ack_after(0);
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
    fn the_weight_of_the_history_is_configurable() {
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
    fn updates_are_the_configured_number_of_rtts_apart() {
        let mut sender = queued(300.0, FastSpec { round_trips: 2, ..SPEC }, 200);
        assert_eq!((sender.ack_after(200), sender.ack_after(199), sender.ack_after(1)), (300.0, 300.0, 250.0));
    }

    #[test]
    fn the_rtt_is_averaged_with_a_weight_of_three_over_the_window_and_at_most_a_quarter() {
        for (window, average) in [(4.0, 110), (30.0, 104)] {
            let mut sender = sender(window, SPEC);
            sender.law.on_round_trip(&RoundTrip { sample: ms(140), smoothed: None });
            assert_eq!((sender.law.memory.average, sender.law.memory.base), (ms(average).0 as f64, Some(ms(100))));
        }
    }

    #[test]
    fn below_the_delay_threshold_it_is_in_slow_start() {
        let spec = FastSpec { mi_threshold: ms(10), ..SPEC };
        assert_eq!(queued(4.0, spec, 109).ack(1), 5.0);
        assert_eq!(queued(4.0, spec, 110).ack(1), 4.0);
    }

    #[test]
    fn a_loss_halves_the_flight_size_and_a_timeout_sets_the_window_to_one() {
        let mut sender = queued(300.0, SPEC, 200);
        sender.wait(150);
        assert_eq!(sender.lose(301), 150.0);
        // Data sent with the old window does not affect the new one: 0.5 * 150 + 0.5 * (75 + 50) = 137.5
        assert_eq!((sender.ack_after(199), sender.ack_after(1)), (150.0, 137.5));
        assert_eq!(sender.time_out(100), 1.0);
        assert_eq!((sender.ack_after(199), sender.ack_after(1), sender.ack_after(1)), (1.0, 2.0, 2.0));
    }
}
