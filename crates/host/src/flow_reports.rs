//! The reports of the hosts of flows in the results of a run.

use crate::host_loop::{HostLoop, RejectedPackets};
use crate::report::{Changes, TransportReport, Watch};
use crate::virtual_hosts::{VirtualClock, VirtualHost, VirtualHosts};
use std::cmp::Ordering;
use std::io;
use tailback_core::network::{FlowId, Network, TraceKind};
use tailback_core::primitives::units::{Bytes, Time, TimeDelta};
use tailback_core::record::{Column, Table};
use tailback_core::{ExternalFlow, ExternalFlows};

/// A flow whose sender and receiver report.
pub(crate) struct ReportedFlow {
    pub(crate) group: String,
    pub(crate) index: u64,
    /// The external flow of the data.
    pub(crate) flow: FlowId,
    /// Indices of sender and receiver.
    pub(crate) hosts: [usize; 2],
    pub(crate) start: Time,
    pub(crate) stop: Option<Time>,
    pub(crate) size: Option<Bytes>,
}

/// The flows whose hosts report, and their reports at the end of the warm-up.
#[derive(Default)]
pub(crate) struct FlowReports {
    flows: Vec<ReportedFlow>,
    /// The end of the warm-up until its reports are read.
    pub(crate) warmup: Option<Time>,
    /// Round-trip time of a full packet of each flow through the empty network.
    base_rtts: Vec<TimeDelta>,
    /// Reports of sender and receiver of each flow.
    at_warmup: Vec<[TransportReport; 2]>,
}

impl FlowReports {
    /// Sets what is read from the hosts during the run.
    pub(crate) fn new(flows: Vec<ReportedFlow>, network: &Network, hosts: &mut [VirtualHost]) -> FlowReports {
        let is_traced = |flow: FlowId, kind| {
            network.record.traces.iter().any(|trace| trace.kind == kind && trace.of.binary_search(&flow.0).is_ok())
        };
        for ReportedFlow { flow, hosts: [sender, receiver], size, .. } in &flows {
            let changes = Changes {
                cwnd: is_traced(*flow, TraceKind::Cwnd).then(Vec::new),
                ssthresh: is_traced(*flow, TraceKind::Ssthresh).then(Vec::new),
                smoothed_rtt: is_traced(*flow, TraceKind::Rtt).then(Vec::new),
                rto: is_traced(*flow, TraceKind::Rto).then(Vec::new),
                in_flight: is_traced(*flow, TraceKind::InFlight).then(Vec::new),
                state: is_traced(*flow, TraceKind::State).then(Vec::new),
            };
            if changes.is_any() {
                hosts[*sender].watch = Watch::Changes(changes);
            }
            if let Some(size) = *size {
                hosts[*receiver].watch = Watch::Completion(size);
            }
        }
        let warmup = Some(Time::ZERO + network.warmup).filter(|&end| end > Time::ZERO);
        let base_rtts = flows.iter().map(|of| network.base_rtt_of(&network.flows[of.flow], hosts[of.hosts[0]].mtu)).collect();
        FlowReports { base_rtts, at_warmup: vec![Default::default(); flows.len()], flows, warmup }
    }

    /// Reads the reports of all hosts.
    ///
    /// # Errors
    /// The fault of a host.
    pub(crate) fn read(&self, hosts: &mut VirtualHosts) -> io::Result<Vec<[TransportReport; 2]>> {
        self.flows.iter().map(|flow| Ok([hosts.report(flow.hosts[0])?, hosts.report(flow.hosts[1])?])).collect()
    }

    /// Reads the reports at the end of the warm-up.
    ///
    /// # Errors
    /// The fault of a host.
    pub(crate) fn end_warmup(&mut self, hosts: &mut VirtualHosts) -> io::Result<()> {
        self.warmup = None;
        self.at_warmup = self.read(hosts)?;
        Ok(())
    }

