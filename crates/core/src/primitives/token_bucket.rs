//! A token bucket: tokens arrive at a rate and accumulate up to a burst (RFC 2697 section 3, with one rate and one burst). The arithmetic
//! is exact: one token is one bit per second times one picosecond.

use super::units::{Bytes, PICOSECONDS_PER_SECOND, Rate, Time, TimeDelta};
use serde::{Deserialize, Serialize};

/// Rate and burst of a token bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BucketSpec {
    pub rate: Rate,
    /// Above zero.
    pub burst: Bytes,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TokenBucket {
    spec: BucketSpec,
    /// Negative after a unit larger than the burst was sent.
    tokens: i128,
    /// Time of the last update.
    at: Time,
}

fn tokens_of(bytes: Bytes) -> i128 {
    i128::from(bytes.0) * 8 * i128::from(PICOSECONDS_PER_SECOND)
}

impl TokenBucket {
    /// A full bucket.
    pub fn new(spec: BucketSpec) -> TokenBucket {
        TokenBucket { spec, tokens: tokens_of(spec.burst), at: Time::ZERO }
    }

    pub fn spec(&self) -> BucketSpec {
        self.spec
    }

    pub fn rate(&self) -> Rate {
        self.spec.rate
    }

    fn fill(&mut self, now: Time) {
        let more = i128::from(now.since(self.at).0).saturating_mul(self.spec.rate.0.into());
        self.tokens = self.tokens.saturating_add(more).min(tokens_of(self.spec.burst));
        self.at = self.at.max(now);
    }

    /// Take the tokens of a unit if enough are available. Returns whether it conforms.
    pub fn take(&mut self, now: Time, bytes: Bytes) -> bool {
        self.fill(now);
        let conforms = self.tokens >= tokens_of(bytes);
        if conforms {
            self.tokens -= tokens_of(bytes);
        }
        conforms
    }

    /// Take the tokens of a unit at the earliest possible time, which is returned: not before `now` and not before the previous unit's
    /// time. A unit larger than the burst is sent when the bucket is full, and later units wait until the debt is paid.
    pub fn take_in_time(&mut self, now: Time, bytes: Bytes) -> Time {
        self.fill(now);
        let missing = (tokens_of(bytes).min(tokens_of(self.spec.burst)) - self.tokens).max(0);
        let rate = i128::from(self.spec.rate.0);
        let wait = (missing + rate - 1) / rate;
        let when = self.at + TimeDelta(u64::try_from(wait).unwrap_or(u64::MAX));
        self.fill(when);
        self.tokens -= tokens_of(bytes);
        when
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8 Mbit/s, or one byte per microsecond, with a burst of 3000 bytes.
    fn bucket() -> TokenBucket {
        TokenBucket::new(BucketSpec { rate: Rate(8_000_000), burst: Bytes(3000) })
    }

    fn us(microseconds: u64) -> Time {
        Time(TimeDelta::from_micros(microseconds).0)
    }

    #[test]
    fn a_burst_passes_at_once_and_then_the_rate_limits() {
        let mut bucket = bucket();
        let conforms = [(0, 1000), (0, 1000), (0, 1000), (0, 1), (999, 1000), (1000, 1000), (1500, 501), (1500, 500)];
        let found = conforms.map(|(at, bytes)| bucket.take(us(at), Bytes(bytes)));
        assert_eq!(found, [true, true, true, false, false, true, false, true]);
        // At most the burst accumulates, however long the source is idle.
        assert!(!bucket.take(us(1_000_000), Bytes(3001)) && bucket.take(us(1_000_000), Bytes(3000)));
    }

    #[test]
    fn shaped_packets_leave_at_the_rate() {
        let mut bucket = bucket();
        let goes: Vec<Time> = (0..6).map(|_| bucket.take_in_time(us(0), Bytes(1000))).collect();
        assert_eq!(goes, [0, 0, 0, 1000, 2000, 3000].map(us));
        // At 3500 us, half of a packet's tokens are available.
        assert_eq!(bucket.take_in_time(us(3500), Bytes(1000)), us(4000));
    }

    #[test]
    fn a_packet_larger_than_the_burst_is_sent_with_a_full_bucket_and_leaves_a_debt() {
        let mut bucket = bucket();
        assert_eq!(bucket.take_in_time(us(0), Bytes(5000)), us(0));
        // 2000 bytes of debt, and a burst.
        assert_eq!(bucket.take_in_time(us(0), Bytes(4000)), us(5000));
        assert_eq!(bucket.take_in_time(us(0), Bytes(1)), us(6001));
        assert!(!bucket.take(us(1_000_000), Bytes(3001)));
    }

    #[test]
    fn nothing_is_lost_to_rounding() {
        // 3 bit/s: one byte takes 2 2/3 s, three bytes take 8 s.
        let mut bucket = TokenBucket::new(BucketSpec { rate: Rate(3), burst: Bytes(1) });
        let last = (0..=3000).map(|_| bucket.take_in_time(Time::ZERO, Bytes(1))).last();
        assert!(last.unwrap().since(us(8_000_000_000)) <= TimeDelta(1000), "{last:?}");
    }
}
