//! Nodes and ports, and the ways through them.

use super::groups::Groups;
use crate::problem::{Report, listed};
use crate::quantity::{Duration, Rate};
use crate::scenario::Description;
use crate::schema::{self, Buffer, Link, Loss, Node, NodeKind, Nodes, PortName, Queue};
use crate::values::{Name, Word};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use tailback_core::network::{self, ListedDrop, Port, PortId, Switching};
use tailback_core::queue::PolicySpec;

/// Names of nodes in a message.
const MOST_LISTED: usize = 8;

pub(super) struct Graph {
    nodes: BTreeMap<Name, Node>,
    /// By position: name, and whether it is a host.
    names: Vec<(Name, bool)>,
    /// Position of each node among the names.
    index: BTreeMap<Name, usize>,
    pub ports: Vec<Port>,
    /// By port: its buffer as the scenario says it, and the place of the queue.
    written: Vec<(Buffer, String)>,
    by_name: BTreeMap<String, PortId>,
    /// From and to, by port; `None` if a node is unknown.
    ends: Vec<Option<(usize, usize)>>,
    /// By node: the ports that begin there, in the order of their names, and where they end.
    leaving: Vec<Vec<(PortId, usize)>>,
    /// By node: the ports that end there, and where they begin.
    arriving: Vec<Vec<(PortId, usize)>>,
    /// The port of the other direction.
    mirror: Vec<Option<PortId>>,
    /// Whether every name could be read: else a missing one is no news.
    all_named: bool,
}

impl Graph {
    pub fn new(description: &Description, groups: &Groups, report: &mut Report) -> Graph {
        let (nodes, links) = with_helpers(description, report);
        let index = nodes.keys().cloned().zip(0..).collect();
        let names = nodes.iter().map(|(name, node)| (name.clone(), node.kind == NodeKind::Host)).collect();
        let mut graph = Graph {
            names,
            index,
            ports: vec![],
            written: vec![],
            by_name: BTreeMap::new(),
            ends: vec![],
            leaving: vec![Vec::new(); nodes.len()],
            arriving: vec![Vec::new(); nodes.len()],
            mirror: vec![],
            all_named: !report.places().any(hides_names),
            nodes,
        };
        graph.check_nodes(report);
        for (name, (link, at)) in &links {
            graph.add_link(name, link, at, groups, report);
        }
        graph
    }

    fn check_nodes(&self, report: &mut Report) {
        for (name, node) in self.nodes.iter().filter(|(_, node)| node.kind == NodeKind::Router) {
            let keys = [("send_processing", node.send_processing), ("receive_processing", node.receive_processing)];
            for (key, _) in keys.iter().filter(|(_, delay)| delay.is_some()) {
                report.add(format!("nodes.{name}.{key}"), "a router has no processing").expected("kind = \"host\"");
            }
        }
    }

    fn add_link(&mut self, name: &Name, link: &Link, at: &str, groups: &Groups, report: &mut Report) {
        let from = self.node(&link.from, &format!("{at}.from"), report);
        let to = self.node(&link.to, &format!("{at}.to"), report);
        if from.is_some() && from == to {
            report.add(format!("{at}.to"), "a link from a node to itself").given(link.to.as_str()).expected("another node");
        }
        let ends = from.zip(to);
        let first = self.ports.len() as PortId;
        let direction = Direction {
            rate: link.rate,
            delay: link.delay,
            queue: &link.queue,
            switching: link.switching,
            loss: link.loss.as_ref(),
        };
        let port = direction.port(name.to_string(), link.transmitters.0 as u32, at, groups, report);
        self.written.push((link.queue.buffer, format!("{at}.queue")));
        self.add_port(port, ends, link.duplex.then_some(first + 1));
        if !link.duplex {
            if link.reverse.is_some() {
                let problem = report.add(format!("{at}.reverse"), "this link has no way back");
                problem.given("duplex = false").expected("duplex = true, or no `reverse`");
            }
            return;
        }
        let unlimited = Queue::default();
        let usual = schema::Reverse::default();
        let back = link.reverse.as_ref().unwrap_or(&usual);
        let direction = Direction {
            rate: back.rate.unwrap_or(link.rate),
            delay: back.delay.unwrap_or(link.delay),
            queue: back.queue.as_ref().unwrap_or(&unlimited),
            switching: back.switching.unwrap_or(link.switching),
            loss: back.loss.as_ref(),
        };
        let at = format!("{at}.reverse");
        let port = direction.port(format!("{name}.reverse"), link.transmitters.0 as u32, &at, groups, report);
        self.written.push((direction.queue.buffer, format!("{at}.queue")));
        self.add_port(port, ends.map(|(from, to)| (to, from)), Some(first));
    }

