//! CoDel, controlled delay. If even the minimum delay of an interval exceeds a target, the queue is persistent, and units are marked as
//! they leave, at a rate that increases while the queue persists (Nichols, Jacobson, McGregor and Iyengar, RFC 8289, section 5).
//!
//! It processes one unit at a time where the RFC's `deque` loops over several; the states are the same. After a mark it continues as after
//! a discard, as Linux does. Differs: a backlog is ignored up to the largest unit seen, not up to a given MTU.

use super::support::{Departure, Occupancy, Onset, Policy, Unit, Verdict};
use crate::primitives::units::{Bytes, Time, TimeDelta};
use crate::settings::{ABOVE_ZERO, Settings, member};
use serde::{Deserialize, Serialize};

// RFC 8289 sections 4.2 and 4.3.
member! {
    /// Controlled delay: marks while the queueing delay has exceeded a target for a whole interval. Discards packets that are not
    /// ECN-capable.
    Codel = "codel", "RFC 8289";

    pub struct CodelSpec {
        /// Target queueing delay.
        target: TimeDelta = TimeDelta::from_millis(5) => ABOVE_ZERO,
        /// Time for which the delay must exceed the target: about the longest usual RTT.
        interval: TimeDelta = TimeDelta::from_millis(100) => ABOVE_ZERO,
    }
}

