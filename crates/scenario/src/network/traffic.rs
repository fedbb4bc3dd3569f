//! Traffic patterns: the pair of nodes of each flow of a group.

use super::demands::Demands;
use super::sites::Sites;
use crate::problem::{RepeatedErrors, Report, key};
use crate::schema::{Flow, Incast, Nodes, Shift, Traffic};
use crate::values::Name;
use tailback_core::primitives::random::{Entity, Purpose, Stream};

/// Sending and receiving node of a flow.
pub(super) type Ends = (usize, usize);

/// Seed and name of the random stream of a pattern.
#[derive(Clone, Copy)]
struct Chance<'a> {
    seed: u64,
    name: &'a str,
}

impl Chance<'_> {
    /// The stream of one round of a pattern.
    fn round(self, index: u64) -> Stream {
        Stream::new(Entity { seed: self.seed, name: self.name, index }, Purpose::Traffic)
    }
}

/// Number of flows in one round of a pattern, or of pairs of `from` and `to`; `None` if the pattern has no rounds.
pub(super) fn round(flow: &Flow, sites: &Sites) -> Option<u64> {
    let many = |nodes: &Nodes| sites.many(nodes) as u64;
    let Some(traffic) = &flow.traffic else {
        let (from, to) = (many(flow.from.as_ref()?), many(flow.to.as_ref()?));
        return Some(if from == to { from } else { from.saturating_mul(to) });
    };
    match traffic {
        Traffic { permutation: Some(nodes), .. } => Some(many(nodes)),
        Traffic { shift: Some(shift), .. } => Some(many(&shift.nodes)),
        Traffic { all_to_all: Some(nodes), .. } => {
            let nodes = many(nodes);
            Some(nodes.saturating_mul(nodes.saturating_sub(1)))
        }
        Traffic { incast: Some(incast), .. } => Some(incast.senders.0),
        Traffic { table: Some(table), .. } => Some(table.flows() as u64),
        _ => None,
    }
}

/// Pairs of nodes to which the flows of a group are assigned in turn. Errors are reported.
pub(super) fn ends(name: &Name, flow: &Flow, seed: u64, count: usize, sites: &Sites, report: &mut Report) -> Option<Vec<Ends>> {
    let at = format!("flows.{name}");
    let Some(traffic) = &flow.traffic else { return between(flow, &at, count, sites, report) };
    for (key, _) in [("from", &flow.from), ("to", &flow.to)].iter().filter(|(_, nodes)| nodes.is_some()) {
        let problem = report.add(format!("{at}.{key}"), format!("`{key}` cannot be used with `traffic`"));
        problem.expected(format!("either `{key}` or `traffic`"));
    }
    let Traffic { permutation, shift, all_to_all, random_pairs, matrix, incast, table } = traffic;
    let given = [
        permutation.is_some(),
        shift.is_some(),
        all_to_all.is_some(),
        random_pairs.is_some(),
        matrix.is_some(),
        incast.is_some(),
        table.is_some(),
    ];
    let at = format!("{at}.traffic");
    if given.iter().filter(|given| **given).count() != 1 {
        if report.is_valid(&at) {
            let problem = report.add(at, "`traffic` must have exactly one pattern");
            problem.expected("one of `permutation`, `shift`, `all_to_all`, `random_pairs`, `matrix`, `incast`, `table`");
        }
        return None;
    }
    let chance = Chance { seed, name: name.as_str() };
    let several = |nodes: &Nodes, key: &str, report: &mut Report| several(nodes, &format!("{at}.{key}"), sites, report);
    if let Some(nodes) = permutation {
        let nodes = several(nodes, "permutation", report)?;
        return Some(permutations(&nodes, count, chance));
    }
    if let Some(nodes) = all_to_all {
        let nodes = several(nodes, "all_to_all", report)?;
        let pairs = (1..nodes.len()).flat_map(|by| (0..nodes.len()).map(move |from| (from, by)));
        return Some(pairs.take(count).map(|(from, by)| (nodes[from], nodes[(from + by) % nodes.len()])).collect());
    }
    if (random_pairs.is_some() || matrix.is_some()) && !determines_count(flow) {
        let key = if matrix.is_some() { "matrix" } else { "random_pairs" };
        let problem = report.add(at, format!("`{key}` requires the number of flows"));
        problem.expected("`count`, `arrivals`, or a list of starts or sizes");
        return None;
    }
    if let Some(matrix) = matrix {
        let demands = Demands::new(matrix, &format!("{at}.matrix"), sites, report)?;
        return Some((0..count as u64).map(|index| demands.pair(chance.round(index))).collect());
    }
    if let Some(nodes) = random_pairs {
        let nodes = several(nodes, "random_pairs", report)?;
        let pair = |index| {
            let stream = chance.round(index);
            let from = below(nodes.len(), stream.bits(0));
            let others = below(nodes.len() - 1, stream.bits(1));
            (nodes[from], nodes[others + usize::from(others >= from)])
        };
        return Some((0..count as u64).map(pair).collect());
    }
    if let Some(Shift { nodes, offset }) = shift {
        let nodes = several(nodes, "shift.nodes", report)?;
        let offset = offset.map_or(nodes.len() / 2, |offset| offset.0 as usize);
        if offset >= nodes.len() {
            let problem =
                report.add(format!("{at}.shift.offset"), "`offset` is not below the number of nodes").given(offset.to_string());
            problem.expected(format!("1 to {}, for {} nodes", nodes.len() - 1, nodes.len()));
            return None;
        }
        return Some((0..nodes.len()).take(count).map(|from| (nodes[from], nodes[(from + offset) % nodes.len()])).collect());
    }
    if let Some(incast) = incast {
        return incasts(incast, &format!("{at}.incast"), count, chance, sites, report);
    }
    table.as_ref().and_then(|table| listed(table, &format!("{at}.table"), count, sites, report))
}

