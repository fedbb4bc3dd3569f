//! The event loop. It dispatches events and computes hops ahead of time where that replaces an event.

mod adaptation;
mod conservation;
mod domain_boundary;
mod edge;
mod endpoints;
mod engine;
mod event_order;
mod fabric;
mod group_profile;
mod hosts;
mod inspection;
mod measurement_interval;
mod memory;
mod parallel;
mod path;
mod port;
mod prefetch;
mod receivers;
mod results;
mod routes;
mod senders;
mod signals;
mod sim_state;
mod specialised;
mod state;
mod user_code_factory;
mod wire;
mod wiring;

pub use conservation::ConservationError;
pub use inspection::{PacketInFlight, PacketLocation, PortState, SenderState};
pub use memory::{MemoryEstimate, memory_estimate, trace_rows};
pub use parallel::{NotParallel, ParallelEngine};
pub use results::Results;
pub use sim_state::{DatagramContents, DatagramOutcome, Fate};
pub use state::Engine;
pub use user_code_factory::Code;
