//! Conversion of counters to the columns of the result tables.

use super::cells::{Edge, EdgeCounts};
use super::conservation::{ConservationError, UnitsInNetwork};
use super::endpoints::End;
use super::event_order::Event;
use super::external_flow::{ExternalFlows, REPORTED_ONLY};
use super::port::{ClassCounts, FlowTotals, PortCounts, Stepped};
use super::state::Engine;
use crate::network::{Hop, Port, Transfer};
use crate::primitives::ids::{FlowId, PortId};
use crate::primitives::units::{Bytes, Time, TimeDelta};
use crate::queue::{DropReason, PolicySpec};
use crate::record::recorder::QueueRows;
use crate::record::{Column, FlowNames, Table, named};
use std::sync::Arc;

/// The measurements of a run. Counters cover the measurement interval: from the end of the warm-up to the end of the run, or to the time
/// reached so far. Before the end they include hops that were computed ahead, by up to one round trip beyond `simulated_s`; at the end they
/// are exact.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// One row per flow.
    pub flows: Table,
    /// One row per queue: each direction of each link.
    pub queues: Table,
    /// One row per flow group.
    pub groups: Table,
    /// One row per queue and class, for queues that distinguish classes, if any.
    pub classes: Option<Table>,
    /// One row per flow with the available bit rate service, if any.
    pub edges: Option<Table>,
    /// One row per message of flows of messages, if any.
    pub messages: Option<Table>,
    /// One row per queue and flow that passed it, if requested.
    pub queue_flows: Option<Table>,
    pub traces: Vec<Table>,
    /// The run reached its end.
    pub complete: bool,
    /// Simulated seconds reached.
    pub simulated_s: f64,
    pub events: u64,
}

impl Results {
    /// All tables, in a fixed order.
    pub fn tables(&self) -> impl Iterator<Item = &Table> {
        [&self.flows, &self.queues, &self.groups]
            .into_iter()
            .chain(&self.classes)
            .chain(&self.edges)
            .chain(&self.messages)
            .chain(&self.queue_flows)
            .chain(&self.traces)
    }

    /// The input of a golden hash.
    pub fn bytes(&self) -> Vec<u8> {
        self.tables().flat_map(Table::bytes).collect()
    }
}

impl Engine {
    /// The results up to now. Checks conservation first.
    ///
    /// # Errors
    /// A violation of conservation, which is a bug in Tailback.
    pub fn results(&self) -> Result<Results, ConservationError> {
        self.results_with(&ExternalFlows::new())
    }

    /// The results up to now, with the measurements that external transports have reported.
    ///
    /// # Errors
    /// As [`Engine::results`].
    pub fn results_with(&self, external: &ExternalFlows) -> Result<Results, ConservationError> {
        let in_lines = self.units_in_lines();
        self.check_conservation(&in_lines)?;
        let until = self.now();
        let links = self.network.best_links();
        let slowdowns: Vec<f64> = self.endpoints.flows().map(|flow| self.slowdown(flow, &links)).collect();
        let flows = self.flow_table(until, &in_lines, &slowdowns, external);
        Ok(Results {
            groups: self.group_table(until, &flows, external),
            flows,
            queues: self.queue_table(until),
            classes: self.class_table(until),
            edges: self.edge_table(until),
            messages: self.message_table(),
            queue_flows: self.network.record.queue_flows.then(|| self.queue_flow_table(until)),
            traces: self.traces(until),
            complete: until >= self.fabric.clock.end(),
            simulated_s: until.seconds(),
            events: self.events(),
        })
    }

    /// The trace rows since the last call. Rows are returned once and then dropped, so that long observation needs no more memory. An
    /// unfinished throughput bin is returned again.
    pub fn take_traces(&mut self) -> Vec<Table> {
        let until = self.now();
        let tables = self.traces(until);
        self.fabric.forget_traces(until);
        tables
    }

