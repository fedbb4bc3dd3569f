//! Quantities as text with a unit: `"75 Mbps"`, `"0.3 ms"`, `"50 kB"`, `"40 %"`.
//!
//! Numbers are read exactly, as decimal fractions, and rounded to the nearest whole picosecond, bit/s or byte.

use crate::decode::{Decode, Decoder};
use crate::tree::Node;
use crate::unit_words;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use std::fmt;
use tailback_core::primitives::units;

/// A unit and its factor.
type Unit = (&'static str, u128);

/// A kind of quantity.
struct Kind {
    /// With its article.
    noun: &'static str,
    example: &'static str,
    /// The unit that a number without one most likely has.
    plain: &'static str,
    /// Units of the normalised form, largest first and ending at 1; then the other units that are accepted.
    units: &'static [Unit],
    lowest: u64,
    highest: u64,
    /// The bounds as messages show them.
    range: &'static str,
    /// Whether fractions of the smallest unit are rounded; otherwise they are an error.
    is_rounded: bool,
}

/// A quantity that is a whole number of its smallest unit.
pub(crate) trait Quantity: Decode + Copy + PartialOrd + ToString + Serialize {
    /// In picoseconds, bit/s or bytes.
    fn base(self) -> u64;
}

macro_rules! quantity {
    ($(#[doc = $doc:literal])* $name:ident($kind:ident), $(#[doc = $get_doc:literal])* $get:ident: $core:ty = $make:expr) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(u64);

        impl Default for $name {
            fn default() -> $name {
                $name($kind.lowest)
            }
        }

        impl $name {
            /// In the smallest unit.
            pub const fn new(value: u64) -> $name {
                $name(value)
            }

            $(#[doc = $get_doc])*
            pub fn $get(self) -> $core {
                $make(self.0)
            }
        }

        impl Quantity for $name {
            fn base(self) -> u64 {
                self.0
            }
        }

        impl Decode for $name {
            fn decode(node: &Node, decoder: &mut Decoder) -> Option<$name> {
                $kind.decode(node, decoder).map($name)
            }

            fn expected() -> String {
                $kind.expected()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&$kind.write(self.0))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                schemars::json_schema!({
                    "type": "string",
                    "description": $kind.expected(),
                    "pattern": pattern($kind.units.iter().map(|(unit, _)| *unit)),
                })
            }
        }
    };
}

quantity! {
    /// A span of time, 0 to 200 days.
    Duration(DURATION),
    /// As the core counts it.
    time_delta: units::TimeDelta = units::TimeDelta
}

impl Duration {
    /// Whether a text is a number with a unit of time.
    pub(crate) fn is_written(text: &str) -> bool {
        matches!(split(text), Ok((_, unit)) if DURATION.units.iter().any(|(known, _)| *known == unit))
    }

    /// A multiple, rounded to nanoseconds, at most the maximum.
    pub(crate) fn times(self, factor: f64) -> Duration {
        let nanoseconds = (self.0 as f64 * factor / 1e3).round() as u64;
        Duration(nanoseconds.saturating_mul(1000).min(DURATION.highest))
    }
}

quantity! {
    /// A bit rate, 1 bit/s to 10^15 bit/s.
    Rate(RATE),
    /// As the core counts it.
    rate: units::Rate = units::Rate
}

quantity! {
    /// A number of bytes, 0 to 10^18.
    Size(SIZE),
    /// As the core counts them.
    bytes: u64 = std::convert::identity
}

const PER_SECOND: u128 = 1_000_000_000_000;

const DURATION: Kind = Kind {
    noun: "a duration",
    example: "10 ms",
    plain: "s",
    units: &[
        ("s", PER_SECOND),
        ("ms", PER_SECOND / 1_000),
        ("us", PER_SECOND / 1_000_000),
        ("ns", 1_000),
        ("ps", 1),
        ("min", 60 * PER_SECOND),
        ("h", 3600 * PER_SECOND),
        ("µs", PER_SECOND / 1_000_000),
    ],
    lowest: 0,
    highest: 200 * 86_400 * PER_SECOND as u64,
    range: "0 s to 200 days (4800 h)",
    is_rounded: true,
};

const RATE: Kind = Kind {
    noun: "a rate",
    example: "10 Mbps",
    plain: "bps",
    units: &[
        ("Tbps", 1_000_000_000_000),
        ("Gbps", 1_000_000_000),
        ("Mbps", 1_000_000),
        ("kbps", 1_000),
        ("bps", 1),
        ("Tbit/s", 1_000_000_000_000),
        ("Gbit/s", 1_000_000_000),
        ("Mbit/s", 1_000_000),
        ("kbit/s", 1_000),
        ("bit/s", 1),
    ],
    lowest: 1,
    highest: 1_000_000_000_000_000,
    range: "1 bps to 1000 Tbps",
    is_rounded: true,
};

const SIZE: Kind = Kind {
    noun: "a size",
    example: "1500 B",
    plain: "B",
    units: &[
        ("TB", 1_000_000_000_000),
        ("GB", 1_000_000_000),
        ("MB", 1_000_000),
        ("kB", 1_000),
        ("B", 1),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
    ],
    lowest: 0,
    highest: 1_000_000_000_000_000_000,
    range: "0 B to 1000000 TB",
    // A fraction of a byte is a typing error.
    is_rounded: false,
};

/// Numbers from this on are hard to read without decimals.
const LONGEST: u128 = 1_000_000_000;

impl Kind {
    /// The noun, an example and every accepted unit, smallest first.
    fn expected(&self) -> String {
        format!("{} such as `{}` ({})", self.noun, self.example, self.accepted().join(", "))
    }

    fn accepted(&self) -> Vec<&'static str> {
        let mut sorted = self.units.to_vec();
        sorted.sort_by_key(|(_, factor)| *factor);
        units(&sorted)
    }

    fn decode(&self, node: &Node, decoder: &mut Decoder) -> Option<u64> {
        let fault = match node {
            Node::Integer(_) => Fault::NoUnit,
            Node::Float(number) if number.is_finite() => Fault::NoUnit,
            Node::Text(text) => match read(text, self.units) {
                Ok(value) if value < u128::from(self.lowest) || value > u128::from(self.highest) => Fault::OutOfRange,
                Ok(value) if !self.is_rounded && !is_exact(text, self.units) => Fault::Fraction(value as u64),
                Ok(value) => return Some(value as u64),
                Err(fault) => fault,
            },
            _ => Fault::NotANumber,
        };
        let noun = self.noun;
        let predicate = match &fault {
            Fault::NotANumber => format!("is not {noun}"),
            Fault::Negative => "is negative".into(),
            Fault::NoUnit => "has no unit".into(),
            Fault::UnknownUnit(unit) => format!("has an unknown unit: `{}`", unit.escape_debug()),
            Fault::OutOfRange => "is out of range".into(),
            Fault::Fraction(_) => "is not a whole number of bytes".into(),
        };
        let problem = decoder.wrong(predicate).given(node.to_string());
        if let Node::Text(text) = node
            && matches!(fault, Fault::UnknownUnit(_) | Fault::NotANumber)
            && let Some(hint) = unit_words::of_notation(text)
        {
            problem.expected(self.expected()).hint(hint);
            return None;
        }
        match &fault {
            Fault::OutOfRange => problem.expected(self.range),
            Fault::Fraction(nearest) => problem.expected(format!("whole bytes, such as `{}`", self.write((*nearest).max(1)))),
            Fault::UnknownUnit(unit) if unit == "KB" => {
                problem.expected(self.expected()).hint("`kB` is 1000 bytes, `KiB` is 1024 bytes")
            }
            Fault::UnknownUnit(unit) => {
                problem.nearest(unit, &units(self.units)).expected(self.expected());
                problem.hint_if(unit_words::of_unit(node, unit, self.plain, &self.accepted()))
            }
            Fault::NoUnit => problem.expected(self.expected()).hint_if(unit_words::of_number(node, self.plain)),
            _ => problem.expected(self.expected()),
        };
        None
    }

    /// Writes a value in the largest unit in which it is a whole number; a longer one with decimals.
    fn write(&self, value: u64) -> String {
        let fits = |unit: &&Unit| match value {
            0 => self.example.ends_with(&format!(" {}", unit.0)),
            _ => u128::from(value) % unit.1 == 0,
        };
        let (unit, factor) = self.units.iter().find(fits).copied().unwrap_or(("", 1));
        let whole = u128::from(value) / factor;
        if whole < LONGEST || !self.is_rounded {
            return format!("{whole} {unit}");
        }
        let (unit, factor) = self.units.iter().find(|unit| unit.1 <= u128::from(value)).copied().unwrap_or((unit, factor));
        let digits = factor.ilog10() as usize;
        let decimals = format!("{:0digits$}", u128::from(value) % factor);
        format!("{}.{} {unit}", u128::from(value) / factor, decimals.trim_end_matches('0'))
    }
}

fn units(units: &[Unit]) -> Vec<&'static str> {
    units.iter().map(|(unit, _)| *unit).collect()
}

