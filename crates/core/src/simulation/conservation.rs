//! Conservation: every packet sent, and every copy that a link has made, is delivered, discarded or in flight, per flow and per port. A
//! violation is a bug in Tailback.

use super::endpoints::End;
use super::path::Path;
use super::port::{Entry, ReorderedPackets};
use super::state::Engine;
use crate::primitives::ids::FlowId;
use crate::primitives::packet::Packet;
use crate::primitives::pooled_queue::PooledQueue;
use crate::primitives::segment_number::SegmentNumber;
use crate::queue::DropReason;
use crate::traffic::ApplicationSpec;
use std::fmt;

/// A count that does not add up. The results of the run cannot be trusted; please report the error with the scenario and seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConservationError {
    /// Name of the flow or port in the scenario.
    pub of: String,
    pub sent: u64,
    pub accounted_for: u64,
    pub what: &'static str,
}

impl fmt::Display for ConservationError {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}: {} {} sent, {} delivered, discarded or in flight", self.of, self.sent, self.what, self.accounted_for)
    }
}

impl std::error::Error for ConservationError {}

impl Engine {
    /// `in_lines`: packets and cells in flight.
    pub(crate) fn check_conservation(&self, in_lines: &UnitsInNetwork) -> Result<(), ConservationError> {
        let UnitsInNetwork { data, acks, .. } = in_lines;
        for (flow, path) in self.endpoints.flows().zip(self.fabric.paths()) {
            let (carried, counts) = (&path.carried, &path.counts);
            let of_flow = |sent: u64, accounted: u64, what| {
                if sent == accounted {
                    return Ok(());
                }
                let name = self.network.groups[path.wire.group].name.clone();
                Err(ConservationError { of: format!("flow {flow} of {name}"), sent, accounted_for: accounted, what })
            };
            let sent = self.sent_in_all(flow);
            self.check_edge(flow)?;
            self.check_application(flow)?;
            self.check_outstanding(flow)?;
            if let Some(cells) = self.fabric.cells.as_ref().filter(|_| self.travels_in_cells(path)) {
                let channel = cells.channel(flow);
                for (side, in_lines, what) in
                    [(&channel.data, data[flow], "data cells"), (&channel.acks, acks[flow], "cells back")]
                {
                    of_flow(side.sent_in_all, side.received_in_all + side.discarded_in_all + in_lines, what)?;
                }
                continue;
            }
            let accounted = u64::from(carried.received_in_all) + u64::from(counts.discarded_in_all) + data[flow];
            let copies = self.fabric.outcomes.copies(flow);
            of_flow(u64::from(sent) + copies.data, accounted, "data packets and copies")?;
            let accounted = u64::from(carried.acks_received_in_all) + u64::from(counts.acks_discarded_in_all) + acks[flow];
            of_flow(u64::from(carried.acks_sent_in_all) + copies.acks, accounted, "acknowledgements and copies")?;
        }
        for (port, described) in self.fabric.ports().iter().zip(&self.network.ports) {
            let counts = port.equipment.counts();
            let stored = port.stepped().map_or(0, |stepped| stepped.queues.iter().map(|queue| u64::from(queue.line.len())).sum());
            let late = counts.exceptions().discarded[DropReason::Late as usize].all();
            let (taken, accounted) = (counts.accepted.all(), counts.departed.all() + late + stored);
            if taken != accounted {
                return Err(ConservationError {
                    of: described.name.clone(),
                    sent: taken,
                    accounted_for: accounted,
                    what: "packets",
                });
            }
        }
        let (reports, prices) = self.reports_and_prices();
        let fabric = &self.fabric;
        for (what, kept, carried) in [("reports", fabric.packets.reports(), reports), ("prices", fabric.packets.prices(), prices)]
        {
            if kept as u64 != carried {
                let of = "side pools of packets".to_string();
                return Err(ConservationError { of, sent: kept as u64, accounted_for: carried, what });
            }
        }
        Ok(())
    }

    fn travels_in_cells(&self, path: &Path) -> bool {
        self.network.groups[path.wire.group].framing.is_some()
    }

    /// Every packet sent is on its way to the edge, queued there, discarded there, or has left it in cells.
    fn check_edge(&self, flow: FlowId) -> Result<(), ConservationError> {
        let Some(edge) = self.fabric.cells.as_ref().and_then(|cells| cells.edge(flow)) else { return Ok(()) };
        let (counts, coming, waiting) = (&edge.counts, u64::from(edge.coming.len()), u64::from(edge.queue.len()));
        let sent = u64::from(self.sent_in_all(flow));
        let accounted_for = coming + waiting + counts.discarded_in_all + counts.left_in_all;
        if sent == accounted_for && sent == coming + counts.arrived_in_all {
            return Ok(());
        }
        let group = self.fabric.group(flow).index();
        let of = format!("the edge of flow {flow} of {}", self.network.groups[group].name);
        Err(ConservationError { of, sent, accounted_for, what: "packets" })
    }

    /// Only data handed over by the application is sent, and none of it is lost before the flow is stopped.
    fn check_application(&self, flow: FlowId) -> Result<(), ConservationError> {
        let group = &self.network.groups[self.fabric.group(flow)];
        let (Some(spec), End::Tcp(sender)) = (&group.application, self.endpoints.end(flow)) else { return Ok(()) };
        let tcp = group.transport.expect_tcp();
        let handed_over = match (spec, self.fabric.messages.get(flow)) {
            (ApplicationSpec::Bursts(spec), _) => tcp.end_of(self.endpoints.application(flow).handed_over(spec)),
            (ApplicationSpec::Messages, Some(messages)) => messages.limit(),
            (ApplicationSpec::Messages, _) => tcp.first_data(),
        };
        // The first segment opens the connection.
        let handed_over = if handed_over == tcp.first_data() { SegmentNumber::FIRST } else { handed_over };
        let kept = sender.sequence.limit == handed_over || self.endpoints.stop(flow).is_some();
        if kept && sender.sequence.snd_max <= sender.sequence.limit && sender.sequence.limit <= handed_over {
            return Ok(());
        }
        Err(ConservationError {
            of: format!("flow {flow} of {}", group.name),
            sent: handed_over.0.into(),
            accounted_for: u64::from(sender.sequence.snd_max.0) + u64::from(self.endpoints.end(flow).backlog()),
            what: "segments handed over",
        })
    }

