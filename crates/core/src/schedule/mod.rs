//! Schedulers of ports with several queues, one file each, behind one interface: which queue is served next. The port stores, its queues'
//! policies decide what they let in.

#[cfg(test)]
mod model_port;
mod round_robin;
mod tags;

use crate::primitives::units::{Bytes, Rate, Time};
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

    fn on_joined(&mut self, joined: &Joined);

    /// The queue to be served, of those that hold something; `head` is the size of the unit that is first in a queue.
    fn next(&mut self, head: &dyn Fn(usize) -> Option<Bytes>) -> Option<usize>;

    fn on_left(&mut self, left: &Left);
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
}
