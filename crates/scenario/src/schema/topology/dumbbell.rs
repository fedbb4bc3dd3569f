//! Two routers and a bottleneck.

use super::{Extent, Generator, Plan, Style};
use crate::link_rate::LinkRate;
use crate::quantity::{Duration, Probability};
use crate::record::record;
use crate::schema::{Jitter, Loss, Queue, Reverse};

record! {
    /// Two routers and a bottleneck.
    pub struct Dumbbell {
        /// Bit rate of the bottleneck, or when it can send.
        rate: LinkRate,
        /// Its propagation delay, one way.
        delay: Duration,
        /// The queue in front of it.
        queue: Queue,
        /// Packets that it loses.
        loss: Option<Loss>,
        /// A random addition to its delay.
        jitter: Option<Jitter>,
        /// Probability that a packet which it does not lose arrives twice.
        duplication: Probability = Probability(0.0),
        /// What differs on the way back, which has an unlimited queue otherwise.
        reverse: Option<Reverse>,
    }
}

impl Generator for Dumbbell {
    fn extent(&self) -> Extent {
        Extent { nodes: 2, links: 1 }
    }

    fn queues(&self) -> Vec<(&'static str, &Queue)> {
        let back = self.reverse.as_ref().and_then(|reverse| reverse.queue.as_ref());
        std::iter::once(("queue", &self.queue)).chain(back.map(|queue| ("reverse.queue", queue))).collect()
    }

    fn make(&self, _: u64, plan: &mut Plan) {
        let ends = (plan.router("left"), plan.router("right"));
        let mut style = Style::new(self.rate.clone(), self.delay, &self.queue);
        style.link.loss = self.loss.clone();
        style.link.jitter = self.jitter.clone();
        style.link.duplication = self.duplication;
        style.link.reverse = self.reverse.clone();
        style.queues = ["queue", "reverse.queue"];
        let style = plan.style(style);
        plan.link("bottleneck", ends, style);
    }
}
