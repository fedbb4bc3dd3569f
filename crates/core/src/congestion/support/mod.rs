//! What stands in for a controller, and what tests them.

#[cfg(test)]
pub(super) mod model_sender;
#[cfg(test)]
pub(crate) mod probe;
pub(super) mod user_controller;
