//! The event loop: who gets which event, and what is computed ahead instead of being an event.

mod adaptation;
mod conservation;
mod engine;
mod fabric;
mod flows;
pub(crate) mod port;
mod results;
mod signals;
mod slots;
mod window;

pub use conservation::ConservationError;
pub use engine::{Engine, MemoryEstimate, memory_estimate};
pub use fabric::Delivery;
pub(crate) use fabric::ack_cells;
pub use results::Results;
