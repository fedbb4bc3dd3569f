//! Schedulers of ports with several queues, one file each, behind one interface: which queue is served next. The port stores, its queues'
//! policies decide what they let in.

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
    /// At which the port sends, all transmitters together.
    pub rate: Rate,
    /// Nothing was being sent.
    pub begins_busy_period: bool,
}

/// A unit that was first in its queue and is so no more.
#[derive(Clone, Copy, Debug)]
pub struct Left {
    pub queue: usize,
    pub bytes: Bytes,
    pub why: Leaving,
    /// Nothing is left in the queue.
    pub is_empty: bool,
}

/// Why a unit leaves its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaving {
    Sent,
    /// Its policy discarded it, or it made room.
    Discarded,
}

/// A unit whose turn to be sent has come.
#[derive(Clone, Copy, Debug)]
pub struct Due {
    pub queue: usize,
    pub waited: Span,
    /// What waits behind it in its queue.
    pub bytes_behind: Bytes,
    /// It can carry a mark (RFC 3168).
    pub is_capable: bool,
}

/// What a scheduler that has its queues' policies in itself ([`Scheduler::MANAGES`]) decides of a unit whose turn has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Send,
    /// And mark; what cannot carry a mark is discarded.
    Mark,
    Discard,
}

/// How much is discarded of the queue that holds the most bytes, when the port has no room for what arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Room {
    /// Nothing: what arrives is refused.
    Refuses,
    /// As much as has to be.
    OfOne,
    /// Half of its units, at most so many.
    OfHalf(u32),
}

/// A scheduler. It serves whenever anything waits.
pub trait Scheduler {
    /// What happens when the port is full.
    const ROOM: Room = Room::Refuses;

    /// Whether the order of the queues says something, so that a hash cannot choose between them.
    const RANKS: bool = false;

    /// Whether weights say something.
    const WEIGHS: bool = true;

    /// Whether it decides what is marked and discarded of its queues, too, which have no policies then. They are two: of flows
    /// whose packets say that they are L4S, and of the others.
    const MANAGES: bool = false;

    fn on_joined(&mut self, joined: &Joined);

    /// The queue to be served, of those that hold something; `head` is the size of the unit that is first in a queue.
    fn next(&mut self, head: &dyn Fn(usize) -> Option<Bytes>) -> Option<usize>;

    fn on_left(&mut self, left: &Left);

    /// Only of those that manage their queues.
    fn decide(&mut self, _due: &Due) -> Decision {
        Decision::Send
    }

    /// How often [`Scheduler::on_period`] is wanted.
    fn period(&self) -> Option<Span> {
        None
    }

    fn on_period(&mut self, _now: Time) {}
}

/// Settings, states and dispatch, from one list: a new scheduler is its file and one line here.
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
            /// What happens when the port is full.
            pub fn room(&self) -> Room {
                match self { $(SchedulerSpec::$variant(_) => <$variant>::ROOM),+ }
            }

            /// Whether the order of the queues says something.
            pub fn ranks(&self) -> bool {
                match self { $(SchedulerSpec::$variant(_) => <$variant>::RANKS),+ }
            }

            /// Whether weights say something.
            pub fn weighs(&self) -> bool {
                match self { $(SchedulerSpec::$variant(_) => <$variant>::WEIGHS),+ }
            }

            /// Whether it decides what is marked and discarded, too, of two queues.
            pub fn manages(&self) -> bool {
                match self { $(SchedulerSpec::$variant(_) => <$variant>::MANAGES),+ }
            }
        }

        /// A scheduler at work.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(crate) enum Schedulers { $($variant($variant)),+ }

        impl Schedulers {
            /// `weights`: of each queue.
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
