//! Flow groups and their flows: routes, access paths, starts and sizes.

use super::cells::{self, Crossing};
use super::changes::{Changes, GroupChanges};
use super::graph::Graph;
use super::groups::Groups;
use super::offered::{self, FirstLink};
use super::paths::Paths;
use super::routes::{Hashed, RoutePair, Routes, endpoints};
use super::routing::Ways;
use super::traffic::{self, Ends};
use super::{arrivals, rates, transport};
use crate::distribution::{Distribution, Nth};
use crate::problem::{Report, key};
use crate::quantity::{Duration, Quantity};
use crate::schema::Description;
use crate::schema::{self, FlowTcp, NodeKind, Processing, Routing};
use crate::values::Name;
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use tailback_core::network::{AccessLink, Flow, FlowId, Group, GroupId, MAX_SEGMENTS, PortId, Transport};
use tailback_core::primitives::random::{Entity, Purpose, Stream};
use tailback_core::primitives::units::{Bytes, Rate, Time, TimeDelta};

pub(super) fn flows(
    description: &Description,
    groups: &Groups,
    graph: &Graph,
    changes: &Changes,
    paths: &mut Paths,
    report: &mut Report,
) -> (Vec<Group>, Vec<Flow>) {
    let mut core_groups = Vec::new();
    let mut crossed = Vec::new();
    let mut crossings = Vec::new();
    let mut flows = Vec::new();
    let unchanged = GroupChanges::default();
    let ways = Ways::new(graph, description.routing);
    for (name, flow) in &description.flows {
        let at = format!("flows.{name}");
        let changes_here = changes.groups.get(name.as_str()).unwrap_or(&unchanged);
        let of_group = groups.flows(name.as_str(), &at, report).unwrap_or_default();
        let connections = flow.application.as_ref().map_or(1, schema::Application::connections);
        let count = (u64::from(of_group.end - of_group.start) / connections) as usize;
        let pairs = traffic::ends(name, flow, description.seed.0, count, &graph.sites, report);
        let Some(group) =
            group((name, groups.class(flow.class.as_ref())), flow, &at, pairs.as_deref().unwrap_or_default(), graph, report)
        else {
            continue;
        };
        check_times(flow, &at, changes_here, report);
        let table = flow.traffic.as_ref().and_then(|traffic| traffic.table.as_ref());
        let routes = Routes { forward: flow.route.as_deref(), backward: flow.return_route.as_deref(), table };
        let find = |pairs: Vec<Ends>| {
            if !check_route(flow, &pairs, &at, report) {
                return None;
            }
            let pairs = match description.routing {
                Routing::Ecmp if routes.forward.is_none() || routes.backward.is_none() => {
                    pairs.iter().copied().cycle().take(count.max(1)).collect()
                }
                _ => pairs,
            };
            let hashed = Hashed { seed: description.seed.0, name: name.as_str() };
            let routes = routes.find(&pairs, hashed, &ways, &at, report)?;
            Some((pairs, routes))
        };
        if let Some((pairs, routes)) = pairs.and_then(find) {
            let assign = |(&(sender, _), way)| AssignedRoute::of(way, sender, graph, paths);
            let dealt: Vec<AssignedRoute> = pairs.iter().zip(&routes).map(assign).collect();
            let distinct = distinct(&dealt, routes);
            let forward_ports = distinct.iter().flat_map(|(forward, _)| forward);
            let data_ports = forward_ports.chain(changes_here.routes.iter().flatten()).copied().collect();
            crossed.push((name, of_group, data_ports));
            let rate = |port: PortId| changes.max_rates[port];
            if let Some(port) = distinct.iter().filter_map(|(forward, _)| forward.first().copied()).min_by_key(|&port| rate(port))
            {
                let first = FirstLink { name: &graph.ports[port].name, rate: rate(port) };
                offered::check(flow, &group, &first, description.duration.time_delta(), &at, report);
            }
            let segments =
                |(forward, _): &RoutePair| max_segments(description, flow, &group.transport, forward, changes, changes_here);
            check_mtu(name, flow, &group.transport, &distinct, graph, report);
            let expansion = Expansion {
                name,
                flow,
                count: count as u64,
                connections,
                arrivals: arrivals::starts(description, name, flow, count),
                at: &at,
                group: GroupId(core_groups.len() as u32),
                seed: description.seed.0,
                max_segments: distinct.iter().map(segments).max().unwrap_or(0),
                ways: dealt,
                start: changes_here.start.unwrap_or(Time::ZERO),
                stop: changes_here.stop.or(flow.stop.map(|stop| Time::ZERO + stop.time_delta())).unwrap_or(Time::NEVER),
            };
            let before = flows.len();
            expansion.flows(&group.transport, &mut flows, report);
            check_starts(&flows[before..], &at, description.duration, report);
            arrivals::check(flow, &flows[before..], &at, description.duration, report);
            let rerouted = !changes_here.routes.is_empty();
            let framed = flow.framing.is_some();
            crossings.push(Crossing { name, group: group.clone(), ways: distinct, framed, rerouted });
        }
        core_groups.push(group);
    }
    check_drops(&crossed, graph, report);
    cells::check(&crossings, description.flows.len(), (graph, changes), report);
    rates::check(&crossings, graph, report);
    (core_groups, flows)
}

