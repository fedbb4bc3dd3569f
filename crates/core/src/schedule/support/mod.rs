//! The interface of schedulers, their shared parts, and a port for their tests.

#[cfg(test)]
pub(super) mod model_port;
pub(super) mod overflow;
pub(super) mod round_robin;
pub(super) mod scheduler;
pub(super) mod virtual_times;

pub(super) use overflow::OverflowRule;
pub(super) use scheduler::{ClassicTarget, Decision, DequeueReason, Dequeued, Enqueued, HeadOfLine, Scheduler};