    fn traces(&self, until: Time) -> Vec<Table> {
        let recorder = self.fabric.outcomes.recorder();
        recorder.map_or_else(Vec::new, |recorder| recorder.tables(&self.flow_names(), &self.queue_rows(), until))
    }

    /// Data packets that a flow has sent in the whole run, including injected ones.
    pub(crate) fn sent_in_all(&self, flow: FlowId) -> u32 {
        match self.endpoints.end(flow) {
            End::Tcp(sender) => sender.sequence.counts.sent_in_all,
            End::Datagram(source) => source.sent(),
        }
    }

    pub(super) fn measured_seconds(&self, until: Time) -> f64 {
        until.since(self.fabric.clock.warmup()).seconds()
    }

    fn flow_table(&self, until: Time, in_lines: &UnitsInNetwork, slowdowns: &[f64], external: &ExternalFlows) -> Table {
        let all: Vec<FlowId> = self.endpoints.flows().collect();
        let (groups, indices) = self.flow_names().columns(&all);
        let integer = |value: &dyn Fn(FlowId) -> u64| Column::Integer(all.iter().copied().map(value).collect());
        let float = |value: &dyn Fn(FlowId) -> f64| Column::Float(all.iter().copied().map(value).collect());
        // The engine does not know the counters and timers of an external transport.
        let is_external: Vec<bool> = all.iter().map(|&i| self.fabric.profile(i).is_external).collect();
        let known = |i: FlowId, value: f64| if is_external[i.index()] { f64::NAN } else { value };
        let of_transport = |value: &dyn Fn(FlowId) -> u64| match is_external.contains(&true) {
            true => float(&|i| known(i, value(i) as f64)),
            false => integer(value),
        };
        let sender = |i: FlowId| self.endpoints.end(i).counts();
        let counts = |i: FlowId| &self.fabric.path(i).counts;
        let carried = |i: FlowId| &self.fabric.path(i).carried;
        let channel = |i: FlowId| self.fabric.cells.as_ref().map(|cells| cells.channel(i));
        let seconds = self.measured_seconds(until);
        let starved = self.starved(until, external);
        let has_report = |i: FlowId| !is_external[i.index()] || external.contains_key(&i);
        let starved = |i: FlowId| if has_report(i) { f64::from(starved[i.index()]) } else { f64::NAN };
        let all_known = all.iter().copied().all(has_report);
        let mut columns = vec![
            ("group", groups),
            ("flow", indices),
            ("start_s", float(&|i| self.start_seconds(i))),
            ("size_bytes", float(&|i| self.size(i))),
            ("base_rtt_s", float(&|i| self.endpoints.plan(i).base_rtt.seconds())),
            ("sent_packets", integer(&|i| sender(i).sent.into())),
            ("retransmitted_packets", of_transport(&|i| sender(i).retransmitted.into())),
            ("spurious_retransmissions", of_transport(&|i| counts(i).duplicates.into())),
            ("fast_retransmits", of_transport(&|i| sender(i).fast_retransmits.into())),
            ("timeouts", of_transport(&|i| sender(i).timeouts.into())),
            ("probes", of_transport(&|i| self.endpoints.end(i).probes().into())),
            ("delivered_packets", integer(&|i| carried(i).delivered.into())),
            ("delivered_bytes", integer(&|i| carried(i).delivered_bytes)),
            ("goodput_bps", float(&|i| carried(i).delivered_bytes as f64 * 8.0 / seconds)),
            ("marked_packets", integer(&|i| self.fabric.path(i).marked.into())),
            ("loss_rate", float(&|i| self.loss_rate(i, sender(i).sent.into()))),
            ("dropped_acks", of_transport(&|i| self.dropped_acks(i))),
            ("waiting_at_end", of_transport(&|i| self.waiting_since(i, until, in_lines).is_some().into())),
            ("active_share", float(&|i| known(i, self.active_share(i, until, in_lines)))),
            ("starved", if all_known { integer(&|i| starved(i) as u64) } else { float(&starved) }),
            ("completion_time_s", float(&|i| self.completion(i))),
            ("transfer_rate_bps", float(&|i| self.transfer_rate(i))),
            ("slowdown", float(&|i| slowdowns[i])),
            ("backlog_packets", of_transport(&|i| self.endpoints.end(i).backlog().into())),
            ("frame_cells", integer(&|i| self.fabric.frame_cells(i).0)),
            ("frame_goodput_cells", integer(&|i| channel(i).map_or(0, |channel| channel.frame_goodput))),
            ("badput_cells", integer(&|i| channel(i).map_or(0, |channel| channel.badput))),
            ("mean_rtt_s", float(&|i| sender(i).rtt_sum.seconds() / f64::from(sender(i).rtt_samples))),
        ];
        if !external.is_empty() {
            columns.extend(REPORTED_ONLY.map(|name| (name, float(&|_| f64::NAN))));
        }
        for (name, column) in &mut columns {
            for (&flow, of) in external {
                of.overlay(name, flow, column, self.fabric.clock.interval(), until);
            }
        }
        columns.extend(self.playback_columns(until));
        named("flows", columns)
    }

