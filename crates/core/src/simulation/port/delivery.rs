//! Position of a port in its delivery trace.

use crate::network::DeliveryTrace;
use crate::primitives::units::{Bytes, Time};
use serde::{Deserialize, Serialize};

/// Whether the unit was queued before its service or has just found the port idle.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ServiceStart {
    Queued,
    Immediate,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Delivery {
    trace: DeliveryTrace,
    /// Number of the first unused opportunity, if the queue has not been empty since the last one.
    next: u64,
    /// Unused bytes of the last opportunity.
    left: Bytes,
    /// Number of the first opportunity of the measurement interval, and the bytes used from it on.
    measured_from: u64,
    used: Bytes,
}

impl Delivery {
    pub(super) fn new(trace: &DeliveryTrace, warmup: Time) -> Delivery {
        let measured_from = trace.count_before(warmup);
        Delivery { trace: trace.clone(), next: 0, left: Bytes(0), measured_from, used: Bytes(0) }
    }

    /// Time at which the last byte of the next unit is sent.
    ///
    /// A queued unit uses the rest of the current opportunity, then any others at this instant. A unit that finds the port idle is too late
    /// for an opportunity at the same instant, because departures precede arrivals.
    pub(super) fn send(&mut self, bytes: Bytes, now: Time, begins: ServiceStart) -> Time {
        if begins == ServiceStart::Immediate {
            self.next = self.trace.count_before(Time(now.0.saturating_add(1)));
            self.left = Bytes(0);
        }
        let bytes = bytes + self.trace.accounting().header();
        if bytes <= self.left {
            self.left -= bytes;
            self.used += if self.next > self.measured_from { bytes } else { Bytes(0) };
            return now;
        }
        let lacking = bytes - self.left;
        self.used += match self.measured_from.checked_sub(self.next) {
            None => bytes,
            Some(early) => lacking - lacking.min(self.bytes_of(early)),
        };
        let needed = lacking.0.div_ceil(self.trace.accounting().opportunity().0);
        self.left = self.bytes_of(needed) - lacking;
        self.next += needed;
        self.trace.time_of(self.next - 1)
    }

    /// Used share of the bytes of the opportunities from the start of the measurement interval to `until`. A unit in service at that time
    /// may use opportunities that are still to come; those are excluded.
    pub(super) fn used_share(&self, until: Time) -> f64 {
        let end = self.trace.count_before(until);
        let to_come = match self.next.saturating_sub(end.max(self.measured_from)) {
            0 => Bytes(0),
            count => self.bytes_of(count) - self.left,
        };
        (self.used - to_come).0 as f64 / self.bytes_of(end.saturating_sub(self.measured_from)).0 as f64
    }

