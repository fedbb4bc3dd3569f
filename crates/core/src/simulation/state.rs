//! The state of a run. Modules above this one define what happens to it: `senders/` at the ends, `engine.rs` in order of time.

use super::endpoints::Endpoints;
use super::fabric::Fabric;
use super::prefetch::UpcomingEvents;
use crate::network::Network;
use crate::user_code::FailureSignal;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A run of one network. `Clone` takes a snapshot; the clone continues to byte-identical results.
#[derive(Clone, Debug, Serialize, Deserialize)]
// Domains of a parallel run are adjacent in memory. The alignment avoids false sharing between threads (the prefetcher fetches cache lines
// in pairs).
#[repr(align(128))]
pub struct Engine {
    /// The network without its flows: `endpoints` and `fabric.paths` store the required properties of each flow, in half the bytes of its
    /// description. Snapshots and domains share it.
    pub(super) network: Arc<Network>,
    pub(super) fabric: Fabric,
    pub(super) endpoints: Endpoints,
    pub(super) events: u64,
    pub(super) next_change: usize,
    #[serde(skip)]
    pub(super) upcoming: UpcomingEvents,
    /// Present if the engine runs user code.
    #[serde(skip)]
    pub(super) monitor: Option<FailureMonitor>,
}

/// Detects failures of user code through its [`FailureSignal`].
#[derive(Clone, Debug)]
pub(super) struct FailureMonitor {
    pub(super) alarm: FailureSignal,
    /// Count of the alarm before any of this engine's code failed.
    pub(super) handled_alarms: u64,
}
