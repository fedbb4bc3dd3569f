//! What controllers share, what stands in for one, and what tests them.

pub(super) mod beside;
pub(super) mod lately;
#[cfg(test)]
pub(super) mod model_sender;
pub(super) mod priced;
#[cfg(test)]
pub(crate) mod probe;
pub(super) mod user_controller;
