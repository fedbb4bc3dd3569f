//! Division of a run: ports and ends of flows are assigned to domains of about equal work, with little traffic between domains and a delay
//! on every connection between them.

use crate::network::{ChangeKind, Network};
use crate::primitives::ids::{FlowId, PortId};
use crate::primitives::units::{Bytes, TimeDelta};
use crate::simulation::domain_boundary::{Domain, Owners};
use crate::simulation::fabric::Fabric;
use crate::simulation::port::Entry;
use crate::simulation::state::Engine;
use crate::simulation::wiring::FlowPlan;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

/// Relative cost of a packet and its acknowledgement at the sender and at the receiver. All costs here are approximate measured CPU times.
const SENDER: f64 = 2.0;
const RECEIVER: f64 = 1.0;

/// Relative cost of a packet at each end of an external flow, with its transport.
const TRANSPORT: f64 = 8.0;

/// Relative cost of a packet at a port.
fn work_of_pass(entry: &Entry) -> f64 {
    match entry {
        Entry::Immediate => 0.5,
        Entry::Gathered(_) => 1.0,
        Entry::ByEvent | Entry::Heads { .. } => 4.0,
    }
}

/// Maximum ratio of a domain's work to the mean.
const SLACK: f64 = 1.03;

/// Number of refinement passes.
const LOOKS: usize = 6;

/// The assignment of entities to domains, and the minimum time for a packet to get from one domain to another.
pub(super) struct Shares {
    pub(super) owners: Arc<Owners>,
    pub(super) domains: usize,
    pub(super) lookahead: TimeDelta,
}

/// Two adjacent entities and the load between them.
#[derive(Clone, Copy)]
struct Edge {
    ends: [u32; 2],
    /// Minimum delay between them.
    delay: TimeDelta,
    load: f64,
}

/// Ports, senders and receivers, in this order, with their work and their edges.
struct Graph {
    ports: usize,
    flows: usize,
    work: Vec<f64>,
    edges: Vec<Edge>,
    /// An end of an external flow, if there are any. The others are joined to it, because one thread runs the transports.
    external_end: Option<u32>,
}

/// Divide a run into at most `domains` domains. There may be fewer, or one.
pub(super) fn divide(engine: &Engine, domains: usize) -> Shares {
    let graph = Graph::of(engine);
    let mut delays: Vec<TimeDelta> = graph.edges.iter().map(|edge| edge.delay).filter(|&delay| delay > TimeDelta::ZERO).collect();
    delays.sort_unstable();
    delays.dedup();
    // Longer delays between domains give fewer epochs. The groups joined over shorter delays must not become too large.
    let finest = delays.first().map_or(TimeDelta::ZERO, |&shortest| shortest);
    let fair = graph.work.iter().sum::<f64>() / domains as f64;
    let bound = fair.max(graph.largest(&graph.joined(finest)));
    let coarse = delays.partition_point(|&delay| graph.largest(&graph.joined(delay)) <= bound);
    // Half that delay is sufficient, if it reduces the traffic between domains.
    let longest = coarse.checked_sub(1).map_or(finest, |index| delays[index]);
    let atoms = graph.joined(finest.max(TimeDelta(longest.0 / 2)));
    let mut of_atoms = Partition::of(&graph, &atoms, domains).of_atoms;
    if let Some(first) = graph.external_end.map(|end| of_atoms[atoms[end as usize] as usize]) {
        of_atoms
            .iter_mut()
            .for_each(|domain| *domain = if *domain == first { 0 } else { *domain + Domain::from(*domain < first) });
    }
    let owner = |node: usize| of_atoms[atoms[node] as usize];
    let cut = graph.edges.iter().filter(|edge| owner(edge.ends[0] as usize) != owner(edge.ends[1] as usize));
    let lookahead = cut.map(|edge| edge.delay).min();
    let all = |nodes: std::ops::Range<usize>| nodes.map(owner).collect::<Vec<Domain>>();
    let (ports, flows) = (graph.ports, graph.flows);
    let owners = Owners {
        of_ports: all(0..ports),
        of_senders: all(ports..ports + flows),
        of_receivers: all(ports + flows..ports + 2 * flows),
    };
    let used = of_atoms.iter().max().map_or(0, |&last| usize::from(last)) + 1;
    Shares { owners: Arc::new(owners), domains: used, lookahead: lookahead.unwrap_or(TimeDelta(u64::MAX)) }
}

