//! What a run leaves behind: tables of counters, always; traces, where asked for.

mod columns;
mod flows;
mod packets;
pub(crate) mod recorder;
mod table;

pub use columns::{Described, TABLES, tables_markdown};
pub use table::{Column, Table};