/// Each way once, in the order in which they are first taken. `dealt`: the same ways, by the numbers of their paths.
fn distinct(dealt: &[AssignedRoute], ways: Vec<RoutePair>) -> Vec<RoutePair> {
    let mut seen = HashSet::new();
    let numbered = dealt.iter().zip(ways);
    numbered.filter(|(dealt, _)| seen.insert((dealt.forward, dealt.backward))).map(|(_, way)| way).collect()
}

/// Reports a route that is given for several pairs of nodes.
fn check_route(flow: &schema::Flow, pairs: &[Ends], at: &str, report: &mut Report) -> bool {
    let key = if flow.route.is_some() { "route" } else { "return_route" };
    let is_one = pairs.len() == 1 || (flow.route.is_none() && flow.return_route.is_none());
    if !is_one && report.is_valid(at) {
        let problem = report.add(format!("{at}.{key}"), format!("`{key}` is given for flows between several pairs of nodes"));
        problem.given(endpoints(flow)).expected("a group for each pair of nodes, or no `route`");
    }
    is_one
}

fn group(
    (name, class): (&Name, u32),
    flow: &schema::Flow,
    at: &str,
    pairs: &[(usize, usize)],
    graph: &Graph,
    report: &mut Report,
) -> Option<Group> {
    let framing = flow.framing.as_ref().and_then(|framing| cells::framing(framing, &format!("{at}.framing"), report));
    let transport = match (&flow.tcp, &flow.source) {
        (Some(FlowTcp::Simulated(tcp)), None) => transport::tcp(tcp, &format!("{at}.tcp"), report),
        (Some(FlowTcp::Stack(stack)), None) => transport::stack(stack, flow, at, report),
        (None, Some(source)) => transport::datagrams(source, framing, &format!("{at}.source"), report),
        (None, None) if !["tcp", "source"].iter().all(|key| report.is_valid(&format!("{at}.{key}"))) => return None,
        (tcp, _) => {
            let given = if tcp.is_some() { "both" } else { "neither" };
            report
                .add(at, format!("{} must have either `tcp` or `source`", key(at)))
                .given(given)
                .expected("either `tcp` or `source`");
            return None;
        }
    };
    let application_at = format!("{at}.application");
    if flow.application.is_some() && flow.tcp.is_none() && report.is_valid(&application_at) {
        report
            .add(&application_at, "`application` requires `tcp`")
            .expected("`tcp`, or no `application`: datagrams have a `source`");
    }
    let of_nodes = |nodes: BTreeSet<usize>, pick: fn(&schema::Node) -> Option<Processing>, key, report: &mut Report| {
        let of = |node| graph.sites.settings(node).filter(|node| node.kind == NodeKind::Host).and_then(pick);
        let mut all = nodes.into_iter().map(of);
        let first = all.next().flatten();
        if all.any(|other| other != first) {
            let problem = report.add(format!("{at}.{key}"), format!("`{key}` differs between the nodes of the group"));
            problem.expected(format!("a group for each node, or `{key}` in the group"));
        }
        first
    };
    let (senders, receivers) = pairs.iter().copied().unzip();
    let send = flow.send_processing.or_else(|| of_nodes(senders, |node| node.send_processing, "send_processing", report));
    let receive =
        flow.receive_processing.or_else(|| of_nodes(receivers, |node| node.receive_processing, "receive_processing", report));
    Some(Group {
        name: name.to_string(),
        class,
        l4s: l4s(flow, &transport, at, report),
        application: flow.application.as_ref().and_then(|given| transport::application(given, &application_at, report)),
        transport,
        send_processing: send.map(Processing::delay),
        receive_processing: receive.map(Processing::delay),
        framing,
        abr: rates::abr(flow, at, report),
        jitter: flow.jitter.map_or_else(|| transport::jitter(flow), Duration::time_delta),
    })
}

