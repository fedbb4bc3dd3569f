//! Delivery traces: the rate of a link as a list of transmission opportunities.

use crate::primitives::units::{Bytes, Rate, Time, TimeDelta};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

/// The transmission opportunities of a link. Each opportunity can send an IP packet of 1500 bytes; nothing is sent between them.
///
/// Source: Netravali et al., "Mahimahi: accurate record-and-replay for HTTP", USENIX ATC 2015, section 4, and the manual page of its
/// `mm-link`: one opportunity serves several packets whose sizes sum to its bytes, a larger packet takes several opportunities, unused
/// opportunities are lost, and after its last opportunity the trace repeats.
///
/// Copies of a trace share its data.
#[derive(Clone, PartialEq)]
pub struct DeliveryTrace {
    data: Arc<TraceData>,
    accounting: Accounting,
}

/// The bytes of an opportunity, and those that a packet uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Accounting {
    /// As `mm-link` (commit ae477d4): an opportunity has 1504 bytes, and a packet has a TUN header of 4 bytes. Its manual says 1500.
    #[default]
    Mahimahi,
    /// An opportunity has 1500 bytes, and packets use the bytes of IP.
    Ip,
}

impl Accounting {
    /// Bytes of an opportunity.
    pub const fn opportunity(self) -> Bytes {
        Bytes(DeliveryTrace::OPPORTUNITY.0 + self.header().0)
    }

    /// Bytes that a packet uses beyond those of IP.
    pub const fn header(self) -> Bytes {
        match self {
            Accounting::Mahimahi => Bytes(4),
            Accounting::Ip => Bytes(0),
        }
    }
}

#[derive(PartialEq)]
struct TraceData {
    /// Ascending; no count is zero.
    instants: Vec<Opportunities>,
    /// Number of opportunities before each entry, and the total.
    before: Vec<u64>,
}

/// The opportunities of one millisecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opportunities {
    /// Since the start of the trace.
    pub millisecond: u32,
    pub count: u32,
}

/// Reasons why a list of opportunities is not a valid trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFault {
    Empty,
    /// This entry is not later than the previous one.
    Unsorted(usize),
    /// This entry has no opportunity.
    Nothing(usize),
    /// The trace has zero length, so that it would repeat infinitely at one instant.
    NoLength,
}

impl DeliveryTrace {
    /// The IP packet that uses a whole opportunity.
    pub const OPPORTUNITY: Bytes = Bytes(1500);

    /// With Mahimahi's accounting.
    ///
    /// # Errors
    /// The reason why the list is not a valid trace.
    pub fn new(instants: Vec<Opportunities>) -> Result<DeliveryTrace, TraceFault> {
        let later = |pair: &[Opportunities]| pair[1].millisecond > pair[0].millisecond;
        let unsorted = instants.windows(2).position(|pair| !later(pair)).map(|index| TraceFault::Unsorted(index + 1));
        let nothing = instants.iter().position(|instant| instant.count == 0).map(TraceFault::Nothing);
        let fault = match instants.last() {
            None => Some(TraceFault::Empty),
            Some(last) => nothing.or(unsorted).or((last.millisecond == 0).then_some(TraceFault::NoLength)),
        };
        if let Some(fault) = fault {
            return Err(fault);
        }
        let mut before = vec![0];
        for instant in &instants {
            before.push(before[before.len() - 1] + u64::from(instant.count));
        }
        Ok(DeliveryTrace { data: Arc::new(TraceData { instants, before }), accounting: Accounting::default() })
    }

    #[must_use]
    pub fn with_accounting(self, accounting: Accounting) -> DeliveryTrace {
        DeliveryTrace { accounting, ..self }
    }

    pub fn accounting(&self) -> Accounting {
        self.accounting
    }

    pub fn instants(&self) -> &[Opportunities] {
        &self.data.instants
    }

    /// Time after which the trace repeats.
    pub fn period(&self) -> TimeDelta {
        TimeDelta::from_millis(self.data.instants.last().map_or(0, |last| last.millisecond.into()))
    }

    /// Number of opportunities in one period.
    pub fn opportunities(&self) -> u64 {
        self.data.before[self.data.instants.len()]
    }

    /// Mean rate of packets that use whole opportunities, over a period, rounded.
    pub fn mean_rate(&self) -> Rate {
        let milliseconds = u128::from(self.period().0 / MILLISECOND);
        let bits = u128::from(self.opportunities()) * u128::from(DeliveryTrace::OPPORTUNITY.0) * 8_000;
        Rate(((bits + milliseconds / 2) / milliseconds).clamp(1, u64::MAX.into()) as u64)
    }

    /// Rate of the best millisecond.
    pub fn highest_rate(&self) -> Rate {
        let max = self.data.instants.iter().map(|instant| u64::from(instant.count)).max().unwrap_or(1);
        Rate(max.saturating_mul(DeliveryTrace::OPPORTUNITY.0 * 8_000))
    }

    /// The longest time between two opportunities.
    pub fn longest_gap(&self) -> TimeDelta {
        let instants = &self.data.instants;
        let first = instants.first().map_or(0, |first| first.millisecond);
        let gaps = instants.windows(2).map(|pair| pair[1].millisecond - pair[0].millisecond);
        TimeDelta::from_millis(gaps.chain([first]).max().unwrap_or(0).into())
    }

