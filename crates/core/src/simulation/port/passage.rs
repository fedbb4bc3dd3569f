//! A unit on its way through a port.

use crate::primitives::packet::Packet;
use crate::primitives::units::Bytes;
use crate::simulation::measurement_interval::MeasurementInterval;
use crate::simulation::packets::Packets;

/// A unit that passes a port, and what the port reads for it.
pub(crate) struct Passage<'a> {
    pub(crate) packet: &'a mut Packet,
    pub(crate) bytes: Bytes,
    pub(crate) interval: &'a MeasurementInterval,
    pub(crate) packets: &'a Packets,
}
