//! Types for instants, durations, rates, sizes, counts and windows, so that adding bytes to picoseconds does not compile.

use serde::{Deserialize, Serialize};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

pub const PICOSECONDS_PER_SECOND: u64 = 1_000_000_000_000;

/// An instant of simulated time in whole picoseconds since the start of the run. 64 bits cover 213 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Time(pub u64);

/// A duration of simulated time in whole picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TimeDelta(pub u64);

/// A bit rate in whole bit/s, at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Rate(pub u64);

/// A size in bytes, such as of a packet, a cell or a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Bytes(pub u64);

/// A number of packets or cells, in the unit of the port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Units(pub u64);

/// A number of segments of a transport.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Segments(pub u32);

impl Segments {
    /// No limit.
    pub const UNLIMITED: Segments = Segments(u32::MAX);
}

/// A congestion window in segments, which may be fractional.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
pub struct Cwnd(pub f64);

impl Cwnd {
    /// Whole segments, at least one.
    #[inline(always)]
    pub(crate) fn whole(self) -> Segments {
        Segments((self.0 as u32).max(1))
    }
}

impl Time {
    /// Later than any instant that a run can reach.
    pub const NEVER: Time = Time(u64::MAX);
    pub const ZERO: Time = Time(0);

    /// Seconds as a float, for results only: events are ordered by the integer.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / PICOSECONDS_PER_SECOND as f64
    }

    /// The instant earlier by `span`, but not before the start of the run.
    pub fn before(self, span: TimeDelta) -> Time {
        Time(self.0.saturating_sub(span.0))
    }

    /// The duration since `earlier`; zero if `earlier` is later.
    pub fn since(self, earlier: Time) -> TimeDelta {
        TimeDelta(self.0.saturating_sub(earlier.0))
    }
}

impl TimeDelta {
    pub const ZERO: TimeDelta = TimeDelta(0);

    /// `seconds` rounded to the nearest picosecond. Negative values and NaN become zero; large values are clamped to the maximum.
    pub fn from_seconds(seconds: f64) -> TimeDelta {
        TimeDelta((seconds * PICOSECONDS_PER_SECOND as f64 + 0.5) as u64)
    }

    pub const fn from_millis(milliseconds: u64) -> TimeDelta {
        TimeDelta(milliseconds * 1_000_000_000)
    }

    pub const fn from_micros(microseconds: u64) -> TimeDelta {
        TimeDelta(microseconds * 1_000_000)
    }

    pub fn seconds(self) -> f64 {
        self.0 as f64 / PICOSECONDS_PER_SECOND as f64
    }
}

impl Rate {
    /// Transmission time, rounded up to whole picoseconds. All roundings of transmission times take place here.
    #[inline(never)]
    pub fn time_to_send(self, Bytes(bytes): Bytes) -> TimeDelta {
        const BIT_PICOSECONDS_PER_BYTE: u64 = 8 * PICOSECONDS_PER_SECOND;
        if bytes <= u64::MAX / BIT_PICOSECONDS_PER_BYTE {
            return TimeDelta((bytes * BIT_PICOSECONDS_PER_BYTE).div_ceil(self.0));
        }
        let span = (u128::from(bytes) * u128::from(BIT_PICOSECONDS_PER_BYTE)).div_ceil(u128::from(self.0));
        TimeDelta(u64::try_from(span).unwrap_or(u64::MAX))
    }

    /// Whole bytes that can be sent in this time.
    pub fn bytes_in(self, span: TimeDelta) -> Bytes {
        let bits = u128::from(self.0) * u128::from(span.0) / u128::from(PICOSECONDS_PER_SECOND);
        Bytes(u64::try_from(bits / 8).unwrap_or(u64::MAX))
    }
}

impl Add<TimeDelta> for Time {
    type Output = Time;
    fn add(self, span: TimeDelta) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<TimeDelta> for Time {
    fn add_assign(&mut self, span: TimeDelta) {
        *self = *self + span;
    }
}

impl Add for TimeDelta {
    type Output = TimeDelta;
    fn add(self, other: TimeDelta) -> TimeDelta {
        TimeDelta(self.0.saturating_add(other.0))
    }
}

impl Sub for TimeDelta {
    type Output = TimeDelta;
    fn sub(self, other: TimeDelta) -> TimeDelta {
        TimeDelta(self.0.saturating_sub(other.0))
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        self.0 += other.0;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0 - other.0)
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Bytes) {
        self.0 -= other.0;
    }
}

impl Add for Segments {
    type Output = Segments;
    #[inline]
    fn add(self, other: Segments) -> Segments {
        Segments(self.0 + other.0)
    }
}

impl AddAssign for Segments {
    #[inline]
    fn add_assign(&mut self, other: Segments) {
        self.0 += other.0;
    }
}

impl Sub for Segments {
    type Output = Segments;
    #[inline]
    fn sub(self, other: Segments) -> Segments {
        Segments(self.0 - other.0)
    }
}

impl SubAssign for Segments {
    #[inline]
    fn sub_assign(&mut self, other: Segments) {
        self.0 -= other.0;
    }
}

impl Sum for Segments {
    fn sum<I: Iterator<Item = Segments>>(all: I) -> Segments {
        Segments(all.map(|segments| segments.0).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_at_155_mbps_takes_a_whole_number_of_picoseconds_rounded_up() {
        // 424 bits / 155.52 Mbit/s = 2.72633744... us
        assert_eq!(Rate(155_520_000).time_to_send(Bytes(53)), TimeDelta(2_726_338));
    }

    #[test]
    fn large_units_are_rounded_as_small_ones_are() {
        assert_eq!(Rate(3).time_to_send(Bytes(2_305_843)), TimeDelta(2_305_843u64 * 8_000_000_000_000 / 3 + 1));
        assert_eq!(Rate(3_000).time_to_send(Bytes(2_305_844)), TimeDelta(6_148_917_333_333_334));
    }

    #[test]
    fn a_terabyte_at_one_bit_per_second_does_not_wrap() {
        assert_eq!(Rate(1).time_to_send(Bytes(1 << 40)), TimeDelta(u64::MAX));
    }

    #[test]
    fn seconds_round_to_the_nearest_picosecond_and_never_wrap() {
        assert_eq!(TimeDelta::from_seconds(0.1), TimeDelta(100_000_000_000));
        assert_eq!(TimeDelta::from_seconds(-1.0), TimeDelta(0));
        assert_eq!(TimeDelta::from_seconds(f64::NAN), TimeDelta(0));
        assert_eq!(Time(5).since(Time(9)), TimeDelta::ZERO);
    }
}
