//! A link of a graph.

use crate::quantity::{Duration, Rate};
use crate::record::record;
use crate::values::Name;

record! {
    /// A link.
    pub struct Edge {
        /// Node at which the link starts.
        from: Name,
        /// Node at which the link ends.
        to: Name,
        /// Name. Default: `FROM-TO`, and `FROM-TO_2` and so on for further links between the same nodes.
        name: Option<Name>,
        /// Bit rate.
        rate: Option<Rate>,
        /// One-way propagation delay.
        delay: Option<Duration>,
        /// Create a reverse link.
        duplex: bool = true,
    }
}
