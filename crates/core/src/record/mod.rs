//! What a run leaves behind: tables of counters, always; traces, where asked for.

pub(crate) mod estimate;
pub(crate) mod recorder;
mod table;

pub use estimate::trace_rows;
pub use table::{Column, Table};
