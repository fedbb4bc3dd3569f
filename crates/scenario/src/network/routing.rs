//! Routing of flows without a given route.
//!
//! All routes to one node are found in one search. A host with a single link is one hop behind its router, so that all hosts of a router
//! share a search.

use super::graph::Graph;
use super::traffic::below;
use crate::schema::Routing;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use tailback_core::network::PortId;
use tailback_core::primitives::random::Stream;
use tailback_core::primitives::units::TimeDelta;

/// Picoseconds, then hops.
type Distance = (u64, u32);

/// Sending and receiving node of a flow, and the stream of its hashes.
#[derive(Clone, Copy)]
pub(super) struct RouteQuery {
    pub from: usize,
    pub to: usize,
    pub stream: Stream,
}

/// Paths through a graph.
pub(super) struct Ways<'g> {
    pub graph: &'g Graph,
    pub routing: Routing,
    /// Ports that no path may use.
    down: &'g BTreeSet<PortId>,
    /// First entry of each node in the list of incoming links from routers, which is sorted by delay.
    begins: Vec<usize>,
    feeders: Vec<u32>,
    /// Delays of these links if they differ; otherwise paths are compared by hops.
    delays: Delays,
}

/// Delays of links from routers.
enum Delays {
    Equal(TimeDelta),
    Each(Vec<TimeDelta>),
}

/// Distances to a node from each router that was reached.
struct Search {
    root: usize,
    known: Known,
}

enum Known {
    /// Distance of each node, with the delay of each hop.
    Hops(Vec<u32>, TimeDelta),
    Distances(Vec<Option<Distance>>),
}

/// Distance of nodes that were not reached.
const NEVER: u32 = u32::MAX;
const FAR: Distance = (u64::MAX, NEVER);

impl Search {
    fn from(&self, node: usize) -> Option<Distance> {
        match &self.known {
            Known::Hops(hops, delay) => {
                Some(hops[node]).filter(|&hops| hops != NEVER).map(|hops| (delay.0.saturating_mul(hops.into()), hops))
            }
            Known::Distances(distances) => distances[node],
        }
    }
}

/// Nodes that a search must reach.
struct Wanted {
    is_wanted: Vec<bool>,
    left: usize,
}

impl Wanted {
    /// Whether all were reached.
    fn strike(&mut self, node: usize) -> bool {
        self.left -= usize::from(std::mem::take(&mut self.is_wanted[node]));
        self.left == 0
    }
}

impl<'g> Ways<'g> {
    pub fn new(graph: &'g Graph, routing: Routing) -> Ways<'g> {
        static NONE: BTreeSet<PortId> = BTreeSet::new();
        Ways::without(graph, routing, &NONE)
    }

    /// Paths that avoid some ports.
    pub fn without(graph: &'g Graph, routing: Routing, down: &'g BTreeSet<PortId>) -> Ways<'g> {
        let (feeders, delays) = (Vec::new(), Delays::Equal(TimeDelta::ZERO));
        let mut ways = Ways { graph, routing, down, begins: vec![0], feeders, delays };
        let mut delays = Vec::new();
        for node in 0..graph.sites.count() {
            let feeding = graph.arriving(node).iter().filter(|(port, from)| !graph.sites.is_host(*from) && ways.is_up(*port));
            let mut feeding: Vec<(TimeDelta, u32)> = feeding.map(|&(port, from)| (ways.cost(port), from as u32)).collect();
            feeding.sort_unstable();
            for (delay, from) in feeding {
                ways.feeders.push(from);
                delays.push(delay);
            }
            ways.begins.push(ways.feeders.len());
        }
        let first = delays.first().copied().unwrap_or(TimeDelta::ZERO);
        ways.delays = if delays.iter().all(|&delay| delay == first) { Delays::Equal(first) } else { Delays::Each(delays) };
        ways
    }

    fn is_up(&self, port: PortId) -> bool {
        self.down.is_empty() || !self.down.contains(&port)
    }

    /// Delay of a link.
    fn cost(&self, port: PortId) -> TimeDelta {
        match self.routing {
            Routing::Shortest => self.graph.ports[port].delay,
            Routing::Ecmp => TimeDelta::ZERO,
        }
    }

