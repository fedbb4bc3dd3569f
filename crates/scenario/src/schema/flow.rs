//! `[flows.NAME]`

use super::abr::Abr;
use super::application::Application;
use super::node::Processing;
use super::nodes::Nodes;
use super::source::Source;
use super::stack::FlowTcp;
use super::traffic::Traffic;
use crate::decode::{Decode, Decoder, kind};
use crate::distribution::Distribution;
use crate::probability::Probability;
use crate::quantity::{Duration, Rate, Size};
use crate::rate_profile::{ProfileEnd, RateProfile};
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
        /// one round of `traffic`, or one flow per pair of `from` and `to`.
        count: Option<Integer<1, 4000000>>,
        /// Node of the senders, or several nodes. Flows are assigned to pairs of `from` and `to` in turn. A node may be listed several times.
        /// Default: `left` of a dumbbell, and the first node of a parking lot or chain.
        from: Option<Nodes>,
        /// Node of the receivers, or several nodes. In lists as long as `from`, the nodes in the same place are a pair; otherwise each node
        /// of `from` is a pair with each node of `to`, and each round over `from` uses the next one. Default: `right` of a dumbbell, and the
        /// last node of a parking lot or chain.
        to: Option<Nodes>,
        /// Traffic pattern among many nodes, instead of `from` and `to`.
        traffic: Option<Traffic>,
        /// Links of the data, in order (`NAME`, or `NAME.reverse` for the reverse link). Default: by `routing`.
        route: Option<Vec<PortName>>,
        /// Links of the acknowledgements, in order. Default: the reverse of `route`, or by `routing` if that does not exist or routing is
        /// `ecmp`.
        return_route: Option<Vec<PortName>>,
        /// Private access link of each sender, in both directions, with a queue of 1000 packets.
        sender_access: Option<Access>,
        /// Private access link of each receiver.
        receiver_access: Option<Access>,
        /// Round-trip propagation delay, without serialisation. It sets the delay of `sender_access`.
        propagation_rtt: Option<Distribution<Duration>>,
        /// Start time of each flow.
        start: Distribution<Duration> = Distribution::Fixed(Duration::new(0)),
        /// Random arrivals of the flows, or of whole incasts with `traffic.incast`, from `start` on.
        arrivals: Option<FlowArrivals>; json!({"mean_interval": "100 ms"}),
        /// Time at which all flows stop sending new data.
        stop: Option<Duration>; "1 s",
        /// Payload of each flow. Default: unlimited. A datagram source ends with it; the last datagram has the rest. Lost datagrams are not repeated,
        /// so that the transfer completes only if all arrive.
        size: Option<Distribution<Size>>; "100 kB",
        /// Maximum of a uniform random delay of each data packet at the sender. Packets stay in order. Default: 100 ns with presets
        /// `linux/*`, because hosts are not locked in phase, otherwise 0 s.
        jitter: Option<Duration>; "10 us",
        /// Processing time of each data packet at the sender. Default: that of the node.
        send_processing: Option<Processing>,
        /// Processing time of each data packet or datagram at the receiver. Default: that of the node.
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
        /// TCP settings, or a transport stack.
        tcp: Option<FlowTcp>,
        /// Application that writes data to TCP. Default: all data is available at the start.
        application: Option<Application>,
        /// Source of datagrams without a transport protocol.
        source: Option<Source>,
    }
}

record! {
    /// Poisson arrivals of flows. The rate is given by `mean_interval` or by `load`. With `traffic.incast`, each arrival is an incast, whose senders all start at once.
    pub struct FlowArrivals {
        /// Mean time between two arrivals.
        mean_interval: Option<Duration>,
        /// Mean arriving payload as a share of `reference_rate`, at most 1, without headers. For an overload use `mean_interval`.
        load: Option<Probability>,
        /// Rate that `load` refers to, such as that of the bottleneck. Default: the total of `traffic.matrix`.
        reference_rate: Option<Rate>,
        /// Factor of the rate over time from `start` on, with linear interpolation. `mean_interval` or `load` applies where it is 1. Default:
        /// always 1.
        profile: Option<RateProfile>,
        /// Rate after the last time of `profile`.
        profile_end: ProfileEnd = ProfileEnd::Repeat,
    }
}

record! {
    /// A private link with a queue of 1000 packets, as of an interface in Linux.
    pub struct Access {
        /// Bit rate. Default: no serialisation delay. For TCP with `framing`, a rate equal to that of the first link becomes up to 100 ppm faster, because no two
        /// clocks are equal, except with the presets of documents.
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

impl Flow {
    /// Number of consecutive connections of each flow.
    pub(crate) fn connections(&self) -> u64 {
        self.application.as_ref().map_or(1, Application::connections)
    }

    /// Length of the longest list, if there is any.
    pub(crate) fn list_length(&self) -> Option<usize> {
        let lists = [
            self.start.list_length(),
            self.size.as_ref().and_then(Distribution::list_length),
            self.propagation_rtt.as_ref().and_then(Distribution::list_length),
        ];
        lists.into_iter().flatten().max()
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
