//! Output of a run: tables of counters, always; traces, if requested.

mod ack_record;
mod columns;
mod flow_names;
mod flows;
mod packets;
pub(crate) mod recorder;
mod table;

pub(crate) use ack_record::AckRecord;
pub use columns::{Described, TABLES, tables_markdown};
pub(crate) use flow_names::FlowNames;
pub(crate) use table::named;
pub use table::{Column, Table};
