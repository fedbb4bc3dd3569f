//! A random regular graph of switches with hosts: Jellyfish (Singla, Hong, Popa and Godfrey, "Jellyfish: Networking data centers randomly",
//! NSDI 2012, section 3). Random pairs of switches with free ports and without a common link are linked until no such pair exists. Remaining
//! free ports then replace a random link, and are linked to both its ends.
//!
//! Differs: a graph with several components is drawn again, which is rare with three links per switch. If each switch has links to more than
//! half of the others, the complement of the graph is drawn, which has fewer links.

use super::fabric::Fabric;
use super::generator::{Described, FlowEnds, Generator};
use super::plan::{Extent, Plan};
use crate::problem::Report;
use crate::record::record;
use crate::schema::queue::Queue;
use crate::values::Integer;
use std::collections::BTreeSet;
use tailback_core::primitives::random::{Draws, Entity, Purpose, Stream};

record! {
    /// Random regular graph of switches.
    pub struct RandomRegular {
        /// Number of switches.
        switches: Integer<4, 1000000>,
        /// Links per switch to other switches, fewer than `switches`. For a ring use `torus`.
        degree: Integer<3, 1000000>,
        /// Hosts per switch.
        hosts: Integer<0, 1000000> = Integer(1),
        /// Seed of the graph. The scenario's `seed` does not change it.
        graph_seed: Integer<0, 9007199254740991> = Integer(1),
    }
    with
    /// Links.
    links: Fabric
}

impl Described for RandomRegular {
    const NAMES: &str = "Switches `switch0`, `switch1`, ... in a random regular graph (Singla, Hong, Popa and Godfrey, NSDI 2012), with hosts: `switch0-switch7`, `switch0-host0`.";
    const COUNTS: &[&str] = &["switches", "degree", "hosts"];
    const EXAMPLE: &str = "switches = 20\ndegree = 4\nrate = \"10 Gbps\"\ndelay = \"1 us\"\nqueue = {buffer = \"50 packets\"}";
    const ROUTING: &str = "ecmp";
}

impl Generator for RandomRegular {
    fn extent(&self) -> Extent {
        let [switches, degree, hosts] = [self.switches.0, self.degree.0, self.hosts.0].map(u128::from);
        Extent { nodes: switches * (1 + hosts), links: switches * degree / 2 + switches * hosts }
    }

    fn check(&self, at: &str, report: &mut Report) {
        self.links.check_hosts(self.hosts.0, at, report);
        let (switches, degree) = (self.switches.0, self.degree.0);
        if !report.is_valid(&format!("{at}.switches")) || !report.is_valid(&format!("{at}.degree")) {
            return;
        }
        let at = format!("{at}.degree");
        if degree >= switches {
            let problem = report.add(at, "`degree` is not below the number of switches");
            problem.given(degree.to_string()).expected(format!("at most {}, for {switches} switches", switches - 1));
        } else if !(switches * degree).is_multiple_of(2) {
            let problem = report.add(at, "`switches` times `degree` is odd");
            problem
                .given(format!("{switches} switches with {degree} links each"))
                .expected("an even number of switches, or of links per switch");
        }
    }

    fn flow_ends(&self) -> Option<FlowEnds> {
        FlowEnds::among_hosts(self.hosts.0)
    }

    fn queues(&self) -> Vec<(&'static str, &Queue)> {
        self.links.queues()
    }

    fn make(&self, plan: &mut Plan) {
        let seed = self.graph_seed.0;
        let [switches, of_one] = [self.switches.0, self.hosts.0].map(|number| number as usize);
        let (fabric, access) = (self.links.between_switches(plan), self.links.to_hosts(plan));
        (0..switches).for_each(|switch| _ = plan.router(format!("switch{switch}")));
        let draw = |index| {
            let stream = Stream::new(Entity { seed, name: "topology.random_regular", index }, Purpose::Topology);
            drawn(self, Draws::new(stream))
        };
        let links = (0..).map(draw).find(|links| joins_all(switches, links)).unwrap_or_default();
        links.into_iter().for_each(|ends| plan.between(ends, fabric));
        for number in 0..switches * of_one {
            let host = plan.host(format!("host{number}"));
            plan.between((number / of_one, host), access);
        }
    }
}

