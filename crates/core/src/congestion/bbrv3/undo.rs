//! State to which the flow returns after spurious losses (5.5.11).

use super::bounds::Bounds;
use serde::{Deserialize, Serialize};

/// State before losses, restored if they prove to be spurious.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Undo {
    pub state: Option<ExitedPhase>,
    pub bounds: Bounds,
}

/// BBR.undo_state: the state that losses made the flow leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum ExitedPhase {
    Startup,
    ProbeBwUp,
}

impl Undo {
    pub fn leaves_startup(&mut self) {
        self.state = Some(ExitedPhase::Startup);
    }
}
