//! Deficit round robin: in its turn a queue may send its quantum of bytes plus its deficit from earlier turns (Shreedhar and Varghese,
//! 1995). When there is no room, the queue with the largest backlog for its weight makes room.
//!
//! Differs: the queue with the smallest weight gets the quantum, and the others get multiples in proportion to their weights, whereas the
//! paper gives each queue its own quantum. The paper discards from the queue with the most bytes. A queue keeps its turn if a packet arrives
//! while its last one is being sent; otherwise, an overloaded queue in a buffer of few packets would lose its turns.

use super::support::round_robin::ActiveList;
use super::support::{DequeueReason, Dequeued, Enqueued, OverflowRule, Scheduler};
use crate::primitives::units::Bytes;
use crate::settings::{Kind, Settings, member};
use serde::{Deserialize, Serialize};

pub(super) const QUANTUM: Kind = Kind::Bytes { min: 64, max: 1_000_000 };

member! {
    /// Deficit round robin: a quantum of bytes per turn, in proportion to each queue's share. On overflow the queue with the largest
    /// backlog for its share loses packets.
    Drr = "drr", "Shreedhar and Varghese (1995), Efficient Fair Queueing using Deficit Round Robin";

    pub struct DrrSpec {
        /// Quantum per turn of the queue with the smallest share, in bytes.
        quantum: u32 = 1500 => QUANTUM,
    }
}

impl Settings for DrrSpec {
    fn samples() -> Vec<DrrSpec> {
        [1500, 64, 9000].map(|quantum| DrrSpec { quantum }).into()
    }
}

/// Quantum of each queue in bytes: that of the queue with the smallest weight, in proportion to the weights.
pub(super) fn quanta(quantum: u32, weights: &[f64]) -> Vec<u64> {
    let min = weights.iter().copied().fold(f64::INFINITY, f64::min);
    weights.iter().map(|weight| (f64::from(quantum) * weight / min).round() as u64).collect()
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Drr {
    /// The paper's ActiveList.
    active: ActiveList,
    quanta: Vec<u64>,
    deficits: Vec<u64>,
    is_active: Vec<bool>,
    /// The first queue of the row has received its quantum.
    is_served: bool,
}

impl Drr {
    pub(super) fn new(spec: &DrrSpec, weights: &[f64]) -> Drr {
        Drr {
            active: ActiveList::default(),
            quanta: quanta(spec.quantum, weights),
            deficits: vec![0; weights.len()],
            is_active: vec![false; weights.len()],
            is_served: false,
        }
    }
}

impl Scheduler for Drr {
    const OVERFLOW: OverflowRule = OverflowRule::LargestShare;

    fn on_enqueue(&mut self, joined: &Enqueued) {
        if !std::mem::replace(&mut self.is_active[joined.queue], true) {
            self.active.push(joined.queue);
        }
    }

    fn next(&mut self, head: &dyn Fn(usize) -> Option<Bytes>) -> Option<usize> {
        loop {
            let queue = self.active.front()?;
            let Some(bytes) = head(queue) else {
                self.active.pop();
                (self.is_active[queue], self.deficits[queue], self.is_served) = (false, 0, false);
                continue;
            };
            if !std::mem::replace(&mut self.is_served, true) {
                self.deficits[queue] += self.quanta[queue];
            }
            if bytes.0 <= self.deficits[queue] {
                return Some(queue);
            }
            self.active.rotate();
            self.is_served = false;
        }
    }

    fn on_dequeue(&mut self, left: &Dequeued) {
        if left.reason == DequeueReason::Sent {
            // A packet that finds an idle transmitter is sent without a turn.
            self.deficits[left.queue] = self.deficits[left.queue].saturating_sub(left.bytes.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::SchedulerSpec;
    use crate::schedule::support::model_port::{ModelPort, fairness, overload, overload_of_mixed_sizes};

    #[test]
    fn the_papers_figures_2_and_3() {
        // Packets 20, 750, 200 | 500, 500 | 200, 600, 100 | 50, 700, 180 bytes, written from the tail to the head; a quantum of 500.
        let mut port = ModelPort::new(&SchedulerSpec::Drr(DrrSpec { quantum: 500 }), &[1.0; 4]);
        let queues: [&[u64]; 4] = [&[200, 750, 20], &[500, 500], &[100, 600, 200], &[180, 700, 50]];
        for (queue, sizes) in queues.iter().enumerate() {
            sizes.iter().for_each(|&bytes| port.store(queue, bytes));
        }
        // Round 1: 200 of queue 1, which keeps 300; 500 of queue 2; 100 of 3 (400 left); 180 of 4 (320 left). Round 2: 750 and 20 of 800;
        // 500; 600 and 200 of 900; 700 and 50 of 820.
        assert_eq!(port.send_all(), [0, 1, 2, 3, 0, 0, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn backlogged_queues_differ_by_less_than_a_quantum_and_a_unit_for_each_weight() {
        // Shreedhar and Varghese, lemma 2 and theorem 4: after m turns of both, each has sent m quanta, less at most a packet; and one is
        // at most one turn ahead.
        fairness(&SchedulerSpec::Drr(DrrSpec { quantum: 1500 }), 1500.0);
    }

    #[test]
    fn overloaded_queues_that_share_a_buffer_do_so_too() {
        overload(&SchedulerSpec::Drr(DrrSpec { quantum: 1500 }), 1500.0);
        overload_of_mixed_sizes(&SchedulerSpec::Drr(DrrSpec { quantum: 1500 }), 1500.0);
    }
}
