//! Quality of a playback.

use crate::primitives::units::{Time, TimeDelta};

/// Quality of a playback.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Playback {
    pub(crate) stalls: u32,
    pub(crate) stalled: TimeDelta,
    /// Changes of the bit rate between delivered chunks.
    pub(crate) switches: u32,
    /// Time of the first start.
    pub(crate) started: Option<Time>,
    /// Mean bit rate of the delivered chunks in bit/s; NaN if there is none.
    pub(crate) mean_rate: f64,
}
