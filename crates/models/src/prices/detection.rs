//! Time until a price change is detected.

use super::keyword::keyword;
use super::thresholds::{Circle, Intervals};
use super::{Bits, PriceChange, none_of};
use crate::model::{answers, arguments, models};
use crate::parameter::{Integer, ParameterError};

keyword! {
    /// Formulas for the probability that a change is not detected.
    pub enum DetectionForm as "form" {
        /// (5.4).
        Random {
            word: "random",
            title: "random",
            help: "independently drawn thresholds: (1 - a)^k",
            source: "cui-thesis, equation (5.4)"
        },
        /// The mean over all starting points of bit-reversed counting.
        Brc {
            word: "brc",
            title: "BRC",
            help: "bit-reversed counting, exact: the mean over all starting points and positions of the step",
            source: "docs/evidence/theory.md"
        },
        /// One of every 2^j packets falls in each interval of 2^-j.
        BrcDirect {
            word: "brc_direct",
            title: "BRC, direct",
            help: "max(0, 1 - a k), as if no two thresholds were closer than the step: a lower bound",
            source: "docs/evidence/theory.md"
        },
        /// (5.5) as printed.
        BrcPrinted {
            word: "brc_printed",
            title: "BRC, printed",
            help: "1 - a 2^m multiplied over m = 1 to j = floor(log2 k), as if scales were independent, and 0 from a 2^j = 1",
            source: "cui-thesis, equation (5.5)"
        },
    }
}

arguments! {
    /// A price that has left the interval in which the receiver assumes it.
    pub struct Step {
        /// a, distance of the price from the interval: p - i+ in (5.4) and (5.5).
        step: PriceChange,
        /// k, packets received since the change.
        probes: Integer,
        /// Formula.
        form: DetectionForm = "random",
        /// Bits of a threshold, for the exact form of BRC.
        bits: Bits = 16,
    }
}

answers! {
    /// Packets until the first one that contradicts the interval, that packet included.
    pub struct DetectionPackets {
        /// With random probes, 1/a.
        random: f64,
        /// With bit-reversed counting, exact.
        brc: f64,
    }
}

models! {
    /// Probability that a price step has not been detected after `probes` packets.
    ///
    /// The exact form for BRC averages over all positions of the step in 0 to 1 and over all starting points of the counter.
    pub fn adpm_undetected(step: Step) -> f64 {
        let Step { step, probes, form, bits } = step;
        let (step, count) = (step.get(), probes.get());
        match form {
            DetectionForm::Random => none_of(step, count as f64),
            // A gap between two thresholds that hides the step leaves the rest of its width as possible positions.
            DetectionForm::Brc => (Intervals::of_random_brc(count, bits).above(step) / (1.0 - step)).min(1.0),
            DetectionForm::BrcDirect => (1.0 - step * count as f64).max(0.0),
            DetectionForm::BrcPrinted => {
                let scales = count.checked_ilog2().unwrap_or(0);
                let at = |scale: u32| step * (1u64 << scale) as f64;
                if at(scales) < 1.0 { (1..=scales).map(|scale| 1.0 - at(scale)).product() } else { 0.0 }
            }
        }
    }
    quantity: "probability that ADPM has not detected a step";
    equation: "random: (1 - a)^k; BRC: sum of (w - a)+ over all intervals w between k thresholds / (1 - a), mean over all starts";
    source: "cui-thesis, equations (5.4) and (5.5); (5.5) multiplies the probabilities of single scales";
    assumes: ["BRC: uniform position of the step in 0 to 1, uniform starting point of the counter", "no packet is lost"];
    returns: "a probability.";
    example: ">>> forms = [\"random\", \"brc\", \"brc_direct\", \"brc_printed\"]\n\
        >>> [round(tb.models.adpm_undetected(step=0.1, probes=4, form=form), 3) for form in forms]\n[0.656, 0.603, 0.6, 0.48]";

    /// Mean number of packets until a price step is detected.
    pub fn adpm_detection_packets(
        /// a, distance of the price from the interval in which the receiver assumes it.
        step: PriceChange,
        /// Bits of a threshold, for BRC.
        bits: Bits = 16,
    ) -> Result<DetectionPackets, ParameterError> {
        let thresholds = bits.thresholds();
        let (covered, step) = (step.get() * thresholds as f64, step.get());
        if covered < 1.0 {
            let expected = format!("at least 2^-bits, {}: a smaller step can fall between two thresholds", 1.0 / thresholds as f64);
            return Err(ParameterError::new("step", step, expected));
        }
        // The step covers `fewer` thresholds or, for a fraction `share` of the positions, one more.
        let (fewer, share) = (covered.floor(), covered.fract());
        let mut waits = (1.0 - share) * waits(fewer as usize, bits);
        if share > 0.0 {
            waits += share * self::waits(fewer as usize + 1, bits);
        }
        Ok(DetectionPackets { random: 1.0 / step, brc: waits / (thresholds as f64 - covered) })
    }
    equation: "random: 1/a; BRC: (1 + sum of g^2 / 2^bits) / 2 over the gaps g, in packets, between probes of the step, mean over all places";
    source: "cui-thesis, section 5.2.2, which states ceil(log2(1/a)) packets and means 2 to that power";
    assumes: ["BRC: uniform position of the step in 0 to 1, uniform starting point of the counter", "no packet is lost"];
    refuses: "a step smaller than the distance between two thresholds";
    example: ">>> detected = tb.models.adpm_detection_packets(step=0.25)\n>>> detected.random, round(detected.brc, 2)\n(4.0, 2.69)";
}

