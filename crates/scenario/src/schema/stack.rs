//! `tcp = {stack = "quinn", congestion = "cubic"}`: a transport that exists outside Tailback, instead of simulated TCP.

use super::tcp::{PresetName, Tcp};
use crate::decode::{Decode, Decoder};
use crate::quantity::Size;
use crate::record::record;
use crate::tree::Node;
use crate::user_code::{self, Parameters, UserName, code};
use crate::values::Name;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use tailback_core::network::CodeKind;
use tailback_core::user_code::UserCode;

record! {
    /// A transport stack at both ends of each flow. Its packets are real, and their contents belong to the stack.
    pub struct Stack {
        /// `quinn`, `noq`, `smoltcp` or `str0m` (package `tailback-stacks`), another installed stack, or `user:NAME` for a class in Python.
        stack: StackName; "quinn",
        /// Congestion controller, in the stack's own words. Default: that of the stack.
        congestion: Option<Name>; "cubic",
        /// Largest packet that the interfaces of both ends send, with its IP header.
        mtu: Size = Size::new(1500),
        /// Other settings of the stack, or keyword arguments of the class.
        parameters: Parameters = Parameters::default(),
    }
}

impl Stack {
    /// Whether it is known to find the MTU of its path (RFC 8899).
    pub(crate) fn discovers_mtu(&self) -> bool {
        matches!(&self.stack, StackName::Installed(name) if ["quinn", "noq"].contains(&name.as_str()))
    }

    /// Name and parameters. For an installed stack, these include `congestion`.
    pub(crate) fn code(&self, at: String) -> (CodeKind, UserCode) {
        match &self.stack {
            StackName::User(name) => (CodeKind::Host, code(name, &self.parameters, at)),
            StackName::Installed(name) => {
                let mut parameters = self.parameters.clone();
                if let Some(congestion) = &self.congestion {
                    parameters.insert_text("congestion", congestion.as_str());
                }
                (CodeKind::Stack, UserCode { name: name.to_string(), parameters: parameters.json(), at })
            }
        }
    }
}

/// Name of an installed stack, or of a class in Python.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StackName {
    Installed(Name),
    User(UserName),
}

impl Default for StackName {
    fn default() -> StackName {
        StackName::Installed(Name::default())
    }
}

impl Decode for StackName {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<StackName> {
        if user_code::is_user_code(node) {
            return UserName::decode(node, decoder).map(StackName::User);
        }
        Name::decode(node, decoder).map(StackName::Installed)
    }

    fn expected() -> String {
        "the name of a stack such as \"quinn\" or \"smoltcp\", or `user:NAME` for a class in Python".into()
    }
}

impl Serialize for StackName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            StackName::Installed(name) => name.serialize(serializer),
            StackName::User(name) => name.serialize(serializer),
        }
    }
}

impl JsonSchema for StackName {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "StackName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"type": "string", "pattern": "^(user:)?[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$"})
    }
}

/// `tcp` of a flow: simulated TCP, or a stack.
#[derive(Clone, Debug, PartialEq)]
pub enum FlowTcp {
    Simulated(Tcp),
    Stack(Stack),
}

impl Default for FlowTcp {
    fn default() -> FlowTcp {
        FlowTcp::Simulated(Tcp::default())
    }
}

impl FlowTcp {
    pub fn simulated(&self) -> Option<&Tcp> {
        match self {
            FlowTcp::Simulated(tcp) => Some(tcp),
            FlowTcp::Stack(_) => None,
        }
    }

    pub fn stack(&self) -> Option<&Stack> {
        match self {
            FlowTcp::Simulated(_) => None,
            FlowTcp::Stack(stack) => Some(stack),
        }
    }
}

impl Decode for FlowTcp {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<FlowTcp> {
        match node {
            Node::Table(entries) if entries.contains_key("stack") => Stack::decode(node, decoder).map(FlowTcp::Stack),
            _ => Tcp::decode(node, decoder).map(FlowTcp::Simulated),
        }
    }

    fn expected() -> String {
        Tcp::expected()
    }
}

impl Serialize for FlowTcp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            FlowTcp::Simulated(tcp) => tcp.serialize(serializer),
            FlowTcp::Stack(stack) => stack.serialize(serializer),
        }
    }
}

impl JsonSchema for FlowTcp {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "FlowTcp".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (tcp, stack) = (generator.subschema_for::<Tcp>(), generator.subschema_for::<Stack>());
        schemars::json_schema!({"anyOf": [tcp, stack, generator.subschema_for::<PresetName>()]})
    }
}
