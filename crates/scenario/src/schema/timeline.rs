//! `[[timeline]]`: changes during the run.

use super::flow::PortName;
use crate::buffer::Buffer;
use crate::probability::Probability;
use crate::quantity::{Duration, Rate};
use crate::record::record;
use crate::values::Name;

record! {
    /// A change at a given time, of one direction of a link or of a flow group.
    pub struct Event {
        /// Time of the change.
        at: Duration,
        /// Link that changes (`NAME`, or `NAME.reverse` for the reverse link).
        link: Option<PortName>,
        /// New rate of the link. A packet in transmission finishes at the old rate.
        rate: Option<Rate>,
        /// New delay of the link, for packets sent from now on. Packets stay in order.
        delay: Option<Duration>,
        /// New probability of random loss; of a failed link, when it works again.
        loss: Option<Probability>,
        /// The link fails: packets that it sends from now on are lost, in both directions.
        down: bool = false,
        /// The failed link works again.
        up: bool = false,
        /// With `down` and `up`: time after which flows without a given route take another path around failed links, or return to their own. Default: with `down` they stay, with `up` they return at once.
        reroute_after: Option<Duration>,
        /// New buffer of the link's queue, in the unit of its `buffer`, or in packets if that is a percentage. Queued packets stay; with a
        /// scheduler, the longest queue makes room at the next arrival. Thresholds do not change.
        buffer: Option<Buffer>; "100 packets",
        /// Flow group that changes.
        group: Option<Name>,
        /// New route of the group.
        route: Option<Vec<PortName>>,
        /// New return route of the group. Default with `route`: as for a flow.
        return_route: Option<Vec<PortName>>,
        /// Start the group: its `start` counts from this time.
        start: bool = false,
        /// Stop the group: it sends no new data from this time on.
        stop: bool = false,
        /// A NAT forgets the senders of the group, which must have a `stack`: their packets leave with another source port from now on, and
        /// packets to the old port are lost.
        rebind: bool = false,
    }
}
