//! The queues of a port that has several, and their scheduler.

use super::longest_queue::LongestQueue;
use super::queue::Queue;
use crate::network::{Buffer, BufferContent, Network, Port, Queues, Scheduling};
use crate::primitives::ids::FlowId;
use crate::primitives::packet::Packet;
use crate::primitives::random::{Entity, Purpose, Stream};
use crate::primitives::units::{Bytes, Time};
use crate::queue::{Policies, PolicySpec};
use crate::schedule::{OverflowRule, Schedulers};
use crate::simulation::measurement_interval::{MeasurementInterval, PhaseCounts};
use serde::{Deserialize, Serialize};

/// State of a port with several queues, in addition to the queues.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MultiQueue {
    pub(super) scheduler: Schedulers,
    pub(super) overflow: OverflowRule,
    pub(super) longest: LongestQueue,
    /// By queue; 1 for schedulers without weights.
    pub(super) weights: Vec<f64>,
    /// The scheduler decides which packets are marked and discarded.
    pub(super) is_aqm: bool,
    of_flows: QueuesOfFlows,
    /// Buffers of the queues, if they have their own.
    buffers: Vec<Buffer>,
    /// By class; empty without classes.
    pub(crate) classes: Vec<ClassCounts>,
}

/// In place of a queue: each packet of the flow chooses between the queue of L4S and the other.
const BY_PACKET: u32 = u32::MAX;

/// The queue of each flow that crosses the port.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct QueuesOfFlows {
    /// Flow of the first entry.
    first: FlowId,
    queues: Vec<u32>,
}

/// Counters of a class at a port.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ClassCounts {
    pub(crate) arrived: PhaseCounts,
    pub(crate) departed: PhaseCounts,
    pub(crate) departed_bytes: PhaseCounts,
    pub(crate) discarded: PhaseCounts,
    /// Units that arrived during the warm-up and were discarded within the measurement interval.
    pub(crate) discarded_of_warmup: u64,
    /// Waiting times of packets whose service began within the measurement interval, in picoseconds.
    pub(crate) waited: u128,
    pub(crate) served: u64,
}

/// Specification of a queue.
pub(crate) struct QueueSpec<'n> {
    pub(crate) policy: &'n PolicySpec,
    /// The flows of the queue, ascending.
    pub(crate) flows: Vec<FlowId>,
}

impl QueuesOfFlows {
    /// `flows`: the flows that cross the port, ascending.
    pub(crate) fn new(network: &Network, port: &Port, scheduling: &Scheduling, flows: &[FlowId]) -> QueuesOfFlows {
        let (first, last) = (flows.first().copied().unwrap_or_default(), flows.last().copied());
        let mut queues = vec![0; last.map_or(0, |last| (last - first + 1) as usize)];
        let hashes = Stream::new(Entity { seed: network.seed, name: &port.name, index: 0 }, Purpose::Queue);
        // Only queues with at least one flow are created.
        let mut made = Vec::new();
        for (number, &flow) in (0..).zip(flows) {
            queues[(flow - first) as usize] = match &scheduling.queues {
                Queues::OfFlows => number,
                Queues::Hashed(count) => {
                    let hash = hashes.bits(flow.0.into()) % u64::from(*count);
                    let known = made.iter().position(|&known| known == hash);
                    known.unwrap_or_else(|| {
                        made.push(hash);
                        made.len() - 1
                    }) as u32
                }
                Queues::OfClasses(_, of_classes) => {
                    let class = network.groups[network.flows[flow].group].class;
                    of_classes.get(class as usize).copied().flatten().unwrap_or(0)
                }
                Queues::L4sAndClassic if network.groups[network.flows[flow].group].l4s => 0,
                Queues::L4sAndClassic if network.is_external(flow) => BY_PACKET,
                Queues::L4sAndClassic => 1,
            };
        }
        QueuesOfFlows { first, queues }
    }

    fn of(&self, flow: FlowId) -> u32 {
        self.queues[(flow - self.first) as usize]
    }

    /// All queues with their flows.
    pub(crate) fn specs<'n>(&self, port: &'n Port, scheduling: &'n Scheduling, flows: &[FlowId]) -> Vec<QueueSpec<'n>> {
        let policies: Vec<&PolicySpec> = match &scheduling.queues {
            Queues::OfClasses(classes, _) => classes.iter().map(|class| &class.policy).collect(),
            Queues::L4sAndClassic => vec![&port.policy; 2],
            Queues::OfFlows | Queues::Hashed(_) => {
                vec![&port.policy; self.queues.iter().max().map_or(1, |last| *last as usize + 1)]
            }
        };
        let mut specs: Vec<QueueSpec> = policies.into_iter().map(|policy| QueueSpec { policy, flows: Vec::new() }).collect();
        for &flow in flows {
            match self.of(flow) {
                BY_PACKET => specs.iter_mut().for_each(|spec| spec.flows.push(flow)),
                queue => specs[queue as usize].flows.push(flow),
            }
        }
        specs
    }
}

impl MultiQueue {
    /// Memory of a queue: its policy, its line, and its entries in the scheduler and the list of flows.
    pub(crate) const BYTES_PER_QUEUE: usize = size_of::<Policies>() + size_of::<Queue>() + 128;

    pub(crate) fn new(scheduling: &Scheduling, of_flows: QueuesOfFlows, queues: usize) -> MultiQueue {
        let Scheduling { scheduler, queues: kind } = scheduling;
        let (mut weights, buffers, classes): (Vec<f64>, _, _) = match kind {
            Queues::OfClasses(of_classes, _) => (
                of_classes.iter().map(|class| class.weight).collect(),
                of_classes.iter().map(|class| class.buffer).collect(),
                vec![ClassCounts::default(); queues],
            ),
            Queues::L4sAndClassic => (vec![1.0; queues], Vec::new(), vec![ClassCounts::default(); queues]),
            Queues::OfFlows | Queues::Hashed(_) => (vec![1.0; queues], Vec::new(), Vec::new()),
        };
        let of_scheduler = Schedulers::new(scheduler, &weights);
        if !scheduler.uses_weights() {
            weights.fill(1.0);
        }
        MultiQueue {
            scheduler: of_scheduler,
            overflow: scheduler.overflow(),
            longest: LongestQueue::new(queues),
            weights,
            is_aqm: scheduler.is_aqm(),
            of_flows,
            buffers,
            classes,
        }
    }

    pub(super) fn queue_of(&self, packet: &Packet) -> usize {
        match self.of_flows.of(packet.flow) {
            BY_PACKET => usize::from(!packet.is_l4s()),
            queue => queue as usize,
        }
    }

    /// Whether the queue's own buffer has no room for another unit.
    pub(super) fn is_full(&self, queue: usize, content: BufferContent, bytes: Bytes) -> bool {
        self.buffers.get(queue).is_some_and(|buffer| buffer.lacks_room(content, bytes))
    }
}

impl ClassCounts {
    pub(super) fn count_service(
        &mut self,
        arrival: Time,
        [start, departure]: [Time; 2],
        bytes: Bytes,
        interval: &MeasurementInterval,
    ) {
        let part = interval.part(departure);
        self.departed.add(part, 1);
        self.departed_bytes.add(part, bytes.0);
        if interval.measures(start) {
            self.waited += u128::from(start.since(arrival).0);
            self.served += 1;
        }
    }
}
