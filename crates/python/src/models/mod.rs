//! The closed forms over numbers and arrays; `tailback.models` documents them.

pub mod closed_loop;
mod columns;
pub mod queues;
pub mod sizing;
pub mod tcp;
pub mod trunk;
pub mod trunk_simulation;
