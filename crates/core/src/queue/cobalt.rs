//! COBALT, the policy of CAKE's queues: CoDel for responsive senders, and BLUE for unresponsive load. Each overflow raises a discard
//! probability, and an empty queue lowers it (Hoeiland-Joergensen, Taht and Morton, "Piece of CAKE", LANMAN 2018; Palmei and others,
//! "Design and Evaluation of COBALT Queue Discipline", LANMAN 2019; Feng, Shin, Kandlur and Saha, "The BLUE active queue management
//! algorithms", IEEE/ACM Transactions on Networking 10(4), 2002, figure 2).
//!
//! BLUE discards and never marks, because it acts on traffic that ignores marks.
//!
//! Differs: its CoDel is that of RFC 8289, whose count of marks restarts once the queue has not persisted for long, whereas CAKE lets the
//! count decay.

use super::codel::{Codel, CodelSpec};
use super::support::{Departure, DropReason, Occupancy, Onset, Policy, Unit, Verdict};
use crate::primitives::random::{Draws, Stream};
use crate::primitives::units::{Bytes, Time, TimeDelta};
use crate::settings::{ABOVE_ZERO, Kind, Settings, member};
use serde::{Deserialize, Serialize};

member! {
    /// CoDel combined with BLUE for unresponsive traffic: an overflow raises BLUE's discard probability, and an empty queue lowers it.
    Cobalt = "cobalt", "Hoeiland-Joergensen, Taht and Morton, LANMAN 2018";

    pub struct CobaltSpec {
        /// CoDel's target queueing delay.
        target: TimeDelta = TimeDelta::from_millis(5) => ABOVE_ZERO,
        /// CoDel's interval: the time for which the delay must exceed the target, about the longest usual RTT.
        interval: TimeDelta = TimeDelta::from_millis(100) => ABOVE_ZERO,
        /// Increase of the discard probability on an overflow (d1 of BLUE).
        increment: f64 = 1.0 / 256.0 => Kind::Probability,
        /// Decrease of the discard probability on an empty queue (d2 of BLUE).
        decrement: f64 = 1.0 / 4096.0 => Kind::Probability,
        /// Minimum time between changes of the discard probability (freeze_time).
        freeze: TimeDelta = TimeDelta::from_millis(5) => Kind::Duration { min: TimeDelta::ZERO },
    }
}

