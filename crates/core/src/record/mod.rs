//! What a run leaves behind: tables of counters, always; traces, where asked for.

mod packets;
pub(crate) mod recorder;
mod table;

pub use table::{Column, Table};
