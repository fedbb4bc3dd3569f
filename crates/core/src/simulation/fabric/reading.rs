//! Read access to ports and paths, for results and inspection.

use super::Fabric;
use crate::primitives::ids::{FlowId, GroupId, PortId};
use crate::primitives::units::Time;
use crate::record::recorder::OccupancyRows;
use crate::simulation::group_profile::GroupProfile;
use crate::simulation::path::Path;
use crate::simulation::port::Port;
use crate::tcp::validation::HostQueue;

impl Fabric {
    pub(crate) fn ports(&self) -> &[Port] {
        &self.ports
    }

    pub(crate) fn port(&self, port: PortId) -> &Port {
        &self.ports[port]
    }

    /// By flow.
    pub(crate) fn paths(&self) -> &[Path] {
        &self.paths
    }

    #[inline]
    pub(crate) fn path(&self, flow: FlowId) -> &Path {
        &self.paths[flow]
    }

    /// The group of a flow.
    #[inline]
    pub(crate) fn group(&self, flow: FlowId) -> GroupId {
        self.paths[flow].wire.group
    }

    /// By group.
    pub(crate) fn profiles(&self) -> &[GroupProfile] {
        &self.profiles
    }

    /// The properties of a flow's group.
    #[inline]
    pub(crate) fn profile(&self, flow: FlowId) -> &GroupProfile {
        &self.profiles[self.group(flow)]
    }

    /// The ports of the route that starts at this entry of the flat list.
    pub(crate) fn route(&self, start: u32) -> impl Iterator<Item = PortId> + Clone {
        self.routes[start as usize..].iter().map_while(|entry| entry.port())
    }

    /// Whether the route of any flow changes.
    pub(crate) fn has_changing_routes(&self) -> bool {
        !self.rerouted.is_empty()
    }

    /// Whether the state of ports and flows exceeds the nearer caches, so that prefetching is worthwhile.
    #[inline]
    pub(crate) fn is_large(&self) -> bool {
        self.is_large
    }

    /// The queue of a flow at the interface of its host.
    pub(crate) fn host_queue(&self, flow: FlowId, now: Time) -> HostQueue {
        self.hosts.get(flow.index()).map_or(HostQueue::Short, |hosts| hosts.queue(now))
    }

    /// The rows of traced ports, by port.
    pub(crate) fn occupancy_rows(&self) -> Vec<OccupancyRows<'_>> {
        self.ports.iter().map(|port| port.trace_rows(&self.waiting)).collect()
    }

    /// Drop the trace rows before a time.
    pub(crate) fn forget_traces(&mut self, before: Time) {
        if let Some(recorder) = self.outcomes.recorder_mut() {
            recorder.forget_before(before);
            self.ports.iter_mut().for_each(|port| port.forget_trace_rows(before));
        }
    }
}