/// Why a text is not a quantity.
#[derive(Debug, PartialEq)]
enum Fault {
    NotANumber,
    Negative,
    NoUnit,
    UnknownUnit(String),
    OutOfRange,
    /// The nearest whole number of bytes.
    Fraction(u64),
}

/// The value of a text in the smallest unit, rounded half up.
fn read(text: &str, units: &[Unit]) -> Result<u128, Fault> {
    let (number, unit) = split(text)?;
    let Some(&(_, factor)) = units.iter().find(|(name, _)| *name == unit) else {
        return Err(if unit.is_empty() { Fault::NoUnit } else { Fault::UnknownUnit(unit.into()) });
    };
    number.times(factor).ok_or(Fault::OutOfRange)
}

/// Whether a text is a whole number of the smallest unit.
fn is_exact(text: &str, units: &[Unit]) -> bool {
    let Ok((Decimal { digits, power }, unit)) = split(text) else { return false };
    let factor = units.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
    let digits = factor.and_then(|factor| digits.checked_mul(factor));
    digits.is_some_and(|digits| Decimal { digits, power }.is_whole())
}

/// `digits * 10^power`.
struct Decimal {
    digits: u128,
    power: i32,
}

impl Decimal {
    fn is_whole(&self) -> bool {
        let places = self.power.min(0).unsigned_abs();
        // The scale does not fit into 128 bits, so that only zero is whole.
        10_u128.checked_pow(places).map_or(self.digits == 0, |scale| self.digits.is_multiple_of(scale))
    }

