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

/// All that moves on behalf of one flow between its ends.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Path {
    pub(crate) counts: PathCounts,
    pub(crate) receiver: Receiver,
    pub(crate) wire: Wire,
    /// Segments that complete a transfer; the largest number if it has no size.
    pub(crate) complete_at: u32,
    /// Packets that reached the receiver with a mark, within the measured part.
    pub(crate) marked: u32,
    /// From the sender to the first port.
    pub(crate) send: Line,
    /// Acknowledgements from the receiver to the first port of the way back.
    pub(crate) back: Line,
    /// Acknowledgements to the sender.
    pub(crate) home: Line,
    /// Data to the receiver, where arrivals there are events.
    pub(crate) deliver: Line,
}

/// What is counted of a flow's packets between its ends. Only within the measured part, except where it says otherwise.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PathCounts {
    /// Over the whole run and beyond, for the conservation check; of packets in cells, the channel counts what is discarded.
    pub(crate) received_in_all: u32,
    pub(crate) discarded_in_all: u32,
    pub(crate) acks_sent_in_all: u32,
    pub(crate) acks_received_in_all: u32,
    pub(crate) acks_discarded_in_all: u32,
    /// Packets. What becomes of one that travels in cells, its last cell decides: it is discarded, or arrives and closes a frame that is
    /// not whole.
    pub(crate) discarded: u32,
    /// Distinct segments that reached the receiver.
    pub(crate) delivered: u32,
    /// Segments that reached the receiver again.
    pub(crate) duplicates: u32,
    pub(crate) delivered_bytes: u64,
    /// When the receiver had everything; [`Time::NEVER`] while it has not.
    pub(crate) completed: Time,
}

impl PathCounts {
    /// Add what others have counted of the same flow elsewhere.
    pub(crate) fn add(&mut self, other: &PathCounts) {
        self.received_in_all += other.received_in_all;
        self.discarded_in_all += other.discarded_in_all;
        self.acks_sent_in_all += other.acks_sent_in_all;
        self.acks_received_in_all += other.acks_received_in_all;
        self.acks_discarded_in_all += other.acks_discarded_in_all;
        self.discarded += other.discarded;
        self.delivered += other.delivered;
        self.duplicates += other.duplicates;
        self.delivered_bytes += other.delivered_bytes;
        self.completed = self.completed.min(other.completed);
    }
}

impl Default for PathCounts {
    fn default() -> PathCounts {
        PathCounts {
            received_in_all: 0,
            discarded_in_all: 0,
            acks_sent_in_all: 0,
            acks_received_in_all: 0,
            acks_discarded_in_all: 0,
            discarded: 0,
            delivered: 0,
            duplicates: 0,
            delivered_bytes: 0,
            completed: Time::NEVER,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_fit_in_a_cache_line() {
        assert!(std::mem::size_of::<PathCounts>() <= 64);
    }
}
