//! One queue of a stepped port.

use super::equipment::Equipment;
use crate::network::BufferContent;
use crate::primitives::pooled_queue::PooledQueue;
use crate::primitives::units::{Bytes, Units};
use serde::{Deserialize, Serialize};

/// Packets queued for transmission.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Queue {
    pub(crate) line: PooledQueue,
    pub(super) bytes: Bytes,
    /// Units of this queue in service, if those count.
    pub(super) in_service: u32,
    pub(super) in_service_bytes: Bytes,
}

impl Queue {
    /// Units and bytes in the queue, including those in service if they count.
    pub(super) fn content(&self, equipment: &Equipment) -> BufferContent {
        let waiting = u64::from(self.line.len());
        if !equipment.counts_in_service {
            return BufferContent { units: Units(waiting), bytes: self.bytes };
        }
        BufferContent { units: Units(waiting + u64::from(self.in_service)), bytes: self.bytes + self.in_service_bytes }
    }
}
