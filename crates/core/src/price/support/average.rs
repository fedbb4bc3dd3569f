//! Average of the fraction of marked packets, over the last packets or over all.

use crate::primitives::signal::Probe;
use serde::{Deserialize, Serialize};

/// Receiver state of REM and RAM.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MarkedShare {
    pub(in crate::price) share: f64,
    /// Number of packets received, up to the memory.
    seen: u32,
    /// Hops of the last packet.
    pub(in crate::price) hops: u8,
}

/// Number of packets over which the fraction is averaged.
#[derive(Clone, Copy)]
pub(in crate::price) struct Memory(pub(in crate::price) u32);

impl MarkedShare {
    /// Arithmetic mean until the memory is full; from then on each packet has the weight of one over the memory.
    pub(in crate::price) fn learn(&mut self, probe: &Probe, memory: Memory) {
        self.seen = (self.seen + 1).min(memory.0);
        self.share += (f64::from(u8::from(probe.is_marked())) - self.share) / f64::from(self.seen);
        self.hops = probe.hops;
    }
}
