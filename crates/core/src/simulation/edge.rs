//! The edge of a virtual channel with the available bit rate service: at the sender's end packets wait in a queue of the channel's own and leave
//! in cells, each when ACR allows it. It may hold acknowledgements back, so that the packets that these would call for wait at the sender instead.
//!
//! Holding: an acknowledgement that comes back waits while the queue is as long as the setting says, and goes on when a packet has left it. So
//! TCP hears of one acknowledgement for each packet that ACR has let go, whatever its window: the scheme is that of Narvaez and Siu ("An
//! acknowledgment bucket scheme for regulating TCP flow over ATM", IEEE Globecom 1997), as its abstract and spd-1998 (section 2.3.3) describe
//! it, who match the rate of acknowledgements to the explicit rate. Differs: nothing is estimated of how many packets an acknowledgement calls for;
//! the queue itself tells.

use super::window::Window;
use crate::abr::Source;
use crate::network::Abr;
use crate::primitives::line::Line;
use crate::primitives::units::{Bytes, Rate, Span, Time, Units};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Edge {
    pub(crate) spec: Abr,
    pub(crate) source: Source,
    /// Packets that the sender's host is still at work on.
    pub(crate) coming: Line,
    /// Packets in the buffer; of the first, some cells may have left.
    pub(crate) queue: Line,
    /// Acknowledgements that are held.
    pub(crate) held: Line,
    /// Backward RM cells on the last stretch of their way.
    pub(crate) returning: Line,
    /// What is in the buffer: whole packets, and cells that have still to leave.
    bytes: Bytes,
    cells: Units,
    /// Of the first packet, cells that have left.
    gone: u32,
    /// When the last cell left; before the first, none.
    last_cell: Option<Time>,
    /// Since when rate and occupancy are what they are.
    changed: Time,
    pub(crate) counts: EdgeCounts,
}

/// What is counted at an edge, within the measured part unless it says otherwise.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct EdgeCounts {
    pub(crate) arrived: u64,
    pub(crate) discarded: u64,
    pub(crate) data_cells: u64,
    pub(crate) forward_rm: u64,
    pub(crate) backward_rm: u64,
    /// Backward RM cells with CI.
    pub(crate) congested_rm: u64,
    /// Acknowledgements that waited, and their waits in picoseconds.
    pub(crate) held_acks: u64,
    pub(crate) held_for: u128,
    pub(crate) most_cells: u64,
    /// Cells in the buffer and ACR in bit/s, over picoseconds.
    cell_time: u128,
    rate_time: u128,
    /// Over the whole run: packets that came, were discarded, have left.
    pub(crate) arrived_in_all: u64,
    pub(crate) discarded_in_all: u64,
    pub(crate) left_in_all: u64,
}

impl Edge {
    pub(crate) fn new(spec: Abr) -> Edge {
        Edge {
            spec,
            source: Source::new(&spec.source),
            coming: Line::default(),
            queue: Line::default(),
            held: Line::default(),
            returning: Line::default(),
            bytes: Bytes(0),
            cells: Units(0),
            gone: 0,
            last_cell: None,
            changed: Time::ZERO,
            counts: EdgeCounts::default(),
        }
    }

    /// A packet is at the edge. False if there is no room for it.
    pub(crate) fn arrive(&mut self, now: Time, bytes: Bytes, cells: Units, window: &Window) -> bool {
        self.keep_time(now, window);
        let measured = u64::from(window.measures(now));
        let lacks_room = self.spec.buffer.lacks_room((Units(self.queue.len().into()), self.bytes), bytes);
        self.counts.arrived += measured;
        self.counts.arrived_in_all += 1;
        if lacks_room {
            self.counts.discarded += measured;
            self.counts.discarded_in_all += 1;
            return false;
        }
        self.bytes += bytes;
        self.cells = Units(self.cells.0 + cells.0);
        if measured > 0 {
            self.counts.most_cells = self.counts.most_cells.max(self.cells.0);
        }
        true
    }

    /// The next cell of the first packet, which has so many, leaves now. Returns how many follow it.
    pub(crate) fn send_cell(&mut self, now: Time, bytes: Bytes, cells: Units, window: &Window) -> Units {
        self.keep_time(now, window);
        self.source.on_data();
        self.last_cell = Some(now);
        self.counts.data_cells += u64::from(window.measures(now));
        self.cells = Units(self.cells.0 - 1);
        self.gone += 1;
        let following = Units(cells.0 - u64::from(self.gone));
        if following == Units(0) {
            self.gone = 0;
            self.bytes -= bytes;
            self.counts.left_in_all += 1;
        }
        following
    }

    /// A forward RM cell leaves now.
    pub(crate) fn send_rm(&mut self, now: Time, window: &Window) {
        self.last_cell = Some(now);
        self.counts.forward_rm += u64::from(window.measures(now));
    }

    /// When the next cell may leave.
    pub(crate) fn due(&self, now: Time) -> Time {
        self.last_cell.map_or(now, |last| (last + self.source.spacing()).max(now))
    }

    /// The first acknowledgement that is held may go on.
    pub(crate) fn lets_go(&self) -> bool {
        let waiting = Units((self.queue.len() + self.coming.len()).into());
        !self.held.is_empty() && self.spec.holds_acks_from.is_none_or(|most| waiting < most)
    }

    /// What has been since the last change is counted, before the next.
    pub(crate) fn keep_time(&mut self, now: Time, window: &Window) {
        let span = window.overlap(self.changed, now);
        self.changed = now;
        let (cells, rate) = self.over(span);
        self.counts.cell_time += cells;
        self.counts.rate_time += rate;
    }

    fn over(&self, span: Span) -> (u128, u128) {
        let times = |value: u64| u128::from(value) * u128::from(span.0);
        (times(self.cells.0), times(self.source.rate().0))
    }

    /// Mean of cells in the buffer and of ACR in bit/s up to `until`, over the part that is measured.
    pub(crate) fn means(&self, until: Time, window: &Window) -> (f64, f64) {
        let (cells, rate) = self.over(window.overlap(self.changed, until));
        let measured = window.overlap(window.warmup, until).0 as f64;
        ((self.counts.cell_time + cells) as f64 / measured, (self.counts.rate_time + rate) as f64 / measured)
    }

    /// ACR at present.
    pub(crate) fn rate(&self) -> Rate {
        self.source.rate()
    }
}
