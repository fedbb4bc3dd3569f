//! Nodes and ports, and the ways through them.

use super::groups::Groups;
use super::links::{Context, Half, Pair, Varying, pair, pairs};
use super::sites::{Made, Sites, Taken};
use crate::problem::{RepeatedErrors, Report, key};
use crate::schema::{Buffer, Description, Link, PortName};
use crate::values::Name;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use tailback_core::network::{Port, PortId};

pub(super) struct Graph {
    pub sites: Sites,
    pub ports: Vec<Port>,
    /// Buffer of each port as in the scenario, and path of its queue.
    written: Vec<(Buffer, Rc<str>)>,
    /// Links by name with their forward ports. The port of the reverse link follows.
    by_name: Vec<(Name, PortId)>,
    /// End nodes of each port; `None` if a node is unknown.
    ends: Vec<Option<(usize, usize)>>,
    /// Outgoing ports of each node, by name, with their end nodes.
    leaving: Vec<Vec<(PortId, usize)>>,
    /// Incoming ports of each node, with their start nodes.
    arriving: Vec<Vec<(PortId, usize)>>,
    /// The port of the other direction.
    mirror: Vec<Option<PortId>>,
    /// Delays and losses of ports that vary by a table.
    pub tables: Vec<(PortId, Varying)>,
    /// Reverse links without a queue of their own, with the queue of their link.
    with_queues_of_links: BTreeMap<PortId, Rc<Half>>,
    /// Interfaces of hosts whose queue the scenario does not describe.
    interfaces: BTreeSet<PortId>,
}

/// A link of the scenario or of a generator.
enum Origin<'d> {
    Written(&'d Link),
    Made { by: usize, link: usize },
}

impl Graph {
    pub fn new(description: &Description, mut sites: Sites, groups: &Groups, report: &mut Report) -> Graph {
        let made = std::mem::take(&mut sites.made);
        let nodes = sites.count();
        let mut graph = Graph {
            sites,
            ports: vec![],
            written: vec![],
            by_name: vec![],
            ends: vec![],
            leaving: vec![Vec::new(); nodes],
            arriving: vec![Vec::new(); nodes],
            mirror: vec![],
            tables: vec![],
            with_queues_of_links: BTreeMap::new(),
            interfaces: BTreeSet::new(),
        };
        let context = Context { groups };
        // Common settings of links are resolved once.
        let pairs: Vec<Vec<Pair>> = made.iter().map(|made| pairs(made, &context, report)).collect();
        let mut links: Vec<(&Name, Origin)> =
            description.links.iter().map(|(name, link)| (name, Origin::Written(link))).collect();
        for (by, made) in made.iter().enumerate() {
            links.extend(made.plan.links.iter().enumerate().map(|(link, planned)| (&planned.name, Origin::Made { by, link })));
        }
        links.sort_by_key(|(name, _)| *name);
        graph.by_name.reserve(links.len());
        let (mut taken, mut first) = (Taken::of("links"), None);
        for (name, origin) in links {
            let by = match origin {
                Origin::Written(_) => None,
                Origin::Made { by, .. } => Some(made[by].at),
            };
            if graph.by_name.last().is_some_and(|(before, _)| before == name) {
                taken.report(name, first, by, report);
                continue;
            }
            first = by;
            graph.by_name.push((name.clone(), PortId(graph.ports.len() as u32)));
            match origin {
                Origin::Written(link) => graph.add_link(name, link, &context, report),
                Origin::Made { by, link } => {
                    let Made { plan, places, .. } = &made[by];
                    let planned = &plan.links[link];
                    let ends = Some((places[planned.from], places[planned.to]));
                    graph.add_pair(name, ends, pairs[by][planned.style].clone());
                }
            }
        }
        taken.finish(report);
        graph
    }

    fn add_link(&mut self, name: &Name, link: &Link, context: &Context, report: &mut Report) {
        let at = format!("links.{name}");
        let from = self.sites.node(&link.from, &format!("{at}.from"), report);
        let to = self.sites.node(&link.to, &format!("{at}.to"), report);
        if from.is_some() && from == to {
            report.add(format!("{at}.to"), "`from` and `to` are the same node").given(link.to.as_str()).expected("another node");
        }
        let places = [format!("{at}.queue"), format!("{at}.reverse.queue")];
        let pair = pair(link, [&at, &format!("{at}.reverse")], places, context, report);
        if !link.duplex && link.reverse.is_some() {
            let problem = report.add(format!("{at}.reverse"), "`reverse` is given for a one-way link");
            problem.given("duplex = false").expected("duplex = true, or no `reverse`");
        }
        self.add_pair(name, from.zip(to), pair);
    }

