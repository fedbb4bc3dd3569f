//! Routers in a row, with equal links.

use super::disturbances::Disturbances;
use super::generator::{Described, FlowEnds, Generator};
use super::plan::{Extent, Plan, Style};
use crate::link_rate::LinkRate;
use crate::quantity::Duration;
use crate::record::record;
use crate::schema::queue::Queue;
use crate::values::Integer;

record! {
    /// Routers in a row, with equal links.
    pub struct ParkingLot {
        /// Number of links.
        hops: Integer<1, 10000>,
        /// Bit rate of each link, or a delivery trace.
        rate: LinkRate,
        /// One-way propagation delay of each link.
        delay: Duration,
        /// Queue at the input of each link.
        queue: Queue,
    }
    with
    /// Impairments of every link.
    disturbances: Disturbances
}

impl Described for ParkingLot {
    const NAMES: &str = "Nodes `n0`, `n1`, ... in a row, with equal links `hop1`, `hop2`, ...";
    const COUNTS: &[&str] = &["hops"];
    const EXAMPLE: &str = "hops = 3\nrate = \"10 Mbps\"\ndelay = \"10 ms\"\nqueue = {buffer = \"20 packets\"}";
}

impl Generator for ParkingLot {
    fn extent(&self) -> Extent {
        Extent { nodes: u128::from(self.hops.0) + 1, links: self.hops.0.into() }
    }

    fn flow_ends(&self) -> Option<FlowEnds> {
        FlowEnds::between("n0", format!("n{}", self.hops.0))
    }

    fn queues(&self) -> Vec<(&'static str, &Queue)> {
        vec![("queue", &self.queue)]
    }

    fn make(&self, plan: &mut Plan) {
        let style = plan.style(self.disturbances.of(Style::new(self.rate.clone(), self.delay, &self.queue)));
        let mut before = plan.router("n0");
        for hop in 1..=self.hops.0 {
            let here = plan.router(format!("n{hop}"));
            plan.link(format!("hop{hop}"), (before, here), style);
            before = here;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Rate;

    #[test]
    fn a_parking_lot_has_one_node_more_than_hops() {
        let (rate, delay) = (Rate::new(10_000_000).into(), Duration::new(0));
        let lot = ParkingLot { hops: Integer(3), rate, delay, queue: Queue::default(), disturbances: Disturbances::default() };
        let mut plan = Plan::default();
        lot.make(&mut plan);
        let nodes: Vec<_> = plan.nodes.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(nodes, ["n0", "n1", "n2", "n3"]);
        let links: Vec<_> = plan.links.iter().map(|link| (link.name.as_str(), link.from, link.to)).collect();
        assert_eq!(links, [("hop1", 0, 1), ("hop2", 1, 2), ("hop3", 2, 3)]);
    }
}
