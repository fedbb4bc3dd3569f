//! `application = {kind = "script", ...}`: writes at given times.

use crate::quantity::Duration;
use crate::record::record;
use crate::writes::Writes;

record! {
    /// Writes at given times. Each is a message with a row in the table `messages`.
    pub struct Script {
        /// The writes in order, or the name of a CSV file with columns `at` and `size`.
        writes: Writes,
        /// Time from one repetition of all writes to the next, more than the time of the last one. Default: no repetition.
        repeat: Option<Duration>; "10 s",
    }
}

impl Script {
    pub(super) const SUMMARY: &'static str = "Writes at given times, listed or from a file, and repeated if requested.";
    pub(super) const SOURCE: &'static str = "common practice";
}
