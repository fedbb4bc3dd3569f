//! A dragonfly of full size (Kim, Dally, Scott and Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008, section 3.1):
//! with `a` switches in a group and `h` global links per switch there are `a h + 1` groups, with one link between every two groups. The
//! paper does not assign global links to switches. Here the first `h` other groups are linked to the first switch and so on
//! (the absolute arrangement of Camarero, Vallejo and Beivide, ACM Transactions on Architecture and Code Optimization 11(4), 2014).

use super::fabric::Fabric;
use super::generator::{Described, FlowEnds, Generator};
use super::plan::{Extent, Plan};
use crate::link_rate::LinkRate;
use crate::problem::Report;
use crate::quantity::Duration;
use crate::record::record;
use crate::schema::queue::Queue;
use crate::values::Integer;

record! {
    /// Fully connected groups of switches, with one link between every two groups.
    pub struct Dragonfly {
        /// Hosts per switch (p). The paper recommends half of `switches`.
        hosts: Integer<0, 1000000>,
        /// Switches per group (a).
        switches: Integer<1, 1000000>,
        /// Links per switch to other groups (h). The paper recommends half of `switches`.
        global_links: Integer<1, 1000000>,
        /// Bit rate of links between groups. Default: that of the other links.
        global_rate: Option<LinkRate>,
        /// One-way propagation delay of links between groups. Default: that of the other links.
        global_delay: Option<Duration>,
    }
    with
    /// Links.
    links: Fabric
}

impl Described for Dragonfly {
    const NAMES: &str = "Fully connected groups of switches, with one link between every two groups (Kim, Dally, Scott and Abts, ISCA 2008): in group G `switchG_0`, `switchG_1`, ...; links `switch0_0-switch0_1`, `switch0_1-switch3_0`, `switch0_0-host0`.";
    const COUNTS: &[&str] = &["switches", "hosts", "global_links"];
    const EXAMPLE: &str =
        "switches = 4\nhosts = 2\nglobal_links = 2\nrate = \"10 Gbps\"\ndelay = \"1 us\"\nqueue = {buffer = \"50 packets\"}";
    const ROUTING: &str = "ecmp";
}

impl Generator for Dragonfly {
    fn extent(&self) -> Extent {
        let [p, a, h] = [self.hosts.0, self.switches.0, self.global_links.0].map(u128::from);
        let groups = a * h + 1;
        let local = a * (a - 1) / 2;
        Extent { nodes: groups * a * (1 + p), links: groups * (local + a * p) + groups * (groups - 1) / 2 }
    }

    fn check(&self, at: &str, report: &mut Report) {
        self.links.check_hosts(self.hosts.0, at, report);
    }

    fn flow_ends(&self) -> Option<FlowEnds> {
        FlowEnds::among_hosts(self.hosts.0)
    }

    fn queues(&self) -> Vec<(&'static str, &Queue)> {
        self.links.queues()
    }

    fn make(&self, plan: &mut Plan) {
        let [p, a, h] = [self.hosts.0, self.switches.0, self.global_links.0].map(|number| number as usize);
        let groups = a * h + 1;
        let (local, access) = (self.links.between_switches(plan), self.links.to_hosts(plan));
        let rate = self.global_rate.as_ref().unwrap_or(&self.links.rate).clone();
        let delay = self.global_delay.unwrap_or(self.links.delay);
        let global = plan.style(self.links.with_queues(rate, delay));
        for group in 0..groups {
            (0..a).for_each(|switch| _ = plan.router(format!("switch{group}_{switch}")));
        }
        for group in 0..groups {
            let first = group * a;
            for one in 0..a {
                (one + 1..a).for_each(|other| plan.between((first + one, first + other), local));
            }
            for other in group + 1..groups {
                // Other groups are counted without this one.
                plan.between((first + (other - 1) / h, other * a + group / h), global);
            }
        }
        for number in 0..groups * a * p {
            let host = plan.host(format!("host{number}"));
            plan.between((number / p, host), access);
        }
    }
}
