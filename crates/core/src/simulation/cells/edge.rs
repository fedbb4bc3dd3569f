//! The edge of a virtual channel with the available bit rate service. At the sender's end, packets wait in a queue of the channel and leave
//! in cells at ACR. The edge may hold acknowledgements, so that the packets that they would release wait at the sender instead.
//!
//! Holding: a returning acknowledgement waits while the queue is at least as long as the setting, and continues when a packet has left. TCP
//! thus receives one acknowledgement per packet that ACR has released, whatever its window. The scheme is that of Narvaez and Siu ("An
//! acknowledgment bucket scheme for regulating TCP flow over ATM", IEEE Globecom 1997), as described in its abstract and in spd-1998
//! (section 2.3.3): the rate of acknowledgements matches the explicit rate. Differs: the number of packets that an acknowledgement releases
//! is not estimated; the queue length is used instead.

use crate::abr::Source;
use crate::network::{Abr, BufferContent};
use crate::primitives::pooled_queue::PooledQueue;
use crate::primitives::units::{Bytes, Rate, Time, TimeDelta, Units};
use crate::simulation::measurement_interval::MeasurementInterval;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Edge {
    pub(crate) spec: Abr,
    pub(crate) source: Source,
    /// Packets that the sender's host is still processing.
    pub(crate) coming: PooledQueue,
    /// Packets in the buffer. Some cells of the first may have left.
    pub(crate) queue: PooledQueue,
    /// Held acknowledgements.
    pub(crate) held: PooledQueue,
    /// Backward RM cells on the last hop.
    pub(crate) returning: PooledQueue,
    /// Occupancy of the buffer: bytes of whole packets, and cells not yet sent.
    bytes: Bytes,
    cells: Units,
    /// Cells of the first packet that have been sent.
    gone: u32,
    /// Departure of the last cell, if any.
    last_cell: Option<Time>,
    /// Time of the last change of rate or occupancy.
    changed: Time,
    pub(crate) counts: EdgeCounts,
}

/// Counters of an edge, within the measurement interval unless stated otherwise.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct EdgeCounts {
    pub(crate) arrived: u64,
    pub(crate) discarded: u64,
    pub(crate) data_cells: u64,
    pub(crate) forward_rm: u64,
    pub(crate) backward_rm: u64,
    /// Backward RM cells with CI set.
    pub(crate) congested_rm: u64,
    /// Acknowledgements that were held, and their total waiting time in picoseconds.
    pub(crate) held_acks: u64,
    pub(crate) held_for: u128,
    pub(crate) max_cells: u64,
    /// Integrals over time in picoseconds of the cells in the buffer and of ACR in bit/s.
    pub(crate) cell_time: u128,
    pub(crate) rate_time: u128,
    /// Over the whole run: packets that arrived, were discarded, and have left.
    pub(crate) arrived_in_all: u64,
    pub(crate) discarded_in_all: u64,
    pub(crate) left_in_all: u64,
}

impl EdgeCounts {
    /// Add a measured time without changes.
    fn add(&mut self, span: TimeDelta, cells: Units, rate: Rate) {
        let over_time = |value: u64| u128::from(value) * u128::from(span.0);
        self.cell_time += over_time(cells.0);
        self.rate_time += over_time(rate.0);
        if span > TimeDelta::ZERO {
            self.max_cells = self.max_cells.max(cells.0);
        }
    }
}

impl Edge {
    pub(crate) fn new(spec: Abr) -> Edge {
        Edge {
            spec,
            source: Source::new(&spec.source),
            coming: PooledQueue::default(),
            queue: PooledQueue::default(),
            held: PooledQueue::default(),
            returning: PooledQueue::default(),
            bytes: Bytes(0),
            cells: Units(0),
            gone: 0,
            last_cell: None,
            changed: Time::ZERO,
            counts: EdgeCounts::default(),
        }
    }

    /// A packet arrives at the edge. Returns false if the buffer has no room for it.
    pub(crate) fn arrive(&mut self, now: Time, bytes: Bytes, cells: Units, interval: &MeasurementInterval) -> bool {
        self.keep_time(now, interval);
        let measured = u64::from(interval.measures(now));
        let content = BufferContent { units: Units(self.queue.len().into()), bytes: self.bytes };
        let lacks_room = self.spec.buffer.lacks_room(content, bytes);
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
            self.counts.max_cells = self.counts.max_cells.max(self.cells.0);
        }
        true
    }

    /// The next cell of the first packet leaves now. `cells` is the packet's number of cells. Returns the number of cells that follow.
    pub(crate) fn send_cell(&mut self, now: Time, bytes: Bytes, cells: Units, interval: &MeasurementInterval) -> Units {
        self.keep_time(now, interval);
        self.source.on_data();
        self.last_cell = Some(now);
        self.counts.data_cells += u64::from(interval.measures(now));
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
    pub(crate) fn send_rm(&mut self, now: Time, interval: &MeasurementInterval) {
        self.last_cell = Some(now);
        self.counts.forward_rm += u64::from(interval.measures(now));
    }

    /// Earliest departure time of the next cell.
    pub(crate) fn due(&self, now: Time) -> Time {
        self.last_cell.map_or(now, |last| (last + self.source.spacing()).max(now))
    }

    /// Whether the first held acknowledgement may continue.
    pub(crate) fn can_release(&self) -> bool {
        let waiting = Units((self.queue.len() + self.coming.len()).into());
        !self.held.is_empty() && self.spec.holds_acks_from.is_none_or(|max| waiting < max)
    }

    /// Update the time integrals up to now; called before every change.
    pub(crate) fn keep_time(&mut self, now: Time, interval: &MeasurementInterval) {
        self.counts.add(interval.overlap(self.changed, now), self.cells, self.source.rate());
        self.changed = now;
    }

    /// The counters, including the time since the last change.
    pub(crate) fn counts_at(&self, now: Time, interval: &MeasurementInterval) -> EdgeCounts {
        let mut counts = self.counts;
        counts.add(interval.overlap(self.changed, now), self.cells, self.source.rate());
        counts
    }

    /// Current ACR.
    pub(crate) fn rate(&self) -> Rate {
        self.source.rate()
    }
}