    /// Rounded half up to a whole number; `None` if that does not fit.
    fn times(&self, factor: u128) -> Option<u128> {
        if self.digits == 0 {
            return Some(0);
        }
        let product = self.digits.checked_mul(factor)?;
        let scale = 10_u128.checked_pow(self.power.unsigned_abs());
        match (self.power >= 0, scale) {
            (true, scale) => product.checked_mul(scale?),
            (false, Some(scale)) => Some(product / scale + u128::from(product % scale >= scale.div_ceil(2))),
            // More decimal places than 128 bits hold: the number rounds to zero.
            (false, None) => Some(0),
        }
    }
}

/// Splits a text into its number and its unit, with at most one space between them. The number may have a fraction and an exponent.
fn split(text: &str) -> Result<(Decimal, &str), Fault> {
    let count = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    if let Some(rest) = text.strip_prefix('-') {
        return Err(if count(rest) > 0 { Fault::Negative } else { Fault::NotANumber });
    }
    let (whole, mut rest) = text.split_at(count(text));
    if whole.is_empty() {
        return Err(Fault::NotANumber);
    }
    let mut fraction = "";
    if let Some(after) = rest.strip_prefix('.') {
        (fraction, rest) = after.split_at(count(after));
        if fraction.is_empty() {
            return Err(Fault::NotANumber);
        }
    }
    let mut exponent = 0;
    if let Some(after) = rest.strip_prefix(['e', 'E']) {
        let sign = usize::from(after.starts_with(['+', '-']));
        let digits = count(&after[sign..]);
        // Without digits, the letter begins a unit.
        if digits > 0 {
            exponent = after[..sign + digits].parse().map_err(|_| Fault::OutOfRange)?;
            rest = &after[sign + digits..];
        }
    }
    // Places beyond 24 are below any unit's rounding.
    let fraction = &fraction[..fraction.len().min(24)];
    let digits = format!("{whole}{fraction}").parse().map_err(|_| Fault::OutOfRange)?;
    let power = i32::checked_sub(exponent, fraction.len() as i32).ok_or(Fault::OutOfRange)?;
    Ok((Decimal { digits, power }, rest.strip_prefix(' ').unwrap_or(rest)))
}

/// The error of a text that is not a quantity.
pub(crate) struct Complaint<'t> {
    /// Continues a clause that begins with the key.
    pub predicate: String,
    /// The unit, if it is unknown.
    pub unit: Option<&'t str>,
    /// The valid range, if the unit is known.
    pub range: Option<&'static str>,
}

