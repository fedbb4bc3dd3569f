//! Both ends of a flow of messages: writes and segments at the sender, deliveries at the receiver.

use super::client::UserApplication;
use super::interface::{Act, FollowUp};
use super::{Kinds, MessagesSpec, Playback};
use crate::primitives::ids::FlowId;
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Bytes, Segments, Time};
use crate::user_code::{Failure, UserCode, UserObject};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The messages of one flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MessageFlow {
    kind: Kinds,
    mss: Bytes,
    first_data: SegmentNumber,
    sender: SendingEnd,
    receiver: ReceivingEnd,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct SendingEnd {
    start: Time,
    /// Known times of further writes.
    due: BinaryHeap<Reverse<Time>>,
    /// The time of each write.
    written: Vec<Time>,
    /// One past the last segment of each message.
    ends: Vec<SegmentNumber>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct ReceivingEnd {
    /// One past the last segment of the next message to be delivered; [`SegmentNumber::NONE`] if there is none.
    end: SegmentNumber,
    /// One past the last segment of the message before, if the size of the next one is not known: it has at least one segment.
    before: Option<SegmentNumber>,
    /// The time at which each message was complete.
    delivered: Vec<Time>,
}

impl MessageFlow {
    pub(crate) fn new(spec: MessagesSpec, mss: Bytes, first_data: SegmentNumber) -> MessageFlow {
        let mut flow = MessageFlow {
            kind: Kinds::new(spec),
            mss,
            first_data,
            sender: SendingEnd::default(),
            receiver: ReceivingEnd { end: first_data, before: None, delivered: Vec::new() },
        };
        flow.await_next();
        flow
    }

    /// Time of the first write of a flow that starts at `start`.
    pub(crate) fn first(&mut self, start: Time) -> Option<Time> {
        self.sender.start = start;
        self.sender.due.extend(self.kind.first(start).into_iter().map(Reverse));
        self.next_write()
    }

    /// Adds a write.
    pub(crate) fn plan_write(&mut self, at: Time) {
        self.sender.due.push(Reverse(at));
    }

    fn next_write(&self) -> Option<Time> {
        self.sender.due.peek().map(|&Reverse(time)| time)
    }

    /// Performs all writes that are due. Returns the time of the next one.
    pub(crate) fn write(&mut self, now: Time) -> Option<Time> {
        while self.next_write().is_some_and(|time| time <= now) {
            self.sender.due.pop();
            let Act { writes, plans } = self.kind.act(now);
            self.sender.due.extend(plans.into_iter().map(Reverse));
            for _ in 0..writes {
                let message = self.sender.written.len() as u32;
                self.sender.written.push(now);
                self.sender.ends.push(self.limit() + self.segments(message));
                self.sender.due.extend(self.kind.after_write(message, self.sender.start).map(Reverse));
            }
        }
        self.next_write()
    }

    /// One past the last segment written.
    pub(crate) fn limit(&self) -> SegmentNumber {
        self.sender.ends.last().copied().unwrap_or(self.first_data)
    }

    /// Segments of a message.
    fn segments(&self, message: u32) -> Segments {
        Segments(self.kind.size(message).0.div_ceil(self.mss.0) as u32)
    }

    /// Payload of a written data segment.
    pub(crate) fn payload(&self, segment: SegmentNumber) -> Bytes {
        let message = self.sender.ends.partition_point(|&end| end <= segment);
        if self.sender.ends.get(message) != Some(&segment.next()) {
            return self.mss;
        }
        let before = u64::from(self.segments(message as u32).0 - 1) * self.mss.0;
        Bytes(self.kind.size(message as u32).0 - before)
    }

    /// Whether a written data segment ends a message whose receiver sends no data itself, so that the segment has the flag PSH and no data
    /// carries its acknowledgement.
    pub(crate) fn pushes(&self, segment: SegmentNumber) -> bool {
        let ends = self.sender.ends.binary_search(&segment.next()).is_ok();
        ends && self.kind.answers_on().is_empty() && self.kind.requested_on().is_none()
    }

    /// One past the last segment of the message that the receiver waits for, or past its first one if its size is not known yet.
    pub(crate) fn awaited(&self) -> SegmentNumber {
        self.receiver.end
    }

    /// Updates the message that the receiver waits for, whose size may have become known.
    pub(crate) fn await_known(&mut self) {
        let next = self.receiver.delivered.len() as u32;
        if next < self.kind.known()
            && let Some(before) = self.receiver.before.take()
        {
            self.receiver.end = before + self.segments(next);
        }
    }

    /// Messages of these sizes are requested.
    pub(crate) fn learn(&mut self, sizes: Vec<Bytes>) {
        self.kind.learn(sizes);
    }

    /// The sizes of responses that were requested since the last call, and their flow.
    pub(crate) fn take_announced(&mut self) -> Option<(FlowId, Vec<Bytes>)> {
        self.kind.take_announced()
    }

    /// Creates the object of user code, if the flow has any.
    pub(crate) fn attach(&mut self, make: impl FnOnce(&UserCode) -> UserObject<dyn UserApplication>) {
        if let Some((code, object)) = self.kind.user() {
            *object = make(code);
        }
    }

    /// The failure of user code, if it has failed.
    pub(crate) fn failure(&self, time: Time) -> Option<Failure> {
        self.kind.user_object().and_then(|object| object.failure(time))
    }

    /// The receiver has the next message. Returns the write that follows.
    pub(crate) fn deliver(&mut self, time: Time) -> Option<FollowUp> {
        let message = self.receiver.delivered.len() as u32;
        self.receiver.delivered.push(time);
        let follow_up = self.kind.after_delivery(message, time);
        self.await_next();
        follow_up
    }

    fn await_next(&mut self) {
        let next = self.receiver.delivered.len() as u32;
        self.receiver.end = match next {
            _ if next >= self.kind.count() => SegmentNumber::NONE,
            _ if next < self.kind.known() => self.receiver.end + self.segments(next),
            _ => {
                self.receiver.before = Some(self.receiver.end);
                self.receiver.end.next()
            }
        };
    }

    /// Whether this is a transfer that is complete.
    pub(crate) fn is_complete(&self) -> bool {
        self.receiver.end == SegmentNumber::NONE && self.kind.is_transfer()
    }

    /// The flows on which deliveries cause writes.
    pub(crate) fn answers_on(&self) -> Vec<FlowId> {
        self.kind.answers_on()
    }

    /// The flow whose messages request those of this flow.
    pub(crate) fn requested_on(&self) -> Option<FlowId> {
        self.kind.requested_on()
    }

    /// Whether both ends belong together.
    pub(crate) fn joins_ends(&self) -> bool {
        self.kind.joins_ends()
    }

    /// Quality of the playback at this time, if the messages are video.
    pub(crate) fn playback(&self, until: Time) -> Option<Playback> {
        let delivered = self.receiver.delivered.iter().filter(|&&time| time < until).count();
        self.kind.playback(delivered, until)
    }

    /// Size of a message that is written or requested.
    pub(crate) fn size(&self, message: u32) -> Bytes {
        self.kind.size(message)
    }

    /// The time of each write.
    pub(crate) fn written(&self) -> &[Time] {
        &self.sender.written
    }

    /// The time of each delivery.
    pub(crate) fn delivered(&self) -> &[Time] {
        &self.receiver.delivered
    }

    /// Copy the state of the sending end.
    pub(crate) fn take_sender(&mut self, from: &MessageFlow) {
        self.sender.clone_from(&from.sender);
    }

    /// Copy the state of the receiving end.
    pub(crate) fn take_receiver(&mut self, from: &MessageFlow) {
        self.kind.clone_from(&from.kind);
        self.receiver.clone_from(&from.receiver);
    }

    /// Bytes of memory of each message, with its row in the result table.
    pub(crate) const BYTES_PER_MESSAGE: usize = 2 * (2 * size_of::<Time>() + size_of::<u32>()) + 5 * 8 + 4;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::segment_number::plain::n;
    use crate::primitives::units::TimeDelta;
    use crate::traffic::{ScriptSpec, ScriptedWrite};

    #[test]
    fn each_message_begins_a_segment_and_ends_with_a_short_one() {
        let write = |at, size| ScriptedWrite { at: TimeDelta(at), size: Bytes(size) };
        let writes = [write(0, 2500), write(0, 300), write(9, 1000)].into();
        let spec = MessagesSpec::Script(ScriptSpec { writes, repeat: None, count: 3 });
        let mut flow = MessageFlow::new(spec, Bytes(1000), n(1));
        assert_eq!((flow.first(Time(1)), flow.awaited()), (Some(Time(1)), n(4)));
        assert_eq!((flow.write(Time(1)), flow.limit()), (Some(Time(10)), n(5)));
        assert_eq!([1, 2, 3, 4].map(|segment| flow.payload(n(segment)).0), [1000, 1000, 500, 300]);
        assert_eq!((flow.write(Time(10)), flow.limit(), flow.payload(n(5))), (None, n(6), Bytes(1000)));
        assert_eq!([2, 3, 4].map(|time| (flow.deliver(Time(time)), flow.awaited()).1), [n(5), n(6), SegmentNumber::NONE]);
        assert!(flow.is_complete());
    }
}
