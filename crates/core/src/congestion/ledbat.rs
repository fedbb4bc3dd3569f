//! LEDBAT: background transport that adds at most TARGET to the delay of a path, and yields to other traffic, which builds longer queues
//! (RFC 6817).
//!
//! Delays are one-way delays on the forward path. The receiver measures them and acknowledgements return them, so a queue on the return
//! path has no effect. Both ends share one clock here; those of the RFC need not agree, because the base delay includes their offset.
//!
//! Differs: an acknowledgement of several segments reports the minimum of their delays, not each of them. The base delay is the same, and
//! CURRENT_FILTER counts acknowledgements. An idle time of several minutes discards the base delays of as many minutes, whereas the RFC's
//! rollover discards one. A window below MIN_CWND grows to it as in slow start, which does not exist otherwise.

use super::support::heap_state::HeapState;
use super::support::{Abilities, Ack, Congestion, Controller, Start, Subscriptions};
use crate::primitives::units::{Cwnd, Time, TimeDelta};
use crate::settings::{ABOVE_ZERO, Kind, PathFacts, SettingConflict, Settings, conflicts, member, microseconds};
use serde::{Deserialize, Serialize};

// Section 2.5. TARGET and GAIN are the RFC's bounds, 100 ms and 1.
member! {
    /// Keeps the queueing delay at a target and yields to other traffic.
    Ledbat = "ledbat", "RFC 6817";

    pub struct LedbatSpec {
        /// Target queueing delay (TARGET), less than that of a full buffer; the RFC allows at most 100 ms.
        target: TimeDelta = TimeDelta::from_millis(100) => ABOVE_ZERO,
        /// Window change per RTT, in segments, when the queueing delay is as far from TARGET as with an empty queue (GAIN); the RFC allows
        /// at most 1.
        gain: f64 = 1.0 => Kind::Number { min: 0.0, max: 100.0 },
        /// Number of minutes over which the minimum one-way delay is the base delay (BASE_HISTORY).
        base_history: u32 = 10 => Kind::Integer { min: 1, max: MAX_MINUTES as u64 },
        /// Number of recent one-way delays, one per acknowledgement, whose minimum is the current delay (CURRENT_FILTER).
        current_filter: u32 = 4 => Kind::Integer { min: 1, max: MAX_DELAYS as u64 },
        /// Maximum excess of the window over the data in flight, in segments (ALLOWED_INCREASE).
        allowed_increase: f64 = 1.0 => Kind::Segments { min: 1.0, max: 1e6 },
        /// Minimum window, except after a timeout until this many segments are acknowledged (MIN_CWND).
        min_cwnd: f64 = 2.0 => Kind::Segments { min: 1.0, max: 1e6 },
    }
}

const MAX_MINUTES: usize = 20;
const MAX_DELAYS: usize = 16;
/// Initial window for an unknown path (RFC 6928). A larger window that is kept at any delay is not background traffic.
const MAX_MIN_CWND: f64 = 10.0;
const MINUTE: TimeDelta = TimeDelta::from_millis(60_000);

impl Settings for LedbatSpec {
    fn check(&self) -> Vec<SettingConflict> {
        let min = self.min_cwnd;
        conflicts! {
            error if self.gain <= 0.0 => ["gain"], "`gain` of 0 never changes the window", "above 0";
            warning if self.target > TimeDelta::from_millis(100) => ["target"],
                "`target` exceeds the limit of RFC 6817", "at most 100 ms";
            warning if self.gain > 1.0 => ["gain"], "`gain` exceeds the limit of RFC 6817", "at most 1";
            warning if min > MAX_MIN_CWND => ["min_cwnd"],
                format!("`min_cwnd` keeps {min} segments in flight at any delay, and does not yield to other traffic"),
                format!("at most {MAX_MIN_CWND}; the RFC has 2");
        }
    }

    const DEPENDS_ON_PATH: bool = true;

    /// A buffer that holds less than `target` is always full: the flow reacts to losses only, and does not yield.
    fn check_path(&self, path: &PathFacts) -> Vec<SettingConflict> {
        let longest = path.max_wait().unwrap_or(self.target);
        conflicts! {
            warning if longest < self.target => ["target"],
                format!("`target` exceeds the delay of the full buffer, {}, so that the flow fills it and does not yield",
                    microseconds(longest)),
                format!("at most {}, half of it", microseconds(TimeDelta(longest.0 / 2).max(path.packet_time())));
        }
    }

    fn samples() -> Vec<LedbatSpec> {
        let usual = LedbatSpec::default();
        let min = LedbatSpec { target: TimeDelta::from_millis(5), base_history: 1, current_filter: 1, min_cwnd: 1.0, ..usual };
        let max = LedbatSpec { base_history: 20, current_filter: 16, allowed_increase: 10.0, min_cwnd: 20.0, ..usual };
        vec![usual, min, max]
    }
}

pub type Ledbat = HeapState<LedbatMemory>;

