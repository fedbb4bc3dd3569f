//! Nodes and the plans of generators: all names before links are built.

use crate::problem::{RepeatedErrors, Report, key, listed};
use crate::schema::{Description, Extent, Generator, Link, Node, NodeKind, Nodes, Plan, Planned, Topology};
use crate::values::Name;
use std::collections::BTreeMap;
use tailback_core::network::Port;

/// Maximum number of node names in a message.
const MAX_LISTED: usize = 8;

/// Maximum number of links and of nodes of all generators. Each takes about a kilobyte.
const MAX_GENERATED: u128 = 4_000_000;

/// The same for a scenario with errors, which is built only to find further ones.
const MAX_WITH_ERRORS: u128 = 200_000;

/// Plan of a generator.
pub(super) struct Made {
    /// Path of the generator.
    pub at: &'static str,
    pub plan: Plan,
    /// Position of each node of the plan among all nodes.
    pub places: Vec<usize>,
}

/// Origin of a name: a plan and a position in it, or the table of nodes.
type Origin = Option<(usize, usize)>;

pub(super) struct Sites {
    /// Nodes sorted by name, with their kind.
    names: Vec<(Name, bool)>,
    declared: BTreeMap<Name, Node>,
    pub made: Vec<Made>,
    /// Whether all names are known. Otherwise unknown names are not reported.
    pub all_named: bool,
}

impl Sites {
    pub fn new(description: &Description, report: &mut Report) -> Sites {
        let plans = plans(description, report);
        let all_named = !report.places().any(hides_names);
        let mut names: Vec<(&Name, NodeKind, Origin)> =
            description.nodes.iter().map(|(name, node)| (name, node.kind, None)).collect();
        for (which, (_, plan)) in plans.iter().enumerate() {
            names.extend(plan.nodes.iter().enumerate().map(|(node, (name, kind))| (name, *kind, Some((which, node)))));
        }
        names.sort_by_key(|(name, ..)| *name);
        let mut places: Vec<Vec<usize>> = plans.iter().map(|(_, plan)| vec![0; plan.nodes.len()]).collect();
        let mut distinct: Vec<(Name, bool)> = Vec::with_capacity(names.len());
        let (mut taken, mut first) = (Taken::of("nodes"), None);
        for (name, kind, origin) in names {
            let by = origin.map(|(which, _)| plans[which].0);
            if distinct.last().is_some_and(|(before, _)| before == name) {
                taken.report(name, first, by, report);
            } else {
                distinct.push((name.clone(), kind == NodeKind::Host));
                first = by;
            }
            if let Some((which, node)) = origin {
                places[which][node] = distinct.len() - 1;
            }
        }
        taken.finish(report);
        let made = plans.into_iter().zip(places).map(|((at, plan), places)| Made { at, plan, places }).collect();
        let sites = Sites { names: distinct, declared: description.nodes.clone(), made, all_named };
        sites.check(report);
        sites
    }

    fn check(&self, report: &mut Report) {
        for (name, node) in self.declared.iter().filter(|(_, node)| node.kind == NodeKind::Router) {
            let keys = [("send_processing", node.send_processing), ("receive_processing", node.receive_processing)];
            for (key, _) in keys.iter().filter(|(_, delay)| delay.is_some()) {
                let message = format!("`{key}` is for hosts only, and `{name}` is a router");
                report.add(format!("nodes.{name}.{key}"), message).expected("kind = \"host\"");
            }
        }
    }

    /// Number of nodes.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// The node of that name.
    pub fn find(&self, name: &Name) -> Option<usize> {
        self.names.binary_search_by(|(known, _)| known.cmp(name)).ok()
    }

    /// The node of that name; unknown names are reported.
    pub fn node(&self, name: &Name, at: &str, report: &mut Report) -> Option<usize> {
        let found = self.find(name);
        if found.is_none() && report.is_valid(at) && self.all_named {
            report.unknown(at, "node", name.as_str(), self.names().map(Name::as_str));
        }
        found
    }

