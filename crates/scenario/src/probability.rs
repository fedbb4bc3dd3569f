//! Probabilities and shares: numbers from 0 to 1, or percentages.

use crate::decode::{Decode, Decoder};
use crate::quantity::{Percent, pattern};
use crate::tree::Node;
use crate::unit_words;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

/// A probability: a number from 0 to 1, or a percentage.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Probability(pub f64);

impl Decode for Probability {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Probability> {
        let value = match node {
            Node::Integer(number) => Some(*number as f64),
            Node::Float(number) => Some(*number),
            Node::Text(text) => Percent::number(text).map(|number| number / 100.0),
            _ => None,
        };
        match value {
            Some(value) if (0.0..=1.0).contains(&value) => Some(Probability(value)),
            Some(value) => {
                let problem = decoder.wrong("is out of range").given(node.to_string()).expected(Probability::expected());
                if value > 1.0 && value <= 100.0 && !matches!(node, Node::Text(_)) {
                    problem.hint(format!("write `{value} %` or `{}`", value / 100.0));
                }
                None
            }
            None => {
                let problem = decoder.wrong("is not a probability").given(node.to_string()).expected(Probability::expected());
                problem.hint_if(unit_words::of_notation(node.as_text().unwrap_or_default()));
                None
            }
        }
    }

    fn expected() -> String {
        "a number from 0 to 1, or a percentage such as `1 %`".into()
    }
}

impl JsonSchema for Probability {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Probability".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": Probability::expected(),
            "anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "string", "pattern": pattern(["%"].into_iter())}],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::location::Source;
    use crate::problem::Report;

    fn decoded(node: &Node) -> Result<Probability, (String, Option<String>)> {
        let source = Source::default();
        let mut decoder = Decoder::new(Report::new(&source));
        let value = decoder.inside("loss", |decoder| Probability::decode(node, decoder));
        value.ok_or_else(|| decoder.report.finish().list.remove(0)).map_err(|problem| (problem.message, problem.hint))
    }

    #[test]
    fn numbers_above_one_are_probably_percent() {
        assert_eq!(decoded(&Node::Float(0.25)), Ok(Probability(0.25)));
        assert_eq!(decoded(&Node::Text("25 %".into())), Ok(Probability(0.25)));
        for (node, hint) in [
            (Node::Integer(99), Some("write `99 %` or `0.99`")),
            (Node::Float(2.5), Some("write `2.5 %` or `0.025`")),
            (Node::Integer(-1), None),
            (Node::Integer(101), None),
            (Node::Text("101 %".into()), None),
        ] {
            let expected = ("`loss` is out of range".to_string(), hint.map(String::from));
            assert_eq!(decoded(&node), Err(expected), "{node}");
        }
    }
}
