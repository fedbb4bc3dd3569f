//! Traces of flows. An action of a sender at one instant is a row index into columns that grow together for all flows, so that a row stores
//! only values that exist. Tables are built from the columns on request.

use super::ack_record::AckRecord;
use super::flow_names::FlowNames;
use super::table::{Column, Table, named};
use crate::congestion::Controller;
use crate::network::{Network, TraceKind, Transport};
use crate::primitives::ids::FlowId;
use crate::primitives::ids::GroupId;
use crate::primitives::packet::OutgoingPacket;
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Bytes, Time, TimeDelta};
use crate::tcp::sender::{Sender, Tcp};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// The traces of all flows that have any.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct FlowTraces {
    /// Index into `flows` of each flow, or [`NONE`].
    places: Vec<u32>,
    flows: Vec<TracedFlow>,
    /// The rows: times at which a sender acted, because of an acknowledgement or a timer, and the sender.
    times: Vec<Time>,
    senders: Vec<u32>,
    /// Values of each row, with a placeholder if there is none.
    cwnd: Vec<f64>,
    rtt: Vec<f64>,
    in_flight: Vec<u32>,
    acks: Vec<(SegmentNumber, bool)>,
    ssthresh: Series<f64>,
    rto: Series<TimeDelta>,
    segments: Series<(SegmentNumber, u32)>,
    states: Series<State>,
    law: Series<(u32, f64)>,
    /// Names of the internal quantities of controllers.
    quantities: Arc<Vec<String>>,
    /// Width of a throughput bin.
    bin: TimeDelta,
}

/// Values of some rows, by row index.
type Series<T> = Vec<(u32, T)>;

/// No index, no number of segments.
const NONE: u32 = u32::MAX;

/// A traced flow, and its values after the last change.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct TracedFlow {
    flow: FlowId,
    /// Bits of [`bit`].
    kinds: u16,
    is_tcp: bool,
    state: Option<State>,
    cwnd: f64,
    ssthresh: f64,
    rto: TimeDelta,
    /// For each internal quantity of its controller, the index into all names, and the value.
    law: Vec<(u32, f64)>,
    /// Delivered payload bytes per bin.
    bins: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum State {
    SlowStart,
    CongestionAvoidance,
    Recovery,
    Timeout,
    Done,
}

const STATE_NAMES: [&str; 5] = ["slow_start", "congestion_avoidance", "recovery", "timeout", "done"];

impl TracedFlow {
    fn of(flow: FlowId, network: &Network) -> TracedFlow {
        let transport = &network.groups[network.flows[flow].group].transport;
        let is_tcp = matches!(transport, Transport::Tcp(..));
        let (rto, law, bins) = (TimeDelta::ZERO, Vec::new(), Vec::new());
        TracedFlow { flow, kinds: 0, is_tcp, state: None, cwnd: 0.0, ssthresh: 0.0, rto, law, bins }
    }

    fn has(&self, kind: TraceKind) -> bool {
        self.kinds & bit(kind) != 0
    }
}

impl FlowTraces {
    pub(super) fn new(network: &Network) -> FlowTraces {
        let traces = || network.record.traces.iter().filter(|trace| !trace.kind.is_of_ports());
        let flows: BTreeSet<FlowId> = traces().flat_map(|trace| trace.of.iter().copied().map(FlowId)).collect();
        let mut all = FlowTraces { places: vec![NONE; network.flows.len()], ..FlowTraces::default() };
        for (place, &flow) in (0..).zip(&flows) {
            all.places[flow] = place;
        }
        all.flows = flows.into_iter().map(|flow| TracedFlow::of(flow, network)).collect();
        let mut names = Vec::new();
        for trace in traces() {
            for flow in trace.of.iter().copied().map(FlowId) {
                let traced = &mut all.flows[all.places[flow] as usize];
                traced.kinds |= bit(trace.kind);
                if trace.kind == TraceKind::Law {
                    let quantities = quantities_of(flow, network).iter();
                    traced.law = quantities.map(|name| (place_of(name, &mut names), f64::NAN)).collect();
                }
            }
            if let TraceKind::Throughput(bin) = trace.kind {
                all.bin = bin;
            }
        }
        all.quantities = Arc::new(names);
        all
    }

    #[inline]
    fn traced(&self, flow: FlowId) -> Option<&TracedFlow> {
        self.flows.get(self.places[flow] as usize)
    }

    pub(super) fn has(&self, flow: FlowId, kind: TraceKind) -> bool {
        self.traced(flow).is_some_and(|of| of.has(kind))
    }

