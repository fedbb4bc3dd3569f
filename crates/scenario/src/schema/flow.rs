//! `[flows.NAME]`

use super::{Abr, Application, Processing, Source, Tcp, Traffic};
use crate::decode::{Decode, Decoder, kind};
use crate::distribution::Distribution;
use crate::quantity::{Duration, Probability, Rate, Size};
use crate::record::record;
use crate::tree::Node;
use crate::values::{Integer, Name};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::json;

record! {
    /// A group of flows with the same settings, either with `tcp` or with a datagram `source`.
    pub struct Flow {
        /// Number of flows. Default: all that arrive before `stop` or the end of the run (with `arrivals`), the length of a list of values,
        /// one round of `traffic`, or 1.
        count: Option<Integer<1, 4000000>>,
        /// Node of the senders, or several nodes, to which flows are assigned in turn. A node may be listed several times.
        from: Option<Nodes>,
        /// Node of the receivers, or several nodes: each round over `from` uses the next one.
        to: Option<Nodes>,
        /// Traffic pattern among many nodes, instead of `from` and `to`.
        traffic: Option<Traffic>,
        /// Links of the data, in order (`NAME`, or `NAME.reverse` for the reverse link). Default: by `routing`.
        route: Option<Vec<PortName>>,
        /// Links of the acknowledgements, in order. Default: the reverse of `route`, or by `routing` if that does not exist or routing is
        /// `ecmp`.
        return_route: Option<Vec<PortName>>,
        /// Private access link of each sender, in both directions, with an unlimited queue.
        sender_access: Option<Access>,
        /// Private access link of each receiver.
        receiver_access: Option<Access>,
        /// Round-trip propagation delay, without serialisation. It sets the delay of `sender_access`.
        propagation_rtt: Option<Distribution<Duration>>,
        /// Start time of each flow.
        start: Distribution<Duration> = Distribution::Fixed(Duration::new(0)),
        /// Random arrivals of the flows, from `start` on.
        arrivals: Option<FlowArrivals>; json!({"mean_interval": "100 ms"}),
        /// Time at which all flows stop sending new data.
        stop: Option<Duration>; "1 s",
        /// Payload of each flow. Default: unlimited.
        size: Option<Distribution<Size>>; "100 kB",
        /// Maximum of a uniform random delay of each data packet at the sender. Packets stay in order.
        jitter: Duration = Duration::new(0),
        /// Processing time of each data packet at the sender. Default: that of the node.
        send_processing: Option<Processing>,
        /// Processing time of each packet at the receiver. Default: that of the node.
        receive_processing: Option<Processing>,
        /// Send packets in ATM cells (AAL5). Each flow is a virtual channel (VC).
        framing: Option<Framing>,
        /// Available bit rate service of flows with `framing`.
        abr: Option<Abr>,
        /// Traffic class of its packets and acknowledgements in queues with `classes`.
        class: Option<Name>,
        /// Send packets as L4S, with ECT(1), which selects their queue in `dualpi2`. Default: true for an L4S controller (`prague`) with
        /// `ecn`.
        l4s: Option<bool>,
        /// TCP settings.
        tcp: Option<Tcp>,
        /// Application that writes data to TCP. Default: all data is available at the start.
        application: Option<Application>,
        /// Source of datagrams without a transport protocol.
        source: Option<Source>,
    }
}

record! {
    /// Poisson arrivals of flows. The rate is given by `mean_interval` or by `load`.
    pub struct FlowArrivals {
        /// Mean time between two starts.
        mean_interval: Option<Duration>,
        /// Mean arriving payload as a share of `reference_rate`, at most 1, without headers. For an overload use `mean_interval`.
        load: Option<Probability>,
        /// Rate that `load` refers to, such as that of the bottleneck.
        reference_rate: Option<Rate>,
    }
}

record! {
    /// A private link with an unlimited queue.
    pub struct Access {
        /// Bit rate. Default: no serialisation delay.
        rate: Option<Rate>,
        /// Propagation delay, one way.
        delay: Option<Duration>,
    }
}

record! {
    /// AAL5 framing: a packet is segmented into 53-byte cells with 48 bytes of payload.
    pub struct Framing {
        /// Trailer of each packet, before padding: 8 bytes in ITU-T I.363.5, none in bpd-2001.
        trailer: Size = Size::new(8),
        /// Add the 8-byte LLC/SNAP header to each packet (RFC 2684 section 5.1).
        llc_snap: bool = false,
        /// Delay of the adaptation layer before the first cell of a packet is sent, for data and acknowledgements.
        segmentation_delay: Duration = Duration::new(0),
        /// Delay from the arrival of the last cell until the packet is delivered.
        reassembly_delay: Duration = Duration::new(0),
    }
}

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
            Node::Text(text) if Name::of(text.strip_suffix('*').unwrap_or(text)).is_some() => Some(NodeName(text.clone())),
            Node::Text(_) => decoder.invalid_value(node, "is not a valid name"),
            _ => decoder.invalid_value(node, format!("must be a node's name, not {}", kind(node))),
        }
    }

    fn expected() -> String {
        "a node's name, or a prefix such as `edge*` for all nodes that begin with it".into()
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

/// One direction of a link: `NAME`, or `NAME.reverse` for the reverse link.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct PortName(pub String);

impl Decode for PortName {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<PortName> {
        match node {
            Node::Text(text) => Some(PortName(text.clone())),
            _ => decoder.invalid_value(node, format!("must be a link's name, not {}", kind(node))),
        }
    }

    fn expected() -> String {
        "a link's name, or NAME.reverse for the reverse link".into()
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
