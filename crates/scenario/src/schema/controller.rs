//! `controller = "vegas"` or `controller = {kind = "vegas", ...}`: the congestion controller and its settings, which the core declares.

use crate::decode::{Decode, Decoder};
use crate::member::{Family, Member, MemberConfig, Nothing, UserTable};
use crate::problem::{Report, listed};
use crate::record::record;
use crate::tree::Node;
use crate::user_code::{self, Parameters, UserName};
use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::json;
use tailback_core::congestion::ControllerSpec;
use tailback_core::settings::MemberInfo;

/// Congestion controller.
pub type Law = Member<Controllers>;

#[derive(Clone, Debug, PartialEq)]
pub struct Controllers;

impl Family for Controllers {
    const TAG: &'static str = "kind";
    const NOUN: &'static str = "controller";
    const DEFAULT: Option<&'static str> = None;
    type Common = Nothing;
    type User = UserLaw;

    fn members() -> Vec<&'static MemberInfo> {
        ControllerSpec::MEMBERS.iter().collect()
    }
}

record! {
    /// Congestion controller in Python.
    pub struct UserLaw {
        /// `user:NAME`, where NAME is the registered name of the Python class.
        kind: UserName,
        /// Keyword arguments of the Python class.
        parameters: Parameters = Parameters::default(),
    }
}

impl UserTable for UserLaw {}

record! {
    /// Congestion controller with its settings.
    pub struct ControllerTable {}
    with
    /// The controller.
    law: Law
}

impl Law {
    /// Converts the controller for the core, and reports conflicts of settings; `at` is its path.
    pub(crate) fn spec(&self, at: &str, report: &mut Report) -> Option<ControllerSpec> {
        match self {
            Member::User(UserLaw { kind, parameters }) => {
                Some(ControllerSpec::User(user_code::code(kind, parameters, at.into())))
            }
            Member::BuiltIn(config, _) => {
                let values = config.values(None, report);
                let spec = ControllerSpec::read(config.name(), &values)?;
                config.complain(spec.check(), &values, at, None, report);
                Some(spec)
            }
        }
    }

    fn of(spec: &ControllerSpec) -> Law {
        if let ControllerSpec::User(code) = spec {
            return Member::User(UserLaw { kind: user_code::named(code), parameters: Parameters::of(code) });
        }
        let member = ControllerSpec::MEMBERS.iter().find(|member| Some(member.name) == spec.name());
        member.map_or_else(Law::default, |member| Member::BuiltIn(MemberConfig::of(member, &spec.values()), Nothing {}))
    }
}

/// Names of all controllers.
fn names() -> Vec<&'static str> {
    ControllerSpec::MEMBERS.iter().map(|member| member.name).collect()
}

/// A controller: its name, or a table with settings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Controller(pub Law);

impl Controller {
    pub(crate) fn of(spec: &ControllerSpec) -> Controller {
        Controller(Law::of(spec))
    }
}

impl Decode for Controller {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Controller> {
        let table = match node {
            Node::Table(_) => ControllerTable::decode(node, decoder),
            Node::Text(_) => {
                if user_code::is_user_code(node) {
                    UserName::decode(node, decoder)?;
                } else {
                    decoder.word(node, Controllers::NOUN, &names())?;
                }
                let name_alone = IndexMap::from([("kind".to_string(), node.clone())]);
                ControllerTable::decode(&Node::Table(name_alone), decoder)
            }
            _ => decoder.invalid_value::<Controller>(node, "is not a controller").and(None),
        };
        table.map(|table| Controller(table.law))
    }

    fn expected() -> String {
        let table = "{kind = \"vegas\", alpha = 1, beta = 3}";
        format!("{}, `user:NAME` for a controller in Python, or a table such as {table}", listed(&names()))
    }
}

/// A controller without settings is written as its name.
impl Serialize for Controller {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Member::BuiltIn(config, _) if config.is_bare() => serializer.serialize_str(config.name()),
            law => law.serialize(serializer),
        }
    }
}

impl JsonSchema for Controller {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Controller".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (name, table) = (generator.subschema_for::<UserName>(), generator.subschema_for::<ControllerTable>());
        schemars::json_schema!({"description": Controller::expected(), "anyOf": [json!({"enum": names()}), name, table]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::location::Source;

    fn read(json: &str) -> Option<Controller> {
        let (node, source) = crate::tree::from_json(json, "").unwrap();
        let mut decoder = Decoder::new(Report::new(&source));
        Controller::decode(&node, &mut decoder).filter(|_| decoder.report.is_empty())
    }

    fn spec(controller: &Controller) -> ControllerSpec {
        let source = Source::default();
        let mut report = Report::new(&source);
        let spec = controller.0.spec("", &mut report).filter(|_| report.is_empty());
        spec.unwrap()
    }

    #[test]
    fn a_name_equals_a_table_without_settings() {
        for name in names() {
            let alone = read(&format!("\"{name}\"")).unwrap();
            assert_eq!(read(&format!("{{\"kind\": \"{name}\"}}")).as_ref(), Some(&alone));
            let spec = spec(&alone);
            assert_eq!((spec.name(), Controller::of(&spec)), (Some(name), alone));
        }
    }

    #[test]
    fn every_sample_of_every_controller_can_be_written_and_read() {
        for sample in ControllerSpec::samples() {
            let written = Controller::of(&sample);
            assert_eq!(spec(&written), sample);
            assert_eq!(read(&serde_json::to_string(&written).unwrap()), Some(written));
        }
    }

    #[test]
    fn a_controller_without_settings_is_written_as_its_name() {
        let written = |json| serde_json::to_string(&read(json)).unwrap();
        assert_eq!(written("\"reno\""), "\"reno\"");
        assert_eq!(written(r#"{"kind": "fixed", "rate": "5 Mbps"}"#), r#"{"kind":"fixed","rate":"5 Mbps"}"#);
        let vegas = r#"{"kind":"vegas","alpha":1.0,"beta":4.0,"gamma":1.0,"slow_start":true,"edition":"paper"}"#;
        assert_eq!(written(r#"{"kind": "vegas", "alpha": 1}"#), vegas);
    }
}
