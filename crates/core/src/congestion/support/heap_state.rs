//! State of individual algorithms, which is stored outside the sender so that flows of other controllers do not carry it.

use super::controller::Start;
use serde::{Deserialize, Serialize};

/// State of a controller: its window, and a pointer to the rest.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C)]
pub struct HeapState<M> {
    pub(in crate::congestion) window: f64,
    pub(in crate::congestion) memory: Box<M>,
}

impl<M> HeapState<M> {
    pub(in crate::congestion) const BYTES: usize = size_of::<M>();

    pub(in crate::congestion) fn with(start: Start, memory: M) -> HeapState<M> {
        HeapState { window: start.window, memory: Box::new(memory) }
    }
}