/// Draws all links, sorted by their ends.
fn drawn(of: &RandomRegular, draws: Draws) -> Vec<(usize, usize)> {
    let (switches, others) = (of.switches.0 as usize, of.switches.0 - 1);
    if of.degree.0 <= others / 2 {
        return Drawing::new(of, draws).links();
    }
    let missing = RandomRegular { degree: Integer(others - of.degree.0), ..of.clone() };
    let missing: BTreeSet<(usize, usize)> = Drawing::new(&missing, draws).links().into_iter().collect();
    let pairs = (0..switches).flat_map(|one| (one + 1..switches).map(move |other| (one, other)));
    pairs.filter(|ends| !missing.contains(ends)).collect()
}

/// A partly drawn graph.
struct Drawing {
    draws: Draws,
    /// Free ports, by their switches.
    free: Vec<usize>,
    /// Neighbours of each switch.
    linked: Vec<BTreeSet<usize>>,
    links: Vec<(usize, usize)>,
}

impl Drawing {
    fn new(of: &RandomRegular, draws: Draws) -> Drawing {
        let [switches, degree] = [of.switches.0, of.degree.0].map(|number| number as usize);
        let free = (0..switches).flat_map(|switch| std::iter::repeat_n(switch, degree)).collect();
        Drawing { draws, free, linked: vec![BTreeSet::new(); switches], links: Vec::with_capacity(switches * degree / 2) }
    }

    /// Draws all links, sorted by their ends.
    fn links(mut self) -> Vec<(usize, usize)> {
        let mut in_vain = 0;
        while !self.free.is_empty() {
            let ports = (self.pick(self.free.len()), self.pick(self.free.len()));
            let ends = (self.free[ports.0], self.free[ports.1]);
            if self.may_link(ends) {
                self.take(ports);
                self.link(ends);
                in_vain = 0;
            } else {
                in_vain += 1;
            }
            // Random tries may miss the last pairs for a long time.
            if in_vain > self.free.len() {
                self.link_one_of_few();
                in_vain = 0;
            }
        }
        let mut links: Vec<(usize, usize)> = self.links.iter().map(|&(one, other)| (one.min(other), one.max(other))).collect();
        links.sort_unstable();
        links
    }

    /// A random number below `count`.
    fn pick(&mut self, count: usize) -> usize {
        (self.draws.uniform() * count as f64) as usize
    }

    fn may_link(&self, (one, other): (usize, usize)) -> bool {
        one != other && !self.linked[one].contains(&other)
    }

    fn link(&mut self, (one, other): (usize, usize)) {
        self.linked[one].insert(other);
        self.linked[other].insert(one);
        self.links.push((one, other));
    }

    /// Removes two free ports.
    fn take(&mut self, (one, other): (usize, usize)) {
        self.free.swap_remove(one.max(other));
        self.free.swap_remove(one.min(other));
    }

    /// Links one of the possible pairs or, if there is none, both ends of a removed link.
    fn link_one_of_few(&mut self) {
        let left: Vec<usize> = self.free.iter().copied().collect::<BTreeSet<usize>>().into_iter().collect();
        // This many switches cannot all be linked to each other.
        if self.linked.iter().map(BTreeSet::len).max().is_some_and(|most| left.len() > most + 1) {
            return;
        }
        let pairs = left.iter().enumerate().flat_map(|(place, &one)| left[..place].iter().map(move |&other| (one, other)));
        let pairs: Vec<(usize, usize)> = pairs.filter(|&ends| self.may_link(ends)).collect();
        if pairs.is_empty() {
            self.insert();
            return;
        }
        let config = self.pick(pairs.len());
        let ports = [pairs[config].0, pairs[config].1].map(|end| self.free.iter().position(|&switch| switch == end));
        if let [Some(one), Some(other)] = ports {
            self.take((one, other));
            self.link(pairs[config]);
        }
    }

