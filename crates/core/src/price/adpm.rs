//! ADPM, adaptive deterministic packet marking. Each packet tests whether the price exceeds a threshold that is derived from the packet's
//! identification, so the marks narrow down the largest price of the path (Andrew, Hanly, Chan and Cui, "Adaptive deterministic packet
//! marking", IEEE Communications Letters 10(11), 2006; cui-thesis section 5.2.1).

use super::support::{Combination, QueuePrice, Scheme};
use crate::primitives::random::Draws;
use crate::primitives::signal::Probe;
use crate::settings::{Kind, PlainWords, Settings, member, words};
use serde::{Deserialize, Serialize};

words! {
    /// Function that maps the 16 identification bits of a probe, A + 256 B, to a threshold between 0 and 1.
    pub enum Thresholds ("threshold function") {
        /// Bit reversal of (A xor B) + 256 A. Thresholds are spread evenly both for senders that count in the low byte and for senders that
        /// swap the bytes and count in the high byte.
        ExclusiveOr = "exclusive_or",
        /// Bit reversal of A + 256 (A xor B), as printed (cui-thesis section 5.2.2). For senders that swap bytes, 256 consecutive packets
        /// have thresholds in the same 256th of the range.
        Printed = "printed",
        /// Bit reversal of the identification: bit-reversed counting for senders that count in the low byte.
        Reversal = "reversal",
    }
}

words! {
    /// The receiver's price estimate before the first probe.
    pub enum InitialEstimate ("initial estimate") {
        /// 0, as in the document's figures. Sources start as if the path were not congested.
        Min = "min",
        /// 1, which has the same mean error. Sources start slowly.
        Max = "max",
    }
}

/// The ADPM scheme.
#[derive(Clone, Copy, Debug)]
pub struct Adpm;

member! {
    /// Adaptive deterministic packet marking: each packet tests whether the price exceeds its threshold. Reports the largest price of the
    /// path.
    Adpm = "adpm", "cui-thesis section 5.2.1";

    pub struct AdpmSpec {
        /// Function that maps a packet's identification to its threshold.
        thresholds: Thresholds = Thresholds::ExclusiveOr => Kind::Words(&Thresholds::WORDS),
        /// The receiver's price estimate before the first probe.
        initial_estimate: InitialEstimate = InitialEstimate::Min => Kind::Words(&InitialEstimate::WORDS),
    }
}

impl Settings for AdpmSpec {
    fn samples() -> Vec<AdpmSpec> {
        let usual = AdpmSpec::default();
        let by_thresholds = Thresholds::ALL.iter().map(|&thresholds| AdpmSpec { thresholds, ..usual });
        by_thresholds.chain([AdpmSpec { initial_estimate: InitialEstimate::Max, ..usual }]).collect()
    }
}

/// The price estimate in units of 1/65536.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdpmEstimate(u16);

const THRESHOLDS: f64 = 65_536.0;

impl AdpmSpec {
    /// Threshold of a probe (i), in units of 1/65536.
    fn threshold(&self, identification: u16) -> u16 {
        let [low, high] = identification.to_le_bytes();
        let ordered = match self.thresholds {
            Thresholds::ExclusiveOr => [low ^ high, low],
            Thresholds::Printed => [low, low ^ high],
            Thresholds::Reversal => [low, high],
        };
        u16::from_le_bytes(ordered).reverse_bits()
    }
}

impl Scheme for AdpmSpec {
    type Estimator = AdpmEstimate;
    const COMBINES: Option<Combination> = Some(Combination::Largest);
    const USES_IDENTIFICATION: bool = true;

    fn resolution(&self) -> f64 {
        THRESHOLDS
    }

    fn begin(&self) -> AdpmEstimate {
        AdpmEstimate(if self.initial_estimate == InitialEstimate::Max { u16::MAX } else { 0 })
    }

    fn mark(&self, probe: &mut Probe, price: QueuePrice, _: &mut Draws) {
        if price.0 * THRESHOLDS > f64::from(self.threshold(probe.identification)) {
            probe.mark = 1;
        }
    }

    fn learn(&self, estimator: &mut AdpmEstimate, probe: &Probe) {
        let threshold = self.threshold(probe.identification);
        // A marked probe means that the price exceeds the threshold, an unmarked probe that it does not.
        if probe.is_marked() == (threshold > estimator.0) {
            estimator.0 = threshold;
        }
    }

    fn estimate(&self, estimator: &AdpmEstimate) -> f64 {
        f64::from(estimator.0) / THRESHOLDS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thresholds(of: Thresholds, identifications: impl Iterator<Item = u16>) -> Vec<u16> {
        identifications
            .map(|identification| AdpmSpec { thresholds: of, ..AdpmSpec::default() }.threshold(identification))
            .collect()
    }

    #[test]
    fn bit_reversed_counting_repeatedly_halves_the_largest_gap() {
        // R(1) = 0.1, R(2) = 0.01, R(3) = 0.11, R(4) = 0.001 in binary.
        assert_eq!(thresholds(Thresholds::Reversal, 1..5), [0x8000, 0x4000, 0xC000, 0x2000]);
        assert_eq!(thresholds(Thresholds::ExclusiveOr, 1..3), [0x8080, 0x4040]);
    }

    #[test]
    fn thresholds_are_distinct_and_only_the_printed_function_fails_for_swapped_bytes() {
        for &of in Thresholds::ALL {
            let mut all = thresholds(of, 0..=u16::MAX);
            all.sort_unstable();
            assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "{of:?}");
            // Identifications of 256 packets of a sender that counts, and of a sender that swaps the bytes of its counter.
            for (swaps, evenly) in [(false, true), (true, of == Thresholds::ExclusiveOr)] {
                let counted = (0x1200..0x1300).map(|count: u16| if swaps { count.swap_bytes() } else { count });
                let mut parts: Vec<u16> = thresholds(of, counted).into_iter().map(|threshold| threshold >> 8).collect();
                parts.sort_unstable();
                parts.dedup();
                assert_eq!(parts.len(), if evenly { 256 } else { 1 }, "{of:?}, bytes swapped: {swaps}");
            }
        }
    }

    #[test]
    fn an_estimate_moves_to_a_threshold_that_contradicts_it() {
        let scheme = AdpmSpec { thresholds: Thresholds::Reversal, ..AdpmSpec::default() };
        let mut estimate = AdpmEstimate::default();
        let mut after = |identification, is_marked| {
            scheme.learn(&mut estimate, &Probe { identification, hops: 1, mark: u8::from(is_marked) });
            scheme.estimate(&estimate)
        };
        // Above 1/2; below 3/4, which is consistent with the estimate; above 5/8; then a price that has fallen below 1/4.
        let steps = [after(1, true), after(3, false), after(5, true), after(2, false)];
        assert_eq!(steps, [0.5, 0.5, 0.625, 0.25]);
    }

    #[test]
    fn any_queue_of_the_path_marks_and_none_clears_a_mark() {
        let scheme = AdpmSpec { thresholds: Thresholds::Reversal, ..AdpmSpec::default() };
        let mut probe = Probe { identification: 1, ..Probe::default() };
        let mut marked_by = |price| {
            scheme.mark(&mut probe, QueuePrice(price), &mut Draws::default());
            probe.is_marked()
        };
        assert_eq!([marked_by(0.5), marked_by(0.51), marked_by(0.0)], [false, true, true]);
    }
}