    /// Whether the flow's sender is traced.
    #[inline]
    pub(super) fn has_sender(&self, flow: FlowId) -> bool {
        self.traced(flow).is_some_and(|of| of.kinds & !THROUGHPUT != 0)
    }

    /// Whether arrivals at the receivers of these flows are traced.
    pub(super) fn has_receivers(&self, flows: &Range<FlowId>) -> bool {
        self.flows.iter().any(|of| flows.contains(&of.flow) && of.kinds & THROUGHPUT != 0)
    }

    /// Whether one of these flows' senders is traced and at least two senders are traced in all. Rows are then recorded in order of time,
    /// because sorting them would cost more.
    pub(super) fn are_in_order(&self, flows: &Range<FlowId>) -> bool {
        let senders = || self.flows.iter().filter(|of| of.kinds & !THROUGHPUT != 0);
        senders().count() > 1 && senders().any(|of| flows.contains(&of.flow))
    }

    pub(super) fn forget(&mut self) {
        let (places, quantities) = (std::mem::take(&mut self.places), self.quantities.clone());
        let mut flows = std::mem::take(&mut self.flows);
        flows.iter_mut().for_each(|of| of.bins.clear());
        *self = FlowTraces { places, flows, quantities, bin: self.bin, ..FlowTraces::default() };
    }

    /// Drop the rows before `end`. Throughput bins are few and are kept.
    pub(super) fn forget_before(&mut self, end: Time) {
        let gone = self.times.partition_point(|&time| time < end);
        self.times.drain(..gone);
        self.senders.drain(..gone);
        self.cwnd.drain(..gone.min(self.cwnd.len()));
        self.rtt.drain(..gone.min(self.rtt.len()));
        self.in_flight.drain(..gone.min(self.in_flight.len()));
        self.acks.drain(..gone.min(self.acks.len()));
        forget_series(&mut self.ssthresh, gone);
        forget_series(&mut self.rto, gone);
        forget_series(&mut self.segments, gone);
        forget_series(&mut self.states, gone);
        forget_series(&mut self.law, gone);
    }

    /// Append the rows of another domain. `sends`: the flows whose senders it has traced.
    pub(super) fn add(&mut self, other: &FlowTraces, sends: impl Fn(FlowId) -> bool) {
        let before = self.times.len();
        self.times.extend_from_slice(&other.times);
        self.senders.extend_from_slice(&other.senders);
        append(&mut self.cwnd, before, &other.cwnd, f64::NAN);
        append(&mut self.rtt, before, &other.rtt, f64::NAN);
        append(&mut self.in_flight, before, &other.in_flight, NONE);
        append(&mut self.acks, before, &other.acks, NO_ACK);
        append_series(&mut self.ssthresh, before, &other.ssthresh);
        append_series(&mut self.rto, before, &other.rto);
        append_series(&mut self.segments, before, &other.segments);
        append_series(&mut self.states, before, &other.states);
        append_series(&mut self.law, before, &other.law);
        for (of, other) in self.flows.iter_mut().zip(&other.flows) {
            let mut bins = std::mem::take(&mut of.bins);
            bins.resize(bins.len().max(other.bins.len()), 0);
            bins.iter_mut().zip(&other.bins).for_each(|(bin, other)| *bin += other);
            if sends(of.flow) {
                of.clone_from(other);
            }
            of.bins = bins;
        }
    }

    pub(super) fn on_send(&mut self, now: Time, packet: &OutgoingPacket) {
        let &OutgoingPacket { flow, segment, transmission, .. } = packet;
        let place = self.places[flow];
        let Some(of) = self.flows.get(place as usize).filter(|of| of.has(TraceKind::Segments)) else { return };
        self.segments.push((self.times.len() as u32, (segment, transmission)));
        if !of.is_tcp {
            self.end_moment(now, place);
        }
    }

    pub(super) fn on_ack(&mut self, ack_record: &AckRecord<'_>, sender: &Sender) {
        let Some(of) = self.flows.get(self.places[ack_record.flow] as usize) else { return };
        let moment = self.times.len();
        if of.has(TraceKind::Acks) {
            note(&mut self.acks, moment, (ack_record.ack, ack_record.is_duplicate), NO_ACK);
        }
        if let Some(rtt) = ack_record.rtt.filter(|_| of.has(TraceKind::Rtt)) {
            note(&mut self.rtt, moment, rtt.seconds(), f64::NAN);
        }
        if of.has(TraceKind::InFlight) {
            note(&mut self.in_flight, moment, sender.sequence.outstanding().0, NONE);
        }
    }

