//! User code in a scenario: `user:NAME`, and its parameters as plain data.

use crate::decode::{Decode, Decoder, kind};
use crate::problem::Report;
use crate::tree::Node;
use crate::values::{NAME_PATTERN, Name};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;
use tailback_core::network::CodeKind;
use tailback_core::user_code::UserCode;

const PREFIX: &str = "user:";

/// Whether this word names user code.
pub(crate) fn is_user_code(node: &Node) -> bool {
    matches!(node, Node::Text(text) if text.starts_with(PREFIX))
}

/// `user:NAME`: the registered name of a Python class.
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
            return decoder.invalid_value(node, "has no name behind `user:`");
        }
        match name.and_then(Name::of) {
            Some(name) => Some(UserName(name)),
            None => decoder.invalid_value(node, "is not the name of user code"),
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

/// Parameters of user code: numbers, text, Booleans, and lists and tables of these.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Parameters(BTreeMap<Name, Parameter>);

impl Parameters {
    pub(crate) fn of(code: &UserCode) -> Parameters {
        let read = crate::tree::from_json(&code.parameters, "").ok().and_then(|(node, source)| {
            let mut decoder = Decoder::new(Report::new(&source));
            Parameters::decode(&node, &mut decoder)
        });
        // The text was produced by `Parameters::json`.
        read.unwrap_or_default()
    }

    /// Sets a parameter that is a key of its own in the scenario.
    pub(crate) fn insert_text(&mut self, name: &str, value: &str) {
        self.0.insert(Name::made(name), Parameter(Value::from(value)));
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.keys().any(|key| key.as_str() == name)
    }

    pub(crate) fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Converts user code for the core.
pub(crate) fn code(name: &UserName, parameters: &Parameters, at: String) -> UserCode {
    UserCode { name: name.name().into(), parameters: parameters.json(), at }
}

/// Error of user code that a scenario names, as found by the code's host.
pub enum UserCodeProblem {
    /// The name is not registered; these are, of all kinds that the place accepts.
    Unknown(Vec<(CodeKind, String)>),
    /// The code refuses the parameters.
    SettingConflict {
        /// Path below that of the code, such as `parameters.window`.
        place: String,
        message: String,
        /// The word in place of which `expected` names others, in backticks; may be empty.
        given: String,
        expected: String,
    },
}

impl UserCodeProblem {
    pub(crate) fn report(self, kind: CodeKind, code: &UserCode, report: &mut Report) {
        let (noun, key) = match kind {
            CodeKind::Controller => ("controller", ""),
            CodeKind::Policy => ("queue policy", ".policy"),
            CodeKind::Source => ("source", ".kind"),
            CodeKind::Application => ("application", ".kind"),
            CodeKind::Host => ("host", ".stack"),
            CodeKind::Stack => ("stack", ".stack"),
        };
        match self {
            UserCodeProblem::Unknown(known) => {
                let known: Vec<String> = known.iter().map(|(kind, name)| word(*kind, name)).collect();
                let place = format!("{}{key}", code.at);
                let problem = report.unknown(&place, noun, &word(kind, &code.name), known.iter().map(String::as_str));
                if known.is_empty() {
                    problem.expected(match kind {
                        CodeKind::Stack => "an installed stack; none is installed".into(),
                        _ => format!("a {noun} registered in Python; none is registered"),
                    });
                }
                if problem.hint.is_none() {
                    problem.hint = loading(kind, &known);
                }
            }
            UserCodeProblem::SettingConflict { place, message, given, expected } => {
                let words: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
                let problem = report.add(format!("{}.{place}", code.at), message);
                if !given.is_empty() {
                    problem.nearest(&given, &words);
                }
                problem.expected(&expected);
            }
        }
    }
}

/// The word that names code in a scenario.
fn word(kind: CodeKind, name: &str) -> String {
    if kind == CodeKind::Stack { name.into() } else { format!("{PREFIX}{name}") }
}

/// What makes more code known than these words.
fn loading(kind: CodeKind, known: &[String]) -> Option<String> {
    let is_missing = |member: &str| !known.iter().any(|word| word == member);
    let load = "`--code FILE.py` loads the file that registers it; in Python, import it first";
    match kind {
        CodeKind::Stack => {
            is_missing("quinn").then(|| "`pip install tailback-stacks` installs `quinn`, `noq`, `smoltcp` and `str0m`".into())
        }
        CodeKind::Controller if is_missing("user:quinn-cubic") => {
            Some(format!("{load}; `pip install tailback-stacks` installs controllers of QUIC"))
        }
        _ => Some(load.into()),
    }
}

/// Converts user code of the core to a name.
pub(crate) fn named(code: &UserCode) -> UserName {
    UserName(Name::made(code.name.clone()))
}

impl Decode for Parameters {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Parameters> {
        match node {
            Node::Table(_) => BTreeMap::decode(node, decoder).map(Parameters),
            _ => decoder.invalid_value(node, format!("must be a table, not {}", kind(node))),
        }
    }

    fn expected() -> String {
        "a table of numbers, text, Booleans, lists and tables".into()
    }
}

impl JsonSchema for Parameters {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Parameters".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        // Unlike names of links or flows, names of parameters are not declared elsewhere.
        schemars::json_schema!({
            "description": "Keyword arguments of the Python class.",
            "type": "object",
            "propertyNames": {"pattern": NAME_PATTERN},
            "additionalProperties": generator.subschema_for::<Parameter>(),
        })
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
                Err(_) => return decoder.invalid_value(node, "is out of range"),
            },
            Node::Float(number) if number.is_finite() => Value::from(*number),
            Node::Float(_) => return decoder.invalid_value(node, "is not a finite number"),
            Node::List(_) => serde_json::to_value(Vec::<Parameter>::decode(node, decoder)?).unwrap_or_default(),
            Node::Table(_) => serde_json::to_value(Parameters::decode(node, decoder)?).unwrap_or_default(),
            Node::Null | Node::Date(_) => return decoder.invalid_value(node, format!("must be plain data, not {}", kind(node))),
        };
        Some(Parameter(value))
    }

    fn expected() -> String {
        "a number (integers below 2^63), text, a Boolean, a list or a table".into()
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

#[cfg(test)]
mod tests {
    use crate::{Scenario, UserCodeProblem};

    const MINE: &str = r#"
duration = "1 s"
[topology]
dumbbell = {rate = "10 Mbps", delay = "1 ms", queue = {buffer = "9 packets", policy = "user:q", parameters = {share = 0.5}}}
[flows.web]
from = "left"
to = "right"
tcp = {preset = "sack", controller = {kind = "user:law", parameters = {gain = 2, names = ["a", "b"], deep = {on = true}}}}
[flows.udp]
from = "left"
to = "right"
source = {kind = "user:src", header = "28 B"}
"#;

    #[test]
    fn user_code_is_listed_with_path_and_parameters_and_normalised() {
        let scenario = Scenario::from_toml(MINE, "").unwrap();
        let found: Vec<_> = scenario.user_code().into_iter().map(|(_, code)| (code.at, code.name, code.parameters)).collect();
        let text = |at: &str, name: &str, parameters: &str| (at.to_string(), name.to_string(), parameters.to_string());
        let wanted = [
            text("topology.dumbbell.queue", "q", r#"{"share":0.5}"#),
            text("flows.web.tcp.controller", "law", r#"{"deep":{"on":true},"gain":2,"names":["a","b"]}"#),
            text("flows.udp.source", "src", "{}"),
        ];
        assert_eq!(found, wanted);
        let again = Scenario::from_json(&scenario.to_json(), "").unwrap();
        assert_eq!((again.to_json(), again.user_code()), (scenario.to_json(), scenario.user_code()));
        assert_eq!(again.build().unwrap(), scenario.build().unwrap());
        let mut built: Vec<_> = scenario.build().unwrap().user_code().map(|(kind, code)| (kind, code.clone())).collect();
        built.sort_by_key(|(_, code)| code.at.clone());
        let mut named = scenario.user_code();
        named.sort_by_key(|(_, code)| code.at.clone());
        assert_eq!(built, named);
    }

    #[test]
    fn the_hash_covers_the_code() {
        let scenario = Scenario::from_toml(MINE, "").unwrap();
        assert_eq!(scenario.content_hash(""), scenario.content_hash(""));
        assert_ne!(scenario.content_hash(""), scenario.content_hash("law 1"));
    }

    #[test]
    fn errors_of_user_code_have_path_and_line() {
        let scenario = Scenario::from_toml(MINE, "mine.toml").unwrap();
        let errors = scenario.check_code(|kind, code| match code.name.as_str() {
            "q" => Some(UserCodeProblem::SettingConflict {
                place: "parameters.share".into(),
                message: "no share".into(),
                given: "shar".into(),
                expected: "`parts` or `shares`".into(),
            }),
            "law" => Some(UserCodeProblem::Unknown(vec![(kind, "laws".into()), (kind, "other".into())])),
            _ => Some(UserCodeProblem::Unknown(Vec::new())),
        });
        let errors = errors.unwrap_err();
        let found: Vec<_> =
            errors.list.iter().map(|problem| (problem.at.as_str(), problem.line(), problem.hint.as_deref())).collect();
        let load = "`--code FILE.py` loads the file that registers it; in Python, import it first";
        let wanted = [
            ("topology.dumbbell.queue.parameters.share", Some(4), Some("did you mean `shares`?")),
            ("flows.web.tcp.controller", Some(8), Some("did you mean `user:laws`?")),
            ("flows.udp.source.kind", Some(12), Some(load)),
        ];
        assert_eq!(found, wanted);
        assert!(scenario.check_code(|_, _| None).is_ok());
    }
}
