//! The network as the engine takes it: indices and typed quantities, no names to resolve and no defaults left.
//!
//! The scenario crate builds this from a description and has by then refused whatever cannot run. Tests build it by hand.

pub use crate::primitives::sizes::{CELL_BYTES, CELL_PAYLOAD, MAX_ACCESS_RATES, MAX_PACKET, MAX_ROUTE_ENTRIES, MAX_SEGMENTS};
mod base_rtt;
mod delay;
mod delivery_trace;
mod impairments;
mod least_completion;

pub use delay::Delay;
pub use delivery_trace::{DeliveryTrace, Opportunities, TraceFault};
pub use impairments::{GilbertElliott, Impairments, Jitter, LossAt};
pub(crate) use least_completion::{Hop, Transfer};

use crate::abr::SourceSpec;
use crate::congestion::ControllerSpec;
use crate::price::PriceSpec;
use crate::primitives::token_bucket::BucketSpec;
use crate::primitives::units::{Bytes, Rate, Span, Time, Units};
use crate::queue::PolicySpec;
use crate::schedule::SchedulerSpec;
use crate::settings::words;
use crate::tcp::{SlowStart, TcpSpec};
use crate::traffic::{ApplicationSpec, Arrivals, DatagramSpec, PacketSize};
use crate::user_code::UserCode;
use serde::{Deserialize, Serialize};

/// Index of a directed port in [`Network::ports`].
pub type PortId = u32;
/// Index of a flow in [`Network::flows`].
pub type FlowId = u32;

/// Everything that one run needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Network {
    /// One per direction of a link.
    pub ports: Vec<Port>,
    /// Distinct routes, as the ports that a packet crosses in turn. Flows refer to them by index.
    pub paths: Vec<Vec<PortId>>,
    pub groups: Vec<Group>,
    /// All flows; those of one group stand together, in the order of `groups`.
    pub flows: Vec<Flow>,
    /// How queues that tell prices, receivers and senders that go by them understand one another.
    pub prices: PriceSpec,
    /// Sorted by time.
    pub changes: Vec<Change>,
    pub duration: Span,
    /// Measurement begins here; results cover `warmup..duration`.
    pub warmup: Span,
    /// Below 2^53.
    pub seed: u64,
    pub record: Record,
    /// Event-driven everywhere, no hop computed ahead: slower, and the same results byte for byte. Tests compare the two.
    pub stepped: bool,
}

/// What user code stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CodeKind {
    Controller,
    Policy,
    Source,
}

impl Network {
    /// Whether any flow has the available bit rate service.
    pub(crate) fn has_edges(&self) -> bool {
        self.groups.iter().any(|group| group.abr.is_some())
    }

    /// The user code that the network names, place by place.
    pub fn user_code(&self) -> impl Iterator<Item = (CodeKind, &UserCode)> {
        let policies = self.ports.iter().flat_map(Port::policies).filter_map(|policy| match policy {
            PolicySpec::User(code) => Some((CodeKind::Policy, code)),
            _ => None,
        });
        let senders = self.groups.iter().filter_map(|group| match &group.transport {
            Transport::Tcp(_, ControllerSpec::User(code)) => Some((CodeKind::Controller, code)),
            Transport::Datagram(DatagramSpec { arrivals: Arrivals::User(code), .. }) => Some((CodeKind::Source, code)),
            _ => None,
        });
        policies.chain(senders)
    }

    /// What a port has room for at a time.
    pub fn buffer_at(&self, port: PortId, time: Time) -> Buffer {
        let mut changed = self.changes.iter().filter(|change| change.at <= time).filter_map(|change| match change.what {
            ChangeKind::Buffer(of, buffer) if of == port => Some(buffer),
            _ => None,
        });
        changed.next_back().unwrap_or(self.ports[port as usize].buffer)
    }
}

