//! The timeline: changes of links and flow groups.

use super::failures::{self, Failure};
use super::graph::Graph;
use super::groups::Groups;
use super::links::Varying;
use super::paths::Paths;
use super::routes::{self, Hashed, Routes};
use super::routing::Ways;
use super::traffic;
use crate::problem::{RepeatedErrors, Report, key};
use crate::quantity::Size;
use crate::rate_table::RowChange;
use crate::schema::Description;
use crate::schema::{Buffer, Event};
use std::collections::BTreeMap;
use tailback_core::network::{self, CELL_BYTES, Change, ChangeKind, FlowId, Port, PortId, Queues, Scheduling};
use tailback_core::primitives::units::{Rate, Time, TimeDelta};
use tailback_core::queue::PolicySpec;
use tailback_core::settings::{Kind, Value};

/// All changes of the timeline.
#[derive(Default)]
pub(super) struct Changes {
    /// Sorted by time.
    pub list: Vec<Change>,
    /// By flow group.
    pub groups: BTreeMap<String, GroupChanges>,
    /// Maximum bit rate of each port over the run.
    pub max_rates: Vec<u128>,
    /// Sorted by time.
    pub failures: Vec<Failure>,
}

/// Changes of one flow group.
#[derive(Default)]
pub(super) struct GroupChanges {
    /// Time to which its `start` is relative.
    pub start: Option<Time>,
    pub stop: Option<Time>,
    /// Further data paths, as lists of ports.
    pub routes: Vec<Vec<PortId>>,
}

pub(super) fn changes(
    description: &Description,
    groups: &Groups,
    graph: &Graph,
    paths: &mut Paths,
    report: &mut Report,
) -> Changes {
    let max_rates = graph.ports.iter().map(|port| speed_at_first(port, description.duration.time_delta())).collect();
    let mut changes = Changes { max_rates, ..Changes::default() };
    // Before the timeline, whose changes replace these at the same time.
    for (port, varying) in &graph.tables {
        changes.vary(*port, varying, description.duration.time_delta(), report);
    }
    let mut faults = RepeatedErrors::default();
    for (position, event) in description.timeline.iter().enumerate() {
        let at = format!("timeline[{position}]");
        report.among(&mut faults, |report| {
            in_time(event, description, &format!("{at}.at"), report);
            match (&event.link, &event.group) {
                (Some(_), None) => changes.link(event, &at, graph, report),
                (None, Some(_)) => changes.group(event, &at, description, groups, graph, paths, report),
                _ if report.is_valid(&at) => {
                    let given = if event.link.is_some() { "both" } else { "neither" };
                    report
                        .add(&at, format!("{} must have either `link` or `group`", key(&at)))
                        .given(given)
                        .expected("either `link` or `group`");
                }
                _ => {}
            }
        });
    }
    if let Some(problem) = faults.rest("timeline", "events", report) {
        problem.expected("events before the end of the run, of links and flow groups that exist");
    }
    changes.list.sort_by_key(|change| change.at);
    changes.failures.sort_by_key(Failure::at);
    changes.list = failures::with_losses(std::mem::take(&mut changes.list), &changes.failures, graph);
    changes
}

/// Reports events after the end of the run.
fn in_time(event: &Event, description: &Description, at: &str, report: &mut Report) {
    let duration = description.duration;
    if event.at >= duration && report.is_valid(at) && report.is_valid("duration") {
        let problem = report.add(at, "`at` is not before the end of the run");
        problem.given(event.at.to_string()).expected(format!("less than the duration, {duration}"));
    }
}

/// Maximum number of route changes, one per flow and event.
const MAX_CHANGES: usize = 4_000_000;

