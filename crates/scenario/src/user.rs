//! User code in a scenario: `user:NAME`, and parameters that are plain data.

use crate::decode::{Decode, Decoder, kind};
use crate::tree::Node;
use crate::values::Name;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;
use tailback_core::code::UserCode;

const PREFIX: &str = "user:";

/// Whether this word stands for user code, whatever its name.
pub(crate) fn is_user_code(node: &Node) -> bool {
    matches!(node, Node::Text(text) if text.starts_with(PREFIX))
}

/// `user:NAME`: the name under which Python code has registered a class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserName(Name);

impl UserName {
    /// Without `user:`.
    pub fn name(&self) -> &str {
        self.0.as_str()
    }
}

impl Decode for UserName {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<UserName> {
        let name = if let Node::Text(text) = node { text.strip_prefix(PREFIX) } else { None };
        if name == Some("") {
            return decoder.misfit(node, "user code without a name");
        }
        match name.and_then(Name::of) {
            Some(name) => Some(UserName(name)),
            None => decoder.misfit(node, "not the name of user code"),
        }
    }

    fn expected() -> String {
        "`user:NAME`, with the name under which the code is registered: at most 64 letters, digits, `_` and `-`".into()
    }
}

impl Serialize for UserName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{PREFIX}{}", self.0))
    }
}

impl JsonSchema for UserName {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "UserName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"type": "string", "pattern": "^user:[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$"})
    }
}

/// What user code is made with: numbers, text, truth values, and lists and tables of these.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Parameters(BTreeMap<Name, Parameter>);

impl Parameters {
    pub(crate) fn of(code: &UserCode) -> Parameters {
        let read = crate::tree::from_json(&code.parameters, "").ok().and_then(|(node, source)| {
            let mut decoder = Decoder::new(crate::problem::Report::new(&source));
            Parameters::decode(&node, &mut decoder)
        });
        // The text was made here, of what had been read.
        read.unwrap_or_default()
    }

    pub(crate) fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// As the core takes it.
pub(crate) fn code(name: &UserName, parameters: &Parameters, at: String) -> UserCode {
    UserCode { name: name.name().into(), parameters: parameters.json(), at }
}

/// The other way round.
pub(crate) fn named(code: &UserCode) -> UserName {
    UserName(Name::made(code.name.clone()))
}

impl Decode for Parameters {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Parameters> {
        BTreeMap::decode(node, decoder).map(Parameters)
    }

    fn expected() -> String {
        "a table of numbers, text, truth values, lists and tables".into()
    }
}

impl JsonSchema for Parameters {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Parameters".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = BTreeMap::<Name, Parameter>::json_schema(generator);
        schema.insert("description".into(), "What user code is made with, by the names of its class's keyword arguments.".into());
        schema
    }
}

/// One parameter of user code.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Parameter(Value);

impl Default for Parameter {
    fn default() -> Parameter {
        Parameter(Value::Null)
    }
}

impl Decode for Parameter {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Parameter> {
        let value = match node {
            Node::Boolean(truth) => Value::from(*truth),
            Node::Text(text) => Value::from(text.as_str()),
            Node::Integer(number) => match i64::try_from(*number) {
                Ok(number) => Value::from(number),
                Err(_) => return decoder.misfit(node, "a number out of range"),
            },
            Node::Float(number) if number.is_finite() => Value::from(*number),
            Node::Float(_) => return decoder.misfit(node, "not a finite number"),
            Node::List(_) => serde_json::to_value(Vec::<Parameter>::decode(node, decoder)?).unwrap_or_default(),
            Node::Table(_) => serde_json::to_value(Parameters::decode(node, decoder)?).unwrap_or_default(),
            Node::Null | Node::Date(_) => return decoder.misfit(node, format!("not plain data: {}", kind(node))),
        };
        Some(Parameter(value))
    }

    fn expected() -> String {
        "a number (whole ones below 2^63), text, a truth value, a list or a table".into()
    }
}

impl JsonSchema for Parameter {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Parameter".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (itself, table) = (generator.subschema_for::<Parameter>(), generator.subschema_for::<Parameters>());
        schemars::json_schema!({
            "description": Parameter::expected(),
            "anyOf": [
                {"type": "boolean"},
                {"type": "number"},
                {"type": "string"},
                {"type": "array", "items": itself},
                table,
            ],
        })
    }
}
