//! Named random streams. A draw is a pure function of (seed, name, index, purpose, number of the draw). Adding a flow therefore does not
//! change another's draws, and a copy of a run has the same draws.
//!
//! The function is Philox 2x64 with 10 rounds (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011).

use super::math;
use serde::{Deserialize, Serialize};

/// Purpose of a stream. The numbers affect results: never reuse one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Purpose {
    Start = 1,
    Size = 2,
    Rtt = 3,
    Loss = 4,
    Gap = 5,
    PacketSize = 6,
    Jitter = 7,
    SendProcessing = 8,
    ReceiveProcessing = 9,
    TimerPhase = 10,
    OnOff = 11,
    Policy = 12,
    Controller = 13,
    Price = 14,
    Topology = 15,
    Traffic = 16,
    Route = 17,
    Queue = 18,
    Request = 19,
    Response = 20,
    ThinkTime = 21,
    ServerTime = 22,
    Host = 23,
    BurstState = 30,
    BurstLoss = 31,
    LinkJitter = 32,
    Duplication = 33,
}

/// One stream of draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    key: u64,
}

/// The owner of a stream: a flow of a group, or a link, in a run with this seed.
#[derive(Clone, Copy, Debug)]
pub struct Entity<'a> {
    pub seed: u64,
    /// Name of the group or link.
    pub name: &'a str,
    /// Index within the group; 0 for a link.
    pub index: u64,
}

impl Stream {
    pub fn new(of: Entity, purpose: Purpose) -> Stream {
        let [mixed, _] = philox([of.index, name_hash(of.name) ^ purpose as u64], of.seed);
        Stream { key: mixed }
    }

    /// 64 random bits: draw number `n`.
    #[inline]
    pub fn bits(&self, n: u64) -> u64 {
        philox([n, 0], self.key)[0]
    }

    /// Uniform in [0, 1), 53 bits.
    #[inline]
    pub fn uniform(&self, n: u64) -> f64 {
        (self.bits(n) >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Exponential with mean 1.
    pub fn exponential(&self, n: u64) -> f64 {
        -math::ln(1.0 - self.uniform(n))
    }
}

/// A stream with a position: each call takes the next draw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Draws {
    stream: Stream,
    /// Number of the next draw.
    next: u64,
}

impl Draws {
    pub fn new(stream: Stream) -> Draws {
        Draws::from(stream, 1)
    }

    /// Start at draw number `first`.
    pub fn from(stream: Stream, first: u64) -> Draws {
        Draws { stream, next: first }
    }

    /// Uniform in [0, 1), 53 bits.
    pub fn uniform(&mut self) -> f64 {
        let number = self.take();
        self.stream.uniform(number)
    }

    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        let number = self.take();
        self.stream.exponential(number)
    }

    fn take(&mut self) -> u64 {
        self.next += 1;
        self.next - 1
    }
}

/// FNV-1a over the bytes of a name (Fowler, Noll and Vo): stable across versions and platforms, unlike the standard hasher.
fn name_hash(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[inline]
fn philox(counter: [u64; 2], key: u64) -> [u64; 2] {
    const MULTIPLIER: u64 = 0xD2B7_4407_B1CE_6E93;
    const WEYL: u64 = 0x9E37_79B9_7F4A_7C15;
    let ([mut x, mut y], mut k) = (counter, key);
    for _ in 0..10 {
        let product = u128::from(x) * u128::from(MULTIPLIER);
        x = (product >> 64) as u64 ^ k ^ y;
        y = product as u64;
        k = k.wrapping_add(WEYL);
    }
    [x, y]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn philox_matches_the_published_vectors() {
        // Known-answer vectors of the Random123 distribution, philox2x64 with 10 rounds.
        assert_eq!(philox([0, 0], 0), [0xca00_a045_9843_d731, 0x66c2_4222_c9a8_45b5]);
        assert_eq!(philox([u64::MAX, u64::MAX], u64::MAX), [0x65b0_21d6_0cd8_310f, 0x4d02_f322_2f86_df20]);
        let pi = philox([0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344], 0xa409_3822_299f_31d0);
        assert_eq!(pi, [0x0a5e_742c_2997_341c, 0xb0f8_83d3_8000_de5d]);
    }

    #[test]
    fn streams_of_different_names_indices_and_purposes_differ() {
        let first = |name, index, purpose| Stream::new(Entity { seed: 1, name, index }, purpose).bits(0);
        let draws = [
            first("web", 0, Purpose::Start),
            first("web", 1, Purpose::Start),
            first("ftp", 0, Purpose::Start),
            first("web", 0, Purpose::Size),
        ];
        for (i, a) in draws.iter().enumerate() {
            assert!(draws[i + 1..].iter().all(|b| a != b));
        }
    }

    #[test]
    fn the_mean_of_a_hundred_thousand_draws_is_within_five_standard_errors() {
        let stream = Stream::new(Entity { seed: 7, name: "mean", index: 0 }, Purpose::Gap);
        let n = 100_000;
        let mean = |draw: &dyn Fn(u64) -> f64| (0..n).map(draw).sum::<f64>() / n as f64;
        assert!((mean(&|i| stream.uniform(i)) - 0.5).abs() < 5.0 * 0.2887 / (n as f64).sqrt());
        assert!((mean(&|i| stream.exponential(i)) - 1.0).abs() < 5.0 / (n as f64).sqrt());
    }
}
