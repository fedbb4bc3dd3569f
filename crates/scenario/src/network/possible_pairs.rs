//! The pairs of nodes that a random pattern may draw, so that a scenario is valid with every seed or with none.

use super::demands::Demands;
use super::routing::Ways;
use super::sites::Sites;
use super::traffic::Ends;
use crate::problem::Report;
use crate::schema::{Flow, Incast, Traffic};
use crate::values::Name;
use std::collections::{BTreeMap, BTreeSet};
use tailback_core::primitives::units::TimeDelta;

pub(super) enum PossiblePairs {
    Listed(Vec<Ends>),
    /// Each of the first with each other of the second nodes.
    Between(Vec<usize>, Vec<usize>),
}

impl PossiblePairs {
    /// The pairs of a pattern without errors; `None` if it is not random.
    pub fn of(name: &Name, flow: &Flow, sites: &Sites, report: &mut Report) -> Option<PossiblePairs> {
        let at = format!("flows.{name}.traffic");
        let among = |nodes: Vec<usize>| PossiblePairs::Between(nodes.clone(), nodes);
        match flow.traffic.as_ref()? {
            Traffic { permutation: Some(nodes), .. } | Traffic { random_pairs: Some(nodes), .. } => {
                sites.named(nodes, &at, report).map(among)
            }
            Traffic { incast: Some(Incast { nodes, to, .. }), .. } => {
                let from = sites.named(nodes, &at, report)?;
                let to = sites.named(to.as_ref().unwrap_or(nodes), &at, report)?;
                Some(PossiblePairs::Between(from, to))
            }
            Traffic { matrix: Some(matrix), .. } => match Demands::new(matrix, &format!("{at}.matrix"), sites, report)? {
                Demands::Listed(pairs, _) => Some(PossiblePairs::Listed(pairs)),
                Demands::Gravity { nodes, .. } => Some(among(nodes)),
            },
            _ => None,
        }
    }

    /// All senders, and all receivers.
    pub fn nodes(&self) -> (BTreeSet<usize>, BTreeSet<usize>) {
        match self {
            PossiblePairs::Listed(pairs) => pairs.iter().copied().unzip(),
            PossiblePairs::Between(from, to) => (from.iter().copied().collect(), to.iter().copied().collect()),
        }
    }

    /// A pair without a path in that direction, if there is one.
    pub fn unreachable(&self, ways: &Ways) -> Option<Ends> {
        let (mut nodes, receivers) = self.nodes();
        nodes.extend(receivers);
        if ways.surely_connects(&nodes) {
            return None;
        }
        let first = |pairs: &PossiblePairs| {
            pairs.by_receiver().find_map(|(to, from)| {
                let delays = ways.longest_delays(&from, to);
                from.into_iter().zip(delays).find(|(_, delay)| delay.is_none()).map(|(from, _)| (from, to))
            })
        };
        first(self).or_else(|| first(&self.reversed()))
    }

    /// The longest delays there and back, each over all pairs and hashes, in total.
    pub fn longest_round_trip(&self, ways: &Ways) -> TimeDelta {
        let longest = |pairs: &PossiblePairs| {
            let delays = pairs.by_receiver().flat_map(|(to, from)| ways.longest_delays(&from, to));
            delays.flatten().max().unwrap_or(TimeDelta::ZERO)
        };
        longest(self) + longest(&self.reversed())
    }

    fn reversed(&self) -> PossiblePairs {
        match self {
            PossiblePairs::Listed(pairs) => PossiblePairs::Listed(pairs.iter().map(|&(from, to)| (to, from)).collect()),
            PossiblePairs::Between(from, to) => PossiblePairs::Between(to.clone(), from.clone()),
        }
    }

