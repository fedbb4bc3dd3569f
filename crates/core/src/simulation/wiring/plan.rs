//! Start and size of a flow.

use crate::network::{Flow, Network};
use crate::primitives::units::{Bytes, Time, TimeDelta};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct FlowPlan {
    pub(crate) start: Time,
    /// Payload; the largest number for a greedy flow.
    pub(crate) size: Bytes,
    /// The value of [`Network::base_rtt`].
    pub(crate) base_rtt: TimeDelta,
}

impl FlowPlan {
    pub(crate) fn of(flow: &Flow, network: &Network) -> FlowPlan {
        FlowPlan { start: flow.start, size: flow.size.unwrap_or(Bytes(u64::MAX)), base_rtt: network.base_rtt(flow) }
    }
}