    /// Where the scenario has the queues, by port.
    pub(super) fn queue_places(&self) -> Vec<String> {
        self.written.iter().map(|(_, place)| place.clone()).collect()
    }

    /// Where the scenario has the queue of a port.
    pub(super) fn queue_place(&self, port: PortId) -> &str {
        &self.written[port as usize].1
    }

    fn add_port(&mut self, port: Port, ends: Option<(usize, usize)>, mirror: Option<PortId>) {
        let id = self.ports.len() as PortId;
        if let Some((from, to)) = ends {
            self.leaving[from].push((id, to));
            self.arriving[to].push((id, from));
        }
        self.by_name.insert(port.name.clone(), id);
        self.ports.push(port);
        self.ends.push(ends);
        self.mirror.push(mirror);
    }

    /// The node of that name; an unknown one is reported.
    pub fn node(&self, name: &Name, at: &str, report: &mut Report) -> Option<usize> {
        let found = self.index.get(name).copied();
        if found.is_none() && report.sound(at) && self.all_named {
            report.unknown(at, "node", name.as_str(), self.nodes.keys().map(Name::as_str));
        }
        found
    }

    /// The nodes of these names, those of a pattern in the order of their numbers; what is unknown is reported.
    pub fn named(&self, names: &Nodes, at: &str, report: &mut Report) -> Option<Vec<usize>> {
        let mut found = Vec::new();
        for name in &names.0 {
            let Some(prefix) = name.0.strip_suffix('*') else {
                found.push(self.node(&Name::made(name.0.clone()), at, report)?);
                continue;
            };
            let mut matching: Vec<usize> = (0..self.names.len()).filter(|&node| self.name(node).starts_with(prefix)).collect();
            matching.sort_by_key(|&node| (self.name(node).len(), self.names[node].0.clone()));
            if matching.is_empty() && report.sound(at) && self.all_named {
                let problem = report.add(at, format!("no node has a name that begins with `{prefix}`")).given(name.0.as_str());
                problem.expected(listed(&self.nodes.keys().map(Name::as_str).take(MOST_LISTED).collect::<Vec<&str>>()));
            }
            found.extend(matching);
        }
        (!found.is_empty()).then_some(found)
    }

    /// What a node says.
    pub fn settings(&self, node: usize) -> Option<&Node> {
        self.nodes.get(&self.names[node].0)
    }

    /// The port of that name; an unknown one is reported.
    pub fn port(&self, name: &PortName, at: &str, report: &mut Report) -> Option<PortId> {
        let found = self.by_name.get(&name.0).copied();
        if found.is_none() && report.sound(at) && self.all_named {
            report.unknown(at, "link", &name.0, self.by_name.keys().map(String::as_str));
        }
        found
    }

    /// A port's buffer as the scenario says it, and the place of its queue.
    pub fn buffer_as_written(&self, port: PortId) -> (Buffer, &str) {
        let (buffer, at) = &self.written[port as usize];
        (*buffer, at)
    }

    /// The place of the link, or of its way back, that a port is.
    pub fn place(&self, port: PortId) -> &str {
        let at = &self.written[port as usize].1;
        at.strip_suffix(".queue").unwrap_or(at)
    }

    /// Ports that are no way back.
    pub fn forward_ports(&self) -> impl Iterator<Item = PortId> {
        let forward = |(_, port): &(PortId, &Port)| !port.name.ends_with(".reverse");
        (0..).zip(&self.ports).filter(forward).map(|(id, _)| id)
    }

    /// A given route as ports, if it leads from one node to the other. What is wrong with it is reported.
    pub fn route(&self, names: &[PortName], ends: (usize, usize), at: &str, report: &mut Report) -> Option<Vec<PortId>> {
        let ports: Vec<Option<PortId>> =
            names.iter().enumerate().map(|(position, name)| self.port(name, &format!("{at}[{position}]"), report)).collect();
        let ports: Vec<PortId> = ports.into_iter().collect::<Option<_>>()?;
        let hops: Vec<(usize, usize)> = ports.iter().map(|&port| self.ends[port as usize]).collect::<Option<_>>()?;
        let (start, end) = ends;
        let mut here = start;
        let mut seen = vec![start];
        for (position, ((from, to), name)) in hops.iter().zip(names).enumerate() {
            let at = format!("{at}[{position}]");
            if *from != here {
                let given = format!("`{}`, which begins at `{}`", name.0, self.name(*from));
                report
                    .add(at, "the route is broken")
                    .given(given)
                    .expected(format!("a link that begins at `{}`", self.name(here)));
                return None;
            }
            if seen.contains(to) {
                let given = format!("`{}`, which ends at `{}`", name.0, self.name(*to));
                report.add(at, "the route visits a node twice").given(given).expected("links that lead on");
                return None;
            }
            if *to != end && self.is_host(*to) {
                let given = format!("`{}`, which ends at `{}`", name.0, self.name(*to));
                report.add(at, "the route leads through a host").given(given).expected("links between routers");
                return None;
            }
            seen.push(*to);
            here = *to;
        }
        if here != end {
            let expected = format!("`{}`", self.name(end));
            report.add(at, "the route ends at the wrong node").given(format!("`{}`", self.name(here))).expected(expected);
            return None;
        }
        Some(ports)
    }

