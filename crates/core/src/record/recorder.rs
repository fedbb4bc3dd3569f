//! Traces. They exist only for flows and ports that a scenario names; without any, the engine holds no recorder at all.

use super::packets::Packets;
use super::table::{Column, Table};
use crate::congestion::{Controller, Controllers};
use crate::network::{Network, TraceKind};
use crate::primitives::packet::{Ecn, Outgoing, Packet};
use crate::primitives::units::{Bytes, Span, Time};
use crate::queue::Reason;
use crate::tcp::sender::Sender;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Recorder {
    /// Bits of [`Recorder::bit`] per flow.
    flows: Vec<u16>,
    drops_at: Vec<bool>,
    last: Vec<Last>,
    cwnd: Rows<f64>,
    ssthresh: Rows<f64>,
    rtt: Rows<f64>,
    in_flight: Rows<u64>,
    segments: Rows<(u64, u64)>,
    acks: Rows<(u64, u64)>,
    states: Rows<State>,
    law: Law,
    drops: Vec<Drop>,
    packets: Option<Box<Packets>>,
    bin: Span,
    /// Delivered payload bytes per bin.
    bins: BTreeMap<u32, Vec<u64>>,
    kinds: Vec<TraceKind>,
}

/// An acknowledgement as its sender has heard it.
pub(crate) struct Heard<'a> {
    pub(crate) flow: u32,
    /// Next segment that the receiver expects.
    pub(crate) ack: u32,
    /// SACK blocks.
    pub(crate) blocks: &'a [(u32, u32)],
    pub(crate) echoes_mark: bool,
    pub(crate) is_duplicate: bool,
    pub(crate) rtt: Option<Span>,
}

/// A flow's values after the last change.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Last {
    cwnd: f64,
    ssthresh: f64,
    state: Option<State>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    SlowStart,
    CongestionAvoidance,
    Recovery,
    Timeout,
    Done,
}

/// What control laws go by: a quantity's place among the names, and its value after a change.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Law {
    names: Vec<String>,
    /// By flow and place.
    last: BTreeMap<(u32, u32), f64>,
    rows: Rows<(u32, f64)>,
}

impl Law {
    fn note(&mut self, flow: u32, now: Time, law: &Controllers) {
        for (index, name) in law.quantities().iter().enumerate() {
            let value = law.quantity(index, now);
            let place = self.names.iter().position(|known| known == name).unwrap_or_else(|| {
                self.names.push((*name).to_string());
                self.names.len() - 1
            }) as u32;
            let last = self.last.entry((flow, place)).or_insert(f64::NAN);
            if value != *last && !value.is_nan() {
                *last = value;
                self.rows.0.push((now, flow, (place, value)));
            }
        }
    }
}

const STATE_NAMES: [&str; 5] = ["slow_start", "congestion_avoidance", "recovery", "timeout", "done"];

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Drop {
    time: Time,
    port: u32,
    flow: u32,
    segment: u32,
    transmission: u32,
    reason: Reason,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Rows<T>(Vec<(Time, u32, T)>);

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Rows(Vec::new())
    }
}

impl Recorder {
    /// A recorder for what the network asks for, if anything. Ports that are traced keep their own rows.
    pub(crate) fn new(network: &Network) -> Option<Recorder> {
        if network.record.traces.is_empty() {
            return None;
        }
        let mut recorder = Recorder {
            flows: vec![0; network.flows.len()],
            drops_at: vec![false; network.ports.len()],
            last: vec![Last::default(); network.flows.len()],
            ..Recorder::default()
        };
        for trace in &network.record.traces {
            recorder.kinds.push(trace.kind);
            for &of in &trace.of {
                match trace.kind {
                    TraceKind::Queue => {}
                    TraceKind::Drops => recorder.drops_at[of as usize] = true,
                    kind => recorder.flows[of as usize] |= bit(kind),
                }
            }
            match trace.kind {
                TraceKind::Throughput(bin) => recorder.bin = bin,
                TraceKind::Packets => recorder.packets = Some(Box::new(Packets::new(network))),
                _ => {}
            }
        }
        Some(recorder)
    }

    fn traces(&self, flow: u32, kind: TraceKind) -> bool {
        self.flows[flow as usize] & bit(kind) != 0
    }