    /// Acknowledgements of a flow that queues and links have discarded.
    pub(super) fn dropped_acks(&self, flow: FlowId) -> u64 {
        self.fabric.outcomes.dropped_acks(flow)
    }

    /// Discarded share of the packets that the flow sent within the measurement interval and of their copies.
    fn loss_rate(&self, flow: FlowId, sent: u64) -> f64 {
        let copies = self.fabric.outcomes.copies(flow).measured;
        Share { part: self.fabric.path(flow).counts.discarded.into(), whole: sent + copies }.value()
    }

    /// The part of a flow's lifetime that is measured until then.
    fn measured_lifetime(&self, flow: FlowId, until: Time) -> TimeDelta {
        self.ended(flow).min(until).since(self.start_of(flow).max(self.fabric.clock.warmup()))
    }

    /// NaN if no part of the flow's lifetime is measured.
    fn active_share(&self, flow: FlowId, until: Time, in_lines: &UnitsInNetwork) -> f64 {
        let warmup = self.fabric.clock.warmup();
        let cut_off = self.waiting_since(flow, until, in_lines).map_or(TimeDelta::ZERO, |since| until.since(since.max(warmup)));
        let waited = self.endpoints.end(flow).counts().idle + cut_off;
        1.0 - waited.seconds() / self.measured_lifetime(flow, until).seconds()
    }

    /// Start of a wait for a timeout that falls after the time reached. The sender has losses to repair, no packet in flight will cause a
    /// report, and the application hands over no data that could be sent before the timeout.
    fn waiting_since(&self, flow: FlowId, until: Time, in_lines: &UnitsInNetwork) -> Option<Time> {
        let End::Tcp(sender) = self.endpoints.end(flow) else { return None };
        let is_over = until >= self.fabric.path(flow).counts.completed;
        let fabric = &self.fabric;
        let is_due = |event| fabric.agenda.is_pending(event);
        let offer = fabric.agenda.time_of(Event::AppWrite(flow));
        let may_send = offer < sender.timer.deadline && sender.sequence.in_flight() < self.window_of(sender, flow);
        let may_receive_ack =
            in_lines.are_under_way[flow] || is_due(Event::DelayedAck(flow)) || is_due(Event::SendTimer(flow)) || may_send;
        (!is_over && !may_receive_ack && sender.awaits_timeout()).then_some(sender.sequence.last_active)
    }

    /// Time at which a flow was finished: its receiver had the whole transfer, its source had sent all datagrams although some were lost,
    /// or the flow was stopped and all sent data is acknowledged.
    pub(super) fn ended(&self, flow: FlowId) -> Time {
        let completed = self.fabric.path(flow).counts.completed;
        match (self.endpoints.stop(flow), self.endpoints.end(flow)) {
            (stop, End::Datagram(source)) => {
                let ended = if completed == Time::NEVER { source.finished } else { completed };
                stop.map_or(ended, |stop| stop.min(ended))
            }
            (Some(stop), End::Tcp(sender))
                if sender.sequence.is_done() && sender.sequence.limit < self.fabric.path(flow).complete_at =>
            {
                stop.max(sender.sequence.last_active)
            }
            _ => completed,
        }
    }

