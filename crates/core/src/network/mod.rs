//! The network as the engine uses it: indices and typed quantities, with names resolved and defaults filled in.
//!
//! The scenario crate builds it from a description and rejects anything that cannot run. Tests build it directly.

pub use crate::primitives::ids::{FlowId, GroupId, PortId};
use crate::primitives::segment_number::SegmentNumber;
pub use crate::primitives::sizes::{CELL_BYTES, CELL_PAYLOAD, MAX_ACCESS_RATES, MAX_PACKET, MAX_ROUTE_ENTRIES, MAX_SEGMENTS};
mod base_rtt;
mod delay;
mod delivery_trace;
mod impairments;
mod min_completion_time;
mod rate_schedule;
mod varying_rate;

pub use delay::Delay;
pub use delivery_trace::{Accounting, DeliveryTrace, Opportunities, TraceFault};
pub use impairments::{GilbertElliott, Impairments, Jitter, LossAt};
pub(crate) use min_completion_time::{Hop, Transfer};
pub use rate_schedule::{Capacity, RateSchedule, RateStep, ScheduleFault};
pub use varying_rate::VaryingRate;

use crate::abr::SourceSpec;
use crate::congestion::ControllerSpec;
use crate::price::PriceSpec;
use crate::primitives::token_bucket::BucketSpec;
use crate::primitives::units::{Bytes, Rate, Time, TimeDelta, Units};
use crate::queue::PolicySpec;
use crate::schedule::SchedulerSpec;
use crate::settings::words;
use crate::tcp::{SlowStart, TcpSpec};
use crate::traffic::{ApplicationSpec, Arrivals, DatagramSpec, MessagesSpec, PacketSize};
use crate::user_code::UserCode;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The complete description of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Network {
    /// One per direction of a link.
    pub ports: Vec<Port>,
    /// Distinct routes, as the ports that a packet crosses in order. Flows refer to them by index.
    pub paths: Vec<Vec<PortId>>,
    pub groups: Vec<Group>,
    /// All flows. Flows of one group are adjacent, in the order of `groups`.
    pub flows: Vec<Flow>,
    /// The messages of each flow whose group's application is [`ApplicationSpec::Messages`], and of no other flow.
    pub messages: BTreeMap<FlowId, MessagesSpec>,
    /// The price scheme shared by queues, receivers and senders.
    pub prices: PriceSpec,
    /// Sorted by time.
    pub changes: Vec<Change>,
    pub duration: TimeDelta,
    /// Start of the measurement interval; results cover `warmup..duration`.
    pub warmup: TimeDelta,
    /// Below 2^53.
    pub seed: u64,
    pub record: Recording,
    /// Every hop is an event and nothing is computed ahead. Slower, with byte-identical results; tests compare the two modes.
    pub stepped: bool,
}

/// The part that user code implements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CodeKind {
    Controller,
    Policy,
    Source,
    Application,
    /// A transport behind external flows, which the engine does not see.
    Host,
    /// The same, installed as a library.
    Stack,
}

impl Network {
    /// Whether any flow has the available bit rate service.
    pub(crate) fn has_edges(&self) -> bool {
        self.groups.iter().any(|group| group.abr.is_some())
    }

    /// Whether any flow of datagrams has a size.
    pub(crate) fn has_sized_datagrams(&self) -> bool {
        let is_sized = |flow: &Flow| flow.size.is_some() && matches!(self.groups[flow.group].transport, Transport::Datagram(_));
        self.flows.iter().any(is_sized)
    }

    /// Whether the caller of the engine sends the flow's datagrams.
    pub(crate) fn is_external(&self, flow: FlowId) -> bool {
        match &self.groups[self.flows[flow].group].transport {
            Transport::Datagram(spec) => matches!(spec.arrivals, Arrivals::External),
            Transport::Tcp(..) => false,
        }
    }

