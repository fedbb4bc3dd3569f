//! The event loop: who gets which event, and what is computed ahead instead of being an event.

mod conservation;
mod engine;
mod flows;
pub(crate) mod port;
mod results;
mod slots;
mod window;

pub use conservation::ConservationError;
pub use engine::{Delivery, Engine, memory_estimate};
pub use results::Results;
