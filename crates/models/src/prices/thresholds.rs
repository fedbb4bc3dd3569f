//! The order of thresholds of received packets, and the intervals between thresholds.

use super::Bits;
use super::keyword::keyword;

keyword! {
    /// The order of the received thresholds.
    pub enum ProbeOrder as "order" {
        /// Each threshold is drawn independently.
        Random {
            word: "random",
            title: "random",
            help: "each threshold is drawn independently",
            source: "cui-thesis, section 5.2.2"
        },
        /// Bit-reversed counting from 1: R(1), R(2) and so on.
        PureBrc {
            word: "pure_brc",
            title: "pure BRC",
            help: "bit-reversed counting from 1: 1/2, 1/4, 3/4, 1/8 and so on",
            source: "cui-thesis, sections 5.2.2 and 5.4"
        },
        /// Bit-reversed counting from a random counter.
        RandomBrc {
            word: "random_brc",
            title: "random BRC",
            help: "bit-reversed counting from a uniformly drawn counter",
            source: "cui-thesis, section 5.4"
        },
    }
}

/// Intervals into which thresholds divide the range of prices. An estimate is the lower end of the price's interval, so that
/// errors are uniform up to the interval's width.
#[derive(Clone, Debug)]
pub(super) struct Intervals {
    /// Widths in units of the smallest, ascending, each with the mean number of such intervals.
    of: Vec<(f64, f64)>,
    unit: f64,
}

impl Intervals {
    /// After `probes` packets of bit-reversed counting from 1.
    pub(super) fn of_pure_brc(probes: u64, bits: Bits) -> Intervals {
        let thresholds = bits.thresholds() as f64;
        // K and Delta of section 5.4, while the sequence has not used all of its thresholds.
        let (whole, halved) = match probes {
            _ if probes >= bits.thresholds() as u64 - 1 => (thresholds, 0.0),
            _ => {
                let cut = 1u64 << (probes + 1).ilog2();
                (cut as f64, (probes + 1 - cut) as f64)
            }
        };
        let width = thresholds / whole;
        let of = vec![(width / 2.0, 2.0 * halved), (width, whole - halved)];
        Intervals { of, unit: 1.0 / thresholds }
    }

    /// Bit-reversed counting from a uniform counter. All starting points are enumerated: this is exact, because there are as many
    /// as thresholds.
    pub(super) fn of_random_brc(probes: u64, bits: Bits) -> Intervals {
        let thresholds = bits.thresholds();
        if probes >= thresholds as u64 {
            return Intervals { of: vec![(1.0, thresholds as f64)], unit: 1.0 / thresholds as f64 };
        }
        // No price is below 0, so that this threshold is always known.
        let mut circle = Circle::new(thresholds);
        circle.take(0, 0);
        circle.slide(0..thresholds, probes as usize, |counter| Some(bits.reversed(counter)).filter(|&slot| slot > 0));
        let lived = circle.finish(thresholds as u64);
        let mean = |lived: u64| lived as f64 / thresholds as f64;
        let of = (0..).map(f64::from).zip(lived.into_iter().map(mean)).filter(|&(_, number)| number > 0.0).collect();
        Intervals { of, unit: 1.0 / thresholds as f64 }
    }

    pub(super) fn mean(&self) -> f64 {
        self.sum(|width| width * width) * self.unit * self.unit / 2.0
    }

    pub(super) fn mean_square(&self) -> f64 {
        self.sum(|width| width * width * width) * self.unit * self.unit * self.unit / 3.0
    }

    pub(super) fn largest(&self) -> f64 {
        self.of.iter().filter(|(_, number)| *number > 0.0).fold(0.0, |largest, &(width, _)| width.max(largest)) * self.unit
    }

    /// Probability that the error exceeds `error`.
    pub(super) fn above(&self, error: f64) -> f64 {
        let error = error / self.unit;
        self.sum(|width| (width - error).max(0.0)) * self.unit
    }