/// Whether the packets are L4S.
fn l4s(flow: &schema::Flow, transport: &Transport, at: &str, report: &mut Report) -> bool {
    let Transport::Tcp(spec, law) = transport else { return flow.l4s.unwrap_or(false) };
    let at = format!("{at}.l4s");
    if flow.l4s == Some(true) && !spec.ecn && report.is_valid(&at) {
        let problem = report.add(at, "`l4s` requires ECN, and `ecn` is off");
        problem.given("true").expected("`ecn = true` in `tcp`, or no `l4s`");
    }
    flow.l4s.unwrap_or(law.abilities().is_l4s && spec.ecn)
}

/// Warns of flows that never start. It is no error, because a scenario may be shortened.
fn check_starts(flows: &[Flow], at: &str, duration: Duration, report: &mut Report) {
    let end = Time::ZERO + duration.time_delta();
    let stop = flows.first().map_or(Time::NEVER, |flow| flow.stop);
    // A later connection of a flow starts when the one before it ends.
    let flows: Vec<&Flow> = flows.iter().filter(|flow| flow.start != Time::NEVER).collect();
    let never = flows.iter().filter(|flow| flow.start >= end.min(stop)).count();
    let at = format!("{at}.start");
    if let Some(latest) =
        flows.iter().map(|flow| flow.start).max().filter(|_| never > 0 && report.is_valid(&at) && report.is_valid("duration"))
    {
        let which = if never == flows.len() { "the".into() } else { format!("{never} of {}", flows.len()) };
        let (before, min) = if stop < end { ("`stop`", Duration::new(stop.0)) } else { ("the end of the run", duration) };
        let problem = report.warn(at, format!("`start` is not before {before}: {which} flows never start"));
        problem.given(format!("{} s", latest.seconds())).expected(format!("less than {min}"));
    }
}

fn check_times(flow: &schema::Flow, at: &str, changes: &GroupChanges, report: &mut Report) {
    if let (Distribution::Fixed(start), Some(stop), None) = (&flow.start, flow.stop, changes.start) {
        let at = format!("{at}.stop");
        if stop <= *start && report.is_valid(&at) {
            report.add(at, "`stop` is not after `start`").given(stop.to_string()).expected(format!("after `start`, {start}"));
        }
    }
}

