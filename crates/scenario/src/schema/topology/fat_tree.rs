//! A fat tree of equal switches (Al-Fares, Loukissas and Vahdat, "A scalable, commodity data center network architecture", SIGCOMM 2008,
//! section 2.2): each has equal capacity upwards and downwards, so that no traffic pattern is oversubscribed.

use super::fabric::Fabric;
use super::generator::{Described, FlowEnds, Generator};
use super::plan::{Extent, Plan};
use crate::problem::Report;
use crate::record::record;
use crate::schema::queue::Queue;
use crate::values::Integer;

record! {
    /// Fat tree: `k` pods of edge and aggregation switches below a core, with k³/4 hosts.
    pub struct FatTree {
        /// Number of ports per switch, even: 4 gives 16 hosts, 8 gives 128, 32 gives 8192.
        k: Integer<2, 1000000>,
    }
    with
    /// Links.
    links: Fabric
}

impl Described for FatTree {
    const NAMES: &str = "Switches with `k` ports each in `k` pods (Al-Fares, Loukissas and Vahdat, SIGCOMM 2008): `core0`, `core1`, ...; in pod P `aggP_0`, `aggP_1`, ... and `edgeP_0`, `edgeP_1`, ...; hosts `host0`, `host1`, ... Links are named by their ends, from the top: `core0-agg1_0`, `agg1_0-edge1_0`, `edge1_0-host4`.";
    const COUNTS: &[&str] = &["k"];
    const EXAMPLE: &str = "k = 4\nrate = \"10 Gbps\"\ndelay = \"1 us\"\nqueue = {buffer = \"50 packets\"}";
    const ROUTING: &str = "ecmp";
}

impl Generator for FatTree {
    fn extent(&self) -> Extent {
        let k = u128::from(self.k.0);
        Extent { nodes: 5 * k * k / 4 + k * k * k / 4, links: 3 * k * k * k / 4 }
    }

    fn check(&self, at: &str, report: &mut Report) {
        let at = format!("{at}.k");
        if !self.k.0.is_multiple_of(2) && report.is_valid(&at) {
            let problem = report.add(at, "`k` is odd");
            problem.given(self.k.0.to_string()).expected("an even number, such as 4 or 32");
        }
    }

    fn flow_ends(&self) -> Option<FlowEnds> {
        Some(FlowEnds::Among("host*"))
    }

    fn queues(&self) -> Vec<(&'static str, &Queue)> {
        self.links.queues()
    }

    fn make(&self, plan: &mut Plan) {
        let (k, half) = (self.k.0 as usize, self.k.0 as usize / 2);
        let (fabric, access) = (self.links.between_switches(plan), self.links.to_hosts(plan));
        let cores: Vec<usize> = (0..half * half).map(|core| plan.router(format!("core{core}"))).collect();
        let mut hosts = 0..;
        for pod in 0..k {
            let aggregation: Vec<usize> = (0..half).map(|switch| plan.router(format!("agg{pod}_{switch}"))).collect();
            for (&above, of_one) in aggregation.iter().zip(cores.chunks(half)) {
                of_one.iter().for_each(|&core| plan.between((core, above), fabric));
            }
            for switch in 0..half {
                let edge = plan.router(format!("edge{pod}_{switch}"));
                aggregation.iter().for_each(|&above| plan.between((above, edge), fabric));
                for number in hosts.by_ref().take(half) {
                    let host = plan.host(format!("host{number}"));
                    plan.between((edge, host), access);
                }
            }
        }
    }
}