impl Changes {
    /// Later buffers of a port.
    pub fn buffers(&self, port: PortId) -> impl Iterator<Item = network::Buffer> + '_ {
        self.list.iter().filter_map(move |change| match change.what {
            ChangeKind::Buffer(of, buffer) if of == port => Some(buffer),
            _ => None,
        })
    }

    /// Delays and losses of a table.
    fn vary(&mut self, port: PortId, varying: &Varying, duration: TimeDelta, report: &mut Report) {
        for RowChange { at, delay, loss } in varying.table.changes(duration) {
            let kinds = [
                delay.filter(|_| varying.has_delays).map(|delay| ChangeKind::Delay(port, delay.time_delta())),
                loss.filter(|_| varying.has_losses).map(|loss| ChangeKind::RandomLoss(port, loss.0)),
            ];
            self.list.extend(kinds.into_iter().flatten().map(|what| Change { at: time(at), what }));
            if self.list.len() > MAX_CHANGES {
                let problem = report.add("links", "tables of links have too many changes of delay and loss");
                problem.expected(format!("at most {MAX_CHANGES} in the whole run"));
                return;
            }
        }
    }

    fn link(&mut self, event: &Event, at: &str, graph: &Graph, report: &mut Report) {
        let strange = [
            ("route", event.route.is_some()),
            ("return_route", event.return_route.is_some()),
            ("start", event.start),
            ("stop", event.stop),
            ("rebind", event.rebind),
        ];
        refuse(&strange, "link", "`rate`, `delay`, `loss`, `buffer`, `down` or `up`", at, report);
        let Some(port) = event.link.as_ref().and_then(|name| graph.port(name, &format!("{at}.link"), report)) else { return };
        let kinds = [
            event.rate.map(|rate| ChangeKind::Rate(port, rate.rate())),
            event.delay.map(|delay| ChangeKind::Delay(port, delay.time_delta())),
            event.loss.map(|loss| ChangeKind::RandomLoss(port, loss.0)),
            event.buffer.map(|buffer| ChangeKind::Buffer(port, buffer.core())),
        ];
        if let Some(buffer) = event.buffer {
            check_buffer(buffer, port, &format!("{at}.buffer"), graph, report);
            warn_of_thresholds(buffer, port, &format!("{at}.buffer"), graph, report);
        }
        let failure = failures::of_event(event, at, port, graph, report);
        if kinds.iter().all(Option::is_none) && failure.is_none() && report.is_valid(at) {
            let problem = report.add(at, format!("{} changes nothing", key(at)));
            problem.expected("`rate`, `delay`, `loss`, `buffer`, `down` or `up` with `link`");
            problem.hint("a failure is `down = true`, and its end `up = true`; false is the default of both");
        }
        self.failures.extend(failure);
        let rate_at = format!("{at}.rate");
        if event.rate.is_some() && graph.ports[port].varying.is_some() && report.is_valid(&rate_at) {
            let problem = report.add(rate_at, "`rate` cannot change on a link with a trace");
            problem.expected("no `rate`, or a trace that contains the change");
        }
        if let Some(rate) = event.rate {
            let max_rate = &mut self.max_rates[port];
            *max_rate = speed(&graph.ports[port], rate.rate()).max(*max_rate);
        }
        let when = time(event.at.time_delta());
        self.list.extend(kinds.into_iter().flatten().map(|what| Change { at: when, what }));
    }

    #[expect(clippy::too_many_arguments, reason = "the steps of the building hand on the same five things")]
    fn group(
        &mut self,
        event: &Event,
        at: &str,
        description: &Description,
        groups: &Groups,
        graph: &Graph,
        paths: &mut Paths,
        report: &mut Report,
    ) {
        let strange = [
            ("rate", event.rate.is_some()),
            ("delay", event.delay.is_some()),
            ("loss", event.loss.is_some()),
            ("buffer", event.buffer.is_some()),
            ("down", event.down),
            ("up", event.up),
            ("reroute_after", event.reroute_after.is_some()),
        ];
        refuse(&strange, "group", "`route`, `start`, `stop` or `rebind`", at, report);
        let Some(name) = &event.group else { return };
        let Some(flows) = groups.flows(name.as_str(), &format!("{at}.group"), report) else { return };
        let Some(flow) = description.flows.get(name) else { return };
        let group = self.groups.entry(name.to_string()).or_default();
        let when = time(event.at.time_delta());
        for (key, is_given, slot, own) in
            [("start", event.start, &mut group.start, false), ("stop", event.stop, &mut group.stop, flow.stop.is_some())]
        {
            if is_given && (slot.replace(when).is_some() || own) {
                report
                    .add(format!("{at}.{key}"), format!("`{key}` of `{name}` is given twice"))
                    .expected(format!("one `{key}`, in the group or in one event"));
            }
        }
        if event.route.is_none() && event.return_route.is_some() {
            report.add(format!("{at}.return_route"), "`return_route` requires `route`").expected("also `route`");
        }
        if event.rebind && flow.tcp.as_ref().is_none_or(|tcp| tcp.stack().is_none()) {
            let problem = report.add(format!("{at}.rebind"), "`rebind` requires a `stack`: simulated flows have no ports");
            problem.given(format!("`{name}`")).expected("a group with `tcp = {stack = ...}`");
        }
        let has_effect = event.route.is_some() || event.start || event.stop || event.rebind;
        if !has_effect && event.return_route.is_none() && report.is_valid(at) {
            report.add(at, format!("{} changes nothing", key(at))).expected("`route`, `start`, `stop` or `rebind` with `group`");
        }
        if event.route.is_some() {
            let flows = FlowId::range(flows);
            let seed = description.seed.0;
            let count = flows.len() / flow.connections() as usize;
            let Some(pairs) = traffic::ends(name, flow, seed, count, &graph.sites, report) else { return };
            let [_] = pairs.as_slice() else {
                let problem = report.add(format!("{at}.route"), "`route` is given for flows between several pairs of nodes");
                problem.given(format!("`{name}` {}", routes::endpoints(flow))).expected("a group between one pair of nodes");
                return;
            };
            let routes = Routes { forward: event.route.as_deref(), backward: event.return_route.as_deref(), table: None };
            let (ways, hashed) = (Ways::new(graph, description.routing), Hashed { seed, name: name.as_str() });
            let Some((forward, backward)) = routes.find(&pairs, hashed, &ways, at, report).and_then(|mut found| found.pop())
            else {
                return;
            };
            if self.list.len() + flows.len() > MAX_CHANGES {
                let problem = report.add(format!("{at}.route"), "`route` exceeds the maximum number of route changes");
                problem.expected(format!("at most {MAX_CHANGES}, one per flow and change"));
                return;
            }
            group.routes.push(forward.clone());
            let (forward, backward) = (paths.of(forward), paths.of(backward));
            let change = |flow| Change { at: when, what: ChangeKind::Route(flow, forward, backward) };
            self.list.extend(flows.map(change));
        }
    }
}