/// Reports listed drops at ports that the data of the flow does not cross.
fn check_drops(crossed: &[(&Name, Range<FlowId>, BTreeSet<PortId>)], graph: &Graph, report: &mut Report) {
    for (id, port) in PortId::enumerate(&graph.ports) {
        for drop in &port.listed_drops {
            let position = crossed.partition_point(|(_, flows, _)| flows.end <= drop.flow);
            let Some((name, flows, ports)) = crossed.get(position) else { continue };
            let at = format!("flows.{name}");
            if flows.contains(&drop.flow) && !ports.contains(&id) && report.is_valid(&at) {
                let message = format!("`drops` of `{}` names `{name}`, whose data does not cross that link", port.name);
                report.add(at, message).expected("drops at a link on the route of these flows");
            }
        }
    }
}

/// Reports packets that a link on their way cannot carry: simulated senders do not discover its MTU, and not all stacks do.
fn check_mtu(name: &Name, flow: &schema::Flow, transport: &Transport, ways: &[RoutePair], graph: &Graph, report: &mut Report) {
    let at = format!("flows.{name}");
    let stack = flow.tcp.as_ref().and_then(FlowTcp::stack);
    let packet = stack.map_or_else(|| transport.full_packet(), |stack| Some(Bytes(stack.mtu.bytes())));
    let Some(packet) = packet.filter(|_| report.is_valid(&at)) else { return };
    let ports = ways.iter().flat_map(|(forward, _)| forward).map(|&port| &graph.ports[port]);
    let smallest = ports.filter_map(|port| Some((port.impairments.mtu?, &port.name))).min();
    let Some((mtu, link)) = smallest.filter(|(mtu, _)| packet > *mtu) else { return };
    if let Some(stack) = stack {
        if !stack.discovers_mtu() {
            let message = format!("`{link}` discards packets above its `mtu`, and a stack without MTU discovery stalls");
            let problem = report.warn(format!("{at}.tcp.mtu"), message);
            problem.given(format!("{} B", packet.0)).expected(format!("at most {} B, the `mtu` of `{link}`", mtu.0));
        }
    } else {
        let problem = report.add(at, format!("packets of `{name}` are larger than the `mtu` of `{link}`, and none would arrive"));
        problem.given(format!("{} B", packet.0)).expected(format!("at most {} B with all headers", mtu.0));
    }
}

/// Maximum number of segments of a greedy flow, which sends at the rate of its slowest link for the whole run.
fn max_segments(
    description: &Description,
    flow: &schema::Flow,
    transport: &Transport,
    forward: &[PortId],
    changes: &Changes,
    here: &GroupChanges,
) -> u128 {
    let slowest = |route: &[PortId]| route.iter().map(|&port| changes.max_rates[port]).min();
    let routes = std::iter::once(forward).chain(here.routes.iter().map(Vec::as_slice));
    let network = routes.filter_map(slowest).max();
    let access = [&flow.sender_access, &flow.receiver_access].into_iter().flatten().filter_map(|access| access.rate);
    let source = flow.source.as_ref().and_then(|source| source.arrivals.rate());
    let private = access.chain(source).map(|rate| u128::from(rate.rate().0)).min();
    let rate = network.into_iter().chain(private).min().unwrap_or(0);
    let bits = 8 * u128::from(transport::wire_bytes(transport).max(1));
    rate.saturating_mul(u128::from(description.duration.time_delta().0)) / (bits * PICOSECONDS)
}

const PICOSECONDS: u128 = 1_000_000_000_000;

/// Builds the flows of one group.
struct Expansion<'d> {
    name: &'d Name,
    flow: &'d schema::Flow,
    count: u64,
    /// Consecutive connections of each flow of the scenario, of which only the first has a start time.
    connections: u64,
    /// Time from `start` to the start of each flow with `arrivals`; otherwise empty.
    arrivals: Vec<TimeDelta>,
    at: &'d str,
    group: GroupId,
    seed: u64,
    max_segments: u128,
    /// Taken in turn.
    ways: Vec<AssignedRoute>,
    /// Time to which `start` is relative.
    start: Time,
    stop: Time,
}

/// A way that flows take.
struct AssignedRoute {
    forward: u32,
    backward: u32,
    /// Round-trip propagation delay between the two nodes.
    rest: TimeDelta,
    /// Rate of the first link of a sender that is a host.
    interface: Option<Rate>,
}

