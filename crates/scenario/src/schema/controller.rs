//! `controller = "vegas"` or `controller = {kind = "vegas", ...}`: the control law of the window, with what can be set of it.
//!
//! A law's settings are its record here, one line in [`Law`], and one in each of [`Law::spec`] and [`Law::of`].

use crate::decode::{Decode, Decoder};
use crate::problem::listed;
use crate::quantity::{Duration, Probability, Queued, Rate};
use crate::record::{record, tagged};
use crate::tree::Node;
use crate::user::{self, Parameters, UserName};
use crate::values::Whole;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::json;
use std::collections::BTreeMap;
use tailback_core::base::units;
use tailback_core::congestion::{CONTROLLER_NAMES, ControllerSpec, CubicSpec, FastSpec, FixedSpec, VegasSpec};

tagged! {
    /// Control law of the congestion window.
    pub enum Law ("controller") by "kind" {
        "reno" => Reno,
        "cubic" => Cubic,
        "vegas" => Vegas,
        "fast" => Fast,
        "fixed" => Fixed,
        user UserLaw,
    }
}

record! {
    /// A segment more per round trip, half on congestion (RFC 5681).
    pub struct Reno {}
}

record! {
    /// A cubic curve of time (RFC 9438).
    pub struct Cubic {
        /// A flow that loses again before it was back where it was gives way to others (of `cubic`).
        fast_convergence: bool = true,
    }
}

record! {
    /// A few segments in the queues (Brakmo and Peterson, 1995).
    pub struct Vegas {
        /// The window grows with fewer segments queued (of `vegas`).
        alpha: Queued = Queued(2.0),
        /// The window shrinks with more segments queued (of `vegas`).
        beta: Queued = Queued(4.0),
        /// Slow start ends with more segments queued (of `vegas`).
        gamma: Queued = Queued(1.0),
    }
}

record! {
    /// A given number of segments in the queues (FAST TCP).
    pub struct Fast {
        /// Segments to keep in the queues (of `fast`).
        alpha: Queued = Queued(200.0),
        /// Share of the way to the new window that an update goes (of `fast`).
        gamma: Probability = Probability(0.5),
        /// Round trips from one update of the window to the next (of `fast`).
        round_trips: Whole<1, 1000> = Whole(2),
        /// Slow start while the queueing delay is below this (of `fast`).
        mi_threshold: Duration = Duration::new(0),
        /// How many times slower a new flow sends for a while, once it is stable, so that the queues drain (of `fast`).
        draining: Option<Whole<2, 1_000_000>>,
    }
}

record! {
    /// The initial window, for ever.
    pub struct Fixed {
        /// Rate on the wire at which full segments leave, if acknowledgements do not clock them (of `fixed`).
        rate: Option<Rate>,
    }
}

record! {
    /// A law in Python.
    pub struct UserLaw {
        /// `user:NAME`: a law in Python that is registered by that name.
        kind: UserName,
        /// What the law is made with (of `user:NAME`).
        parameters: Parameters = Parameters::default(),
    }
}

record! {
    /// A control law with its settings.
    pub struct ControllerTable {}
    with
    /// The law.
    law: Law
}

impl Law {
    /// As the core takes it; `at` is its place.
    pub(crate) fn spec(&self, at: &str) -> ControllerSpec {
        match self {
            Law::Reno(Reno {}) => ControllerSpec::Reno(()),
            Law::Cubic(Cubic { fast_convergence }) => ControllerSpec::Cubic(CubicSpec { fast_convergence: *fast_convergence }),
            Law::Vegas(Vegas { alpha, beta, gamma }) => {
                ControllerSpec::Vegas(VegasSpec { alpha: alpha.0, beta: beta.0, gamma: gamma.0 })
            }
            Law::Fast(Fast { alpha, gamma, round_trips, mi_threshold, draining }) => ControllerSpec::Fast(FastSpec {
                alpha: alpha.0,
                gamma: gamma.0,
                round_trips: round_trips.0 as u32,
                mi_threshold: mi_threshold.span(),
                draining: draining.map(|factor| factor.0 as u32),
            }),
            Law::Fixed(Fixed { rate }) => ControllerSpec::Fixed(FixedSpec { pacing: rate.map(Rate::rate) }),
            Law::UserLaw(UserLaw { kind, parameters }) => ControllerSpec::User(user::code(kind, parameters, at.into())),
        }
    }

