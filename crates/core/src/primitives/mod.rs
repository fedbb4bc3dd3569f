//! Foundations that do not depend on networks: units, random streams, packets in lines, and the calendar.

mod bit_set;
pub mod calendar;
pub mod histogram;
pub mod ids;
pub mod math;
pub mod packet;
pub mod pooled_queue;
pub mod prefetch;
pub mod random;
pub(crate) mod ring;
pub mod rm_cell;
pub mod segment_number;
pub mod signal;
pub mod sizes;
pub mod token_bucket;
pub mod units;