    /// The measurements of the flows up to now. A host without a report, because it has failed, has unknown values.
    pub(crate) fn external(&self, all: &mut HostLoop<VirtualHosts, VirtualClock>) -> ExternalFlows {
        let rejected: Vec<u64> =
            self.flows.iter().map(|flow| flow.hosts.map(|host| all.rejected_of(host).sent()).iter().sum()).collect();
        let hosts = all.hosts_mut();
        let mut one = |host: usize| hosts.report(host).unwrap_or_default();
        let reports: Vec<[TransportReport; 2]> = self.flows.iter().map(|flow| flow.hosts.map(&mut one)).collect();
        let all = self.flows.iter().zip(&reports).zip(&self.at_warmup).zip(self.base_rtts.iter().zip(rejected));
        all.map(|(((flow, now), before), (&base_rtt, rejected_packets))| {
            let measured = flow.measured(now, before, &hosts.hosts[flow.hosts[1]]);
            (flow.flow, ExternalFlow { base_rtt: Some(base_rtt), rejected_packets, ..measured })
        })
        .collect()
    }

    /// A text about packets that the network did not carry.
    pub(crate) fn rejections(&self, all: &mut HostLoop<VirtualHosts, VirtualClock>) -> Option<String> {
        let hosts = self.flows.iter().flat_map(|flow| flow.hosts).map(|host| (host, all.rejected_of(host)));
        let rejected: Vec<(usize, RejectedPackets)> = hosts.filter(|(_, of_host)| of_host.sent() > 0).collect();
        let (host, of_host) = rejected.first()?;
        let name = &all.hosts_mut().hosts[*host].name;
        let others = match rejected.len() - 1 {
            0 => String::new(),
            1 => " (and 1 more host)".into(),
            more => format!(" (and {more} more hosts)"),
        };
        Some(format!("the network did not carry {} packets of `{name}`: {of_host}{others}", of_host.sent()))
    }

    /// A text about connections that a transport has ended before the transfer was complete and before the application stopped.
    pub(crate) fn early_ends(&self, hosts: &mut VirtualHosts) -> Option<String> {
        let mut early = self.flows.iter().filter_map(|flow| {
            let is_complete = matches!(hosts.hosts[flow.hosts[1]].watch, Watch::Completed(_));
            let ends = flow.hosts.map(|host| Some((host, hosts.report(host).ok()?.ended?)));
            let (host, end) = ends.into_iter().flatten().min_by_key(|(_, end)| end.at)?;
            let is_early = !is_complete && end.at < flow.stop.unwrap_or(Time::NEVER);
            let name = &hosts.hosts[host].name;
            is_early.then(|| format!("`{name}` ended its connection at {:.3} s: {}", end.at.seconds(), end.reason))
        });
        let first = early.next()?;
        Some(match early.count() {
            0 => first,
            1 => format!("{first} (and 1 more flow)"),
            more => format!("{first} (and {more} more flows)"),
        })
    }

    /// Adds the changes of reported quantities to the traces.
    pub(crate) fn add_traces(&self, hosts: &VirtualHosts, until: Time, traces: &mut [Table]) {
        for table in traces {
            let rows = self.flows.iter().flat_map(|flow| {
                let sender = &hosts.hosts[flow.hosts[0]];
                let Watch::Changes(changes) = &sender.watch else { return Vec::new() };
                let packets = |bytes: Bytes| Value::Number(bytes.0 as f64 / sender.mtu.0 as f64);
                match table.name.as_str() {
                    "cwnd" => rows(&changes.cwnd, packets),
                    "ssthresh" => rows(&changes.ssthresh, packets),
                    "rtt" => rows(&changes.smoothed_rtt, |rtt: TimeDelta| Value::Number(rtt.seconds())),
                    "rto" => rows(&changes.rto, |rto: TimeDelta| Value::Number(rto.seconds())),
                    "in_flight" => rows(&changes.in_flight, packets),
                    "state" => rows(&changes.state, Value::Word),
                    _ => Vec::new(),
                }
                .into_iter()
                .filter(|(time, _)| *time < until)
                .map(|(time, value)| (time.seconds(), flow, value))
                .collect()
            });
            let rows: Vec<(f64, &ReportedFlow, Value)> = rows.collect();
            if !rows.is_empty() {
                append(table, &rows);
            }
        }
    }
}

