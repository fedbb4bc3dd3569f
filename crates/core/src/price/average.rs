//! The share of marked packets, of the last few or of all.

use serde::{Deserialize, Serialize};

/// What REM's and RAM's receivers remember.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MarkedShare {
    pub(super) share: f64,
    /// Up to the memory.
    seen: u32,
    /// Of the last packet.
    pub(super) hops: u8,
}

/// Packets over which the share is averaged.
#[derive(Clone, Copy)]
pub(super) struct Memory(pub(super) u32);

impl MarkedShare {
    /// The plain mean as long as the memory has room, then each packet weighs one over the memory.
    pub(super) fn learn(&mut self, probe: &super::Probe, memory: Memory) {
        self.seen = (self.seen + 1).min(memory.0);
        self.share += (f64::from(u8::from(probe.is_marked())) - self.share) / f64::from(self.seen);
        self.hops = probe.hops;
    }
}
