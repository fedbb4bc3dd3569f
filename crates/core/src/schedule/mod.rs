//! Schedulers of ports with several queues, one file each, behind one interface: which queue is served next. The port stores the packets,
//! and the queues' policies decide which ones are accepted.

#[cfg(test)]
mod model_port;
mod round_robin;
mod tags;

use crate::primitives::units::{Bytes, Rate, Span, Time};
use crate::settings::{Named, family};
use serde::{Deserialize, Serialize};

/// A unit that joins a queue.
#[derive(Clone, Copy, Debug)]
pub struct Joined {
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
pub struct Left {
    pub queue: usize,
    pub bytes: Bytes,
    pub why: Leaving,
    /// The queue is empty now.
    pub is_empty: bool,
}

/// Why a unit leaves its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaving {
    Sent,
    /// Its policy discarded it, or it was discarded to make room.
    Discarded,
}

/// A unit that is due to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Due {
    pub queue: usize,
    pub waited: Span,
    /// Bytes behind the unit in its queue.
    pub bytes_behind: Bytes,
    /// Whether the unit can carry a mark (RFC 3168).
    pub is_capable: bool,
}

/// Decision about a unit that is due, by a scheduler that includes its queues' policies ([`Scheduler::MANAGES`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Send,
    /// Mark and send. A unit that cannot carry a mark is discarded.
    Mark,
    Discard,
}

/// Number of units discarded from the queue with the most bytes when the port has no room for an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Room {
    /// None: the arrival is refused.
    Refuses,
    /// As many as necessary.
    OfOne,
    /// Half of its units, up to this number.
    OfHalf(u32),
}

/// A scheduler. All schedulers are work-conserving.
pub trait Scheduler {
    /// Behaviour when the port is full.
    const ROOM: Room = Room::Refuses;

    /// Whether the order of the queues matters, so that a hash cannot select a queue.
    const RANKS: bool = false;

    /// Whether weights have an effect.
    const WEIGHS: bool = true;

    /// Whether the scheduler also decides which units are marked and discarded, in place of policies. It has two queues: one for L4S flows,
    /// and one for the others.
    const MANAGES: bool = false;

    fn on_joined(&mut self, joined: &Joined);

    /// The backlogged queue to serve next; `head` returns the size of a queue's first unit.
    fn next(&mut self, head: &dyn Fn(usize) -> Option<Bytes>) -> Option<usize>;

    fn on_left(&mut self, left: &Left);

    /// Called only if [`Scheduler::MANAGES`].
    fn decide(&mut self, _due: &Due) -> Decision {
        Decision::Send
    }

    /// Period of [`Scheduler::on_period`].
    fn period(&self) -> Option<Span> {
        None
    }

    fn on_period(&mut self, _now: Time) {}
}

/// Settings, states and dispatch, generated from one list: a new scheduler is a file and one line here.
macro_rules! schedulers {
    ($($module:ident::$member:ident,)+) => {
        $(mod $module; pub use $module::*;)+

        family!(SchedulerSpec { $($member),+ } nameless {});

        schedulers!(@types $($member(<$member as Named>::Spec),)+);
    };
    (@types $($variant:ident($spec:ty),)+) => {
        /// A scheduler's settings.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum SchedulerSpec { $($variant($spec)),+ }

        impl SchedulerSpec {
            /// Behaviour when the port is full.
            pub fn room(&self) -> Room {
                match self { $(SchedulerSpec::$variant(_) => <$variant>::ROOM),+ }
            }

            /// Whether the order of the queues matters.
            pub fn ranks(&self) -> bool {
                match self { $(SchedulerSpec::$variant(_) => <$variant>::RANKS),+ }
            }

            /// Whether weights have an effect.
            pub fn weighs(&self) -> bool {
                match self { $(SchedulerSpec::$variant(_) => <$variant>::WEIGHS),+ }
            }

            /// Whether the scheduler also decides which units of two queues are marked and discarded.
            pub fn manages(&self) -> bool {
                match self { $(SchedulerSpec::$variant(_) => <$variant>::MANAGES),+ }
            }
        }

        /// A scheduler's state.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(crate) enum Schedulers { $($variant($variant)),+ }

        impl Schedulers {
            /// `weights`: one per queue.
            pub(crate) fn new(spec: &SchedulerSpec, weights: &[f64]) -> Schedulers {
                match spec { $(SchedulerSpec::$variant(spec) => Schedulers::$variant(<$variant>::new(spec, weights))),+ }
            }

            pub(crate) fn on_joined(&mut self, joined: &Joined) {
                match self { $(Schedulers::$variant(scheduler) => scheduler.on_joined(joined)),+ }
            }

            pub(crate) fn next(&mut self, head: &dyn Fn(usize) -> Option<Bytes>) -> Option<usize> {
                match self { $(Schedulers::$variant(scheduler) => scheduler.next(head)),+ }
            }

            pub(crate) fn on_left(&mut self, left: &Left) {
                match self { $(Schedulers::$variant(scheduler) => scheduler.on_left(left)),+ }
            }

            pub(crate) fn decide(&mut self, due: &Due) -> Decision {
                match self { $(Schedulers::$variant(scheduler) => scheduler.decide(due)),+ }
            }

            pub(crate) fn period(&self) -> Option<Span> {
                match self { $(Schedulers::$variant(scheduler) => scheduler.period()),+ }
            }

            pub(crate) fn on_period(&mut self, now: Time) {
                match self { $(Schedulers::$variant(scheduler) => scheduler.on_period(now)),+ }
            }
        }
    };
}

schedulers! {
    fifo::Fifo,
    strict_priority::StrictPriority,
    drr::Drr,
    wfq::Wfq,
    start_time_fair::StartTimeFair,
    sfq::Sfq,
    flow_queue::FlowQueue,
    dual_pi2::DualPi2,
}
