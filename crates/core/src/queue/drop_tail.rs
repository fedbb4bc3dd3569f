//! Drop-tail: accepts every unit that the port has room for. For cells this is plain ATM.

use super::support::{Occupancy, Policy, Unit, Verdict};
use crate::primitives::units::Time;
use crate::settings::member;
use serde::{Deserialize, Serialize};

member! {
    /// Accepts every packet that fits. For cells this is plain ATM.
    DropTail = "drop_tail", "common practice";
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DropTail;

impl DropTail {
    pub(super) fn new(_: &()) -> DropTail {
        DropTail
    }
}

impl Policy for DropTail {
    type PerFlow = ();
    const IS_RANDOM: bool = false;
    const TRACKS_FLOWS: bool = false;
    const ACCEPTS_ALL: bool = true;

    #[inline]
    fn on_arrival(&mut self, _unit: &Unit, _flow: &mut (), _buffer: &Occupancy, _now: Time) -> Verdict {
        Verdict::Accept
    }
}
