//! Changes of the network during a run.

use super::Fabric;
use crate::network::{ChangeKind, ListedDrop, Network};
use crate::primitives::ids::PortId;
use crate::simulation::wiring::route_starts;

impl Fabric {
    /// A change of the timeline takes place.
    pub(crate) fn change(&mut self, change: &ChangeKind, network: &Network) {
        match *change {
            ChangeKind::Rate(port, rate) => self.ports[port].equipment.set_rate(rate),
            ChangeKind::Delay(port, delay) => self.ports[port].equipment.set_delay(delay),
            ChangeKind::RandomLoss(port, loss) => self.ports[port].equipment.set_loss(loss),
            ChangeKind::Buffer(port, buffer) => self.ports[port].equipment.set_buffer(buffer),
            ChangeKind::Route(flow, forward, backward) => {
                let starts = route_starts(network);
                let wire = &mut self.paths[flow].wire;
                wire.forward = starts[forward as usize];
                wire.backward = starts[backward as usize];
            }
        }
    }

    /// A datagram of an external flow is sent that the port has to discard.
    pub(crate) fn list_drop(&mut self, port: PortId, datagram: ListedDrop) {
        self.ports[port].equipment.list_drop(datagram);
    }
}
