//! The utilisation at which the equation of a rule yields a given buffer.

use crate::root::root;

/// The largest utilisation, 0 to 1, at which `excess` is at most 0. `excess` must rise with utilisation; its arguments are the
/// utilisation and its complement to 1, which is the accurate one near 1.
///
/// Returns 1 if `excess` is at most 0 at every utilisation below 1.
pub(crate) fn largest_utilisation(excess: impl Fn(f64, f64) -> f64) -> f64 {
    let at = |logit: f64| {
        let odds = libm::exp(logit);
        (odds / (1.0 + odds), 1.0 / (1.0 + odds))
    };
    let above = |logit: f64| {
        let (utilisation, missing) = at(logit);
        excess(utilisation, missing)
    };
    // exp(-745) is the smallest number above 0, and 1 - exp(-37) is 1.
    let (min, max) = (-700.0, 37.0);
    if above(max) <= 0.0 {
        return 1.0;
    }
    if above(min) > 0.0 {
        return 0.0;
    }
    at(root(above, min, max)).0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_crossing_in_the_middle_and_near_either_end() {
        for wanted in [1e-9, 0.3, 0.9, 1.0 - 1e-12] {
            let found = largest_utilisation(|utilisation, _| utilisation - wanted);
            assert!((found / wanted - 1.0).abs() < 1e-13, "{wanted}: {found}");
        }
    }

    #[test]
    fn an_excess_that_never_or_always_exceeds_zero_gives_one_or_zero() {
        assert_eq!(largest_utilisation(|_, _| 1.0), 0.0);
        assert_eq!(largest_utilisation(|_, _| -1.0), 1.0);
    }
}
