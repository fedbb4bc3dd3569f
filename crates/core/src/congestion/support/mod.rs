//! The interface of controllers, their shared parts, user-defined controllers, and test helpers.

pub(super) mod abilities;
pub(super) mod bbr;
pub(super) mod controller;
pub(super) mod editions;
pub(super) mod events;
pub(super) mod heap_state;
pub(super) mod jiffies;
pub(super) mod least_rtt;
#[cfg(test)]
pub(super) mod model_sender;
pub(super) mod priced;
#[cfg(test)]
pub(crate) mod probe;
pub(super) mod queueing;
pub(super) mod reno_like;
pub(super) mod round;
pub(super) mod segment_count;
pub(super) mod user_controller;
pub(super) mod westwood_like;
pub(super) mod window;
pub(super) mod windowed_max;

pub(super) use abilities::{Abilities, Subscriptions};
pub(super) use controller::{Controller, Start};
pub(super) use events::{Ack, AckCounting, Cause, Congestion, Lost, RoundTrip};
