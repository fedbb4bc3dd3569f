//! The parts of a fabric that the owners of entities contribute when domains are merged.

use super::Fabric;
use crate::primitives::ids::FlowId;
use crate::simulation::path::Path;

impl Fabric {
    /// Copy the state of a flow's sender.
    pub(super) fn take_sender(&mut self, flow: FlowId, from: &Fabric) {
        let (own, other) = (self, from);
        own.paths[flow].wire.take_sender(&other.paths[flow].wire);
        if let (Some(own), Some(other)) = (own.hosts.get_mut(flow.index()), other.hosts.get(flow.index())) {
            own.take_sender(other);
        }
        if let (Some(own), Some(other)) = (own.access_queues.get_mut(flow.index()), other.access_queues.get(flow.index())) {
            own.send.clone_from(&other.send);
        }
        if let (Some(own), Some(other)) = (own.messages.get_mut(flow), other.messages.get(flow)) {
            own.take_sender(other);
        }
        if let (Some(own), Some(other)) = (&mut own.cells, &other.cells) {
            own.take_sender(flow, other);
        }
    }

    /// Copy the state of a flow's receiver.
    pub(super) fn take_receiver(&mut self, flow: FlowId, from: &Fabric) {
        let (path, other) = (&mut self.paths[flow], &from.paths[flow]);
        path.receiver.clone_from(&other.receiver);
        path.marked = other.marked;
        path.complete_at = other.complete_at;
        path.wire.take_receiver(&other.wire);
        let place = self.signalled(flow);
        let (own, other) = (self, from);
        if let (Some(own), Some(other)) = (own.hosts.get_mut(flow.index()), other.hosts.get(flow.index())) {
            own.take_receiver(other);
        }
        if let (Some(own), Some(other)) = (own.access_queues.get_mut(flow.index()), other.access_queues.get(flow.index())) {
            own.receive.clone_from(&other.receive);
        }
        if let (Some(own), Some(other)) = (&mut own.cells, &other.cells) {
            own.take_receiver(flow, other);
        }
        if let (Some(own), Some(other)) = (own.messages.get_mut(flow), other.messages.get(flow)) {
            own.take_receiver(other);
        }
        own.receivers.take_receiver(flow, &other.receivers, place);
    }

    /// Reset the counters: the first domain keeps the previous counts.
    pub(super) fn forget_counts(&mut self) {
        self.paths.iter_mut().for_each(Path::forget_counts);
        if let Some(cells) = &mut self.cells {
            cells.forget_counts();
        }
        self.receivers.forget_counts();
        self.outcomes.forget();
    }

    /// Add the counters and records of another domain. `sends`: whether it owns the sender of a flow.
    pub(super) fn add_counts(&mut self, other: &Fabric, sends: impl Fn(FlowId) -> bool) {
        for (path, other) in self.paths.iter_mut().zip(&other.paths) {
            path.add_counts(other);
        }
        let (own, other) = (self, other);
        if let (Some(own), Some(other)) = (&mut own.cells, &other.cells) {
            own.add_counts(other);
        }
        own.receivers.add_counts(&other.receivers);
        own.outcomes.add(&other.outcomes, sends);
    }
}
