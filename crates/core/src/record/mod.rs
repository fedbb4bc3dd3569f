//! Output of a run: tables of counters, always; traces, if requested.

mod columns;
mod flows;
mod packets;
pub(crate) mod recorder;
mod table;

pub use columns::{Described, TABLES, tables_markdown};
pub use table::{Column, Table};
