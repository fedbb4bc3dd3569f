//! Shared parts of policies, user-defined policies, and test helpers.

pub(crate) mod flow_records;
pub(super) mod frame;
#[cfg(test)]
pub(super) mod model_buffer;
#[cfg(test)]
pub(crate) mod probe;
pub(super) mod user_policy;