    /// Where packets of a flow are kept, if they are.
    fn packets_of(&mut self, flow: u32) -> Option<&mut Packets> {
        let traced = self.traces(flow, TraceKind::Packets);
        self.packets.as_deref_mut().filter(|_| traced)
    }

    pub(crate) fn on_send(&mut self, now: Time, packet: &Outgoing, ecn: Ecn) {
        let &Outgoing { flow, segment, transmission, .. } = packet;
        if let Some(packets) = self.packets_of(flow) {
            packets.on_send(now, packet, ecn);
        }
        if self.traces(flow, TraceKind::Segments) {
            self.segments.0.push((now, flow, (segment.into(), transmission.into())));
        }
    }

    /// Called, not inlined: what only traces need is else worked out before it is known whether there are any.
    #[inline(never)]
    pub(crate) fn on_ack(&mut self, now: Time, heard: &Heard<'_>, sender: &Sender) {
        let flow = heard.flow;
        if let Some(packets) = self.packets_of(flow) {
            packets.on_ack(now, heard);
        }
        if self.traces(flow, TraceKind::Acks) {
            self.acks.0.push((now, flow, (heard.ack.into(), heard.is_duplicate.into())));
        }
        if let Some(rtt) = heard.rtt.filter(|_| self.traces(flow, TraceKind::Rtt)) {
            self.rtt.0.push((now, flow, rtt.seconds()));
        }
        if self.traces(flow, TraceKind::InFlight) {
            self.in_flight.0.push((now, flow, (sender.high - sender.una).into()));
        }
    }

    pub(crate) fn on_timeout(&mut self, flow: u32, now: Time) {
        self.note_state(flow, now, State::Timeout);
    }

    /// After the sender has dealt with an event: note what changed.
    pub(crate) fn on_window(&mut self, flow: u32, now: Time, sender: &Sender) {
        let (cwnd, ssthresh) = (sender.controller.window(), sender.controller.ssthresh());
        let last = &mut self.last[flow as usize];
        let (old_cwnd, old_ssthresh) = (last.cwnd, last.ssthresh);
        (last.cwnd, last.ssthresh) = (cwnd, ssthresh);
        if cwnd != old_cwnd && self.traces(flow, TraceKind::Cwnd) {
            self.cwnd.0.push((now, flow, cwnd));
        }
        if ssthresh != old_ssthresh && self.traces(flow, TraceKind::Ssthresh) {
            self.ssthresh.0.push((now, flow, ssthresh));
        }
        if self.traces(flow, TraceKind::Law) {
            self.law.note(flow, now, &sender.controller);
        }
        let state = match () {
            () if sender.is_done() => State::Done,
            () if sender.phase.is_recovery() => State::Recovery,
            () if cwnd < ssthresh => State::SlowStart,
            () => State::CongestionAvoidance,
        };
        self.note_state(flow, now, state);
    }

    fn note_state(&mut self, flow: u32, now: Time, state: State) {
        let last = &mut self.last[flow as usize].state;
        if *last != Some(state) {
            *last = Some(state);
            if self.traces(flow, TraceKind::State) {
                self.states.0.push((now, flow, state));
            }
        }
    }

    /// Payload reached its receiver for the first time.
    pub(crate) fn on_delivered(&mut self, flow: u32, time: Time, payload: Bytes, end: Time) {
        if time >= end || self.flows[flow as usize] & bit(TraceKind::Throughput(Span::ZERO)) == 0 {
            return;
        }
        let bin = (time.0 / self.bin.0) as usize;
        let bins = self.bins.entry(flow).or_default();
        if bin >= bins.len() {
            bins.resize(bin + 1, 0);
        }
        bins[bin] += payload.0;
    }

    pub(crate) fn on_discard(&mut self, port: u32, packet: &Packet, time: Time, reason: Reason) {
        if let Some(packets) = self.packets_of(packet.flow).filter(|_| !packet.is_ack()) {
            packets.on_discard(port, packet, time, reason);
        }
        if self.drops_at[port as usize] && !packet.is_ack() {
            let (flow, segment, transmission) = (packet.flow, packet.segment, packet.transmission());
            self.drops.push(Drop { time, port, flow, segment, transmission, reason });
        }
    }