    /// The way of each journey; `None` where there is none.
    pub fn find(&self, journeys: &[RouteQuery]) -> Vec<Option<Vec<PortId>>> {
        let mut order: Vec<(usize, usize)> = (0..).zip(journeys).map(|(index, journey)| (self.root(journey), index)).collect();
        order.sort_unstable();
        let mut found = vec![None; journeys.len()];
        for of_root in order.chunk_by(|(one, _), (other, _)| one == other) {
            let root = of_root[0].0;
            let search = self.search(root, self.wanted(of_root.iter().map(|&(_, index)| journeys[index].from)));
            for &(_, index) in of_root {
                found[index] = self.way(&journeys[index], &search);
            }
        }
        found
    }

    /// The root of the search for a node: the router of a host with a single link, otherwise the node.
    fn root(&self, journey: &RouteQuery) -> usize {
        match *self.graph.arriving(journey.to) {
            [(_, router)] if !self.graph.sites.is_host(router) => router,
            _ => journey.to,
        }
    }

    fn way(&self, journey: &RouteQuery, search: &Search) -> Option<Vec<PortId>> {
        let mut ports = Vec::with_capacity(8);
        let mut here = journey.from;
        while here != search.root {
            let onward = || self.onward(here, search);
            let nearest = onward().map(|(beyond, ..)| beyond).min()?;
            let equal = || onward().filter(|(beyond, ..)| *beyond == nearest);
            let config = match self.routing {
                Routing::Shortest => 0,
                Routing::Ecmp => below(equal().count(), journey.stream.bits(ports.len() as u64)),
            };
            let (_, port, next) = equal().nth(config)?;
            ports.push(port);
            here = next;
        }
        if search.root != journey.to {
            let &(port, _) = self.graph.arriving(journey.to).first().filter(|(port, _)| self.is_up(*port))?;
            ports.push(port);
        }
        Some(ports)
    }

    /// Whether all of these nodes are connected in both directions because duplex links connect them to one router. Otherwise they may still be.
    pub fn surely_connects(&self, nodes: &BTreeSet<usize>) -> bool {
        let is_router = |node: &usize| !self.graph.sites.is_host(*node);
        let router_of = |node: usize| self.graph.leaving(node).iter().map(|(_, to)| *to).find(is_router);
        let first = nodes.first().and_then(|&node| if is_router(&node) { Some(node) } else { router_of(node) });
        self.graph.is_duplex()
            && first.is_some_and(|first| {
                let search = self.search(first, self.wanted(nodes.iter().copied()));
                nodes.iter().all(|&node| node == first || self.onward(node, &search).next().is_some())
            })
    }

    /// The longest delay of the paths from each of these nodes to a node, over all hashes; `None` where there is no path.
    pub fn longest_delays(&self, from: &[usize], to: usize) -> Vec<Option<TimeDelta>> {
        let root = self.root(&RouteQuery { from: to, to, stream: Stream::default() });
        let search = self.search(root, self.wanted(from.iter().copied()));
        let last = if root == to { None } else { self.graph.arriving(to).first() };
        let last = last.map_or(TimeDelta::ZERO, |(port, _)| self.graph.ports[*port].delay);
        let mut known = BTreeMap::from([(root, Some(TimeDelta::ZERO))]);
        from.iter().map(|&node| Some(self.longest(node, &search, &mut known)? + last)).collect()
    }

    /// The longest delay from a node to the root. `known`: that of other nodes.
    fn longest(&self, from: usize, search: &Search, known: &mut BTreeMap<usize, Option<TimeDelta>>) -> Option<TimeDelta> {
        let mut open = vec![from];
        while let Some(&node) = open.last() {
            let next = self.next_hops(node, search);
            let before = open.len();
            open.extend(next.iter().map(|(_, next)| *next).filter(|next| !known.contains_key(next)));
            if open.len() == before {
                let over =
                    next.iter().map(|&(port, next)| Some(known.get(&next).copied().flatten()? + self.graph.ports[port].delay));
                let longest = over.max().flatten();
                known.entry(node).or_insert(longest);
                open.pop();
            }
        }
        known.get(&from).copied().flatten()
    }

