//! `[[timeline]]`: what changes while the network runs.

use super::{Buffer, PortName};
use crate::quantity::{Duration, Probability, Rate};
use crate::record::record;
use crate::values::Name;

record! {
    /// A change at a given time, of one direction of a link or of a flow group.
    pub struct Event {
        /// When.
        at: Duration,
        /// Link that changes (`NAME`, or `NAME.reverse` for its way back).
        link: Option<PortName>,
        /// The link's new rate; the packet being sent finishes at the old one.
        rate: Option<Rate>,
        /// The link's new delay, for packets that leave from now on; they never overtake.
        delay: Option<Duration>,
        /// The link's new probability of random loss.
        loss: Option<Probability>,
        /// What the link's queue has room for from now on, in the unit of its own `buffer`, or in packets where that is a percentage. What is in it stays, but where a scheduler's queues share it: the longest makes room at the next arrival. Thresholds stay as they are.
        buffer: Option<Buffer>; "100 packets",
        /// Flow group that changes.
        group: Option<Name>,
        /// The group's new route.
        route: Option<Vec<PortName>>,
        /// The group's new return route; if not given with `route`, found as for a flow.
        return_route: Option<Vec<PortName>>,
        /// `true`: the group's `start` counts from now.
        start: bool = false,
        /// `true`: the group sends no new data from now on.
        stop: bool = false,
    }
}
