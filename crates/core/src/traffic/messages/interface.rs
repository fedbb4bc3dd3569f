//! The interface of a kind of messages.

use super::playback::Playback;
use crate::primitives::ids::FlowId;
use crate::primitives::units::{Bytes, Time};

/// A write that follows from a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FollowUp {
    pub(crate) flow: FlowId,
    pub(crate) at: Time,
}

/// The messages of one flow. The state is that of the receiving application.
pub(super) trait Messages {
    /// Total number of messages.
    fn count(&self) -> u32;

    /// Number of messages with a known size: the first ones.
    fn known(&self) -> u32 {
        self.count()
    }

    /// Size of a message, at least 1 byte. It is requested after the message has been written, or is the next one to be delivered.
    fn size(&self, message: u32) -> Bytes;

    /// Maximum size of a message, before its size is decided.
    fn max_size(&self, message: u32) -> Bytes {
        self.size(message)
    }

    /// Times of the writes that no other event causes, for a flow that starts at `start`.
    fn first(&mut self, start: Time) -> Vec<Time>;

    /// Time of the write that follows this one, which took place at its time.
    fn after_write(&self, _message: u32, _start: Time) -> Option<Time> {
        None
    }

    /// The receiver has the message.
    fn after_delivery(&mut self, _message: u32, _time: Time) -> Option<FollowUp> {
        None
    }

    /// The flows on which deliveries cause writes.
    fn answers_on(&self) -> Vec<FlowId> {
        Vec::new()
    }

    /// The flow whose messages request those of this flow, one by one.
    fn requested_on(&self) -> Option<FlowId> {
        None
    }

    /// Whether the sender's messages depend on state of the receiving application, so that both ends belong together.
    fn joins_ends(&self) -> bool {
        false
    }

    /// Quality of the playback at this time, if the messages are video, of which this number is delivered.
    fn playback(&self, _delivered: usize, _until: Time) -> Option<Playback> {
        None
    }

    /// Whether the flow is complete once all messages are delivered.
    fn is_transfer(&self) -> bool {
        true
    }
}
