//! The closed forms for numbers and arrays, all through one function; `tailback.models` documents them.

mod columns;
pub mod describing;
pub mod evaluating;
pub mod fast_retransmit;
pub mod trunk_simulation;