    fn add_pair(&mut self, name: &Name, ends: Option<(usize, usize)>, pair: Pair) {
        let first = PortId(self.ports.len() as u32);
        let back = pair.back.is_some().then_some(PortId(first.0 + 1));
        self.add_port(name.to_string(), pair.there, ends, back);
        if let Some(back) = pair.back {
            self.add_port(format!("{name}.reverse"), back, ends.map(|(from, to)| (to, from)), Some(first));
        }
    }

    /// Paths of the queues, by port.
    pub(super) fn queue_places(&self) -> Vec<Rc<str>> {
        self.written.iter().map(|(_, place)| place.clone()).collect()
    }

    /// Path of the queue of a port.
    pub(super) fn queue_place(&self, port: PortId) -> &str {
        &self.written[port].1
    }

    fn add_port(
        &mut self,
        name: String,
        Half { port, buffer, place, varying, with_queue_of_link, is_of_host }: Half,
        ends: Option<(usize, usize)>,
        mirror: Option<PortId>,
    ) {
        let id = PortId(self.ports.len() as u32);
        if let Some((from, to)) = ends {
            self.leaving[from].push((id, to));
            self.arriving[to].push((id, from));
        }
        self.ports.push(Port { name, ..port });
        self.tables.extend(varying.map(|varying| (id, varying)));
        self.with_queues_of_links.extend(with_queue_of_link.map(|half| (id, half)));
        self.interfaces.extend(is_of_host.then_some(id));
        self.written.push((buffer, place));
        self.ends.push(ends);
        self.mirror.push(mirror);
    }

    /// The port of that name; unknown names are reported.
    pub fn port(&self, name: &PortName, at: &str, report: &mut Report) -> Option<PortId> {
        let (link, is_back) = name.0.strip_suffix(".reverse").map_or((name.0.as_str(), false), |link| (link, true));
        let found = self.by_name.binary_search_by(|(known, _)| known.as_str().cmp(link)).ok();
        let there = found.map(|index| self.by_name[index].1);
        let found = there.and_then(|there| if is_back { self.mirror[there] } else { Some(there) });
        if found.is_none() && report.is_valid(at) && self.sites.all_named {
            let mut known: Vec<&str> = self.ports.iter().map(|port| port.name.as_str()).collect();
            known.sort_unstable();
            report.unknown(at, "link", &name.0, known);
        }
        found
    }

    /// Whether the port is the interface of a host, with a queue that the scenario does not describe.
    pub fn is_interface(&self, port: PortId) -> bool {
        self.interfaces.contains(&port)
    }

    /// A reverse link that data cross has the queue of its link, unless it has its own.
    pub fn complete_queues(&mut self, crossed_by_data: impl Iterator<Item = PortId>) {
        for port in crossed_by_data {
            let Some(half) = self.with_queues_of_links.remove(&port) else { continue };
            let Port { buffer, counts_in_service, policy, scheduling, shaper, .. } = half.port.clone();
            let own = &mut self.ports[port];
            *own = Port { buffer, counts_in_service, policy, scheduling, shaper, ..own.clone() };
            self.written[port] = (half.buffer, half.place.clone());
        }
    }

    /// The port and that of the other direction of its link, if there is one.
    pub fn both_directions(&self, port: PortId) -> Vec<PortId> {
        std::iter::once(port).chain(self.mirror[port]).collect()
    }

    /// Outgoing ports of a node, by name, with their end nodes.
    pub fn leaving(&self, node: usize) -> &[(PortId, usize)] {
        &self.leaving[node]
    }

    /// Incoming ports of a node, with their start nodes.
    pub fn arriving(&self, node: usize) -> &[(PortId, usize)] {
        &self.arriving[node]
    }

    /// Buffer of a port as in the scenario, and path of its queue.
    pub fn buffer_as_written(&self, port: PortId) -> (Buffer, &str) {
        let (buffer, at) = &self.written[port];
        (*buffer, at)
    }

    /// Path of the link or reverse link of a port.
    pub fn place(&self, port: PortId) -> &str {
        let at = &self.written[port].1;
        at.strip_suffix(".queue").unwrap_or(at)
    }

    /// End nodes of each port; `None` if one is unknown.
    pub fn ends_of_ports(&self) -> impl Iterator<Item = Option<(usize, usize)>> {
        self.ends.iter().copied()
    }

    /// Ports of forward directions.
    pub fn forward_ports(&self) -> impl Iterator<Item = PortId> {
        let forward = |(_, port): &(PortId, &Port)| !port.name.ends_with(".reverse");
        PortId::enumerate(&self.ports).filter(forward).map(|(id, _)| id)
    }

