//! Windows in segments or bytes.

use crate::decode::{Decode, Decoder};
use crate::quantity::Size;
use crate::tree::Node;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::json;

/// A window in segments or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowSize {
    Segments(u32),
    Bytes(Size),
}

impl Default for WindowSize {
    fn default() -> WindowSize {
        WindowSize::Segments(1)
    }
}

impl WindowSize {
    /// Maximum number of segments of a window.
    pub(crate) const MAX: u32 = 1 << 30;
}

impl Decode for WindowSize {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<WindowSize> {
        match node {
            Node::Integer(count) if (1..=WindowSize::MAX.into()).contains(count) => Some(WindowSize::Segments(*count as u32)),
            Node::Text(_) => Size::decode(node, decoder).map(WindowSize::Bytes),
            Node::Integer(_) => decoder.invalid_value(node, "is out of range"),
            _ => decoder.invalid_value(node, "is not a window"),
        }
    }

    fn expected() -> String {
        format!("a whole number of segments from 1 to {}, or {}", WindowSize::MAX, Size::expected())
    }
}

impl std::fmt::Display for WindowSize {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WindowSize::Segments(count) => write!(out, "{count}"),
            WindowSize::Bytes(size) => write!(out, "{size}"),
        }
    }
}

impl Serialize for WindowSize {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            WindowSize::Segments(count) => serializer.serialize_u32(*count),
            WindowSize::Bytes(size) => size.serialize(serializer),
        }
    }
}

impl JsonSchema for WindowSize {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Window".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let size = generator.subschema_for::<Size>();
        let count = json!({"type": "integer", "minimum": 1, "maximum": WindowSize::MAX});
        schemars::json_schema!({"description": WindowSize::expected(), "anyOf": [count, size]})
    }
}
