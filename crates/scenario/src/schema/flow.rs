//! `[flows.NAME]`

use super::{Abr, Application, Processing, Source, Tcp, Traffic};
use crate::decode::{Decode, Decoder, kind};
use crate::distribution::Distribution;
use crate::quantity::{Duration, Probability, Rate, Size};
use crate::record::record;
use crate::tree::Node;
use crate::values::{Name, Whole};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::json;

record! {
    /// A group of flows of one kind. Either `tcp` or `source` says what they send.
    pub struct Flow {
        /// Flows in the group. If not given, as many as start before they stop or the run ends where `arrivals` says when they do, as many as
        /// a list has values, as `traffic` makes in one round, or 1.
        count: Option<Whole<1, 4000000>>,
        /// Node where the senders are, or several of them, which the flows take in turn; one named twice gets twice as many.
        from: Option<Nodes>,
        /// Node where the receivers are, or several: when each node of `from` had its turn, the next of these has.
        to: Option<Nodes>,
        /// Who sends to whom among many nodes, instead of `from` and `to`.
        traffic: Option<Traffic>,
        /// Links that data crosses in turn (`NAME`, or `NAME.reverse` for the way back); if not given, as `routing` says.
        route: Option<Vec<PortName>>,
        /// Links that acknowledgements cross; if not given, the reverse of the route, or where that is not possible, or where hashes
        /// decide, as `routing` says.
        return_route: Option<Vec<PortName>>,
        /// Private link between each sender and the network, both ways, with room for everything.
        sender_access: Option<Access>,
        /// Private link between the network and each receiver.
        receiver_access: Option<Access>,
        /// Propagation delay there and back, without any serialisation: sets the delay of `sender_access`.
        propagation_rtt: Option<Distribution<Duration>>,
        /// When each flow starts.
        start: Distribution<Duration> = Distribution::Fixed(Duration::new(0)),
        /// Lets flows start one after another, from `start` on.
        arrivals: Option<FlowArrivals>; json!({"mean_interval": "100 ms"}),
        /// When all stop sending new data.
        stop: Option<Duration>; "1 s",
        /// Payload that each flow transfers; endless if not given.
        size: Option<Distribution<Size>>; "100 kB",
        /// Delays each data packet at the sender by a uniform draw from 0 to this; order is kept.
        jitter: Duration = Duration::new(0),
        /// Processing of each data packet at the sender, if not the node's.
        send_processing: Option<Processing>,
        /// Processing of each packet at the receiver, if not the node's.
        receive_processing: Option<Processing>,
        /// Packets travel in ATM cells, and each flow is a virtual channel (VC) of its own.
        framing: Option<Framing>,
        /// Flows with `framing` may have the available bit rate service.
        abr: Option<Abr>,
        /// Which queue its packets and acknowledgements have at links that tell classes apart (`queue.classes`).
        class: Option<Name>,
        /// Whether its packets say that they are L4S, ECT(1), which decides about their queue at a `dualpi2`. By default they do if the
        /// controller is made for that (`prague`) and `ecn` is on.
        l4s: Option<bool>,
        /// TCP.
        tcp: Option<Tcp>,
        /// What hands data to TCP. If not given, all data is available from the start.
        application: Option<Application>,
        /// Datagrams without a transport.
        source: Option<Source>,
    }
}

record! {
    /// A Poisson process of starts: exponential times between them. Either `mean_interval` or `load` says how long these are.
    pub struct FlowArrivals {
        /// From one start to the next, in the mean.
        mean_interval: Option<Duration>,
        /// Payload that arrives, in the mean, as a share of `reference_rate`, 1 at most; headers come on top. `mean_interval`
        /// can say more.
        load: Option<Probability>,
        /// What `load` is a share of, such as the rate of the bottleneck.
reference_rate: Option<Rate>,
    }
}

record! {
    /// A private link with room for everything.
    pub struct Access {
        /// Bit rate; no serialisation if not given.
        rate: Option<Rate>,
        /// Propagation delay, one way.
        delay: Option<Duration>,
    }
}

record! {
    /// AAL5: a packet is cut into 53-byte cells, each with 48 bytes of the frame.
    pub struct Framing {
        /// Bytes appended to each packet, before padding. ITU-T I.363.5 has 8; bpd-2001 assumes none.
        trailer: Size = Size::new(8),
        /// Whether the 8 bytes of LLC and SNAP precede each packet (RFC 2684 section 5.1).
        llc_snap: bool = false,
        /// From a packet's arrival at the adaptation layer until its first cell may leave, for data and acknowledgements alike.
        segmentation_delay: Duration = Duration::new(0),
        /// From the arrival of a packet's last cell until the packet is handed up.
        reassembly_delay: Duration = Duration::new(0),
    }
}

/// Nodes by their names: one or several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nodes(pub Vec<NodeName>);

/// A node's name; one that ends in `*` stands for all nodes that begin as it does.
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
            Node::List(list) if list.is_empty() => decoder.misfit(node, "is empty"),
            Node::List(_) => Vec::decode(node, decoder).map(Nodes),
            _ => NodeName::decode(node, decoder).map(|name| Nodes(vec![name])),
        }
    }

    fn expected() -> String {
        format!("{}, or several in brackets", NodeName::expected())
    }
}

impl Decode for NodeName {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<NodeName> {
        match node {
            Node::Text(text) if Name::of(text.strip_suffix('*').unwrap_or(text)).is_some() => Some(NodeName(text.clone())),
            Node::Text(_) => decoder.misfit(node, "is not a valid name"),
            _ => decoder.misfit(node, format!("must be a node's name, not {}", kind(node))),
        }
    }

    fn expected() -> String {
        "a node's name, or `edge*` for all that begin so".into()
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
        schemars::json_schema!({"type": "string", "pattern": r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}\*?$"})
    }
}

/// One direction of a link: `NAME`, or `NAME.reverse` for its way back.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct PortName(pub String);

impl Decode for PortName {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<PortName> {
        match node {
            Node::Text(text) => Some(PortName(text.clone())),
            _ => decoder.misfit(node, format!("must be a link's name, not {}", kind(node))),
        }
    }

    fn expected() -> String {
        "a link's name, or NAME.reverse for its way back".into()
    }
}

impl JsonSchema for PortName {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PortName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({"type": "string", "pattern": r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}(\.reverse)?$"})
    }
}
