//! Builds the network that the core runs: names become indices, and conflicts between parts are reported.
//!
//! Every step continues after an error, with a placeholder if necessary. The caller uses the network only if no error was reported.

mod arrivals;
mod cells;
mod chance;
mod changes;
mod classes;
mod delay_targets;
mod demands;
mod expansion;
mod failures;
mod feeders;
mod flows;
mod graph;
mod groups;
mod links;
mod marks;
mod messages;
mod offered;
mod paths;
mod phases;
mod possible_pairs;
mod prices;
mod rates;
mod routes;
mod routing;
mod settling;
mod sites;
mod small_limits;
mod suitability;
mod traces;
mod traffic;
mod transport;
mod unused_tcp_settings;

use crate::problem::Report;
use crate::schema::Description;
use crate::values::Name;
use feeders::Feeders;
use graph::Graph;
use groups::Groups;
use paths::Paths;
use routing::{RouteQuery, Ways};
use sites::Sites;
pub(crate) use sites::{expanded, min_bytes};
use std::collections::{BTreeMap, BTreeSet};
use tailback_core::network::{Buffer, Change, ChangeKind, Flow, Network, PortId, Queues, Scheduling};
use tailback_core::primitives::random::Stream;
pub(crate) use transport::{IP_HEADER, filled, jitter, segment_of_stack};

/// Builds the network; `None` if there are too many flows. Errors are reported.
pub(crate) fn network(description: &Description, report: &mut Report) -> Option<Network> {
    check_times(description, report);
    let sites = Sites::new(description, report);
    let groups = Groups::new(description, &sites, report)?;
    let mut graph = Graph::new(description, sites, &groups, report);
    let mut paths = Paths::default();
    let mut changes = changes::changes(description, &groups, &graph, &mut paths, report);
    let (mut core_groups, mut flows) = flows::flows(description, &groups, &graph, &changes, &mut paths, report);
    let rerouted = failures::reroute(&changes.failures, description, &groups, &graph, &flows, &mut paths, report);
    changes.list.extend(rerouted);
    changes.list.sort_by_key(|change| change.at);
    let messages = messages::messages(description, &groups, &changes.list, (&mut core_groups, &mut flows), report);
    graph.complete_queues(crossed_by_data(&paths, &changes.list, &flows));
    paths.check(report);
    Feeders::new(&graph, &changes).check(&paths.list, &changes, &core_groups, &flows, report);
    let prices = prices::prices(description, report);
    prices::check(description, &prices, &graph, &paths.list, &core_groups, &flows, report);
    let record = traces::record(description, &groups, &graph, report);
    traces::check_senders(description, &core_groups, report);
    let queue_places = graph.queue_places();
    let network = Network {
        ports: graph.ports,
        paths: paths.list,
        groups: core_groups,
        flows,
        messages,
        prices,
        changes: changes.list,
        duration: description.duration.time_delta(),
        warmup: description.warmup.time_delta(),
        seed: description.seed.0,
        record,
        stepped: false,
    };
    classes::check(description, &network, &queue_places, report);
    rates::check_guarantees(description, &network, report);
    small_limits::check(&network, &queue_places, report);
    delay_targets::check(&network, &queue_places, report);
    marks::check(description, &network, &queue_places, report);
    if report.is_empty() {
        settling::warn_of_swings(&network, &queue_places, report);
        settling::warn_of_starts(&network, &queue_places, report);
        settling::warn_of_coarse_ranges(&network, &queue_places, report);
        suitability::check(description, &network, report);
    }
    Some(network)
}

/// Ports that data cross, now or after a change.
fn crossed_by_data(paths: &Paths, changes: &[Change], flows: &[Flow]) -> impl Iterator<Item = PortId> {
    let later = changes.iter().filter_map(|change| match change.what {
        ChangeKind::Route(_, forward, _) => Some(forward),
        _ => None,
    });
    let used: BTreeSet<u32> = flows.iter().map(|flow| flow.forward).chain(later).collect();
    used.into_iter().filter_map(|path| paths.list.get(path as usize)).flatten().copied()
}

/// Notes for readers of the results; none if the network cannot be built.
pub(crate) fn notes(description: &Description, report: &mut Report, aside: &mut Report) {
    if phases::may_remark(description)
        && let Some(network) = network(description, aside)
        && aside.is_empty()
    {
        phases::note(description, &network, report);
    }
}

/// Names of the queues that are unlimited for the whole run, each with the longest base RTT in seconds of the flows that cross it.
pub(crate) fn unlimited_queues(network: &Network) -> Vec<(String, f64)> {
    let mut longest: BTreeMap<PortId, f64> = BTreeMap::new();
    for flow in &network.flows {
        let base_rtt = network.base_rtt(flow).seconds();
        for &port in [flow.forward, flow.backward].into_iter().flat_map(|path| &network.paths[path as usize]) {
            let longest = longest.entry(port).or_default();
            *longest = longest.max(base_rtt);
        }
    }
    let is_unlimited = |port: PortId| {
        let of_classes = match network.ports[port].scheduling.as_deref() {
            Some(Scheduling { queues: Queues::OfClasses(queues, _), .. }) => &queues[..],
            _ => &[],
        };
        let later = network.changes.iter().filter_map(|change| match change.what {
            ChangeKind::Buffer(of, buffer) if of == port => Some(buffer),
            _ => None,
        });
        let is_unlimited = |buffer: Buffer| buffer == Buffer::Unlimited;
        let some_class = of_classes.is_empty() || of_classes.iter().any(|queue| is_unlimited(queue.buffer));
        some_class && later.chain([network.ports[port].buffer]).all(is_unlimited)
    };
    let unlimited = longest.into_iter().filter(|&(port, _)| is_unlimited(port));
    unlimited.map(|(port, base_rtt)| (network.ports[port].name.clone(), base_rtt)).collect()
}