    /// Each receiver with its senders.
    fn by_receiver(&self) -> Box<dyn Iterator<Item = (usize, Vec<usize>)> + '_> {
        match self {
            PossiblePairs::Listed(pairs) => {
                let mut senders: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
                pairs.iter().for_each(|&(from, to)| senders.entry(to).or_default().push(from));
                Box::new(senders.into_iter())
            }
            PossiblePairs::Between(from, to) => {
                Box::new(to.iter().map(|&to| (to, from.iter().copied().filter(|&from| from != to).collect())))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Errors, Scenario};

    /// Errors of a scenario with these links between routers `a` to `d`, by their messages, for each of many seeds.
    fn told(links: &[(&str, &str, u32, bool)], flows: &str) -> Vec<String> {
        let mut text = String::from("duration = \"1 s\"\nROUTING\n[nodes]\na = {}\nb = {}\nc = {}\nd = {}\n");
        for (from, to, delay, duplex) in links {
            text += &format!("[links.{from}{to}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"1 Mbps\"\ndelay = \"{delay} ms\"\n");
            text += &format!("duplex = {duplex}\nqueue = {{buffer = \"9 packets\"}}\n");
        }
        let text = format!("{text}[flows.web]\n{flows}\ncount = 2\nsize = \"1 kB\"\ntcp = {{preset = \"newreno\"}}\n");
        let of_seed = |seed: u64| {
            let routing = if flows.contains("from") { "routing = \"ecmp\"" } else { "" };
            let built = Scenario::from_toml(&format!("seed = {seed}\n{}", text.replace("ROUTING", routing)), "")
                .and_then(|scenario| scenario.build().map(|_| ()));
            // Without the names of the nodes, which are drawn.
            let message =
                |errors: Errors| errors.list[0].message.replace("`propagation_rtt`", "it").split('`').next().map(String::from);
            built.err().and_then(message).unwrap_or_else(|| "accepted".into())
        };
        let mut told: Vec<String> = (0..30).map(of_seed).collect();
        told.sort();
        told.dedup();
        told
    }

    #[test]
    fn a_pattern_that_may_draw_unconnected_nodes_is_refused_with_every_seed() {
        let two_parts = [("a", "b", 1, true), ("c", "d", 1, true)];
        for pattern in [
            "{random_pairs = \"*\"}",
            "{permutation = \"*\"}",
            "{incast = {nodes = \"*\", senders = 1}}",
            "{incast = {nodes = [\"a\", \"b\"], senders = 1, to = [\"b\", \"d\"]}}",
            "{matrix = {gravity = {a = 1, b = 1, c = 0.001}}}",
            "{matrix = {table = {source = [\"a\", \"a\"], sink = [\"b\", \"d\"], demand = [1, 0.001]}}}",
        ] {
            let told = told(&two_parts, &format!("traffic = {pattern}"));
            assert_eq!(told, ["there is no route from "], "{pattern}");
        }
        let ring = [("a", "b", 1, false), ("b", "c", 1, false), ("c", "d", 1, false), ("d", "a", 1, false)];
        assert_eq!(told(&ring, "traffic = {random_pairs = \"*\"}"), ["accepted"]);
        assert_eq!(told(&ring[..3], "traffic = {random_pairs = \"*\"}"), ["there is no route from "]);
        assert_eq!(told(&two_parts, "traffic = {random_pairs = [\"a\", \"b\"]}"), ["accepted"]);
    }

    #[test]
    fn a_round_trip_must_be_as_long_as_the_longest_path_that_may_be_drawn() {
        let line = [("a", "b", 10, true), ("b", "c", 10, true), ("c", "d", 10, true)];
        let pairs = |rtt: u32| told(&line, &format!("traffic = {{random_pairs = \"*\"}}\npropagation_rtt = \"{rtt} ms\""));
        assert_eq!(pairs(60), ["accepted"]);
        assert_eq!(pairs(59), ["it is shorter than the path"]);
        // Two paths of two links, which hashes select in each direction.
        let square = [("a", "b", 10, true), ("b", "d", 10, true), ("a", "c", 1, true), ("c", "d", 1, true)];
        let hashed = |rtt: u32| told(&square, &format!("from = \"a\"\nto = \"d\"\npropagation_rtt = \"{rtt} ms\""));
        assert_eq!(hashed(40), ["accepted"]);
        assert_eq!(hashed(39), ["it is shorter than the path"]);
    }
}