    /// The nodes of these names. Nodes of a pattern are sorted by number. Unknown names are reported.
    pub fn named(&self, names: &Nodes, at: &str, report: &mut Report) -> Option<Vec<usize>> {
        let (mut found, mut all_known, mut faults) = (Vec::new(), true, RepeatedErrors::default());
        let is_told = report.is_valid(at) && self.all_named;
        for (index, name) in names.0.iter().map(|name| name.0.as_str()).enumerate() {
            let before = found.len();
            match name.strip_suffix('*') {
                Some(prefix) => found.extend(self.beginning(prefix)),
                None => found.extend(self.find(&Name::made(name.to_string()))),
            }
            all_known &= found.len() > before;
            if found.len() == before && is_told {
                let at = if names.0.len() == 1 { at.to_string() } else { format!("{at}[{index}]") };
                report.among(&mut faults, |report| self.report_unknown(name, &at, report));
            }
        }
        if let Some(problem) = faults.rest(at, "names", report) {
            problem.expected(self.first_ones());
        }
        (all_known && !found.is_empty()).then_some(found)
    }

    fn report_unknown(&self, name: &str, at: &str, report: &mut Report) {
        let Some(prefix) = name.strip_suffix('*') else {
            report.unknown(at, "node", name, self.names().map(Name::as_str));
            return;
        };
        let is_shown = report.is_shown();
        let problem =
            report.add(at, format!("{} matches no node: no name begins with `{}`", key(at), prefix.escape_debug())).given(name);
        if !is_shown {
            return;
        }
        let patterns = self.patterns();
        let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
        problem.nearest(name, &patterns).expected(self.first_ones());
    }

    /// The first names, for a message.
    pub fn first_ones(&self) -> String {
        let mut patterns = self.patterns();
        patterns.truncate(MAX_LISTED);
        listed(&patterns.iter().map(String::as_str).collect::<Vec<&str>>())
    }

    /// All names; names that differ only by a number are replaced by their pattern.
    fn patterns(&self) -> Vec<String> {
        const TOLD: usize = usize::MAX;
        let stem = |name: &'_ Name| name.as_str().trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
        let mut repeated: BTreeMap<&str, usize> = BTreeMap::new();
        for name in self.names() {
            *repeated.entry(&name.as_str()[..stem(name)]).or_default() += 1;
        }
        let mut patterns: Vec<String> = Vec::new();
        for name in self.names() {
            let (before, number) = name.as_str().split_at(stem(name));
            if before.is_empty() || number.is_empty() || repeated.get(before).is_none_or(|many| *many <= 2) {
                patterns.push(name.to_string());
            } else if repeated.insert(before, TOLD) != Some(TOLD) {
                patterns.push(format!("{before}*"));
            }
        }
        patterns
    }

    /// Number of nodes of these names, if all are known.
    pub fn many(&self, names: &Nodes) -> usize {
        let of_one = |name: &str| name.strip_suffix('*').map_or(1, |prefix| self.beginning(prefix).len());
        names.0.iter().map(|name| of_one(&name.0)).sum()
    }

    fn beginning(&self, prefix: &str) -> Vec<usize> {
        let first = self.names.partition_point(|(name, _)| name.as_str() < prefix);
        let matching = (first..self.names.len()).take_while(|&node| self.name(node).starts_with(prefix));
        let mut matching: Vec<usize> = matching.collect();
        // Positions are sorted by name.
        matching.sort_by_key(|&node| (self.name(node).len(), node));
        matching
    }

    /// The table of a node, if it is declared.
    pub fn settings(&self, node: usize) -> Option<&Node> {
        self.declared.get(&self.names[node].0)
    }

    pub fn is_host(&self, node: usize) -> bool {
        self.names[node].1
    }

    /// Names of all nodes.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.names.iter().map(|(name, _)| name)
    }

    pub fn name(&self, node: usize) -> &str {
        self.names[node].0.as_str()
    }
}