    /// The same way back, where every link has one.
    pub fn mirrored(&self, ports: &[PortId]) -> Option<Vec<PortId>> {
        ports.iter().rev().map(|&port| self.mirror[port as usize]).collect()
    }

    /// The way of least delay; among equals the one of fewest hops, and among those the first by the names of its links.
    pub fn shortest(&self, (start, end): (usize, usize)) -> Option<Vec<PortId>> {
        let distances = self.distances(end);
        let mut here = start;
        let mut ports = Vec::new();
        while here != end {
            let left = distances[here]?;
            let next = self.leaving[here].iter().find(|&&(port, to)| {
                distances[to].is_some_and(|beyond| self.farther(beyond, port) == left) && (to == end || !self.is_host(to))
            });
            let &(port, to) = next?;
            ports.push(port);
            here = to;
        }
        Some(ports)
    }

    /// Delay and hops from each node to the end (Dijkstra, Numerische Mathematik 1, 1959).
    fn distances(&self, end: usize) -> Vec<Option<Distance>> {
        let mut best: Vec<Option<Distance>> = vec![None; self.names.len()];
        let mut open = BinaryHeap::from([Reverse(((0, 0), end))]);
        while let Some(Reverse((distance, node))) = open.pop() {
            if best[node].is_some() {
                continue;
            }
            best[node] = Some(distance);
            if node == end || !self.is_host(node) {
                let nearer = self.arriving[node].iter().filter(|(_, from)| best[*from].is_none());
                open.extend(nearer.map(|&(port, from)| Reverse((self.farther(distance, port), from))));
            }
        }
        best
    }

    fn farther(&self, (delay, hops): Distance, port: PortId) -> Distance {
        (delay.saturating_add(self.ports[port as usize].delay.0), hops + 1)
    }

    /// Whether a way that is not found does not exist.
    pub fn is_complete(&self) -> bool {
        self.all_named && self.ends.iter().all(Option::is_some)
    }

    fn is_host(&self, node: usize) -> bool {
        self.names[node].1
    }

    /// Of all nodes.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.names.iter().map(|(name, _)| name)
    }

    pub fn name(&self, node: usize) -> &str {
        self.names[node].0.as_str()
    }
}

/// Picoseconds, then hops.
type Distance = (u64, u32);

/// One direction of a link, as the scenario says it.
struct Direction<'d> {
    rate: Rate,
    delay: Duration,
    queue: &'d Queue,
    switching: Word<Switching>,
    loss: Option<&'d Loss>,
}

impl Direction<'_> {
    fn port(&self, name: String, transmitters: u32, at: &str, groups: &Groups, report: &mut Report) -> Port {
        let queue_at = format!("{at}.queue");
        let rate = self.rate.rate().0 as f64 * f64::from(transmitters);
        let buffer = self.queue.resolved(rate, &queue_at, report);
        let policy = self.queue.policy_spec(buffer, &queue_at, report);
        Port {
            name,
            rate: self.rate.rate(),
            delay: self.delay.span(),
            transmitters,
            switching: self.switching.0,
            buffer: places(buffer),
            counts_in_service: self.queue.counts_in_service(),
            policy: policy.unwrap_or(PolicySpec::DropTail(())),
            random_loss: self.loss.map_or(0.0, |loss| loss.probability.0),
            listed_drops: self.listed_drops(at, groups, report),
        }
    }

    fn listed_drops(&self, at: &str, groups: &Groups, report: &mut Report) -> Vec<ListedDrop> {
        let drops = self.loss.map_or(&[][..], |loss| &loss.drops);
        let listed = |(position, drop): (usize, &schema::Drop)| {
            let at = format!("{at}.loss.drops[{position}]");
            let key = if groups.knows(drop.group.as_str()) { "flow" } else { "group" };
            let flow = groups.flow(drop.group.as_str(), drop.flow.number(), &format!("{at}.{key}"), report)?;
            Some(ListedDrop {
                flow,
                segment: drop.segment.0 as u32,
                transmission: drop.transmission.0 as u32,
                cell: drop.cell.map(|cell| cell.0 as u32),
            })
        };
        drops.iter().enumerate().filter_map(listed).collect()
    }
}

