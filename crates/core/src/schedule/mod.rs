//! Schedulers of ports with several queues, one file each, behind one interface: which queue is served next. The port stores the packets,
//! and the queues' policies decide which ones are accepted.

mod support;

pub use support::overflow::{Backlog, Eviction, OverflowRule};
pub use support::scheduler::{ClassicTarget, Decision, DequeueReason, Dequeued, Enqueued, HeadOfLine, Scheduler};

use crate::primitives::units::{Bytes, Time, TimeDelta};
use crate::settings::{Named, dispatch, family};
use serde::{Deserialize, Serialize};

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
            pub fn overflow(&self) -> OverflowRule {
                match self { $(SchedulerSpec::$variant(_) => <$variant>::OVERFLOW),+ }
            }

            /// Whether the order of the queues matters.
            pub fn ranks(&self) -> bool {
                match self { $(SchedulerSpec::$variant(_) => <$variant>::RANKS),+ }
            }

            /// Whether weights have an effect.
            pub fn uses_weights(&self) -> bool {
                match self { $(SchedulerSpec::$variant(_) => <$variant>::USES_WEIGHTS),+ }
            }

            /// Whether the scheduler also decides which units of two queues are marked and discarded.
            pub fn is_aqm(&self) -> bool {
                match self { $(SchedulerSpec::$variant(_) => <$variant>::IS_AQM),+ }
            }
        }

        impl SchedulerSpec {
            /// The Classic queue's delay target, if the scheduler decides for two queues.
            pub fn classic_target(&self) -> Option<ClassicTarget> {
                match self { $(SchedulerSpec::$variant(spec) => <$variant>::new(spec, &[1.0; 2]).classic_target()),+ }
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

            dispatch! { [Schedulers: $($variant),+]
                pub(crate) fn on_enqueue(&mut self, joined: &Enqueued);
                pub(crate) fn next(&mut self, head: &dyn Fn(usize) -> Option<Bytes>) -> Option<usize>;
                pub(crate) fn on_dequeue(&mut self, left: &Dequeued);
                pub(crate) fn decide(&mut self, due: &HeadOfLine) -> Decision;
                pub(crate) fn period(&self) -> Option<TimeDelta>;
                pub(crate) fn on_period(&mut self, now: Time);
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
