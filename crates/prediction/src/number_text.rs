//! Numbers in text, formatted as in the Python package.

/// The number with at most `max_digits` significant digits, as Python's `g`.
pub(crate) fn digits(value: f64, max_digits: usize) -> String {
    let last = max_digits.saturating_sub(1);
    let scientific = format!("{value:.last$e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let Ok(exponent) = exponent.parse::<i32>() else {
        return scientific;
    };
    let shorter = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text.to_string(),
    };
    if exponent < -4 || exponent > last as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", shorter(mantissa), exponent.abs());
    }
    let decimals = (last as i32 - exponent).max(0) as usize;
    shorter(&format!("{value:.decimals$}"))
}

/// `64,000`.
pub(crate) fn thousands(number: u64) -> String {
    let plain = number.to_string();
    let mut text = String::new();
    for (at, digit) in plain.chars().enumerate() {
        if at > 0 && (plain.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(crate) fn packets(number: u64) -> String {
    if number == 1 { "1 packet".into() } else { format!("{} packets", thousands(number)) }
}

pub(crate) fn rate(bps: f64) -> String {
    scaled(bps, &[(1e9, "Gbps"), (1e6, "Mbps"), (1e3, "kbps"), (1.0, "bps")])
}

pub(crate) fn time(seconds: f64) -> String {
    scaled(seconds, &[(1.0, "s"), (1e-3, "ms"), (1e-6, "us")])
}

/// In the largest unit that does not exceed the value, or else in the smallest.
fn scaled(value: f64, units: &[(f64, &str)]) -> String {
    let fits = units.iter().find(|(size, _)| value >= *size).or(units.last());
    fits.map(|(size, unit)| format!("{} {unit}", digits(value / size, 4))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_formatted_as_in_python() {
        let written = [(98.0, 6), (0.833_333, 3), (1234.5, 3), (0.000_012_3, 3), (12_345_678.0, 4), (99.99, 3)];
        assert_eq!(
            written.map(|(value, max_digits)| digits(value, max_digits)),
            ["98", "0.833", "1.23e+03", "1.23e-05", "1.235e+07", "100"]
        );
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([rate(40e9), rate(0.5), time(0.1), time(1e-9)], ["40 Gbps", "0.5 bps", "100 ms", "0.001 us"]);
    }
}
