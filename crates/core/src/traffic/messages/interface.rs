//! The interface of a kind of messages.

use super::client::UserApplication;
use super::playback::Playback;
use crate::primitives::ids::FlowId;
use crate::primitives::units::{Bytes, Time};
use crate::user_code::{UserCode, UserObject};

/// A write that follows from a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FollowUp {
    pub(crate) flow: FlowId,
    pub(crate) at: Time,
}

/// The consequences of a time at which a write is due.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Act {
    /// Number of messages to write now.
    pub(super) writes: u32,
    /// Times of further acts.
    pub(super) plans: Vec<Time>,
}

impl Act {
    pub(super) const WRITE: Act = Act { writes: 1, plans: Vec::new() };
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

    /// A write is due. User code may decide now.
    fn act(&mut self, _now: Time) -> Act {
        Act::WRITE
    }

    /// The sizes of responses that were requested since the last call, and their flow.
    fn take_announced(&mut self) -> Option<(FlowId, Vec<Bytes>)> {
        None
    }

    /// Messages of these sizes are requested.
    fn learn(&mut self, _sizes: Vec<Bytes>) {}

    /// The user code of the flow, and its object.
    fn user(&mut self) -> Option<(&UserCode, &mut UserObject<dyn UserApplication>)> {
        None
    }

    fn user_object(&self) -> Option<&UserObject<dyn UserApplication>> {
        None
    }

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
