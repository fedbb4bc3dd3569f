//! TPM, deterministic packet marking by Thommes and Coates. A probe tests one bit of the quantised price of one queue of the path, and the
//! receiver assembles the prices bit by bit (Thommes and Coates, "Deterministic packet marking for time-varying congestion price
//! estimation", IEEE/ACM Transactions on Networking 14(3), 2006; cui-thesis section 2.3.5).
//!
//! With one ECN bit, the queue with the probe's number marks the probe if the tested bit is 1; there are `bits` times `hops` types of
//! probes. With both bits of the ECN field there are three codepoints, and two probes report how many of six queues have the bit set: 2 b
//! ceil(h / 6) types, (2.9). Neither document defines this encoding, so it is our own: both probes count the ones along the path, the first
//! modulo 3, the second as none, odd, or even. Every count from 0 to 6 gives a different pair.

use super::support::{Combination, QueuePrice, Scheme};
use crate::primitives::random::Draws;
use crate::primitives::signal::Probe;
use crate::settings::{Kind, PlainWords, SettingConflict, Settings, member, words};
use serde::{Deserialize, Serialize};

words! {
    /// Number of ECN bits that carry marks.
    pub enum EcnBits ("number of ECN bits") {
        /// A probe is marked or unmarked, and tests one queue.
        One = "one",
        /// A probe has three values, and two probes together test six queues.
        Two = "two",
    }
}

/// The TPM scheme.
#[derive(Clone, Copy, Debug)]
pub struct Tpm;

member! {
    /// Deterministic packet marking by Thommes and Coates: each packet tests one bit of the quantised prices of certain queues. Reports the
    /// sum of the prices.
    Tpm = "tpm", "cui-thesis section 2.3.5, equation (2.9)";

    pub struct TpmSpec {
        /// Number of bits of the quantised price (b).
        bits: u32 = 4 => Kind::Integer { min: 1, max: 16 },
        /// Maximum number of queues on a path that report prices (h).
        hops: u32 = 30 => Kind::Integer { min: 1, max: 255 },
        /// Number of ECN bits that carry marks.
        ecn_bits: EcnBits = EcnBits::One => Kind::Words(&EcnBits::WORDS),
    }
}

impl Settings for TpmSpec {
    fn check(&self) -> Vec<SettingConflict> {
        let (types, max) = (self.types(), MEMORY / self.bits_of_a_type());
        let many = || {
            let message = format!("{types} probe types exceed the 32 bytes of a receiver's state per flow");
            SettingConflict::error(&["bits", "hops"], message, format!("`bits` and `hops` that give at most {max} types"))
        };
        (types > max).then(many).into_iter().collect()
    }

    fn samples() -> Vec<TpmSpec> {
        let usual = TpmSpec { bits: 4, hops: 30, ecn_bits: EcnBits::One };
        vec![usual, TpmSpec { bits: 16, hops: 3, ..usual }, TpmSpec { bits: 8, hops: 7, ecn_bits: EcnBits::Two }]
    }
}

/// Receiver state per flow, in bits.
const MEMORY: u32 = 256;

/// Number of queues covered by a pair of probes.
const BLOCK: u32 = 6;

/// Last value of each type of probe; 0 for types that have not been received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TpmEstimate([u64; 4]);

/// The test of a probe.
#[derive(Clone, Copy)]
struct ProbeTest {
    /// First tested queue, from 1.
    first: u32,
    /// Tested bit of the quantised price; 0 is the most significant.
    bit: u32,
    /// Second probe of a pair.
    is_second: bool,
}

/// Number of ones among six bits, by the values of the first and the second probe. `None`: the prices have changed between them.
const ONES: [[Option<u32>; 3]; 3] = [[Some(0), Some(3), Some(6)], [None, Some(1), Some(4)], [None, Some(5), Some(2)]];

impl TpmSpec {
    fn types(&self) -> u32 {
        match self.ecn_bits {
            EcnBits::One => self.bits * self.hops,
            EcnBits::Two => 2 * self.bits * self.hops.div_ceil(BLOCK),
        }
    }

    fn bits_of_a_type(&self) -> u32 {
        match self.ecn_bits {
            EcnBits::One => 1,
            EcnBits::Two => 2,
        }
    }

    fn kind(&self, probe: &Probe) -> u32 {
        u32::from(probe.identification) % self.types()
    }

    /// Types enumerate the bits first, then the queues. With two ECN bits, the probes of a pair are consecutive.
    fn question(&self, kind: u32) -> ProbeTest {
        match self.ecn_bits {
            EcnBits::One => ProbeTest { first: 1 + kind / self.bits, bit: kind % self.bits, is_second: false },
            EcnBits::Two => {
                let (pair, is_second) = (kind / 2, kind % 2 == 1);
                ProbeTest { first: 1 + BLOCK * (pair / self.bits), bit: pair % self.bits, is_second }
            }
        }
    }