    /// The traces as tables, in the order in which the scenario asks for them; nothing beyond `end`.
    pub(crate) fn tables(&self, flows: &FlowNames, queues: &QueueRows, end: Time) -> Vec<Table> {
        let table = |kind: TraceKind| {
            Some(match kind {
                TraceKind::Cwnd => flows.floats("cwnd", "cwnd_packets", &self.cwnd),
                TraceKind::Ssthresh => flows.floats("ssthresh", "ssthresh_packets", &self.ssthresh),
                TraceKind::Rtt => flows.floats("rtt", "rtt_s", &self.rtt),
                TraceKind::InFlight => flows.table("in_flight", &self.in_flight, |rows| {
                    vec![("in_flight_packets", Column::Integer(rows.iter().map(|row| row.2).collect()))]
                }),
                TraceKind::Segments => flows.table("segments", &self.segments, |rows| pair("segment", "transmission", rows)),
                TraceKind::Acks => flows.table("acks", &self.acks, |rows| pair("ack", "duplicate", rows)),
                TraceKind::State => flows.table("state", &self.states, |rows| {
                    let words = Arc::new(STATE_NAMES.map(String::from).to_vec());
                    vec![("state", Column::Word(rows.iter().map(|row| row.2 as u32).collect(), words))]
                }),
                TraceKind::Law => flows.table("law", &self.law.rows, |rows| {
                    let names = Arc::new(self.law.names.clone());
                    vec![
                        ("quantity", Column::Word(rows.iter().map(|row| row.2.0).collect(), names)),
                        ("value", Column::Float(rows.iter().map(|row| row.2.1).collect())),
                    ]
                }),
                TraceKind::Throughput(_) => self.throughput(flows, end),
                TraceKind::Queue => queues.table(),
                TraceKind::Drops => self.drops_table(flows, queues, end),
                TraceKind::Packets => self.packets.as_ref()?.table(flows, &queues.names, end),
            })
        };
        self.kinds.iter().filter_map(|&kind| table(kind)).collect()
    }

    fn throughput(&self, flows: &FlowNames, end: Time) -> Table {
        let mut rows = Rows::default();
        for (&flow, bins) in &self.bins {
            let whole = (end.0.div_ceil(self.bin.0) as usize).max(bins.len());
            for bin in 0..whole {
                let start = Time(bin as u64 * self.bin.0);
                let width = (start + self.bin).min(end).since(start).seconds();
                let bytes = bins.get(bin).copied().unwrap_or(0);
                rows.0.push((start, flow, bytes as f64 * 8.0 / width));
            }
        }
        flows.floats("throughput", "throughput_bps", &rows)
    }

    fn drops_table(&self, flows: &FlowNames, queues: &QueueRows, end: Time) -> Table {
        let mut drops: Vec<&Drop> = self.drops.iter().filter(|drop| drop.time < end).collect();
        drops.sort_by_key(|drop| (drop.time, drop.port));
        let reasons = Arc::new(Reason::ALL.map(|reason| reason.name().to_string()).to_vec());
        let of = |pick: fn(&Drop) -> u32| drops.iter().map(|drop| pick(drop)).collect::<Vec<u32>>();
        let (groups, indices) = flows.columns(&of(|drop| drop.flow));
        let columns = vec![
            ("time_s", Column::Float(drops.iter().map(|drop| drop.time.seconds()).collect())),
            ("queue", Column::Word(of(|drop| drop.port), queues.names.clone())),
            ("group", groups),
            ("flow", indices),
            ("segment", Column::Integer(drops.iter().map(|drop| drop.segment.into()).collect())),
            ("transmission", Column::Integer(drops.iter().map(|drop| drop.transmission.into()).collect())),
            ("reason", Column::Word(of(|drop| drop.reason as u32), reasons)),
        ];
        named("drops", columns)
    }
}

fn bit(kind: TraceKind) -> u16 {
    match kind {
        TraceKind::Cwnd => 1,
        TraceKind::Ssthresh => 2,
        TraceKind::Rtt => 4,
        TraceKind::InFlight => 8,
        TraceKind::Segments => 16,
        TraceKind::Acks => 32,
        TraceKind::State => 64,
        TraceKind::Throughput(_) => 128,
        TraceKind::Packets => 256,
        TraceKind::Law => 512,
        TraceKind::Queue | TraceKind::Drops => 0,
    }
}

