//! What only some laws remember lies beside the sender, so that the flows of the others do not carry it.

use crate::congestion::Start;
use serde::{Deserialize, Serialize};

/// The state of a law: its window, and beside it the rest.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C)]
pub struct Beside<M> {
    pub(in crate::congestion) window: f64,
    pub(in crate::congestion) memory: Box<M>,
}

impl<M> Beside<M> {
    pub(in crate::congestion) const BYTES: usize = size_of::<M>();

    pub(in crate::congestion) fn with(start: Start, memory: M) -> Beside<M> {
        Beside { window: start.window, memory: Box::new(memory) }
    }
}