impl AssignedRoute {
    fn of((forward, backward): &RoutePair, sender: usize, graph: &Graph, paths: &mut Paths) -> AssignedRoute {
        let delays = forward.iter().chain(backward).map(|&port| graph.ports[port].delay);
        AssignedRoute {
            forward: paths.of(forward.clone()),
            backward: paths.of(backward.clone()),
            rest: delays.fold(TimeDelta::ZERO, |sum, delay| sum + delay),
            interface: forward.first().filter(|_| graph.sites.is_host(sender)).map(|&port| graph.ports[port].rate),
        }
    }
}

impl Expansion<'_> {
    fn flows(&self, transport: &Transport, flows: &mut Vec<Flow>, report: &mut Report) {
        let mut problems = Problems { at: self.at, report };
        if !self.check(&mut problems) {
            return;
        }
        flows.reserve(self.count as usize);
        for (index, way) in (0..self.count).zip(self.ways.iter().cycle()) {
            let Some(sender_access) = self.sender_access(index, way.rest, &mut problems) else { return };
            let Some(size) = self.size(index, transport, &mut problems) else { return };
            let first = Flow {
                group: self.group,
                forward: way.forward,
                backward: way.backward,
                sender_access,
                receiver_access: access(self.flow.receiver_access.as_ref()),
                interface: way.interface,
                start: self.start + self.wait(index),
                stop: self.stop,
                size,
            };
            let later = (1..self.connections).map(|_| Flow { start: Time::NEVER, ..first.clone() });
            flows.extend(std::iter::once(first.clone()).chain(later));
        }
    }

    /// Checks the settings that are common to all flows.
    fn check(&self, problems: &mut Problems) -> bool {
        let (flow, count) = (self.flow, self.count);
        let fine = problems.length("start", Some(&flow.start), count)
            & problems.length("propagation_rtt", flow.propagation_rtt.as_ref(), count)
            & problems.length("size", flow.size.as_ref(), count);
        let own_delay = flow.sender_access.as_ref().is_some_and(|access| access.delay.is_some());
        if flow.propagation_rtt.is_some() && own_delay {
            let problem = problems.add("sender_access.delay", "`sender_access.delay` and `propagation_rtt` set the same delay");
            problem.expected("either `propagation_rtt` or `sender_access.delay`");
            return false;
        }
        if flow.size.is_none() && self.max_segments > u128::from(MAX_SEGMENTS) {
            let given = format!("up to {} segments", self.max_segments);
            let problem = problems.add("", "the flows can exceed the maximum number of segments");
            problem.given(given).expected(format!("at most {MAX_SEGMENTS}: use a shorter run, larger packets or a slower link"));
            return false;
        }
        fine
    }

    /// Start of a flow relative to that time.
    fn wait(&self, index: u64) -> TimeDelta {
        let start = TimeDelta(self.draw(&self.flow.start, index, Purpose::Start));
        self.arrivals.get(index as usize).map_or(start, |&after| TimeDelta(start.0.saturating_add(after.0)))
    }

    fn sender_access(&self, index: u64, rest: TimeDelta, problems: &mut Problems) -> Option<AccessLink> {
        let given = access(self.flow.sender_access.as_ref());
        let Some(rtt) = &self.flow.propagation_rtt else { return Some(given) };
        let rtt = self.draw(rtt, index, Purpose::Rtt);
        let receiver = access(self.flow.receiver_access.as_ref()).delay;
        let rest = rest + receiver + receiver;
        match rtt.checked_sub(rest.0) {
            Some(left) => Some(AccessLink { delay: TimeDelta(left / 2), ..given }),
            None => {
                let given = format!("{} (flow {index})", Duration::new(rtt));
                let expected = format!("at least {}, the delay of the links in both directions", Duration::new(rest.0));
                problems.add("propagation_rtt", "`propagation_rtt` is shorter than the path").given(given).expected(expected);
                None
            }
        }
    }

    /// The flow's size, `Some(None)` if it is greedy; `None` and a report if there is a problem.
    fn size(&self, index: u64, transport: &Transport, problems: &mut Problems) -> Option<Option<Bytes>> {
        let Some(size) = &self.flow.size else { return Some(None) };
        // A random size may round down to 0, and a transfer has at least one byte.
        let bytes = self.draw(size, index, Purpose::Size).max(1);
        let segments = bytes.div_ceil(transport::payload_bytes(transport).max(1));
        if segments > MAX_SEGMENTS {
            let given = format!("{bytes} B (flow {index})");
            let problem = problems.add("size", "`size` exceeds the maximum number of segments");
            problem.given(given).expected(format!("at most {MAX_SEGMENTS} segments"));
            return None;
        }
        Some(Some(Bytes(bytes)))
    }

    fn draw<Q: Quantity>(&self, distribution: &Distribution<Q>, index: u64, purpose: Purpose) -> u64 {
        distribution.draw(Nth { index, count: self.count }, || {
            Stream::new(Entity { seed: self.seed, name: self.name.as_str(), index }, purpose)
        })
    }
}