impl Settings for CobaltSpec {
    fn samples() -> Vec<CobaltSpec> {
        let usual = CobaltSpec::default();
        vec![
            usual,
            CobaltSpec {
                increment: 0.1,
                decrement: 0.05,
                freeze: TimeDelta::ZERO,
                interval: TimeDelta::from_millis(10),
                ..usual
            },
        ]
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cobalt {
    spec: CobaltSpec,
    codel: Codel,
    /// BLUE's discard probability.
    p_m: f64,
    frozen_until: Time,
    draws: Draws,
}

impl Cobalt {
    pub(super) fn new(spec: &CobaltSpec) -> Cobalt {
        let codel = Codel::new(&CodelSpec { target: spec.target, interval: spec.interval });
        Cobalt { spec: *spec, codel, p_m: 0.0, frozen_until: Time::ZERO, draws: Draws::default() }
    }

    fn update_p_m(&mut self, by: f64, now: Time) {
        if now >= self.frozen_until {
            self.p_m = (self.p_m + by).clamp(0.0, 1.0);
            self.frozen_until = now + self.spec.freeze;
        }
    }
}

impl Policy for Cobalt {
    type PerFlow = ();
    const TRACKS_FLOWS: bool = false;
    const IS_STEPPED: bool = true;

    fn onset(&self) -> Onset {
        Onset { target: Some(self.spec.target), interval: Some(self.spec.interval), ..Onset::default() }
    }

    fn draw_from(&mut self, stream: Stream) {
        self.draws = Draws::new(stream);
    }

    fn on_arrival(&mut self, _unit: &Unit, _flow: &mut (), buffer: &Occupancy, now: Time) -> Verdict {
        if !buffer.has_room {
            self.update_p_m(self.spec.increment, now);
        }
        Verdict::Accept
    }

    fn on_overflow(&mut self, now: Time) {
        self.update_p_m(self.spec.increment, now);
    }

    fn on_departure(&mut self, unit: &Unit, departure: &Departure) -> Verdict {
        let verdict = self.codel.on_departure(unit, departure);
        if departure.bytes_behind == Bytes(0) {
            self.update_p_m(-self.spec.decrement, departure.now);
        }
        let is_discarded = self.p_m > 0.0 && self.draws.uniform() < self.p_m;
        if is_discarded { Verdict::Discard(DropReason::Late) } else { verdict }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::random::{Entity, Purpose};
    use crate::primitives::units::Units;

    const UNIT: Unit = Unit { bytes: Bytes(1000), is_last: true };

    fn cobalt(spec: CobaltSpec) -> Cobalt {
        let mut cobalt = Cobalt::new(&spec);
        cobalt.draw_from(Stream::new(Entity { seed: 1, name: "cobalt", index: 0 }, Purpose::Policy));
        cobalt
    }

    fn at(ms: u64) -> Time {
        Time(TimeDelta::from_millis(ms).0)
    }

    fn overflow(cobalt: &mut Cobalt, ms: u64) {
        let buffer = Occupancy { has_room: false, ..Occupancy::of(Units(9), Bytes(9000)) };
        cobalt.on_arrival(&UNIT, &mut (), &buffer, at(ms));
    }

    fn leave(cobalt: &mut Cobalt, ms: u64, behind: u64) -> Verdict {
        let departure = Departure { now: at(ms), sojourn_time: TimeDelta::ZERO, bytes_behind: Bytes(behind), is_capable: true };
        cobalt.on_departure(&UNIT, &departure)
    }

    #[test]
    fn overflows_raise_the_probability_and_an_empty_queue_lowers_it_once_per_freeze_time() {
        let mut cobalt = cobalt(CobaltSpec::default());
        [0, 1, 4, 5, 9, 10].iter().for_each(|&ms| overflow(&mut cobalt, ms));
        assert_eq!(cobalt.p_m, 3.0 / 256.0);
        // A unit discarded to make room is an overflow, too.
        cobalt.on_overflow(at(15));
        assert_eq!(cobalt.p_m, 4.0 / 256.0);
        [19, 20, 21, 25].iter().for_each(|&ms| {
            leave(&mut cobalt, ms, 0);
        });
        assert_eq!(cobalt.p_m, 4.0 / 256.0 - 2.0 / 4096.0);
        leave(&mut cobalt, 90, 1000);
        assert_eq!(cobalt.p_m, 4.0 / 256.0 - 2.0 / 4096.0);
    }

    #[test]
    fn departing_units_are_discarded_with_that_probability_even_if_ecn_capable() {
        let mut cobalt = cobalt(CobaltSpec { decrement: 0.0, ..CobaltSpec::default() });
        cobalt.p_m = 0.25;
        let late = (0..10_000).filter(|_| leave(&mut cobalt, 1, 5000) == Verdict::Discard(DropReason::Late)).count();
        // Plus or minus 5 x sqrt(1875).
        assert!(late.abs_diff(2500) < 217, "{late}");
    }

    #[test]
    fn without_overflows_it_is_codel() {
        let (mut cobalt, mut codel) = (cobalt(CobaltSpec::default()), Codel::new(&CodelSpec::default()));
        let mut marks = 0;
        for ms in 0..2000 {
            let sojourn_time = TimeDelta::from_millis(if ms % 700 < 50 { 1 } else { 8 });
            let departure = Departure { now: at(ms), sojourn_time, bytes_behind: Bytes(5000), is_capable: true };
            let verdict = cobalt.on_departure(&UNIT, &departure);
            assert_eq!(verdict, codel.on_departure(&UNIT, &departure));
            marks += u32::from(verdict == Verdict::Mark);
        }
        assert!(marks > 10);
    }
}
