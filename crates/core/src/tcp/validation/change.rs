//! What the rules of window validation read, and the change that they request.

use crate::primitives::units::{Cwnd, Time, TimeDelta};

/// The moment at which an acknowledgement arrives.
pub(in crate::tcp) struct Moment {
    pub now: Time,
    pub window: Cwnd,
    /// The averaged RTT, if there is one.
    pub rtt: Option<TimeDelta>,
}

/// A reduction of a window that was not in use.
pub(in crate::tcp) struct Limit {
    /// The slow-start threshold is raised to this.
    pub threshold: Option<Cwnd>,
    pub window: Cwnd,
}
