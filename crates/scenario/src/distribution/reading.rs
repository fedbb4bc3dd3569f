//! Decoding and JSON Schema of distributions.

use super::varied::Varied;
use super::workload::WORKLOADS;
use super::{Distribution, csv_column, csv_rows};
use crate::decode::{Decode, Decoder, entries};
use crate::problem::listed;
use crate::quantity::Quantity;
use crate::tree::Node;
use crate::values::real;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

impl<Q: Varied> Decode for Distribution<Q> {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Distribution<Q>> {
        match node {
            Node::List(items) => decoder.entries(items, Q::expected_of_flow, Q::of_flow).map(Distribution::List),
            Node::Table(_) => {
                let (word, value) = decoder.variant::<Self>(node, Q::WORDS)?;
                decoder.inside(word, |decoder| match word {
                    "uniform" => decoder.pair(value).map(|(low, high)| Distribution::Uniform(low, high)),
                    "evenly" => decoder.pair(value).map(|(low, high)| Distribution::Evenly(low, high)),
                    "exponential" => Q::decode(value, decoder).map(Distribution::Exponential),
                    "pareto" => shaped(value, ["mean", "shape"], SHAPES, decoder)
                        .map(|(mean, shape)| Distribution::Pareto { mean, shape }),
                    "lognormal" => shaped(value, ["median", "sigma"], SIGMAS, decoder)
                        .map(|(median, sigma)| Distribution::Lognormal { median, sigma }),
                    "bounded_pareto" => bounded_pareto(value, decoder),
                    "cdf" => cdf(value, decoder).map(Distribution::Cdf),
                    "weights" => weights(value, decoder).map(Distribution::Cdf),
                    "workload" => workload(value, decoder),
                    _ => csv_column::read(value, decoder).map(Distribution::List),
                })
            }
            _ => Q::of_flow(node, decoder).map(Distribution::Fixed),
        }
    }

    fn expected() -> String {
        format!("{}, a list with one value per flow, or a table with {}", Q::expected(), listed(Q::WORDS))
    }
}

/// With a shape below 1.01, sample means do not converge within any number of flows.
const SHAPES: (f64, f64) = (1.01, 100.0);
const SIGMAS: (f64, f64) = (0.0, 10.0);
/// A bounded distribution has a mean for any shape.
const BOUNDED_SHAPES: (f64, f64) = (0.01, 100.0);

fn bounded_pareto<Q: Quantity>(node: &Node, decoder: &mut Decoder) -> Option<Distribution<Q>> {
    const KEYS: [&str; 3] = ["lowest", "highest", "shape"];
    let [lowest, highest, shape] = entries(node, KEYS, decoder)?;
    let mut bound = |key, node: Option<&Node>| node.and_then(|node| decoder.inside(key, |decoder| Q::decode(node, decoder)));
    let (lowest, highest) = (bound(KEYS[0], lowest), bound(KEYS[1], highest));
    let shape = shape.and_then(|node| number(node, KEYS[2], BOUNDED_SHAPES, decoder));
    let (lowest, highest, shape) = (lowest?, highest?, shape?);
    if lowest.base() == 0 || lowest > highest {
        let given = format!("{} to {}", lowest.to_string(), highest.to_string());
        decoder.wrong("has invalid bounds").given(given).expected("`lowest` above 0, and `highest` not below `lowest`");
        return None;
    }
    Some(Distribution::BoundedPareto { lowest, highest, shape })
}

/// Points of a cumulative distribution: values and shares do not decrease, and the last share is 1.
fn cdf<Q: Quantity>(node: &Node, decoder: &mut Decoder) -> Option<Vec<(Q, f64)>> {
    let mut before: Option<(Q, f64)> = None;
    let points = points(node, "share", SHARES, decoder, |point, decoder| {
        if before.is_some_and(|before| point.0 < before.0 || point.1 < before.1) {
            decoder.wrong("is below the point before").expected("ascending values and shares");
            return None;
        }
        before = Some(point);
        before
    })?;
    if points.last().is_none_or(|&(_, share)| share != 1.0) {
        let given = points.last().map_or("no point".into(), |(_, share)| share.to_string());
        decoder.wrong("does not end with a share of 1").given(given).expected("1 as the last share");
        return None;
    }
    Some(points)
}

/// Values with their relative frequencies, as the steps of a cumulative distribution.
fn weights<Q: Quantity>(node: &Node, decoder: &mut Decoder) -> Option<Vec<(Q, f64)>> {
    let mut values: Vec<(Q, f64)> = points(node, "weight", WEIGHTS, decoder, |point, _| Some(point))?;
    values.sort_by_key(|(value, _)| value.base());
    let whole: f64 = values.iter().map(|(_, weight)| weight).sum();
    if whole == 0.0 {
        decoder.wrong("has no weight above 0").given(format!("{} values", values.len())).expected(expected_points::<Q>("weight"));
        return None;
    }
    let (mut steps, mut sum) = (Vec::new(), 0.0);
    for (value, weight) in values.into_iter().filter(|(_, weight)| *weight > 0.0) {
        if !steps.is_empty() {
            steps.push((value, sum / whole));
        }
        sum += weight;
        steps.push((value, sum / whole));
    }
    Some(steps)
}

const SHARES: (f64, f64) = (0.0, 1.0);
const WEIGHTS: (f64, f64) = (0.0, 1e12);