/// Reports keys that this kind of change does not have.
fn refuse(strange: &[(&str, bool)], with: &str, expected: &str, at: &str, report: &mut Report) {
    for (key, _) in strange.iter().filter(|(_, given)| *given) {
        report.add(format!("{at}.{key}"), format!("`{key}` cannot be used with `{with}`")).expected(expected);
    }
}

/// The unit of a new buffer must be that of the queue's buffer, in which policies count.
fn check_buffer(buffer: Buffer, port: PortId, at: &str, graph: &Graph, report: &mut Report) {
    let (own, queue_at) = graph.buffer_as_written(port);
    let expected = match own {
        Buffer::Packets(_) | Buffer::Share(_) if matches!(buffer, Buffer::Packets(_)) => return,
        Buffer::Cells(_) if matches!(buffer, Buffer::Cells(_)) => return,
        Buffer::Bytes(_) | Buffer::Time(_) if matches!(buffer, Buffer::Bytes(_)) => return,
        Buffer::Packets(_) | Buffer::Share(_) => "packets, like the queue's `buffer`, such as `100 packets`",
        Buffer::Cells(_) => "cells, like the queue's `buffer`, such as `1200 cells`",
        Buffer::Bytes(_) | Buffer::Time(_) => "bytes, like the queue's `buffer`, such as `100 kB`",
        Buffer::Unlimited => "no change, or a finite `buffer` from the start",
    };
    if report.is_valid(at) {
        let problem = report.add(at, format!("`buffer` is not in the unit of `{queue_at}.buffer`"));
        problem.given(format!("{buffer}, after {own}")).expected(expected);
    }
}