    /// A recovery with a state per outstanding segment has each in exactly one state, and its counters match the states.
    fn check_outstanding(&self, flow: FlowId) -> Result<(), ConservationError> {
        let path = self.fabric.path(flow);
        let End::Tcp(sender) = self.endpoints.end(flow) else { return Ok(()) };
        let outstanding = sender.sequence.outstanding();
        match sender.accounted_for() {
            Some(known) if known != outstanding => Err(ConservationError {
                of: format!("flow {flow} of {}", self.network.groups[path.wire.group].name),
                sent: outstanding.0.into(),
                accounted_for: known.0.into(),
                what: "outstanding segments",
            }),
            _ => Ok(()),
        }
    }

    /// Units of each flow in lines, queues and transmitters: packets, or cells that have not been reassembled.
    pub(crate) fn units_in_lines(&self) -> UnitsInNetwork {
        let mut data = vec![0; self.endpoints.flows().len()];
        let mut acks = vec![0; self.endpoints.flows().len()];
        let mut are_under_way = vec![false; self.endpoints.flows().len()];
        for flow in self.fabric.outcomes.discards_from(self.now()) {
            are_under_way[flow] = true;
        }
        self.each_packet(|packet, place| {
            let path = self.fabric.path(packet.flow);
            let units = match place {
                Location::Network => 1,
                Location::Edge => 0,
                Location::Ends if packet.is_cell() => 0,
                Location::Ends => 1,
                Location::Access => self.fabric.profiles()[path.wire.group].cells(packet).0,
            };
            let counts = if packet.is_ack() { &mut acks } else { &mut data };
            counts[packet.flow] += units;
            are_under_way[packet.flow] |= place != Location::Ends || packet.time >= self.now();
        });
        let channels = self.fabric.cells.iter().flat_map(|cells| cells.channels());
        for (flow, channel) in channels.enumerate() {
            data[flow] -= u64::from(channel.data.gone());
            acks[flow] -= u64::from(channel.acks.gone());
            are_under_way[flow] |= channel.data.received_until.max(channel.acks.received_until) >= self.now();
        }
        UnitsInNetwork { data, acks, are_under_way }
    }

    /// Number of reports and prices that packets carry in side pools.
    fn reports_and_prices(&self) -> (u64, u64) {
        let (mut reports, mut prices) = (0, 0);
        self.each_packet(|packet, place| {
            // A packet that has not been segmented owns the data of its last cell.
            let owns = packet.is_last() || place == Location::Access;
            reports += u64::from(packet.is_ack() && packet.has_report() && owns);
            prices += u64::from(packet.has_price());
        });
        (reports, prices)
    }

    fn each_packet(&self, mut see: impl FnMut(&Packet, Location)) {
        let packets = &self.fabric.packets;
        let lines_of = |path: &Path| -> [(PooledQueue, Location); 4] {
            let profile = &self.fabric.profiles()[path.wire.group];
            let cut = if profile.has_edge { Location::Network } else { Location::Access };
            [(path.send, cut), (path.back, Location::Access), (path.ack_line, Location::Ends), (path.deliver, Location::Ends)]
        };
        for (line, place) in self.fabric.paths().iter().flat_map(lines_of).filter(|(line, _)| !line.is_empty()) {
            packets.iter(&line).for_each(|packet| see(packet, place));
        }
        for (_, edge) in self.fabric.cells.iter().flat_map(|cells| cells.edges()) {
            for (line, place) in [
                (edge.coming, Location::Edge),
                (edge.queue, Location::Edge),
                (edge.held, Location::Ends),
                (edge.returning, Location::Ends),
            ] {
                packets.iter(&line).for_each(|packet| see(packet, place));
            }
        }
        let mut in_network = |packet: &Packet| see(packet, Location::Network);
        for port in self.fabric.ports() {
            packets.iter(&port.line).for_each(&mut in_network);
            if let Entry::Gathered(gather) = &port.entry {
                gather.iter().for_each(&mut in_network);
            }
            port.reordered_packets().into_iter().flat_map(ReorderedPackets::iter).for_each(&mut in_network);
            if let Some(stepped) = port.stepped() {
                stepped.queues.iter().flat_map(|queue| packets.iter(&queue.line)).for_each(&mut in_network);
                let whole = stepped.transmitters.iter().filter(|sending| !sending.head_has_left);
                whole.for_each(|sending| in_network(&sending.packet));
            }
        }
    }
}

/// Units in lines, queues and transmitters, by flow.
pub(crate) struct UnitsInNetwork {
    data: Vec<u64>,
    acks: Vec<u64>,
    /// Something of the flow is still to arrive. Cells that are no longer needed may remain where they arrived.
    pub(crate) are_under_way: Vec<bool>,
}

/// Location of a packet. Packets in cells are segmented at the end of the access line and reassembled before the ends.
#[derive(Clone, Copy, PartialEq)]
enum Location {
    /// A whole packet at an edge: none of its cells has been sent, or the sent ones are already counted.
    Edge,
    Access,
    Network,
    Ends,
}
