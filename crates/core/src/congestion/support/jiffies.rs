//! The clock of a kernel, which counts ticks.

use crate::primitives::units::{Time, TimeDelta};
use serde::{Deserialize, Serialize};

/// Length of a tick, 1/HZ.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Jiffies(TimeDelta);

impl Jiffies {
    /// A sender without ticks has 1000 per second.
    pub fn of(jiffy: TimeDelta) -> Jiffies {
        Jiffies(if jiffy == TimeDelta::ZERO { TimeDelta::from_millis(1) } else { jiffy })
    }

    /// Ticks until now.
    #[inline]
    pub fn at(self, now: Time) -> u64 {
        now.0 / self.0.0
    }

    /// A time in whole ticks, rounded up.
    #[inline]
    pub fn in_span(self, span: TimeDelta) -> u64 {
        span.0.div_ceil(self.0.0)
    }

    /// A time in whole ticks, rounded down.
    #[inline]
    pub fn whole_in_span(self, span: TimeDelta) -> u64 {
        span.0 / self.0.0
    }

    /// HZ.
    pub fn per_second(self) -> u64 {
        (TimeDelta::from_millis(1000).0 / self.0.0).max(1)
    }

    pub fn span(self, ticks: u64) -> TimeDelta {
        TimeDelta(ticks.saturating_mul(self.0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_rounded_down_and_spans_up() {
        let jiffies = Jiffies::of(TimeDelta::from_millis(4));
        let span = TimeDelta::from_micros(40_600);
        assert_eq!((jiffies.per_second(), jiffies.at(Time(span.0))), (250, 10));
        assert_eq!((jiffies.in_span(span), jiffies.whole_in_span(span)), (11, 10));
        assert_eq!(jiffies.span(11), TimeDelta::from_millis(44));
        assert_eq!(Jiffies::of(TimeDelta::ZERO).in_span(span), 41);
    }
}
