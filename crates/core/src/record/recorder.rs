//! Traces. They exist only for flows and ports that a scenario selects; without any, the engine has no recorder.

use super::ack_record::AckRecord;
use super::flow_names::FlowNames;
use super::flows::{FlowTraces, Tables};
use super::packets::Packets;
use super::table::{Column, Table, named};
use crate::network::{Network, TraceKind};
use crate::primitives::ids::{FlowId, PortId};
use crate::primitives::packet::{Ecn, OutgoingPacket, Packet};
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Bytes, Time};
use crate::queue::DropReason;
use crate::tcp::sender::{Sender, Tcp};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Recorder {
    flows: FlowTraces,
    drops_at: Vec<bool>,
    drops: Vec<Drop>,
    packets: Option<Box<Packets>>,
    kinds: Vec<TraceKind>,
    /// Rows before this time have been returned.
    taken: Time,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Drop {
    time: Time,
    port: PortId,
    flow: FlowId,
    /// Of the packet, or of the segment that caused the acknowledgement.
    segment: SegmentNumber,
    /// 0 for an acknowledgement.
    transmission: u32,
    reason: DropReason,
}

impl Recorder {
    /// A recorder for the traces that the network requests, if any. Traced ports store their own rows.
    pub(crate) fn new(network: &Network) -> Option<Recorder> {
        if network.record.traces.is_empty() {
            return None;
        }
        let mut recorder = Recorder {
            flows: FlowTraces::new(network),
            drops_at: vec![false; network.ports.len()],
            kinds: network.record.traces.iter().map(|trace| trace.kind).collect(),
            ..Recorder::default()
        };
        for trace in &network.record.traces {
            match trace.kind {
                TraceKind::Drops => trace.of.iter().for_each(|&port| recorder.drops_at[port as usize] = true),
                TraceKind::Packets => recorder.packets = Some(Box::new(Packets::new(network))),
                _ => {}
            }
        }
        Some(recorder)
    }

    /// Drop all rows.
    pub(crate) fn forget(&mut self) {
        self.flows.forget();
        self.drops.clear();
        if let Some(packets) = &mut self.packets {
            packets.forget();
        }
    }

    /// Rows before `end` have been returned: drop them.
    pub(crate) fn forget_before(&mut self, end: Time) {
        self.taken = end;
        self.flows.forget_before(end);
        self.drops.retain(|drop| drop.time >= end);
        if let Some(packets) = &mut self.packets {
            packets.forget_before(end);
        }
    }

    /// Append the rows of another recorder of the same run. `sends`: the flows whose senders it has traced.
    pub(crate) fn add(&mut self, other: &Recorder, sends: impl Fn(FlowId) -> bool) {
        self.flows.add(&other.flows, sends);
        self.drops.extend_from_slice(&other.drops);
        if let (Some(packets), Some(other)) = (&mut self.packets, &other.packets) {
            packets.add(other);
        }
    }

    /// Whether the flow's sender is traced.
    #[inline]
    pub(crate) fn follows_sender(&self, flow: FlowId) -> bool {
        self.flows.has_sender(flow)
    }

    /// Whether arrivals at receivers of these flows are traced.
    pub(crate) fn follows_receivers(&self, flows: &Range<FlowId>) -> bool {
        self.flows.has_receivers(flows)
    }

    /// Whether senders of these flows must act in order of time.
    pub(crate) fn wants_order(&self, flows: &Range<FlowId>) -> bool {
        self.flows.are_in_order(flows)
    }

    /// Whether any trace has a column for the transmission of a segment.
    pub(crate) fn distinguishes_transmissions(&self) -> bool {
        self.kinds.iter().any(|kind| matches!(kind, TraceKind::Segments | TraceKind::Drops | TraceKind::Packets))
    }

    /// The trace of packets, if the flow is in it.
    fn packets_of(&mut self, flow: FlowId) -> Option<&mut Packets> {
        self.packets.as_deref_mut().filter(|_| self.flows.has(flow, TraceKind::Packets))
    }

    pub(crate) fn on_send(&mut self, now: Time, packet: &OutgoingPacket, ecn: Ecn) {
        if let Some(packets) = self.packets_of(packet.flow) {
            packets.on_send(now, packet, ecn);
        }
        self.flows.on_send(now, packet);
    }

    /// Not inlined: otherwise the compiler would compute values that only traces need before checking for traces.
    #[inline(never)]
    pub(crate) fn on_ack(&mut self, now: Time, ack_record: &AckRecord<'_>, sender: &Sender) {
        if let Some(packets) = self.packets_of(ack_record.flow) {
            packets.on_ack(now, ack_record);
        }
        self.flows.on_ack(ack_record, sender);
    }

    pub(crate) fn on_timeout(&mut self, flow: FlowId) {
        self.flows.on_timeout(flow);
    }

    /// The sender has processed an event: record the changes.
    #[inline(never)]
    pub(crate) fn on_window(&mut self, flow: FlowId, tcp: &Tcp<'_>) {
        self.flows.on_window(flow, tcp);
    }

    /// New payload reached its receiver.
    #[inline]
    pub(crate) fn on_delivered(&mut self, flow: FlowId, time: Time, payload: Bytes, end: Time) {
        if self.flows.has_bins() && time < end {
            self.flows.on_delivered(flow, time, payload);
        }
    }

    pub(crate) fn on_discard(&mut self, port: PortId, packet: &Packet, time: Time, reason: DropReason) {
        if let Some(packets) = self.packets_of(packet.flow).filter(|_| !packet.is_ack()) {
            packets.on_discard(port, packet, time, reason);
        }
        if self.drops_at[port] {
            let (flow, segment) = (packet.flow, packet.segment());
            let transmission = if packet.is_ack() { 0 } else { packet.transmission() };
            self.drops.push(Drop { time, port, flow, segment, transmission, reason });
        }
    }

    /// The traces as tables, in the order of the scenario, up to `end`.
    pub(crate) fn tables(&self, flows: &FlowNames, queues: &QueueRows<'_>, end: Time) -> Vec<Table> {
        let of_flows = Tables::new(&self.flows, flows, self.taken..end);
        let table = |kind: TraceKind| match kind {
            TraceKind::Queue => Some(queues.table(self.taken..end)),
            TraceKind::Drops => Some(self.drops_table(flows, queues, end)),
            TraceKind::Departures => Some(queues.departures_table(flows, self.taken..end)),
            TraceKind::Packets => Some(self.packets.as_ref()?.table(flows, &queues.names, end)),
            kind => of_flows.of(kind),
        };
        self.kinds.iter().filter_map(|&kind| table(kind)).collect()
    }

    fn drops_table(&self, flows: &FlowNames, queues: &QueueRows<'_>, end: Time) -> Table {
        let mut drops: Vec<&Drop> = self.drops.iter().filter(|drop| drop.time < end).collect();
        drops.sort_by_key(|drop| (drop.time, drop.port));
        let reasons = Arc::new(DropReason::ALL.map(|reason| reason.name().to_string()).to_vec());
        let of = |pick: fn(&Drop) -> u32| drops.iter().map(|drop| pick(drop)).collect::<Vec<u32>>();
        let (groups, indices) = flows.columns(&drops.iter().map(|drop| drop.flow).collect::<Vec<_>>());
        let kinds = Arc::new(["data", "ack"].map(String::from).to_vec());
        let columns = vec![
            ("time_s", Column::Float(drops.iter().map(|drop| drop.time.seconds()).collect())),
            ("queue", Column::Word(of(|drop| drop.port.0), queues.names.clone())),
            ("group", groups),
            ("flow", indices),
            ("kind", Column::Word(of(|drop| u32::from(drop.transmission == 0)), kinds)),
            ("segment", Column::Integer(drops.iter().map(|drop| drop.segment.0.into()).collect())),
            ("transmission", Column::Integer(drops.iter().map(|drop| drop.transmission.into()).collect())),
            ("reason", Column::Word(of(|drop| drop.reason as u32), reasons)),
        ];
        named("drops", columns)
    }
}

/// The rows of traced ports.
pub(crate) struct QueueRows<'a> {
    /// Names of all ports.
    pub(crate) names: Arc<Vec<String>>,
    pub(crate) of_ports: Vec<OccupancyRows<'a>>,
    pub(crate) departures: Vec<&'a [DepartureRow]>,
}