/// One direction of a link: a buffer, a policy, K transmitters and the delay line behind them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Port {
    pub name: String,
    /// Of a port with a `trace` its mean.
    pub rate: Rate,
    /// When it can send, if not at any time. Such a port has one transmitter, does not cut through and feeds none that does.
    pub trace: Option<DeliveryTrace>,
    pub delay: Span,
    /// 1 for a link; K wavelengths for a trunk.
    pub transmitters: u32,
    /// Whatever feeds a port that cuts through is at least as fast as one of its transmitters, for else these would run dry; and such a port
    /// has a delay, for else the head of a unit would be at two ports at one instant.
    pub switching: Switching,
    pub buffer: Buffer,
    /// Whether the unit being sent holds a place in the buffer.
    pub counts_in_service: bool,
    pub policy: PolicySpec,
    /// Of a port with several queues; they share its buffer.
    pub scheduling: Option<Scheduling>,
    /// What is sent waits for its tokens first. Whatever it feeds decides on last bits.
    pub shaper: Option<BucketSpec>,
    /// Probability that a packet is lost, 0 to 1: on the wire behind the port, unless `impairments` say otherwise.
    pub random_loss: f64,
    /// Packets to discard on arrival, in any order.
    pub listed_drops: Vec<ListedDrop>,
    /// Where cells pass, packets are neither duplicated nor put in another order. What feeds a port that cuts through has no
    /// jitter and duplicates nothing.
    pub impairments: Impairments,
}

impl Port {
    /// What the link does that is in no closed form, as the end of a sentence that begins with it.
    pub fn unmodelled(&self) -> Option<&'static str> {
        let Impairments { loss_at, bursts, jitter, duplication } = self.impairments;
        match () {
            () if self.scheduling.is_some() => Some("has several queues"),
            () if self.shaper.is_some() => Some("has a shaper"),
            () if self.trace.is_some() => Some("sends by a trace"),
            () if bursts.is_some() => Some("loses packets in bursts"),
            () if self.random_loss > 0.0 && loss_at == LossAt::BeforeQueue => Some("loses packets before the queue"),
            () if jitter.is_some() => Some("has jitter"),
            () if duplication > 0.0 => Some("duplicates packets"),
            () => None,
        }
    }
}

/// Several queues of one port, and what serves them in turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scheduling {
    pub scheduler: SchedulerSpec,
    pub queues: Queues,
}

/// The queues of a port that has several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Queues {
    /// Each flow has one of its own, as the port's policy has it.
    OfFlows,
    /// A hash of the flow chooses between so many, as the port's policy has them.
    Hashed(u32),
    /// The class of its group does: of each class ([`Group::class`]) the number of its queue.
    OfClasses(Vec<ClassQueue>, Vec<Option<u32>>),
    /// Two, of a scheduler that manages them: of flows whose packets say that they are L4S ([`Group::l4s`]), and of the others.
    L4sAndClassic,
}

impl Queues {
    /// The names of the queues that are counted apart.
    pub fn class_names(&self) -> Vec<&str> {
        match self {
            Queues::OfFlows | Queues::Hashed(_) => Vec::new(),
            Queues::OfClasses(queues, _) => queues.iter().map(|queue| queue.name.as_str()).collect(),
            Queues::L4sAndClassic => vec!["L", "C"],
        }
    }
}

/// One of several queues of a port.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassQueue {
    pub name: String,
    /// Above zero; what it says, the scheduler knows.
    pub weight: f64,
    /// Of its own, within the port's.
    pub buffer: Buffer,
    pub policy: PolicySpec,
}

impl Port {
    /// The policies of all its queues.
    pub fn policies(&self) -> impl Iterator<Item = &PolicySpec> {
        let of_classes = match &self.scheduling {
            Some(Scheduling { queues: Queues::OfClasses(queues, _), .. }) => &queues[..],
            _ => &[],
        };
        let own = of_classes.is_empty().then_some(&self.policy);
        own.into_iter().chain(of_classes.iter().map(|queue| &queue.policy))
    }
}