/// Warns of a last incast with fewer senders than the others.
pub(super) fn warn_of_part_of_an_incast(flow: &Flow, count: usize, at: &str, report: &mut Report) {
    let Some(incast) = flow.traffic.as_ref().and_then(|traffic| traffic.incast.as_ref()) else { return };
    let (at, senders) = (format!("{at}.traffic.incast.senders"), incast.senders.0);
    let left = count as u64 % senders;
    if left > 0 && report.is_valid(&at) {
        let problem = report.warn(at, format!("the last incast has {left} of its {senders} senders"));
        problem.given(format!("{count} flows")).expected(format!("a multiple of {senders} flows"));
    }
}

/// Whether the group determines its number of flows without the pattern.
fn determines_count(flow: &Flow) -> bool {
    flow.count.is_some() || flow.arrivals.is_some() || flow.list_length().is_some()
}

/// At least two different nodes. Duplicates are reported.
fn several(nodes: &Nodes, at: &str, sites: &Sites, report: &mut Report) -> Option<Vec<usize>> {
    let found = sites.named(nodes, at, report)?;
    let mut distinct = found.clone();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() < found.len() {
        report.add(at, format!("{} names a node twice", key(at))).given(nodes.to_string()).expected("each node once");
        return None;
    }
    if found.len() < 2 {
        let (written, name) = (nodes.to_string(), sites.name(found[0]));
        let given = if written == name { written } else { format!("{written}, which is `{name}` alone") };
        report.add(at, format!("{} names only one node", key(at))).given(given).expected("at least two nodes");
        return None;
    }
    Some(found)
}

/// Pairs of the nodes in `from` and `to`: the nodes in the same place of lists of equal length, otherwise all combinations.
fn between(flow: &Flow, at: &str, count: usize, sites: &Sites, report: &mut Report) -> Option<Vec<Ends>> {
    let traffic_at = format!("{at}.traffic");
    let mut named = |key: &str, nodes: &Option<Nodes>| {
        let at = format!("{at}.{key}");
        match nodes {
            Some(nodes) => sites.named(nodes, &at, report),
            None if !report.is_valid(&at) || !report.is_valid(&traffic_at) => None,
            None => {
                let problem = report.add(at, format!("`{key}` is missing"));
                problem.expected(<Nodes as crate::decode::Decode>::expected());
                if sites.all_named && sites.count() > 0 {
                    problem.hint(format!("the nodes are {}", sites.first_ones()));
                }
                None
            }
        }
    };
    let (from, to) = (named("from", &flow.from), named("to", &flow.to));
    let (from, to) = from.zip(to)?;
    let ends: Vec<Ends> = match from.len() == to.len() {
        true => from.into_iter().zip(to).take(count).collect(),
        false => to.iter().flat_map(|&to| from.iter().map(move |&from| (from, to))).take(count).collect(),
    };
    if let Some((node, _)) = ends.iter().find(|(from, to)| from == to) {
        let at = format!("{at}.to");
        if report.is_valid(&at) {
            report.add(at, "`from` and `to` are the same node").given(sites.name(*node)).expected("another node");
        }
        return None;
    }
    Some(ends)
}

