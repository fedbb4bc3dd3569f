//! The interface of a scheduler.

use super::overflow::OverflowRule;
use crate::primitives::units::{Bytes, Rate, Time, TimeDelta};

/// A unit that joins a queue.
#[derive(Clone, Copy, Debug)]
pub struct Enqueued {
    /// Number of the queue.
    pub queue: usize,
    pub bytes: Bytes,
    pub now: Time,
    /// Rate of the port, summed over all transmitters.
    pub rate: Rate,
    /// No unit was in service.
    pub begins_busy_period: bool,
}

/// A unit that has left the head of its queue.
#[derive(Clone, Copy, Debug)]
pub struct Dequeued {
    pub queue: usize,
    pub bytes: Bytes,
    pub reason: DequeueReason,
    /// The queue is empty now.
    pub is_empty: bool,
}

/// Why a unit leaves its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DequeueReason {
    Sent,
    /// Its policy discarded it, or it was discarded to make room.
    Discarded,
}

/// A unit that is due to be sent.
#[derive(Clone, Copy, Debug)]
pub struct HeadOfLine {
    pub queue: usize,
    pub sojourn_time: TimeDelta,
    /// Bytes behind the unit in its queue.
    pub bytes_behind: Bytes,
    /// Whether the unit can carry a mark (RFC 3168).
    pub is_capable: bool,
}

/// Decision about a unit that is due, by a scheduler that includes its queues' policies ([`Scheduler::IS_AQM`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Send,
    /// Mark and send. A unit that cannot carry a mark is discarded.
    Mark,
    Discard,
}

/// The delay target of the Classic queue, and the minimum share of the link's rate that it gets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClassicTarget {
    pub target: TimeDelta,
    pub share: f64,
}

/// A scheduler. All schedulers are work-conserving.
pub trait Scheduler {
    /// Behaviour when the port is full.
    const OVERFLOW: OverflowRule = OverflowRule::Refuses;

    /// Whether the order of the queues matters, so that a hash cannot select a queue.
    const RANKS: bool = false;

    /// Whether weights have an effect.
    const USES_WEIGHTS: bool = true;

    /// Whether the scheduler also decides which units are marked and discarded, in place of policies. It has two queues: one for L4S flows,
    /// and one for the others.
    const IS_AQM: bool = false;

    /// The Classic queue's delay target, if [`Scheduler::IS_AQM`].
    fn classic_target(&self) -> Option<ClassicTarget> {
        None
    }

    fn on_enqueue(&mut self, joined: &Enqueued);

    /// The backlogged queue to serve next; `head` returns the size of a queue's first unit.
    fn next(&mut self, head: &dyn Fn(usize) -> Option<Bytes>) -> Option<usize>;

    fn on_dequeue(&mut self, left: &Dequeued);

    /// Called only if [`Scheduler::IS_AQM`].
    fn decide(&mut self, _due: &HeadOfLine) -> Decision {
        Decision::Send
    }

    /// Period of [`Scheduler::on_period`].
    fn period(&self) -> Option<TimeDelta> {
        None
    }

    fn on_period(&mut self, _now: Time) {}
}