words! {
    /// When a queue decides on a packet.
    pub enum Switching ("way of switching") {
        /// At its last bit: packets are received before anything is decided.
        StoreAndForward = "store_and_forward",
        /// At its first bit: a free transmitter sends the packet as it arrives; otherwise it is stored if there is room, else
        /// discarded.
        CutThrough = "cut_through",
    }
}

/// Waiting places of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Buffer {
    /// Packets, or cells where the port carries cells.
    Units(u64),
    Bytes(u64),
    Unlimited,
}

impl Buffer {
    /// With so much in it, it has no place for a unit of this size.
    #[inline]
    pub(crate) fn lacks_room(self, (units, bytes): (Units, Bytes), unit: Bytes) -> bool {
        match self {
            Buffer::Units(places) => units >= Units(places),
            Buffer::Bytes(places) => bytes + unit > Bytes(places),
            Buffer::Unlimited => false,
        }
    }
}

/// Discard one transmission of one data segment of one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ListedDrop {
    pub flow: FlowId,
    /// 0 is the flow's first segment (or datagram).
    pub segment: u32,
    /// 1 is the first transmission, 2 the first retransmission. Datagrams have only 1.
    pub transmission: u32,
    /// Of a packet that travels in cells, this one of those that reach the port, the first being 0; `None` is all of them.
    pub cell: Option<u32>,
}

/// Flows of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    pub name: String,
    /// Which queue its flows have at ports that tell classes apart; 0 is none in particular.
    pub class: u32,
    /// Their packets say that they are L4S: ECT(1) (RFC 9331 section 4.1), where others that can be marked say ECT(0).
    pub l4s: bool,
    pub transport: Transport,
    /// What hands data to a TCP; `None`: all there is to send waits from the start.
    pub application: Option<ApplicationSpec>,
    /// `Some`: each flow is a virtual channel (VC) and its packets travel in cells.
    pub framing: Option<Aal5>,
    /// Of flows with `framing`: each VC has the available bit rate service, with an edge at its sender.
    pub abr: Option<Abr>,
    /// Serial, order-preserving server at the sender before the access link.
    pub send_processing: Option<Delay>,
    /// The same at the receiver, before the acknowledgement.
    pub receive_processing: Option<Delay>,
    /// Delays each data packet at the sender by a uniform draw from 0 to this; order is kept.
    pub jitter: Span,
}

/// The available bit rate service of a VC: at its edge packets wait, and leave in cells at the rate that the network allows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Abr {
    pub source: SourceSpec,
    /// Waiting places of the edge, in packets or bytes; a packet holds its place until its last cell has left.
    pub buffer: Buffer,
    /// Acknowledgements wait at the edge while it holds as many packets as this or more; at least 1.
    pub holds_acks_from: Option<Units>,
}

/// How packets become cells: AAL5 (ITU-T I.363.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aal5 {
    /// What a frame has beside its packet, before padding: the trailer, and LLC/SNAP (RFC 2684 section 5) if used.
    pub overhead: Bytes,
    /// From a packet's arrival at the adaptation until its first cell may leave, and from its last cell until it is handed up. Pure
    /// delays: the next packet need not wait for them.
    pub segmentation: Span,
    pub reassembly: Span,
}

impl Aal5 {
    /// The most that a frame has without its trailer.
    pub const MAX_FRAME: Bytes = Bytes(65_535);

    /// Cells of a packet.
    #[inline]
    pub fn cells(self, packet: Bytes) -> Units {
        Units((packet + self.overhead).0.div_ceil(CELL_PAYLOAD.0))
    }