/// Permutations without fixed points, one per round, all equally likely: shuffled (Fisher and Yates) until there is no fixed point, on
/// average 2.7 times.
fn permutations(nodes: &[usize], count: usize, chance: Chance) -> Vec<Ends> {
    let mut pairs = Vec::with_capacity(count);
    for number in 0.. {
        if pairs.len() >= count {
            break;
        }
        let (stream, mut draw) = (chance.round(number), 0..);
        let mut to: Vec<usize> = (0..nodes.len()).collect();
        while to.iter().enumerate().any(|(from, to)| from == *to) {
            for last in (1..to.len()).rev() {
                to.swap(last, below(last + 1, draw.next().map_or(0, |draw| stream.bits(draw))));
            }
        }
        pairs.extend(nodes.iter().zip(to).map(|(&from, to)| (from, nodes[to])).take(count - pairs.len()));
    }
    pairs
}

fn incasts(incast: &Incast, at: &str, count: usize, chance: Chance, sites: &Sites, report: &mut Report) -> Option<Vec<Ends>> {
    let Incast { nodes, senders, to } = incast;
    let nodes = several(nodes, &format!("{at}.nodes"), sites, report)?;
    let to = match to {
        Some(to) => sites.named(to, &format!("{at}.to"), report)?,
        None => nodes.clone(),
    };
    let (senders, at) = (senders.0 as usize, format!("{at}.senders"));
    // The receiver may be one of the senders' nodes.
    let others = nodes.len() - usize::from(to.iter().any(|node| nodes.contains(node)));
    if senders > others {
        report
            .add(at, "`senders` exceeds the number of other nodes")
            .given(senders.to_string())
            .expected(format!("at most {others}"));
        return None;
    }
    let mut pairs = Vec::with_capacity(count);
    for number in 0.. {
        if pairs.len() >= count {
            break;
        }
        let stream = chance.round(number);
        let receiver = to[below(to.len(), stream.bits(0))];
        let mut left: Vec<usize> = nodes.iter().copied().filter(|&node| node != receiver).collect();
        for sent in 0..senders.min(count - pairs.len()) {
            let place = sent + below(left.len() - sent, stream.bits(1 + sent as u64));
            left.swap(sent, place);
            pairs.push((left[sent], receiver));
        }
    }
    Some(pairs)
}

/// Pairs of a flow table.
fn listed(table: &crate::flow_table::FlowTable, at: &str, count: usize, sites: &Sites, report: &mut Report) -> Option<Vec<Ends>> {
    if !report.is_valid(at) {
        return None;
    }
    if table.flows() != count {
        let problem = report.add(at, "`table` does not have one row per flow");
        problem
            .given(format!("{} rows for {count} flows", table.flows()))
            .expected("no `count`, and lists with one value per row");
        return None;
    }
    if !sites.all_named {
        return None;
    }
    let (mut pairs, mut faults) = (Vec::with_capacity(count), RepeatedErrors::default());
    for (flow, (source, sink)) in table.columns.source.iter().zip(&table.columns.sink).enumerate() {
        match (sites.find(source), sites.find(sink)) {
            (Some(from), Some(to)) if from != to => pairs.push((from, to)),
            ends => report.among(&mut faults, |report| {
                for (column, name, found) in [("source", source, ends.0), ("sink", sink, ends.1)] {
                    if found.is_none() {
                        sites.node(name, &format!("{at}{}", table.place(column, flow)), report);
                    }
                }
                if ends.0.is_some() && ends.0 == ends.1 {
                    let at = format!("{at}{}", table.place("sink", flow));
                    report.add(at, "`source` and `sink` are the same node").given(sink.as_str()).expected("another node");
                }
            }),
        }
    }
    if let Some(problem) = faults.rest(at, "flows", report) {
        problem.expected("two different nodes of the scenario for each flow");
    }
    (pairs.len() == count).then_some(pairs)
}

/// A number below `count` from random bits.
pub(super) fn below(count: usize, bits: u64) -> usize {
    ((u128::from(bits) * count as u128) >> 64) as usize
}
