//! `controller = "vegas"` or `controller = {kind = "vegas", ...}`: the control law of the window, with what can be set of it. The core
//! declares the laws and their settings.

use crate::decode::{Decode, Decoder};
use crate::member::{Choice, Chosen, Family, Nothing, UserTable};
use crate::problem::{Report, listed};
use crate::record::record;
use crate::tree::Node;
use crate::user_code::{self, Parameters, UserName};
use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::json;
use tailback_core::congestion::ControllerSpec;
use tailback_core::settings::Member;

/// Control law of the congestion window.
pub type Law = Choice<Controllers>;

#[derive(Clone, Debug, PartialEq)]
pub struct Controllers;

impl Family for Controllers {
    const TAG: &'static str = "kind";
    const NOUN: &'static str = "controller";
    const DEFAULT: Option<&'static str> = None;
    type Common = Nothing;
    type User = UserLaw;

    fn members() -> Vec<&'static Member> {
        ControllerSpec::MEMBERS.iter().collect()
    }
}

record! {
    /// A law in Python.
    pub struct UserLaw {
        /// `user:NAME`: a law in Python registered under that name.
        kind: UserName,
        /// Keyword arguments for the law's class (of `user:NAME`).
        parameters: Parameters = Parameters::default(),
    }
}

impl UserTable for UserLaw {}

record! {
    /// A control law with its settings.
    pub struct ControllerTable {}
    with
    /// The law.
    law: Law
}

impl Law {
    /// As the core takes it; `at` is its place. Settings that do not go together are reported.
    pub(crate) fn spec(&self, at: &str, report: &mut Report) -> Option<ControllerSpec> {
        match self {
            Choice::User(UserLaw { kind, parameters }) => {
                Some(ControllerSpec::User(user_code::code(kind, parameters, at.into())))
            }
            Choice::Member(chosen, _) => {
                let values = chosen.values(None, report);
                let spec = ControllerSpec::read(chosen.name(), &values)?;
                chosen.complain(spec.check(), &values, at, None, report);
                Some(spec)
            }
        }
    }

    fn of(spec: &ControllerSpec) -> Law {
        if let ControllerSpec::User(code) = spec {
            return Choice::User(UserLaw { kind: user_code::named(code), parameters: Parameters::of(code) });
        }
        let member = ControllerSpec::MEMBERS.iter().find(|member| Some(member.name) == spec.name());
        member.map_or_else(Law::default, |member| Choice::Member(Chosen::of(member, &spec.values()), Nothing {}))
    }
}

/// The names of all laws.
fn names() -> Vec<&'static str> {
    ControllerSpec::MEMBERS.iter().map(|member| member.name).collect()
}

/// A control law: its name alone, or a table.
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
            _ => decoder.misfit::<Controller>(node, "not a controller").and(None),
        };
        table.map(|table| Controller(table.law))
    }

    fn expected() -> String {
        let table = "{kind = \"vegas\", alpha = 1, beta = 3}";
        format!("{}, `user:NAME` for a law in Python, or a table such as {table}", listed(&names()))
    }
}

/// A law without settings is written as its name.
impl Serialize for Controller {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Choice::Member(chosen, _) if chosen.is_bare() => serializer.serialize_str(chosen.name()),
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
    use crate::problem::Source;

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
    fn a_name_alone_is_the_table_with_nothing_set() {
        for name in names() {
            let alone = read(&format!("\"{name}\"")).unwrap();
            assert_eq!(read(&format!("{{\"kind\": \"{name}\"}}")).as_ref(), Some(&alone));
            let spec = spec(&alone);
            assert_eq!((spec.name(), Controller::of(&spec)), (Some(name), alone));
        }
    }

    #[test]
    fn every_sample_of_every_law_can_be_written_and_read() {
        for sample in ControllerSpec::samples() {
            let written = Controller::of(&sample);
            assert_eq!(spec(&written), sample);
            assert_eq!(read(&serde_json::to_string(&written).unwrap()), Some(written));
        }
    }

    #[test]
    fn what_is_set_is_written_and_what_is_not_is_a_word() {
        let written = |json| serde_json::to_string(&read(json)).unwrap();
        assert_eq!(written("\"reno\""), "\"reno\"");
        assert_eq!(written(r#"{"kind": "fixed", "rate": "5 Mbps"}"#), r#"{"kind":"fixed","rate":"5 Mbps"}"#);
        let vegas = r#"{"kind":"vegas","alpha":1.0,"beta":4.0,"gamma":1.0,"slow_start":true}"#;
        assert_eq!(written(r#"{"kind": "vegas", "alpha": 1}"#), vegas);
    }
}