/// The error of a text that cannot be read in any of these units; each unit with its range.
pub(crate) fn complaint<'t>(text: &'t str, noun: &str, ranges: &[(&str, &'static str)]) -> Complaint<'t> {
    let range = ranges.iter().find(|(unit, _)| text.ends_with(unit)).map(|&(_, range)| range);
    let (predicate, unit, range) = match split(text) {
        Ok((_, "")) => ("has no unit".into(), None, None),
        Ok((number, unit)) if ranges.iter().any(|(known, _)| *known == unit) => {
            let predicate = if unit == "%" || number.is_whole() { "is out of range" } else { "is not a whole number" };
            (predicate.into(), None, range)
        }
        Ok((_, unit)) => (format!("has an unknown unit: `{}`", unit.escape_debug()), Some(unit), None),
        Err(Fault::Negative) => ("is negative".into(), None, None),
        Err(Fault::OutOfRange) => ("is out of range".into(), None, range),
        Err(_) => (format!("is not {noun}"), None, None),
    };
    Complaint { predicate, unit, range }
}

/// The pattern of a JSON Schema for numbers with one of these units.
pub(crate) fn pattern<'a>(units: impl Iterator<Item = &'a str>) -> String {
    let units: Vec<&str> = units.collect();
    format!(r"^[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)? ?({})$", units.join("|"))
}

/// A quantity in the unit of column names, such as 0.02 and `s` for `"20 ms"`; `None` if the text is not a quantity.
pub fn in_column_units(text: &str) -> Option<(f64, &'static str)> {
    let kinds: [(&[Unit], f64, &'static str); 5] = [
        (DURATION.units, PER_SECOND as f64, "s"),
        (RATE.units, 1.0, "bps"),
        (SIZE.units, 1.0, "bytes"),
        (PACKET_UNITS, 1.0, "packets"),
        (CELL_UNITS, 1.0, "cells"),
    ];
    let found = kinds.into_iter().find_map(|(units, per, unit)| Some((read(text, units).ok()? as f64 / per, unit)));
    found.or_else(|| Percent::number(text).map(|number| (number, "percent")))
}

/// A number of packets, written `"100 packets"`.
pub(crate) fn packets(text: &str) -> Option<u64> {
    count(text, PACKET_UNITS)
}

/// A number of cells, written `"1200 cells"`.
pub(crate) fn cells(text: &str) -> Option<u64> {
    count(text, CELL_UNITS)
}

fn count(text: &str, units: &[Unit]) -> Option<u64> {
    split(text).ok().filter(|(number, _)| number.is_whole())?;
    read(text, units).ok().filter(|&count| count <= MAX_UNITS).map(|count| count as u64)
}

pub(crate) const PACKET_UNITS: &[Unit] = &[("packets", 1), ("packet", 1)];
pub(crate) const CELL_UNITS: &[Unit] = &[("cells", 1), ("cell", 1)];
const MAX_UNITS: u128 = 1_000_000_000_000;

/// A percentage, written `"40 %"`, at most 100000 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Percent(f64);

impl Percent {
    pub(crate) fn read(text: &str) -> Option<Percent> {
        Percent::number(text).filter(|number| (0.0..=100_000.0).contains(number)).map(Percent)
    }

    /// The number of a percentage, whatever its size.
    pub(crate) fn number(text: &str) -> Option<f64> {
        let number = text.strip_suffix('%')?;
        match split(text) {
            Ok(_) | Err(Fault::OutOfRange) => number.trim_end().parse().ok(),
            Err(_) => None,
        }
    }

    /// 0.4 for 40 %.
    pub fn share(self) -> f64 {
        self.0 / 100.0
    }

    /// 480 for 40 % of 1200: the nearest whole number, the larger of two.
    pub fn of(self, whole: u64) -> u64 {
        (self.0 * whole as f64 / 100.0).round() as u64
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} %", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantities_are_numbers_in_the_units_of_columns() {
        assert_eq!(in_column_units("20 ms"), Some((0.02, "s")));
        assert_eq!(in_column_units("1.5 Gbps"), Some((1.5e9, "bps")));
        assert_eq!(in_column_units("2 KiB"), Some((2048.0, "bytes")));
        assert_eq!(in_column_units("1 packet"), Some((1.0, "packets")));
        assert_eq!(in_column_units("900 cells"), Some((900.0, "cells")));
        assert_eq!(in_column_units("12.5 %"), Some((12.5, "percent")));
        assert_eq!(["reno", "12", "12 miles", "", "nan %"].map(in_column_units), [None; 5]);
    }

    #[test]
    fn decimal_fractions_are_exact() {
        // 0.3 is not a binary fraction; 0.3 ms is exactly 300,000,000 ps all the same.
        assert_eq!(read("0.3 ms", DURATION.units), Ok(300_000_000));
        assert_eq!(read("155.52Mbps", RATE.units), Ok(155_520_000));
        assert_eq!(read("1.5e3 kbit/s", RATE.units), Ok(1_500_000));
        assert_eq!(read("50 kB", SIZE.units), Ok(50_000));
        assert_eq!(read("50 KiB", SIZE.units), Ok(51_200));
        assert_eq!(read("0.5 ps", DURATION.units), Ok(1));
        assert_eq!(read("0.49 ps", DURATION.units), Ok(0));
        assert_eq!(read("1e-999 s", DURATION.units), Ok(0));
    }

    #[test]
    fn long_numbers_have_decimals() {
        assert_eq!(DURATION.write(27_158_562_171), "27.158562171 ms");
        assert_eq!(DURATION.write(3_000_000_000_001), "3.000000000001 s");
        assert_eq!(DURATION.write(999_999_999), "999999999 ps");
        assert_eq!(RATE.write(1_234_567_891), "1.234567891 Gbps");
        assert_eq!(SIZE.write(1_234_567_891), "1234567891 B");
    }

    #[test]
    fn fractions_of_the_smallest_unit_are_detected() {
        for text in ["1000 B", "1.5 kB", "1.5e3 B", "2.5 KiB", "0.000 B", "1000.0 B", "1e-30 TB"] {
            assert_eq!(is_exact(text, SIZE.units), text != "1e-30 TB", "{text}");
        }
        assert!(["0.5 B", "1.0005 kB", "1.1 KiB", "1e-3 B"].iter().all(|text| !is_exact(text, SIZE.units)));
    }

    #[test]
    fn every_accepted_unit_is_listed() {
        assert_eq!(DURATION.expected(), "a duration such as `10 ms` (ps, ns, us, µs, ms, s, min, h)");
        assert_eq!(RATE.accepted(), ["bps", "bit/s", "kbps", "kbit/s", "Mbps", "Mbit/s", "Gbps", "Gbit/s", "Tbps", "Tbit/s"]);
        assert_eq!(SIZE.accepted(), ["B", "kB", "KiB", "MB", "MiB", "GB", "GiB", "TB", "TiB"]);
    }

    #[test]
    fn faults_are_distinguished() {
        assert_eq!(read("10", RATE.units), Err(Fault::NoUnit));
        assert_eq!(read("10 Mps", RATE.units), Err(Fault::UnknownUnit("Mps".into())));
        assert_eq!(read("10  Mbps", RATE.units), Err(Fault::UnknownUnit(" Mbps".into())));
        assert_eq!(read("-10 Mbps", RATE.units), Err(Fault::Negative));
        assert_eq!(read("1e99 Mbps", RATE.units), Err(Fault::OutOfRange));
        assert_eq!(read(&format!("{} s", "9".repeat(500)), DURATION.units), Err(Fault::OutOfRange));
        for text in ["", "Mbps", "nan s", "inf s", "- 1 s", "1. s", ".5 s", "+1 s"] {
            assert_eq!(read(text, DURATION.units), Err(Fault::NotANumber), "{text}");
        }
    }

    #[test]
    fn values_are_written_in_the_largest_whole_unit() {
        assert_eq!(Duration::new(100_000_000_000).to_string(), "100 ms");
        assert_eq!(Duration::new(0).to_string(), "0 ms");
        assert_eq!(Rate::new(155_520_000).to_string(), "155520 kbps");
        assert_eq!(Size::new(1500).to_string(), "1500 B");
    }

    #[test]
    fn percentages_are_shares_of_a_hundred() {
        assert_eq!(Percent::read("40 %").map(Percent::share), Some(0.4));
        assert_eq!(Percent::read("0.5%").map(Percent::share), Some(0.005));
        assert_eq!(Percent::read("40"), None);
        assert_eq!(Percent::read("1e30 %"), None);
        assert_eq!(Percent::number("1e30 %"), Some(1e30));
        assert_eq!(Percent::number("40 x%"), None);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(value in 0..=DURATION.highest) {
            prop_assert_eq!(read(&DURATION.write(value), DURATION.units), Ok(u128::from(value)));
            prop_assert_eq!(read(&SIZE.write(value), SIZE.units), Ok(u128::from(value)));
        }

        #[test]
        fn no_text_makes_it_panic(text in ".{0,40}", number in "[0-9.eE+-]{0,12}", unit in "[a-zA-Z %]{0,5}") {
            let _ = read(&text, DURATION.units);
            let _ = Percent::read(&text);
            let _ = read(&format!("{number}{unit}"), SIZE.units);
            let _ = Percent::read(&format!("{number}{unit}"));
        }
    }
}