    /// Bytes of so many opportunities.
    fn bytes_of(&self, opportunities: u64) -> Bytes {
        Bytes(opportunities.saturating_mul(self.trace.accounting().opportunity().0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{Accounting, Opportunities};
    use crate::primitives::units::TimeDelta;

    fn millis(milliseconds: u64) -> Time {
        Time::ZERO + TimeDelta::from_millis(milliseconds)
    }

    /// Opportunities at 2, 5, 5 and 9 ms, then at 11, 14, 14, 18 ms and so on.
    fn counting(accounting: Accounting) -> Delivery {
        let at = |&(millisecond, count): &(u32, u32)| Opportunities { millisecond, count };
        let trace = DeliveryTrace::new([(2, 1), (5, 2), (9, 1)].iter().map(at).collect()).unwrap();
        Delivery::new(&trace.with_accounting(accounting), millis(4))
    }

    fn delivery() -> Delivery {
        counting(Accounting::Ip)
    }

    #[test]
    fn packets_have_a_header_in_mahimahi() {
        let mut full = counting(Accounting::Mahimahi);
        assert_eq!(full.send(Bytes(1500), millis(0), ServiceStart::Immediate), millis(2));
        assert_eq!(full.send(Bytes(1500), millis(2), ServiceStart::Queued), millis(5));
        // 754 and 754 bytes of 1504: the second needs the next opportunity, too.
        let mut halves = counting(Accounting::Mahimahi);
        assert_eq!(halves.send(Bytes(750), millis(0), ServiceStart::Immediate), millis(2));
        assert_eq!(halves.send(Bytes(750), millis(2), ServiceStart::Queued), millis(5));
    }

    /// A backlog of packets of 40 bytes at one opportunity per millisecond: 34,181 in a second with Mahimahi (commit ae477d4).
    #[test]
    fn a_backlog_of_small_packets_is_slower_in_mahimahi() {
        let every_millisecond = DeliveryTrace::new(vec![Opportunities { millisecond: 1, count: 1 }]).unwrap();
        for (accounting, expected) in [(Accounting::Mahimahi, 34_181), (Accounting::Ip, 37_500)] {
            let mut link = Delivery::new(&every_millisecond.clone().with_accounting(accounting), Time::ZERO);
            let mut now = link.send(Bytes(40), Time::ZERO, ServiceStart::Immediate);
            let mut sent = 0;
            while now <= millis(1000) {
                (sent, now) = (sent + 1, link.send(Bytes(40), now, ServiceStart::Queued));
            }
            assert_eq!(sent, expected);
        }
    }

    #[test]
    fn a_packet_waits_for_the_next_opportunity_and_a_large_one_for_several() {
        let mut link = delivery();
        assert_eq!(link.send(Bytes(1500), millis(0), ServiceStart::Immediate), millis(2));
        assert_eq!(link.send(Bytes(1500), millis(2), ServiceStart::Queued), millis(5));
        // 4000 bytes take the other opportunity at 5 ms, and those at 9 and 11 ms.
        assert_eq!(link.send(Bytes(4000), millis(5), ServiceStart::Queued), millis(11));
    }

    #[test]
    fn small_packets_share_an_opportunity_and_unused_opportunities_are_lost() {
        let mut link = delivery();
        assert_eq!(link.send(Bytes(600), millis(0), ServiceStart::Immediate), millis(2));
        // Two queued packets: the first uses the same opportunity, the second its last 300 bytes and the remainder from the first one at 5
        // ms.
        assert_eq!(link.send(Bytes(600), millis(2), ServiceStart::Queued), millis(2));
        assert_eq!(link.send(Bytes(600), millis(2), ServiceStart::Queued), millis(5));
        // A packet that arrives after that, at 5 ms, has missed both opportunities of that instant.
        assert_eq!(link.send(Bytes(600), millis(5), ServiceStart::Immediate), millis(9));
        assert_eq!(link.send(Bytes(600), millis(12), ServiceStart::Immediate), millis(14));
    }

    #[test]
    fn a_packet_after_many_idle_passes_of_the_trace_uses_the_next_opportunity() {
        let mut link = delivery();
        assert_eq!(link.send(Bytes(1), millis(9_000_003), ServiceStart::Immediate), millis(9_000_005));
        assert_eq!(link.send(Bytes(1500), millis(9_000_005), ServiceStart::Queued), millis(9_000_005));
        assert_eq!(link.send(Bytes(1500), millis(9_000_005), ServiceStart::Queued), millis(9_000_009));
    }

    #[test]
    fn only_the_measured_part_of_a_packet_in_service_at_either_end_of_the_interval_counts() {
        let mut link = delivery();
        // The interval begins at 4 ms: 4000 bytes from 0 ms on, without the opportunity at 2 ms.
        assert_eq!(link.send(Bytes(4000), millis(0), ServiceStart::Immediate), millis(5));
        assert_eq!(link.used_share(millis(6)), 2500.0 / 3000.0);
        assert!(link.used_share(millis(3)).is_nan());
        // The other 500 bytes at 5 ms, those at 9, 11 and 14 ms, and 1000 bytes of the second at 14 ms: by 12 ms all four since 4 ms are
        // used.
        assert_eq!(link.send(Bytes(6000), millis(5), ServiceStart::Queued), millis(14));
        assert_eq!(link.used_share(millis(12)), 1.0);
        assert_eq!(link.used_share(millis(15)), 8500.0 / 9000.0);
        // Opportunities that pass while the queue is empty are lost.
        assert_eq!(link.send(Bytes(1), millis(30), ServiceStart::Immediate), millis(32));
        assert_eq!(link.used_share(millis(33)), 8501.0 / 21_000.0);
    }
}
