//! `scheduler = "drr"` or `scheduler = {kind = "drr", ...}`, and `classes`: several queues in front of one link, and which is served next. The
//! core declares the schedulers and their settings.

use super::queue::{Buffer, Policy};
use crate::decode::{Decode, Decoder};
use crate::member::{Choice, Family, Nobody};
use crate::problem::listed;
use crate::record::record;
use crate::tree::Node;
use crate::values::{Name, Number, Whole};
use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::json;
use tailback_core::schedule::SchedulerSpec;
use tailback_core::settings::Member;

/// A scheduler with its settings.
pub type Chooser = Choice<Schedulers>;

#[derive(Clone, Debug, PartialEq)]
pub struct Schedulers;

impl Family for Schedulers {
    const TAG: &'static str = "kind";
    const NOUN: &'static str = "scheduler";
    const DEFAULT: Option<&'static str> = None;
    type Common = Hashing;
    type User = Nobody;

    fn members() -> Vec<&'static Member> {
        SchedulerSpec::MEMBERS.iter().collect()
    }
}

record! {
    /// How flows come to queues where there are no `classes`.
    pub struct Hashing {
        /// Queues between which a hash of the flow chooses; each flow has a queue of its own if not given. RFC 8290 has 1024.
        queues: Option<Whole<1, 1048576>>; 8,
    }
}

record! {
    /// A scheduler with its settings.
    pub struct SchedulerTable {}
    with
    /// The scheduler.
    chooser: Chooser
}

record! {
    /// One of several queues of a link.
    pub struct Class {
        /// The flows that have it: those whose group has this `class`.
        name: Name,
        /// Whether flows whose class no other queue has, or that have none, have this queue as well.
        default: bool = false,
        /// Share of the link in proportion to those of the others; what it says, the scheduler knows.
        share: Number = Number(1.0),
        /// Waiting places of its own, within the queue's `buffer`.
        buffer: Buffer = Buffer::Unlimited,
    }
    with
    /// What decides which packets or cells may enter.
    policy: Policy
}

/// The names of all schedulers.
fn names() -> Vec<&'static str> {
    SchedulerSpec::MEMBERS.iter().map(|member| member.name).collect()
}

/// A scheduler: its name alone, or a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scheduler(pub Chooser);

impl Decode for Scheduler {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Scheduler> {
        let table = match node {
            Node::Table(_) => SchedulerTable::decode(node, decoder),
            Node::Text(_) => {
                decoder.word(node, Schedulers::NOUN, &names())?;
                let name_alone = IndexMap::from([("kind".to_string(), node.clone())]);
                SchedulerTable::decode(&Node::Table(name_alone), decoder)
            }
            _ => decoder.misfit::<Scheduler>(node, "is not a scheduler").and(None),
        };
        table.map(|table| Scheduler(table.chooser))
    }

    fn expected() -> String {
        format!("{}, or a table such as {{kind = \"flow_queue\", queues = 1024}}", listed(&names()))
    }
}

/// A scheduler without settings is written as its name.
impl Serialize for Scheduler {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Choice::Member(chosen, Hashing { queues: None }) if chosen.is_bare() => serializer.serialize_str(chosen.name()),
            chooser => chooser.serialize(serializer),
        }
    }
}

impl JsonSchema for Scheduler {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Scheduler".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<SchedulerTable>();
        schemars::json_schema!({"description": Scheduler::expected(), "anyOf": [json!({"enum": names()}), table]})
    }
}