/// With the names of the RFC.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LedbatMemory {
    spec: LedbatSpec,
    /// base_delays: the minimum of each minute, in a ring with the present one at `minute`.
    base_delays: [TimeDelta; MAX_MINUTES],
    minute: u64,
    /// The minimum of `base_delays`.
    base_delay: TimeDelta,
    current_delays: [TimeDelta; MAX_DELAYS],
    current: usize,
}

/// Marks an unknown delay.
const UNKNOWN: TimeDelta = TimeDelta(u64::MAX);

impl Ledbat {
    pub(super) fn new(spec: &LedbatSpec, start: Start) -> Ledbat {
        let memory = LedbatMemory {
            spec: *spec,
            base_delays: [UNKNOWN; MAX_MINUTES],
            minute: 0,
            base_delay: UNKNOWN,
            current_delays: [UNKNOWN; MAX_DELAYS],
            current: 0,
        };
        HeapState::with(start, memory)
    }

    /// Section 2.4.2, on acknowledgement.
    fn follow(&mut self, ack: &Ack, queuing_delay: TimeDelta) {
        let LedbatSpec { target, gain, allowed_increase, min_cwnd, .. } = self.memory.spec;
        let target = target.seconds();
        let off_target = (target - queuing_delay.seconds()) / target;
        let acked = f64::from(ack.counted.0);
        // As for any controller, an unused window does not grow (RFC 5681, section 4.1).
        let may_grow = ack.window_validated;
        let min = min_cwnd.min(self.window + if may_grow { acked } else { 0.0 });
        if off_target < 0.0 || may_grow {
            self.window += (gain * off_target * acked / self.window).min(acked);
        }
        let max_allowed_cwnd = f64::from(ack.in_flight.0) + allowed_increase;
        self.window = self.window.min(max_allowed_cwnd).max(min);
    }

    fn halve(&mut self) {
        let min = self.memory.spec.min_cwnd.min(self.window);
        self.window = (self.window / 2.0).max(min);
    }
}

impl LedbatMemory {
    /// Section 2.4.2, UPDATE_BASE_DELAY and UPDATE_CURRENT_DELAY.
    fn update_base_delay(&mut self, delay: TimeDelta, now: Time) {
        let minutes = self.spec.base_history as usize;
        let minute = now.0 / MINUTE.0;
        if minute != self.minute {
            let passed = (minute - self.minute).min(minutes as u64);
            (0..passed).for_each(|earlier| self.base_delays[((minute - earlier) % minutes as u64) as usize] = UNKNOWN);
            self.minute = minute;
            self.base_delay = self.base_delays[..minutes].iter().copied().min().unwrap_or(UNKNOWN);
        }
        let of_minute = &mut self.base_delays[(minute % minutes as u64) as usize];
        *of_minute = delay.min(*of_minute);
        self.base_delay = self.base_delay.min(delay);
        self.current_delays[self.current] = delay;
        self.current = (self.current + 1) % self.spec.current_filter as usize;
    }

    /// FILTER is the minimum. `None` before the first delay.
    fn queuing_delay(&self) -> Option<TimeDelta> {
        let current = self.current_delays[..self.spec.current_filter as usize].iter().copied().min()?;
        (current != UNKNOWN).then(|| current - self.base_delay)
    }
}

impl Controller for Ledbat {
    const ABILITIES: Abilities = Abilities {
        heap_bytes: Self::BYTES,
        quantities: &["base_delay_s", "queuing_delay_s"],
        subscriptions: Subscriptions { one_way_delay: true, ..Subscriptions::NONE },
        ..Abilities::NONE
    };

    #[inline]
    fn window(&self) -> Cwnd {
        Cwnd(self.window)
    }

    fn quantity(&self, index: usize, _: Time) -> f64 {
        let base = (self.memory.base_delay != UNKNOWN).then_some(self.memory.base_delay);
        let delay = if index == 0 { base } else { self.memory.queuing_delay() };
        delay.map_or(f64::NAN, TimeDelta::seconds)
    }

    /// For every acknowledgement, including duplicates and those during loss recovery.
    fn on_one_way_delay(&mut self, delay: TimeDelta, now: Time) {
        self.memory.update_base_delay(delay, now);
    }

    fn on_ack(&mut self, ack: &Ack) {
        if let Some(queuing_delay) = self.memory.queuing_delay() {
            self.follow(ack, queuing_delay);
        }
    }

    /// Section 2.4.2, on data loss.
    fn on_congestion(&mut self, _: &Congestion) {
        self.halve();
    }

    /// Section 2.4.2, which follows RFC 5681.
    fn on_timeout(&mut self, _: &Congestion) {
        self.window = 1.0;
    }

