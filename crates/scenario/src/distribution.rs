//! How a quantity varies over the flows of a group.

use crate::decode::{Decode, Decoder};
use crate::problem::listed;
use crate::quantity::Quantity;
use crate::tree::Node;
use crate::values::real;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::json;
use tailback_core::primitives::math;
use tailback_core::primitives::random::Stream;

/// One value per flow. The random ones draw from the flow's own stream, so that adding a flow changes no other's draw.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Distribution<Q> {
    /// Uniform between two bounds.
    Uniform(Q, Q),
    /// Spread evenly between two bounds without chance: flow `i` of `n` gets `low + (high - low) (i + 1/2) / n`.
    Evenly(Q, Q),
    /// With this mean.
    Exponential(Q),
    Pareto {
        mean: Q,
        /// Above 1, so that there is a mean.
        shape: f64,
    },
    Lognormal {
        median: Q,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// The same for all.
    #[serde(untagged)]
    Fixed(Q),
    /// One for each flow in turn.
    #[serde(untagged)]
    List(Vec<Q>),
}

const WORDS: &[&str] = &["uniform", "evenly", "exponential", "pareto", "lognormal"];

/// A flow among those of its group.
#[derive(Clone, Copy)]
pub(crate) struct Nth {
    pub index: u64,
    pub count: u64,
}

impl<Q> Distribution<Q> {
    /// The value of a flow, in the smallest unit.
    pub(crate) fn draw(&self, flow: Nth, stream: impl FnOnce() -> Stream) -> u64
    where
        Q: Quantity,
    {
        let between = |low: Q, high: Q, share: f64| low.base() + ((high.base() - low.base()) as f64 * share) as u64;
        match *self {
            Distribution::Fixed(value) => value.base(),
            Distribution::List(ref values) => values.get(flow.index as usize).map_or(0, |value| value.base()),
            Distribution::Evenly(low, high) => between(low, high, (flow.index as f64 + 0.5) / flow.count as f64),
            Distribution::Uniform(low, high) => between(low, high, stream().uniform(0)),
            Distribution::Exponential(mean) => (mean.base() as f64 * -math::ln(1.0 - stream().uniform(0))) as u64,
            Distribution::Pareto { mean, shape } => {
                // By inversion: lowest * (1 - u)^(-1/shape), with the lowest value that gives the mean.
                let lowest = mean.base() as f64 * (shape - 1.0) / shape;
                (lowest * math::exp(-math::ln(1.0 - stream().uniform(0)) / shape)) as u64
            }
            Distribution::Lognormal { median, sigma } => {
                // Box and Muller, Annals of Mathematical Statistics 29(2), 1958.
                let stream = stream();
                let radius = (-2.0 * math::ln(1.0 - stream.uniform(0))).sqrt();
                let normal = radius * math::cos(std::f64::consts::TAU * stream.uniform(1));
                (median.base() as f64 * math::exp(sigma * normal)) as u64
            }
        }
    }
}

impl<Q: Default> Default for Distribution<Q> {
    fn default() -> Distribution<Q> {
        Distribution::Fixed(Q::default())
    }
}

impl<Q: Quantity> Decode for Distribution<Q> {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Distribution<Q>> {
        match node {
            Node::List(_) => Vec::decode(node, decoder).map(Distribution::List),
            Node::Table(_) => {
                let (word, value) = decoder.variant::<Self>(node, WORDS)?;
                decoder.inside(word, |decoder| match word {
                    "uniform" => decoder.pair(value).map(|(low, high)| Distribution::Uniform(low, high)),
                    "evenly" => decoder.pair(value).map(|(low, high)| Distribution::Evenly(low, high)),
                    "exponential" => Q::decode(value, decoder).map(Distribution::Exponential),
                    "pareto" => shaped(value, ["mean", "shape"], SHAPES, decoder)
                        .map(|(mean, shape)| Distribution::Pareto { mean, shape }),
                    _ => shaped(value, ["median", "sigma"], SIGMAS, decoder)
                        .map(|(median, sigma)| Distribution::Lognormal { median, sigma }),
                })
            }
            _ => Q::decode(node, decoder).map(Distribution::Fixed),
        }
    }

    fn expected() -> String {
        format!("{}, a list of one per flow, or a table with {}", Q::expected(), listed(WORDS))
    }
}

/// Below 1.01 a mean would take more flows than there are to be seen.
const SHAPES: (f64, f64) = (1.01, 100.0);
const SIGMAS: (f64, f64) = (0.0, 10.0);