    pub(super) fn completion(&self, flow: FlowId) -> f64 {
        match self.fabric.path(flow).counts.completed {
            time if time >= self.fabric.clock.end() => f64::NAN,
            time => time.since(self.start_of(flow)).seconds(),
        }
    }

    /// Payload of a completed flow over its completion time; NaN for others.
    fn transfer_rate(&self, flow: FlowId) -> f64 {
        let payload = match self.messages(flow) {
            Some(messages) => (0..messages.delivered().len() as u32).map(|message| messages.size(message).0 as f64).sum(),
            None => self.size(flow),
        };
        payload * 8.0 / self.completion(flow)
    }

    /// NaN for a connection that no request has opened.
    fn start_seconds(&self, flow: FlowId) -> f64 {
        match self.start_of(flow) {
            Time::NEVER => f64::NAN,
            start => start.seconds(),
        }
    }

    /// NaN for an endless flow.
    fn size(&self, flow: FlowId) -> f64 {
        match self.endpoints.plan(flow).size {
            Bytes(u64::MAX) => f64::NAN,
            Bytes(bytes) => bytes as f64,
        }
    }

    /// NaN for unfinished flows, for datagrams, and for flows whose application delays the data.
    fn slowdown(&self, flow: FlowId, links: &[Hop]) -> f64 {
        let completion = self.completion(flow);
        if completion.is_nan() || self.messages(flow).is_some() {
            return f64::NAN;
        }
        let Engine { network, fabric, .. } = self;
        let wire = &fabric.path(flow).wire;
        let route: Vec<PortId> = fabric.route(wire.forward).collect();
        let transfer = Transfer {
            group: &network.groups[wire.group],
            size: self.endpoints.plan(flow).size,
            sender_access: wire.sender_access(&fabric.rates),
            receiver_access: wire.receiver_access(&fabric.rates),
            route: &route,
            links,
        };
        transfer.min_completion_time().map_or(f64::NAN, |min| completion / min.seconds())
    }

