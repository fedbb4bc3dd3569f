//! Traces as lists of flows and ports.

use super::graph::Graph;
use super::groups::Groups;
use crate::problem::{RepeatedErrors, Report, listed};
use crate::quantity::Duration;
use crate::schema::Description;
use crate::schema::{self, DEFAULT_BIN, PortName, TraceTable, TraceWord, Traces};
use std::collections::BTreeSet;
use tailback_core::congestion::ControllerSpec;
use tailback_core::network::{Group, Recording, Trace, TraceKind, Transport};

pub(super) fn record(description: &Description, groups: &Groups, graph: &Graph, report: &mut Report) -> Recording {
    let follow = Follow { groups, graph };
    let mut traces = match &description.record.traces {
        None => Vec::new(),
        Some(Traces::All(words)) => {
            let mut words = words.clone();
            words.sort();
            words.dedup();
            words.into_iter().map(|word| follow.everything(word)).collect()
        }
        Some(Traces::Some(table)) => follow.table(table, report),
    };
    traces.retain(|trace| !trace.of.is_empty());
    check_bins(&traces, description.duration, report);
    let schema::Record { delay_percentiles, queue_flows, .. } = description.record;
    Recording { traces, delay_percentiles, queue_flows }
}

struct Follow<'a> {
    groups: &'a Groups<'a>,
    graph: &'a Graph,
}

impl Follow<'_> {
    fn everything(&self, word: TraceWord) -> Trace {
        let of = match word {
            TraceWord::Queue | TraceWord::Drops | TraceWord::Departures => {
                self.graph.forward_ports().map(|port| port.0).collect()
            }
            _ => (0..self.groups.total()).collect(),
        };
        Trace { kind: kind(word, DEFAULT_BIN), of }
    }

    fn table(&self, table: &TraceTable, report: &mut Report) -> Vec<Trace> {
        let (bin, of) = table.throughput.as_ref().map_or((DEFAULT_BIN, &[][..]), |trace| (trace.bin, &trace.flows[..]));
        let lists = [
            (TraceWord::Cwnd, "cwnd", &table.cwnd[..]),
            (TraceWord::Ssthresh, "ssthresh", &table.ssthresh),
            (TraceWord::Rtt, "rtt", &table.rtt),
            (TraceWord::Rto, "rto", &table.rto),
            (TraceWord::InFlight, "in_flight", &table.in_flight),
            (TraceWord::Segments, "segments", &table.segments),
            (TraceWord::Acks, "acks", &table.acks),
            (TraceWord::State, "state", &table.state),
            (TraceWord::Law, "controller", &table.controller),
            (TraceWord::Throughput, "throughput.flows", of),
            (TraceWord::Queue, "queue", &table.queue),
            (TraceWord::Drops, "drops", &table.drops),
            (TraceWord::Departures, "departures", &table.departures),
            (TraceWord::Packets, "packets", &table.packets),
        ];
        let trace = |(word, key, names): (TraceWord, &str, &[String])| {
            let (mut of, mut faults) = (Vec::new(), RepeatedErrors::default());
            let mut seen = BTreeSet::new();
            for (position, name) in names.iter().enumerate().filter(|(_, name)| seen.insert(*name)) {
                let at = format!("record.traces.{key}[{position}]");
                report.among(&mut faults, |report| match word {
                    TraceWord::Queue | TraceWord::Drops | TraceWord::Departures => {
                        of.extend(self.graph.port(&PortName(name.clone()), &at, report).map(|port| port.0))
                    }
                    _ => of.extend(self.flows(name, &at, report)),
                });
            }
            if let Some(problem) = faults.rest(format!("record.traces.{key}"), "names", report) {
                problem.expected("links or flow groups of the scenario");
            }
            of.sort_unstable();
            of.dedup();
            Trace { kind: kind(word, bin), of }
        };
        lists.into_iter().map(trace).collect()
    }

    /// The flows of `web`, or the one of `web[3]`.
    fn flows(&self, name: &str, at: &str, report: &mut Report) -> std::ops::Range<u32> {
        let one = name.strip_suffix(']').and_then(|name| name.split_once('['));
        let flows = match one.and_then(|(group, index)| Some((group, index.parse().ok()?))) {
            Some((group, index)) => self.groups.flow(group, index, at, report).map(|flow| flow.0..flow.0 + 1),
            None => self.groups.flows(name, at, report).map(|flows| flows.start.0..flows.end.0),
        };
        flows.unwrap_or(0..0)
    }
}

fn kind(word: TraceWord, bin: Duration) -> TraceKind {
    match word {
        TraceWord::Cwnd => TraceKind::Cwnd,
        TraceWord::Ssthresh => TraceKind::Ssthresh,
        TraceWord::Rtt => TraceKind::Rtt,
        TraceWord::Rto => TraceKind::Rto,
        TraceWord::InFlight => TraceKind::InFlight,
        TraceWord::Segments => TraceKind::Segments,
        TraceWord::Acks => TraceKind::Acks,
        TraceWord::State => TraceKind::State,
        TraceWord::Law => TraceKind::Law,
        TraceWord::Throughput => TraceKind::Throughput(bin.time_delta()),
        TraceWord::Queue => TraceKind::Queue,
        TraceWord::Drops => TraceKind::Drops,
        TraceWord::Departures => TraceKind::Departures,
        TraceWord::Packets => TraceKind::Packets,
    }
}

