//! Routers in a row, each link with its own settings.

use super::{Disturbances, Extent, Generator, Plan, Style};
use crate::link_rate::LinkRate;
use crate::problem::Report;
use crate::quantity::Duration;
use crate::record::record;
use crate::schema::Queue;

record! {
    /// Routers in a row, each link with its own settings.
    pub struct Chain {
        /// Bit rates, link by link, or when they can send.
        rates: Vec<LinkRate>,
        /// Propagation delays, link by link; as many as there are rates.
        delays: Vec<Duration>,
        /// The queue in front of each link.
        queue: Queue,
    }
    with
    /// What every link does to packets.
    disturbances: Disturbances
}

impl Generator for Chain {
    fn extent(&self) -> Extent {
        Extent { nodes: self.rates.len() as u128 + 1, links: self.rates.len() as u128 }
    }

    fn check(&self, at: &str, report: &mut Report) {
        let (rates, delays) = (self.rates.len(), self.delays.len());
        if (rates != delays || rates == 0) && report.sound(at) {
            let problem = report.add(at, "a chain needs a rate and a delay for each link");
            problem.given(format!("{rates} rates and {delays} delays")).expected("the same number of each, at least 1");
        }
    }

    fn queues(&self) -> Vec<(&'static str, &Queue)> {
        vec![("queue", &self.queue)]
    }

    fn make(&self, _: u64, plan: &mut Plan) {
        let mut before = plan.router("n0");
        for (hop, (rate, &delay)) in (1..).zip(self.rates.iter().zip(&self.delays)) {
            let here = plan.router(format!("n{hop}"));
            let style = plan.style(self.disturbances.of(Style::new(rate.clone(), delay, &self.queue)));
            plan.link(format!("link{hop}"), (before, here), style);
            before = here;
        }
    }
}