    /// All user code of the network, with its kind.
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
        // All flows of a group have the same code.
        let mut groups = BTreeSet::new();
        let applications = self.messages.iter().filter_map(move |(flow, messages)| {
            let code = messages.user_code()?;
            groups.insert(self.flows[*flow].group).then_some((CodeKind::Application, code))
        });
        policies.chain(senders).chain(applications)
    }

    /// The buffer of a port at a given time.
    pub fn buffer_at(&self, port: PortId, time: Time) -> Buffer {
        let mut changed = self.changes.iter().filter(|change| change.at <= time).filter_map(|change| match change.what {
            ChangeKind::Buffer(of, buffer) if of == port => Some(buffer),
            _ => None,
        });
        changed.next_back().unwrap_or(self.ports[port].buffer)
    }
}

/// One direction of a link: a buffer, a policy, K transmitters and the delay line after them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Port {
    pub name: String,
    /// For a port whose rate varies, its mean rate.
    pub rate: Rate,
    /// Present if the rate varies. Such a port has one transmitter, is not cut-through and does not feed a cut-through port.
    pub varying: Option<VaryingRate>,
    pub delay: TimeDelta,
    /// 1 for a link; K wavelengths for a trunk.
    pub transmitters: u32,
    /// A port that feeds a cut-through port is at least as fast as one of its transmitters, which would otherwise run dry. A cut-through
    /// port has a delay, because otherwise the head of a unit would be at two ports at the same instant.
    pub switching: Switching,
    pub buffer: Buffer,
    /// Whether the unit in service occupies the buffer.
    pub counts_in_service: bool,
    pub policy: PolicySpec,
    /// Present if the port has several queues; they share its buffer.
    pub scheduling: Option<Box<Scheduling>>,
    /// Units in service first wait for tokens. The ports that this one feeds are store-and-forward.
    pub shaper: Option<BucketSpec>,
    /// Probability that a packet is lost, 0 to 1: on the link after the port, unless `impairments` specify otherwise.
    pub random_loss: f64,
    /// Packets to discard on arrival, in any order.
    pub listed_drops: Vec<ListedDrop>,
    /// Ports that carry cells neither duplicate nor reorder packets, and have no MTU. A port that feeds a cut-through port has no jitter and no duplication.
    pub impairments: Impairments,
}

impl Port {
    /// The feature of the link that the closed forms do not model, as a verb phrase whose subject is the link.
    pub fn unmodelled(&self) -> Option<&'static str> {
        let Impairments { loss_at, bursts, jitter, duplication, mtu: _ } = self.impairments;
        match () {
            () if self.scheduling.is_some() => Some("has several queues"),
            () if self.shaper.is_some() => Some("has a shaper"),
            () if matches!(self.varying, Some(VaryingRate::Schedule(_))) => Some("has a rate that varies"),
            () if self.varying.is_some() => Some("follows a delivery trace"),
            () if bursts.is_some() => Some("loses packets in bursts"),
            () if self.random_loss > 0.0 && loss_at == LossAt::BeforeQueue => Some("loses packets before the queue"),
            () if jitter.is_some() => Some("has jitter"),
            () if duplication > 0.0 => Some("duplicates packets"),
            () => None,
        }
    }
}

/// The queues of a port that has several, and their scheduler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scheduling {
    pub scheduler: SchedulerSpec,
    pub queues: Queues,
}

/// How flows are assigned to queues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Queues {
    /// One queue per flow, with the port's policy.
    OfFlows,
    /// This number of queues, chosen by a hash of the flow, with the port's policy.
    Hashed(u32),
    /// One queue per class, and the index of the queue of each class ([`Group::class`]).
    OfClasses(Vec<ClassQueue>, Vec<Option<u32>>),
    /// Two queues, managed by the scheduler: one for L4S flows ([`Group::l4s`]), one for the others.
    L4sAndClassic,
}

impl Queues {
    /// Names of the queues that are counted separately.
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
    /// Greater than 0; its meaning depends on the scheduler.
    pub weight: f64,
    /// The queue's own buffer, within the port's.
    pub buffer: Buffer,
    pub policy: PolicySpec,
}

