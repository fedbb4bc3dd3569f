//! The path of one flow between its ends.

use super::event_order::Event;
use super::wire::Wire;
use crate::primitives::ids::{FlowId, PortId};
use crate::primitives::pooled_queue::PooledQueue;
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::Time;
use crate::tcp::receiver::Receiver;
use serde::{Deserialize, Serialize};

/// The line that a packet comes from, in which it is queued until its turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Feeder {
    Send,
    Back,
    Port(PortId),
}

impl Feeder {
    /// The event that processes the head of the line. `flow` is the flow of the packet.
    #[inline(always)]
    pub(crate) fn event(self, flow: FlowId) -> Event {
        match self {
            Feeder::Send => Event::Send(flow),
            Feeder::Back => Event::Back(flow),
            Feeder::Port(port) => Event::Port(port),
        }
    }
}

/// All state of one flow between its ends. The fields that most packets need are in the first two of three cache lines.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C, align(64))]
pub(crate) struct Path {
    pub(crate) wire: Wire,
    pub(crate) carried: DeliveryCounts,
    /// Packets from the sender to the first port.
    pub(crate) send: PooledQueue,
    /// Acknowledgements to the sender.
    pub(crate) ack_line: PooledQueue,
    /// One past the last segment of a transfer, or of the next message; [`SegmentNumber::NONE`] if there is none.
    pub(crate) complete_at: SegmentNumber,
    /// Marked packets that reached the receiver within the measurement interval.
    pub(crate) marked: u32,
    pub(crate) receiver: Receiver,
    /// Acknowledgements from the receiver to the first port of the reverse path.
    pub(crate) back: PooledQueue,
    /// Data packets to the receiver, if arrivals there are events.
    pub(crate) deliver: PooledQueue,
    pub(crate) counts: PathCounts,
}

/// Counters that each delivered packet updates.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct DeliveryCounts {
    /// Over the whole run and beyond, for the conservation check.
    pub(crate) received_in_all: u32,
    pub(crate) acks_sent_in_all: u32,
    pub(crate) acks_received_in_all: u32,
    /// Distinct segments that reached the receiver within the measurement interval.
    pub(crate) delivered: u32,
    /// Their payload.
    pub(crate) delivered_bytes: u64,
}

/// Other counters of a flow's packets between its ends, within the measurement interval unless stated otherwise.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PathCounts {
    /// Over the whole run and beyond, for the conservation check. For packets in cells, the channel counts discards.
    pub(crate) discarded_in_all: u32,
    pub(crate) acks_discarded_in_all: u32,
    /// Discarded packets that were sent within the measurement interval. The last cell of a packet in cells decides: it is discarded, or it arrives and closes an incomplete frame.
    pub(crate) discarded: u32,
    /// Duplicate segments that reached the receiver.
    pub(crate) duplicates: u32,
    /// Time at which the receiver had the whole transfer; [`Time::NEVER`] until then.
    pub(crate) completed: Time,
}

impl Path {
    /// Whether the receiver has the whole transfer, or another message.
    #[inline(always)]
    pub(crate) fn is_complete(&self) -> bool {
        self.receiver.expected >= self.complete_at
    }

    /// Reset the counters, except for the time of completion.
    pub(crate) fn forget_counts(&mut self) {
        self.carried = DeliveryCounts::default();
        self.counts = PathCounts { completed: self.counts.completed, ..PathCounts::default() };
    }

    /// Add the counters that another domain has of the same flow.
    pub(crate) fn add_counts(&mut self, other: &Path) {
        let (carried, counts) = (&mut self.carried, &mut self.counts);
        carried.received_in_all += other.carried.received_in_all;
        carried.acks_sent_in_all += other.carried.acks_sent_in_all;
        carried.acks_received_in_all += other.carried.acks_received_in_all;
        carried.delivered += other.carried.delivered;
        carried.delivered_bytes += other.carried.delivered_bytes;
        counts.discarded_in_all += other.counts.discarded_in_all;
        counts.acks_discarded_in_all += other.counts.acks_discarded_in_all;
        counts.discarded += other.counts.discarded;
        counts.duplicates += other.counts.duplicates;
        counts.completed = counts.completed.min(other.counts.completed);
    }
}

impl Default for PathCounts {
    fn default() -> PathCounts {
        PathCounts { discarded_in_all: 0, acks_discarded_in_all: 0, discarded: 0, duplicates: 0, completed: Time::NEVER }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_of_most_packets_are_in_the_first_two_of_three_cache_lines() {
        assert_eq!((size_of::<Path>(), std::mem::offset_of!(Path, receiver)), (192, 120));
    }
}
