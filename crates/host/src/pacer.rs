//! The clock of a loop. In real time, it runs at the machine's rate and is set back by the duration of stalls. If packets delayed by a stall
//! of some milliseconds were all released at once, they would form a burst that no link of that rate can send.

use std::time::Instant;
use tailback_core::primitives::histogram::Histogram;
use tailback_core::primitives::units::{Time, TimeDelta};

/// A source of elapsed time.
pub trait Clock {
    fn elapsed(&self) -> TimeDelta;
}

/// The machine's monotonic clock.
pub struct Monotonic(Instant);

impl Monotonic {
    pub fn start() -> Monotonic {
        Monotonic(Instant::now())
    }
}

impl Clock for Monotonic {
    fn elapsed(&self) -> TimeDelta {
        // 213 days of picoseconds: no emulation lasts that long.
        TimeDelta(u64::try_from(self.0.elapsed().as_nanos().saturating_mul(1000)).unwrap_or(u64::MAX))
    }
}

/// Lateness above which the clock is set back: longer than a scheduler takes to wake a process, shorter than a packet of 1500
/// bytes takes at 50 Mbit/s.
const STALL: TimeDelta = TimeDelta::from_micros(250);

/// The clock, and statistics of its lateness.
pub(crate) struct Pacer<C> {
    clock: C,
    pub(crate) slipped: TimeDelta,
    pub(crate) slips: u64,
    pub(crate) longest_slip: TimeDelta,
    /// Lateness of deliveries, after slips.
    pub(crate) lateness: Histogram,
    pub(crate) max_lateness: TimeDelta,
}

impl<C: Clock> Pacer<C> {
    pub(crate) fn new(clock: C) -> Pacer<C> {
        Pacer {
            clock,
            slipped: TimeDelta::ZERO,
            slips: 0,
            longest_slip: TimeDelta::ZERO,
            lateness: Histogram::default(),
            max_lateness: TimeDelta::ZERO,
        }
    }

    /// The loop's time.
    pub(crate) fn now(&self) -> Time {
        Time((self.clock.elapsed() - self.slipped).0)
    }

    /// Elapsed time by the machine's clock.
    pub(crate) fn elapsed(&self) -> TimeDelta {
        self.clock.elapsed()
    }

    /// The current time for an action that was due at `due`. If that is too long ago, sets the clock back to `due`.
    pub(crate) fn catch_up(&mut self, due: Time) -> Time {
        let now = self.now();
        let late = now.since(due);
        if late <= STALL {
            return now;
        }
        self.slipped = self.slipped + late;
        self.slips += 1;
        self.longest_slip = self.longest_slip.max(late);
        due
    }

    /// Records a delivery that was due at `due`.
    pub(crate) fn note_delivery(&mut self, due: Time) {
        let late = self.now().since(due);
        self.lateness.add(late);
        self.max_lateness = self.max_lateness.max(late);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    struct ManualClock<'a>(&'a Cell<TimeDelta>);

    impl Clock for ManualClock<'_> {
        fn elapsed(&self) -> TimeDelta {
            self.0.get()
        }
    }

    #[test]
    fn small_delays_count_as_lateness_and_stalls_set_the_clock_back() {
        let hand = Cell::new(TimeDelta::from_millis(10));
        let mut pacer = Pacer::new(ManualClock(&hand));
        let due = Time(TimeDelta::from_micros(9_900).0);
        assert_eq!(pacer.catch_up(due), Time(TimeDelta::from_millis(10).0));
        assert_eq!((pacer.slipped, pacer.slips), (TimeDelta::ZERO, 0));
        hand.set(TimeDelta::from_millis(17));
        assert_eq!(pacer.catch_up(due), due);
        assert_eq!(
            (pacer.slipped, pacer.slips, pacer.longest_slip),
            (TimeDelta::from_micros(7_100), 1, TimeDelta::from_micros(7_100))
        );
        // The clock continues from there.
        hand.set(TimeDelta::from_millis(18));
        assert_eq!((pacer.now(), pacer.elapsed()), (Time(TimeDelta::from_micros(10_900).0), TimeDelta::from_millis(18)));
    }

    #[test]
    fn lateness_is_measured_on_deliveries() {
        let hand = Cell::new(TimeDelta::from_millis(1));
        let mut pacer = Pacer::new(ManualClock(&hand));
        for late in [10, 20, 200] {
            pacer.note_delivery(Time(TimeDelta::from_micros(1000 - late).0));
        }
        assert_eq!(pacer.max_lateness, TimeDelta::from_micros(200));
        assert!((pacer.lateness.percentile(0.5) / 20e-6 - 1.0).abs() < 0.01);
    }
}
