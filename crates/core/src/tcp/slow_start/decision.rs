//! What the monitoring of slow start reads, and its outcome.

use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Bytes, Cwnd, Segments, Time, TimeDelta};

/// Whether the flow is in slow start.
#[derive(Clone, Copy)]
pub(in crate::tcp) enum Stage {
    /// In its first one: the threshold has its initial value (RFC 9406 section 4).
    First,
    Later,
    Outside,
}

/// An acknowledgement of new data in slow start.
#[derive(Clone, Copy, Default)]
pub(in crate::tcp) struct AckSample {
    pub now: Time,
    /// Next segment expected by the receiver according to this acknowledgement.
    pub snd_una: SegmentNumber,
    /// SND.NXT: the next new segment.
    pub snd_nxt: SegmentNumber,
    pub rtt: Option<TimeDelta>,
    pub window: Cwnd,
    /// Segments for which slow start would open the window.
    pub counted: Segments,
    pub srtt: Option<TimeDelta>,
    pub mss: Bytes,
    /// New data is paced.
    pub is_paced: bool,
}

/// The response to an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::tcp) enum Decision {
    /// The window opens for this many segments.
    Grow(Segments),
    /// Congestion avoidance begins with this acknowledgement.
    Exit,
}