    /// The `quantile` of the error.
    pub(super) fn quantile(&self, quantile: f64) -> f64 {
        let beyond = (1.0 - quantile) / self.unit;
        // Between two widths the probability of a larger error is linear: the sum over the wider intervals of their width less
        // the error.
        let (mut number, mut width_of_all) = (0.0, 0.0);
        let mut error = 0.0;
        for (at, &(width, more)) in self.of.iter().enumerate().rev() {
            number += more;
            width_of_all += more * width;
            let narrower = if at == 0 { 0.0 } else { self.of[at - 1].0 };
            error = if number > 0.0 { (width_of_all - beyond) / number } else { width };
            if number > 0.0 && error >= narrower {
                break;
            }
        }
        error.max(0.0) * self.unit
    }

    fn sum(&self, of_width: impl Fn(f64) -> f64) -> f64 {
        self.of.iter().map(|&(width, number)| number * of_width(width)).sum()
    }
}

/// Slots on a circle, some of which are taken, and the time that gaps of each length have existed.
pub(super) struct Circle {
    size: usize,
    taken: Vec<u64>,
    count: usize,
    /// For the gap that begins at a taken slot: the time since it has existed.
    since: Vec<u64>,
    /// Total lifetime, by the length of the gap.
    lived: Vec<u64>,
}

impl Circle {
    pub(super) fn new(size: usize) -> Circle {
        Circle { size, taken: vec![0; size.div_ceil(64)], count: 0, since: vec![0; size], lived: vec![0; size + 1] }
    }

    /// Takes the slots of `length` consecutive counters, from each of `starts` in turn for one unit of time. Counters without a
    /// slot have no effect.
    pub(super) fn slide(&mut self, starts: std::ops::Range<usize>, length: usize, slot_of: impl Fn(usize) -> Option<usize>) {
        for slot in (starts.start..starts.start + length).filter_map(&slot_of) {
            self.take(slot, 0);
        }
        let mut now = 0;
        for start in starts.skip(1) {
            now += 1;
            if let Some(slot) = slot_of(start + length - 1) {
                self.take(slot, now);
            }
            if let Some(slot) = slot_of(start - 1) {
                self.leave(slot, now);
            }
        }
    }

    pub(super) fn take(&mut self, slot: usize, now: u64) {
        if self.count > 0 {
            let below = self.below(slot);
            self.close(below, self.above(slot), now);
            self.since[below] = now;
        }
        self.since[slot] = now;
        self.taken[slot / 64] |= 1 << (slot % 64);
        self.count += 1;
    }

    fn leave(&mut self, slot: usize, now: u64) {
        let (below, above) = (self.below(slot), self.above(slot));
        self.close(slot, above, now);
        if self.count > 1 {
            self.close(below, slot, now);
            self.since[below] = now;
        }
        self.taken[slot / 64] &= !(1 << (slot % 64));
        self.count -= 1;
    }

    /// Total lifetime of gaps of each length.
    pub(super) fn finish(mut self, now: u64) -> Vec<u64> {
        for slot in (0..self.size).filter(|slot| self.taken[slot / 64] >> (slot % 64) & 1 == 1).collect::<Vec<_>>() {
            self.close(slot, self.above(slot), now);
        }
        self.lived
    }

    /// Ends the gap from `below` to `above`, which is the whole circle if they are equal.
    fn close(&mut self, below: usize, above: usize, now: u64) {
        let length = (above + self.size - below - 1) % self.size + 1;
        self.lived[length] += now - self.since[below];
    }

    /// The nearest taken slot below, possibly the slot itself after a full turn.
    fn below(&self, slot: usize) -> usize {
        let mut word = slot / 64;
        let mut bits = self.taken[word] & ((1 << (slot % 64)) - 1);
        while bits == 0 {
            word = if word == 0 { self.taken.len() - 1 } else { word - 1 };
            bits = self.taken[word];
        }
        word * 64 + 63 - bits.leading_zeros() as usize
    }