impl Graph {
    fn of(engine: &Engine) -> Graph {
        let Engine { network, fabric, endpoints, .. } = engine;
        let (ports, flows) = (fabric.ports().len(), fabric.paths().len());
        let (sender, receiver) = (|flow: FlowId| ports as u32 + flow.0, |flow: FlowId| (ports + flows) as u32 + flow.0);
        let mut graph = Graph { ports, flows, work: vec![0.0; ports + 2 * flows], edges: Vec::new(), external_end: None };
        let is_external = |flow: FlowId| fabric.profile(flow).is_external;
        let loads = loads(endpoints.plans(), is_external);
        let delays = min_delays(fabric, network);
        // The head of a packet is earlier than the packet's time, and a port may forward it when its transmission starts.
        let is_of_heads = |port: PortId| fabric.port(port).entry.is_of_heads();
        let mut routes: BTreeMap<u32, f64> = BTreeMap::new();
        let mut acknowledged_to = vec![0; ports];
        for path in fabric.paths() {
            acknowledged_to[ends_of(fabric, path.wire.backward).0] += 1;
        }
        for (flow, path) in FlowId::all(flows).zip(fabric.paths()) {
            let load = loads[flow];
            let [at_sender, at_receiver] = if is_external(flow) { [TRANSPORT; 2] } else { [SENDER, RECEIVER] };
            graph.work[sender(flow) as usize] = at_sender * load;
            graph.work[receiver(flow) as usize] = at_receiver * load;
            let wire = &path.wire;
            // A packet in cells is segmented by the end for the first port, in one step.
            let is_cut = fabric.profiles()[wire.group].framing.is_some();
            let access = |delay: TimeDelta, first: PortId| if is_cut || is_of_heads(first) { TimeDelta::ZERO } else { delay };
            let rates = &fabric.rates;
            let here = (sender(flow), wire.sender_access(rates).delay);
            let there = (receiver(flow), wire.receiver_access(rates).delay);
            for (start, (from, delay), (to, delay_to)) in [(wire.forward, here, there), (wire.backward, there, here)] {
                *routes.entry(start).or_default() += load;
                let (first, last) = ends_of(fabric, start);
                graph.edges.push(Edge { ends: [from, first.0], delay: access(delay, first), load });
                // Packets that overtake one another must be in order before the end's own link.
                let overtakes = fabric.port(last).reordered_packets().is_some();
                let delay = delays[last] + if overtakes { TimeDelta::ZERO } else { delay_to };
                graph.edges.push(Edge { ends: [last.0, to], delay, load });
            }
            // A delivery may cause a write at the same node.
            let messages = fabric.messages.get(flow);
            if messages.is_some_and(|messages| messages.joins_ends()) {
                graph.edges.push(Edge { ends: [receiver(flow), sender(flow)], delay: TimeDelta::ZERO, load });
            }
            for answers in messages.into_iter().flat_map(|messages| messages.answers_on()) {
                graph.edges.push(Edge { ends: [receiver(flow), sender(answers)], delay: TimeDelta::ZERO, load });
            }
            if is_external(flow) {
                let first = *graph.external_end.get_or_insert(sender(flow));
                let drops = |port: &PortId| network.ports[*port].listed_drops.iter().any(|drop| drop.flow == flow);
                // The thread that injects a datagram adds it to the listed drops.
                let lists = fabric.route(wire.forward).filter(drops).map(|port| port.0);
                let all = [sender(flow), receiver(flow)].into_iter().chain(lists);
                graph.edges.extend(all.map(|other| Edge { ends: [first, other], delay: TimeDelta::ZERO, load }));
            }
            let (back, _) = ends_of(fabric, wire.backward);
            if acknowledged_to[back] > 1 && are_in_order_by_data(&fabric.port(back).entry) {
                graph.edges.push(Edge { ends: [back.0, receiver(flow)], delay: TimeDelta::ZERO, load });
            }
        }
        for (start, load) in routes {
            let route = fabric.route(start);
            route.clone().for_each(|port| graph.work[port] += work_of_pass(&fabric.port(port).entry) * load);
            for (from, to) in route.clone().zip(route.skip(1)) {
                let delay = if is_of_heads(to) { TimeDelta::ZERO } else { delays[from] };
                graph.edges.push(Edge { ends: [from.0, to.0], delay, load });
            }
        }
        graph
    }