    fn limit_window(&mut self, max: Cwnd) {
        self.window = self.window.min(max.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::support::model_sender::ModelSender;
    use crate::primitives::units::Segments;

    fn sender(spec: LedbatSpec, window: f64) -> ModelSender<Ledbat> {
        let mut sender = ModelSender::new(Ledbat::new(&spec, Start { window, ..Start::default() }));
        sender.in_flight = window as u32;
        sender
    }

    fn ack(sender: &mut ModelSender<Ledbat>, milliseconds: u64) -> f64 {
        // The return path, which takes longer each time, has no effect.
        sender.round_trip = Some(sender.round_trip.unwrap_or_default() + TimeDelta::from_millis(milliseconds));
        sender.law.on_one_way_delay(TimeDelta::from_millis(milliseconds), sender.now);
        sender.ack(1)
    }

    fn unfiltered() -> LedbatSpec {
        LedbatSpec { current_filter: 1, ..LedbatSpec::default() }
    }

    #[test]
    fn a_minimum_window_that_never_yields_causes_a_warning() {
        let keys = |min_cwnd| {
            LedbatSpec { min_cwnd, ..LedbatSpec::default() }.check().into_iter().map(|conflict| conflict.keys).collect::<Vec<_>>()
        };
        assert_eq!(keys(10.0), Vec::<&[&str]>::new());
        assert_eq!(keys(10.5), [&["min_cwnd"]]);
    }

    #[test]
    fn the_window_changes_by_the_deviation_from_the_target() {
        let mut sender = sender(unfiltered(), 16.0);
        // Empty queue; a quarter of 100 ms below the target; the same above it; at the target.
        assert_eq!(ack(&mut sender, 50), 16.0625);
        sender.law.window = 16.0;
        assert_eq!(ack(&mut sender, 125), 16.0 + 0.25 / 16.0);
        sender.law.window = 16.0;
        assert_eq!(ack(&mut sender, 175), 16.0 - 0.25 / 16.0);
        sender.law.window = 16.0;
        assert_eq!(ack(&mut sender, 150), 16.0);
    }

    #[test]
    fn delays_of_duplicates_are_used_and_do_not_open_the_window() {
        let mut sender = sender(unfiltered(), 16.0);
        ack(&mut sender, 50);
        sender.law.on_one_way_delay(TimeDelta::from_millis(150), sender.now);
        sender.law.on_other_ack(&Ack { acked: Segments(0), counted: Segments(0), ..Ack::of_one(sender.now) });
        assert_eq!((sender.law.window, sender.law.quantity(1, Time::ZERO)), (16.0625, 0.1));
    }

    #[test]
    fn the_minimum_of_four_delays_is_the_current_delay() {
        let mut sender = sender(LedbatSpec::default(), 16.0);
        ack(&mut sender, 50);
        let delays: Vec<f64> = (0..4).map(|_| (ack(&mut sender, 150), sender.law.quantity(1, Time::ZERO)).1).collect();
        assert_eq!(delays, [0.0, 0.0, 0.0, 0.1]);
    }

    #[test]
    fn a_base_delay_expires_after_ten_minutes() {
        let mut sender = sender(unfiltered(), 16.0);
        ack(&mut sender, 50);
        let bases: Vec<f64> = (1..=11)
            .map(|_| {
                sender.wait(60_000);
                ack(&mut sender, 80);
                sender.law.quantity(0, Time::ZERO)
            })
            .collect();
        assert_eq!(bases, [[0.05; 9].as_slice(), &[0.08; 2]].concat());
        // Idle time discards base delays as well.
        sender.wait(3_600_000);
        ack(&mut sender, 90);
        assert_eq!(sender.law.quantity(0, Time::ZERO), 0.09);
    }

    #[test]
    fn the_window_stays_within_one_segment_of_the_flight_size_and_at_least_two() {
        let mut sender = sender(unfiltered(), 16.0);
        sender.in_flight = 15;
        assert_eq!((ack(&mut sender, 50), ack(&mut sender, 50)), (16.0, 16.0));
        // Less data is in flight, whether the delay is below or above the target.
        sender.in_flight = 9;
        assert_eq!(ack(&mut sender, 50), 10.0);
        sender.in_flight = 4;
        assert_eq!(ack(&mut sender, 175), 5.0);
        sender.in_flight = 15;
        // Far above the target: (100 - 1950) / 100 over 2.5, which would be negative.
        sender.law.window = 2.5;
        assert_eq!(ack(&mut sender, 2000), 2.0);
    }

    #[test]
    fn a_loss_halves_the_window_and_a_timeout_sets_it_to_one() {
        let mut sender = sender(unfiltered(), 16.0);
        assert_eq!(
            (sender.lose(16), sender.lose(8), sender.lose(4), sender.lose(2), sender.time_out(2)),
            (8.0, 4.0, 2.0, 2.0, 1.0)
        );
        // Until the next acknowledgement, also if the delay is above the target.
        sender.in_flight = 1;
        assert_eq!(ack(&mut sender, 50), 2.0);
        sender.time_out(2);
        assert_eq!(ack(&mut sender, 200), 2.0);
    }
}
