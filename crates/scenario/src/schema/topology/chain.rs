//! Routers in a row, with individual settings for each link.

use super::disturbances::Disturbances;
use super::generator::{Described, FlowEnds, Generator};
use super::plan::{Extent, Plan, Style};
use crate::link_rate::LinkRate;
use crate::problem::Report;
use crate::quantity::Duration;
use crate::record::record;
use crate::schema::queue::Queue;

record! {
    /// Routers in a row, with an individual rate and delay for each link.
    pub struct Chain {
        /// Bit rate or delivery trace of each link.
        rates: Vec<LinkRate>,
        /// One-way propagation delay of each link.
        delays: Vec<Duration>,
        /// Queue at the input of each link.
        queue: Queue,
    }
    with
    /// Impairments of every link.
    disturbances: Disturbances
}

impl Described for Chain {
    const NAMES: &str = "Nodes `n0`, `n1`, ... in a row, with links `link1`, `link2`, ..., each with its own rate and delay.";
    const COUNTS: &[&str] = &["rates", "delays"];
    const EXAMPLE: &str = "rates = [\"10 Mbps\", \"5 Mbps\"]\ndelays = [\"1 ms\", \"9 ms\"]\nqueue = {buffer = \"20 packets\"}";
}

impl Generator for Chain {
    fn extent(&self) -> Extent {
        Extent { nodes: self.rates.len() as u128 + 1, links: self.rates.len() as u128 }
    }

    fn check(&self, at: &str, report: &mut Report) {
        let (rates, delays) = (self.rates.len(), self.delays.len());
        if (rates != delays || rates == 0) && report.is_valid(at) {
            let problem = report.add(at, "`rates` and `delays` do not have one value per link");
            problem.given(format!("{rates} rates and {delays} delays")).expected("the same number of each, at least 1");
        }
    }

    fn flow_ends(&self) -> Option<FlowEnds> {
        FlowEnds::between("n0", format!("n{}", self.rates.len()))
    }

    fn queues(&self) -> Vec<(&'static str, &Queue)> {
        vec![("queue", &self.queue)]
    }

    fn make(&self, plan: &mut Plan) {
        let mut before = plan.router("n0");
        for (hop, (rate, &delay)) in (1..).zip(self.rates.iter().zip(&self.delays)) {
            let here = plan.router(format!("n{hop}"));
            let style = plan.style(self.disturbances.of(Style::new(rate.clone(), delay, &self.queue)));
            plan.link(format!("link{hop}"), (before, here), style);
            before = here;
        }
    }
}
