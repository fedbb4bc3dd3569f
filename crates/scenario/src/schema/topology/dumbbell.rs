//! Two routers and a bottleneck.

use super::{Extent, Generator, Plan, Style};
use crate::quantity::{Duration, Rate};
use crate::record::record;
use crate::schema::{Loss, Queue};

record! {
    /// Two routers and a bottleneck.
    pub struct Dumbbell {
        /// Bit rate of the bottleneck.
        rate: Rate,
        /// Its propagation delay, one way.
        delay: Duration,
        /// The queue in front of it.
        queue: Queue,
        /// Packets that it loses.
        loss: Option<Loss>,
    }
}

impl Generator for Dumbbell {
    fn extent(&self) -> Extent {
        Extent { nodes: 2, links: 1 }
    }

    fn queues(&self) -> Vec<(&'static str, &Queue)> {
        vec![("queue", &self.queue)]
    }

    fn make(&self, _: u64, plan: &mut Plan) {
        let ends = (plan.router("left"), plan.router("right"));
        let mut style = Style::new(self.rate, self.delay, &self.queue);
        style.link.loss = self.loss.clone();
        let style = plan.style(style);
        plan.link("bottleneck", ends, style);
    }
}