/// A table of a quantity and a number.
fn shaped<Q: Quantity>(node: &Node, keys: [&'static str; 2], bounds: (f64, f64), decoder: &mut Decoder) -> Option<(Q, f64)> {
    let expected = format!("a number from {} to {}", bounds.0, bounds.1);
    let Node::Table(entries) = node else {
        decoder
            .fault("a table is needed")
            .given(node.to_string())
            .expected(format!("a table with `{}` and `{}`", keys[0], keys[1]));
        return None;
    };
    decoder.unknown_keys(entries.keys(), &keys);
    let [quantity, number] = keys.map(|key| {
        let found = entries.get(key);
        if found.is_none() {
            decoder.inside(key, |decoder| decoder.fault(format!("`{key}` is missing")).line);
        }
        found
    });
    let quantity = quantity.and_then(|node| decoder.inside(keys[0], |decoder| Q::decode(node, decoder)));
    let number = number.and_then(|node| decoder.inside(keys[1], |decoder| real(node, bounds.0..=bounds.1, &expected, decoder)));
    Some((quantity?, number?))
}

impl<Q: Quantity> JsonSchema for Distribution<Q> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("{}Distribution", Q::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let quantity = generator.subschema_for::<Q>();
        let pair = json!({"type": "array", "items": quantity, "minItems": 2, "maxItems": 2});
        let shaped = |names: [&str; 2], (low, high): (f64, f64)| {
            json!({
                "type": "object",
                "properties": {names[0]: quantity, names[1]: {"type": "number", "minimum": low, "maximum": high}},
                "required": names,
                "additionalProperties": false,
            })
        };
        let shapes = [
            ("uniform", pair.clone()),
            ("evenly", pair),
            ("exponential", json!(quantity)),
            ("pareto", shaped(["mean", "shape"], SHAPES)),
            ("lognormal", shaped(["median", "sigma"], SIGMAS)),
        ];
        let tables = shapes.map(|(word, shape)| {
            json!({"type": "object", "properties": {word: shape}, "required": [word], "additionalProperties": false})
        });
        let plain = [json!(quantity), json!({"type": "array", "items": quantity})];
        let all: Vec<_> = plain.into_iter().chain(tables).collect();
        schemars::json_schema!({"description": "One value per flow: the same for all, a list, or drawn.", "anyOf": all})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Size;
    use tailback_core::primitives::random::{Entity, Purpose};

    const FLOWS: u64 = 100_000;

    fn draws(distribution: &Distribution<Size>) -> Vec<f64> {
        let draw = |index| {
            distribution.draw(Nth { index, count: FLOWS }, || Stream::new(Entity { seed: 1, name: "web", index }, Purpose::Size))
                as f64
        };
        (0..FLOWS).map(draw).collect()
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len() as f64
    }

    #[test]
    fn evenly_spread_values_are_the_middles_of_equal_parts() {
        let evenly = Distribution::Evenly(Size::new(100), Size::new(200));
        let values: Vec<u64> = (0..4).map(|index| evenly.draw(Nth { index, count: 4 }, || unreachable!())).collect();
        assert_eq!(values, [112, 137, 162, 187]);
    }

    /// Within five standard errors of what the formulas say.
    #[test]
    fn random_draws_have_their_means() {
        let error = |deviation: f64| 5.0 * deviation / (FLOWS as f64).sqrt();
        let uniform = draws(&Distribution::Uniform(Size::new(1_000_000), Size::new(3_000_000)));
        assert!((mean(&uniform) - 2e6).abs() < error(2e6 / 12_f64.sqrt()));
        let exponential = draws(&Distribution::Exponential(Size::new(1_000_000)));
        assert!((mean(&exponential) - 1e6).abs() < error(1e6));
        // Variance of a Pareto distribution with mean m and shape a: m^2 / (a (a - 2)).
        let pareto = draws(&Distribution::Pareto { mean: Size::new(1_000_000), shape: 3.0 });
        assert!((mean(&pareto) - 1e6).abs() < error(1e6 / 3_f64.sqrt()));
        assert!(pareto.iter().all(|&value| value >= 666_666.0));
    }

    #[test]
    fn half_of_the_lognormal_draws_lie_below_the_median() {
        let lognormal = draws(&Distribution::Lognormal { median: Size::new(1_000_000), sigma: 1.0 });
        let below = lognormal.iter().filter(|&&value| value < 1e6).count() as f64;
        assert!((below / FLOWS as f64 - 0.5).abs() < 5.0 * 0.5 / (FLOWS as f64).sqrt());
        // 15.9 % lie above e times the median.
        let above = lognormal.iter().filter(|&&value| value > 1e6 * std::f64::consts::E).count() as f64;
        assert!((above / FLOWS as f64 - 0.158_655).abs() < 5.0 * 0.365 / (FLOWS as f64).sqrt());
    }
}
