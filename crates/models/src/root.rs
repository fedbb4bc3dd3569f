//! Root finding: the zero of a continuous function.

/// The zero between `low` and `high`, accurate to the last bits. `function` must have values of opposite sign at the two ends, or
/// be zero at one of them; infinite values are allowed. Each step keeps the sign change inside the bracket, so that the search
/// cannot diverge. Where the zero is at one end and rounding has hidden the sign change, the result is the end with the smaller
/// absolute value.
///
/// Source: T. R. Chandrupatla, Advances in Engineering Software 28(3), 1997: inverse quadratic interpolation wherever the last
/// three points show that it is safe, bisection elsewhere. A kink costs a few bisections, a smooth function about eight
/// evaluations.
pub(crate) fn root(mut function: impl FnMut(f64) -> f64, low: f64, high: f64) -> f64 {
    let (mut a, mut b) = ((low, function(low)), (high, function(high)));
    if (a.1 > 0.0) == (b.1 > 0.0) && a.1 != 0.0 && b.1 != 0.0 {
        return if a.1.abs() < b.1.abs() { a.0 } else { b.0 };
    }
    let mut share: f64 = 0.5;
    while a.1 != 0.0 && b.1 != 0.0 {
        let best = if a.1.abs() < b.1.abs() { a } else { b };
        let smallest = 2.0 * f64::EPSILON * best.0.abs() / (b.0 - a.0).abs();
        if smallest.is_nan() || smallest > 0.5 {
            return best.0;
        }
        let at = a.0 + share.clamp(smallest, 1.0 - smallest) * (b.0 - a.0);
        let new = (at, function(at));
        let given_up = if (new.1 > 0.0) == (a.1 > 0.0) { a } else { std::mem::replace(&mut b, a) };
        a = new;
        share = next_share(a, b, given_up);
    }
    if a.1 == 0.0 { a.0 } else { b.0 }
}

/// Fraction of the interval from `a` to `b` at which to evaluate next; `c` is the point discarded last.
fn next_share(a: (f64, f64), b: (f64, f64), c: (f64, f64)) -> f64 {
    let place = (a.0 - b.0) / (c.0 - b.0);
    let value = (a.1 - b.1) / (c.1 - b.1);
    if value * value < place && (1.0 - value) * (1.0 - value) < 1.0 - place && c.1.is_finite() {
        a.1 / (b.1 - a.1) * c.1 / (b.1 - c.1) + (c.0 - a.0) / (b.0 - a.0) * a.1 / (c.1 - a.1) * b.1 / (c.1 - b.1)
    } else {
        0.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_smooth_zero_is_found_to_the_last_bits_in_few_evaluations() {
        let mut values = 0;
        let found = root(
            |x| {
                values += 1;
                x * x - 2.0
            },
            0.0,
            2.0,
        );
        assert!((found - 2f64.sqrt()).abs() <= 4.0 * f64::EPSILON, "{found}");
        assert!(values <= 12, "{values} values");
    }

    #[test]
    fn a_zero_hidden_by_rounding_at_an_end_is_that_end() {
        let mut values = 0;
        let above = |x: f64| {
            values += 1;
            1e-23 + (x - 1.0)
        };
        assert_eq!(root(above, 1.0, 1.0 + 1e-7), 1.0);
        assert_eq!(root(|x| (x - 1.0) - 1e-23, 1.0 - 1e-7, 1.0), 1.0);
        assert_eq!(values, 2);
    }

    #[test]
    fn a_kink_a_jump_and_an_infinite_end_are_supported() {
        let kink = root(|x| if x < 0.7 { -1e-9 * (0.7 - x) } else { x - 0.7 }, 0.0, 1.0);
        assert!((kink - 0.7).abs() < 1e-15, "{kink}");
        let jump = root(|x| if x < 0.3 { -1.0 } else { 1.0 }, 0.0, 1.0);
        assert!((jump - 0.3).abs() < 1e-15, "{jump}");
        let infinite = root(|x: f64| libm::log(x), 0.0, 3.0);
        assert!((infinite - 1.0).abs() < 1e-15, "{infinite}");
    }

    #[test]
    fn a_zero_far_smaller_than_the_bracket_is_fully_accurate() {
        let found = root(|x| x - 1e-200, 0.0, 1.0);
        assert!((found / 1e-200 - 1.0).abs() < 1e-14, "{found}");
    }

    #[test]
    fn a_zero_at_an_end_is_that_end() {
        assert_eq!(root(|x| x, 0.0, 1.0), 0.0);
        assert_eq!(root(|x| x - 1.0, 0.0, 1.0), 1.0);
    }
}
