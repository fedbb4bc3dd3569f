//! A random graph in a square (Waxman, "Routing of multipoint connections", IEEE Journal on Selected Areas in Communications 6(9), 1988,
//! model 1): two nodes are linked with probability `beta exp(-d / (alpha L))`, where d is their distance and L the diagonal.
//!
//! Differs: parts that would have no link to one another get the shortest ones that join them, so that every node reaches every other.

use super::{Disturbances, Extent, Generator, Plan, Style};
use crate::link_rate::LinkRate;
use crate::problem::Report;
use crate::quantity::{Duration, Probability, Quantity};
use crate::record::record;
use crate::schema::Queue;
use crate::values::Integer;
use tailback_core::primitives::math;
use tailback_core::primitives::random::{Entity, Purpose, Stream};

record! {
    /// Routers at random places of a square, and links by distance; parts that none joins are joined by the shortest ones.
    pub struct Waxman {
        /// Routers.
        routers: Integer<2, 2000>,
        /// How far links reach: larger values make more long links, above 0 to 1.
        alpha: Probability = Probability(0.15),
        /// How many links there are: the probability of a link between two routers at one place, above 0 to 1.
        beta: Probability = Probability(0.4),
        /// Bit rate of each link, or when it can send.
        rate: LinkRate,
        /// Propagation delay of a link from corner to opposite corner, one way; each link has as much of it as it is long.
        delay: Duration,
        /// The queue of each port of each router.
        queue: Queue,
    }
    with
    /// What every link does to packets.
    disturbances: Disturbances
}

/// Draws of a router: its two coordinates, then one for each router before it.
const COORDINATES: u64 = 2;

impl Generator for Waxman {
    /// A tree, to which chance adds.
    fn extent(&self) -> Extent {
        let routers = u128::from(self.routers.0);
        Extent { nodes: routers, links: routers - 1 }
    }

    fn check(&self, at: &str, report: &mut Report) {
        for (key, share) in [("alpha", self.alpha), ("beta", self.beta)] {
            let at = format!("{at}.{key}");
            if share.0 <= 0.0 && report.sound(&at) {
                report
                    .add(at, format!("`{key}` of 0 creates no links"))
                    .given(share.0.to_string())
                    .expected("above 0, at most 1");
            }
        }
    }

    fn queues(&self) -> Vec<(&'static str, &Queue)> {
        vec![("queue", &self.queue)]
    }

    fn make(&self, seed: u64, plan: &mut Plan) {
        let streams: Vec<Stream> = (0..self.routers.0)
            .map(|index| Stream::new(Entity { seed, name: "topology.waxman", index }, Purpose::Topology))
            .collect();
        let places: Vec<(f64, f64)> = streams.iter().map(|stream| (stream.uniform(0), stream.uniform(1))).collect();
        for router in 0..places.len() {
            plan.router(format!("router{router}"));
        }
        // A share of the diagonal.
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

/// The shortest links that join all parts: those of a minimum spanning tree in which what is linked comes first (Prim, Bell System
/// Technical Journal 36(6), 1957).
fn joining(linked: &[Vec<usize>], length: &impl Fn(usize, usize) -> f64) -> Vec<(usize, usize)> {
    const LINKED: f64 = -1.0;
    let count = linked.len();
    // By node: its distance to the tree, and to which node of it; `None` within the tree.
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