/// Warns of thresholds that exceed the new buffer.
fn warn_of_thresholds(buffer: Buffer, port: PortId, at: &str, graph: &Graph, report: &mut Report) {
    let (port, overflow) = (&graph.ports[port], buffer.core());
    // Thresholds of a buffer in bytes are in bytes, or in cells for policies that count cells.
    let (units, bytes) = match overflow {
        network::Buffer::Units(units) => (units, u64::MAX),
        network::Buffer::Bytes(bytes) => (bytes / CELL_BYTES.0, bytes),
        network::Buffer::Unlimited => return,
    };
    for policy in port.policies() {
        let Some(member) = PolicySpec::MEMBERS.iter().find(|member| Some(member.name) == policy.name()) else { continue };
        for (setting, value) in member.settings.iter().zip(policy.values()) {
            let threshold = match (&setting.kind, value) {
                (Kind::Cells { .. } | Kind::QueueLength, Value::Integer(count)) if count > units => count.to_string(),
                (Kind::QueueLength, Value::QueueBytes(size)) if size > bytes => Size::new(size).to_string(),
                _ => continue,
            };
            if report.is_valid(at) {
                let problem = report.warn(at, format!("`buffer` becomes smaller than `{}` of `{}`", setting.key, member.name));
                problem.given(format!("{buffer}, a threshold of {threshold}")).expected(format!("at least {threshold}"));
            }
        }
    }
    if let Some(Scheduling { queues: Queues::OfClasses(queues, _), .. }) = port.scheduling.as_deref() {
        let exceeds = |of_class| match (of_class, overflow) {
            (network::Buffer::Units(own), network::Buffer::Units(all)) => own > all,
            (network::Buffer::Bytes(own), network::Buffer::Bytes(all)) => own > all,
            _ => false,
        };
        if queues.iter().any(|queue| exceeds(queue.buffer)) && report.is_valid(at) {
            report.warn(at, "`buffer` of a class exceeds that of the queue").given(buffer.to_string());
        }
    }
}

/// Bit rate of a port; if it varies, the mean over the run.
fn speed_at_first(port: &Port, duration: TimeDelta) -> u128 {
    let varying = port.varying.as_ref().map(|rate| rate.mean_rate_before(time(duration)).ceil() as u128);
    varying.unwrap_or_else(|| speed(port, port.rate))
}

fn speed(port: &Port, rate: Rate) -> u128 {
    u128::from(rate.0) * u128::from(port.transmitters)
}

fn time(span: TimeDelta) -> Time {
    Time::ZERO + span
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::tests::{dumbbell, graph, names};

    const WEB: &str = "[flows.web]\ncount = 2\nfrom = \"left\"\nto = \"right\"\ntcp = {preset = \"reno\"}\n";

    #[test]
    fn changes_of_links_are_sorted() {
        let network = dumbbell(&format!(
            "{WEB}[[timeline]]\nat = \"5 s\"\nlink = \"bottleneck\"\nrate = \"1 Mbps\"\nloss = \"1 %\"\n\
             [[timeline]]\nat = \"2 s\"\nlink = \"bottleneck.reverse\"\ndelay = \"3 ms\"\n"
        ));
        let at = |seconds: u64| Time::ZERO + TimeDelta::from_millis(1000 * seconds);
        let wanted = [
            Change { at: at(2), what: ChangeKind::Delay(PortId(1), TimeDelta::from_millis(3)) },
            Change { at: at(5), what: ChangeKind::Rate(PortId(0), Rate(1_000_000)) },
            Change { at: at(5), what: ChangeKind::RandomLoss(PortId(0), 0.01) },
        ];
        assert_eq!(network.changes, wanted);
    }

    #[test]
    fn a_group_starts_and_stops_with_the_timeline() {
        let network = dumbbell(&format!(
            "{WEB}start = [\"0 s\", \"1 s\"]\n[[timeline]]\nat = \"4 s\"\ngroup = \"web\"\nstart = true\n\
             [[timeline]]\nat = \"9 s\"\ngroup = \"web\"\nstop = true\n"
        ));
        let times: Vec<_> = network.flows.iter().map(|flow| (flow.start.seconds(), flow.stop.seconds())).collect();
        assert_eq!(times, [(4.0, 9.0), (5.0, 9.0)]);
    }

    #[test]
    fn a_new_route_is_one_change_per_flow() {
        let links = [("ab", "a", "b", 5), ("bc", "b", "c", 5), ("ac", "a", "c", 1)];
        let event = "count = 2\n[[timeline]]\nat = \"4 s\"\ngroup = \"web\"\nroute = [\"ab\", \"bc\"]\n";
        let network = graph(&links, ("a", "c"), event);
        assert_eq!(network.changes.len(), 2);
        let ChangeKind::Route(flow, forward, backward) = network.changes[1].what else { panic!("{:?}", network.changes) };
        assert_eq!(
            (flow, names(&network, forward), names(&network, backward)),
            (FlowId(1), vec!["ab", "bc"], vec!["bc.reverse", "ab.reverse"])
        );
        assert_eq!(names(&network, network.flows[1].forward), ["ac"]);
    }
}