    pub(super) fn on_timeout(&mut self, flow: FlowId) {
        self.note_state(self.places[flow], State::Timeout);
    }

    /// The sender has finished processing; this completes the row.
    pub(super) fn on_window(&mut self, flow: FlowId, tcp: &Tcp<'_>) {
        let (now, sender) = (tcp.now, &*tcp.sender);
        let place = self.places[flow];
        let Some(of) = self.flows.get_mut(place as usize).filter(|of| of.kinds & OF_MOMENTS != 0) else { return };
        let moment = self.times.len();
        let (cwnd, ssthresh) = (sender.controller.window().0, sender.controller.ssthresh().0);
        if cwnd != of.cwnd && of.has(TraceKind::Cwnd) {
            of.cwnd = cwnd;
            note(&mut self.cwnd, moment, cwnd, f64::NAN);
        }
        if ssthresh != of.ssthresh && of.has(TraceKind::Ssthresh) {
            of.ssthresh = ssthresh;
            self.ssthresh.push((moment as u32, ssthresh));
        }
        if of.has(TraceKind::Rto) {
            let rto = tcp.rto();
            if rto != of.rto {
                of.rto = rto;
                self.rto.push((moment as u32, rto));
            }
        }
        for (index, (name, last)) in of.law.iter_mut().enumerate() {
            let value = sender.controller.quantity(index, now);
            if value != *last && !value.is_nan() {
                *last = value;
                self.law.push((moment as u32, (*name, value)));
            }
        }
        self.note_state(
            place,
            match () {
                () if sender.sequence.is_done() => State::Done,
                () if sender.sequence.phase.is_recovery() => State::Recovery,
                () if cwnd < ssthresh => State::SlowStart,
                () => State::CongestionAvoidance,
            },
        );
        self.end_moment(now, place);
    }

    fn note_state(&mut self, place: u32, state: State) {
        if let Some(of) = self.flows.get_mut(place as usize).filter(|of| of.has(TraceKind::State))
            && of.state != Some(state)
        {
            of.state = Some(state);
            self.states.push((self.times.len() as u32, state));
        }
    }

    fn end_moment(&mut self, now: Time, place: u32) {
        self.times.push(now);
        self.senders.push(place);
    }

    /// Whether some flow's throughput is traced.
    #[inline]
    pub(super) fn has_bins(&self) -> bool {
        self.bin > TimeDelta::ZERO
    }

    /// New payload reached its receiver.
    pub(super) fn on_delivered(&mut self, flow: FlowId, time: Time, payload: Bytes) {
        let bin = (time.0 / self.bin.0.max(1)) as usize;
        if let Some(of) = self.flows.get_mut(self.places[flow] as usize).filter(|of| of.kinds & THROUGHPUT != 0) {
            if bin >= of.bins.len() {
                of.bins.resize(bin + 1, 0);
            }
            of.bins[bin] += payload.0;
        }
    }
}

/// Store the value of a row; rows before it without a value get `none`.
#[inline]
fn note<T: Copy>(column: &mut Vec<T>, moment: usize, value: T, none: T) {
    if column.len() < moment {
        column.resize(moment, none);
    }
    column.push(value);
}

/// Append the values of another domain after the first `before` rows.
fn append<T: Copy>(column: &mut Vec<T>, before: usize, other: &[T], none: T) {
    if !other.is_empty() {
        column.resize(before, none);
        column.extend_from_slice(other);
    }
}

fn append_series<T: Copy>(series: &mut Series<T>, before: usize, other: &[(u32, T)]) {
    series.extend(other.iter().map(|&(moment, value)| (moment + before as u32, value)));
}

/// Remove the values of the first `gone` rows.
fn forget_series<T>(series: &mut Series<T>, gone: usize) {
    series.retain(|row| row.0 as usize >= gone);
    series.iter_mut().for_each(|row| row.0 -= gone as u32);
}

/// Internal quantities of a flow's controller.
fn quantities_of(flow: FlowId, network: &Network) -> &'static [&'static str] {
    match &network.groups[network.flows[flow].group].transport {
        Transport::Tcp(_, law) => law.abilities().quantities,
        Transport::Datagram(_) => &[],
    }
}

/// Index of a name, which is added if it is new.
fn place_of(name: &str, names: &mut Vec<String>) -> u32 {
    let known = names.iter().position(|known| known == name);
    known.unwrap_or_else(|| {
        names.push(name.to_string());
        names.len() - 1
    }) as u32
}

