//! Acknowledgements that senders may process ahead of time, without events.

use super::pending_acks::PendingAcks;
use crate::primitives::ids::FlowId;
use crate::primitives::packet::Packet;
use crate::primitives::pooled_queue::PooledQueue;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Acks {
    /// Flows whose next queued acknowledgement at the sender is known and has no event yet.
    early: Vec<FlowId>,
    /// Acknowledgements that will arrive at senders which run ahead, in order per flow, after those queued at the sender. Empty between
    /// slices of a run ([`Fabric::store_pending_acks`](super::fabric::Fabric::store_pending_acks)).
    #[serde(skip)]
    pending: PendingAcks,
}

impl Acks {
    /// `early`: the flows whose next queued acknowledgement is known.
    pub(crate) fn new(early: Vec<FlowId>) -> Acks {
        Acks { early, pending: PendingAcks::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.early.is_empty() && self.pending.is_empty()
    }

    /// The next acknowledgement queued at the sender of this flow is known.
    #[inline]
    pub(crate) fn expect(&mut self, flow: FlowId) {
        self.early.push(flow);
    }

    /// A flow whose next queued acknowledgement is known.
    #[inline]
    pub(crate) fn pop_expected(&mut self) -> Option<FlowId> {
        self.early.pop()
    }

    /// The flows whose next queued acknowledgement is known.
    pub(crate) fn expected(&self) -> impl Iterator<Item = FlowId> {
        self.early.iter().copied()
    }

    /// Whether the next acknowledgement of a sender that runs ahead can be pushed. `line`: the acknowledgements queued there. If others are
    /// queued and none is on its way to them, this is not the next one that the sender processes.
    #[inline(always)]
    pub(crate) fn may_push(&self, line: &PooledQueue) -> bool {
        line.is_empty() || !self.pending.is_empty()
    }

    /// An acknowledgement will arrive at its sender at `ack.time`.
    #[inline]
    pub(crate) fn push(&mut self, ack: Packet) {
        self.pending.push(ack);
    }

    /// The first of the pushed acknowledgements.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Packet> {
        self.pending.pop()
    }

    /// The pushed acknowledgement after this many others.
    #[inline]
    pub(crate) fn get(&self, place: usize) -> Option<&Packet> {
        self.pending.get(place)
    }
}