/// A value of a trace.
#[derive(Clone, Copy)]
enum Value {
    Number(f64),
    Word(&'static str),
}

/// The rows of a traced quantity.
fn rows<T: Copy>(changes: &Option<Vec<(Time, T)>>, value: impl Fn(T) -> Value) -> Vec<(Time, Value)> {
    changes.iter().flatten().map(|&(time, changed)| (time, value(changed))).collect()
}

/// Inserts rows of time, flow and value in the order of time, then of flows.
fn append(table: &mut Table, rows: &[(f64, &ReportedFlow, Value)]) {
    let [(_, Column::Float(times)), (_, Column::Word(groups, names)), (_, Column::Integer(flows)), (_, values)] =
        &mut table.columns[..]
    else {
        return;
    };
    for (time, flow, value) in rows {
        let Some(group) = names.iter().position(|name| *name == flow.group) else { continue };
        match (&mut *values, value) {
            (Column::Float(values), Value::Number(number)) => values.push(*number),
            (Column::Integer(values), Value::Number(number)) => values.push(number.round() as u64),
            (Column::Word(values, words), Value::Word(word)) => {
                let Some(place) = words.iter().position(|known| known == word) else { continue };
                values.push(place as u32);
            }
            _ => continue,
        }
        times.push(*time);
        groups.push(group as u32);
        flows.push(flow.index);
    }
    let key = |row: usize| (times[row], groups[row], flows[row]);
    let mut order: Vec<usize> = (0..times.len()).collect();
    order.sort_by(|&a, &b| key(a).partial_cmp(&key(b)).unwrap_or(Ordering::Equal));
    *times = order.iter().map(|&row| times[row]).collect();
    *groups = order.iter().map(|&row| groups[row]).collect();
    *flows = order.iter().map(|&row| flows[row]).collect();
    match values {
        Column::Float(values) => *values = order.iter().map(|&row| values[row]).collect(),
        Column::Integer(values) => *values = order.iter().map(|&row| values[row]).collect(),
        Column::Word(values, _) => *values = order.iter().map(|&row| values[row]).collect(),
    }
}

impl ReportedFlow {
    /// The measurements between two reports of sender and receiver. `host`: the receiver.
    fn measured(&self, now: &[TransportReport; 2], before: &[TransportReport; 2], host: &VirtualHost) -> ExternalFlow {
        let ([sender, receiver], [of_sender, of_receiver]) = (now, before);
        let since = |now: Option<u64>, before: Option<u64>| now.map(|now| now.saturating_sub(before.unwrap_or(0)));
        let bytes = |of: &TransportReport| of.delivered.map(|bytes| bytes.0);
        let completed = match host.watch {
            Watch::Completed(time) => Some(time),
            _ => None,
        };
        ExternalFlow {
            base_rtt: None,
            start: self.start,
            stop: self.stop,
            size: self.size,
            delivered: since(bytes(receiver), bytes(of_receiver)).map(Bytes),
            completed,
            last_arrival: host.last_arrival,
            retransmitted_packets: since(sender.retransmitted_packets, of_sender.retransmitted_packets),
            lost_packets: since(sender.lost_packets, of_sender.lost_packets),
            timeouts: since(sender.timeouts, of_sender.timeouts),
            mean_rtt: sender.rtt_samples.and_then(|samples| samples.mean_since(of_sender.rtt_samples.unwrap_or_default())),
            min_rtt: sender.min_rtt,
            rto: sender.rto,
            rejected_packets: 0,
        }
    }
}