/// Minimum memory of all ports in bytes, computed without building them; 0 if there are too many to build.
pub(crate) fn min_bytes(description: &Description) -> u64 {
    let made = description.topology.generators().into_iter().map(|(_, generator)| generator.extent().links);
    match made.fold(0, u128::saturating_add) {
        made @ ..=MAX_GENERATED => (description.links.len() as u64 + made as u64) * 2 * size_of::<Port>() as u64,
        _ => 0,
    }
}

/// The description with nodes and links in place of its generators.
pub(crate) fn expanded(description: &Description, report: &mut Report) -> Description {
    let plans = plans(description, report);
    let mut expanded = Description { topology: Topology::default(), ..description.clone() };
    for (_, Plan { nodes, styles, links }) in plans {
        let name = |node: usize| nodes[node].0.clone();
        expanded.links.extend(links.into_iter().map(|Planned { name: link, from, to, style }| {
            (link, Link { from: name(from), to: name(to), ..styles[style].link.clone() })
        }));
        expanded.nodes.extend(nodes.into_iter().map(|(name, kind)| (name, Node { kind, ..Node::default() })));
    }
    expanded
}

/// The plans of all generators, unless they are too large in total.
fn plans(description: &Description, report: &mut Report) -> Vec<(&'static str, Plan)> {
    let mut generators = description.topology.generators();
    generators.iter().for_each(|(at, generator)| generator.check(at, report));
    // Generators of unknown size, because of an error, are left out.
    generators.retain(|(at, _)| !report.places().any(|place| place.starts_with(at) && hides_names(place)));
    let mut total = Extent { nodes: 0, links: 0 };
    for (at, generator) in &generators {
        let extent = generator.extent();
        total.nodes = total.nodes.saturating_add(extent.nodes);
        total.links = total.links.saturating_add(extent.links);
        if total.nodes > MAX_GENERATED || total.links > MAX_GENERATED {
            let problem = report.add(*at, format!("{} generates too many nodes or links", key(at)));
            problem
                .given(format!("{} nodes and {} links", extent.nodes, extent.links))
                .expected(format!("at most {MAX_GENERATED} of each in the whole network"));
            return Vec::new();
        }
    }
    if !report.is_empty() && total.nodes.max(total.links) > MAX_WITH_ERRORS {
        report.invalidate("topology");
        return Vec::new();
    }
    let make = |(at, generator): (&'static str, &dyn Generator)| {
        let mut plan = Plan::default();
        generator.make(&mut plan);
        (at, plan)
    };
    generators.into_iter().map(make).collect()
}

/// Whether an error at this path leaves names of nodes or links unknown.
fn hides_names(at: &str) -> bool {
    let Some(generator) = at.strip_prefix("topology") else { return at == "nodes" || at == "links" };
    let mut steps = generator.split('.').skip(1).map(|step| step.split('[').next().unwrap_or_default());
    let (Some(name), Some(key)) = (steps.next(), steps.next()) else { return true };
    Topology::is_count(name, key)
}

/// Duplicate names: the first ones are reported with their paths, the others counted.
pub(super) struct Taken {
    /// The table of these names.
    table: &'static str,
    found: RepeatedErrors,
}

impl Taken {
    pub fn of(table: &'static str) -> Taken {
        Taken { table, found: RepeatedErrors::default() }
    }

    /// Reports a name that occurs in `first` and again in `second`, each a generator or the table.
    pub fn report(&mut self, name: &Name, first: Option<&str>, second: Option<&str>, report: &mut Report) {
        let by = second.unwrap_or(self.table);
        let message = format!("the name `{name}` is used twice");
        let (at, given, expected) = match first {
            Some(first) => {
                (by.to_string(), format!("`{first}` and `{by}` create `{name}`"), "generators that create different names")
            }
            None => (format!("{}.{name}", self.table), format!("{by} also creates `{name}`"), "another name"),
        };
        report.among(&mut self.found, |report| _ = report.add(at, message).given(given).expected(expected));
    }

    pub fn finish(self, report: &mut Report) {
        if let Some(problem) = self.found.rest(self.table, "names", report) {
            problem.expected("names that are unique in the table and all generators");
        }
    }
}
