//! State shared by all flows and ports: the calendar, the packets in lines, side pools and recordings.

use super::access_queue::AccessQueues;
use super::adaptation::Channel;
use super::agenda::Agenda;
use super::clock::Clock;
use super::datagrams::Fate;
use super::domain_boundary::DomainBoundary;
use super::edge::{Edge, edge_of};
use super::event_order::{Event, EventOrder};
use super::hosts::Hosts;
use super::packets::Packets;
use super::path::{Feeder, Path};
use super::pending_acks::PendingAcks;
use super::port::{Port, QueuedUnit};
use super::routes::RouteEntry;
use super::wire::AccessRates;
use super::wiring::{has_channels, reach};
use crate::network::{Flow, Network};
use crate::price::{Estimators, Feedback, PriceSpec};
use crate::primitives::histogram::Histogram;
use crate::primitives::ids::FlowId;
use crate::primitives::packet::{Packet, Slab};
use crate::primitives::pooled_queue::{Pool, PooledQueue};
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::signal::{PriceBit, ReceiverFeedback};
use crate::primitives::units::{Bytes, Time};
use crate::record::recorder::Recorder;
use crate::tcp::out_of_order::OutOfOrder;
use crate::traffic::{FollowUp, MessageFlow};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// State shared by all flows and ports.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SimState {
    pub(crate) clock: Clock,
    pub(crate) agenda: Agenda,
    pub(crate) rates: AccessRates,
    /// Size of an acknowledgement as the ports see it, if it is the same for all groups.
    pub(crate) ack_unit: Option<Bytes>,
    pub(crate) hosts: Vec<Hosts>,
    /// By flow; empty if none can be full.
    pub(crate) access_queues: Vec<AccessQueues>,
    pub(crate) packets: Packets,
    /// Packets in the buffers of ports that compute departures ahead.
    pub(crate) waiting: Pool<QueuedUnit>,
    /// Flows whose next queued acknowledgement at the sender is known and has no event yet.
    pub(crate) early_acks: Vec<FlowId>,
    /// Acknowledgements that will arrive at senders which run ahead, in order per flow, after those queued at the sender. Empty between
    /// slices of a run ([`Fabric::store_pending_acks`](super::fabric::Fabric::store_pending_acks)).
    #[serde(skip)]
    pub(crate) pending_acks: PendingAcks,
    pub(crate) out_of_order: Slab<OutOfOrder>,
    /// Signals at the receivers of flows whose controllers request them ([`GroupProfile::place_among_signalled`]).
    pub(crate) at_receivers: Vec<ReceiverFeedback>,
    /// Feedback from XCP queues to these receivers that no acknowledgement has returned yet, in bytes per second.
    pub(crate) feedbacks: Vec<f64>,
    pub(crate) price_spec: PriceSpec,
    /// Price estimators of these receivers, which use marks on probes; empty if prices travel as numbers.
    pub(crate) estimators: Vec<Estimators>,
    /// By flow; empty if no packet travels in cells.
    pub(crate) channels: Vec<Channel>,
    /// By flow, for flows with the available bit rate service; empty if there are none.
    pub(crate) edges: Vec<Option<Box<Edge>>>,
    /// By flow, for flows of messages; empty if there are none.
    pub(crate) messages: Vec<Option<Box<MessageFlow>>>,
    pub(crate) recorder: Option<Box<Recorder>>,
    /// One-way delays per group, if requested.
    pub(crate) delays: Vec<Histogram>,
    /// Fates of datagrams of external flows, in the order in which they became known.
    pub(crate) fates: Vec<Fate>,
    /// Payload of datagrams that receivers still expect, by flow; empty if no flow of datagrams has a size.
    pub(crate) expected_payload: Vec<Bytes>,
    /// Datagrams that a link has duplicated and that have reached their receivers.
    pub(crate) received_duplicated: BTreeSet<(FlowId, SegmentNumber)>,
    /// Copies of packets made by links, by flow.
    pub(crate) copies: BTreeMap<FlowId, DuplicateCounts>,
    /// Acknowledgements discarded within the measurement interval, by flow. The last cell of one in cells decides.
    pub(crate) dropped_acks: BTreeMap<FlowId, u64>,
    /// Discards that were computed ahead: time and flow. Entries in the past are removed from time to time.
    pub(crate) to_be_discarded: VecDeque<(Time, FlowId)>,
    /// Present if the run is parallel.
    #[serde(skip)]
    pub(crate) boundary: Option<Box<DomainBoundary>>,
}

