//! A received acknowledgement, for traces.

use crate::primitives::ids::FlowId;
use crate::primitives::segment_number::{SackBlock, SegmentNumber};
use crate::primitives::units::TimeDelta;

/// An acknowledgement as received by its sender.
pub(crate) struct AckRecord<'a> {
    pub(crate) flow: FlowId,
    /// Next segment that the receiver expects.
    pub(crate) ack: SegmentNumber,
    /// SACK blocks.
    pub(crate) blocks: &'a [SackBlock],
    pub(crate) echoes_mark: bool,
    pub(crate) is_duplicate: bool,
    pub(crate) rtt: Option<TimeDelta>,
}
