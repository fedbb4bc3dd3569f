//! Common part of all frame policies: decisions apply to whole frames (packets), which consist of cells.
//!
//! AAL5 marks only the last cell of a frame, so a switch tracks the position in the frame for each VC. Once a cell of a frame is lost, the
//! rest is useless and is discarded too, except for the last cell. That cell is accepted wherever there is room, because without it the
//! next frame would be joined to the rest of this one. This is partial packet discard (Romanow and Floyd, IEEE JSAC 13(4), 1995).
//!
//! Thresholds do not apply to a last cell, and therefore not to a frame of one cell.

use super::policy::{DropReason, Occupancy, Unit, Verdict};
use crate::settings::SettingConflict;
use serde::{Deserialize, Serialize};

/// Position of a VC in its frame. The literature uses two flags, `Receiving` and `Discarding`; three of their combinations can occur.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Frame {
    /// The next cell is the first of a frame.
    #[default]
    Between,
    /// No cell of the frame has been lost.
    Receiving,
    /// A cell of the frame has been discarded.
    Discarding,
}

impl Frame {
    /// The verdict on a cell. `refuses_frame` is the policy's own rule. It is evaluated once per frame, for a first cell for which there is
    /// room.
    #[inline]
    pub(in crate::queue) fn judge(
        &mut self,
        cell: &Unit,
        buffer: &Occupancy,
        refuses_frame: impl FnOnce() -> Option<DropReason>,
    ) -> Verdict {
        let overflow = (!buffer.has_room).then_some(DropReason::Full);
        let discard = match self {
            _ if cell.is_last => overflow,
            Frame::Between => overflow.or_else(refuses_frame),
            Frame::Receiving => overflow,
            Frame::Discarding => Some(DropReason::Partial),
        };
        *self = match discard {
            _ if cell.is_last => Frame::Between,
            None => Frame::Receiving,
            Some(_) => Frame::Discarding,
        };
        discard.map_or(Verdict::Accept, Verdict::Discard)
    }
}

/// Warning about a threshold of no cells.
pub(in crate::queue) fn nothing_begins(keys: &'static [&'static str]) -> SettingConflict {
    let message = format!("`{}` of 0 is reached by an empty buffer: no packet of several cells can begin", keys[0]);
    SettingConflict::warning(keys, message, "at least `1 cell`")
}
