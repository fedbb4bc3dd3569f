//! Names of nodes, and patterns such as `edge*`.

use crate::decode::{Decode, Decoder, kind};
use crate::tree::Node;
use crate::values::Name;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::json;

/// One or several node names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nodes(pub Vec<NodeName>);

/// A node's name, or a prefix and `*` for all nodes whose names begin with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct NodeName(pub String);

impl Nodes {
    pub(crate) fn one(name: &Name) -> Nodes {
        Nodes(vec![NodeName(name.to_string())])
    }
}

impl std::fmt::Display for Nodes {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self.0.iter().map(|name| name.0.as_str()).collect();
        out.write_str(&names.join(", "))
    }
}

impl Serialize for Nodes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [one] => one.serialize(serializer),
            several => several.serialize(serializer),
        }
    }
}

impl Decode for Nodes {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Nodes> {
        match node {
            Node::List(list) if list.is_empty() => decoder.invalid_value(node, "is empty"),
            Node::List(_) => Vec::decode(node, decoder).map(Nodes),
            _ => NodeName::decode(node, decoder).map(|name| Nodes(vec![name])),
        }
    }

    fn expected() -> String {
        format!("{}, or a list of these", NodeName::expected())
    }
}

impl Decode for NodeName {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<NodeName> {
        match node {
            Node::Text(text) if text == "*" || Name::of(text.strip_suffix('*').unwrap_or(text)).is_some() => {
                Some(NodeName(text.clone()))
            }
            Node::Text(_) => decoder.invalid_value(node, "is not a valid name"),
            _ => decoder.invalid_value(node, format!("must be a node's name, not {}", kind(node))),
        }
    }

    fn expected() -> String {
        "a node's name, a prefix such as `edge*` for all nodes that begin with it, or `*` for all nodes".into()
    }
}

impl JsonSchema for Nodes {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Nodes".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let name = NodeName::json_schema(generator);
        schemars::json_schema!({
            "description": Nodes::expected(),
            "anyOf": [name, json!({"type": "array", "items": name, "minItems": 1})]
        })
    }
}

impl JsonSchema for NodeName {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "NodeName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"type": "string", "pattern": r"^([A-Za-z0-9_][A-Za-z0-9_-]{0,63}\*?|\*)$"})
    }
}