impl Settings for CodelSpec {
    fn samples() -> Vec<CodelSpec> {
        let of =
            |(target, interval)| CodelSpec { target: TimeDelta::from_millis(target), interval: TimeDelta::from_millis(interval) };
        [(5, 100), (1, 5), (3, 30)].map(of).into()
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Codel {
    spec: CodelSpec,
    /// An interval after the delay first exceeded the target; `None` while it is below (`first_above_time_`).
    first_above_time: Option<Time>,
    /// Whether the queue persists and units are marked (`dropping_`).
    dropping: bool,
    /// Time of the next or the last mark (`drop_next_`).
    drop_next: Time,
    /// A unit was marked; the time of the next mark advances if the following unit also exceeds the target.
    advance_drop_next: bool,
    /// Number of marks in the current dropping state, and the number with which that state began.
    count: u32,
    lastcount: u32,
    maxpacket: Bytes,
}

impl Codel {
    pub(super) fn new(spec: &CodelSpec) -> Codel {
        Codel {
            spec: *spec,
            first_above_time: None,
            dropping: false,
            drop_next: Time::ZERO,
            advance_drop_next: false,
            count: 0,
            lastcount: 0,
            maxpacket: Bytes(0),
        }
    }

    /// Whether the delay has exceeded the target throughout the last interval (`dodequeue`).
    fn ok_to_drop(&mut self, departure: &Departure) -> bool {
        if departure.sojourn_time < self.spec.target || departure.bytes_behind <= self.maxpacket {
            self.first_above_time = None;
            return false;
        }
        departure.now >= *self.first_above_time.get_or_insert(departure.now + self.spec.interval)
    }

    /// Time of the mark after the one at `time`. Intervals shrink with the square root of the number of marks, so the marking rate grows
    /// linearly (`control_law`).
    fn control_law(&self, time: Time) -> Time {
        time + TimeDelta((self.spec.interval.0 as f64 / f64::from(self.count).sqrt()) as u64)
    }

    fn start_dropping(&mut self, now: Time) {
        let made = self.count - self.lastcount;
        // Soon after the last dropping state, resume at its marking rate.
        let is_soon = now.since(self.drop_next) < TimeDelta(self.spec.interval.0.saturating_mul(16));
        self.count = if made > 1 && is_soon { made } else { 1 };
        self.lastcount = self.count;
        self.dropping = true;
        self.drop_next = self.control_law(now);
    }
}

impl Policy for Codel {
    type PerFlow = ();
    const IS_RANDOM: bool = false;
    const TRACKS_FLOWS: bool = false;
    const IS_STEPPED: bool = true;

    fn onset(&self) -> Onset {
        Onset { target: Some(self.spec.target), interval: Some(self.spec.interval), ..Onset::default() }
    }

    fn on_arrival(&mut self, _unit: &Unit, _flow: &mut (), _buffer: &Occupancy, _now: Time) -> Verdict {
        Verdict::Accept
    }

    fn on_departure(&mut self, unit: &Unit, departure: &Departure) -> Verdict {
        self.maxpacket = self.maxpacket.max(unit.bytes);
        let ok_to_drop = self.ok_to_drop(departure);
        if std::mem::take(&mut self.advance_drop_next) && ok_to_drop {
            self.drop_next = self.control_law(self.drop_next);
        }
        match ok_to_drop {
            false => {
                self.dropping = false;
                return Verdict::Accept;
            }
            true if !self.dropping => self.start_dropping(departure.now),
            true if departure.now < self.drop_next => return Verdict::Accept,
            true => {
                self.count += 1;
                self.advance_drop_next = true;
            }
        }
        Verdict::Mark
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times in ms at which units are marked, for units that leave every 10 ms in this range after this delay.
    fn marks(codel: &mut Codel, times: std::ops::Range<u64>, sojourn_time: u64) -> Vec<u64> {
        let mut leave = |ms: &u64| {
            let departure = Departure {
                now: Time(TimeDelta::from_millis(*ms).0),
                sojourn_time: TimeDelta::from_millis(sojourn_time),
                bytes_behind: Bytes(5000),
                is_capable: true,
            };
            codel.on_departure(&Unit { bytes: Bytes(1000), is_last: true }, &departure) == Verdict::Mark
        };
        times.step_by(10).filter(|ms| leave(ms)).collect()
    }

    fn codel() -> Codel {
        Codel::new(&CodelSpec { target: TimeDelta::from_millis(5), interval: TimeDelta::from_millis(100) })
    }

    #[test]
    fn marks_are_spaced_by_the_interval_over_the_square_root_of_their_number() {
        // 100 ms above the target; then due at 200, + 100 / sqrt 2 = 270.7, + 100 / sqrt 3 = 328.4, + 50 = 378.4, + 44.7 = 423.2
        assert_eq!(marks(&mut codel(), 0..430, 6), [100, 200, 280, 330, 380]);
    }

    #[test]
    fn one_delay_below_the_target_ends_marking() {
        let mut codel = codel();
        assert_eq!(marks(&mut codel, 0..90, 6), []);
        assert_eq!(marks(&mut codel, 90..100, 4), []);
        assert_eq!(marks(&mut codel, 100..210, 6), [200]);
    }

    #[test]
    fn a_queue_that_persists_again_soon_resumes_at_the_last_marking_rate() {
        let mut codel = codel();
        // Five marks: the count is 5 and began at 1.
        assert_eq!(marks(&mut codel, 0..400, 6).len(), 5);
        assert_eq!(marks(&mut codel, 400..410, 1), []);
        // The delay exceeds the target from 410 on. Four marks were made: the next is due 100 / sqrt 4 later.
        assert_eq!(marks(&mut codel, 410..570, 6), [510, 560]);
    }

    #[test]
    fn after_sixteen_intervals_marking_restarts() {
        let mut codel = codel();
        assert_eq!(marks(&mut codel, 0..400, 6).len(), 5);
        assert_eq!(marks(&mut codel, 400..2400, 1), []);
        assert_eq!(marks(&mut codel, 2400..2610, 6), [2500, 2600]);
    }

    #[test]
    fn a_backlog_of_one_unit_is_no_queue() {
        let mut codel = codel();
        for ms in 0..1000 {
            let departure = Departure {
                now: Time(TimeDelta::from_millis(ms).0),
                sojourn_time: TimeDelta::from_millis(50),
                bytes_behind: Bytes(1000),
                is_capable: true,
            };
            assert_eq!(codel.on_departure(&Unit { bytes: Bytes(1000), is_last: true }, &departure), Verdict::Accept);
        }
    }
}
