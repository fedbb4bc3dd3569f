//! Acknowledgements from the receivers after one port, put in order by lookahead.

use crate::primitives::packet::Packet;
use crate::primitives::units::{Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Acknowledgements on their way to a port that is fed by the receivers after one other port alone.
///
/// What follows a packet that leaves that port's delay line at time t is acknowledged here no earlier than `t + ahead`. So everything before that
/// is known, and can be taken in order without being an event each. (Chandy and Misra, "Distributed simulation", IEEE TSE 5(5), 1979: lookahead.)
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Gather {
    pub(crate) ahead: Span,
    /// By time, and at one instant by flow.
    waiting: VecDeque<Packet>,
}

impl Gather {
    pub(crate) fn new(ahead: Span) -> Gather {
        Gather { ahead, waiting: VecDeque::new() }
    }

    /// Put an acknowledgement in its place: near the end, for they come almost in order.
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
        let first = self.waiting.front().filter(|first| first.time < time).copied();
        if first.is_some() {
            self.waiting.pop_front();
        }
        first
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
    use crate::primitives::packet::Outgoing;

    #[test]
    fn acknowledgements_come_out_by_time_and_flow_and_only_what_is_known() {
        let ack = |time, flow| Packet::data(Time(time), Time(0), &Outgoing { flow, ..Outgoing::default() }, 0);
        let mut gather = Gather::new(Span(10));
        [ack(5, 1), ack(7, 0), ack(6, 3), ack(6, 2)].into_iter().for_each(|ack| gather.insert(ack));
        let taken: Vec<_> = std::iter::from_fn(|| gather.take_before(Time(7))).map(|ack| (ack.time.0, ack.flow)).collect();
        assert_eq!((taken, gather.first()), (vec![(5, 1), (6, 2), (6, 3)], Some(Time(7))));
    }
}
