//! The way of one flow between its ends.

use super::wire::Wire;
use crate::primitives::line::Line;
use crate::primitives::units::Time;
use crate::tcp::receiver::Receiver;
use serde::{Deserialize, Serialize};

/// The line that a packet comes from, and in which it waits if it has to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Feeder {
    Send,
    Back,
    Port(u32),
}

/// All that moves on behalf of one flow between its ends. What most packets need lies in the first two of three cache lines.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C, align(64))]
pub(crate) struct Path {
    pub(crate) wire: Wire,
    pub(crate) carried: Carried,
    /// From the sender to the first port.
    pub(crate) send: Line,
    /// Acknowledgements to the sender.
    pub(crate) home: Line,
    /// Segments that complete a transfer; the largest number if it has no size.
    pub(crate) complete_at: u32,
    /// Packets that reached the receiver with a mark, within the measured part.
    pub(crate) marked: u32,
    pub(crate) receiver: Receiver,
    /// Acknowledgements from the receiver to the first port of the way back.
    pub(crate) back: Line,
    /// Data to the receiver, where arrivals there are events.
    pub(crate) deliver: Line,
    pub(crate) counts: PathCounts,
}

/// What is counted of each packet that is carried.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Carried {
    /// Over the whole run and beyond, for the conservation check.
    pub(crate) received_in_all: u32,
    pub(crate) acks_sent_in_all: u32,
    pub(crate) acks_received_in_all: u32,
    /// Distinct segments that reached the receiver within the measured part.
    pub(crate) delivered: u32,
    /// Their payload.
    pub(crate) delivered_bytes: u64,
}

/// What else is counted of a flow's packets between its ends. Only within the measured part, except where it says otherwise.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PathCounts {
    /// Over the whole run and beyond, for the conservation check; of packets in cells, the channel counts what is discarded.
    pub(crate) discarded_in_all: u32,
    pub(crate) acks_discarded_in_all: u32,
    /// Packets. What becomes of one that travels in cells, its last cell decides: it is discarded, or arrives and closes a frame that is
    /// not whole.
    pub(crate) discarded: u32,
    /// Segments that reached the receiver again.
    pub(crate) duplicates: u32,
    /// When the receiver had everything; [`Time::NEVER`] while it has not.
    pub(crate) completed: Time,
}

impl Path {
    /// Begin to count anew; when the receiver had everything is kept.
    pub(crate) fn forget_counts(&mut self) {
        self.carried = Carried::default();
        self.counts = PathCounts { completed: self.counts.completed, ..PathCounts::default() };
    }

    /// Add what others have counted of the same flow elsewhere.
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
    fn what_most_packets_need_lies_in_two_cache_lines_of_three() {
        assert_eq!((size_of::<Path>(), std::mem::offset_of!(Path, receiver)), (192, 120));
    }
}
