//! Datagrams of external flows, as their transports see them.

use crate::primitives::ids::{FlowId, PortId};
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::Time;
use crate::queue::DropReason;
use serde::{Deserialize, Serialize};

/// The contents of a datagram of an external flow, for listed drops ([`ListedDrop`](crate::network::ListedDrop)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatagramContents {
    /// It is listed by its number, with transmission 1.
    Opaque,
    /// It is listed as this segment.
    Segment { segment: SegmentNumber, transmission: u32 },
    /// No listed drop applies to it.
    Unlisted,
}

/// The outcome of a datagram of an external flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Fate {
    /// Time of delivery or discard; for copies, that of their arrival at the next port.
    pub time: Time,
    pub flow: FlowId,
    /// Number that [`Engine::inject`](crate::Engine::inject) returned.
    pub datagram: u32,
    pub outcome: DatagramOutcome,
}

/// Delivery, discard or duplication of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DatagramOutcome {
    /// Delivered to its receiver.
    Delivered {
        /// A queue has marked the datagram (CE, RFC 3168 section 5).
        is_marked: bool,
    },
    /// Discarded at a port, or on its link.
    Discarded { port: PortId, reason: DropReason },
    /// A link has made another copy of it, which has an outcome of its own.
    Copied,
}