/// Packets until one arrives whose threshold is one of `covered` consecutive thresholds, averaged over all counters and summed
/// over all positions of these thresholds above 0.
///
/// Ordered by counter, these thresholds have the same spacing as the thresholds of `covered` consecutive counters have in order
/// of value, because bit reversal is its own inverse.
fn waits(covered: usize, bits: Bits) -> f64 {
    let thresholds = bits.thresholds();
    let places = thresholds - covered;
    if places == 0 {
        return 0.0;
    }
    let mut circle = Circle::new(thresholds);
    circle.slide(1..places + 1, covered, |threshold| Some(bits.reversed(threshold)));
    let lived = circle.finish(places as u64);
    let squares: f64 = lived.into_iter().zip(0u64..).map(|(lived, gap)| lived as f64 * (gap * gap) as f64).sum();
    (places as f64 + squares / thresholds as f64) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn undetected(step: f64, probes: u64, form: DetectionForm, bits: u64) -> Result<f64, ParameterError> {
        let (step, bits) = (PriceChange::new("step", step)?, Bits::new("bits", bits)?);
        Ok(adpm_undetected(Step { step, probes: Integer::new(probes), form, bits }))
    }

    fn packets(step: f64, bits: u64) -> Result<DetectionPackets, ParameterError> {
        adpm_detection_packets(PriceChange::new("step", step)?, Bits::new("bits", bits)?)
    }

    /// Number of steps not detected after each number of packets, for steps whose lower end is in the middle of each of `parts`
    /// equal parts of 0 to 1 - step, and for all starting points.
    fn by_enumeration(step: f64, bits: Bits, parts: usize) -> Vec<f64> {
        let thresholds = bits.thresholds();
        let mut unnoticed = vec![0.0; thresholds + 1];
        for part in 0..parts {
            let low = (part as f64 + 0.5) / parts as f64 * (1.0 - step);
            for start in 0..thresholds {
                let hit = |&packet: &usize| {
                    let threshold = bits.reversed(start + packet) as f64 / thresholds as f64;
                    low < threshold && threshold < low + step
                };
                let first = (0..thresholds).find(hit).unwrap_or(thresholds);
                unnoticed[..=first].iter_mut().for_each(|number| *number += 1.0 / (parts * thresholds) as f64);
            }
        }
        unnoticed
    }

    #[test]
    fn brc_matches_an_enumeration_of_all_starts_and_positions() -> Result<(), ParameterError> {
        // Parts are so small that all positions in one part have the same thresholds within the step.
        for (bits, step, parts) in
            [(3, 0.25, 96), (4, 3.0 / 16.0, 13 * 4), (5, 0.5, 64), (4, 3.5 / 16.0, 25 * 4), (3, 7.0 / 8.0, 16)]
        {
            let expected = by_enumeration(step, Bits::new("bits", bits)?, parts);
            for (probes, expected) in expected.iter().enumerate() {
                let found = undetected(step, probes as u64, DetectionForm::Brc, bits)?;
                assert!((found - expected).abs() < 1e-12, "{bits}, {step}, {probes}: {found} for {expected}");
            }
            let found = packets(step, bits)?.brc;
            assert!((found - expected.iter().sum::<f64>()).abs() < 1e-12, "{bits}, {step}: {found}");
        }
        Ok(())
    }

    #[test]
    fn the_mean_number_of_packets_is_the_sum_of_undetected_probabilities() -> Result<(), ParameterError> {
        for step in [0.013, 0.1, 0.3, 0.7] {
            let all = |form| (0..4000).map(|probes| undetected(step, probes, form, 9)).sum::<Result<f64, ParameterError>>();
            let found = packets(step, 9)?;
            assert!((all(DetectionForm::Brc)? / found.brc - 1.0).abs() < 1e-12, "{step}");
            assert!((all(DetectionForm::Random)? / found.random - 1.0).abs() < 1e-12, "{step}");
            assert!(found.brc < found.random);
        }
        Ok(())
    }

    #[test]
    fn the_direct_form_is_below_the_exact_one_and_the_printed_one_below_both() -> Result<(), ParameterError> {
        for step in [0.001, 0.01, 0.03, 0.1] {
            for scale in 1..6 {
                let of = |form| undetected(step, 1 << scale, form, 12);
                let (exact, direct) = (of(DetectionForm::Brc)?, of(DetectionForm::BrcDirect)?);
                assert!(direct <= exact + 1e-12 && exact <= of(DetectionForm::Random)? + 1e-12, "{step}, {scale}");
                assert!(of(DetectionForm::BrcPrinted)? <= direct + 1e-12, "{step}, {scale}");
            }
        }
        // By hand, a = 1/16: after 8 packets 7/8 * 3/4 * 1/2 as printed, 1/2 directly.
        assert_eq!(undetected(1.0 / 16.0, 8, DetectionForm::BrcPrinted, 12)?, 0.328_125);
        assert_eq!(undetected(1.0 / 16.0, 8, DetectionForm::BrcDirect, 12)?, 0.5);
        assert_eq!(undetected(1.0 / 16.0, 16, DetectionForm::BrcPrinted, 12)?, 0.0);
        Ok(())
    }

    #[test]
    fn a_step_between_two_thresholds_is_refused_and_a_wide_one_is_not() -> Result<(), ParameterError> {
        assert!(packets(0.001, 9).is_err_and(|error| error.name == "step"));
        // All thresholds but 0 are inside the step: one packet of 512 has to wait for the next.
        assert!((packets(0.999_999, 9)?.brc - (1.0 + 1.0 / 512.0)).abs() < 1e-5);
        Ok(())
    }
}
