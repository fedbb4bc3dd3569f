//! Timestamps of a capture: nanoseconds since 1970, the resolution of both formats and of the kernel's clock.

use std::time::Duration;

/// Nanoseconds since the beginning of 1970, UTC. 64 bits cover 1677 to 2262.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Time 0 of a simulated run in its captures: 2000-01-01T00:00:00Z. Programs such as argus and tcptrace treat times in the first
    /// seconds of 1970 as missing.
    pub const RUN_START: Timestamp = Timestamp(946_684_800_000_000_000);

    /// The time since `earlier`; zero if `earlier` is later.
    #[inline]
    pub fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_nanos(self.nanoseconds_since(earlier))
    }

    #[inline]
    pub(crate) fn nanoseconds_since(self, earlier: Timestamp) -> u64 {
        if self > earlier { self.0.abs_diff(earlier.0) } else { 0 }
    }

    /// Seconds since `origin`, negative before it; for results only.
    pub fn seconds_after(self, origin: Timestamp) -> f64 {
        (i128::from(self.0) - i128::from(origin.0)) as f64 / 1e9
    }
}

/// Clock of an interface: ticks per second, from an offset in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clock {
    ticks_per_second: Ticks,
    offset_s: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ticks {
    PowerOf10(u8),
    PowerOf2(u8),
}

impl Clock {
    /// `if_tsresol` and `if_tsoffset` of pcapng (draft-ietf-opsawg-pcapng section 4.2).
    pub(crate) fn of_interface(resolution: u8, offset_s: i64) -> Clock {
        let exponent = resolution & 0x7f;
        let ticks_per_second = if resolution & 0x80 == 0 { Ticks::PowerOf10(exponent) } else { Ticks::PowerOf2(exponent) };
        Clock { ticks_per_second, offset_s }
    }

    /// The timestamp of a number of ticks, rounded down to nanoseconds; `None` if it does not fit in 64 bits.
    #[inline]
    pub(crate) fn instant(self, ticks: u64) -> Option<Timestamp> {
        let nanoseconds = match self.ticks_per_second {
            Ticks::PowerOf10(9) => i128::from(ticks),
            Ticks::PowerOf10(6) => i128::from(ticks) * 1000,
            Ticks::PowerOf10(exponent) => {
                // If the power overflows, not even 2^64 ticks make a nanosecond.
                let per_second = 10u128.checked_pow(exponent.into());
                per_second.map_or(0, |per_second| (u128::from(ticks) * 1_000_000_000 / per_second) as i128)
            }
            Ticks::PowerOf2(exponent) => ((u128::from(ticks) * 1_000_000_000) >> exponent) as i128,
        };
        i64::try_from(nanoseconds + i128::from(self.offset_s) * 1_000_000_000).ok().map(Timestamp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_of_every_resolution_are_nanoseconds() {
        assert_eq!(Clock::of_interface(6, 0).instant(1_500_000), Some(Timestamp(1_500_000_000)));
        assert_eq!(Clock::of_interface(3, 10).instant(1_500), Some(Timestamp(11_500_000_000)));
        // 3 / 2^10 s = 2.9296875 ms.
        assert_eq!(Clock::of_interface(0x80 | 10, 0).instant(3), Some(Timestamp(2_929_687)));
        assert_eq!(Clock::of_interface(12, -1).instant(2_000_000_000_999), Some(Timestamp(1_000_000_000)));
        assert_eq!(Clock::of_interface(127, 0).instant(u64::MAX), Some(Timestamp(0)));
        assert_eq!(Clock::of_interface(0xff, 0).instant(u64::MAX), Some(Timestamp(0)));
    }

    #[test]
    fn timestamps_out_of_64_bits_are_none() {
        assert_eq!(Clock::of_interface(0, 0).instant(u64::MAX), None);
        assert_eq!(Clock::of_interface(9, i64::MAX).instant(0), None);
    }

    #[test]
    fn time_that_runs_backwards_counts_as_zero() {
        assert_eq!(Timestamp(5).since(Timestamp(9)), Duration::ZERO);
        assert_eq!(Timestamp(i64::MAX).since(Timestamp(i64::MIN)), Duration::from_nanos(u64::MAX));
        assert_eq!(Timestamp(5).seconds_after(Timestamp(1_000_000_005)), -1.0);
    }
}