    fn queue_table(&self, until: Time) -> Table {
        let names: Arc<Vec<String>> = Arc::new(self.network.ports.iter().map(|port| port.name.clone()).collect());
        let seconds = self.measured_seconds(until);
        let integer = |value: &dyn Fn(usize) -> u64| Column::Integer((0..names.len()).map(value).collect());
        let float = |value: &dyn Fn(usize) -> f64| Column::Float((0..names.len()).map(value).collect());
        let counts: Vec<PortCounts> = self.fabric.ports().iter().map(|port| port.equipment.counts()).collect();
        let still_queued: Vec<StillQueued> = (0..names.len()).map(|port| self.still_queued(port, until)).collect();
        let exceptions = |i: usize| counts[i].exceptions();
        let counts = |i: usize| &counts[i];
        let discarded = |i: usize, reason: DropReason| exceptions(i).discarded[reason as usize].measured();
        let all = |i: usize| exceptions(i).discarded.iter().map(|parts| parts.measured()).sum::<u64>();
        let refused = |i: usize| {
            let is_refused = |reason: &DropReason| match reason {
                DropReason::Random => self.fabric.ports()[i].equipment.loses_before_queue(),
                reason => !reason.follows_acceptance(),
            };
            DropReason::ALL.into_iter().filter(is_refused).map(|reason| discarded(i, reason)).sum::<u64>()
        };
        let arrived = |i: usize| counts(i).accepted.measured() + refused(i);
        let unit_names = Arc::new(vec!["packets".to_string(), "cells".to_string()]);
        let units = self.ports_of_cells().into_iter().map(u32::from).collect();
        let mut columns = vec![
            ("queue", Column::Word((0..names.len() as u32).collect(), Arc::clone(&names))),
            ("unit", Column::Word(units, unit_names)),
            ("arrived_units", integer(&arrived)),
            ("departed_units", integer(&|i| counts(i).departed.measured())),
            ("departed_bytes", integer(&|i| counts(i).departed_bytes.measured())),
            ("marked_units", integer(&|i| exceptions(i).marked.measured())),
            ("dropped_units", integer(&all)),
            ("dropped_acks", integer(&|i| exceptions(i).dropped_acks.measured())),
        ];
        columns.extend(DISCARDED.map(|(name, reason)| (name, integer(&|i| discarded(i, reason)))));
        let polices = |port: &Port| port.policies().any(|policy| matches!(policy, PolicySpec::Policer(_)));
        if self.network.ports.iter().any(polices) {
            columns.push(("dropped_policed", integer(&|i| discarded(i, DropReason::Policed))));
        }
        if self.network.ports.iter().any(|port| port.impairments.mtu.is_some()) {
            columns.push(("dropped_mtu", integer(&|i| discarded(i, DropReason::AboveMtu))));
        }
        columns.extend([
            ("loss_rate", float(&|i| Share { part: all(i) - exceptions(i).discarded_of_warmup, whole: arrived(i) }.value())),
            ("utilisation", float(&|i| self.utilisation(i, counts(i), until))),
            ("mean_queue_units", float(&|i| seconds_of(counts(i).held + still_queued[i].held) / seconds)),
            ("max_queue_units", integer(&|i| counts(i).max.max(counts(i).held_at_warmup + still_queued[i].of_warmup))),
            ("mean_wait_s", float(&|i| seconds_of(counts(i).waited) / counts(i).served as f64)),
        ]);
        if self.network.ports.iter().any(|port| port.impairments.duplication > 0.0) {
            columns.push(("duplicated_units", integer(&|i| exceptions(i).duplicated.measured())));
        }
        if self.network.ports.iter().any(|port| port.policies().any(|policy| policy.price_meaning().is_some())) {
            columns.push(("price", float(&|i| self.fabric.ports()[i].equipment.price())));
            columns.push(("clamped_packets", integer(&|i| exceptions(i).beyond_range.measured())));
        }
        if self.network.record.delay_percentiles {
            for (name, at) in [("wait_p50_s", 0.5), ("wait_p95_s", 0.95), ("wait_p99_s", 0.99)] {
                columns.push((name, float(&|i| self.fabric.ports()[i].equipment.wait_percentile(at).unwrap_or(f64::NAN))));
            }
        }
        named("queues", columns)
    }

    /// For a port whose rate varies: used share of its capacity.
    fn utilisation(&self, port: usize, counts: &PortCounts, until: Time) -> f64 {
        let Engine { network, fabric, .. } = self;
        let by_trace = fabric.ports()[port].stepped().and_then(|stepped| stepped.used_share(until));
        let of_time = || seconds_of(counts.busy) / self.measured_seconds(until) / f64::from(network.ports[port].transmitters);
        by_trace.unwrap_or_else(of_time)
    }

    fn queue_flow_table(&self, until: Time) -> Table {
        let Engine { network, fabric, .. } = self;
        let rows: Vec<(u32, FlowId, &FlowTotals)> = (0..)
            .zip(fabric.ports())
            .flat_map(|(port, of)| of.equipment.of_flows().map(move |(flow, passed)| (port, flow, passed)))
            .filter(|(_, _, passed)| passed.units.measured() > 0)
            .collect();
        let names = network.ports.iter().map(|port| port.name.clone()).collect();
        let seconds = self.measured_seconds(until);
        let flows: Vec<FlowId> = rows.iter().map(|row| row.1).collect();
        let (groups, indices) = self.flow_names().columns(&flows);
        let columns = vec![
            ("queue", Column::Word(rows.iter().map(|row| row.0).collect(), Arc::new(names))),
            ("group", groups),
            ("flow", indices),
            ("departed_units", Column::Integer(rows.iter().map(|row| row.2.units.measured()).collect())),
            ("departed_bytes", Column::Integer(rows.iter().map(|row| row.2.bytes.measured()).collect())),
            ("throughput_bps", Column::Float(rows.iter().map(|row| row.2.bytes.measured() as f64 * 8.0 / seconds).collect())),
        ];
        named("queue_flows", columns)
    }