impl Port {
    /// The policies of all queues of the port.
    pub fn policies(&self) -> impl Iterator<Item = &PolicySpec> {
        let of_classes = match self.scheduling.as_deref() {
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
        /// At its last bit: packets are received completely first.
        StoreAndForward = "store_and_forward",
        /// At its first bit: an idle transmitter sends the packet as it arrives; otherwise it is stored if there is room, or discarded.
        CutThrough = "cut_through",
    }
}

/// Buffer size of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Buffer {
    /// Packets, or cells if the port carries cells.
    Units(u64),
    Bytes(u64),
    Unlimited,
}

/// Occupancy of a buffer.
#[derive(Clone, Copy)]
pub(crate) struct BufferContent {
    pub(crate) units: Units,
    pub(crate) bytes: Bytes,
}

impl Buffer {
    /// Whether a buffer with this content has no room for a unit of this size.
    #[inline]
    pub(crate) fn lacks_room(self, content: BufferContent, unit: Bytes) -> bool {
        match self {
            Buffer::Units(places) => content.units >= Units(places),
            Buffer::Bytes(places) => content.bytes + unit > Bytes(places),
            Buffer::Unlimited => false,
        }
    }
}

/// Discard one transmission of one data segment of one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ListedDrop {
    pub flow: FlowId,
    /// 0 is the flow's first segment (or datagram).
    pub segment: SegmentNumber,
    /// 1 is the first transmission, 2 the first retransmission. Datagrams have only 1.
    pub transmission: u32,
    /// For a packet in cells: the index of the cell, from 0, among the cells that reach the port. `None` discards all cells.
    pub cell: Option<u32>,
}

/// Flows of the same kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    pub name: String,
    /// The class of its flows at ports with class queues; 0 is the default class.
    pub class: u32,
    /// Its packets are L4S: they carry ECT(1) (RFC 9331 section 4.1), while other ECN-capable packets carry ECT(0).
    pub l4s: bool,
    pub transport: Transport,
    /// The application that hands data to TCP; `None`: all data is available from the start.
    pub application: Option<ApplicationSpec>,
    /// `Some`: each flow is a virtual channel (VC) and its packets travel in cells.
    pub framing: Option<Aal5>,
    /// For flows with `framing`: each VC has the available bit rate service, with an edge at its sender.
    pub abr: Option<Abr>,
    /// Serial, order-preserving server at the sender before the access link.
    pub send_processing: Option<Delay>,
    /// The same at the receiver, for each packet that arrives: it is received when it has been served.
    pub receive_processing: Option<Delay>,
    /// Delays each data packet at the sender by a uniform draw from 0 to this value; order is kept.
    pub jitter: TimeDelta,
}

/// The available bit rate service of a VC. Packets are queued at its edge and leave in cells at the rate that the network allows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Abr {
    pub source: SourceSpec,
    /// Buffer of the edge, in packets or bytes; a packet occupies it until its last cell has left.
    pub buffer: Buffer,
    /// Acknowledgements are held at the edge while it has at least this number of packets; at least 1.
    pub holds_acks_from: Option<Units>,
}

/// Segmentation of packets into cells: AAL5 (ITU-T I.363.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aal5 {
    /// Bytes of a frame in addition to its packet, before padding: the trailer, and LLC/SNAP (RFC 2684 section 5) if used.
    pub overhead: Bytes,
    /// Delay from a packet's arrival at the adaptation layer to the departure of its first cell, and from the arrival of its last cell to
    /// delivery. Pure delays: they do not delay the next packet.
    pub segmentation: TimeDelta,
    pub reassembly: TimeDelta,
}

impl Aal5 {
    /// Maximum size of a frame without its trailer.
    pub const MAX_FRAME: Bytes = Bytes(65_535);

    /// Cells of a packet.
    #[inline]
    pub fn cells(self, packet: Bytes) -> Units {
        Units((packet + self.overhead).0.div_ceil(CELL_PAYLOAD.0))
    }

