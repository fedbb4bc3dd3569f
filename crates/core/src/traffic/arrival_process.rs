//! The interface of an arrival process.

use super::schedule::Schedule;
use crate::primitives::units::{Rate, Time, TimeDelta};

/// An arrival process. Its rate and the size of arrivals determine the gap between arrivals while it sends.
pub(super) trait Process {
    /// Whether more data may arrive than from a regular source of the same rate.
    const IS_RANDOM: bool;

    /// Whether an arrival waits for the end of the transmission before it, which is defined only for datagrams.
    const IS_OF_DATAGRAMS: bool = false;

    fn rate(&self) -> Rate;

    /// First arrival at a source that starts at `start`.
    fn first(&self, start: Time, schedule: &mut Schedule) -> Time;

    /// Arrival after the one at `now`. Where arrivals wait for the previous transmission, `now` is its end.
    fn next(&self, now: Time, schedule: &mut Schedule) -> Time;

    /// Mean number of arrivals per second, where `gap` is the transmission time of one arrival at the rate.
    fn per_second(&self, gap: TimeDelta) -> f64 {
        1.0 / gap.seconds()
    }
}