    fn class_table(&self, until: Time) -> Option<Table> {
        let Engine { network, fabric, .. } = self;
        let counts_of = |port: usize| fabric.ports()[port].stepped().map_or(&[][..], Stepped::classes);
        let rows: Vec<(usize, usize)> =
            (0..fabric.ports().len()).flat_map(|port| (0..counts_of(port).len()).map(move |class| (port, class))).collect();
        if rows.is_empty() {
            return None;
        }
        let seconds = self.measured_seconds(until);
        let counts = |(port, class): (usize, usize)| &counts_of(port)[class];
        let integer = |value: &dyn Fn(&ClassCounts) -> u64| Column::Integer(rows.iter().map(|&row| value(counts(row))).collect());
        let float = |value: &dyn Fn(&ClassCounts) -> f64| Column::Float(rows.iter().map(|&row| value(counts(row))).collect());
        let ports = network.ports.iter().map(|port| port.name.clone()).collect();
        let mut classes: Vec<String> = Vec::new();
        let mut name_of = |(port, class): (usize, usize)| {
            let names = network.ports[port].scheduling.as_ref().map_or(Vec::new(), |of| of.queues.class_names());
            let name = names[class];
            let known = classes.iter().position(|known| known == name);
            known.unwrap_or_else(|| {
                classes.push(name.to_string());
                classes.len() - 1
            }) as u32
        };
        let names = rows.iter().map(|&row| name_of(row)).collect();
        let lost = |counts: &ClassCounts| {
            let part = counts.discarded.measured() - counts.discarded_of_warmup;
            Share { part, whole: counts.arrived.measured() }.value()
        };
        let columns = vec![
            ("queue", Column::Word(rows.iter().map(|&(port, _)| port as u32).collect(), Arc::new(ports))),
            ("class", Column::Word(names, Arc::new(classes))),
            ("arrived_units", integer(&|counts| counts.arrived.measured())),
            ("departed_units", integer(&|counts| counts.departed.measured())),
            ("departed_bytes", integer(&|counts| counts.departed_bytes.measured())),
            ("dropped_units", integer(&|counts| counts.discarded.measured())),
            ("loss_rate", float(&lost)),
            ("throughput_bps", float(&|counts| counts.departed_bytes.measured() as f64 * 8.0 / seconds)),
            ("mean_wait_s", float(&|counts| seconds_of(counts.waited) / counts.served as f64)),
        ];
        Some(named("classes", columns))
    }