    /// The atom of each node: nodes joined by edges with zero delay, or a delay below this, form one atom. Atoms are numbered in the order
    /// of their first nodes.
    fn joined(&self, below: TimeDelta) -> Vec<u32> {
        let mut parents: Vec<u32> = (0..self.work.len() as u32).collect();
        for edge in self.edges.iter().filter(|edge| edge.delay < below || edge.delay == TimeDelta::ZERO) {
            let [a, b] = edge.ends.map(|end| root(&mut parents, end));
            parents[a.max(b) as usize] = a.min(b);
        }
        let mut atoms = vec![u32::MAX; parents.len()];
        let mut next = 0;
        for node in 0..parents.len() {
            let first = root(&mut parents, node as u32) as usize;
            if atoms[first] == u32::MAX {
                atoms[first] = next;
                next += 1;
            }
            atoms[node] = atoms[first];
        }
        atoms
    }

    fn work_of(&self, atoms: &[u32]) -> Vec<f64> {
        let mut work = vec![0.0; atoms.iter().max().map_or(0, |&last| last as usize + 1)];
        for (&atom, more) in atoms.iter().zip(&self.work) {
            work[atom as usize] += more;
        }
        work
    }

    fn largest(&self, atoms: &[u32]) -> f64 {
        self.work_of(atoms).into_iter().fold(0.0, f64::max)
    }
}

/// Relative numbers of packets, by flow: the sizes of the simulated flows if all have one. An external flow counts as their mean.
fn loads(plans: &[FlowPlan], is_external: impl Fn(FlowId) -> bool) -> Vec<f64> {
    let simulated = || FlowId::enumerate(plans).filter(|(flow, _)| !is_external(*flow)).map(|(_, plan)| plan.size);
    let are_finite = simulated().all(|size| size != Bytes(u64::MAX)) && simulated().next().is_some();
    let of_size = |size: Bytes| if are_finite { size.0 as f64 } else { 1.0 };
    let mean = simulated().map(of_size).sum::<f64>() / simulated().count().max(1) as f64;
    let of_flow = |(flow, plan): (FlowId, &FlowPlan)| match is_external(flow) {
        true if mean > 0.0 => mean,
        true => 1.0,
        false => of_size(plan.size),
    };
    FlowId::enumerate(plans).map(of_flow).collect()
}

/// The acknowledgements of several receivers are ordered by the arrival of data at these, so the receivers must be in one domain.
fn are_in_order_by_data(back: &Entry) -> bool {
    matches!(back, Entry::Gathered(_) | Entry::Immediate)
}

/// The first and the last port of a route.
fn ends_of(fabric: &Fabric, start: u32) -> (PortId, PortId) {
    let mut route = fabric.route(start);
    let Some(first) = route.next() else { unreachable!("a route without ports") };
    (first, route.last().unwrap_or(first))
}

/// Minimum delay of each port over the run.
fn min_delays(fabric: &Fabric, network: &Network) -> Vec<TimeDelta> {
    let mut delays: Vec<TimeDelta> = fabric.ports().iter().map(|port| port.equipment.delay()).collect();
    for change in &network.changes {
        if let ChangeKind::Delay(port, delay) = change.what {
            delays[port] = delays[port].min(delay);
        }
    }
    delays
}

fn root(parents: &mut [u32], mut node: u32) -> u32 {
    while parents[node as usize] != node {
        parents[node as usize] = parents[parents[node as usize] as usize];
        node = parents[node as usize];
    }
    node
}

/// The domain of each atom.
struct Partition {
    of_atoms: Vec<Domain>,
}

const NOWHERE: Domain = Domain::MAX;

