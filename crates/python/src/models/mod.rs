//! The closed forms over numbers and arrays; `tailback.models` documents them.

mod columns;
pub mod queues;
pub mod sizing;
pub mod tcp;
mod through;
pub mod trunk;
