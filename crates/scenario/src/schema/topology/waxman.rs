//! A random graph in a square (Waxman, "Routing of multipoint connections", IEEE Journal on Selected Areas in Communications 6(9), 1988,
//! model 1): two nodes are linked with probability `beta exp(-d / (alpha L))`, where d is their distance and L the diagonal.
//!
//! Differs: separate components are connected by the shortest possible links.

use super::disturbances::Disturbances;
use super::generator::{Described, FlowEnds, Generator};
use super::plan::{Extent, Plan, Style};
use crate::link_rate::LinkRate;
use crate::probability::Probability;
use crate::problem::Report;
use crate::quantity::{Duration, Quantity};
use crate::record::record;
use crate::schema::queue::Queue;
use crate::values::Integer;
use tailback_core::primitives::math;
use tailback_core::primitives::random::{Entity, Purpose, Stream};

record! {
    /// Random graph of routers in a square, whose links depend on the distance. Separate components are connected by the shortest links.
    pub struct Waxman {
        /// Number of routers.
        routers: Integer<2, 2000>,
        /// Length of links relative to the diagonal, above 0 to 1: larger values give more long links.
        alpha: Probability = Probability(0.15),
        /// Density of links, above 0 to 1: the probability of a link between two routers at distance 0.
        beta: Probability = Probability(0.4),
        /// Bit rate of each link, or a delivery trace.
        rate: LinkRate,
        /// One-way propagation delay along the diagonal of the square. The delay of a link is proportional to its length.
        delay: Duration,
        /// Queue of each router port.
        queue: Queue,
        /// Seed of the graph. The scenario's `seed` does not change it.
        graph_seed: Integer<0, 9007199254740991> = Integer(1),
    }
    with
    /// Impairments of every link.
    disturbances: Disturbances
}

/// Draws of a router: its two coordinates, then one for each router before it.
const COORDINATES: u64 = 2;

impl Described for Waxman {
    const NAMES: &str = "Routers `router0`, `router1`, ... at random places of a square, with random links that favour short distances (Waxman, IEEE Journal on Selected Areas in Communications 6(9), 1988): `router0-router7`.";
    const COUNTS: &[&str] = &["routers"];
    const EXAMPLE: &str = "routers = 40\nrate = \"1 Gbps\"\ndelay = \"20 ms\"\nqueue = {buffer = \"200 packets\"}";
}

impl Generator for Waxman {
    /// At least a tree, to which random links are added.
    fn extent(&self) -> Extent {
        let routers = u128::from(self.routers.0);
        Extent { nodes: routers, links: routers - 1 }
    }

    fn check(&self, at: &str, report: &mut Report) {
        for (key, share) in [("alpha", self.alpha), ("beta", self.beta)] {
            let at = format!("{at}.{key}");
            if share.0 <= 0.0 && report.is_valid(&at) {
                report
                    .add(at, format!("`{key}` of 0 creates no links"))
                    .given(share.0.to_string())
                    .expected("above 0, at most 1");
            }
        }
    }

    fn flow_ends(&self) -> Option<FlowEnds> {
        Some(FlowEnds::Among("router*"))
    }

    fn queues(&self) -> Vec<(&'static str, &Queue)> {
        vec![("queue", &self.queue)]
    }

    fn make(&self, plan: &mut Plan) {
        let seed = self.graph_seed.0;
        let streams: Vec<Stream> = (0..self.routers.0)
            .map(|index| Stream::new(Entity { seed, name: "topology.waxman", index }, Purpose::Topology))
            .collect();
        let places: Vec<(f64, f64)> = streams.iter().map(|stream| (stream.uniform(0), stream.uniform(1))).collect();
        for router in 0..places.len() {
            plan.router(format!("router{router}"));
        }
        // Relative to the diagonal.
        let length = |one: usize, other: usize| {
            let (x, y) = (places[one].0 - places[other].0, places[one].1 - places[other].1);
            ((x * x + y * y) / 2.0).sqrt()
        };
        let mut linked = vec![Vec::new(); places.len()];
        for (later, stream) in streams.iter().enumerate() {
            for (earlier, others) in linked.iter_mut().enumerate().take(later) {
                let likely = self.beta.0 * math::exp(-length(earlier, later) / self.alpha.0);
                if stream.uniform(COORDINATES + earlier as u64) < likely {
                    others.push(later);
                }
            }
        }
        for (one, other) in joining(&linked, &length) {
            linked[one].push(other);
        }
        for (one, others) in linked.iter_mut().enumerate() {
            others.sort_unstable();
            for &other in others.iter() {
                let delay = Duration::new((self.delay.base() as f64 * length(one, other)) as u64);
                let style = Style::new(self.rate.clone(), delay, &self.queue).back("queue", &self.queue);
                let style = plan.style(self.disturbances.of(style));
                plan.between((one, other), style);
            }
        }
    }
}

/// The shortest links that connect all components: the links of a minimum spanning tree that contains the existing links (Prim, Bell System
/// Technical Journal 36(6), 1957).
fn joining(linked: &[Vec<usize>], length: &impl Fn(usize, usize) -> f64) -> Vec<(usize, usize)> {
    const LINKED: f64 = -1.0;
    let count = linked.len();
    // For each node its distance to the tree and the nearest node there; `None` within the tree.
    let mut outside = vec![Some((f64::INFINITY, 0)); count];
    let mut added = Vec::new();
    let mut newest = 0;
    loop {
        outside[newest] = None;
        let mut is_linked = vec![false; count];
        linked[newest].iter().for_each(|&other| is_linked[other] = true);
        for (other, nearest) in outside.iter_mut().enumerate() {
            let Some((distance, _)) = nearest else { continue };
            let cost =
                if is_linked[other] || linked[other].binary_search(&newest).is_ok() { LINKED } else { length(newest, other) };
            if cost < *distance {
                *nearest = Some((cost, newest));
            }
        }
        let left = outside.iter().enumerate().filter_map(|(node, nearest)| Some((node, (*nearest)?)));
        let Some((next, (distance, of_tree))) = left.min_by(|(_, one), (_, other)| one.0.total_cmp(&other.0)) else { break };
        if distance > LINKED {
            added.push((next.min(of_tree), next.max(of_tree)));
        }
        newest = next;
    }
    added
}
