//! The interface of policies, their shared parts, user-defined policies, and test helpers.

pub(crate) mod flow_records;
pub(super) mod frame;
#[cfg(test)]
pub(super) mod model_buffer;
pub(super) mod policy;
#[cfg(test)]
pub(crate) mod probe;
pub(super) mod user_policy;

pub(super) use policy::{Departure, DropReason, Occupancy, Onset, OnsetThreshold, PeriodEnd, Policy, Unit, Verdict};
