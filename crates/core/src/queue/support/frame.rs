//! What every frame policy does beyond its own rule: it judges whole frames (packets), of which a cell is only a part.
//!
//! AAL5 marks the last cell of a frame and nothing else, so a switch remembers for each VC where it is. Once a cell of a frame is
//! lost the rest is useless and is discarded too, except the last cell: it is taken wherever there is room, for without it the
//! next frame would be glued to the remains of this one. This is partial packet discard (Romanow and Floyd, IEEE JSAC 13(4),
//! 1995).
//!
//! No threshold is asked about a last cell, so neither is it about a frame of one cell.

use crate::queue::{Occupancy, Reason, Unit, Verdict};
use crate::settings::Misfit;
use serde::{Deserialize, Serialize};

/// Where a VC stands in its frame. The literature keeps two flags, `Receiving` and `Discarding`, of which three pairs can occur.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Frame {
    /// The next cell is the first of a frame.
    #[default]
    Between,
    /// Nothing of the frame is lost so far.
    Receiving,
    /// A cell of the frame has been discarded.
    Discarding,
}

impl Frame {
    /// The verdict on a cell. `refuses_frame` is the policy's own rule: asked once a frame, about a first cell for which there is
    /// room.
    #[inline]
    pub(in crate::queue) fn judge(
        &mut self,
        cell: &Unit,
        buffer: &Occupancy,
        refuses_frame: impl FnOnce() -> Option<Reason>,
    ) -> Verdict {
        let overflow = (!buffer.has_room).then_some(Reason::Full);
        let discard = match self {
            _ if cell.is_last => overflow,
            Frame::Between => overflow.or_else(refuses_frame),
            Frame::Receiving => overflow,
            Frame::Discarding => Some(Reason::Partial),
        };
        *self = match discard {
            _ if cell.is_last => Frame::Between,
            None => Frame::Receiving,
            Some(_) => Frame::Discarding,
        };
        discard.map_or(Verdict::Accept, Verdict::Discard)
    }
}

/// A threshold of no cells.
pub(in crate::queue) fn nothing_begins(keys: &'static [&'static str]) -> Misfit {
    let message = "an empty buffer has reached this threshold: no packet of several cells can begin";
    Misfit::warning(keys, message, "at least `1 cell`")
}