impl Partition {
    /// Domains are grown one after another. Each starts with the largest unassigned atom and adds atoms that are adjacent to it (greedy
    /// graph growing: Karypis and Kumar, SIAM J. Sci. Comput. 20(1), 1998, section 4.2). Then each atom moves to the domain with most of
    /// its neighbours, if that domain has room.
    fn of(graph: &Graph, atoms: &[u32], domains: usize) -> Partition {
        let work = graph.work_of(atoms);
        let neighbours = Neighbours::of(graph, atoms, work.len());
        let total: f64 = work.iter().sum();
        let mut by_size: Vec<usize> = (0..work.len()).collect();
        by_size.sort_by(|&a, &b| work[b].total_cmp(&work[a]));
        let mut of_atoms = vec![NOWHERE; work.len()];
        let mut loads = vec![0.0; domains];
        for domain in 0..domains {
            let overflow = (total - loads.iter().sum::<f64>()) / (domains - domain) as f64;
            let mut seeds = by_size.iter().copied();
            let mut boundary: BinaryHeap<(u64, Reverse<usize>)> = BinaryHeap::new();
            let mut inside = BTreeMap::new();
            while loads[domain] < overflow {
                let nearest = std::iter::from_fn(|| boundary.pop()).map(|(_, Reverse(atom))| atom);
                let mut free = nearest.chain(&mut seeds).filter(|&atom| of_atoms[atom] == NOWHERE);
                let Some(atom) = free.next() else { break };
                drop(free);
                // An atom that is too large for the rest of the domain is left for another, unless it is the first.
                if loads[domain] > 0.0 && loads[domain] + work[atom] > overflow * SLACK && domain + 1 < domains {
                    continue;
                }
                of_atoms[atom] = domain as Domain;
                loads[domain] += work[atom];
                for &(other, load) in neighbours.of_atom(atom) {
                    if of_atoms[other as usize] == NOWHERE {
                        let load_inside = inside.entry(other).or_insert(0.0);
                        *load_inside += load;
                        let share = *load_inside / neighbours.load(other as usize);
                        boundary.push(((share * 1e9) as u64, Reverse(other as usize)));
                    }
                }
            }
        }
        for (atom, domain) in of_atoms.iter_mut().enumerate().filter(|of| *of.1 == NOWHERE) {
            let min = (0..domains).min_by(|&a, &b| loads[a].total_cmp(&loads[b])).unwrap_or(0);
            *domain = min as Domain;
            loads[min] += work[atom];
        }
        let max = total / domains as f64 * SLACK;
        for _ in 0..LOOKS {
            for atom in 0..work.len() {
                let mut beside = vec![0.0; domains];
                neighbours.of_atom(atom).iter().for_each(|&(other, load)| beside[usize::from(of_atoms[other as usize])] += load);
                let here = usize::from(of_atoms[atom]);
                let fits = |domain: usize| domain == here || loads[domain] + work[atom] <= max.min(loads[here]).max(max);
                let best = (0..domains).filter(|&domain| fits(domain)).max_by(|&a, &b| beside[a].total_cmp(&beside[b]));
                if let Some(best) = best.filter(|&best| beside[best] > beside[here]) {
                    of_atoms[atom] = best as Domain;
                    loads[here] -= work[atom];
                    loads[best] += work[atom];
                }
            }
        }
        Partition { of_atoms: dense(of_atoms) }
    }
}

/// Renumber the used domains without gaps.
fn dense(of_atoms: Vec<Domain>) -> Vec<Domain> {
    let mut numbers: BTreeMap<Domain, Domain> = of_atoms.iter().map(|&domain| (domain, 0)).collect();
    numbers.values_mut().zip(0..).for_each(|(number, next)| *number = next);
    of_atoms.into_iter().map(|domain| numbers[&domain]).collect()
}

/// The neighbours of each atom, with the load between them.
struct Neighbours {
    first: Vec<u32>,
    all: Vec<(u32, f64)>,
}

impl Neighbours {
    fn of(graph: &Graph, atoms: &[u32], count: usize) -> Neighbours {
        let both_ways = |edge: &Edge| {
            let [a, b] = edge.ends.map(|end| atoms[end as usize]);
            [(a, b, edge.load), (b, a, edge.load)].into_iter().filter(move |_| a != b)
        };
        let mut all: Vec<(u32, u32, f64)> = graph.edges.iter().flat_map(both_ways).collect();
        all.sort_unstable_by_key(|&(from, to, _)| (from, to));
        all.dedup_by(|next, kept| {
            let is_same = (next.0, next.1) == (kept.0, kept.1);
            if is_same {
                kept.2 += next.2;
            }
            is_same
        });
        let first = (0..=count as u32).map(|atom| all.partition_point(|edge| edge.0 < atom) as u32).collect();
        Neighbours { first, all: all.into_iter().map(|(_, to, load)| (to, load)).collect() }
    }

    fn of_atom(&self, atom: usize) -> &[(u32, f64)] {
        &self.all[self.first[atom] as usize..self.first[atom + 1] as usize]
    }

    fn load(&self, atom: usize) -> f64 {
        self.of_atom(atom).iter().map(|&(_, load)| load).sum()
    }
}
