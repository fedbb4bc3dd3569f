//! Flow groups and their flows: routes, access paths, starts and sizes.

use super::cells::{self, Crossing};
use super::changes::{Changes, GroupChanges};
use super::expansion::{AssignedRoute, Expansion};
use super::graph::Graph;
use super::groups::Groups;
use super::offered::{self, FirstLink};
use super::paths::Paths;
use super::possible_pairs::PossiblePairs;
use super::routes::{Hashed, RoutePair, Routes, endpoints};
use super::routing::Ways;
use super::traffic::{self, Ends};
use super::{arrivals, rates, transport};
use crate::distribution::Distribution;
use crate::problem::{Report, key};
use crate::quantity::Duration;
use crate::schema::Description;
use crate::schema::{self, FlowTcp, NodeKind, Processing, Routing};
use crate::values::Name;
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use tailback_core::network::{Flow, FlowId, Group, GroupId, PortId, Transport};
use tailback_core::primitives::units::{Bytes, Time};

/// The ports that the data of a group crosses.
struct Crossed<'d> {
    name: &'d Name,
    flows: Range<FlowId>,
    ports: BTreeSet<PortId>,
    /// Whether they depend on the seed.
    is_drawn: bool,
}

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
        let connections = flow.connections();
        let count = (u64::from(of_group.end - of_group.start) / connections) as usize;
        let pairs = traffic::ends(name, flow, description.seed.0, count, &graph.sites, report);
        traffic::warn_of_part_of_an_incast(flow, count, &at, report);
        let possible = pairs.as_ref().and_then(|_| PossiblePairs::of(name, flow, &graph.sites, report));
        let given = || pairs.iter().flatten().copied().unzip();
        let nodes = possible.as_ref().map_or_else(given, PossiblePairs::nodes);
        let Some(group) = group((name, groups.class(flow.class.as_ref())), flow, &at, nodes, graph, report) else { continue };
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
        let hashed_routes = description.routing == Routing::Ecmp && (routes.forward.is_none() || routes.backward.is_none());
        let is_drawn = possible.is_some() || hashed_routes;
        let hashed = || PossiblePairs::Listed(pairs.clone().unwrap_or_default());
        let hashed = (hashed_routes && flow.propagation_rtt.is_some()).then(hashed);
        if let Some((_, routes)) = pairs.and_then(find) {
            check_connections(possible.as_ref(), &ways, &at, report);
            let assign = |way| AssignedRoute::of(way, graph, paths);
            let dealt: Vec<AssignedRoute> = routes.iter().map(assign).collect();
            let distinct = distinct(&dealt, routes);
            let forward_ports = distinct.iter().flat_map(|(forward, _)| forward);
            let data_ports = forward_ports.chain(changes_here.routes.iter().flatten()).copied().collect();
            crossed.push(Crossed { name, flows: of_group, ports: data_ports, is_drawn });
            let rate = |port: PortId| changes.max_rates[port];
            if let Some(port) = distinct.iter().filter_map(|(forward, _)| forward.first().copied()).min_by_key(|&port| rate(port))
            {
                let first = FirstLink { name: &graph.ports[port].name, rate: rate(port) };
                offered::check(flow, &group, &first, description.duration.time_delta(), &at, report);
            }
            let segments =
                |(forward, _): &RoutePair| max_segments(description, flow, &group.transport, forward, changes, changes_here);
            check_mtu((name, flow), &group.transport, (&distinct, is_drawn), graph, report);
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
                longest: flow.propagation_rtt.as_ref().and(possible.or(hashed)).map(|pairs| pairs.longest_round_trip(&ways)),
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

/// Reports a pair of nodes without a path that flows get with another seed.
fn check_connections(pairs: Option<&PossiblePairs>, ways: &Ways, at: &str, report: &mut Report) {
    if !ways.graph.is_complete() || !report.is_valid(at) {
        return;
    }
    if let Some((from, to)) = pairs.and_then(|pairs| pairs.unreachable(ways)) {
        let (from, to) = (ways.graph.name(from), ways.graph.name(to));
        let problem = report.add(format!("{at}.traffic"), format!("there is no route from `{from}` to `{to}`"));
        problem.expected("links in that direction between all nodes of the pattern, which draws other pairs with another seed");
    }
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
    (senders, receivers): (BTreeSet<usize>, BTreeSet<usize>),
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

/// Reports listed drops at ports that the data of the flow does not cross: an error if that holds with every seed.
fn check_drops(crossed: &[Crossed], graph: &Graph, report: &mut Report) {
    for (id, port) in PortId::enumerate(&graph.ports) {
        for drop in &port.listed_drops {
            let position = crossed.partition_point(|group| group.flows.end <= drop.flow);
            let Some(Crossed { name, flows, ports, is_drawn }) = crossed.get(position) else { continue };
            let at = format!("flows.{name}");
            if flows.contains(&drop.flow) && !ports.contains(&id) && report.is_valid(&at) {
                let message = format!("`drops` of `{}` names `{name}`, whose data does not cross that link", port.name);
                let problem = if *is_drawn { report.warn(at, message) } else { report.add(at, message) };
                problem.expected("drops at a link on the route of these flows");
            }
        }
    }
}

/// Reports packets that a link on their way cannot carry: simulated senders do not discover its MTU, and not all stacks do. A warning if
/// the ways are drawn: with another seed, the flows may avoid the link.
fn check_mtu(
    (name, flow): (&Name, &schema::Flow),
    transport: &Transport,
    (ways, is_drawn): (&[RoutePair], bool),
    graph: &Graph,
    report: &mut Report,
) {
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
        let message = format!("packets of `{name}` are larger than the `mtu` of `{link}`, and none would arrive");
        let problem = if is_drawn { report.warn(at, message) } else { report.add(at, message) };
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

#[cfg(test)]
mod tests {
    use crate::network::tests::graph;
    use tailback_core::network::Delay;
    use tailback_core::primitives::units::TimeDelta;

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
}
