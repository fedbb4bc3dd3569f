//! A cluster that mines data.

use super::{Sizes, Workload};

/// A packet of the points that pFabric gives for it. In these units the mean is 5117.
const PACKET: u64 = 1460;

pub(super) const WORKLOAD: Workload = Workload {
    name: "data_mining",
    source: "a cluster that mines data: Greenberg and others, \"VL2: a scalable and flexible data center network\", SIGCOMM 2009, by the \
             points that are in use since pFabric (SIGCOMM 2013), in packets of 1460 bytes",
    sizes: Sizes::Interpolated(&[
        (PACKET, 0.5),
        (2 * PACKET, 0.6),
        (3 * PACKET, 0.7),
        (7 * PACKET, 0.8),
        (267 * PACKET, 0.9),
        (2107 * PACKET, 0.95),
        (66_667 * PACKET, 0.99),
        (666_667 * PACKET, 1.0),
    ]),
};