    /// The links that paths from a node to the root may take, with their end nodes; one unless hashes select it.
    fn next_hops(&self, here: usize, search: &Search) -> Vec<(PortId, usize)> {
        let nearest = self.onward(here, search).map(|(beyond, ..)| beyond).min();
        let equal = self.onward(here, search).filter(|(beyond, ..)| Some(*beyond) == nearest).map(|(_, port, next)| (port, next));
        equal.take(if self.routing == Routing::Ecmp { usize::MAX } else { 1 }).collect()
    }

    /// Next hops from a node: distance to the root, port and next node.
    fn onward(&self, here: usize, search: &Search) -> impl Iterator<Item = (Distance, PortId, usize)> {
        let leaving = self.graph.leaving(here).iter();
        let forwarding =
            leaving.filter(move |(port, to)| self.is_up(*port) && (*to == search.root || !self.graph.sites.is_host(*to)));
        forwarding.filter_map(move |&(port, to)| Some((farther(search.from(to)?, self.cost(port)), port, to)))
    }

    /// Nodes that a search must reach for paths from these nodes: routers, and the routers of hosts.
    fn wanted(&self, from: impl Iterator<Item = usize>) -> Wanted {
        let mut wanted = Wanted { is_wanted: vec![false; self.graph.sites.count()], left: 0 };
        let mut want = |node: usize| wanted.left += usize::from(!std::mem::replace(&mut wanted.is_wanted[node], true));
        for node in from {
            if self.graph.sites.is_host(node) {
                self.graph.leaving(node).iter().for_each(|&(_, to)| want(to));
            } else {
                want(node);
            }
        }
        wanted
    }

    /// Distances to a node (Dijkstra, Numerische Mathematik 1, 1959; with equal links breadth-first search: Moore, "The shortest path through
    /// a maze", 1959). The search ends when all wanted nodes are reached. Nearer nodes, which paths need, are reached before.
    fn search(&self, root: usize, mut wanted: Wanted) -> Search {
        let feeders = |node: usize| self.begins[node]..self.begins[node + 1];
        let count = self.graph.sites.count();
        let delays = match &self.delays {
            Delays::Equal(delay) => {
                let (mut hops, mut reached, mut next) = (vec![NEVER; count], vec![root], 0);
                hops[root] = 0;
                let mut is_done = wanted.strike(root);
                while let Some(&node) = reached.get(next).filter(|_| !is_done) {
                    next += 1;
                    for &from in &self.feeders[feeders(node)] {
                        let from = from as usize;
                        if hops[from] == NEVER {
                            hops[from] = hops[node] + 1;
                            reached.push(from);
                            is_done |= wanted.strike(from);
                        }
                    }
                }
                return Search { root, known: Known::Hops(hops, *delay) };
            }
            Delays::Each(delays) => delays,
        };
        let mut best: Vec<Option<Distance>> = vec![None; count];
        // Tentative distances. Only improvements are queued, and nothing beyond the last wanted node.
        let mut seen: Vec<Distance> = vec![FAR; count];
        let mut bound = FAR;
        seen[root] = (0, 0);
        let mut open = BinaryHeap::from([Reverse((0, 0, root as u32))]);
        while let Some(Reverse((delay, hops, node))) = open.pop() {
            let (distance, node) = ((delay, hops), node as usize);
            if best[node].is_some() {
                continue;
            }
            best[node] = Some(distance);
            if wanted.strike(node) {
                break;
            }
            for (&from, &delay) in self.feeders[feeders(node)].iter().zip(&delays[feeders(node)]) {
                let reached = farther(distance, delay);
                if reached > bound {
                    break;
                }
                let seen = &mut seen[from as usize];
                if reached < *seen {
                    *seen = reached;
                    open.push(Reverse((reached.0, reached.1, from)));
                    if wanted.left == 1 && wanted.is_wanted[from as usize] {
                        bound = reached;
                    }
                }
            }
        }
        Search { root, known: Known::Distances(best) }
    }
}

fn farther((delay, hops): Distance, more: TimeDelta) -> Distance {
    (delay.saturating_add(more.0), hops + 1)
}
