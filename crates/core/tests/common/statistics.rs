//! Confidence intervals over seeds.

/// The seeds of every test of a random quantity, fixed in advance.
pub const SEEDS: std::ops::RangeInclusive<u64> = 1..=30;

/// The two-sided 99.9 % point of Student's t with 29 degrees of freedom.
const T: f64 = 3.659;

/// A 99.9 % confidence interval of a mean.
#[derive(Clone, Copy, Debug)]
pub struct Interval {
    pub mean: f64,
    pub half_width: f64,
}

impl Interval {
    /// From one value per seed.
    pub fn of(values: &[f64]) -> Interval {
        assert_eq!(values.len(), SEEDS.count(), "one value per seed");
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (n - 1.0);
        Interval { mean, half_width: T * (variance / n).sqrt() }
    }

    /// Assert that the interval contains `expected` and is narrow enough to be meaningful: its half-width is less than `share` of the
    /// expected value.
    #[track_caller]
    pub fn assert_holds(&self, what: &str, expected: f64, share: f64) {
        let Interval { mean, half_width } = self;
        assert!(*half_width < share * expected, "{what}: half-width {half_width:e} is not below {share} of {expected}");
        assert!((mean - expected).abs() <= *half_width, "{what}: {expected} is not in {mean} +- {half_width:e}");
    }
}
