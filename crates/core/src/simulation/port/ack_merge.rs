//! Acknowledgements from the receivers after one port, ordered by lookahead.

use crate::primitives::packet::Packet;
use crate::primitives::units::{Time, TimeDelta};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Acknowledgements on their way to a port that is fed only by the receivers after one other port.
///
/// Packets that follow a packet with departure time t from that port's delay line are acknowledged here no earlier than `t + ahead`. All
/// arrivals before that time are therefore known, and can be taken in order without an event each. (Chandy and Misra, "Distributed
/// simulation", IEEE TSE 5(5), 1979: lookahead.)
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct AckMerge {
    pub(crate) ahead: TimeDelta,
    /// By time, then by flow.
    waiting: VecDeque<Packet>,
}

impl AckMerge {
    pub(crate) fn new(ahead: TimeDelta) -> AckMerge {
        AckMerge { ahead, waiting: VecDeque::new() }
    }

    /// Insert an acknowledgement. Its position is near the end, because acknowledgements arrive almost in order.
    #[inline]
    pub(crate) fn insert(&mut self, ack: Packet) {
        let mut at = self.waiting.len();
        while at > 0 && (self.waiting[at - 1].time, self.waiting[at - 1].flow) > (ack.time, ack.flow) {
            at -= 1;
        }
        if at == self.waiting.len() { self.waiting.push_back(ack) } else { self.waiting.insert(at, ack) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Take the first if it arrives before `time`.
    #[inline]
    pub(crate) fn take_before(&mut self, time: Time) -> Option<Packet> {
        self.waiting.pop_front_if(|first| first.time < time)
    }

    pub(crate) fn first(&self) -> Option<Time> {
        self.waiting.front().map(|first| first.time)
    }

    pub(crate) fn retain_mut(&mut self, keep: impl FnMut(&mut Packet) -> bool) {
        self.waiting.retain_mut(keep);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.waiting.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::ids::FlowId;
    use crate::primitives::packet::OutgoingPacket;

    #[test]
    fn acknowledgements_are_taken_by_time_and_flow_and_only_if_known() {
        let ack = |time, flow: u32| {
            Packet::data(Time(time), Time(0), &OutgoingPacket { flow: FlowId(flow), ..OutgoingPacket::default() }, 0)
        };
        let mut gather = AckMerge::new(TimeDelta(10));
        [ack(5, 1), ack(7, 0), ack(6, 3), ack(6, 2)].into_iter().for_each(|ack| gather.insert(ack));
        let taken: Vec<_> = std::iter::from_fn(|| gather.take_before(Time(7))).map(|ack| (ack.time.0, ack.flow.0)).collect();
        assert_eq!((taken, gather.first()), (vec![(5, 1), (6, 2), (6, 3)], Some(Time(7))));
    }
}
