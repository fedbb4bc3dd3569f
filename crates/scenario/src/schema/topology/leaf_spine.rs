//! Two layers of switches, each of one linked to each of the other: a folded Clos network (Clos, "A study of non-blocking switching
//! networks", Bell System Technical Journal 32(2), 1953), as data centres have it.

use super::{Extent, Fabric, Generator, Plan};
use crate::record::record;
use crate::schema::Queue;
use crate::values::Integer;

record! {
    /// Leaves with hosts, and spines between them.
    pub struct LeafSpine {
        /// Switches with hosts.
        leaves: Integer<1, 1000000>,
        /// Switches between them.
        spines: Integer<1, 1000000>,
        /// Hosts of each leaf. With more of them than spines, and links of one rate, the leaves are oversubscribed.
        hosts: Integer<1, 1000000>,
    }
    with
    /// Its links.
    links: Fabric
}

impl Generator for LeafSpine {
    fn extent(&self) -> Extent {
        let [leaves, spines, hosts] = [self.leaves.0, self.spines.0, self.hosts.0].map(u128::from);
        Extent { nodes: leaves * (1 + hosts) + spines, links: leaves * (spines + hosts) }
    }

    fn queues(&self) -> Vec<(&'static str, &Queue)> {
        self.links.queues()
    }

    fn make(&self, _: u64, plan: &mut Plan) {
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