/// Group and index of each flow.
pub(crate) struct FlowNames {
    group: Vec<u32>,
    index: Vec<u64>,
    names: Arc<Vec<String>>,
}

impl FlowNames {
    /// `group`: the group of each flow.
    pub(crate) fn new(network: &Network, group: Vec<u32>) -> FlowNames {
        let mut counted = vec![0u64; network.groups.len()];
        let mut next = |group: u32| {
            counted[group as usize] += 1;
            counted[group as usize] - 1
        };
        FlowNames {
            index: group.iter().map(|&group| next(group)).collect(),
            group,
            names: Arc::new(network.groups.iter().map(|group| group.name.clone()).collect()),
        }
    }

    /// The columns `group` and `flow` of rows about these flows.
    pub(crate) fn columns(&self, flows: &[u32]) -> (Column, Column) {
        let groups = flows.iter().map(|&flow| self.group[flow as usize]).collect();
        let indices = flows.iter().map(|&flow| self.index[flow as usize]).collect();
        (Column::Word(groups, self.names.clone()), Column::Integer(indices))
    }

    fn floats(&self, name: &str, value: &'static str, rows: &Rows<f64>) -> Table {
        self.table(name, rows, |rows| vec![(value, Column::Float(rows.iter().map(|row| row.2).collect()))])
    }

    fn table<T>(&self, name: &str, rows: &Rows<T>, values: impl Fn(&[&(Time, u32, T)]) -> Vec<(&'static str, Column)>) -> Table {
        let mut rows: Vec<&(Time, u32, T)> = rows.0.iter().collect();
        rows.sort_by_key(|row| (row.0, row.1));
        let (groups, indices) = self.columns(&rows.iter().map(|row| row.1).collect::<Vec<_>>());
        let times = Column::Float(rows.iter().map(|row| row.0.seconds()).collect());
        let mut columns = vec![("time_s", times), ("group", groups), ("flow", indices)];
        columns.extend(values(&rows));
        named(name, columns)
    }
}

fn pair(first: &'static str, second: &'static str, rows: &[&(Time, u32, (u64, u64))]) -> Vec<(&'static str, Column)> {
    vec![
        (first, Column::Integer(rows.iter().map(|row| row.2.0).collect())),
        (second, Column::Integer(rows.iter().map(|row| row.2.1).collect())),
    ]
}

/// What ports that are traced have kept: of each its occupancy after each change, by time.
pub(crate) struct QueueRows {
    /// Of all ports.
    pub(crate) names: Arc<Vec<String>>,
    pub(crate) of_ports: Vec<Vec<(Time, u32)>>,
}

impl QueueRows {
    fn table(&self) -> Table {
        let of_port = |(port, rows): (u32, &Vec<(Time, u32)>)| {
            rows.iter().map(move |&(time, occupancy)| (time, port, u64::from(occupancy))).collect::<Vec<_>>()
        };
        let mut rows: Vec<(Time, u32, u64)> = (0..).zip(&self.of_ports).flat_map(of_port).collect();
        rows.sort_by_key(|row| (row.0, row.1));
        let columns = vec![
            ("time_s", Column::Float(rows.iter().map(|row| row.0.seconds()).collect())),
            ("queue", Column::Word(rows.iter().map(|row| row.1).collect(), self.names.clone())),
            ("queue_units", Column::Integer(rows.iter().map(|row| row.2).collect())),
        ];
        named("queue", columns)
    }
}

/// A table. Missing values get one bit pattern: the sign of a computed NaN differs between processors.
pub(crate) fn named(name: &str, columns: Vec<(&'static str, Column)>) -> Table {
    let one_nan = |column: Column| match column {
        Column::Float(values) => {
            Column::Float(values.into_iter().map(|value| if value.is_nan() { f64::NAN } else { value }).collect())
        }
        other => other,
    };
    Table {
        name: name.to_string(),
        columns: columns.into_iter().map(|(name, values)| (name.to_string(), one_nan(values))).collect(),
    }
}
