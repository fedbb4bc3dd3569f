//! Rates that vary over time, as points with linear interpolation.

use crate::decode::{Decode, Decoder, kind};
use crate::distribution::csv_rows;
use crate::quantity::{Duration, Quantity};
use crate::record::words;
use crate::tree::Node;
use crate::values::real;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use std::borrow::Cow;

/// Factors of a rate at given times. The first time is 0 s.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct RateProfile(Vec<(Duration, f64)>);

words! {
    /// The rate after the last time of a profile.
    pub enum ProfileEnd ("end of a profile") {
        /// The profile begins again.
        Repeat = "repeat",
        /// No flow arrives.
        Stop = "stop",
    }
}

/// Maximum factor.
const MAX_FACTOR: f64 = 1e6;

/// The inverse of the integral of the factor over time.
pub(crate) struct InverseProfile {
    pieces: Vec<Piece>,
    /// The integral over all pieces.
    whole: f64,
    /// Duration of all pieces, in picoseconds.
    period: f64,
    end: ProfileEnd,
}

/// A linear part of a profile.
struct Piece {
    /// Its start, and the integral up to it.
    start: f64,
    before: f64,
    length: f64,
    first: f64,
    last: f64,
}

impl RateProfile {
    pub(crate) fn inverse(&self, end: ProfileEnd) -> InverseProfile {
        let mut inverse = InverseProfile { pieces: Vec::new(), whole: 0.0, period: 0.0, end };
        for pair in self.0.windows(2) {
            let [(from, first), (to, last)] = [pair[0], pair[1]];
            let (start, length) = (from.base() as f64, (to.base() - from.base()) as f64);
            inverse.pieces.push(Piece { start, before: inverse.whole, length, first, last });
            inverse.whole += length * (first + last) / 2.0;
            inverse.period = start + length;
        }
        inverse
    }
}

impl InverseProfile {
    /// The time in picoseconds at which the integral reaches this value; infinite if it never does.
    pub(crate) fn time_of(&self, integral: f64) -> f64 {
        let periods = (integral / self.whole).floor();
        if self.end == ProfileEnd::Stop && periods > 0.0 {
            return f64::INFINITY;
        }
        let rest = integral - periods * self.whole;
        let piece = self.pieces.partition_point(|piece| piece.before <= rest).saturating_sub(1);
        let within = self.pieces.get(piece).map_or(0.0, |piece| piece.start + piece.time_of(rest - piece.before));
        periods * self.period + within
    }
}

impl Piece {
    /// The time at which the integral from the beginning reaches this value: a root of `first t + (last - first) t^2 / (2 length)`.
    fn time_of(&self, integral: f64) -> f64 {
        let slope = (self.last - self.first) / self.length;
        let root = (self.first * self.first + 2.0 * slope * integral).max(0.0).sqrt();
        if integral <= 0.0 { 0.0 } else { (2.0 * integral / (self.first + root)).min(self.length) }
    }
}

impl Decode for RateProfile {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<RateProfile> {
        let mut before = None;
        let mut point = |[at, factor]: [&Node; 2], keys: [&str; 2], decoder: &mut Decoder| {
            let at = decoder.inside(keys[0], |decoder| {
                let at = Duration::decode(at, decoder)?;
                let complaint = match before {
                    None if at.base() != 0 => "is not 0 s in the first point",
                    Some(before) if at <= before => "is not later than in the point before",
                    _ => {
                        before = Some(at);
                        return Some(at);
                    }
                };
                decoder.wrong(complaint).given(at.to_string()).expected("ascending times from `0 s` on");
                None
            });
            let expected = format!("a number from 0 to {MAX_FACTOR}");
            let factor = decoder.inside(keys[1], |decoder| real(factor, 0.0..=MAX_FACTOR, &expected, decoder));
            Some((at?, factor?))
        };
        let points = match node {
            Node::Text(file) => csv_rows::read(file, COLUMNS, &RateProfile::expected(), decoder, |[at, factor], decoder| {
                point([&at, &csv_rows::number(&factor)], COLUMNS, decoder)
            }),
            Node::List(items) => decoder.entries(items, RateProfile::expected, |item, decoder| match item {
                Node::List(pair) if pair.len() == 2 => point([&pair[0], &pair[1]], ["[0]", "[1]"], decoder),
                _ => {
                    decoder.wrong("is not a point").given(item.to_string()).expected(RateProfile::expected());
                    None
                }
            }),
            _ => return decoder.invalid_value(node, format!("must be a list of points, not {}", kind(node))),
        }?;
        let complaint = match () {
            () if points.len() < 2 => "has fewer than two points",
            () if points.iter().all(|(_, factor)| *factor == 0.0) => "is zero at all times",
            () => return Some(RateProfile(points)),
        };
        decoder.wrong(complaint).given(format!("{} points", points.len())).expected(RateProfile::expected());
        None
    }

    fn expected() -> String {
        "a list of times and factors such as `[[\"0 h\", 0.2], [\"12 h\", 1], [\"24 h\", 0.2]]`, or the name of a CSV file with columns `at` \
         and `factor`"
            .into()
    }
}

const COLUMNS: [&str; 2] = ["at", "factor"];

impl JsonSchema for RateProfile {
    fn schema_name() -> Cow<'static, str> {
        "RateProfile".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let at = generator.subschema_for::<Duration>();
        let factor = serde_json::json!({"type": "number", "minimum": 0, "maximum": MAX_FACTOR});
        let point = serde_json::json!({"type": "array", "prefixItems": [at, factor], "minItems": 2, "maxItems": 2});
        schemars::json_schema!({
            "description": RateProfile::expected(),
            "anyOf": [{"type": "string"}, {"type": "array", "items": point, "minItems": 2}],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_integral_is_inverted_in_each_piece_and_period() {
        let points = [(0, 1.0), (10, 1.0), (20, 0.0), (30, 0.0), (40, 1.0)];
        let profile = RateProfile(points.map(|(at, factor)| (Duration::new(at), factor)).into());
        let times = |end| [0.0, 4.0, 10.0, 13.75, 16.25, 20.0, 24.0].map(|integral| profile.inverse(end).time_of(integral));
        // Integrals: 10 up to 10, 15 up to 20 and 30, and 20 in a period of 40. Half way down, 10 + 5 - 1.25 = 13.75.
        let expected = [0.0, 4.0, 10.0, 15.0, 35.0, 40.0, 44.0];
        for (time, expected) in times(ProfileEnd::Repeat).into_iter().zip(expected) {
            assert!((time - expected).abs() < 1e-9, "{time} {expected}");
        }
        assert_eq!(times(ProfileEnd::Stop)[5..], [f64::INFINITY; 2]);
        assert_eq!(times(ProfileEnd::Stop)[..5], times(ProfileEnd::Repeat)[..5]);
    }
}
