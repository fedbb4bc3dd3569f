//! The event loop: who gets which event, and what is computed ahead instead of being an event.

mod adaptation;
mod conservation;
mod engine;
mod fabric;
mod flows;
mod memory;
mod port;
mod results;
mod signals;
mod slots;
mod window;
mod workshop;

pub use conservation::ConservationError;
pub use engine::Engine;
pub use fabric::Delivery;
pub use memory::{MemoryEstimate, memory_estimate, trace_rows};
pub use results::Results;
pub use workshop::Code;