fn access(given: Option<&schema::Access>) -> AccessLink {
    given.map_or_else(AccessLink::default, |access| AccessLink {
        rate: access.rate.map(|rate| rate.rate()),
        delay: access.delay.unwrap_or_default().time_delta(),
    })
}

/// Reports errors of one flow group, once per path.
struct Problems<'r, 'p> {
    at: &'r str,
    report: &'r mut Report<'p>,
}

impl Problems<'_, '_> {
    fn add(&mut self, key: &str, message: &str) -> &mut crate::problem::Problem {
        let at = if key.is_empty() { self.at.to_string() } else { format!("{}.{key}", self.at) };
        self.report.add(at, message)
    }

    /// Reports a list that does not have one value per flow.
    fn length<Q: Quantity>(&mut self, key: &str, distribution: Option<&Distribution<Q>>, count: u64) -> bool {
        let at = format!("{}.{key}", self.at);
        match distribution {
            Some(Distribution::List(values)) if values.len() as u64 != count => {
                if self.report.is_valid(&at) {
                    let given = format!("{} values for {count} flows", values.len());
                    self.report
                        .add(&at, format!("{} does not have one value per flow", crate::problem::key(&at)))
                        .given(given)
                        .expected(format!("{count} values"));
                }
                false
            }
            _ => self.report.is_valid(&at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::tests::{dumbbell, graph};
    use tailback_core::network::Delay;
    use tailback_core::primitives::units::Rate;

    #[test]
    fn propagation_rtt_sets_the_delay_of_the_access_link() {
        let network = dumbbell(
            "[flows.web]\nfrom = \"left\"\nto = \"right\"\npropagation_rtt = \"100 ms\"\nsender_access = {rate = \"50 Mbps\"}\n\
             receiver_access = {delay = \"5 ms\"}\ntcp = {preset = \"reno\"}\n",
        );
        // 100 ms less 2 x 10 ms of the bottleneck and 2 x 5 ms at the receiver, shared by two directions.
        assert_eq!(
            network.flows[0].sender_access,
            AccessLink { rate: Some(Rate(50_000_000)), delay: TimeDelta::from_millis(35) }
        );
    }

    #[test]
    fn an_additional_flow_does_not_change_other_draws() {
        let flows = |count: u32, more: &str| {
            dumbbell(&format!(
                "[flows.web]\ncount = {count}\nfrom = \"left\"\nto = \"right\"\nstart = {{uniform = [\"0 s\", \"1 s\"]}}\n\
                 size = {{pareto = {{mean = \"50 kB\", shape = 1.2}}}}\ntcp = {{preset = \"reno\"}}\n{more}"
            ))
            .flows
        };
        let few = flows(3, "");
        let more = flows(5, "[flows.zoo]\nfrom = \"left\"\nto = \"right\"\ntcp = {preset = \"reno\"}\n");
        assert_eq!(few, more[..3]);
        assert_ne!(few[0].start, few[1].start);
    }

    #[test]
    fn flows_take_the_processing_of_their_hosts_unless_they_have_their_own() {
        let links = [("ac", "a", "c", 1), ("ch", "c", "h", 1)];
        let own = "receive_processing = {exponential = \"300 us\"}\n";
        let network = graph(&links, ("a", "h"), own);
        assert_eq!(network.groups[0].receive_processing, Some(Delay::Exponential(TimeDelta::from_micros(300))));
        assert_eq!(network.groups[0].send_processing, None);
    }

    #[test]
    fn a_greedy_flow_is_bounded_by_its_slowest_link() {
        // 10 Mbit/s for 10 s in segments of 1500 bytes on the wire: 8333.
        let web = "[flows.web]\nfrom = \"left\"\nto = \"right\"\ntcp = {preset = \"reno\"}\n";
        let text = format!(
            "duration = \"10 s\"\n[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"1 ms\"\nqueue = {{buffer = \"1 packet\"}}\n{web}"
        );
        let bound = |text: &str| crate::Scenario::from_toml(text, "").unwrap().build().is_ok();
        assert!(bound(&text));
        // 8333 x 257,700 = 2^31, the maximum number of segments.
        assert!(bound(&text.replace("10 Mbps", "2.57 Tbps")));
        assert!(!bound(&text.replace("10 Mbps", "2.58 Tbps")));
        assert!(bound(
            &text.replace("10 Mbps", "2.58 Tbps").replace("[flows.web]", "[flows.web]\nsender_access = {rate = \"1 Tbps\"}")
        ));
    }

    /// Sizes of 20,000 flows in bytes, sorted.
    fn sizes(points: &str, key: &str) -> Vec<u64> {
        let path = std::env::temp_dir().join(format!("tailback-sizes-{}-{key}.csv", std::process::id()));
        std::fs::write(&path, points).unwrap();
        let network = dumbbell(&format!(
            "[flows.web]\nfrom = \"left\"\nto = \"right\"\ntcp = {{preset = \"reno\"}}\ncount = 20000\nsize = {{{key} = \"{}\"}}\n",
            path.display()
        ));
        std::fs::remove_file(&path).unwrap();
        let mut sizes: Vec<u64> = network.flows.iter().filter_map(|flow| flow.size).map(|size| size.0).collect();
        sizes.sort_unstable();
        sizes
    }

    /// The share below a quantile has a standard error of at most 0.0035.
    fn assert_share(sizes: &[u64], up_to: u64, expected: f64) {
        let share = sizes.iter().filter(|&&size| size <= up_to).count() as f64 / sizes.len() as f64;
        assert!((share - expected).abs() < 5.0 * 0.0035, "{share} up to {up_to}, expected {expected}");
    }

    #[test]
    fn quantiles_of_sizes_are_those_of_a_cumulative_distribution_in_a_file() {
        let sizes = sizes("value,share\n1 kB,0.5\n11 kB,0.9\n1 MB,1\n", "cdf");
        assert_eq!((sizes.len(), sizes[0]), (20_000, 1000));
        // Half have the first size; in the next part, 40 % are spread evenly over 10 kB, and 10 % over 989 kB.
        for (up_to, expected) in [(1000, 0.5), (3500, 0.6), (11_000, 0.9), (505_500, 0.95)] {
            assert_share(&sizes, up_to, expected);
        }
    }

    #[test]
    fn sizes_with_weights_are_drawn_as_often() {
        let sizes = sizes("weight,value_bytes\n1,5000\n6,40\n0,7\n3,1500\n", "weights");
        let mut different = sizes.clone();
        different.dedup();
        assert_eq!(different, [40, 1500, 5000]);
        assert_share(&sizes, 40, 0.6);
        assert_share(&sizes, 1500, 0.9);
    }
}
