//! Two routers and a bottleneck.

use super::generator::{Described, FlowEnds, Generator};
use super::plan::{Extent, Plan, Style};
use crate::link_rate::LinkRate;
use crate::probability::Probability;
use crate::quantity::{Duration, Size};
use crate::record::record;
use crate::schema::link::{Jitter, Loss, Reverse};
use crate::schema::queue::Queue;

record! {
    /// Two routers and a bottleneck.
    pub struct Dumbbell {
        /// Bit rate of the bottleneck, or a delivery trace.
        rate: LinkRate,
        /// One-way propagation delay of the bottleneck.
        delay: Duration,
        /// Queue of the bottleneck.
        queue: Queue,
        /// Losses that do not depend on the queue.
        loss: Option<Loss>,
        /// Random delay added for each packet.
        jitter: Option<Jitter>,
        /// Probability that a packet that is not lost is duplicated.
        duplication: Probability = Probability(0.0),
        /// Largest packet that the bottleneck carries in both directions, with its IP header; larger ones are discarded. Default: no limit.
        mtu: Option<Size>; "1400 B",
        /// Settings of the reverse link that differ.
        reverse: Option<Reverse>,
    }
}

impl Described for Dumbbell {
    const NAMES: &str = "Nodes `left` and `right` and the link `bottleneck` between them.";
    const COUNTS: &[&str] = &[];
    const EXAMPLE: &str = "rate = \"10 Mbps\"\ndelay = \"10 ms\"\nqueue = {buffer = \"20 packets\"}";
}

impl Generator for Dumbbell {
    fn extent(&self) -> Extent {
        Extent { nodes: 2, links: 1 }
    }

    fn flow_ends(&self) -> Option<FlowEnds> {
        FlowEnds::between("left", "right")
    }

    fn queues(&self) -> Vec<(&'static str, &Queue)> {
        let back = self.reverse.as_ref().and_then(|reverse| reverse.queue.as_ref());
        std::iter::once(("queue", &self.queue)).chain(back.map(|queue| ("reverse.queue", queue))).collect()
    }

    fn make(&self, plan: &mut Plan) {
        let ends = (plan.router("left"), plan.router("right"));
        let mut style = Style::new(self.rate.clone(), self.delay, &self.queue);
        style.link.loss = self.loss.clone();
        style.link.jitter = self.jitter.clone();
        style.link.duplication = self.duplication;
        style.link.mtu = self.mtu;
        style.link.reverse = self.reverse.clone();
        style.queues = ["queue", "reverse.queue"];
        let style = plan.style(style);
        plan.link("bottleneck", ends, style);
    }
}
