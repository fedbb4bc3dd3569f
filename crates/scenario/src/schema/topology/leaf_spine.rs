//! Two layers of switches with a link between every leaf and every spine: a folded Clos network (Clos, "A study of non-blocking switching
//! networks", Bell System Technical Journal 32(2), 1953).

use super::fabric::Fabric;
use super::generator::{Described, FlowEnds, Generator};
use super::plan::{Extent, Plan};
use crate::record::record;
use crate::schema::queue::Queue;
use crate::values::Integer;

record! {
    /// Leaf switches with hosts, and spine switches that connect them.
    pub struct LeafSpine {
        /// Number of leaf switches.
        leaves: Integer<1, 1000000>,
        /// Number of spine switches.
        spines: Integer<1, 1000000>,
        /// Hosts per leaf. Leaves are oversubscribed if this exceeds `spines` and all links have the same rate.
        hosts: Integer<1, 1000000>,
    }
    with
    /// Links.
    links: Fabric
}

impl Described for LeafSpine {
    const NAMES: &str = "Switches `leaf0`, `leaf1`, ... with hosts `host0`, `host1`, ..., and a link from each leaf to each of the switches `spine0`, `spine1`, ...: `spine0-leaf1`, `leaf1-host4`.";
    const COUNTS: &[&str] = &["leaves", "spines", "hosts"];
    const EXAMPLE: &str =
        "leaves = 4\nspines = 2\nhosts = 8\nrate = \"10 Gbps\"\ndelay = \"1 us\"\nqueue = {buffer = \"50 packets\"}";
    const ROUTING: &str = "ecmp";
}

impl Generator for LeafSpine {
    fn extent(&self) -> Extent {
        let [leaves, spines, hosts] = [self.leaves.0, self.spines.0, self.hosts.0].map(u128::from);
        Extent { nodes: leaves * (1 + hosts) + spines, links: leaves * (spines + hosts) }
    }

    fn flow_ends(&self) -> Option<FlowEnds> {
        Some(FlowEnds::Among("host*"))
    }

    fn queues(&self) -> Vec<(&'static str, &Queue)> {
        self.links.queues()
    }

    fn make(&self, plan: &mut Plan) {
        let (fabric, access) = (self.links.between_switches(plan), self.links.to_hosts(plan));
        let spines: Vec<usize> = (0..self.spines.0).map(|spine| plan.router(format!("spine{spine}"))).collect();
        let mut hosts = 0..;
        for number in 0..self.leaves.0 {
            let leaf = plan.router(format!("leaf{number}"));
            spines.iter().for_each(|&spine| plan.between((spine, leaf), fabric));
            for number in hosts.by_ref().take(self.hosts.0 as usize) {
                let host = plan.host(format!("host{number}"));
                plan.between((leaf, host), access);
            }
        }
    }
}