    /// Links each of two free ports to one end of a removed link. A suitable link exists: a switch that is neither of the two and has no
    /// link to the first has more links than the second.
    fn insert(&mut self) {
        let ports = (self.free.len() - 2, self.free.len() - 1);
        let (one, other) = (self.free[ports.0], self.free[ports.1]);
        loop {
            let place = self.pick(self.links.len());
            let (from, to) = self.links[place];
            let (from, to) = if self.pick(2) == 0 { (from, to) } else { (to, from) };
            if self.may_link((one, from)) && self.may_link((other, to)) {
                self.links.swap_remove(place);
                self.linked[from].remove(&to);
                self.linked[to].remove(&from);
                self.take(ports);
                self.link((one, from));
                self.link((other, to));
                return;
            }
        }
    }
}

/// Whether the graph is connected.
fn joins_all(switches: usize, links: &[(usize, usize)]) -> bool {
    let mut beside = vec![Vec::new(); switches];
    for &(one, other) in links {
        beside[one].push(other);
        beside[other].push(one);
    }
    let (mut reached, mut next) = (vec![false; switches], vec![0]);
    reached[0] = true;
    while let Some(switch) = next.pop() {
        for &other in &beside[switch] {
            if !std::mem::replace(&mut reached[other], true) {
                next.push(other);
            }
        }
    }
    reached.into_iter().all(|is_reached| is_reached)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links_of(switches: usize, degree: usize, seed: u64) -> Vec<(usize, usize)> {
        let stream = Stream::new(Entity { seed, name: "test", index: 0 }, Purpose::Topology);
        let of = RandomRegular { switches: Integer(switches as u64), degree: Integer(degree as u64), ..RandomRegular::default() };
        drawn(&of, Draws::new(stream))
    }

    #[test]
    fn each_switch_has_as_many_links_as_it_should_and_no_two_to_another() {
        for switches in 4..14_usize {
            for degree in (3..switches).filter(|degree| (switches * degree).is_multiple_of(2)) {
                for seed in 0..50 {
                    let links = links_of(switches, degree, seed);
                    let distinct: BTreeSet<(usize, usize)> = links.iter().copied().collect();
                    assert_eq!((links.len(), distinct.len()), (switches * degree / 2, links.len()));
                    assert!(links.iter().all(|(one, other)| one < other));
                    let of = |switch| links.iter().filter(|(one, other)| *one == switch || *other == switch).count();
                    assert!((0..switches).all(|switch| of(switch) == degree), "{switches} {degree} {seed}");
                }
            }
        }
    }

    /// Within five standard errors: by symmetry each pair is as likely as any other.
    #[test]
    fn no_pair_is_linked_more_often_than_others() {
        const RUNS: u64 = 2000;
        let mut found = [[0_u32; 8]; 8];
        for seed in 0..RUNS {
            links_of(8, 3, seed).into_iter().for_each(|(one, other)| found[one][other] += 1);
        }
        let (share, runs) = (3.0 / 7.0, RUNS as f64);
        let error = (runs * share * (1.0 - share)).sqrt();
        for (one, row) in found.iter().enumerate() {
            for &times in &row[one + 1..] {
                assert!((f64::from(times) - runs * share).abs() < 5.0 * error, "{found:?}");
            }
        }
    }

    #[test]
    fn two_parts_are_not_one() {
        assert!(joins_all(4, &[(0, 1), (1, 2), (2, 3)]));
        assert!(!joins_all(4, &[(0, 1), (2, 3)]));
        let parts = (0..2000).filter(|&seed| !joins_all(8, &links_of(8, 3, seed))).count();
        assert!((1..40).contains(&parts), "{parts}");
    }

    #[test]
    fn a_graph_with_half_of_all_links_is_drawn_as_well() {
        assert_eq!(links_of(300, 150, 1).len(), 300 * 75);
        assert_eq!(links_of(300, 297, 1).len(), 150 * 297);
        assert_eq!(links_of(1000, 998, 1).len(), 500 * 998);
    }
}