/// Warns of traces without rows: of flows without simulated TCP, and of controllers whose only state is the window. Stacks may report
/// windows, thresholds, RTTs, data in flight and states.
pub(super) fn check_senders(description: &Description, groups: &[Group], report: &mut Report) {
    let Some(Traces::Some(table)) = &description.record.traces else { return };
    let samples = ControllerSpec::samples();
    let mut laws: Vec<&str> =
        samples.iter().filter(|law| !law.abilities().quantities.is_empty()).filter_map(ControllerSpec::name).collect();
    laws.dedup();
    let of_senders = [
        ("cwnd", &table.cwnd),
        ("ssthresh", &table.ssthresh),
        ("rtt", &table.rtt),
        ("rto", &table.rto),
        ("in_flight", &table.in_flight),
        ("acks", &table.acks),
        ("state", &table.state),
        ("controller", &table.controller),
    ];
    for (key, position, name) in
        of_senders.iter().flat_map(|(key, names)| (0..).zip(*names).map(move |(at, name)| (key, at, name)))
    {
        let group = name.split('[').next().unwrap_or(name);
        let Some(group) = groups.iter().find(|known| known.name == group) else { continue };
        let is_stack = description
            .flows
            .iter()
            .any(|(name, flow)| name.as_str() == group.name && flow.tcp.as_ref().is_some_and(|tcp| tcp.stack().is_some()));
        let (why, expected) = match &group.transport {
            Transport::Datagram(_) if is_stack && !matches!(*key, "acks" | "controller") => continue,
            Transport::Datagram(_) => ("it has no simulated TCP", "flows with simulated TCP".to_owned()),
            Transport::Tcp(_, law) if *key == "controller" && law.abilities().quantities.is_empty() => {
                ("its controller has no state beside the window", format!("flows of {}", listed(&laws)))
            }
            Transport::Tcp(..) => continue,
        };
        let problem =
            report.warn(format!("record.traces.{key}[{position}]"), format!("`{key}` records nothing for `{name}`: {why}"));
        problem.given(name.clone()).expected(expected);
    }
}

/// Maximum number of bins of all flows.
const MAX_BINS: u64 = 100_000_000;

fn check_bins(traces: &[Trace], duration: Duration, report: &mut Report) {
    let at = "record.traces.throughput.bin";
    for trace in traces {
        let TraceKind::Throughput(bin) = trace.kind else { continue };
        let bins = duration.time_delta().0.checked_div(bin.0).map(|bins| bins.saturating_mul(trace.of.len() as u64));
        if bins.is_none_or(|bins| bins > MAX_BINS) && report.is_valid(at) {
            let given = Duration::new(bin.0).to_string();
            report.add(at, "`bin` is too short").given(given).expected(format!("at most {MAX_BINS} bins in all"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;
    use crate::network::tests::dumbbell;
    use tailback_core::primitives::units::TimeDelta;

    fn traces(record: &str) -> Vec<Trace> {
        let flow = |name| format!("[flows.{name}]\ncount = 2\nfrom = \"left\"\nto = \"right\"\ntcp = {{preset = \"reno\"}}\n");
        dumbbell(&format!("{}{}[record]\n{record}\n", flow("web"), flow("bulk"))).record.traces
    }

    #[test]
    fn a_list_records_everything_except_reverse_links() {
        let wanted = [Trace { kind: TraceKind::Cwnd, of: vec![0, 1, 2, 3] }, Trace { kind: TraceKind::Queue, of: vec![0] }];
        assert_eq!(traces("traces = [\"queue\", \"cwnd\", \"queue\"]"), wanted);
    }

    #[test]
    fn traces_of_senders_that_do_not_exist_are_warnings() {
        let text = "duration = \"1 s\"\n[topology.dumbbell]\nrate = \"1 Mbps\"\ndelay = \"1 ms\"\nqueue = {buffer = \"9 packets\"}\n\
                    [flows.web]\nfrom = \"left\"\nto = \"right\"\ntcp = {stack = \"quinn\"}\n\
                    [flows.tcp]\nfrom = \"left\"\nto = \"right\"\ntcp = {preset = \"reno\"}\n\
                    [record.traces]\nin_flight = [\"tcp\", \"web[0]\"]\nacks = [\"tcp\", \"web[0]\"]\ncontroller = [\"tcp\"]\nthroughput = {flows = [\"web\"]}\n";
        let warnings = Scenario::from_toml(text, "").unwrap().hosted().unwrap().warnings;
        let given: Vec<_> = warnings.list.iter().map(|warning| (warning.at.as_str(), warning.message.as_str())).collect();
        assert_eq!(
            given,
            [
                ("record.traces.acks[1]", "`acks` records nothing for `web[0]`: it has no simulated TCP"),
                (
                    "record.traces.controller[0]",
                    "`controller` records nothing for `tcp`: its controller has no state beside the window"
                ),
            ]
        );
    }

    #[test]
    fn a_table_records_groups_single_flows_and_ports() {
        let table = "traces = {cwnd = [\"web\", \"bulk[1]\", \"web[0]\"], throughput = {bin = \"1 s\", flows = [\"bulk\"]}, drops = [\"bottleneck.reverse\"]}";
        let wanted = [
            Trace { kind: TraceKind::Cwnd, of: vec![0, 1, 3] },
            Trace { kind: TraceKind::Throughput(TimeDelta::from_millis(1000)), of: vec![2, 3] },
            Trace { kind: TraceKind::Drops, of: vec![1] },
        ];
        assert_eq!(traces(table), wanted);
    }
}
