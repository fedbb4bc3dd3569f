//! The event loop. It dispatches events and computes hops ahead of time where that replaces an event.

mod adaptation;
mod border;
mod common;
mod conservation;
mod edge;
mod engine;
mod event_order;
mod fabric;
mod facts;
mod hosts;
mod memory;
mod parallel;
mod path;
mod port;
mod receivers;
mod results;
mod routes;
mod senders;
mod signals;
mod watching;
mod window;
mod wire;
mod wiring;
mod workshop;

pub use common::{Became, Fate};
pub use conservation::ConservationError;
pub use engine::Engine;
pub use memory::{MemoryEstimate, memory_estimate, trace_rows};
pub use parallel::{Indivisible, ParallelEngine};
pub use results::Results;
pub use watching::{Place, PortState, Seen, SenderState};
pub use workshop::Code;
