//! A torus: a grid whose rows are closed to rings (Dally and Towles, Principles and Practices of Interconnection Networks, 2004,
//! chapter 5).

use super::fabric::Fabric;
use super::generator::{Described, FlowEnds, Generator};
use super::plan::{Extent, Plan};
use crate::problem::Report;
use crate::record::record;
use crate::schema::queue::Queue;
use crate::values::Integer;

record! {
    /// Torus: switches in a grid with wrap-around.
    pub struct Torus {
        /// Switches in each dimension, such as `[4, 4, 4]`. Two switches of a dimension share one link.
        dimensions: Vec<Integer<2, 1000000>>,
        /// Hosts per switch.
        hosts: Integer<0, 1000000> = Integer(1),
    }
    with
    /// Links.
    links: Fabric
}

/// Maximum number of dimensions. Names of switches have a number for each.
const MAX_DIMENSIONS: usize = 6;

impl Torus {
    /// Switches of each dimension.
    fn sizes(&self) -> Vec<usize> {
        self.dimensions.iter().map(|size| size.0 as usize).collect()
    }
}

impl Described for Torus {
    const NAMES: &str = "Switches in a grid with wrap-around in each dimension, such as `switch0_2_1`, with links to their neighbours, such as `switch0_2_1-switch0_2_2`, and to hosts: `switch0_2_1-host9`.";
    const COUNTS: &[&str] = &["dimensions", "hosts"];
    const EXAMPLE: &str = "dimensions = [4, 4]\nrate = \"10 Gbps\"\ndelay = \"1 us\"\nqueue = {buffer = \"50 packets\"}";
    const ROUTING: &str = "ecmp";
}

impl Generator for Torus {
    fn extent(&self) -> Extent {
        let switches = self.dimensions.iter().fold(1_u128, |product, size| product.saturating_mul(size.0.into()));
        let rings = self.dimensions.iter().map(|size| if size.0 == 2 { switches / 2 } else { switches });
        let hosts = switches.saturating_mul(self.hosts.0.into());
        Extent { nodes: switches.saturating_add(hosts), links: rings.fold(hosts, u128::saturating_add) }
    }

    fn check(&self, at: &str, report: &mut Report) {
        self.links.check_hosts(self.hosts.0, at, report);
        let at = format!("{at}.dimensions");
        let given = self.dimensions.len();
        if !(1..=MAX_DIMENSIONS).contains(&given) && report.is_valid(&at) {
            let problem = report.add(at, if given == 0 { "`dimensions` is empty" } else { "`dimensions` has too many entries" });
            problem.given(given.to_string()).expected(format!("1 to {MAX_DIMENSIONS}, such as `[4, 4, 4]`"));
        }
    }

    fn flow_ends(&self) -> Option<FlowEnds> {
        FlowEnds::among_hosts(self.hosts.0)
    }

    fn queues(&self) -> Vec<(&'static str, &Queue)> {
        self.links.queues()
    }

    fn make(&self, plan: &mut Plan) {
        let (fabric, access) = (self.links.between_switches(plan), self.links.to_hosts(plan));
        let sizes = self.sizes();
        let switches: usize = sizes.iter().product();
        // Consecutive switches are neighbours in the last dimension.
        let strides: Vec<usize> = (1..=sizes.len()).map(|after| sizes[after..].iter().product()).collect();
        let place = |switch: usize, dimension: usize| switch / strides[dimension] % sizes[dimension];
        for switch in 0..switches {
            let places: Vec<String> = (0..sizes.len()).map(|dimension| place(switch, dimension).to_string()).collect();
            plan.router(format!("switch{}", places.join("_")));
        }
        for switch in 0..switches {
            for (dimension, (&size, &stride)) in sizes.iter().zip(&strides).enumerate() {
                match place(switch, dimension) + 1 {
                    next if next < size => plan.between((switch, switch + stride), fabric),
                    // With two switches, the second one already has its link.
                    _ if size > 2 => plan.between((switch, switch - (size - 1) * stride), fabric),
                    _ => {}
                }
            }
        }
        let of_one = self.hosts.0 as usize;
        for number in 0..switches * of_one {
            let host = plan.host(format!("host{number}"));
            plan.between((number / of_one, host), access);
        }
    }
}