    /// Converts a given route between two nodes to ports. Errors are reported.
    pub fn route(&self, names: &[PortName], ends: (usize, usize), at: &str, report: &mut Report) -> Option<Vec<PortId>> {
        if !report.is_valid(at) {
            return None;
        }
        let mut faults = RepeatedErrors::default();
        let mut port = |(position, name): (usize, &PortName)| {
            report.among(&mut faults, |report| self.port(name, &format!("{at}[{position}]"), report))
        };
        let ports: Vec<Option<PortId>> = names.iter().enumerate().map(&mut port).collect();
        if let Some(problem) = faults.rest(at, "links", report) {
            problem.expected("links of the scenario");
        }
        let ports: Vec<PortId> = ports.into_iter().collect::<Option<_>>()?;
        let hops: Vec<(usize, usize)> = ports.iter().map(|&port| self.ends[port]).collect::<Option<_>>()?;
        let (start, end) = ends;
        let mut here = start;
        let mut seen = vec![start];
        for (position, ((from, to), name)) in hops.iter().zip(names).enumerate() {
            let at = format!("{at}[{position}]");
            if *from != here {
                let given = format!("`{}`, which begins at `{}`", name.0, self.name(*from));
                report
                    .add(&at, format!("{} does not continue the route", key(&at)))
                    .given(given)
                    .expected(format!("a link that begins at `{}`", self.name(here)));
                return None;
            }
            if seen.contains(to) {
                let given = format!("`{}`, which ends at `{}`", name.0, self.name(*to));
                report
                    .add(&at, format!("{} leads back to a node of the route", key(&at)))
                    .given(given)
                    .expected("a link to another node");
                return None;
            }
            if *to != end && self.is_host(*to) {
                let given = format!("`{}`, which ends at `{}`", name.0, self.name(*to));
                report.add(&at, format!("{} leads through a host", key(&at))).given(given).expected("links between routers");
                return None;
            }
            seen.push(*to);
            here = *to;
        }
        if here != end {
            let expected = format!("`{}`", self.name(end));
            report
                .add(at, format!("{} ends at the wrong node", key(at)))
                .given(format!("`{}`", self.name(here)))
                .expected(expected);
            return None;
        }
        Some(ports)
    }

    /// The reverse path, if every link has a reverse link.
    pub fn mirrored(&self, ports: &[PortId]) -> Option<Vec<PortId>> {
        ports.iter().rev().map(|&port| self.mirror[port]).collect()
    }

    /// Whether every link has a reverse link.
    pub fn is_duplex(&self) -> bool {
        self.mirror.iter().all(Option::is_some)
    }

    /// Whether all links are known, so that a path that is not found does not exist.
    pub fn is_complete(&self) -> bool {
        self.sites.all_named && self.ends.iter().all(Option::is_some)
    }

    fn is_host(&self, node: usize) -> bool {
        self.sites.is_host(node)
    }

    pub fn name(&self, node: usize) -> &str {
        self.sites.name(node)
    }
}

#[cfg(test)]
mod tests {
    use crate::network::tests::{graph, names};

    fn forward(links: &[(&str, &str, &str, u32)]) -> Vec<String> {
        let network = graph(links, ("a", "c"), "");
        names(&network, network.flows[0].forward).iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn the_path_with_the_smallest_delay_is_used_even_if_it_has_more_hops() {
        assert_eq!(forward(&[("ab", "a", "b", 5), ("bc", "b", "c", 5), ("ac", "a", "c", 11)]), ["ab", "bc"]);
    }

    #[test]
    fn among_equal_delays_fewer_hops_win_and_then_names() {
        assert_eq!(forward(&[("ab", "a", "b", 5), ("bc", "b", "c", 5), ("zz", "a", "c", 10)]), ["zz"]);
        assert_eq!(forward(&[("y", "a", "c", 10), ("x", "a", "c", 10)]), ["x"]);
    }

    #[test]
    fn no_path_leads_through_a_host() {
        assert_eq!(forward(&[("ah", "a", "h", 1), ("hc", "h", "c", 1), ("ac", "a", "c", 50)]), ["ac"]);
    }

    #[test]
    fn acknowledgements_use_the_reverse_path() {
        let network = graph(&[("ab", "a", "b", 5), ("bc", "b", "c", 5)], ("a", "c"), "");
        assert_eq!(names(&network, network.flows[0].backward), ["bc.reverse", "ab.reverse"]);
    }

    #[test]
    fn a_route_may_contain_reverse_links() {
        let links = [("ba", "b", "a", 5), ("bc", "b", "c", 5), ("ac", "a", "c", 1)];
        let network = graph(&links, ("a", "c"), "route = [\"ba.reverse\", \"bc\"]\n");
        assert_eq!(names(&network, network.flows[0].forward), ["ba.reverse", "bc"]);
        assert_eq!(names(&network, network.flows[0].backward), ["bc.reverse", "ba"]);
    }
}