    /// Number of opportunities before this instant, since the start of the run.
    pub fn count_before(&self, time: Time) -> u64 {
        let period = self.period().0;
        let (mut passes, mut within) = (time.0 / period, time.0 % period);
        if within == 0 && passes > 0 {
            // The last opportunities of one pass are at the instant at which the next begins.
            (passes, within) = (passes - 1, period);
        }
        let here = self.data.instants.partition_point(|instant| u64::from(instant.millisecond) * MILLISECOND < within);
        passes.saturating_mul(self.opportunities()).saturating_add(self.data.before[here])
    }

    /// Time of the opportunity with this number, counted from 0 since the start of the run.
    pub fn time_of(&self, number: u64) -> Time {
        let (passes, place) = (number / self.opportunities(), number % self.opportunities());
        let here = self.data.before.partition_point(|&before| before <= place) - 1;
        let within = u64::from(self.data.instants[here].millisecond) * MILLISECOND;
        Time(passes.saturating_mul(self.period().0).saturating_add(within))
    }

    /// Memory in bytes.
    pub fn memory(&self) -> u64 {
        (self.data.instants.len() * (size_of::<Opportunities>() + size_of::<u64>())) as u64
    }

    /// Whether the two are copies of one trace.
    pub fn shares_data_with(&self, other: &DeliveryTrace) -> bool {
        Arc::ptr_eq(&self.data, &other.data)
    }
}

const MILLISECOND: u64 = TimeDelta::from_millis(1).0;

impl fmt::Debug for DeliveryTrace {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "DeliveryTrace({} opportunities in {} s)", self.opportunities(), self.period().seconds())
    }
}

impl Serialize for DeliveryTrace {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.data.instants, self.accounting).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for DeliveryTrace {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<DeliveryTrace, D::Error> {
        let fault = |fault: TraceFault| serde::de::Error::custom(format!("{fault:?}"));
        let (instants, accounting) = <(Vec<Opportunities>, Accounting)>::deserialize(deserializer)?;
        Ok(DeliveryTrace::new(instants).map_err(fault)?.with_accounting(accounting))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millisecond: u32, count: u32) -> Opportunities {
        Opportunities { millisecond, count }
    }

    fn millis(milliseconds: u64) -> Time {
        Time::ZERO + TimeDelta::from_millis(milliseconds)
    }

    #[test]
    fn one_opportunity_per_millisecond_is_12_mbps() {
        let trace = DeliveryTrace::new(vec![at(1, 1)]).unwrap();
        assert_eq!((trace.mean_rate(), trace.highest_rate()), (Rate(12_000_000), Rate(12_000_000)));
        assert_eq!([0, 1, 4].map(|number| trace.time_of(number)), [1, 2, 5].map(millis));
    }

    /// 0, 3, 3, 5, then the trace repeats: 5, 8, 8, 10, and so on.
    #[test]
    fn the_last_of_one_pass_and_the_first_of_the_next_may_be_at_one_instant() {
        let trace = DeliveryTrace::new(vec![at(0, 1), at(3, 2), at(5, 1)]).unwrap();
        assert_eq!((trace.opportunities(), trace.period()), (4, TimeDelta::from_millis(5)));
        assert_eq!([0, 1, 2, 3, 4, 5, 6, 7, 8].map(|number| trace.time_of(number)), [0, 3, 3, 5, 5, 8, 8, 10, 10].map(millis));
        let before = [0, 1, 3, 4, 5, 6, 8, 9, 10, 11].map(|time| trace.count_before(millis(time)));
        assert_eq!(before, [0, 1, 1, 3, 3, 5, 5, 7, 7, 9]);
        assert_eq!(trace.count_before(Time(millis(5).0 + 1)), 5);
        // 4 x 12000 bit in 5 ms.
        assert_eq!((trace.mean_rate(), trace.highest_rate()), (Rate(9_600_000), Rate(24_000_000)));
        assert_eq!(trace.longest_gap(), TimeDelta::from_millis(3));
    }

    #[test]
    fn invalid_traces_are_rejected() {
        let fault =
            |instants: &[(u32, u32)]| DeliveryTrace::new(instants.iter().map(|&(ms, count)| at(ms, count)).collect()).err();
        assert_eq!(fault(&[]), Some(TraceFault::Empty));
        assert_eq!(fault(&[(0, 7)]), Some(TraceFault::NoLength));
        assert_eq!(fault(&[(1, 1), (3, 1), (3, 1)]), Some(TraceFault::Unsorted(2)));
        assert_eq!(fault(&[(1, 1), (3, 0)]), Some(TraceFault::Nothing(1)));
    }

    #[test]
    fn numbers_beyond_the_range_of_time_do_not_wrap() {
        let trace = DeliveryTrace::new(vec![at(u32::MAX, 1)]).unwrap();
        assert_eq!(trace.time_of(1 << 40), Time::NEVER);
        assert!(trace.count_before(Time::NEVER) < 1 << 40);
    }
}
