//! Virtual times of the waiting units. A unit's start and finish times are determined when it becomes the first of its queue, so units
//! discarded before it have no effect but the time since which the queue is backlogged. They ascend within a queue, so only the heads of the queues have to be compared.

use super::scheduler::DequeueReason;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, VecDeque};

/// A queue with one of its virtual times, which are non-negative, so their bits have the same order. Ties go to the first queue.
pub(in crate::schedule) type TimedQueue = (u64, usize);

pub(in crate::schedule) fn timed_queue(time: f64, queue: usize) -> TimedQueue {
    (time.to_bits(), queue)
}

/// The time by which units are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::schedule) enum ServedBy {
    Start,
    Finish,
}

/// A waiting unit, in virtual time.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::schedule) struct Waiting {
    pub arrival: f64,
    /// Bytes over weight.
    pub span: f64,
}

/// Virtual times of a unit that has left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::schedule) struct Times {
    pub start: f64,
    pub finish: f64,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Line {
    units: VecDeque<Waiting>,
    /// Finish time of the last unit sent.
    finish: f64,
}

impl Line {
    fn head(&self) -> Option<Times> {
        let unit = self.units.front()?;
        let start = self.finish.max(unit.arrival);
        Some(Times { start, finish: start + unit.span })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::schedule) struct VirtualTimes {
    served_by: ServedBy,
    lines: Vec<Line>,
    heads: BTreeSet<TimedQueue>,
}

impl VirtualTimes {
    pub(in crate::schedule) fn new(served_by: ServedBy, queues: usize) -> VirtualTimes {
        VirtualTimes { served_by, lines: vec![Line::default(); queues], heads: BTreeSet::new() }
    }

    /// The queue to serve next.
    pub(in crate::schedule) fn min(&self) -> Option<usize> {
        self.heads.first().map(|&(_, queue)| queue)
    }

    pub(in crate::schedule) fn push(&mut self, queue: usize, unit: Waiting) {
        self.lines[queue].units.push_back(unit);
        if self.lines[queue].units.len() == 1 {
            self.heads.extend(self.head(queue));
        }
    }

    /// The first unit of a queue leaves it.
    pub(in crate::schedule) fn pop(&mut self, queue: usize, reason: DequeueReason) -> Option<Times> {
        let times = self.lines[queue].head()?;
        if let Some(head) = self.head(queue) {
            self.heads.remove(&head);
        }
        let line = &mut self.lines[queue];
        let unit = line.units.pop_front()?;
        match reason {
            DequeueReason::Sent => line.finish = times.finish,
            // The queue has been backlogged since then, with one unit fewer. If the next unit began at its own arrival instead, a queue that
            // makes room at its head would never be served.
            DequeueReason::Discarded => {
                line.units.front_mut().into_iter().for_each(|next| next.arrival = next.arrival.min(unit.arrival))
            }
        }
        self.heads.extend(self.head(queue));
        Some(times)
    }

    fn head(&self, queue: usize) -> Option<TimedQueue> {
        let times = self.lines[queue].head()?;
        Some(timed_queue(if self.served_by == ServedBy::Start { times.start } else { times.finish }, queue))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_discarded_unit_does_not_delay_the_units_behind_it() {
        let mut times = VirtualTimes::new(ServedBy::Finish, 2);
        for (queue, span) in [(0, 10.0), (0, 20.0), (0, 5.0), (1, 12.0)] {
            times.push(queue, Waiting { arrival: 100.0, span });
        }
        assert_eq!(times.min(), Some(0));
        assert_eq!(times.pop(0, DequeueReason::Discarded), Some(Times { start: 100.0, finish: 110.0 }));
        // 120 against 112.
        assert_eq!(times.min(), Some(1));
        times.pop(0, DequeueReason::Discarded);
        assert_eq!(times.pop(0, DequeueReason::Sent), Some(Times { start: 100.0, finish: 105.0 }));
        // A unit sent counts for the next one, also if the queue is empty between them.
        times.push(0, Waiting { arrival: 101.0, span: 5.0 });
        assert_eq!(times.pop(0, DequeueReason::Sent), Some(Times { start: 105.0, finish: 110.0 }));
        assert_eq!((times.pop(0, DequeueReason::Sent), times.min()), (None, Some(1)));
    }
}