    /// Both delays of a packet.
    pub(crate) fn delay(self) -> TimeDelta {
        self.segmentation + self.reassembly
    }
}

#[expect(clippy::large_enum_variant, reason = "a network has one per group of flows")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Transport {
    Tcp(TcpSpec, ControllerSpec),
    Datagram(DatagramSpec),
}

impl Transport {
    /// The settings of TCP, at an event that only TCP flows have.
    #[inline]
    pub(crate) fn expect_tcp(&self) -> &TcpSpec {
        match self {
            Transport::Tcp(spec, _) => spec,
            Transport::Datagram(_) => unreachable!("a TCP event at a flow without TCP"),
        }
    }

    /// The exit condition of its slow start, if it has one.
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
    /// Cells of an acknowledgement; 1 if it is not segmented.
    pub(crate) fn ack_cells(&self) -> Units {
        match (&self.transport, self.framing) {
            (Transport::Tcp(spec, _), Some(framing)) => framing.cells(spec.ack_size),
            _ => Units(1),
        }
    }
}

/// One flow: route, time and size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    pub group: GroupId,
    /// Index in [`Network::paths`] for data.
    pub forward: u32,
    /// Index in [`Network::paths`] for acknowledgements.
    pub backward: u32,
    /// The private link between the sender and the first port: both directions.
    pub sender_access: AccessLink,
    /// The private link between the last port and the receiver: both directions.
    pub receiver_access: AccessLink,
    /// Rate of the sender's interface, if the first link of its packets is its own.
    pub interface: Option<Rate>,
    pub start: Time,
    /// No new data after this; [`Time::NEVER`] if open.
    pub stop: Time,
    /// Payload to transfer in bytes; `None` is greedy.
    pub size: Option<Bytes>,
}

/// A private link: `departure = max(arrival, free) + service`, then the delay. At most 1000 data packets wait for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AccessLink {
    /// `None`: no serialisation.
    pub rate: Option<Rate>,
    pub delay: TimeDelta,
}

/// A change during the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    pub at: Time,
    pub what: ChangeKind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ChangeKind {
    /// The packet in service finishes at the old rate.
    Rate(PortId, Rate),
    /// For packets that leave the port from now on. Packets never overtake one another.
    Delay(PortId, TimeDelta),
    /// New forward and backward path of a flow, for packets that its ends send from now on.
    Route(FlowId, u32, u32),
    RandomLoss(PortId, f64),
    /// For packets that arrive from now on. Queued packets stay, except if several queues share the buffer: the longest queue then makes
    /// room at the next arrival.
    Buffer(PortId, Buffer),
}

/// Recordings in addition to the counters, which are always on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    pub traces: Vec<Trace>,
    /// Record delay percentiles per queue and per flow group.
    pub delay_percentiles: bool,
    /// Count units per queue and flow.
    pub queue_flows: bool,
}

/// A trace and its subjects.
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
    /// Retransmission timeout with its backoff in seconds, at each change.
    Rto,
    /// Segments sent and not yet acknowledged, at each acknowledgement.
    InFlight,
    /// Data segments as sent: number and transmission.
    Segments,
    /// Acknowledgements as they reach the sender.
    Acks,
    /// Slow start, congestion avoidance, recovery, waiting for a timeout.
    State,
    /// Internal quantities of controllers, at each change.
    Law,
    /// Delivered payload per bin of this width, bit/s.
    Throughput(TimeDelta),
    /// Units in a port, at each change.
    Queue,
    /// Discards at a port, with flow and reason.
    Drops,
    /// Departures from a port, with flow and size.
    Departures,
    /// Packets that a flow's sender sends and receives, with their header fields.
    Packets,
}

impl TraceKind {
    /// Whether the trace follows ports; the others follow flows.
    pub fn is_of_ports(self) -> bool {
        matches!(self, TraceKind::Queue | TraceKind::Drops | TraceKind::Departures)
    }
}