    /// Both delays of a packet.
    pub(crate) fn delay(self) -> Span {
        self.segmentation + self.reassembly
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Transport {
    Tcp(TcpSpec, ControllerSpec),
    Datagram(DatagramSpec),
}

impl Transport {
    /// What ends its slow start, if it has one.
    pub(crate) fn slow_start(&self) -> SlowStart {
        match self {
            Transport::Tcp(spec, _) => spec.slow_start,
            Transport::Datagram(_) => SlowStart::Standard,
        }
    }

    /// Size of a full data packet with its headers; `None` if they differ.
    pub fn full_packet(&self) -> Option<Bytes> {
        match self {
            Transport::Tcp(spec, _) => Some(spec.mss + spec.header),
            Transport::Datagram(spec) => match spec.packet {
                PacketSize::Fixed(bytes) => Some(bytes + spec.header),
                PacketSize::Exponential { .. } | PacketSize::Given { .. } => None,
            },
        }
    }
}

impl Group {
    /// Cells of its acknowledgements; 1 if they are not cut into cells.
    pub(crate) fn ack_cells(&self) -> Units {
        match (&self.transport, self.framing) {
            (Transport::Tcp(spec, _), Some(framing)) => framing.cells(spec.ack_size),
            _ => Units(1),
        }
    }
}

/// One flow: where it runs, when and how much.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    pub group: u32,
    /// Index in [`Network::paths`] for data.
    pub forward: u32,
    /// Index in [`Network::paths`] for acknowledgements.
    pub backward: u32,
    /// The private link between the sender and the first port: both directions.
    pub sender_access: Access,
    /// The private link between the last port and the receiver: both directions.
    pub receiver_access: Access,
    pub start: Time,
    /// No new data after this; [`Time::NEVER`] if open.
    pub stop: Time,
    /// Payload to transfer in bytes; `None` is greedy.
    pub size: Option<Bytes>,
}

/// A private link with room for everything: `departure = max(arrival, free) + service`, then the delay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Access {
    /// `None`: no serialisation.
    pub rate: Option<Rate>,
    pub delay: Span,
}

/// Something that changes while the network runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub at: Time,
    pub what: ChangeKind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ChangeKind {
    /// The packet in service finishes at the old rate.
    Rate(PortId, Rate),
    /// For packets that leave the port from now on; they never overtake.
    Delay(PortId, Span),
    /// New forward and backward path of a flow, for packets that its ends send from now on.
    Route(FlowId, u32, u32),
    RandomLoss(PortId, f64),
    /// For what arrives from now on. What is in it stays, but where queues share it: the longest makes room at the next arrival.
    Buffer(PortId, Buffer),
}

/// What to keep beside the counters, which are always on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    pub traces: Vec<Trace>,
    /// Keep delay percentiles per queue and per flow group.
    pub delay_percentiles: bool,
    /// Count at each queue what of each flow passes it.
    pub flows_of_queues: bool,
}

/// A trace and what it follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    pub kind: TraceKind,
    /// Flows to trace (for flow traces) or ports (for `Queue`, `Drops`, `Departures`).
    pub of: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TraceKind {
    /// Congestion window in segments, at each change.
    Cwnd,
    /// Slow-start threshold in segments, at each change.
    Ssthresh,
    /// Round-trip samples in seconds.
    Rtt,
    /// Segments sent and not yet acknowledged, at each acknowledgement.
    InFlight,
    /// Data segments as sent: number and transmission.
    Segments,
    /// Acknowledgements as they reach the sender.
    Acks,
    /// Slow start, congestion avoidance, recovery, waiting for a timeout.
    State,
    /// What control laws go by beside their window, at each change.
    Law,
    /// Delivered payload per bin of this width, bit/s.
    Throughput(Span),
    /// Units in a port, at each change.
    Queue,
    /// Discards at a port, with flow and reason.
    Drops,
    /// What leaves a port, with flow and size.
    Departures,
    /// What a flow's sender sends and hears, with all that headers would say.
    Packets,
}

impl TraceKind {
    /// Whether it follows ports; the others follow flows.
    pub fn is_of_ports(self) -> bool {
        matches!(self, TraceKind::Queue | TraceKind::Drops | TraceKind::Departures)
    }
}
