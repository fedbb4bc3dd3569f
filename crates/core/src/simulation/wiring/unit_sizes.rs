//! Sizes of the units that cross ports.

use crate::network::{Flow, Group, Transport};
use crate::primitives::sizes::CELL_BYTES;
use crate::primitives::units::Bytes;

/// Size of a flow's data units, if they all have the same size.
pub(in crate::simulation) fn data_unit(flow: &Flow, group: &Group) -> Option<Bytes> {
    match &group.transport {
        _ if group.framing.is_some() => Some(CELL_BYTES),
        Transport::Tcp(spec, _) if flow.size.is_none() && group.application.is_none() && !spec.handshake => {
            Some(spec.mss + spec.header)
        }
        _ => None,
    }
}

/// Size of the acknowledgement units of a group's flows, if they have acknowledgements.
pub(in crate::simulation) fn ack_unit(group: &Group) -> Option<Bytes> {
    match &group.transport {
        Transport::Tcp(spec, _) => Some(if group.framing.is_some() { CELL_BYTES } else { spec.ack_size }),
        Transport::Datagram(_) => None,
    }
}
