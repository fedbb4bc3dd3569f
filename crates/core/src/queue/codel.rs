//! CoDel, controlled delay: when even the least wait of an interval exceeds a target, the queue is a standing one, and units are marked as their
//! turn comes, the more often the longer it stands (Nichols, Jacobson, McGregor and Iyengar, RFC 8289, section 5).
//!
//! It sees one unit at a time where the RFC's `deque` loops over several; the states are the same. Where it marks, it goes on as after
//! a discard, as Linux does. Differs: the size below which a backlog does not count is the largest unit seen, not a given MTU.

use super::{Occupancy, Policy, Turn, Unit, Verdict};
use crate::primitives::units::{Bytes, Span, Time};
use crate::settings::{ABOVE_ZERO, Settings, member};
use serde::{Deserialize, Serialize};

// RFC 8289 sections 4.2 and 4.3.
member! {
    /// Controlled delay: marks while the queueing delay has exceeded a target for a whole interval. Discards packets that are not
    /// ECN-capable.
    Codel = "codel", "RFC 8289";

    pub struct CodelSpec {
        /// Target queueing delay.
        target: Span = Span::from_millis(5) => ABOVE_ZERO,
        /// Time for which the delay must exceed the target: about the longest usual RTT.
        interval: Span = Span::from_millis(100) => ABOVE_ZERO,
    }
}

impl Settings for CodelSpec {
    fn samples() -> Vec<CodelSpec> {
        let of = |(target, interval)| CodelSpec { target: Span::from_millis(target), interval: Span::from_millis(interval) };
        [(5, 100), (1, 5), (3, 30)].map(of).into()
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Codel {
    spec: CodelSpec,
    /// If waits have exceeded the target since some time: an interval after that (`first_above_time_`).
    stands_from: Option<Time>,
    /// Marking, because the queue stands.
    marking: bool,
    /// When the next mark is due, or was (`drop_next_`).
    next: Time,
    /// A mark was made, and `next` moves on if the unit behind it is late too.
    moves_on: bool,
    /// Marks since the queue stands, and what that began with.
    count: u32,
    first_count: u32,
    largest: Bytes,
}

impl Codel {
    pub(super) fn new(spec: &CodelSpec) -> Codel {
        Codel {
            spec: *spec,
            stands_from: None,
            marking: false,
            next: Time::ZERO,
            moves_on: false,
            count: 0,
            first_count: 0,
            largest: Bytes(0),
        }
    }

    /// Whether no wait of the last interval was within the target (`dodequeue`).
    fn stands(&mut self, turn: &Turn) -> bool {
        if turn.waited < self.spec.target || turn.bytes_behind <= self.largest {
            self.stands_from = None;
            return false;
        }
        turn.now >= *self.stands_from.get_or_insert(turn.now + self.spec.interval)
    }

    /// The mark after one at `time`: intervals shrink with the square root of their number, so that the rate of marks grows
    /// linearly (`control_law`).
    fn after(&self, time: Time) -> Time {
        time + Span((self.spec.interval.0 as f64 / f64::from(self.count).sqrt()) as u64)
    }

    fn begin(&mut self, now: Time) {
        let made = self.count - self.first_count;
        // Soon after the last time, what was enough then is where to begin.
        let is_soon = now.since(self.next) < Span(self.spec.interval.0.saturating_mul(16));
        self.count = if made > 1 && is_soon { made } else { 1 };
        self.first_count = self.count;
        self.marking = true;
        self.next = self.after(now);
    }
}

impl Policy for Codel {
    type PerFlow = ();
    const DRAWS: bool = false;
    const SEES_FLOWS: bool = false;
    const IS_STEPPED: bool = true;

    fn on_arrival(&mut self, _unit: &Unit, _flow: &mut (), _buffer: &Occupancy, _now: Time) -> Verdict {
        Verdict::Accept
    }

    fn on_departure(&mut self, unit: &Unit, turn: &Turn) -> Verdict {
        self.largest = self.largest.max(unit.bytes);
        let stands = self.stands(turn);
        if std::mem::take(&mut self.moves_on) && stands {
            self.next = self.after(self.next);
        }
        match stands {
            false => {
                self.marking = false;
                return Verdict::Accept;
            }
            true if !self.marking => self.begin(turn.now),
            true if turn.now < self.next => return Verdict::Accept,
            true => {
                self.count += 1;
                self.moves_on = true;
            }
        }
        Verdict::Mark
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The times, in ms, at which a unit is marked, of those that leave every 10 ms in these times having waited so long.
    fn marks(codel: &mut Codel, times: std::ops::Range<u64>, waited: u64) -> Vec<u64> {
        let mut leave = |ms: &u64| {
            let turn = Turn {
                now: Time(Span::from_millis(*ms).0),
                waited: Span::from_millis(waited),
                bytes_behind: Bytes(5000),
                is_capable: true,
            };
            codel.on_departure(&Unit { bytes: Bytes(1000), is_last: true }, &turn) == Verdict::Mark
        };
        times.step_by(10).filter(|ms| leave(ms)).collect()
    }

    fn codel() -> Codel {
        Codel::new(&CodelSpec { target: Span::from_millis(5), interval: Span::from_millis(100) })
    }

    #[test]
    fn marks_follow_one_another_at_the_interval_over_the_root_of_their_number() {
        // 100 ms above the target; then due at 200, + 100 / sqrt 2 = 270.7, + 100 / sqrt 3 = 328.4, + 50 = 378.4, + 44.7 = 423.2
        assert_eq!(marks(&mut codel(), 0..430, 6), [100, 200, 280, 330, 380]);
    }

    #[test]
    fn one_wait_within_the_target_ends_it() {
        let mut codel = codel();
        assert_eq!(marks(&mut codel, 0..90, 6), []);
        assert_eq!(marks(&mut codel, 90..100, 4), []);
        assert_eq!(marks(&mut codel, 100..210, 6), [200]);
    }

    #[test]
    fn a_queue_that_stands_again_soon_is_marked_as_often_as_at_the_end() {
        let mut codel = codel();
        // Five marks: the count is 5 and began with 1.
        assert_eq!(marks(&mut codel, 0..400, 6).len(), 5);
        assert_eq!(marks(&mut codel, 400..410, 1), []);
        // It stands from 510 on. Four were made: the next is due 100 / sqrt 4 after.
        assert_eq!(marks(&mut codel, 410..570, 6), [510, 560]);
    }

    #[test]
    fn after_sixteen_intervals_it_begins_anew() {
        let mut codel = codel();
        assert_eq!(marks(&mut codel, 0..400, 6).len(), 5);
        assert_eq!(marks(&mut codel, 400..2400, 1), []);
        assert_eq!(marks(&mut codel, 2400..2610, 6), [2500, 2600]);
    }

    #[test]
    fn a_backlog_of_one_unit_is_no_queue() {
        let mut codel = codel();
        for ms in 0..1000 {
            let turn = Turn {
                now: Time(Span::from_millis(ms).0),
                waited: Span::from_millis(50),
                bytes_behind: Bytes(1000),
                is_capable: true,
            };
            assert_eq!(codel.on_departure(&Unit { bytes: Bytes(1000), is_last: true }, &turn), Verdict::Accept);
        }
    }
}
