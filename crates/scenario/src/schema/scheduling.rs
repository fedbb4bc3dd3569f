//! `scheduler = "drr"` or `scheduler = {kind = "drr", ...}`, and `classes`: several queues of one link and the order in which they are served.
//! The core declares the schedulers and their settings.

use super::policy::Policy;
use crate::buffer::Buffer;
use crate::decode::{Decode, Decoder};
use crate::member::{Family, Member, Nobody};
use crate::problem::listed;
use crate::record::record;
use crate::tree::Node;
use crate::values::{Integer, Name, Number};
use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::json;
use tailback_core::schedule::SchedulerSpec;
use tailback_core::settings::MemberInfo;

/// A scheduler with its settings.
pub type Chooser = Member<Schedulers>;

#[derive(Clone, Debug, PartialEq)]
pub struct Schedulers;

impl Family for Schedulers {
    const TAG: &'static str = "kind";
    const NOUN: &'static str = "scheduler";
    const DEFAULT: Option<&'static str> = None;
    type Common = Hashing;
    type User = Nobody;

    fn members() -> Vec<&'static MemberInfo> {
        SchedulerSpec::MEMBERS.iter().collect()
    }
}

record! {
    /// Assignment of flows to queues without `classes`.
    pub struct Hashing {
        /// Number of queues, selected by a hash of the flow; RFC 8290 has 1024. Default: one queue per flow.
        queues: Option<Integer<1, 1048576>>; 8,
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
    /// A traffic class with its queue.
    pub struct Class {
        /// Name of the class, as in the `class` of flow groups.
        name: Name,
        /// Use this queue for flows without a class, or with a class that no other queue handles.
        default: bool = false,
        /// Weight of the queue relative to the others, 0.001 to 1000000. Its meaning depends on the scheduler.
        share: Number = Number(1.0),
        /// Buffer of the class, as a part of the queue's `buffer`.
        buffer: Buffer = Buffer::Unlimited,
    }
    with
    /// Queue policy of the class.
    policy: Policy
}

/// Names of all schedulers.
fn names() -> Vec<&'static str> {
    SchedulerSpec::MEMBERS.iter().map(|member| member.name).collect()
}

/// A scheduler: its name, or a table with settings.
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
            _ => decoder.invalid_value::<Scheduler>(node, "is not a scheduler").and(None),
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
            Member::BuiltIn(config, Hashing { queues: None }) if config.is_bare() => serializer.serialize_str(config.name()),
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