    fn of(spec: &ControllerSpec) -> Law {
        match *spec {
            ControllerSpec::User(ref code) => Law::UserLaw(UserLaw { kind: user::named(code), parameters: Parameters::of(code) }),
            ControllerSpec::Reno(()) => Law::Reno(Reno {}),
            ControllerSpec::Cubic(CubicSpec { fast_convergence }) => Law::Cubic(Cubic { fast_convergence }),
            ControllerSpec::Vegas(VegasSpec { alpha, beta, gamma }) => {
                Law::Vegas(Vegas { alpha: Queued(alpha), beta: Queued(beta), gamma: Queued(gamma) })
            }
            ControllerSpec::Fast(FastSpec { alpha, gamma, round_trips, mi_threshold, draining }) => Law::Fast(Fast {
                alpha: Queued(alpha),
                gamma: Probability(gamma),
                round_trips: Whole(round_trips.into()),
                mi_threshold: Duration::new(mi_threshold.0),
                draining: draining.map(|factor| Whole(factor.into())),
            }),
            ControllerSpec::Fixed(FixedSpec { pacing }) => {
                Law::Fixed(Fixed { rate: pacing.map(|units::Rate(rate)| Rate::new(rate)) })
            }
        }
    }
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
                if user::is_user_code(node) {
                    UserName::decode(node, decoder)?;
                } else {
                    decoder.word(node, "controller", CONTROLLER_NAMES)?;
                }
                let name_alone = BTreeMap::from([("kind".to_string(), node.clone())]);
                ControllerTable::decode(&Node::Table(name_alone), decoder)
            }
            _ => decoder.misfit::<Controller>(node, "not a controller").and(None),
        };
        table.map(|table| Controller(table.law))
    }

    fn expected() -> String {
        let table = "{kind = \"vegas\", alpha = 1, beta = 3}";
        format!("{}, `user:NAME` for a law in Python, or a table such as {table}", listed(CONTROLLER_NAMES))
    }
}

/// A law of which nothing is set is its name.
impl Serialize for Controller {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Law::Reno(_) => serializer.serialize_str("reno"),
            Law::Fixed(Fixed { rate: None }) => serializer.serialize_str("fixed"),
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
        schemars::json_schema!({"description": Controller::expected(), "anyOf": [json!({"enum": CONTROLLER_NAMES}), name, table]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Report;

    fn read(json: &str) -> Option<Controller> {
        let (node, source) = crate::tree::from_json(json, "").unwrap();
        let mut decoder = Decoder::new(Report::new(&source));
        Controller::decode(&node, &mut decoder).filter(|_| decoder.report.is_empty())
    }

    #[test]
    fn a_name_alone_is_the_table_with_nothing_set_and_has_the_defaults_of_the_core() {
        for name in CONTROLLER_NAMES {
            let alone = read(&format!("\"{name}\"")).unwrap();
            assert_eq!(read(&format!("{{\"kind\": \"{name}\"}}")).as_ref(), Some(&alone));
            let spec = alone.0.spec("");
            assert_eq!((spec.name(), Controller::of(&spec)), (Some(*name), alone));
        }
        let specs = ["cubic", "vegas", "fast", "fixed"].map(|name| read(&format!("\"{name}\"")).unwrap().0.spec(""));
        let defaults = [
            ControllerSpec::Cubic(CubicSpec::default()),
            ControllerSpec::Vegas(VegasSpec::default()),
            ControllerSpec::Fast(FastSpec::default()),
            ControllerSpec::Fixed(FixedSpec::default()),
        ];
        assert_eq!(specs, defaults);
    }

    #[test]
    fn what_is_set_is_written_and_what_is_not_is_a_word() {
        let written = |json| serde_json::to_string(&read(json)).unwrap();
        assert_eq!(written("\"reno\""), "\"reno\"");
        assert_eq!(written(r#"{"kind": "fixed", "rate": "5 Mbps"}"#), r#"{"kind":"fixed","rate":"5 Mbps"}"#);
        assert_eq!(written(r#"{"kind": "vegas", "alpha": 1}"#), r#"{"kind":"vegas","alpha":1.0,"beta":4.0,"gamma":1.0}"#);
    }
}
