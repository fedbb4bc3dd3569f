//! Numbers of segments, which may be unlimited.

use crate::decode::{Decode, Decoder};
use crate::problem::listed;
use crate::tree::Node;
use crate::values::real;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

/// A number of segments, 1 to 10^9 or `"unlimited"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Segments {
    Count(f64),
    Unlimited,
}

impl Default for Segments {
    fn default() -> Segments {
        Segments::Count(1.0)
    }
}

impl Segments {
    /// Unlimited if infinite.
    pub(crate) fn of(count: f64) -> Segments {
        if count.is_finite() { Segments::Count(count) } else { Segments::Unlimited }
    }

    /// Infinite if unlimited.
    pub fn count(self) -> f64 {
        match self {
            Segments::Count(count) => count,
            Segments::Unlimited => f64::INFINITY,
        }
    }
}

impl Decode for Segments {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Segments> {
        let words = &["unlimited"];
        match node {
            Node::Text(text) if text == words[0] => Some(Segments::Unlimited),
            Node::Integer(_) | Node::Float(_) => real(node, 1.0..=1e9, &Segments::expected(), decoder).map(Segments::Count),
            _ => decoder.invalid_value(node, "is not a number of segments"),
        }
    }

    fn expected() -> String {
        format!("a number of segments from 1 to 1000000000, or {}", listed(&["unlimited"]))
    }
}

impl Serialize for Segments {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Segments::Count(count) => serializer.serialize_f64(*count),
            Segments::Unlimited => serializer.serialize_str("unlimited"),
        }
    }
}

impl JsonSchema for Segments {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Segments".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": Segments::expected(),
            "anyOf": [{"type": "number", "minimum": 1, "maximum": 1_000_000_000}, {"const": "unlimited"}],
        })
    }
}
