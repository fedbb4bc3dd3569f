//! Minimum RTT with a lifetime (5.3.4.3).

use crate::primitives::units::{Time, TimeDelta};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct MinRtt {
    pub value: Option<TimeDelta>,
    /// When it was measured.
    pub stamp: Time,
}

impl MinRtt {
    #[inline]
    pub fn has_expired(&self, now: Time, lifetime: TimeDelta) -> bool {
        self.value.is_some() && now.since(self.stamp) > lifetime
    }

    #[inline]
    pub fn is_above(&self, rtt: TimeDelta) -> bool {
        self.value.is_none_or(|min| rtt < min)
    }

    #[inline]
    pub fn set(&mut self, rtt: TimeDelta, now: Time) {
        *self = MinRtt { value: Some(rtt), stamp: now };
    }

    /// A multiple of the bandwidth-delay product in segments, with the bandwidth in segments per second (BDPMultiple of 5.6.4.2); `None`
    /// before the first RTT.
    #[inline]
    pub fn products(&self, bandwidth: f64) -> Option<f64> {
        self.value.map(|rtt| bandwidth * rtt.seconds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minimum_expires_after_its_lifetime_and_an_absent_one_never() {
        let (rtt, lifetime) = (TimeDelta::from_millis(100), TimeDelta::from_millis(10_000));
        let mut min = MinRtt::default();
        let at = |milliseconds| Time(TimeDelta::from_millis(milliseconds).0);
        assert!(!min.has_expired(at(20_000), lifetime) && min.is_above(rtt) && min.products(1000.0).is_none());
        min.set(rtt, at(500));
        assert_eq!([10_500, 10_501].map(|now| min.has_expired(at(now), lifetime)), [false, true]);
        assert_eq!([99, 100].map(|sample| min.is_above(TimeDelta::from_millis(sample))), [true, false]);
        assert_eq!(min.products(1000.0), Some(100.0));
    }
}
