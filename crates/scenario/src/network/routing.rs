//! Which way packets take where no route is given.
//!
//! Routes to one node are found together, for what is near it is searched once. A host with one link is as far as the router that it is
//! linked to and a hop, so that all hosts of a router share one search.

use super::graph::Graph;
use crate::schema::Routing;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tailback_core::network::PortId;
use tailback_core::primitives::random::Stream;
use tailback_core::primitives::units::Span;

/// Picoseconds, then hops.
type Distance = (u64, u32);

/// Beyond every way that there is.
const UNREACHED: Distance = (u64::MAX, u32::MAX);

/// From where to where a flow runs, and what its hashes are drawn from.
#[derive(Clone, Copy)]
pub(super) struct Journey {
    pub from: usize,
    pub to: usize,
    pub stream: Stream,
}

/// Ways through a graph.
pub(super) struct Ways<'g> {
    pub graph: &'g Graph,
    pub routing: Routing,
    /// By node: where its entries begin among those of all, which are routers with a link to it and these links' delays.
    begins: Vec<usize>,
    feeders: Vec<(usize, Span)>,
    /// If all links between routers have one delay: then hops say which way is shorter.
    delay: Option<Span>,
}

/// How far it is to a node.
struct Search {
    root: usize,
    /// From each router, and from the root itself.
    distances: Vec<Distance>,
}

impl Ways<'_> {
    pub fn new(graph: &Graph, routing: Routing) -> Ways<'_> {
        let mut ways = Ways { graph, routing, begins: vec![0], feeders: Vec::new(), delay: None };
        for node in 0..graph.sites.count() {
            for &(port, from) in graph.arriving(node).iter().filter(|(_, from)| !graph.sites.is_host(*from)) {
                ways.feeders.push((from, ways.cost(port)));
            }
            ways.begins.push(ways.feeders.len());
        }
        let first = ways.feeders.first().map(|(_, delay)| *delay);
        ways.delay = first.filter(|first| ways.feeders.iter().all(|(_, delay)| delay == first));
        ways
    }

    /// What a link adds to a distance, beside a hop.
    fn cost(&self, port: PortId) -> Span {
        match self.routing {
            Routing::Shortest => self.graph.ports[port as usize].delay,
            Routing::Ecmp => Span::ZERO,
        }
    }

    /// The way of each journey; `None` where there is none.
    pub fn find(&self, journeys: &[Journey]) -> Vec<Option<Vec<PortId>>> {
        let mut order: Vec<(usize, usize)> = (0..).zip(journeys).map(|(index, journey)| (self.root(journey), index)).collect();
        order.sort_unstable();
        let mut found = vec![None; journeys.len()];
        for of_root in order.chunk_by(|(one, _), (other, _)| one == other) {
            let search = self.search(of_root[0].0);
            for &(_, index) in of_root {
                found[index] = self.way(&journeys[index], &search);
            }
        }
        found
    }

    /// The node whose distances say the way: the router of a host with a single link, or the node itself.
    fn root(&self, journey: &Journey) -> usize {
        match *self.graph.arriving(journey.to) {
            [(_, router)] if !self.graph.sites.is_host(router) => router,
            _ => journey.to,
        }
    }

    fn way(&self, journey: &Journey, search: &Search) -> Option<Vec<PortId>> {
        let mut ports = Vec::with_capacity(8);
        let mut here = journey.from;
        while here != search.root {
            let onward = || self.onward(here, search);
            let nearest = onward().map(|(beyond, ..)| beyond).min()?;
            let equal = || onward().filter(|(beyond, ..)| *beyond == nearest);
            let chosen = match self.routing {
                Routing::Shortest => 0,
                Routing::Ecmp => below(equal().count(), journey.stream.bits(ports.len() as u64)),
            };
            let (_, port, next) = equal().nth(chosen)?;
            ports.push(port);
            here = next;
        }
        if search.root != journey.to {
            let &(port, _) = self.graph.arriving(journey.to).first()?;
            ports.push(port);
        }
        Some(ports)
    }

    /// Where packets may go on from a node: how far it is to the root that way, the port and the next node.
    fn onward(&self, here: usize, search: &Search) -> impl Iterator<Item = (Distance, PortId, usize)> {
        let leaving = self.graph.leaving(here).iter();
        let forwarding = leaving.filter(move |(_, to)| *to == search.root || !self.graph.sites.is_host(*to));
        let reached = forwarding.filter(move |(_, to)| search.distances[*to] != UNREACHED);
        reached.map(move |&(port, to)| (farther(search.distances[to], self.cost(port)), port, to))
    }

    /// How far it is to a node (Dijkstra, Numerische Mathematik 1, 1959; with equal links the search that Moore
    /// has in "The shortest path through a maze", 1959).
    fn search(&self, root: usize) -> Search {
        let mut best = vec![UNREACHED; self.graph.sites.count()];
        if let Some(delay) = self.delay {
            let mut reached = vec![root];
            best[root] = (0, 0);
            let mut next = 0;
            while let Some(&node) = reached.get(next) {
                next += 1;
                for &(from, _) in &self.feeders[self.begins[node]..self.begins[node + 1]] {
                    if best[from] == UNREACHED {
                        best[from] = farther(best[node], delay);
                        reached.push(from);
                    }
                }
            }
            return Search { root, distances: best };
        }
        let mut open = BinaryHeap::from([Reverse(((0, 0), root))]);
        while let Some(Reverse((distance, node))) = open.pop() {
            if best[node] != UNREACHED {
                continue;
            }
            best[node] = distance;
            let feeders = self.feeders[self.begins[node]..self.begins[node + 1]].iter();
            let nearer = feeders.filter(|(from, _)| best[*from] == UNREACHED);
            open.extend(nearer.map(|&(from, delay)| Reverse((farther(distance, delay), from))));
        }
        Search { root, distances: best }
    }
}

fn farther((delay, hops): Distance, more: Span) -> Distance {
    (delay.saturating_add(more.0), hops + 1)
}

/// A number below `count` from random bits.
pub(super) fn below(count: usize, bits: u64) -> usize {
    ((u128::from(bits) * count as u128) >> 64) as usize
}
