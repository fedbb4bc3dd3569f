//! How far a port has come in the trace of when it can send.

use crate::network::DeliveryTrace;
use crate::primitives::units::{Bytes, Time};
use serde::{Deserialize, Serialize};

/// Whether what is to be sent has waited for its turn, or has just found the port idle.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Begins {
    InTurn,
    AtOnce,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Delivery {
    trace: DeliveryTrace,
    /// Number of the first opportunity that has not been used, if anything has waited since the last one.
    next: u64,
    /// What was left of that.
    left: Bytes,
    /// Number of the first opportunity of the measured part, and what was used of those from it on.
    measured_from: u64,
    used: Bytes,
}

impl Delivery {
    pub(super) fn new(trace: &DeliveryTrace, warmup: Time) -> Delivery {
        let measured_from = trace.count_before(warmup);
        Delivery { trace: trace.clone(), next: 0, left: Bytes(0), measured_from, used: Bytes(0) }
    }

    /// A unit is the next to be sent: when its last byte is.
    ///
    /// What has waited takes what the unit before it has left of the opportunity at this instant, then what others there are at
    /// it. Who finds the port idle is too late for an opportunity of the same instant: departures go before arrivals.
    pub(super) fn send(&mut self, bytes: Bytes, now: Time, begins: Begins) -> Time {
        if begins == Begins::AtOnce {
            self.next = self.trace.count_before(Time(now.0.saturating_add(1)));
            self.left = Bytes(0);
        }
        if bytes <= self.left {
            self.left -= bytes;
            self.used += if self.next > self.measured_from { bytes } else { Bytes(0) };
            return now;
        }
        let lacking = bytes - self.left;
        self.used += match self.measured_from.checked_sub(self.next) {
            None => bytes,
            Some(early) => lacking - lacking.min(opportunities(early)),
        };
        let needed = lacking.0.div_ceil(DeliveryTrace::OPPORTUNITY.0);
        self.left = opportunities(needed) - lacking;
        self.next += needed;
        self.trace.time_of(self.next - 1)
    }

    /// Of the bytes that there was an opportunity for from the beginning of the measured part to `until`, those used. What is being sent then takes
    /// some that are still to come.
    pub(super) fn used_share(&self, until: Time) -> f64 {
        let end = self.trace.count_before(until);
        let to_come = match self.next.saturating_sub(end.max(self.measured_from)) {
            0 => Bytes(0),
            count => opportunities(count) - self.left,
        };
        (self.used - to_come).0 as f64 / opportunities(end.saturating_sub(self.measured_from)).0 as f64
    }
}

/// What so many carry.
fn opportunities(count: u64) -> Bytes {
    Bytes(count.saturating_mul(DeliveryTrace::OPPORTUNITY.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::Opportunities;
    use crate::primitives::units::Span;

    fn millis(milliseconds: u64) -> Time {
        Time::ZERO + Span::from_millis(milliseconds)
    }

    /// Opportunities at 2, 5, 5 and 9 ms, then at 11, 14, 14, 18 and so on.
    fn delivery() -> Delivery {
        let at = |&(millisecond, count): &(u32, u32)| Opportunities { millisecond, count };
        Delivery::new(&DeliveryTrace::new([(2, 1), (5, 2), (9, 1)].iter().map(at).collect()).unwrap(), millis(4))
    }

    #[test]
    fn a_packet_waits_for_the_next_opportunity_and_a_large_one_for_several() {
        let mut link = delivery();
        assert_eq!(link.send(Bytes(1500), millis(0), Begins::AtOnce), millis(2));
        assert_eq!(link.send(Bytes(1500), millis(2), Begins::InTurn), millis(5));
        // 4000 bytes take the other one at 5 ms, and those at 9 and 11 ms.
        assert_eq!(link.send(Bytes(4000), millis(5), Begins::InTurn), millis(11));
    }

    #[test]
    fn small_packets_share_an_opportunity_and_what_nobody_waits_for_is_lost() {
        let mut link = delivery();
        assert_eq!(link.send(Bytes(600), millis(0), Begins::AtOnce), millis(2));
        // Two that wait: the first takes the same opportunity, the second 300 bytes of it, and of the first at 5 ms the rest.
        assert_eq!(link.send(Bytes(600), millis(2), Begins::InTurn), millis(2));
        assert_eq!(link.send(Bytes(600), millis(2), Begins::InTurn), millis(5));
        // One that comes after that, at 5 ms, has missed both of that instant.
        assert_eq!(link.send(Bytes(600), millis(5), Begins::AtOnce), millis(9));
        assert_eq!(link.send(Bytes(600), millis(12), Begins::AtOnce), millis(14));
    }

    #[test]
    fn a_packet_that_comes_after_an_outage_of_many_passes_finds_its_place() {
        let mut link = delivery();
        assert_eq!(link.send(Bytes(1), millis(9_000_003), Begins::AtOnce), millis(9_000_005));
        assert_eq!(link.send(Bytes(1500), millis(9_000_005), Begins::InTurn), millis(9_000_005));
        assert_eq!(link.send(Bytes(1500), millis(9_000_005), Begins::InTurn), millis(9_000_009));
    }

    #[test]
    fn of_a_packet_that_is_on_the_way_at_the_beginning_or_the_end_only_what_is_measured_counts() {
        let mut link = delivery();
        // From 4 ms on: of 4000 bytes from 0 ms on those after the one at 2 ms.
        assert_eq!(link.send(Bytes(4000), millis(0), Begins::AtOnce), millis(5));
        assert_eq!(link.used_share(millis(6)), 2500.0 / 3000.0);
        assert!(link.used_share(millis(3)).is_nan());
        // The other 500 bytes at 5 ms, those at 9, 11 and 14 ms, and 1000 of the second at 14 ms: by 12 ms all four since 4 ms are used.
        assert_eq!(link.send(Bytes(6000), millis(5), Begins::InTurn), millis(14));
        assert_eq!(link.used_share(millis(12)), 1.0);
        assert_eq!(link.used_share(millis(15)), 8500.0 / 9000.0);
        // At a time that nothing is sent at, what passes is lost.
        assert_eq!(link.send(Bytes(1), millis(30), Begins::AtOnce), millis(32));
        assert_eq!(link.used_share(millis(33)), 8501.0 / 21_000.0);
    }
}
