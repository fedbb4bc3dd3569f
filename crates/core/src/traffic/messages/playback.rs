//! Quality of a playback.

use crate::primitives::units::{Time, TimeDelta};

/// Quality of a playback.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Playback {
    /// Number of stalls.
    pub stalls: u32,
    /// Duration of all stalls.
    pub stalled: TimeDelta,
    /// Changes of the bit rate between delivered chunks.
    pub switches: u32,
    /// Time of the first start.
    pub started: Option<Time>,
    /// Mean bit rate of the delivered chunks in bit/s; NaN if there is none.
    pub mean_rate: f64,
}
