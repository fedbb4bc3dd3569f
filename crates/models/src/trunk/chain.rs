//! The loss of a birth-death chain, computed state by state.

/// The inverse loss, 1 / P, of a chain that ends at the current last state.
///
/// With a(i) arrivals and d(i) departures per unit time in state i, a chain up to n has loss P(n) = a(n) p(n) / sum of a(i) p(i).
/// Because a(n-1) p(n-1) = d(n) p(n), one more state gives 1 / P(n) = 1 + (d(n) / a(n)) / P(n-1): only sums and products of
/// positive numbers, so nothing cancels. The value, at least 1, can exceed floating-point range and is stored as `value * 2^(256
/// shift)`.
pub(super) struct InverseLoss {
    value: f64,
    shift: u32,
}

/// 2^256, and its inverse.
const BIG: f64 = f64::from_bits((1023 + 256) << 52);
const SMALL: f64 = f64::from_bits((1023 - 256) << 52);

impl InverseLoss {
    /// A chain of one state, which loses every packet.
    pub(super) fn of_one_state() -> InverseLoss {
        InverseLoss { value: 1.0, shift: 0 }
    }

    /// Adds a state in which there are `ratio` departures per arrival, at most 2^700.
    pub(super) fn extend(&mut self, ratio: f64) {
        self.extend_by(ratio, 1.0);
    }

    /// Changes 1/P to `ratio` / P + `plus`, which is at least 1.
    pub(super) fn extend_by(&mut self, ratio: f64, plus: f64) {
        if ratio >= BIG {
            self.value *= SMALL * SMALL;
            self.shift += 2;
        }
        let scale = match self.shift {
            0 => 1.0,
            1 => SMALL,
            _ => 0.0,
        };
        self.value = scale * plus + ratio * self.value;
        while self.value >= BIG {
            self.value *= SMALL;
            self.shift += 1;
        }
        while self.value < 1.0 && self.shift > 0 {
            self.value *= BIG;
            self.shift -= 1;
        }
    }

    pub(super) fn ln(&self) -> f64 {
        libm::log(self.value) + 256.0 * std::f64::consts::LN_2 * f64::from(self.shift)
    }

    /// Logarithm after [`extend_by`](InverseLoss::extend_by) with a ratio of 1 + `excess`, applied `states` times.
    pub(super) fn ln_extended_evenly(&self, excess: f64, plus: f64, states: u32) -> f64 {
        // With q = 1 + excess: q^n / P + plus (1 + q + ... + q^(n-1)).
        let count = f64::from(states);
        let growth = libm::log1p(excess);
        let carried = count * growth + self.ln();
        let powers = if excess == 0.0 {
            libm::log(count)
        } else if excess < 0.0 {
            libm::log(libm::expm1(count * growth) / excess)
        } else {
            count * growth + libm::log(-libm::expm1(-count * growth) / excess)
        };
        ln_sum(carried, libm::log(plus) + powers)
    }
}

/// Logarithm of the sum of two numbers given by their logarithms; minus infinity is the logarithm of 0.
fn ln_sum(one: f64, other: f64) -> f64 {
    let (max, min) = if one > other { (one, other) } else { (other, one) };
    if min == f64::NEG_INFINITY { max } else { max + libm::log1p(libm::exp(min - max)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extended(ratios: &[f64]) -> InverseLoss {
        let mut chain = InverseLoss::of_one_state();
        ratios.iter().for_each(|&ratio| chain.extend(ratio));
        chain
    }

    #[test]
    fn three_states_by_hand() {
        // Arrivals 2, 1, 1 and departures 1, 2: weights 1, 2, 1, so 1 of 2 + 2 + 1 arrivals is lost.
        assert!((extended(&[1.0, 2.0]).ln() - 5f64.ln()).abs() < 1e-15);
    }

    #[test]
    fn far_below_the_smallest_float_and_back() {
        let mut chain = InverseLoss::of_one_state();
        (0..400).for_each(|_| chain.extend(1e5));
        assert!((chain.ln() - 2000.0 * 10f64.ln()).abs() < 1e-4, "{}", chain.ln());
        (0..500).for_each(|_| chain.extend(1e-5));
        assert!((chain.ln() - 1e-5).abs() < 1e-9, "{}", chain.ln());
        assert!((extended(&[1e200, 1e200, 1e200]).ln() - 600.0 * 10f64.ln()).abs() < 1e-10);
    }

    #[test]
    fn equal_states_in_one_step_match_states_added_one_by_one() {
        for excess in [-0.5, -1e-3, -1e-12, 0.0, 1e-12, 1e-3, 2.0] {
            for states in [0, 1, 2, 50, 3000] {
                let mut one_by_one = extended(&[0.3, 7.0]);
                let at_once = one_by_one.ln_extended_evenly(excess, 1.7, states);
                (0..states).for_each(|_| one_by_one.extend_by(1.0 + excess, 1.7));
                let error = (at_once - one_by_one.ln()).abs() / at_once.max(1.0);
                assert!(error < 1e-12, "excess {excess}, {states} states: {at_once} and {}", one_by_one.ln());
            }
        }
    }
}