    fn edge_table(&self, until: Time) -> Option<Table> {
        let fabric = &self.fabric;
        let (flows, edges): (Vec<FlowId>, Vec<&Edge>) = fabric.cells.iter().flat_map(|cells| cells.edges()).unzip();
        if edges.is_empty() {
            return None;
        }
        let (groups, indices) = self.flow_names().columns(&flows);
        let counts: Vec<EdgeCounts> = edges.iter().map(|edge| edge.counts_at(until, fabric.clock.interval())).collect();
        let measured = fabric.clock.interval().overlap(fabric.clock.warmup(), until).0 as f64;
        let integer = |value: &dyn Fn(&EdgeCounts) -> u64| Column::Integer(counts.iter().map(value).collect());
        let float = |value: &dyn Fn(&EdgeCounts) -> f64| Column::Float(counts.iter().map(value).collect());
        let columns = vec![
            ("group", groups),
            ("flow", indices),
            ("arrived_packets", integer(&|counts| counts.arrived)),
            ("dropped_packets", integer(&|counts| counts.discarded)),
            ("loss_rate", float(&|counts| Share { part: counts.discarded, whole: counts.arrived }.value())),
            ("data_cells", integer(&|counts| counts.data_cells)),
            ("forward_rm_cells", integer(&|counts| counts.forward_rm)),
            ("backward_rm_cells", integer(&|counts| counts.backward_rm)),
            ("congested_rm_cells", integer(&|counts| counts.congested_rm)),
            ("mean_acr_bps", float(&|counts| counts.rate_time as f64 / measured)),
            ("acr_bps", Column::Float(edges.iter().map(|edge| edge.rate().0 as f64).collect())),
            ("mean_queue_cells", float(&|counts| counts.cell_time as f64 / measured)),
            ("max_queue_cells", integer(&|counts| counts.max_cells)),
            ("held_acks", integer(&|counts| counts.held_acks)),
            ("mean_hold_s", float(&|counts| seconds_of(counts.held_for) / counts.held_acks as f64)),
        ];
        Some(named("edges", columns))
    }

    /// Whether each port carries cells.
    fn ports_of_cells(&self) -> Vec<bool> {
        let mut cells = vec![false; self.fabric.ports().len()];
        for path in self.fabric.paths().iter().filter(|path| self.network.groups[path.wire.group].framing.is_some()) {
            for start in [path.wire.forward, path.wire.backward] {
                self.fabric.route(start).for_each(|port| cells[port] = true);
            }
        }
        cells
    }

    /// The packets that are in a stepped port's queues at `until`. A port that computes departures ahead has already counted them.
    fn still_queued(&self, port: usize, until: Time) -> StillQueued {
        let (clock, packets, ports) = (&self.fabric.clock, &self.fabric.packets, self.fabric.ports());
        let queues = ports[port].stepped().map_or(&[][..], |stepped| &stepped.queues);
        let mut all = StillQueued::default();
        for packet in queues.iter().flat_map(|queue| packets.iter(&queue.line)) {
            all.held += u128::from(clock.interval().overlap(packet.time, until).0);
            all.of_warmup += u64::from(packet.time < clock.warmup() && until > clock.warmup());
        }
        all
    }

    fn queue_rows(&self) -> QueueRows<'_> {
        let fabric = &self.fabric;
        QueueRows {
            names: Arc::new(self.network.ports.iter().map(|port| port.name.clone()).collect()),
            of_ports: fabric.occupancy_rows(),
            departures: fabric.ports().iter().map(|port| port.equipment.departures()).collect(),
        }
    }

    pub(super) fn flow_names(&self) -> FlowNames {
        FlowNames::new(&self.network, self.fabric.paths().iter().map(|path| path.wire.group).collect())
    }
}

/// All reasons except those of policers and MTUs, which few networks have.
const DISCARDED: [(&str, DropReason); DropReason::ALL.len() - 2] = [
    ("dropped_full", DropReason::Full),
    ("dropped_early", DropReason::Early),
    ("dropped_late", DropReason::Late),
    ("dropped_partial", DropReason::Partial),
    ("dropped_single", DropReason::Single),
    ("dropped_random", DropReason::Random),
    ("dropped_listed", DropReason::Listed),
];

fn seconds_of(picoseconds: u128) -> f64 {
    picoseconds as f64 / 1e12
}

/// Packets in the queues of a stepped port.
#[derive(Default)]
struct StillQueued {
    /// Their total time in the queue within the measurement interval, in picoseconds.
    held: u128,
    /// Number of those that arrived during the warm-up.
    of_warmup: u64,
}

/// A share of a whole.
struct Share {
    part: u64,
    whole: u64,
}

impl Share {
    /// 0 if the whole is 0.
    fn value(self) -> f64 {
        if self.whole == 0 { 0.0 } else { self.part as f64 / self.whole as f64 }
    }
}
