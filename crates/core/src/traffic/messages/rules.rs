//! The decisions of an application whose messages travel outside a simulation, over real sockets.

use super::{FollowUp, Kinds, MessagesSpec, Playback};
use crate::primitives::ids::FlowId;
use crate::primitives::units::{Bytes, Time};

/// The messages of one flow, for the ends that write and receive them.
#[derive(Debug)]
pub struct MessageRules(Kinds);

impl MessageRules {
    pub fn new(spec: MessagesSpec) -> MessageRules {
        MessageRules(Kinds::new(spec))
    }

    /// Number of messages.
    pub fn count(&self) -> u32 {
        self.0.count()
    }

    /// Size of a message that is written or requested; `None` for a later one.
    pub fn size(&self, message: u32) -> Option<Bytes> {
        (message < self.0.known()).then(|| self.0.size(message))
    }

    /// Times of the writes that no other event causes, for a flow that starts at `start`.
    pub fn first(&mut self, start: Time) -> Vec<Time> {
        self.0.first(start)
    }

    /// The next message is delivered. Returns the flow and the time of the write that follows.
    pub fn after_delivery(&mut self, message: u32, time: Time) -> Option<(FlowId, Time)> {
        self.size(message)?;
        self.0.after_delivery(message, time).map(|FollowUp { flow, at }| (flow, at))
    }

    /// Quality of the playback at this time, if the messages are video.
    pub fn playback(&self, delivered: usize, until: Time) -> Option<Playback> {
        self.0.playback(delivered, until)
    }
}
