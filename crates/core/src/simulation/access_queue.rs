//! The queues in front of the access links of a flow, which no scenario describes: that of the sender, and that of the network in front of the
//! receiver.

use super::wire::ServiceTimeCache;
use crate::network::{Flow, Network, Transport};
use crate::primitives::units::{Bytes, Rate, Segments, Time};
use crate::traffic::Arrivals;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Maximum number of queued packets, without the one in transmission: that of an interface in Linux (`DEFAULT_TX_QUEUE_LEN`).
const MAX_PACKETS: usize = 1000;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AccessQueues {
    pub(crate) send: AccessQueue,
    pub(crate) receive: AccessQueue,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct AccessQueue {
    /// `None`: the queue is never full.
    rate: Option<Rate>,
    service: ServiceTimeCache,
    free: Time,
    /// Starts of the transmissions of queued packets.
    starts: VecDeque<Time>,
}

impl AccessQueues {
    /// The queues of each flow, or an empty list if none can be full. Real packets of external flows are not limited.
    pub(crate) fn of(network: &Network) -> Vec<AccessQueues> {
        let may_fill = |flow: &Flow| match &network.groups[flow.group].transport {
            Transport::Tcp(spec, _) => spec.receiver_window > Segments(MAX_PACKETS as u32),
            Transport::Datagram(spec) => !matches!(spec.arrivals, Arrivals::External),
        };
        let rates =
            |flow: &Flow| [&flow.sender_access, &flow.receiver_access].map(|access| access.rate.filter(|_| may_fill(flow)));
        if network.flows.iter().all(|flow| rates(flow) == [None; 2]) {
            return Vec::new();
        }
        let of_flow = |flow: &Flow| {
            let [send, receive] = rates(flow).map(AccessQueue::new);
            AccessQueues { send, receive }
        };
        network.flows.iter().map(of_flow).collect()
    }
}

impl AccessQueue {
    fn new(rate: Option<Rate>) -> AccessQueue {
        AccessQueue { rate, service: ServiceTimeCache::default(), free: Time::ZERO, starts: VecDeque::new() }
    }

    /// A packet arrives. Returns whether there is room for it.
    pub(crate) fn arrive(&mut self, time: Time, bytes: Bytes) -> bool {
        let Some(rate) = self.rate else { return true };
        if self.free <= time {
            self.starts.clear();
            self.free = time + self.service.of(bytes, || rate);
            return true;
        }
        while self.starts.pop_front_if(|start| *start <= time).is_some() {}
        if self.starts.len() >= MAX_PACKETS {
            return false;
        }
        self.starts.push_back(self.free);
        self.free += self.service.of(bytes, || rate);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::units::TimeDelta;

    #[test]
    fn a_thousand_packets_wait_behind_the_one_in_transmission() {
        let mut queue = AccessQueue::new(Some(Rate(8_000_000)));
        let at = |ms| Time(TimeDelta::from_millis(ms).0);
        assert_eq!((0..1005).filter(|_| queue.arrive(at(0), Bytes(1000))).count(), 1001);
        // A packet takes a millisecond.
        assert_eq!([1, 1, 2].map(|ms| queue.arrive(at(ms), Bytes(1000))), [true, false, true]);
    }
}