/// Number of copies that links have made of a flow's packets, over the whole run and beyond.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct DuplicateCounts {
    pub(crate) data: u64,
    pub(crate) acks: u64,
    /// Copies of data packets that were sent within the measurement interval.
    pub(crate) measured: u64,
}

impl SimState {
    /// The signals that the receiver at this index reports in response to this segment.
    pub(crate) fn receiver_feedback(&mut self, place: usize, segment: SegmentNumber) -> ReceiverFeedback {
        let mut report = self.at_receivers[place].take_report();
        // Feedback is reported only once.
        let feedback = std::mem::take(&mut self.feedbacks[place]);
        if feedback != 0.0 {
            report.set_price(Some(feedback));
        }
        if self.price_spec.feedback == Feedback::OneBit
            && let Some(price) = report.price()
        {
            report.set_price(None);
            report.price_bit = Some(PriceBit::of(self.price_spec.mapping.mapped(price), segment));
        }
        report
    }

    /// `signalled`: number of flows whose controllers request signals.
    pub(crate) fn new(network: &Network, order: EventOrder, signalled: usize) -> SimState {
        let pending = 2 * (network.flows.len() + network.ports.len());
        let groups = if network.record.delay_percentiles { network.groups.len() } else { 0 };
        let reach = reach(network);
        SimState {
            clock: Clock::new(network, reach),
            agenda: Agenda::new(order, pending, reach),
            rates: AccessRates::of(&network.flows),
            ack_unit: None,
            hosts: Hosts::of(network),
            access_queues: AccessQueues::of(network),
            packets: Packets::default(),
            waiting: Pool::default(),
            early_acks: Vec::new(),
            pending_acks: PendingAcks::default(),
            out_of_order: Slab::default(),
            at_receivers: vec![ReceiverFeedback::default(); signalled],
            feedbacks: vec![0.0; signalled],
            price_spec: network.prices,
            estimators: if network.prices.is_marked() { vec![network.prices.scheme.estimator(); signalled] } else { Vec::new() },
            channels: if has_channels(network) { vec![Channel::default(); network.flows.len()] } else { Vec::new() },
            edges: if network.has_edges() { edges_of(network) } else { Vec::new() },
            messages: messages_of(network),
            recorder: Recorder::new(network).map(Box::new),
            delays: vec![Histogram::default(); groups],
            fates: Vec::new(),
            expected_payload: expected_payload(network),
            received_duplicated: BTreeSet::new(),
            copies: BTreeMap::new(),
            dropped_acks: BTreeMap::new(),
            to_be_discarded: VecDeque::new(),
            boundary: None,
        }
    }

    /// Whether the data of a flow are messages.
    #[inline]
    pub(crate) fn has_messages(&self, flow: FlowId) -> bool {
        matches!(self.messages.get(flow.index()), Some(Some(_)))
    }

    /// The messages of a flow that has them.
    pub(crate) fn messages_of(&mut self, flow: FlowId) -> &mut MessageFlow {
        match self.messages.get_mut(flow.index()) {
            Some(Some(messages)) => messages,
            _ => unreachable!("flow {flow} has no messages"),
        }
    }

    /// A receiver has all segments before `expected`, which may complete messages. Returns the end of the next one, or `None` if the flow is complete.
    #[cold]
    #[inline(never)]
    pub(crate) fn deliver_messages(&mut self, flow: FlowId, expected: SegmentNumber, time: Time) -> Option<SegmentNumber> {
        if time >= self.clock.end() {
            // No application acts after the end of the run.
            return Some(SegmentNumber::NONE);
        }
        loop {
            let messages = self.messages_of(flow);
            messages.await_known();
            if messages.awaited() > expected {
                break;
            }
            if let Some(FollowUp { flow, at }) = messages.deliver(time) {
                self.plan_write(flow, at);
            }
        }
        let messages = self.messages_of(flow);
        (!messages.is_complete()).then(|| messages.awaited())
    }