/// False only if every seed gives the same run. True if the network cannot be built.
pub(crate) fn may_be_random(description: &Description, aside: &mut Report) -> bool {
    chance::draws(description) || network(description, aside).is_none_or(|network| chance::has_chance(&network))
}

/// All nodes.
pub(crate) fn nodes(description: &Description, report: &mut Report) -> Vec<Name> {
    Sites::new(description, report).names().cloned().collect()
}

/// Pairs of nodes with a path from the first to the second.
pub(crate) fn connected(description: &Description, report: &mut Report) -> Vec<(Name, Name)> {
    let sites = Sites::new(description, report);
    let Some(groups) = Groups::new(description, &sites, report) else { return Vec::new() };
    let graph = Graph::new(description, sites, &groups, report);
    let nodes = || 0..graph.sites.count();
    let stream = Stream::default();
    let journeys: Vec<RouteQuery> =
        nodes().flat_map(|from| nodes().filter(move |&to| from != to).map(move |to| RouteQuery { from, to, stream })).collect();
    let found = Ways::new(&graph, description.routing).find(&journeys);
    let names: Vec<&Name> = graph.sites.names().collect();
    let reached = journeys.iter().zip(found).filter(|(_, way)| way.is_some());
    reached.map(|(journey, _)| (names[journey.from].clone(), names[journey.to].clone())).collect()
}

/// End nodes of each port, in the order of the network.
pub(crate) fn ports(description: &Description, report: &mut Report) -> Vec<(Name, Name)> {
    let sites = Sites::new(description, report);
    let Some(groups) = Groups::new(description, &sites, report) else { return Vec::new() };
    let graph = Graph::new(description, sites, &groups, report);
    let names: Vec<&Name> = graph.sites.names().collect();
    let ends = graph.ends_of_ports().filter_map(|ends| ends.map(|(from, to)| (names[from].clone(), names[to].clone())));
    ends.collect()
}

/// Sending and receiving node of each flow, in the order of the flows.
pub(crate) fn ends(description: &Description, report: &mut Report) -> Vec<(Name, Name)> {
    let sites = Sites::new(description, report);
    let Some(groups) = Groups::new(description, &sites, report) else { return Vec::new() };
    let mut found = Vec::new();
    for (name, flow) in &description.flows {
        let Some(flows) = groups.flows(name.as_str(), "flows", report) else { continue };
        let connections = flow.connections() as usize;
        let count = (flows.end - flows.start) as usize / connections;
        let pairs = traffic::ends(name, flow, description.seed.0, count, &sites, report).unwrap_or_default();
        // In the order in which flows are assigned to pairs.
        found.extend(pairs.into_iter().cycle().take(count).flat_map(|ends| std::iter::repeat_n(ends, connections)));
    }
    let names: Vec<&Name> = sites.names().collect();
    found.into_iter().map(|(from, to)| (names[from].clone(), names[to].clone())).collect()
}

fn check_times(description: &Description, report: &mut Report) {
    let (duration, warmup) = (description.duration, description.warmup);
    if duration.time_delta().0 == 0 && report.is_valid("duration") {
        report.add("duration", "`duration` is zero").given(duration.to_string()).expected("more than 0 s");
    } else if warmup >= duration && report.is_valid("duration") && report.is_valid("warmup") {
        report
            .add("warmup", "`warmup` leaves nothing to measure")
            .given(warmup.to_string())
            .expected(format!("less than the duration, {duration}"));
    }
}

#[cfg(test)]
mod tests {
    use crate::Scenario;
    use tailback_core::network::Network;

    /// Links between routers a, b, c and a host h, as (name, from, to, delay in ms); a flow group `web` with further keys.
    pub fn graph(links: &[(&str, &str, &str, u32)], ends: (&str, &str), flow: &str) -> Network {
        let mut text = String::from("duration = \"10 s\"\n[nodes]\na = {}\nb = {}\nc = {}\nh = {kind = \"host\"}\n");
        for (name, from, to, delay) in links {
            text += &format!("[links.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"1 Mbps\"\ndelay = \"{delay} ms\"\n");
            text += "queue = {buffer = \"9 packets\"}\n";
        }
        text += &format!("[flows.web]\nfrom = \"{}\"\nto = \"{}\"\ntcp = {{preset = \"newreno\"}}\n{flow}", ends.0, ends.1);
        network(&text)
    }

    /// A dumbbell of 10 Mbit/s and 10 ms with the given flow groups and further tables.
    pub fn dumbbell(rest: &str) -> Network {
        let queue = "queue = {buffer = \"9 packets\"}";
        network(&format!("duration = \"10 s\"\n[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"10 ms\"\n{queue}\n{rest}"))
    }

    fn network(text: &str) -> Network {
        let scenario = Scenario::from_toml(text, "").unwrap_or_else(|errors| panic!("{errors}\n{text}"));
        scenario.build().unwrap_or_else(|errors| panic!("{errors}\n{text}"))
    }

    /// Names of the ports of a path.
    pub fn names(network: &Network, path: u32) -> Vec<&str> {
        network.paths[path as usize].iter().map(|&port| network.ports[port].name.as_str()).collect()
    }
}