    fn above(&self, slot: usize) -> usize {
        let mut word = slot / 64;
        let mut bits = self.taken[word] & (u64::MAX << (slot % 64)) & !(1 << (slot % 64));
        while bits == 0 {
            word = if word + 1 == self.taken.len() { 0 } else { word + 1 };
            bits = self.taken[word];
        }
        word * 64 + bits.trailing_zeros() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::ParameterError;

    /// Mean, mean square and largest error, and the probability of a larger error than `error`, over all starts, with thresholds
    /// sorted separately for each.
    fn by_sorting(starts: impl Iterator<Item = usize>, probes: usize, bits: Bits, error: f64) -> [f64; 4] {
        let (mut sums, mut number) = ([0.0; 4], 0.0);
        let unit = 1.0 / bits.thresholds() as f64;
        for start in starts {
            let mut cuts: Vec<usize> = (start..start + probes).map(|counter| bits.reversed(counter)).collect();
            cuts.extend([0, bits.thresholds()]);
            cuts.sort_unstable();
            for width in cuts.windows(2).map(|pair| (pair[1] - pair[0]) as f64 * unit) {
                let largest = width.max(sums[2]);
                sums[0] += width * width / 2.0;
                sums[1] += width * width * width / 3.0;
                sums[2] = largest;
                sums[3] += (width - error).max(0.0);
            }
            number += 1.0;
        }
        [sums[0] / number, sums[1] / number, sums[2], sums[3] / number]
    }

    fn agree(intervals: &Intervals, expected: [f64; 4], error: f64, what: &str) {
        let found = [intervals.mean(), intervals.mean_square(), intervals.largest(), intervals.above(error)];
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{what}: {found} for {expected}");
        }
    }

    #[test]
    fn pure_and_random_brc_match_intervals_from_sorted_thresholds() -> Result<(), ParameterError> {
        for bits in [1, 2, 5, 7] {
            let bits = Bits::new("bits", bits)?;
            for probes in 0..2 * bits.thresholds() {
                let error = 0.6 / (probes + 1) as f64;
                let pure = Intervals::of_pure_brc(probes as u64, bits);
                agree(&pure, by_sorting(1..2, probes, bits, error), error, &format!("pure, {probes} of {bits:?}"));
                let random = Intervals::of_random_brc(probes as u64, bits);
                let expected = by_sorting(0..bits.thresholds(), probes, bits, error);
                agree(&random, expected, error, &format!("random, {probes} of {bits:?}"));
            }
        }
        Ok(())
    }

    #[test]
    fn no_interval_of_random_brc_exceeds_two_over_k() -> Result<(), ParameterError> {
        // Section 5.4 cites a proof; here by enumeration, for 2^10 thresholds.
        let bits = Bits::new("bits", 10)?;
        for probes in 1..1100u64 {
            let bound = 2.0 / f64::from(1u32 << (probes + 1).ilog2().min(10));
            let largest = Intervals::of_random_brc(probes, bits).largest();
            assert!(largest <= bound, "{probes}: {largest} above {bound}");
        }
        Ok(())
    }

    #[test]
    fn a_quantile_is_exceeded_with_the_complementary_probability() -> Result<(), ParameterError> {
        let bits = Bits::new("bits", 8)?;
        for probes in [0, 1, 2, 3, 5, 10, 100, 255, 300] {
            for intervals in [Intervals::of_pure_brc(probes, bits), Intervals::of_random_brc(probes, bits)] {
                for quantile in [0.0, 0.1, 0.5, 0.9, 0.99, 1.0] {
                    let error = intervals.quantile(quantile);
                    assert!((intervals.above(error) - (1.0 - quantile)).abs() < 1e-14, "{probes}, {quantile}: {error}");
                }
                assert!((intervals.quantile(1.0) - intervals.largest()).abs() < 1e-15);
            }
        }
        Ok(())
    }
}