    /// An application will write a message.
    fn plan_write(&mut self, flow: FlowId, at: Time) {
        if at >= self.clock.end() {
            return;
        }
        self.messages_of(flow).plan_write(at);
        self.agenda.at_latest(Event::AppWrite(flow), at);
    }

    /// A backward RM cell is on its last hop, to the edge of its flow.
    #[cold]
    pub(crate) fn return_rm(&mut self, cell: Packet) {
        let side = &mut self.channels[cell.flow].acks;
        side.note_received(cell.time);
        let edge = edge_of(&mut self.edges, cell.flow);
        if edge.returning.is_empty() {
            self.agenda.at(Event::Rm(cell.flow), cell.time);
        }
        self.packets.push(&mut edge.returning, cell);
    }

    /// Send a packet to another domain if its next hop, given by `entry`, is there.
    #[inline(never)]
    pub(crate) fn leaves(&mut self, entry: RouteEntry, feeder: Feeder, packet: Packet, paths: &[Path]) -> bool {
        let Some(boundary) = &mut self.boundary else { return false };
        let owner = boundary.owners.of_next_place(&packet, entry);
        if owner == boundary.own {
            return false;
        }
        let batch = &mut boundary.outboxes[usize::from(owner)];
        // The last cell owns the report of an acknowledgement.
        if packet.is_ack() && packet.has_report() && packet.is_last() {
            batch.reports.push(self.packets.take_report(&packet));
        } else if packet.has_price() {
            batch.prices.push(self.packets.remove_price(&packet));
        }
        // The flow's memory is read for few packets only.
        if packet.time < batch.first {
            let delay = paths[packet.flow].wire.delay_behind(entry, &packet);
            batch.first = batch.first.min(packet.time + delay);
        }
        batch.packets.push((feeder, packet));
        true
    }

    /// Like `leaves`, for a packet whose arrival at the next hop or end is an event.
    pub(crate) fn leaves_for_event(&mut self, entry: RouteEntry, feeder: Feeder, packet: Packet, paths: &[Path]) -> bool {
        let leaves = self.leaves(entry, feeder, packet, paths);
        if leaves && let Some(boundary) = &mut self.boundary {
            let owner = boundary.owners.of_next_place(&packet, entry);
            let first = &mut boundary.outboxes[usize::from(owner)].first;
            *first = packet.time.min(*first);
        }
        leaves
    }

    /// Take the head of a line and schedule the next packet's event.
    #[inline(always)]
    pub(crate) fn take_head(&mut self, line: &mut PooledQueue, event: Event) -> Option<Packet> {
        self.packets.take_head(line, event, &mut self.agenda)
    }

    #[inline(always)]
    pub(crate) fn enqueue(&mut self, feeder: Feeder, packet: Packet, paths: &mut [Path], ports: &mut [Port]) {
        let line = match feeder {
            Feeder::Send => &mut paths[packet.flow].send,
            Feeder::Back => &mut paths[packet.flow].back,
            Feeder::Port(port) => &mut ports[port].line,
        };
        self.packets.enqueue(line, packet, (feeder.event(packet.flow), &mut self.agenda));
    }
}

/// By flow; empty if no flow has messages.
fn messages_of(network: &Network) -> Vec<Option<Box<MessageFlow>>> {
    if network.messages.is_empty() {
        return Vec::new();
    }
    let of_flow = |(id, flow): (FlowId, &Flow)| {
        let spec = network.messages.get(&id)?.clone();
        let tcp = network.groups[flow.group].transport.expect_tcp();
        Some(Box::new(MessageFlow::new(spec, tcp.mss, tcp.first_data())))
    };
    FlowId::enumerate(&network.flows).map(of_flow).collect()
}

/// By flow; empty if no flow of datagrams has a size.
fn expected_payload(network: &Network) -> Vec<Bytes> {
    if !network.has_sized_datagrams() {
        return Vec::new();
    }
    network.flows.iter().map(|flow| flow.size.unwrap_or(Bytes(u64::MAX))).collect()
}

fn edges_of(network: &Network) -> Vec<Option<Box<Edge>>> {
    let of_flow = |flow: &Flow| network.groups[flow.group].abr.map(|abr| Box::new(Edge::new(abr)));
    network.flows.iter().map(of_flow).collect()
}