fn expected_points<Q: Quantity>(second: &str) -> String {
    format!(
        "a list of [value, {second}], such as `[[VALUE, 0.5], [VALUE, 1]]`, or the name of a CSV file with columns `value` and `{second}`, \
         each value {}",
        Q::expected()
    )
}

/// Values with a number each, from a list or a CSV file. `check` is applied to each point in its place.
fn points<Q: Quantity>(
    node: &Node,
    second: &'static str,
    bounds: (f64, f64),
    decoder: &mut Decoder,
    mut check: impl FnMut((Q, f64), &mut Decoder) -> Option<(Q, f64)>,
) -> Option<Vec<(Q, f64)>> {
    let mut point = |[value, share]: [&Node; 2], keys: [&str; 2], decoder: &mut Decoder| {
        let value = decoder.inside(keys[0], |decoder| Q::decode(value, decoder));
        let share = number(share, keys[1], bounds, decoder);
        check((value?, share?), decoder)
    };
    let expected = || expected_points::<Q>(second);
    match node {
        Node::Text(file) => csv_rows::read(file, ["value", second], &expected(), decoder, |[value, share], decoder| {
            point([&value, &csv_rows::number(&share)], ["value", second], decoder)
        }),
        Node::List(items) => decoder.entries(items, expected, |item, decoder| match item {
            Node::List(pair) if pair.len() == 2 => point([&pair[0], &pair[1]], ["[0]", "[1]"], decoder),
            _ => {
                decoder.wrong("is not a point").given(item.to_string()).expected(expected());
                None
            }
        }),
        _ => {
            decoder.wrong("must be a list of points").given(node.to_string()).expected(expected());
            None
        }
    }
}

fn workload<Q: Quantity>(node: &Node, decoder: &mut Decoder) -> Option<Distribution<Q>> {
    let names: Vec<&str> = WORKLOADS.iter().map(|workload| workload.name).collect();
    let name = decoder.word(node, "workload", &names)?;
    WORKLOADS.iter().find(|workload| workload.name == name).map(Distribution::Workload)
}

fn number(node: &Node, key: &str, bounds: (f64, f64), decoder: &mut Decoder) -> Option<f64> {
    let expected = format!("a number from {} to {}", bounds.0, bounds.1);
    decoder.inside(key, |decoder| real(node, bounds.0..=bounds.1, &expected, decoder))
}

/// A table with a quantity and a number.
fn shaped<Q: Quantity>(node: &Node, keys: [&'static str; 2], bounds: (f64, f64), decoder: &mut Decoder) -> Option<(Q, f64)> {
    let [quantity, shape] = entries(node, keys, decoder)?;
    let quantity = quantity.and_then(|node| decoder.inside(keys[0], |decoder| Q::decode(node, decoder)));
    let shape = shape.and_then(|node| number(node, keys[1], bounds, decoder));
    Some((quantity?, shape?))
}

const MEANING: &str = "One value per flow: the same for all, a list, or a table with one of these keys. `uniform` draws between two bounds, \
    `evenly` spreads the flows between them. `exponential` and `pareto` are given by their mean, `lognormal` by its median and the standard \
    deviation of its logarithm, `bounded_pareto` by two bounds and its shape. `cdf` lists values with their cumulative shares, with linear \
    interpolation, or names a CSV file with columns `value` and `share`. `weights` gives values and their relative \
    frequencies, or a file with columns `value` and `weight`. `workload` is a published distribution of sizes. `csv` reads a column of a CSV \
    file, with a unit in each cell or in the column's name (`start_s`, `size_bytes`).";

impl<Q: Varied> JsonSchema for Distribution<Q> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("{}Distribution", Q::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let quantity = generator.subschema_for::<Q>();
        let pair = json!({"type": "array", "items": quantity, "minItems": 2, "maxItems": 2});
        let table = |properties: &[(&str, Value)]| {
            let required: Vec<&str> = properties.iter().map(|(key, _)| *key).collect();
            let properties: Map<String, Value> = properties.iter().map(|(key, value)| ((*key).into(), value.clone())).collect();
            json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
        };
        let number = |(low, high): (f64, f64)| json!({"type": "number", "minimum": low, "maximum": high});
        let points = |bounds| {
            let point = json!({"type": "array", "prefixItems": [quantity, number(bounds)], "minItems": 2, "maxItems": 2});
            json!({"anyOf": [{"type": "string"}, {"type": "array", "items": point, "minItems": 1}]})
        };
        let names: Vec<&str> = WORKLOADS.iter().map(|workload| workload.name).collect();
        let shape = |word: &str| match word {
            "uniform" | "evenly" => pair.clone(),
            "exponential" => json!(quantity),
            "pareto" => table(&[("mean", json!(quantity)), ("shape", number(SHAPES))]),
            "lognormal" => table(&[("median", json!(quantity)), ("sigma", number(SIGMAS))]),
            "bounded_pareto" => {
                table(&[("lowest", json!(quantity)), ("highest", json!(quantity)), ("shape", number(BOUNDED_SHAPES))])
            }
            "cdf" => points(SHARES),
            "weights" => points(WEIGHTS),
            "workload" => json!({"enum": names}),
            _ => table(&[("file", json!({"type": "string"})), ("column", json!({"type": "string"}))]),
        };
        let tables = Q::WORDS.iter().map(|word| table(&[(word, shape(word))]));
        let plain = [json!(quantity), json!({"type": "array", "items": quantity})];
        let all: Vec<_> = plain.into_iter().chain(tables).collect();
        schemars::json_schema!({"description": MEANING, "anyOf": all})
    }
}