/// As the core counts them.
fn places(buffer: Option<Buffer>) -> network::Buffer {
    match buffer {
        Some(Buffer::Packets(count) | Buffer::Cells(count)) => network::Buffer::Units(count),
        Some(Buffer::Bytes(size)) => network::Buffer::Bytes(size.bytes()),
        Some(Buffer::Unlimited | Buffer::Share(_)) | None => network::Buffer::Unlimited,
    }
}

/// Whether a fault at this place leaves the names of some nodes or links unknown.
fn hides_names(at: &str) -> bool {
    let Some(helper) = at.strip_prefix("topology") else { return at == "nodes" || at == "links" };
    let whole = helper.matches('.').count() < 2;
    whole || [".hops", ".rates", ".delays"].iter().any(|key| helper.contains(key))
}

/// The scenario's nodes and links and those of topology helpers; links with the path where they were described.
fn with_helpers(description: &Description, report: &mut Report) -> (BTreeMap<Name, Node>, BTreeMap<Name, (Link, String)>) {
    let mut nodes = description.nodes.clone();
    let mut links: BTreeMap<Name, (Link, String)> =
        description.links.iter().map(|(name, link)| (name.clone(), (link.clone(), format!("links.{name}")))).collect();
    if let Some(chain) = &description.topology.chain {
        let (rates, delays) = (chain.rates.len(), chain.delays.len());
        if (rates != delays || rates == 0) && report.sound("topology.chain") {
            let problem = report.add("topology.chain", "a chain needs a rate and a delay for each link");
            problem.given(format!("{rates} rates and {delays} delays")).expected("the same number of each, at least 1");
        }
    }
    if let Some(dwdm) = &description.topology.dwdm {
        let (inputs, channels) = (dwdm.inputs.0, dwdm.transmitters.0);
        if !dwdm.conversion && inputs < channels && report.sound("topology.dwdm") {
            let problem = report.add("topology.dwdm.inputs", "fewer inputs than wavelengths, some of which nothing could use");
            problem.given(inputs.to_string()).expected(format!("at least {channels}, or `conversion = true`"));
        }
        if dwdm.conversion && inputs <= channels {
            let problem = report
                .warn("topology.dwdm.inputs", "a channel for each input: what comes by them never waits or is lost at the trunk");
            problem.given(inputs.to_string()).expected(format!("more than {channels}, the channels"));
        }
    }
    for made in description.topology.made() {
        for (name, node) in made.nodes {
            if nodes.insert(name.clone(), node).is_some() {
                taken(&format!("nodes.{name}"), &name, made.by, report);
            }
        }
        for (name, link) in made.links {
            if links.insert(name.clone(), (link, made.by.into())).is_some() {
                taken(&format!("links.{name}"), &name, made.by, report);
            }
        }
    }
    (nodes, links)
}

fn taken(at: &str, name: &Name, by: &str, report: &mut Report) {
    report.add(at, format!("the name `{name}` is taken")).given(format!("{by} also makes `{name}`")).expected("another name");
}

#[cfg(test)]
mod tests {
    use crate::network::tests::{graph, names};

    fn forward(links: &[(&str, &str, &str, u32)]) -> Vec<String> {
        let network = graph(links, ("a", "c"), "");
        names(&network, network.flows[0].forward).iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn the_way_of_least_delay_is_taken_even_if_it_has_more_hops() {
        assert_eq!(forward(&[("ab", "a", "b", 5), ("bc", "b", "c", 5), ("ac", "a", "c", 11)]), ["ab", "bc"]);
    }

    #[test]
    fn among_equal_delays_fewer_hops_win_and_then_names() {
        assert_eq!(forward(&[("ab", "a", "b", 5), ("bc", "b", "c", 5), ("zz", "a", "c", 10)]), ["zz"]);
        assert_eq!(forward(&[("y", "a", "c", 10), ("x", "a", "c", 10)]), ["x"]);
    }

    #[test]
    fn no_way_leads_through_a_host() {
        assert_eq!(forward(&[("ah", "a", "h", 1), ("hc", "h", "c", 1), ("ac", "a", "c", 50)]), ["ac"]);
    }

    #[test]
    fn acknowledgements_take_the_way_back_of_the_data() {
        let network = graph(&[("ab", "a", "b", 5), ("bc", "b", "c", 5)], ("a", "c"), "");
        assert_eq!(names(&network, network.flows[0].backward), ["bc.reverse", "ab.reverse"]);
    }

    #[test]
    fn a_route_may_be_given_over_ways_back() {
        let links = [("ba", "b", "a", 5), ("bc", "b", "c", 5), ("ac", "a", "c", 1)];
        let network = graph(&links, ("a", "c"), "route = [\"ba.reverse\", \"bc\"]\n");
        assert_eq!(names(&network, network.flows[0].forward), ["ba.reverse", "bc"]);
        assert_eq!(names(&network, network.flows[0].backward), ["bc.reverse", "ba"]);
    }
}