const fn bit(kind: TraceKind) -> u16 {
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
        TraceKind::Rto => 1024,
        TraceKind::Queue | TraceKind::Drops | TraceKind::Departures => 0,
    }
}

const NO_ACK: (SegmentNumber, bool) = (SegmentNumber::NONE, false);
const THROUGHPUT: u16 = bit(TraceKind::Throughput(TimeDelta::ZERO));
/// Trace kinds that are recorded in rows.
const OF_MOMENTS: u16 = !(THROUGHPUT | bit(TraceKind::Packets));

/// The tables of flows.
pub(super) struct Tables<'a> {
    traces: &'a FlowTraces,
    names: &'a FlowNames,
    /// The rows before the end, by time, then by flow.
    order: Vec<u32>,
    /// All rows were recorded in this order.
    is_in_order: bool,
    /// Rows before this time have been returned already.
    since: Time,
    end: Time,
}

impl<'a> Tables<'a> {
    /// Rows at or after `end` are omitted: a sender that runs ahead has recorded them.
    pub(super) fn new(traces: &'a FlowTraces, names: &'a FlowNames, Range { start: since, end }: Range<Time>) -> Tables<'a> {
        let is_in_order = traces.times.iter().zip(&traces.senders).is_sorted();
        let order = if is_in_order {
            (0..traces.times.partition_point(|&time| time < end) as u32).collect()
        } else {
            let moments = (0..).zip(&traces.times).filter(|&(_, &time)| time < end);
            let mut order: Vec<u32> = moments.map(|(moment, _)| moment).collect();
            order.sort_by_key(|&moment| traces.key(moment));
            order
        };
        Tables { traces, names, order, is_in_order, since, end }
    }

    /// The table of a kind; `None` for packets and for traces of ports.
    pub(super) fn of(&self, kind: TraceKind) -> Option<Table> {
        let of = self.traces;
        Some(match kind {
            TraceKind::Cwnd => {
                let moments = self.known(&of.cwnd, |cwnd| !cwnd.is_nan());
                let cwnd = values(&moments, |moment| of.cwnd[moment]);
                self.table("cwnd", &moments, [("cwnd_packets", Column::Float(cwnd))])
            }
            TraceKind::Rtt => {
                let moments = self.known(&of.rtt, |rtt| !rtt.is_nan());
                let rtt = values(&moments, |moment| of.rtt[moment]);
                self.table("rtt", &moments, [("rtt_s", Column::Float(rtt))])
            }
            TraceKind::InFlight => {
                let moments = self.known(&of.in_flight, |&segments| segments != NONE);
                let segments = values(&moments, |moment| u64::from(of.in_flight[moment]));
                self.table("in_flight", &moments, [("in_flight_packets", Column::Integer(segments))])
            }
            TraceKind::Acks => {
                let moments = self.known(&of.acks, |&ack| ack != NO_ACK);
                let ack = values(&moments, |moment| u64::from(of.acks[moment].0.0));
                let duplicate = values(&moments, |moment| u64::from(of.acks[moment].1));
                self.table("acks", &moments, [("ack", Column::Integer(ack)), ("duplicate", Column::Integer(duplicate))])
            }
            TraceKind::Ssthresh => {
                let (moments, rows) = self.sorted(&of.ssthresh);
                let ssthresh = rows.iter().map(|row| row.1).collect();
                self.table("ssthresh", &moments, [("ssthresh_packets", Column::Float(ssthresh))])
            }
            TraceKind::Rto => {
                let (moments, rows) = self.sorted(&of.rto);
                let rto = rows.iter().map(|row| row.1.seconds()).collect();
                self.table("rto", &moments, [("rto_s", Column::Float(rto))])
            }
            TraceKind::Segments => {
                let (moments, rows) = self.sorted(&of.segments);
                let segment = rows.iter().map(|row| row.1.0.0.into()).collect();
                let transmission = rows.iter().map(|row| row.1.1.into()).collect();
                let columns = [("segment", Column::Integer(segment)), ("transmission", Column::Integer(transmission))];
                self.table("segments", &moments, columns)
            }
            TraceKind::State => {
                let (moments, rows) = self.sorted(&of.states);
                let words = Arc::new(STATE_NAMES.map(String::from).to_vec());
                let state = rows.iter().map(|row| row.1 as u32).collect();
                self.table("state", &moments, [("state", Column::Word(state, words))])
            }
            TraceKind::Law => {
                let (moments, rows) = self.sorted(&of.law);
                let quantity = rows.iter().map(|row| row.1.0).collect();
                let value = rows.iter().map(|row| row.1.1).collect();
                let quantity = Column::Word(quantity, of.quantities.clone());
                self.table("controller", &moments, [("quantity", quantity), ("value", Column::Float(value))])
            }
            TraceKind::Throughput(bin) => self.throughput(bin),
            TraceKind::Packets | TraceKind::Queue | TraceKind::Drops | TraceKind::Departures => return None,
        })
    }

    /// The rows that have a value, in order.
    fn known<T: Copy>(&self, column: &[T], is_there: impl Fn(&T) -> bool) -> Vec<u32> {
        let mut moments = Vec::with_capacity(column.len().min(self.order.len()));
        // A loop, which costs half as much as an iterator with a closure for each row.
        for &moment in &self.order {
            if column.get(moment as usize).is_some_and(&is_there) {
                moments.push(moment);
            }
        }
        moments
    }

    /// The values of a series in order, and their rows.
    fn sorted<T: Copy>(&self, series: &[(u32, T)]) -> (Vec<u32>, Vec<(u32, T)>) {
        let traces = self.traces;
        // Values of an unfinished row have no time yet.
        let is_over = |row: &(u32, T)| traces.times.get(row.0 as usize).is_some_and(|&time| time < self.end);
        let rows = if self.is_in_order {
            series[..series.partition_point(is_over)].to_vec()
        } else {
            let mut rows: Vec<(u32, T)> = series.iter().copied().filter(is_over).collect();
            rows.sort_by_key(|row| traces.key(row.0));
            rows
        };
        (rows.iter().map(|row| row.0).collect(), rows)
    }

    /// A table of these rows.
    fn table<const N: usize>(&self, name: &str, moments: &[u32], columns: [(&'static str, Column); N]) -> Table {
        let of = self.traces;
        let times = values(moments, |moment| of.times[moment].seconds());
        let (groups, flows) = match &of.flows[..] {
            [only] => {
                let (group, index) = self.names.of(only.flow);
                (vec![group; moments.len()], vec![index; moments.len()])
            }
            all => {
                let names: Vec<(GroupId, u64)> = all.iter().map(|of| self.names.of(of.flow)).collect();
                let name = |moment: usize| names[of.senders[moment] as usize];
                (values(moments, |moment| name(moment).0), values(moments, |moment| name(moment).1))
            }
        };
        let mut all = self.names.columns_of(times, groups, flows);
        all.extend(columns);
        named(name, all)
    }

    /// Payload per bin in bit/s, for flows that delivered any.
    fn throughput(&self, width: TimeDelta) -> Table {
        let (mut times, mut rates) = (Vec::new(), Vec::new());
        let (mut groups, mut flows) = (Vec::new(), Vec::new());
        let whole = self.end.0.div_ceil(width.0) as usize;
        let bins = |of: &TracedFlow| if of.bins.is_empty() { 0 } else { whole.max(of.bins.len()) };
        let first = (self.since.0 / width.0) as usize;
        for bin in first..self.traces.flows.iter().map(bins).max().unwrap_or(0) {
            let start = Time(bin as u64 * width.0);
            let seconds = (start + width).min(self.end).since(start).seconds();
            for of in self.traces.flows.iter().filter(|of| bin < bins(of)) {
                let (group, index) = self.names.of(of.flow);
                times.push(start.seconds());
                groups.push(group);
                flows.push(index);
                rates.push(of.bins.get(bin).copied().unwrap_or(0) as f64 * 8.0 / seconds);
            }
        }
        let mut all = self.names.columns_of(times, groups, flows);
        all.push(("throughput_bps", Column::Float(rates)));
        named("throughput", all)
    }
}

impl FlowTraces {
    /// Sort key of a row.
    #[inline]
    fn key(&self, moment: u32) -> (Time, u32) {
        (self.times[moment as usize], self.senders[moment as usize])
    }
}

fn values<T>(moments: &[u32], value: impl Fn(usize) -> T) -> Vec<T> {
    moments.iter().map(|&moment| value(moment as usize)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_a_value_get_the_placeholder() {
        let mut column = vec![7];
        note(&mut column, 1, 8, NONE);
        note(&mut column, 4, 9, NONE);
        assert_eq!(column, [7, 8, NONE, NONE, 9]);
    }

    #[test]
    fn each_name_has_one_index() {
        let mut names = Vec::new();
        assert_eq!(["K_s", "price", "K_s"].map(|name| place_of(name, &mut names)), [0, 1, 0]);
    }
}