/// A departure of a unit from a port.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct DepartureRow {
    pub(crate) time: Time,
    pub(crate) flow: FlowId,
    pub(crate) bytes: u32,
}

/// A port's occupancy after each change, by time.
#[derive(Default)]
pub(crate) struct OccupancyRows<'a> {
    pub(crate) noted: &'a [(Time, u32)],
    /// Known future changes.
    pub(crate) to_come: Vec<(Time, u32)>,
}

impl OccupancyRows<'_> {
    fn within(&self, span: &Range<Time>) -> impl Iterator<Item = (Time, u32)> {
        let until = |rows: &[(Time, u32)], end| rows.partition_point(|row| row.0 < end);
        let noted = until(self.noted, span.start)..until(self.noted, span.end);
        let to_come = until(&self.to_come, span.start)..until(&self.to_come, span.end);
        self.noted[noted].iter().chain(&self.to_come[to_come]).copied()
    }
}

impl QueueRows<'_> {
    /// Transmitters of one port may finish in a different order than they started.
    fn departures_table(&self, flows: &FlowNames, span: Range<Time>) -> Table {
        let of_port = |(port, all): (u32, &&[DepartureRow])| all.iter().map(move |&one| (one, port)).collect::<Vec<_>>();
        let mut rows: Vec<(DepartureRow, u32)> = (0..).zip(&self.departures).flat_map(of_port).collect();
        rows.retain(|(departure, _)| span.contains(&departure.time));
        rows.sort_by_key(|&(departure, port)| (departure.time, port));
        let (groups, indices) = flows.columns(&rows.iter().map(|row| row.0.flow).collect::<Vec<_>>());
        let columns = vec![
            ("time_s", Column::Float(rows.iter().map(|row| row.0.time.seconds()).collect())),
            ("queue", Column::Word(rows.iter().map(|row| row.1).collect(), self.names.clone())),
            ("group", groups),
            ("flow", indices),
            ("bytes", Column::Integer(rows.iter().map(|row| row.0.bytes.into()).collect())),
        ];
        named("departures", columns)
    }

    fn table(&self, span: Range<Time>) -> Table {
        let mut traced = (0..).zip(&self.of_ports).filter(|(_, rows)| rows.within(&span).next().is_some());
        let (times, ports, units) = match (traced.next(), traced.next()) {
            (Some((port, only)), None) => {
                let times: Vec<f64> = only.within(&span).map(|row| row.0.seconds()).collect();
                let ports = vec![port; times.len()];
                (times, ports, only.within(&span).map(|row| row.1.into()).collect())
            }
            _ => {
                let of_port =
                    |(port, rows): (u32, &OccupancyRows<'_>)| rows.within(&span).map(|row| (row, port)).collect::<Vec<_>>();
                let mut rows: Vec<((Time, u32), u32)> = (0..).zip(&self.of_ports).flat_map(of_port).collect();
                rows.sort_by_key(|&((time, _), port)| (time, port));
                let times = rows.iter().map(|row| row.0.0.seconds()).collect();
                (times, rows.iter().map(|row| row.1).collect(), rows.iter().map(|row| row.0.1.into()).collect())
            }
        };
        let columns = vec![
            ("time_s", Column::Float(times)),
            ("queue", Column::Word(ports, self.names.clone())),
            ("queue_units", Column::Integer(units)),
        ];
        named("queue", columns)
    }
}