    fn levels(&self) -> f64 {
        f64::from((1_u32 << self.bits) - 1)
    }

    fn quantised(&self, price: QueuePrice) -> u32 {
        (price.0 * self.levels()).round() as u32
    }

    fn worth(&self, bit: u32) -> u32 {
        1 << (self.bits - 1 - bit)
    }
}

impl Scheme for TpmSpec {
    type Estimator = TpmEstimate;
    const COMBINES: Option<Combination> = Some(Combination::Sum);
    const USES_IDENTIFICATION: bool = true;

    fn resolution(&self) -> f64 {
        f64::from(1u32 << self.bits)
    }

    fn cycle(&self) -> u32 {
        self.types()
    }

    fn max_hops(&self) -> u8 {
        self.hops as u8
    }

    fn mark(&self, probe: &mut Probe, price: QueuePrice, _: &mut Draws) {
        let ProbeTest { first, bit, is_second } = self.question(self.kind(probe));
        let queues = if self.ecn_bits == EcnBits::One { 1 } else { BLOCK };
        let is_probed = (first..first + queues).contains(&u32::from(probe.hops));
        if !is_probed || self.quantised(price) & self.worth(bit) == 0 {
            return;
        }
        probe.mark = match (self.ecn_bits, is_second) {
            (EcnBits::One, _) => 1,
            (EcnBits::Two, false) => (probe.mark + 1) % 3,
            (EcnBits::Two, true) => [1, 2, 1][usize::from(probe.mark)],
        };
    }

    fn learn(&self, estimator: &mut TpmEstimate, probe: &Probe) {
        let place = self.kind(probe) * self.bits_of_a_type();
        let mask = (1_u64 << self.bits_of_a_type()) - 1;
        let (word, shift) = (&mut estimator.0[place as usize / 64], place % 64);
        *word = *word & !(mask << shift) | u64::from(probe.mark) << shift;
    }

    fn estimate(&self, estimator: &TpmEstimate) -> f64 {
        let width = self.bits_of_a_type();
        let value = |kind: u32| (estimator.0[(kind * width) as usize / 64] >> (kind * width % 64)) & ((1 << width) - 1);
        let ones = |kind: u32| match self.ecn_bits {
            EcnBits::One => value(kind) as u32,
            // An inconsistent pair is treated as 0.
            EcnBits::Two => ONES[value(kind) as usize][value(kind + 1) as usize].unwrap_or(0),
        };
        let sum: u64 = (0..self.types())
            .step_by(width as usize)
            .map(|kind| u64::from(ones(kind)) * u64::from(self.worth(self.question(kind).bit)))
            .sum();
        sum as f64 / self.levels()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The estimate after one probe of each type.
    fn queue_price(scheme: TpmSpec, prices: &[f64]) -> f64 {
        let mut estimator = TpmEstimate::default();
        for identification in 0..scheme.types() as u16 {
            let mut probe = Probe { identification, ..Probe::default() };
            for &price in prices {
                probe.hops += 1;
                scheme.mark(&mut probe, QueuePrice(price), &mut Draws::default());
            }
            scheme.learn(&mut estimator, &probe);
        }
        scheme.estimate(&estimator)
    }

    #[test]
    fn after_one_probe_of_each_type_the_quantised_prices_are_known() {
        let usual = TpmSpec { bits: 4, hops: 14, ecn_bits: EcnBits::One };
        for scheme in [usual, TpmSpec { ecn_bits: EcnBits::Two, ..usual }] {
            // 0.2 of 15 levels is level 3; 0.5 is level 8, rounded up.
            assert!((queue_price(scheme, &[0.2, 0.5]) - 11.0 / 15.0).abs() < 1e-12, "{scheme:?}");
            for ones in 0..14 {
                let prices: Vec<f64> = (0..14).map(|queue| if queue < ones { 1.0 } else { 0.0 }).collect();
                assert!((queue_price(scheme, &prices) - ones as f64).abs() < 1e-12, "{scheme:?}: {ones}");
            }
        }
    }

    #[test]
    fn with_two_bits_the_number_of_types_matches_the_document() {
        // Paths of 30 queues, 4 bits: 40; with one bit 120.
        let types = |ecn_bits| TpmSpec { bits: 4, hops: 30, ecn_bits }.types();
        assert_eq!((types(EcnBits::Two), types(EcnBits::One)), (40, 120));
    }
}
